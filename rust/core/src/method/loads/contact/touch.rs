//! A point that touches a collider: its plane, and the energy of being behind it or away from where it sticks.

use nalgebra::{Matrix3, Vector3};

/// Contact of one point with one collider, frozen for a line search.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    /// Which point of the body.
    pub point: u32,
    /// Which collider.
    pub collider: u32,
    /// Outward normal of the plane.
    pub normal: Vector3<f64>,
    /// A place on the plane, metres.
    pub place: Vector3<f64>,
    /// Where the point sticks, metres.
    pub anchor: Vector3<f64>,
    /// N/m.
    pub stiffness: f64,
    /// Largest force of friction, N.
    pub bound: f64,
}

impl Touch {
    /// Distance from the plane, metres, negative behind it.
    pub fn gap(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(&(point - self.place))
    }

    /// Along the plane, how far a point is from its anchor.
    pub fn slip(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let apart = point - self.anchor;
        apart - self.normal.dot(&apart) * self.normal
    }

    /// Energy of a point, J, and the force on it, N, minus its gradient.
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

    /// Where the point sticks once it has come to a place: what friction cannot hold drags the anchor along.
    pub fn dragged(&self, point: &Vector3<f64>) -> Vector3<f64> {
        let slip = self.slip(point);
        let (length, most) = (slip.norm(), self.bound / self.stiffness);
        point - if length > most { most / length * slip } else { slip }
    }
}
