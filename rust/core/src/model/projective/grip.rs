//! Springs from points of a body of handles to targets, in the incremental energy and in its metric.

use std::sync::Arc;

use faer::Mat;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Col, Side};

use super::ProjectiveModel;
use super::skin::sum_of_rows;
use super::system::{Factors, System};
use crate::inputs::pull::{Grip, MOST, Point, Pull};
use crate::math::rows::Rows;
use crate::math::symmetric::Scratch;
use crate::mesh::Embedding;
use crate::potentials::contact::Corners;
use crate::{Error, Result};

impl Grip {
    /// Grip points of a body by index: vertices, or points of an embedding in its mesh.
    ///
    /// # Errors
    /// [`Error::Empty`] without a point, [`Error::Range`] for more than 64; [`Error::Index`] for an unknown
    /// or duplicate point, [`Error::Unsupported`] or [`Error::Shape`] for an embedding in another mesh.
    pub fn new(model: &ProjectiveModel, points: &[u32], embedding: Option<&Embedding>) -> Result<Self> {
        let what = "points";
        let tets = embedding.map(|embedding| model.tets_of(embedding)).transpose()?;
        let places = embedding.map_or(model.vertices(), Embedding::points);
        if points.is_empty() {
            return Err(Error::Empty { what });
        }
        if points.len() > MOST {
            return Err(Error::Range { what, expected: "at most 64 points", got: points.len() as f64 });
        }
        for (element, &index) in points.iter().enumerate() {
            if index as usize >= places.len() || points[..element].contains(&index) {
                return Err(Error::Index { what, element, index: index.into(), count: places.len() });
            }
        }
        let corners = |point: usize| -> Corners {
            match (embedding, tets) {
                (Some(embedding), Some(tets)) => {
                    let vertices = tets[embedding.tets()[point] as usize];
                    std::array::from_fn(|c| (vertices[c], embedding.barycentric()[point][c]))
                }
                _ => std::array::from_fn(|c| (point as u32, if c == 0 { 1.0 } else { 0.0 })),
            }
        };
        let corners: Vec<Corners> = points.iter().map(|&point| corners(point as usize)).collect();
        let part = |corners: &Corners| model.handles.parts_of_vertices()[corners[0].0 as usize];
        let held = |of: u32| corners.iter().filter(|corners| part(corners) == of).count() as f64;
        let points = points.iter().zip(&corners).map(|(&point, corners)| Point {
            part: part(corners),
            place: places[point as usize],
            corners: *corners,
            rows: sum_of_rows(model, corners),
            mass: model.coordinates.parts[part(corners) as usize].mass / held(part(corners)),
        });
        Ok(Self { points: points.collect(), rank: model.rank(), total_mass: model.total_mass })
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        self.points.len()
    }

    /// `true` if the points belong to this body: another body of the same mesh has other handles.
    fn is_of(&self, model: &ProjectiveModel) -> bool {
        let n = model.vertices().len();
        let is_there = |point: &Point| point.corners.iter().all(|&(vertex, _)| (vertex as usize) < n);
        let is_same = |point: &Point| is_there(point) && sum_of_rows(model, &point.corners) == point.rows;
        (self.rank, self.total_mass) == (model.rank(), model.total_mass) && self.points.iter().all(is_same)
    }
}

/// Gripped points of a step, and their low-rank update of a system.
///
/// With stiffnesses k and rows S of the points,
/// `(A + S'kS)^-1 = A^-1 - A^-1 S' (1/k + S A^-1 S')^-1 S A^-1`.
#[derive(Default)]
pub(super) struct PointSprings {
    pull: Option<Pull>,
    /// Stiffness of each point, N/m, and target displacement from rest.
    stiffness: Vec<f64>,
    goals: Vec<[f64; 3]>,
    known: Option<Known>,
}

/// Low-rank update of the inverse of one system.
struct Known {
    grip: Arc<Grip>,
    factors: Factors,
    stiffness: Vec<f64>,
    /// `A^-1 S'`, and `(1/k + S A^-1 S')^-1` times its transpose.
    columns: Mat<f64>,
    shares: Mat<f64>,
}

impl PointSprings {
    /// Stores the pull of the next step.
    pub(super) fn enter(&mut self, model: &ProjectiveModel, pull: Option<&Pull>) -> Result<()> {
        let last = self.pull.as_ref().map(|pull| &pull.grip);
        let is_known = |grip: &Arc<Grip>| last.is_some_and(|last| Arc::ptr_eq(last, grip));
        if pull.is_some_and(|pull| !is_known(&pull.grip) && !pull.grip.is_of(model)) {
            let why = "its points are those of another body; make it of the model that is simulated";
            return Err(Error::Unsupported { what: "pull", why });
        }
        self.pull = pull.cloned();
        Ok(())
    }

    /// Subtracts the velocity loss of gripped parts in a substep of h seconds from a target.
    pub(super) fn calm(&self, model: &ProjectiveModel, [older, last]: [&Rows; 2], h: f64, target: &mut Rows) {
        let Some(Pull { grip, calm, .. }) = &self.pull else { return };
        let lost = -(-calm * h).exp_m1();
        for (row, part) in model.coordinates.parts_of_columns.iter().enumerate() {
            if grip.points.iter().any(|point| point.part == *part) {
                (0..3).for_each(|c| target[row][c] -= lost * (last[row][c] - older[row][c]));
            }
        }
    }

    /// Sets stiffnesses and goals of a substep of h seconds from the last coordinates; without a duration,
    /// those of statics.
    pub(super) fn predict(&mut self, last: &Rows, h: Option<f64>) {
        let Self { pull, stiffness, goals, .. } = self;
        stiffness.clear();
        goals.clear();
        let Some(Pull { grip, targets, frequency, .. }) = pull else { return };
        let omega = std::f64::consts::TAU * *frequency;
        let damped = h.map_or(0.0, |h| 2.0 / h);
        let share = omega / (omega + damped);
        for (point, target) in grip.points.iter().zip(targets.iter()) {
            stiffness.push(point.mass * omega * (omega + damped));
            let moved = point.moved(last);
            let goal = |c: usize| moved[c] + share * (target[c] - point.place[c] - moved[c]);
            goals.push(std::array::from_fn(goal));
        }
    }

    /// Updates the low-rank term for a system; `true` if it has changed.
    pub(super) fn meet(&mut self, system: &System) -> Result<bool> {
        let Some(pull) = &self.pull else { return Ok(self.known.take().is_some()) };
        let is_same = |known: &Known| {
            Arc::ptr_eq(&known.grip, &pull.grip)
                && (known.factors, &known.stiffness) == (system.factors, &self.stiffness)
        };
        if self.known.as_ref().is_some_and(is_same) {
            return Ok(false);
        }
        self.known = Some(Known::new(pull.grip.clone(), system, &self.stiffness)?);
        Ok(true)
    }

    /// Energy of the springs, J; adds the gradient.
    pub(super) fn evaluate(&self, y: &Rows, gradient: &mut Rows) -> f64 {
        let Some(pull) = &self.pull else { return 0.0 };
        let mut energy = 0.0;
        for ((point, stiffness), goal) in pull.grip.points.iter().zip(&self.stiffness).zip(&self.goals) {
            let moved = point.moved(y);
            let apart: [f64; 3] = std::array::from_fn(|c| moved[c] - goal[c]);
            energy += 0.5 * stiffness * apart.iter().map(|x| x * x).sum::<f64>();
            for &(row, value) in &point.rows {
                (0..3).for_each(|c| gradient[row as usize][c] += stiffness * value * apart[c]);
            }
        }
        energy
    }

    /// Applies the inverse of the system with the gripped points to a gradient, in place.
    pub(super) fn solve(&self, system: &System, rows: &mut Rows, scratch: &mut Scratch) {
        let Some(known) = &self.known else { return system.solve(rows, scratch) };
        let mut moves = [[0.0; 3]; MOST];
        for (point, moves) in moves.iter_mut().enumerate().take(known.shares.nrows()) {
            for (row, own) in rows.iter().enumerate() {
                let share = known.shares[(point, row)];
                (0..3).for_each(|c| moves[c] += share * own[c]);
            }
        }
        system.solve(rows, scratch);
        for (point, moves) in moves.iter().enumerate().take(known.shares.nrows()) {
            for (row, value) in rows.iter_mut().zip(known.columns.col(point).iter()) {
                (0..3).for_each(|c| row[c] -= value * moves[c]);
            }
        }
    }
}

impl Known {
    fn new(grip: Arc<Grip>, system: &System, stiffness: &[f64]) -> Result<Self> {
        let count = grip.points.len();
        let (mut rows, mut scratch) = (vec![[0.0; 3]; grip.rank], Scratch::new(grip.rank));
        let mut columns = Mat::zeros(grip.rank, count);
        for first in (0..count).step_by(3) {
            rows.fill([0.0; 3]);
            let three = grip.points[first..].iter().take(3).enumerate();
            for (c, point) in three {
                point.rows.iter().for_each(|&(row, value)| rows[row as usize][c] += value);
            }
            system.solve(&mut rows, &mut scratch);
            for c in 0..3.min(count - first) {
                let column: Col<f64> = Col::from_fn(grip.rank, |row| rows[row][c]);
                columns.col_mut(first + c).copy_from(&column);
            }
        }
        let moved = |i: usize, j: usize| -> f64 {
            grip.points[i].rows.iter().map(|&(row, value)| value * columns[(row as usize, j)]).sum()
        };
        let inner = Mat::from_fn(count, count, |i, j| {
            0.5 * (moved(i, j) + moved(j, i)) + if i == j { 1.0 / stiffness[i] } else { 0.0 }
        });
        let factor = Llt::new(inner.as_ref(), Side::Lower)
            .map_err(|error| Error::Numerical { what: "held points", why: format!("{error:?}") })?;
        let shares = factor.solve(columns.transpose().to_owned());
        Ok(Self { grip, factors: system.factors, stiffness: stiffness.to_vec(), columns, shares })
    }
}
