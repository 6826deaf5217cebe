//! Contact forces: minimum of the quasi-Newton model of a smooth energy plus the contact energies.
//!
//! With the inverse H of the model's matrix, the free direction `d_0 = -H g` and forces f on points S, the
//! direction is `d = d_0 + H S'f`. A force satisfies `f_i = -grad e_i(c_i + S_i d)`. Equivalently it is,
//! for any rate r, the projection of the *aim*
//!
//! `f_i - r_i (gap_i n + slip_i + f_i / k_i)`
//!
//! onto the admissible forces: pushing, with friction within its bound. A semismooth Newton method solves
//! these equations `[AC]`: the aims classify contacts as open, sticking or sliding, and one linear system
//! gives the forces for this classification. A close initial guess needs few steps. Half steps break cycles
//! of full steps. Only `S H S'` of the whole body is needed. Friction bounds are updated from the normal
//! forces in alternation.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use nalgebra::Vector3;

use super::Touch;
use crate::math::DenseCholesky;

/// Most updates of friction bounds; the next search removes the remaining error.
const ROUNDS: u32 = 5;
/// Relative change below which a bound counts as constant.
const SAME: f64 = 1e-3;
/// Most Newton steps, and the number of steps after which three of four are half steps.
const STEPS: u32 = 50;
const WHOLE: u32 = 12;
/// Rate of aims, relative to the inverse compliance of a point, suitable for a few coupled contacts.
const RATE: f64 = 0.1;
/// Relative error of forces at convergence, and the error from which friction bounds are updated.
const SETTLED: f64 = 1e-9;
const CLOSE: f64 = 0.1;

/// Smallest batch of contacts added to the working set at once; larger working sets grow by their own size.
const BATCH: usize = 32;
/// Largest working set. More contacts are nearly redundant for bodies with few coordinates, at cubic cost.
pub(super) const MOST: usize = 256;

/// Solves contacts with a growing working set, until no other contact is violated or the set is full. The
/// forces are then the same as with all contacts, most of which are inactive. `answer` solves a working set
/// and returns the violated contacts, in order of priority.
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

/// Contacts outside of the working set with a negative gap, deepest first.
pub(crate) fn entered(count: usize, minded: &[usize], gap: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut is_minded = vec![false; count];
    minded.iter().for_each(|&i| is_minded[i] = true);
    let others = (0..count).filter(|&i| !is_minded[i]).map(|i| (gap(i), i));
    let mut entered: Vec<(f64, usize)> = others.filter(|(gap, _)| *gap < 0.0).collect();
    entered.sort_by(|a, b| a.0.total_cmp(&b.0));
    entered.into_iter().map(|(_, i)| i).collect()
}

/// Compliance W between the points of contacts, m/N.
pub(crate) enum Mobility {
    /// Isotropic: one number a pair of points.
    Even(Mat<f64>),
    /// For rotating bodies: 3 x 3 a pair of points.
    Turning(Mat<f64>),
}

impl Mobility {
    /// Compliance of a point under its own force, averaged over directions.
    fn own(&self, i: usize) -> f64 {
        match self {
            Self::Even(w) => w[(i, i)],
            Self::Turning(w) => (0..3).map(|c| w[(3 * i + c, 3 * i + c)]).sum::<f64>() / 3.0,
        }
    }

    /// Adds the displacement of all points under a force at one.
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

    /// Displacement of a point along `to` under a force at another point along `from`.
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

/// Compliance between contact points: `S H S' = W + U M U'`.
pub(crate) struct Compliance {
    /// W.
    pub(crate) points: Mobility,
    /// Columns of U at each contact point.
    pub(crate) columns: Vec<Vec<Vector3<f64>>>,
    /// M.
    pub(crate) matrix: Mat<f64>,
}

impl Compliance {
    /// `M U' f`: coefficient of each column under forces on all points.
    pub(crate) fn shares(&self, forces: &[Vector3<f64>]) -> Vec<f64> {
        let rank = self.matrix.nrows();
        let mut shares = vec![0.0; rank];
        for (columns, force) in self.columns.iter().zip(forces).filter(|(_, force)| acts(force)) {
            shares.iter_mut().zip(columns).for_each(|(share, column)| *share += column.dot(force));
        }
        (0..rank).map(|a| (0..rank).map(|b| self.matrix[(a, b)] * shares[b]).sum()).collect()
    }

    /// Displacements of points under forces.
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

/// Contact forces for points with free positions `free`, from an initial guess; sets the friction bounds
/// from one coefficient a contact.
pub(crate) fn respond(
    touches: &mut [Touch],
    friction: &[f64],
    free: &[Vector3<f64>],
    compliance: &Compliance,
    guess: &[Vector3<f64>],
) -> Vec<Vector3<f64>> {
    // Positions relative to the free positions, to keep precision of the displacements.
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

/// Contacts relative to the free positions of their points.
struct Problem<'a> {
    touches: Vec<Touch>,
    friction: &'a [f64],
    compliance: &'a Compliance,
}

/// One active direction of a contact force: linear in the point's displacement from an origin, with
/// compliance `softness`.
struct Change {
    touch: usize,
    along: Vector3<f64>,
    softness: f64,
    origin: Vector3<f64>,
}

impl Problem<'_> {
    /// Newton iteration from initial forces.
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

    /// Rate of the aim of a contact, N/m.
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

    /// Largest difference between forces and projected aims, and largest projected aim.
    fn off(&self, forces: &[Vector3<f64>], aims: &[Vector3<f64>]) -> (f64, f64) {
        let answers = self.touches.iter().zip(aims).map(|(touch, aim)| within(touch, aim));
        let pairs = answers.zip(forces);
        pairs.fold((0.0, 0.0), |(off, most), (answer, force)| {
            (f64::max(off, (force - answer).amax()), f64::max(most, answer.amax()))
        })
    }

    /// Updates the friction bounds from the normal forces; `true` if any has changed.
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

    /// Forces that solve the equations for the classification given by the aims.
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

    /// Adds the active directions of a contact force; returns its constant part.
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
        // Across the slip, the friction force rotates with the aim.
        let turning = (size - touch.bound) / (touch.bound * rate);
        change(touch.normal.cross(&rub) / size, soft + turning, touch.anchor);
        rub * (touch.bound / size)
    }

    /// Compliance matrix of the active directions, softness included; lower half only.
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

/// Nearest admissible force: pushing, with friction within its bound.
pub(super) fn within(touch: &Touch, force: &Vector3<f64>) -> Vector3<f64> {
    let push = touch.normal.dot(force);
    let rub = force - push * touch.normal;
    let size = rub.norm();
    push.max(0.0) * touch.normal + if size > touch.bound { rub * (touch.bound / size) } else { rub }
}
