//! Contact of a point: its plane, and the energies of penetration and of slip from the anchor.

use nalgebra::{Matrix3, Vector3};

/// Contact of one point with one collider, frozen for a line search.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    /// Index of the point.
    pub point: u32,
    /// Index of the collider.
    pub collider: u32,
    /// Outward normal of the plane.
    pub normal: Vector3<f64>,
    /// A place on the plane, metres.
    pub place: Vector3<f64>,
    /// Sticking position, metres.
    pub anchor: Vector3<f64>,
    /// Contact stiffness, N/m.
    pub stiffness: f64,
    /// Largest force of friction, N.
    pub bound: f64,
}

impl Touch {
    /// Key for lookup between searches.
    pub(crate) fn key(&self) -> (u32, u32) {
        (self.point, self.collider)
    }

    /// Distance from the plane, metres, negative behind it.
    pub fn gap(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(&(point - self.place))
    }

    /// Tangential displacement of a point from its anchor.
    pub fn slip(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let apart = point - self.anchor;
        apart - self.normal.dot(&apart) * self.normal
    }

    /// Energy of a point, J, and force, N, minus its gradient.
    pub fn evaluate(&self, point: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let depth = self.gap(point).min(0.0);
        let (mut energy, mut force) =
            (0.5 * self.stiffness * depth * depth, -self.stiffness * depth * self.normal);
        if self.bound > 0.0 {
            let slip = self.slip(point);
            let length = slip.norm();
            if self.stiffness * length <= self.bound {
                energy += 0.5 * self.stiffness * length * length;
                force -= self.stiffness * slip;
            } else {
                energy += self.bound * (length - 0.5 * self.bound / self.stiffness);
                force -= self.bound / length * slip;
            }
        }
        (energy, force)
    }

    /// Normal and two tangents.
    pub(super) fn frame(&self) -> Matrix3<f64> {
        let first = self.normal.cross(&Vector3::ith(self.normal.iamin(), 1.0)).normalize();
        Matrix3::from_columns(&[self.normal, first, self.normal.cross(&first)])
    }

    /// Anchor after the point's motion to a place: beyond the friction bound the anchor is dragged along.
    pub fn dragged(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let slip = self.slip(point);
        let (length, most) = (slip.norm(), self.bound / self.stiffness);
        point - if length > most { most / length * slip } else { slip }
    }
}
