//! Contacts of bodies in a common step, and search directions with contact forces.

use std::ops::Range;

use faer::Mat;
use nalgebra::Vector3;

use super::directions::{HARD, HELD};
use super::{Compliance, Contact, Mobility, Touch, entered, mind, respond};
use crate::math::rows::{Rows, add, combine};
use crate::solve::{Compact, Lbfgs};

/// A contact of a member with another member or a rigid collider, with the relative position
/// `sum of entries y + beyond`.
pub(super) struct Link {
    pub(super) member: usize,
    pub(super) other: Option<usize>,
    /// Stiffness 0 until computed.
    pub(super) touch: Touch,
    pub(super) friction: f64,
    pub(super) entries: Vec<(u32, f64)>,
    pub(super) beyond: Vector3<f64>,
    /// Contact place in the rest space of the other body, and its outward normal there.
    pub(super) met: Vector3<f64>,
    pub(super) side: Vector3<f64>,
    /// Contact force of the last search, N.
    pub(super) force: Vector3<f64>,
}

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

impl Link {
    /// Contact of a member with a rigid collider; `first` is the member's first row.
    pub(super) fn rigid(member: usize, contact: &Contact, touch: &Touch, first: usize) -> Self {
        let point = touch.point as usize;
        let entry = |&(row, weight): &(u32, f64)| (row + first as u32, weight);
        Self {
            member,
            other: None,
            touch: Touch { stiffness: 0.0, ..*touch },
            friction: contact.friction(touch),
            entries: contact.points.of(point).iter().map(entry).collect(),
            beyond: contact.shift(point),
            met: Vector3::zeros(),
            side: Vector3::zeros(),
            force: Vector3::zeros(),
        }
    }

    /// Adds the transpose action of a value to the rows.
    fn spread(&self, value: &Vector3<f64>, rows: &mut Rows) {
        for &(row, weight) in &self.entries {
            (0..3).for_each(|c| rows[row as usize][c] += weight * value[c]);
        }
    }

    fn sum(&self, rows: &Rows) -> Vector3<f64> {
        let sum = |sum, &(row, weight): &(u32, f64)| sum + weight * Vector3::from(rows[row as usize]);
        self.entries.iter().fold(Vector3::zeros(), sum)
    }

    pub(super) fn at(&self, rows: &Rows) -> Vector3<f64> {
        self.sum(rows) + self.beyond
    }

    /// `true` if a contact force can move the given member.
    fn moves(&self, member: usize) -> bool {
        member == self.member || Some(member) == self.other
    }

    /// Key for lookup between searches.
    pub(super) fn key(&self) -> (usize, u32, u32) {
        (self.member, self.touch.point, self.touch.collider)
    }
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
    /// the last search.
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
        let mut images = Vec::new();
        mind(self.acting(), |minded| {
            images.extend(self.images(&minded[images.len()..], y.len(), metric));
            if !minded.is_empty() {
                direction.copy_from_slice(&free);
                self.answer(minded, &images, &compact, y, direction, metric);
            }
            let ahead = sum(y, direction);
            entered(self.all.len(), minded, |i| self.all[i].touch.gap(&self.all[i].at(&ahead)))
        });
    }

    /// Contacts with a force or friction.
    fn acting(&self) -> Vec<usize> {
        let acts = |link: &Link| link.touch.bound > 0.0 || link.force != Vector3::zeros();
        (0..self.all.len()).filter(|&i| acts(&self.all[i])).collect()
    }

    /// Adds to a direction the effect of the optimal forces in the working set.
    fn answer<F: FnMut(usize, &mut Rows)>(
        &mut self,
        minded: &[usize],
        images: &[Vec<f64>],
        compact: &Compact<'_>,
        y: &Rows,
        direction: &mut Rows,
        metric: &mut Metric<'_, F>,
    ) {
        let of = || minded.iter().map(|&i| &self.all[i]);
        let compliance = self.compliance(minded, images, compact);
        let ahead = sum(y, direction);
        let free: Vec<Vector3<f64>> = of().map(|link| link.at(&ahead)).collect();
        let friction: Vec<f64> = of().map(|link| link.friction).collect();
        let mut touches: Vec<Touch> = of().map(|link| link.touch).collect();
        let guess: Vec<Vector3<f64>> = of().map(|link| link.force).collect();
        let forces = respond(&mut touches, &friction, &free, &compliance, &guess);
        let mut pushed = vec![[0.0; 3]; direction.len()];
        for ((&i, touch), force) in minded.iter().zip(touches).zip(&forces) {
            let link = &mut self.all[i];
            link.spread(force, &mut pushed);
            (link.touch, link.force) = (touch, *force);
        }
        metric.solve(&mut pushed, |_| true);
        add(direction, 1.0, &pushed);
        for (column, share) in compact.columns.iter().zip(compliance.shares(&forces)) {
            add(direction, share, column);
        }
    }

    /// Computes missing contact stiffnesses, and drops contacts of immovable points.
    fn stiffen<F: FnMut(usize, &mut Rows)>(&mut self, rows: usize, metric: &mut Metric<'_, F>) {
        let new: Vec<usize> = (0..self.all.len()).filter(|&i| self.all[i].touch.stiffness == 0.0).collect();
        for (&i, image) in new.iter().zip(self.images(&new, rows, metric)) {
            self.all[i].touch.stiffness = HARD / moved(&self.all[i], &image);
        }
        let least = self.all.iter().map(|link| link.touch.stiffness).fold(f64::INFINITY, f64::min);
        self.all.retain(|link| link.touch.stiffness * HELD < least);
    }

    /// Displacement of all rows under a unit force in each given contact, m/N.
    fn images<F: FnMut(usize, &mut Rows)>(
        &self,
        of: &[usize],
        rows: usize,
        metric: &mut Metric<'_, F>,
    ) -> Vec<Vec<f64>> {
        let mut images = Vec::with_capacity(of.len());
        for three in of.chunks(3) {
            let mut moved = vec![[0.0; 3]; rows];
            for (c, &i) in three.iter().enumerate() {
                self.all[i].spread(&Vector3::ith(c, 1.0), &mut moved);
            }
            metric.solve(&mut moved, |member| three.iter().any(|&i| self.all[i].moves(member)));
            images.extend((0..three.len()).map(|c| moved.iter().map(|row| row[c]).collect::<Vec<f64>>()));
        }
        images
    }

    fn compliance(&self, minded: &[usize], images: &[Vec<f64>], compact: &Compact<'_>) -> Compliance {
        let shares = |a: &Link, b: &Link| b.moves(a.member) || a.other.is_some_and(|other| b.moves(other));
        let entry = |i: usize, j: usize| {
            let [a, b] = [i, j].map(|k| &self.all[minded[k]]);
            if shares(a, b) { moved(a, &images[j]) } else { 0.0 }
        };
        let columns = |&i: &usize| compact.columns.iter().map(|column| self.all[i].sum(column)).collect();
        Compliance {
            points: Mobility::Even(Mat::from_fn(minded.len(), minded.len(), entry)),
            columns: minded.iter().map(columns).collect(),
            matrix: compact.matrix.clone(),
        }
    }
}

/// Displacement of a contact point by rows of one coordinate.
fn moved(link: &Link, rows: &[f64]) -> f64 {
    link.entries.iter().map(|&(row, weight)| weight * rows[row as usize]).sum()
}

pub(super) fn sum(a: &Rows, b: &Rows) -> Vec<[f64; 3]> {
    let mut sum = vec![[0.0; 3]; a.len()];
    combine(&mut sum, a, 1.0, b);
    sum
}
