//! Contact of a body in a common step with another body or a rigid collider.

use std::ops::Range;

use nalgebra::Vector3;

use super::{Contact, Touch};
use crate::math::rows::Rows;

/// A contact of a member with another member or a rigid collider, with the relative position
/// `sum of entries y + beyond`.
pub(super) struct Link {
    pub(super) member: usize,
    pub(super) other: Option<usize>,
    /// Rows of the member and of the other one; none for a rigid collider.
    pub(super) rows: [Range<usize>; 2],
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
    /// Displacement of `rows` under a unit force, m/N; empty until computed.
    pub(super) image: Vec<f64>,
}

impl Link {
    /// Contact of a member with a rigid collider; `rows` are those of the member.
    pub(super) fn rigid(member: usize, contact: &Contact, touch: &Touch, rows: &Range<usize>) -> Self {
        let point = touch.point as usize;
        let entry = |&(row, weight): &(u32, f64)| (row + rows.start as u32, weight);
        Self {
            member,
            other: None,
            rows: [rows.clone(), 0..0],
            touch: Touch { stiffness: 0.0, ..*touch },
            friction: contact.friction(touch),
            entries: contact.points.of(point).iter().map(entry).collect(),
            beyond: contact.shift(point),
            met: Vector3::zeros(),
            side: Vector3::zeros(),
            force: Vector3::zeros(),
            image: Vec::new(),
        }
    }

    /// Adds the transpose action of a value to the rows.
    pub(super) fn spread(&self, value: &Vector3<f64>, rows: &mut Rows) {
        for &(row, weight) in &self.entries {
            (0..3).for_each(|c| rows[row as usize][c] += weight * value[c]);
        }
    }

    pub(super) fn sum(&self, rows: &Rows) -> Vector3<f64> {
        let sum = |sum, &(row, weight): &(u32, f64)| sum + weight * Vector3::from(rows[row as usize]);
        self.entries.iter().fold(Vector3::zeros(), sum)
    }

    pub(super) fn at(&self, rows: &Rows) -> Vector3<f64> {
        self.sum(rows) + self.beyond
    }

    /// Displacement of the point under a unit force in another contact, m/N.
    pub(super) fn moved_by(&self, link: &Self) -> f64 {
        let [own, other] = &link.rows;
        let moved = |row: usize| match () {
            () if own.contains(&row) => link.image[row - own.start],
            () if other.contains(&row) => link.image[own.len() + row - other.start],
            () => 0.0,
        };
        self.entries.iter().map(|&(row, weight)| weight * moved(row as usize)).sum()
    }

    /// `true` if a contact force can move the given member.
    pub(super) fn moves(&self, member: usize) -> bool {
        member == self.member || Some(member) == self.other
    }

    /// Key for lookup between searches.
    pub(super) fn key(&self) -> (usize, u32, u32) {
        (self.member, self.touch.point, self.touch.collider)
    }
}
