//! Damping of a body in its coordinates.

use std::f64::consts::TAU;

use crate::inputs::settings::SimulationParams;
use crate::math::columns::Columns;
use crate::potentials::swings::scale;

/// Damping for a ratio and a scale of stiffness of 1.
pub(super) struct Damping {
    /// The damping matrix, k x k, kg/s.
    pub(super) matrix: Columns,
    /// Factors of mass and Laplacian in the metric, 1/s and s.
    mean: [f64; 2],
}

impl Damping {
    /// Damping by a matrix, k x k, kg/s, near factors of mass and Laplacian, 1/s and s.
    pub(super) fn new(matrix: Columns, mean: [f64; 2]) -> Self {
        Self { matrix, mean }
    }

    /// Damping of a free body by the Laplacian, with its eigenvalues and the lowest frequency, Hz.
    pub(super) fn by_laplacian(spectrum: &[f64], frequency: f64) -> Self {
        let factor = if frequency > 0.0 { 2.0 / (TAU * frequency) } else { 0.0 };
        let entry = |i: usize, j: usize| if i == j { factor * spectrum[i] } else { 0.0 };
        Self { matrix: Columns::new(spectrum.len(), spectrum.len(), entry), mean: [0.0, factor] }
    }

    /// Factors of mass and Laplacian in the metric, and the factor on the matrix.
    pub(super) fn factors(&self, params: &SimulationParams) -> ([f64; 2], f64) {
        let scale = scale(params);
        (self.mean.map(|part| scale * part), scale)
    }
}
