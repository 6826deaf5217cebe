//! Placement of a collider: a rotation and a translation.

use nalgebra::{Matrix3, Vector3};

use crate::math::polar::nearest_rotation;
use crate::math::rows::Rows;
use crate::{Error, Result};

/// Largest entry of `R'R - 1` for an accepted placement: single precision and a chain of parents produce
/// such errors.
const RIGID: f64 = 1e-3;
/// Largest accepted entry of a placement, metres.
const LARGEST: f64 = 1e12;

/// Rows of a placement: the columns of the rotation, and the translation.
pub(crate) const ROWS: usize = 4;

/// Checks the transform of a collider from its initial place.
///
/// # Errors
/// [`Error::NotFinite`] or [`Error::Range`] for anything but a rotation with a translation.
pub fn check_placement(transform: &[[f64; 4]; 3]) -> Result<()> {
    Placement::checked("collider", transform).map(drop)
}

/// Rigid transform of a collider from its initial place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    rotation: Matrix3<f64>,
    translation: Vector3<f64>,
}

impl Placement {
    /// Placement rows of colliders at their initial places.
    pub(crate) fn made(rows: usize) -> Vec<[f64; 3]> {
        let still = Self { rotation: Matrix3::identity(), translation: Vector3::zeros() };
        still.rows().into_iter().cycle().take(rows).collect()
    }

    /// Writes the transform of each collider as rows.
    pub(crate) fn enter(transforms: &[[[f64; 4]; 3]], rows: &mut Rows) -> Result<()> {
        if ROWS * transforms.len() != rows.len() {
            let (expected, got) = (rows.len() / ROWS, transforms.len());
            let [expected, got] = [expected, got].map(|count| format!("({count}, 3, 4)"));
            return Err(Error::Shape { what: "colliders", expected, got });
        }
        for (transform, rows) in transforms.iter().zip(rows.as_chunks_mut::<ROWS>().0) {
            *rows = Self::checked("colliders", transform)?.rows();
        }
        Ok(())
    }

    /// Placement of a 3x4 matrix; errors for anything but a rotation with a translation.
    pub(crate) fn checked(what: &'static str, transform: &[[f64; 4]; 3]) -> Result<Self> {
        let numbers = transform.as_flattened();
        if let Some(element) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what, element, value: numbers[element] });
        }
        if let Some(&got) = numbers.iter().find(|x| x.abs() > LARGEST) {
            return Err(Error::Range { what, expected: "numbers of at most 1e12", got });
        }
        let given = Matrix3::from_fn(|i, j| transform[i][j]);
        let apart = (given.transpose() * given - Matrix3::identity()).amax();
        if apart > RIGID || given.determinant() < 0.0 {
            let expected = "a rotation and a translation each, without scale or mirroring";
            return Err(Error::Range { what, expected, got: given.determinant() });
        }
        let translation = Vector3::from_fn(|i, _| transform[i][3]);
        Ok(Self { rotation: nearest_rotation(&given), translation })
    }

    pub(crate) fn rows(&self) -> [[f64; 3]; ROWS] {
        let column = |c: usize| self.rotation.column(c).into_owned().into();
        [column(0), column(1), column(2), self.translation.into()]
    }

    /// Placement of interpolated rows in a space with its origin at `origin`; the matrix is made a
    /// rotation.
    pub(crate) fn of(rows: &[[f64; 3]; ROWS], origin: &[f64; 3]) -> Self {
        let between = Matrix3::from_columns(&[rows[0], rows[1], rows[2]].map(Vector3::from));
        let translation = Vector3::from(rows[3]) - Vector3::from(*origin);
        Self { rotation: nearest_rotation(&between), translation }
    }

    /// Rotation from the initial place.
    pub(crate) fn rotation(&self) -> &Matrix3<f64> {
        &self.rotation
    }

    /// Translation from the initial place.
    pub(crate) fn translation(&self) -> &Vector3<f64> {
        &self.translation
    }

    /// A world point in the collider's space.
    pub(crate) fn local(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.rotation.transpose() * (point - self.translation)
    }

    /// A point of the collider in world space.
    pub(crate) fn world(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * point + self.translation
    }

    /// A direction of the collider in world space.
    pub(crate) fn turned(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * direction
    }

    /// A direction of world space in the collider's.
    pub(crate) fn unturned(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.rotation.transpose() * direction
    }
}
