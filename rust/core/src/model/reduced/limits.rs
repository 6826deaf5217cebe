//! Limits of displacement and stretch of a reduced body: sample vertices and tets.

use crate::math::columns::Columns;
use crate::mesh::TetMesh;
use crate::potentials::elastic::samples::Samples;
use crate::sampling::cubature::{Cubature, check_weights};
use crate::{Error, Result, check};

/// Limits, as in [`SimulationParams`](crate::inputs::settings::SimulationParams).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    /// Largest displacement as a share of the diagonal; `None` for no limit.
    pub limit: Option<f64>,
    /// Largest relative change of a length; `None` for no limit.
    pub stretch: Option<f64>,
}

/// Samples of the limits of a reduced body; empty by default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LimitSamples {
    /// Tets with stretch limits, and their weights.
    pub tets: Cubature,
    /// Vertices with displacement limits, v.
    pub vertices: Vec<u32>,
    /// Weights of the vertices, v, above 0.
    pub weights: Vec<f64>,
}

impl LimitSamples {
    /// All tets and vertices of a mesh, with weight 1.
    pub fn all(mesh: &TetMesh) -> Self {
        let (n, t) = (mesh.vertices().len(), mesh.tets().len());
        Self {
            tets: Cubature { tets: (0..t as u32).collect(), weights: vec![1.0; t] },
            vertices: (0..n as u32).collect(),
            weights: vec![1.0; n],
        }
    }

    /// Checks samples against a mesh: one positive weight each.
    pub(super) fn check(&self, mesh: &TetMesh) -> Result<()> {
        if !self.tets.tets.is_empty() || !self.tets.weights.is_empty() {
            self.tets.check(mesh)?;
        }
        let (what, count) = ("vertices", mesh.vertices().len());
        if self.vertices.len() != self.weights.len() {
            let (expected, got) =
                (format!("{} weights", self.vertices.len()), format!("{}", self.weights.len()));
            return Err(Error::Shape { what, expected, got });
        }
        check::indices(what, &self.vertices, 1, count)?;
        check_weights(what, &self.weights)
    }
}

/// Constant data of the limits.
pub(super) struct Limits {
    pub(super) given: LimitSamples,
    /// The tets as limit elements.
    pub(super) tets: Option<Samples>,
    /// Displacements of the vertices, 3v x k.
    pub(super) moves: Columns,
    /// Weighted masses of the vertices, kg.
    pub(super) masses: Vec<f64>,
}
