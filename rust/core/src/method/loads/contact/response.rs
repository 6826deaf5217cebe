//! Forces of contact: the least of the quasi-Newton model of a smooth energy together with the contacts' own.
//!
//! With the inverse H of the model's matrix, the free direction `d_0 = -H g` and forces f on points S, the direction
//! is `d = d_0 + H S'f`. A force answers to where its point then goes, `f_i = -grad e_i(c_i + S_i d)`: it is the nearest within
//! its bounds, which are to push, and to rub no more than friction allows, of the *aim*
//!
//! `f_i - r_i (gap_i n + slip_i + f_i / k_i)`
//!
//! whatever the rate r. Newton's method finds where all do `[AC]`: aims tell which touches push, which stick and which slide, and
//! one system gives the forces in which these go on so. From a guess that is near, few steps settle that; where whole steps go
//! round in circles, halves of them do not. Only `S H S'` is needed of the whole body. Bounds of friction follow from the normal
//! forces, in turn.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use nalgebra::Vector3;

use super::Touch;
use crate::math::DenseCholesky;

/// Most times that bounds of friction are found anew: what is left of that, the next search finds.
const ROUNDS: u32 = 5;
/// Relative change of a bound that is none.
const SAME: f64 = 1e-3;
/// Most steps of Newton's method, and those after which but one of four goes half the way.
const STEPS: u32 = 50;
const WHOLE: u32 = 12;
/// Rate of aims, times how far a force moves its own point: of a few that act together.
const RATE: f64 = 0.1;
/// What forces may be off, as a share of the largest, where they are found, and where bounds of friction follow them already.
const SETTLED: f64 = 1e-9;
const CLOSE: f64 = 0.1;

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
    /// How far a force moves its own point, in the mean over directions.
    fn own(&self, i: usize) -> f64 {
        match self {
            Self::Even(w) => w[(i, i)],
            Self::Turning(w) => (0..3).map(|c| w[(3 * i + c, 3 * i + c)]).sum::<f64>() / 3.0,
        }
    }

    /// Adds how points are moved by a force at one.
    fn add_moved(&self, j: usize, force: &Vector3<f64>, moved: &mut [Vector3<f64>]) {
        match self {
            Self::Even(w) => {
                moved.iter_mut().zip(w.col_as_slice(j)).for_each(|(moved, entry)| *moved += *entry * force);
            }
            Self::Turning(w) => {
                for c in 0..3 {
                    let column = w.col_as_slice(3 * j + c).as_chunks::<3>().0;
                    moved
                        .iter_mut()
                        .zip(column)
                        .for_each(|(moved, x)| *moved += force[c] * Vector3::from(*x));
                }
            }
        }
    }

    /// How far a point moves along one direction under a force at another one along a second.
    fn along(&self, [i, j]: [usize; 2], [to, from]: [&Vector3<f64>; 2]) -> f64 {
        match self {
            Self::Even(w) => w[(i, j)] * to.dot(from),
            Self::Turning(w) => {
                let row = |c: usize| {
                    let column = &w.col_as_slice(3 * j + c)[3 * i..3 * i + 3];
                    from[c] * (to[0] * column[0] + to[1] * column[1] + to[2] * column[2])
                };
                row(0) + row(1) + row(2)
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
        for (columns, force) in self.columns.iter().zip(forces).filter(|(_, force)| acts(force)) {
            shares.iter_mut().zip(columns).for_each(|(share, column)| *share += column.dot(force));
        }
        (0..rank).map(|a| (0..rank).map(|b| self.matrix[(a, b)] * shares[b]).sum()).collect()
    }

    /// How far points go under forces.
    fn moved(&self, forces: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let shares = self.shares(forces);
        let along =
            |columns: &Vec<Vector3<f64>>| columns.iter().zip(&shares).map(|(u, share)| u * *share).sum();
        let mut moved: Vec<Vector3<f64>> = self.columns.iter().map(along).collect();
        for (j, force) in forces.iter().enumerate().filter(|(_, force)| acts(force)) {
            self.points.add_moved(j, force, &mut moved);
        }
        moved
    }
}

fn acts(force: &Vector3<f64>) -> bool {
    *force != Vector3::zeros()
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
    // Seen from where points would go, so that how far they go instead keeps its digits.
    let from = |(touch, free): (&Touch, &Vector3<f64>)| Touch {
        place: touch.place - free,
        anchor: touch.anchor - free,
        ..*touch
    };
    let mut problem = Problem { touches: touches.iter().zip(free).map(from).collect(), friction, compliance };
    let forces = problem.solve(guess.to_vec());
    touches.iter_mut().zip(&problem.touches).for_each(|(touch, found)| touch.bound = found.bound);
    forces
}

/// Touches, seen from where points go without forces.
struct Problem<'a> {
    touches: Vec<Touch>,
    friction: &'a [f64],
    compliance: &'a Compliance,
}

/// A way in which the force of a touch changes with where its point goes, by `1 / softness` a metre from an origin.
struct Change {
    touch: usize,
    along: Vector3<f64>,
    softness: f64,
    origin: Vector3<f64>,
}

impl Problem<'_> {
    /// Goes on from forces.
    fn solve(&mut self, mut forces: Vec<Vector3<f64>>) -> Vec<Vector3<f64>> {
        let mut rounds = 0;
        for step in 0..STEPS {
            let aims = self.aims(&forces);
            let (off, most) = self.off(&forces, &aims);
            let settled = off <= SETTLED * most;
            let follows = settled || (step > 0 && off <= CLOSE * most);
            if follows && rounds < ROUNDS && self.bound(&forces) {
                rounds += 1;
            } else if settled {
                break;
            }
            let Some(wanted) = self.wanted(&aims) else { break };
            let share = if step < WHOLE || step % 4 == 0 { 1.0 } else { 0.5 };
            forces.iter_mut().zip(wanted).for_each(|(force, wanted)| *force += share * (wanted - *force));
        }
        self.touches.iter().zip(&forces).map(|(touch, force)| within(touch, force)).collect()
    }

    /// How fast the aim of a touch leaves its force, N/m.
    fn rate(&self, touch: usize) -> f64 {
        RATE / self.compliance.points.own(touch)
    }

    fn aims(&self, forces: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let moved = self.compliance.moved(forces);
        let aim = |(i, (force, moved)): (usize, (&Vector3<f64>, &Vector3<f64>))| {
            let touch = &self.touches[i];
            let apart = touch.gap(moved) * touch.normal + touch.slip(moved) + force / touch.stiffness;
            force - self.rate(i) * apart
        };
        forces.iter().zip(&moved).enumerate().map(aim).collect()
    }

    /// How far forces are from what touches answer, and the largest answer.
    fn off(&self, forces: &[Vector3<f64>], aims: &[Vector3<f64>]) -> (f64, f64) {
        let answers = self.touches.iter().zip(aims).map(|(touch, aim)| within(touch, aim));
        let pairs = answers.zip(forces);
        pairs.fold((0.0, 0.0), |(off, most), (answer, force)| {
            (f64::max(off, (force - answer).amax()), f64::max(most, answer.amax()))
        })
    }

    /// Sets the bounds of friction as forces push; whether any has changed.
    fn bound(&mut self, forces: &[Vector3<f64>]) -> bool {
        let push = |touch: &Touch, force: &Vector3<f64>| touch.normal.dot(force).max(0.0);
        let of = self.friction.iter().zip(forces);
        let next: Vec<f64> = self
            .touches
            .iter()
            .zip(of)
            .map(|(touch, (friction, force))| friction * push(touch, force))
            .collect();
        let mut pairs = self.touches.iter().zip(&next);
        if pairs.all(|(touch, &new)| (new - touch.bound).abs() <= SAME * new.max(touch.bound)) {
            return false;
        }
        self.touches.iter_mut().zip(next).for_each(|(touch, bound)| touch.bound = bound);
        true
    }

    /// The forces where touches would answer if they went on to push, stick and slide as aims have it.
    fn wanted(&self, aims: &[Vector3<f64>]) -> Option<Vec<Vector3<f64>>> {
        let mut changes = Vec::with_capacity(3 * aims.len());
        let mut forces: Vec<Vector3<f64>> =
            (0..aims.len()).map(|touch| self.changed(touch, &aims[touch], &mut changes)).collect();
        let moved = self.compliance.moved(&forces);
        let away = |change: &Change| change.along.dot(&(change.origin - moved[change.touch]));
        let mut sizes: Vec<f64> = changes.iter().map(away).collect();
        let mut factor = DenseCholesky::of(self.reduced(&changes));
        if !factor.factor() {
            return None;
        }
        factor.solve(&mut sizes, 1);
        for (change, size) in changes.iter().zip(sizes) {
            forces[change.touch] += size * change.along;
        }
        Some(forces)
    }

    /// How the force of a touch changes with where its point goes; what of it does not.
    fn changed(&self, number: usize, aim: &Vector3<f64>, changes: &mut Vec<Change>) -> Vector3<f64> {
        let (touch, rate) = (&self.touches[number], self.rate(number));
        let (push, soft) = (touch.normal.dot(aim), 1.0 / touch.stiffness);
        let mut change = |along: Vector3<f64>, softness: f64, origin: Vector3<f64>| {
            changes.push(Change { touch: number, along, softness, origin });
        };
        if push > 0.0 {
            change(touch.normal, soft, touch.place);
        }
        if touch.bound <= 0.0 {
            return Vector3::zeros();
        }
        let rub = aim - push * touch.normal;
        let size = rub.norm();
        if size <= touch.bound {
            let frame = touch.frame();
            (1..3).for_each(|axis| change(frame.column(axis).into(), soft, touch.anchor));
            return Vector3::zeros();
        }
        // Across the way the force turns as the aim does.
        let turning = (size - touch.bound) / (touch.bound * rate);
        change(touch.normal.cross(&rub) / size, soft + turning, touch.anchor);
        rub * (touch.bound / size)
    }

    /// How far changes go under each other, and what each resists itself: the lower half counts.
    fn reduced(&self, changes: &[Change]) -> Mat<f64> {
        let Compliance { points, columns, matrix: middle } = self.compliance;
        let (count, rank) = (changes.len(), middle.nrows());
        let along = Mat::from_fn(count, rank, |i, k| changes[i].along.dot(&columns[changes[i].touch][k]));
        let (mut turned, mut reduced) = (Mat::zeros(count, rank), Mat::zeros(count, count));
        matmul(&mut turned, Accum::Replace, &along, middle, 1.0, Par::Seq);
        matmul(&mut reduced, Accum::Replace, &turned, along.transpose(), 1.0, Par::Seq);
        for (j, change) in changes.iter().enumerate() {
            let column = &mut reduced.col_as_slice_mut(j)[j..];
            for (entry, other) in column.iter_mut().zip(&changes[j..]) {
                *entry += points.along([other.touch, change.touch], [&other.along, &change.along]);
            }
            column[0] += change.softness;
        }
        reduced
    }
}

/// The nearest force that pushes, with friction within its bound.
fn within(touch: &Touch, force: &Vector3<f64>) -> Vector3<f64> {
    let push = touch.normal.dot(force);
    let rub = force - push * touch.normal;
    let size = rub.norm();
    push.max(0.0) * touch.normal + if size > touch.bound { rub * (touch.bound / size) } else { rub }
}
