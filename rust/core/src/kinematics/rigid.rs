//! Rigid motions of the parts of a body, and the deforming rest of any motion.

use nalgebra::{Matrix3, Vector3};

use crate::math::rows::{Rows, add};

/// Rigid motions of a body's parts about a given shape.
///
/// The rigid share of a motion v is the rigid motion with the momentum and angular momentum of v:
/// `v = Q Q'M v + P v` with M-orthonormal rigid motions Q. A quadratic energy of `P v` acts without net
/// force and torque.
pub(crate) struct RigidMotions {
    /// Part of each row, `None` for rows without rigid motion.
    parts: Vec<Option<u32>>,
    /// Motion of each row in a unit translation of its part, and its momentum, kg.
    translation: Vec<f64>,
    momentum: Vec<f64>,
    masses: Vec<f64>,
    /// Places about the centre of mass of each part, and their products with the mass.
    places: Vec<[f64; 3]>,
    weighted: Vec<[f64; 3]>,
    /// Inverse tensors of inertia; zero for a part in a point or on a line.
    inverses: Vec<Matrix3<f64>>,
    /// Scratch: force of the deforming motion, and sums of each part.
    force: Vec<[f64; 3]>,
    sums: Vec<Vector3<f64>>,
}

impl RigidMotions {
    /// Rigid motions of parts, before a first shape.
    pub(crate) fn new(parts: Vec<Option<u32>>, translation: Vec<f64>, momentum: Vec<f64>) -> Self {
        let count = parts.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let mut masses = vec![0.0; count];
        for (row, part) in members(&parts) {
            masses[part] += translation[row] * momentum[row];
        }
        let zeros = || vec![[0.0; 3]; parts.len()];
        Self {
            places: zeros(),
            weighted: zeros(),
            force: zeros(),
            inverses: vec![Matrix3::zeros(); count],
            sums: vec![Vector3::zeros(); count],
            parts,
            translation,
            momentum,
            masses,
        }
    }

    /// Takes a shape: `place` writes the places of the rows, and `multiply` the product of the mass matrix
    /// with rows.
    pub(crate) fn set(&mut self, place: impl FnOnce(&mut Rows), multiply: impl FnOnce(&Rows, &mut Rows)) {
        let mut own = std::mem::take(&mut self.places);
        place(&mut own);
        self.remove_translation(&mut own);
        multiply(&own, &mut self.weighted);
        self.inverses.fill(Matrix3::zeros());
        for (row, part) in members(&self.parts) {
            self.inverses[part] += Vector3::from(self.weighted[row]) * Vector3::from(own[row]).transpose();
        }
        for moment in &mut self.inverses {
            let inertia = Matrix3::identity() * moment.trace() - *moment;
            *moment = inertia.try_inverse().unwrap_or_default();
        }
        self.places = own;
    }

    /// Energy of the deforming share of a motion, which replaces it; adds the gradient by the whole motion.
    /// `evaluate` is a quadratic energy that adds its own gradient.
    pub(crate) fn resist<const N: usize>(
        &mut self,
        motion: &mut [[f64; N]],
        gradient: &mut Rows,
        evaluate: impl FnOnce(&[[f64; N]], &mut Rows) -> f64,
    ) -> f64 {
        self.remove(motion);
        let mut force = std::mem::take(&mut self.force);
        force.fill([0.0; 3]);
        let energy = evaluate(motion, &mut force);
        self.balance(&mut force);
        add(gradient, 1.0, &force);
        self.force = force;
        energy
    }

    /// Removes the rigid share of a motion.
    pub(crate) fn remove<const N: usize>(&mut self, motion: &mut [[f64; N]]) {
        self.remove_translation(motion);
        let Self { parts, places, weighted, inverses, sums, .. } = self;
        sum(parts, sums, |row| Vector3::from(weighted[row]).cross(&vector(&motion[row])));
        sums.iter_mut().zip(inverses).for_each(|(sum, inverse)| *sum = *inverse * *sum);
        subtract(parts, sums, motion, |row, spin| spin.cross(&Vector3::from(places[row])));
    }

    /// Removes the mean motion of each part.
    fn remove_translation<const N: usize>(&mut self, motion: &mut [[f64; N]]) {
        let Self { parts, translation, momentum, masses, sums, .. } = self;
        sum(parts, sums, |row| momentum[row] * vector(&motion[row]));
        sums.iter_mut().zip(masses).for_each(|(sum, mass)| *sum /= *mass);
        subtract(parts, sums, motion, |row, velocity| translation[row] * velocity);
    }

    /// Removes net force and torque of each part, in proportion to the mass.
    fn balance(&mut self, force: &mut Rows) {
        let Self { parts, translation, momentum, masses, places, weighted, inverses, sums, .. } = self;
        sum(parts, sums, |row| translation[row] * Vector3::from(force[row]));
        sums.iter_mut().zip(masses).for_each(|(sum, mass)| *sum /= *mass);
        subtract(parts, sums, force, |row, push| momentum[row] * push);
        sum(parts, sums, |row| Vector3::from(places[row]).cross(&Vector3::from(force[row])));
        sums.iter_mut().zip(inverses).for_each(|(sum, inverse)| *sum = *inverse * *sum);
        subtract(parts, sums, force, |row, turn| turn.cross(&Vector3::from(weighted[row])));
    }
}

/// Rows with a part.
fn members(parts: &[Option<u32>]) -> impl Iterator<Item = (usize, usize)> {
    parts.iter().enumerate().filter_map(|(row, part)| Some((row, (*part)? as usize)))
}

/// Sum over the rows of each part.
fn sum(parts: &[Option<u32>], sums: &mut [Vector3<f64>], of: impl Fn(usize) -> Vector3<f64>) {
    sums.fill(Vector3::zeros());
    members(parts).for_each(|(row, part)| sums[part] += of(row));
}

/// Subtracts from each row what follows from the sum of its part.
fn subtract<const N: usize>(
    parts: &[Option<u32>],
    sums: &[Vector3<f64>],
    rows: &mut [[f64; N]],
    of: impl Fn(usize, &Vector3<f64>) -> Vector3<f64>,
) {
    for (row, part) in members(parts) {
        let share = of(row, &sums[part]);
        (0..3).for_each(|c| rows[row][c] -= share[c]);
    }
}

fn vector<const N: usize>(row: &[f64; N]) -> Vector3<f64> {
    Vector3::new(row[0], row[1], row[2])
}
