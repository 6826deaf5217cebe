//! Contacts of bodies in a common step, and search directions with contact forces.

use std::ops::Range;

use faer::Mat;
use nalgebra::Vector3;

use super::directions::{HARD, HELD};
use super::link::Link;
use super::relaxation::{CROWD, relax};
use super::{Compliance, Mobility, Touch, entered, mind, respond};
use crate::math::rows::{Rows, add, combine};
use crate::solve::{Compact, Lbfgs};

/// Inverse metric of all members, block by block.
pub(super) struct Metric<'a, F> {
    /// Row range of each member.
    pub(super) ranges: &'a [Range<usize>],
    pub(super) solve: F,
}

impl<F: FnMut(usize, &mut Rows)> Metric<'_, F> {
    fn solve(&mut self, rows: &mut Rows, of: impl Fn(usize) -> bool) {
        for (member, own) in self.ranges.iter().enumerate().filter(|(member, _)| of(*member)) {
            (self.solve)(member, &mut rows[own.clone()]);
        }
    }
}

/// All contacts of a search.
#[derive(Default)]
pub(super) struct Links {
    pub(super) all: Vec<Link>,
    /// Forces on the points at the last energy evaluation, N.
    forces: Vec<Vector3<f64>>,
}

impl Links {
    /// Contact energy, J.
    pub(super) fn evaluate(&mut self, y: &Rows) -> f64 {
        self.forces.clear();
        let mut sum = 0.0;
        for link in &self.all {
            let (energy, force) = link.touch.evaluate(&link.at(y));
            self.forces.push(force);
            sum += energy;
        }
        sum
    }

    /// Derivative of the contact energy along a direction, at the last evaluation.
    pub(super) fn slope(&self, direction: &Rows) -> f64 {
        self.all.iter().zip(&self.forces).map(|(link, force)| -force.dot(&link.sum(direction))).sum()
    }

    /// `true` if all contacts stay open along the direction.
    pub(super) fn are_idle(&self, y: &Rows, direction: &Rows) -> bool {
        self.all.iter().all(|link| {
            let here = link.at(y);
            let ahead = here + link.sum(direction);
            link.touch.bound == 0.0 && link.touch.gap(&here) >= 0.0 && link.touch.gap(&ahead) >= 0.0
        })
    }

    /// Adds the effect of contact forces to a direction. The working set starts with the contacts active in
    /// the last search; if it would need more than [`CROWD`], all contacts are relaxed.
    pub(super) fn turn<F: FnMut(usize, &mut Rows)>(
        &mut self,
        memory: &mut Lbfgs,
        direction: &mut Rows,
        y: &Rows,
        metric: &mut Metric<'_, F>,
    ) {
        self.stiffen(y.len(), metric);
        let compact = memory.compact(&mut |rows: &mut Rows| metric.solve(rows, |_| true));
        let free = direction.to_vec();
        let acting = self.acting();
        let mut is_crowd = acting.len() + self.entered(&acting, y, direction).len() > CROWD;
        if !is_crowd {
            mind(acting, |minded| {
                if !minded.is_empty() {
                    direction.copy_from_slice(&free);
                    let shares = self.respond(minded, &compact, &sum(y, direction));
                    self.push(minded, &shares, &compact, direction, metric);
                }
                let entered = self.entered(minded, y, direction);
                is_crowd = minded.len() >= CROWD && !entered.is_empty();
                entered
            });
        }
        if is_crowd {
            direction.copy_from_slice(&free);
            let all: Vec<usize> = (0..self.all.len()).collect();
            let columns = self.columns(&all, &compact);
            let shares = relax(&mut self.all, &columns, &compact.matrix, &sum(y, direction));
            self.push(&all, &shares, &compact, direction, metric);
        }
    }

    /// Contacts outside of the working set that the direction closes, deepest first.
    fn entered(&self, minded: &[usize], y: &Rows, direction: &Rows) -> Vec<usize> {
        let ahead = sum(y, direction);
        entered(self.all.len(), minded, |i| self.all[i].touch.gap(&self.all[i].at(&ahead)))
    }

    /// Contacts with a force or friction.
    fn acting(&self) -> Vec<usize> {
        let acts = |link: &Link| link.touch.bound > 0.0 || link.force != Vector3::zeros();
        (0..self.all.len()).filter(|&i| acts(&self.all[i])).collect()
    }

    /// Adds to a direction the effect of the forces in the working set, with these shares of the columns.
    fn push<F: FnMut(usize, &mut Rows)>(
        &self,
        minded: &[usize],
        shares: &[f64],
        compact: &Compact<'_>,
        direction: &mut Rows,
        metric: &mut Metric<'_, F>,
    ) {
        let mut pushed = vec![[0.0; 3]; direction.len()];
        minded.iter().for_each(|&i| self.all[i].spread(&self.all[i].force, &mut pushed));
        metric.solve(&mut pushed, |_| true);
        add(direction, 1.0, &pushed);
        for (column, share) in compact.columns.iter().zip(shares) {
            add(direction, *share, column);
        }
    }

    /// Optimal forces in a small working set, by Newton's method; returns the share of each column.
    fn respond(&mut self, minded: &[usize], compact: &Compact<'_>, ahead: &Rows) -> Vec<f64> {
        let of = || minded.iter().map(|&i| &self.all[i]);
        let entry = |i: usize, j: usize| self.all[minded[i]].moved_by(&self.all[minded[j]]);
        let points = Mobility::Even(Mat::from_fn(minded.len(), minded.len(), entry));
        let columns = self.columns(minded, compact);
        let compliance = Compliance { points, columns, matrix: compact.matrix.clone() };
        let free: Vec<Vector3<f64>> = of().map(|link| link.at(ahead)).collect();
        let friction: Vec<f64> = of().map(|link| link.friction).collect();
        let mut touches: Vec<Touch> = of().map(|link| link.touch).collect();
        let guess: Vec<Vector3<f64>> = of().map(|link| link.force).collect();
        let forces = respond(&mut touches, &friction, &free, &compliance, &guess);
        for ((&i, touch), force) in minded.iter().zip(touches).zip(&forces) {
            (self.all[i].touch, self.all[i].force) = (touch, *force);
        }
        compliance.shares(&forces)
    }

    /// Columns of the compact metric at each contact of the working set.
    fn columns(&self, minded: &[usize], compact: &Compact<'_>) -> Vec<Vec<Vector3<f64>>> {
        let of = |&i: &usize| compact.columns.iter().map(|column| self.all[i].sum(column)).collect();
        minded.iter().map(of).collect()
    }

    /// Computes missing images and contact stiffnesses, and drops contacts of immovable points.
    fn stiffen<F: FnMut(usize, &mut Rows)>(&mut self, rows: usize, metric: &mut Metric<'_, F>) {
        let mut moved = vec![[0.0; 3]; rows];
        let mut new: Vec<&mut Link> = self.all.iter_mut().filter(|link| link.image.is_empty()).collect();
        for three in new.chunks_mut(3) {
            for (c, link) in three.iter().enumerate() {
                link.spread(&Vector3::ith(c, 1.0), &mut moved);
            }
            metric.solve(&mut moved, |member| three.iter().any(|link| link.moves(member)));
            for (c, link) in three.iter_mut().enumerate() {
                link.image = link.rows.iter().cloned().flatten().map(|row| moved[row][c]).collect();
            }
            three
                .iter()
                .flat_map(|link| link.rows.iter().cloned().flatten())
                .for_each(|row| moved[row] = [0.0; 3]);
        }
        for i in 0..self.all.len() {
            if self.all[i].touch.stiffness == 0.0 {
                self.all[i].touch.stiffness = HARD / self.all[i].moved_by(&self.all[i]);
            }
        }
        let least = self.all.iter().map(|link| link.touch.stiffness).fold(f64::INFINITY, f64::min);
        self.all.retain(|link| link.touch.stiffness * HELD < least);
    }
}

pub(super) fn sum(a: &Rows, b: &Rows) -> Vec<[f64; 3]> {
    let mut sum = vec![[0.0; 3]; a.len()];
    combine(&mut sum, a, 1.0, b);
    sum
}
