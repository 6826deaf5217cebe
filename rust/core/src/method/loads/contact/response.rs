//! Forces of contact: the least of the quasi-Newton model of a smooth energy together with the contacts' own.
//!
//! With the inverse H of the model's matrix, the free direction `d_0 = -H g` and forces f on points S, the direction
//! is `d = d_0 + H S'f`. A force answers to where its point then goes, `f_i = -grad e_i(c_i + S_i d)`: that is where a
//! convex energy of forces is least, which Newton's method finds. Only `S H S'` is needed of the whole body. Bounds of
//! friction follow from the normal forces found, in turn.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par};
use nalgebra::Vector3;

use super::Touch;

/// Most times that bounds of friction are found anew: what is left of that, the next search finds.
const ROUNDS: u32 = 5;
/// Relative change of a bound that is none.
const SAME: f64 = 1e-3;
/// Most steps of Newton's method, and most halvings of one.
const STEPS: u32 = 50;
const HALVINGS: i32 = 30;
/// Share of the decrease that the slope promises, at which a step is taken.
const SUFFICIENT: f64 = 0.1;
/// Slope, as a share of the energy, that is rounding.
const SMALL: f64 = 1e-15;

/// How points move under forces at each other: `S H S' = W + U M U'`, W the same for each coordinate.
pub(crate) struct Compliance {
    /// W between the points of touches, m/N.
    pub(crate) points: Mat<f64>,
    /// For each touch the columns of U, of a point.
    pub(crate) columns: Vec<Vec<Vector3<f64>>>,
    /// M.
    pub(crate) matrix: Mat<f64>,
}

impl Compliance {
    /// `M U' f`: what forces on all points add of each column.
    pub(crate) fn shares(&self, forces: &[Vector3<f64>]) -> Vec<f64> {
        let rank = self.matrix.nrows();
        let mut shares = vec![0.0; rank];
        for (columns, force) in self.columns.iter().zip(forces) {
            shares.iter_mut().zip(columns).for_each(|(share, column)| *share += column.dot(force));
        }
        (0..rank).map(|a| (0..rank).map(|b| self.matrix[(a, b)] * shares[b]).sum()).collect()
    }

    /// What forces on all points do to them.
    fn moved(&self, forces: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let turned = self.shares(forces);
        let point = |i: usize| {
            let own = forces.iter().enumerate().filter(|(_, force)| **force != Vector3::zeros());
            let near = own.fold(Vector3::zeros(), |sum, (j, force)| sum + self.points[(i, j)] * force);
            self.columns[i].iter().zip(&turned).fold(near, |sum, (column, share)| sum + *share * column)
        };
        (0..forces.len()).map(point).collect()
    }
}

/// Something that resists being moved: a touch, along a direction, with so many N/m.
struct Resistance {
    touch: usize,
    along: Vector3<f64>,
    stiffness: f64,
}

/// Touches whose bounds of friction are given, and points that are somewhere: the forces f that they then answer with
/// are those where `f'S H S'f / 2 + sum_i e_i(c_i + (S H S'f)_i)` is least.
struct Problem<'a> {
    touches: &'a [Touch],
    /// Where points would go without forces.
    free: &'a [Vector3<f64>],
    compliance: &'a Compliance,
}

/// Forces, and how they move points.
struct Guess {
    forces: Vec<Vector3<f64>>,
    moved: Vec<Vector3<f64>>,
}

/// Forces on points that would go to `free`; sets the bounds of friction, which has a coefficient a touch.
pub(crate) fn respond(
    touches: &mut [Touch],
    friction: &[f64],
    free: &[Vector3<f64>],
    compliance: &Compliance,
) -> Vec<Vector3<f64>> {
    let zeros = vec![Vector3::zeros(); touches.len()];
    let mut guess = Guess { forces: zeros.clone(), moved: zeros };
    for round in 1..=ROUNDS {
        Problem { touches, free, compliance }.solve(&mut guess);
        let mut change = false;
        let mut bounds = Vec::with_capacity(touches.len());
        for ((touch, force), friction) in touches.iter().zip(&guess.forces).zip(friction) {
            let bound = friction * touch.normal.dot(force).max(0.0);
            change |= (bound - touch.bound).abs() > SAME * bound.max(touch.bound);
            bounds.push(bound);
        }
        // The last bounds are those with which forces have been found.
        if !change || round == ROUNDS {
            break;
        }
        touches.iter_mut().zip(bounds).for_each(|(touch, bound)| touch.bound = bound);
    }
    guess.forces
}

impl Problem<'_> {
    /// Goes on from a guess by Newton's method, halving steps that do not lead down.
    fn solve(&self, guess: &mut Guess) {
        let mut energy = self.energy(guess);
        for _ in 0..STEPS {
            let (misses, resistances) = self.misses(guess);
            let moved = self.compliance.moved(&misses);
            let Some(step) = self.step(misses, &moved, &resistances) else { return };
            let stepped = self.compliance.moved(&step);
            let slope: f64 = -moved.iter().zip(&step).map(|(moved, step)| moved.dot(step)).sum::<f64>();
            if slope.is_nan() || slope.abs() <= SMALL * energy.abs() {
                return;
            }
            let Some(next) = (0..HALVINGS).find_map(|halving| {
                let share = 0.5f64.powi(halving);
                let next = guess.along(share, &step, &stepped);
                let there = self.energy(&next);
                (there <= energy + SUFFICIENT * share * slope).then_some((next, there))
            }) else {
                return;
            };
            (*guess, energy) = next;
        }
    }

    fn energy(&self, guess: &Guess) -> f64 {
        let own = guess.forces.iter().zip(&guess.moved).map(|(force, moved)| 0.5 * force.dot(moved));
        let places = self.free.iter().zip(&guess.moved).map(|(free, moved)| free + moved);
        own.sum::<f64>()
            + self.touches.iter().zip(places).map(|(touch, place)| touch.evaluate(&place).0).sum::<f64>()
    }

    /// What touches answer with beyond the guessed forces, and what resists a change.
    fn misses(&self, guess: &Guess) -> (Vec<Vector3<f64>>, Vec<Resistance>) {
        let (mut misses, mut resistances) = (Vec::new(), Vec::new());
        for (i, touch) in self.touches.iter().enumerate() {
            let place = self.free[i] + guess.moved[i];
            misses.push(touch.evaluate(&place).1 - guess.forces[i]);
            for (along, stiffness) in touch.resists(&place).into_iter().flatten() {
                resistances.push(Resistance { touch: i, along, stiffness });
            }
        }
        (misses, resistances)
    }

    /// `r - A y` with `(A'S H S'A + 1 / k) y = A'S H S'r`: the change of forces that resistances A answer themselves.
    fn step(
        &self,
        mut misses: Vec<Vector3<f64>>,
        moved: &[Vector3<f64>],
        resistances: &[Resistance],
    ) -> Option<Vec<Vector3<f64>>> {
        let count = resistances.len();
        let mut matrix = self.matrix(resistances);
        let mut memory =
            MemBuffer::new(cholesky_in_place_scratch::<f64>(count, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut memory);
        cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, Default::default()).ok()?;
        let mut sizes = Mat::from_fn(count, 1, |i, _| resistances[i].along.dot(&moved[resistances[i].touch]));
        solve_lower_triangular_in_place(matrix.as_ref(), sizes.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(matrix.transpose(), sizes.as_mut(), Par::Seq);
        for (i, resistance) in resistances.iter().enumerate() {
            misses[resistance.touch] -= sizes[(i, 0)] * resistance.along;
        }
        Some(misses)
    }

    /// The lower half of `A'S H S'A + 1 / k`.
    fn matrix(&self, resistances: &[Resistance]) -> Mat<f64> {
        let Compliance { points, columns, matrix: middle } = self.compliance;
        let rank = middle.nrows();
        let along = |resistance: &Resistance| -> Vec<f64> {
            columns[resistance.touch].iter().map(|column| column.dot(&resistance.along)).collect()
        };
        let own: Vec<Vec<f64>> = resistances.iter().map(along).collect();
        let turn = |own: &Vec<f64>| -> Vec<f64> {
            (0..rank).map(|a| (0..rank).map(|b| middle[(a, b)] * own[b]).sum()).collect()
        };
        let turned: Vec<Vec<f64>> = own.iter().map(turn).collect();
        let mut matrix = Mat::zeros(resistances.len(), resistances.len());
        for (j, b) in resistances.iter().enumerate() {
            for (i, a) in resistances.iter().enumerate().skip(j) {
                let near = points[(a.touch, b.touch)] * a.along.dot(&b.along);
                matrix[(i, j)] = own[i].iter().zip(&turned[j]).fold(near, |sum, (a, b)| sum + a * b);
            }
            matrix[(j, j)] += 1.0 / b.stiffness;
        }
        matrix
    }
}

impl Guess {
    fn along(&self, share: f64, step: &[Vector3<f64>], stepped: &[Vector3<f64>]) -> Self {
        let add = |own: &[Vector3<f64>], more: &[Vector3<f64>]| {
            own.iter().zip(more).map(|(own, more)| own + share * more).collect()
        };
        Self { forces: add(&self.forces, step), moved: add(&self.moved, stepped) }
    }
}
