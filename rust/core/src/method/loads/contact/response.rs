//! Forces of contact: the least of the quasi-Newton model of a smooth energy together with the contacts' own.
//!
//! With the inverse H of the model's matrix, the free direction `d_0 = -H g` and forces f on points S, the direction
//! is `d = d_0 + H S'f`. A force answers to where its point then goes, `f_i = -grad e_i(c_i + S_i d)`: that is where
//!
//! `f'(S H S' + 1 / k) f / 2 + f.g`
//!
//! is least among forces that push, and whose friction is within its bound; g are the gaps and slips of points that would go
//! d_0. Newton's method on what is free finds it, as forces that reach a bound are put back on it: bounds of forces change
//! far less from step to step than contacts do that come and go. Only `S H S'` is needed of the whole body. Bounds of friction
//! follow from the normal forces found, in turn.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, Par};
use nalgebra::{Matrix3, Vector3};

use super::Touch;
use crate::math::rows::{Rows, add, dot};

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
/// Share of its bound that friction is below where it is at it.
const ROUNDING: f64 = 1e-12;

/// Touches that a search takes up at once beside as many as it minds already.
const BATCH: usize = 32;
/// Most touches that a search minds: more of them say little new of bodies of few coordinates, and cost the cube.
const MOST: usize = 256;

/// Answers touches: those given, and then others that are entered, in turn, until none is that is not minded, and forces are the same as if all were,
/// of which most do nothing; or until as many are minded as may be. `answer` minds some and returns those that are then entered, first those to mind
/// first.
pub(crate) fn mind(mut minded: Vec<usize>, mut answer: impl FnMut(&[usize]) -> Vec<usize>) {
    loop {
        let mut entered = answer(&minded);
        entered.truncate(minded.len().max(BATCH).min(MOST.saturating_sub(minded.len())));
        if entered.is_empty() {
            return;
        }
        minded.extend(entered);
    }
}

/// Of some touches those that are not minded and have a gap below zero, the deepest first.
pub(crate) fn entered(count: usize, minded: &[usize], gap: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut is_minded = vec![false; count];
    minded.iter().for_each(|&i| is_minded[i] = true);
    let others = (0..count).filter(|&i| !is_minded[i]).map(|i| (gap(i), i));
    let mut entered: Vec<(f64, usize)> = others.filter(|(gap, _)| *gap < 0.0).collect();
    entered.sort_by(|a, b| a.0.total_cmp(&b.0));
    entered.into_iter().map(|(_, i)| i).collect()
}

/// W between the points of touches, m/N.
pub(crate) enum Mobility {
    /// The same for each coordinate, a number for two points.
    Even(Mat<f64>),
    /// Of bodies that turn, 3 x 3 for two points.
    Turning(Mat<f64>),
}

impl Mobility {
    /// Between two points, in their frames.
    fn between(&self, (i, j): (usize, usize), frames: &[Matrix3<f64>]) -> Matrix3<f64> {
        match self {
            Self::Even(w) => w[(i, j)] * frames[i].transpose() * frames[j],
            Self::Turning(w) => {
                let block = Matrix3::from_fn(|row, column| w[(3 * i + row, 3 * j + column)]);
                frames[i].transpose() * block * frames[j]
            }
        }
    }
}

/// How points move under forces at each other: `S H S' = W + U M U'`.
pub(crate) struct Compliance {
    /// W.
    pub(crate) points: Mobility,
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
}

/// Forces on points that would go to `free`, sought from a guess; sets the bounds of friction, which has a
/// coefficient a touch.
pub(crate) fn respond(
    touches: &mut [Touch],
    friction: &[f64],
    free: &[Vector3<f64>],
    compliance: &Compliance,
    guess: &[Vector3<f64>],
) -> Vec<Vector3<f64>> {
    let frames: Vec<Matrix3<f64>> = touches.iter().map(Touch::frame).collect();
    let problem = Problem::new(touches, &frames, free, compliance);
    let mut forces: Vec<[f64; 3]> =
        frames.iter().zip(guess).map(|(frame, force)| (frame.transpose() * force).into()).collect();
    for round in 1..=ROUNDS {
        let bounds: Vec<f64> = touches.iter().map(|touch| touch.bound).collect();
        problem.solve(&bounds, &mut forces);
        let next = friction.iter().zip(&forces).map(|(friction, [push, ..])| friction * push);
        let same = |(old, new): (&f64, f64)| (new - old).abs() <= SAME * new.max(*old);
        // The last bounds are those with which forces have been found.
        if round == ROUNDS || bounds.iter().zip(next.clone()).all(same) {
            break;
        }
        touches.iter_mut().zip(next).for_each(|(touch, bound)| touch.bound = bound);
    }
    frames.iter().zip(forces).map(|(frame, force)| frame * Vector3::from(force)).collect()
}

/// Forces f, each along the normal and two tangents of its touch, of the least `f'B f / 2 + f.g`.
struct Problem {
    /// `S H S' + 1 / k`.
    matrix: Mat<f64>,
    /// Gap and slip of each touch without forces.
    gaps: Vec<[f64; 3]>,
}

/// A way in which the force of a touch is free to change, and what curves the bound along it adds.
struct Change {
    touch: usize,
    along: [f64; 3],
    curvature: f64,
}

/// Forces with the gradient and the energy there.
struct Guess {
    forces: Vec<[f64; 3]>,
    gradient: Vec<[f64; 3]>,
    energy: f64,
}

impl Problem {
    fn new(
        touches: &[Touch],
        frames: &[Matrix3<f64>],
        free: &[Vector3<f64>],
        compliance: &Compliance,
    ) -> Self {
        let gap = |((touch, frame), free): ((&Touch, &Matrix3<f64>), &Vector3<f64>)| {
            let slip = frame.transpose() * (free - touch.anchor);
            [touch.gap(free), slip[1], slip[2]]
        };
        let Compliance { points, columns, matrix: middle } = compliance;
        let along =
            |row: usize, column: usize| frames[row / 3].column(row % 3).dot(&columns[row / 3][column]);
        let along = Mat::from_fn(3 * touches.len(), middle.nrows(), along);
        let (mut turned, mut matrix) = (along.clone(), Mat::zeros(along.nrows(), along.nrows()));
        matmul(&mut turned, Accum::Replace, &along, middle, 1.0, Par::Seq);
        matmul(&mut matrix, Accum::Replace, &turned, along.transpose(), 1.0, Par::Seq);
        for (i, touch) in touches.iter().enumerate() {
            for j in 0..touches.len() {
                let near = points.between((i, j), frames);
                (0..9).for_each(|e| matrix[(3 * i + e % 3, 3 * j + e / 3)] += near[e]);
            }
            (3 * i..3 * i + 3).for_each(|e| matrix[(e, e)] += 1.0 / touch.stiffness);
        }
        Self { matrix, gaps: touches.iter().zip(frames).zip(free).map(gap).collect() }
    }

    /// Goes on from forces, made to be within their bounds.
    fn solve(&self, bounds: &[f64], forces: &mut Vec<[f64; 3]>) {
        let mut guess = self.guess(std::mem::take(forces), bounds);
        for _ in 0..STEPS {
            let Some((step, slope)) = self.step(&guess.changes(bounds), &guess.gradient) else { break };
            if slope.is_nan() || slope.abs() <= SMALL * guess.energy.abs() {
                break;
            }
            let Some(next) = (0..HALVINGS).find_map(|halving| {
                let next = self.guess(sum(&guess.forces, 0.5f64.powi(halving), &step), bounds);
                let promised = dot(&guess.gradient, &sum(&next.forces, -1.0, &guess.forces));
                (next.energy <= guess.energy + SUFFICIENT * promised).then_some(next)
            }) else {
                break;
            };
            guess = next;
        }
        *forces = guess.forces;
    }

    /// The nearest forces within bounds.
    fn guess(&self, mut forces: Vec<[f64; 3]>, bounds: &[f64]) -> Guess {
        for ([push, rub @ ..], bound) in forces.iter_mut().zip(bounds) {
            *push = push.max(0.0);
            let size = rub[0].hypot(rub[1]);
            if size > *bound {
                *rub = rub.map(|x| x * bound / size);
            }
        }
        let mut gradient = self.gaps.clone();
        for (column, &force) in forces.as_flattened().iter().enumerate().filter(|(_, force)| **force != 0.0) {
            let column = self.matrix.col_as_slice(column);
            gradient.as_flattened_mut().iter_mut().zip(column).for_each(|(sum, entry)| *sum += entry * force);
        }
        let energy = 0.5 * (dot(&forces, &gradient) + dot(&forces, &self.gaps));
        Guess { forces, gradient, energy }
    }

    /// Where the energy would be least without bounds in the way, and its slope along that.
    fn step(&self, changes: &[Change], gradient: &[[f64; 3]]) -> Option<(Vec<[f64; 3]>, f64)> {
        let count = changes.len();
        let mut matrix = self.reduced(changes);
        let mut memory =
            MemBuffer::new(cholesky_in_place_scratch::<f64>(count, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut memory);
        cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, Default::default()).ok()?;
        let slope = |change: &Change| dot(&[change.along], &gradient[change.touch..=change.touch]);
        let mut sizes = Mat::from_fn(count, 1, |i, _| -slope(&changes[i]));
        solve_lower_triangular_in_place(matrix.as_ref(), sizes.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(matrix.transpose(), sizes.as_mut(), Par::Seq);
        let mut step = vec![[0.0; 3]; gradient.len()];
        for (change, size) in changes.iter().zip(sizes.col(0).iter()) {
            (0..3).for_each(|c| step[change.touch][c] += size * change.along[c]);
        }
        let slope = dot(gradient, &step);
        Some((step, slope))
    }

    /// The lower half of the matrix of changes.
    fn reduced(&self, changes: &[Change]) -> Mat<f64> {
        let mut reduced = Mat::zeros(changes.len(), changes.len());
        let mut image = vec![0.0; self.matrix.nrows()];
        for (j, change) in changes.iter().enumerate() {
            image.fill(0.0);
            for (c, &share) in change.along.iter().enumerate().filter(|(_, share)| **share != 0.0) {
                let column = self.matrix.col_as_slice(3 * change.touch + c);
                image.iter_mut().zip(column).for_each(|(sum, entry)| *sum += share * entry);
            }
            let rows = image.as_chunks::<3>().0;
            for (i, other) in changes.iter().enumerate().skip(j) {
                reduced[(i, j)] = dot(&[other.along], &rows[other.touch..=other.touch]);
            }
            reduced[(j, j)] += change.curvature;
        }
        reduced
    }
}

/// `forces + share step`.
fn sum(forces: &Rows, share: f64, step: &Rows) -> Vec<[f64; 3]> {
    let mut sum = forces.to_vec();
    add(&mut sum, share, step);
    sum
}

impl Guess {
    /// How forces are free to change: those that push or begin to, and friction that is within its bound, or comes off it,
    /// or turns along it.
    fn changes(&self, bounds: &[f64]) -> Vec<Change> {
        let mut changes = Vec::with_capacity(3 * bounds.len());
        for (touch, &bound) in bounds.iter().enumerate() {
            let ([push, rub @ ..], [gap, slip @ ..]) = (self.forces[touch], self.gradient[touch]);
            if push > 0.0 || gap < 0.0 {
                changes.push(Change { touch, along: [1.0, 0.0, 0.0], curvature: 0.0 });
            }
            if bound <= 0.0 {
                continue;
            }
            let (size, outwards) = (rub[0].hypot(rub[1]), -(rub[0] * slip[0] + rub[1] * slip[1]));
            if size >= bound * (1.0 - ROUNDING) && outwards > 0.0 {
                let along = [0.0, -rub[1] / size, rub[0] / size];
                changes.push(Change { touch, along, curvature: outwards / (size * size) });
            } else {
                changes.push(Change { touch, along: [0.0, 1.0, 0.0], curvature: 0.0 });
                changes.push(Change { touch, along: [0.0, 0.0, 1.0], curvature: 0.0 });
            }
        }
        changes
    }
}
