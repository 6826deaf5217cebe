//! Flesh of a body, the input of anatomy.

use nalgebra::Vector3;

use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::skeleton::bone::share_of;

/// Flesh of a body, with its skeleton.
pub(in crate::skeleton) struct Flesh<'a> {
    pub(in crate::skeleton) mesh: &'a TetMesh,
    pub(in crate::skeleton) rig: &'a Rig,
    /// Volume of each vertex, n, cubic metres.
    pub(in crate::skeleton) volume: &'a [f64],
    /// Local radius of the body at each vertex, n, metres.
    pub(in crate::skeleton) radius: &'a [f64],
    /// Radius of the largest ball that reaches the vertex itself, n, metres.
    pub(in crate::skeleton) reached: &'a [f64],
    /// Edge of a cell, metres.
    pub(in crate::skeleton) cell: f64,
    /// Length of the body, metres.
    pub(in crate::skeleton) length: f64,
}

impl Flesh<'_> {
    pub(super) fn place(&self, vertex: usize) -> Vector3<f64> {
        Vector3::from(self.mesh.vertices()[vertex])
    }

    /// Total weight of some bones, n.
    pub(super) fn share(&self, bones: &[usize]) -> Vec<f64> {
        share_of(self.rig, |bone| bones.contains(&bone))
    }
}
