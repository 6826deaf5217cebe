//! Displacements carried along by the rotation of the rig.

use nalgebra::{Matrix3, Rotation3, Vector3};

use super::posing::Posing;
use crate::math::polar::nearest_rotation;
use crate::math::rows::Rows;

/// Rotation vector of each bone from one pose to another, radians.
///
/// The rotation is the nearest one to `A B'`, of the linear maps A after and B before. It is exact if a scale
/// stays the same.
fn turns(from: &Rows, to: &Rows) -> Vec<Vector3<f64>> {
    let linear = |rows: &[[f64; 3]; 4]| Matrix3::from_fn(|row, column| rows[column][row]);
    let bones = from.as_chunks::<4>().0.iter().zip(to.as_chunks::<4>().0);
    let turn = |(from, to): (&[[f64; 3]; 4], &[[f64; 3]; 4])| {
        if from[..3] == to[..3] {
            return Vector3::zeros();
        }
        let turn = nearest_rotation(&(linear(to) * linear(from).transpose()));
        Rotation3::from_matrix_unchecked(turn).scaled_axis()
    };
    bones.map(turn).collect()
}

/// Rotates the displacements of rows by a share of the rig's rotation from one pose to another: the mean of
/// the rotation vectors by the weights of the bones.
pub(crate) fn carry(posing: &Posing, [from, to]: [&Rows; 2], share: impl Fn(usize) -> f64, rows: &mut Rows) {
    let turns = turns(from, to);
    for (row, moved) in rows.iter_mut().enumerate().filter(|(_, moved)| **moved != [0.0; 3]) {
        let share = share(row);
        if share > 0.0 {
            let turn: Vector3<f64> =
                posing.weights(row).map(|(bone, weight)| weight * turns[bone as usize]).sum();
            *moved = (Rotation3::from_scaled_axis(share * turn) * Vector3::from(*moved)).into();
        }
    }
}
