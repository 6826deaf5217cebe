//! Local frequencies of a held body, and its damping by them.
//!
//! Inverse iteration with the elastic Hessian K at rest starts with uniform accelerations: `K u_0 = M e` is
//! the sag, `K u_1 = M u_0`. The quotient `|u_0| / |u_1|` at a vertex is the squared frequency of the slowest
//! mode in which the vertex takes part: a tail has its own, slow, beside a firm belly.
//!
//! The metric's Laplacian also resists rotation. It resists the slowest motion `|K^-1 L u_1| / |u_1|` times
//! as much as flesh does, which is a lot where flesh is slender and bends by rotation.

use std::f64::consts::TAU;

use crate::Result;
use crate::inputs::settings::SimulationParams;
use crate::math::rows::Rows;
use crate::math::{Sparse, add_diagonal};
use crate::mesh::TetMesh;
use crate::operators::stiffness_of;

/// Share of the damping ratio by the Laplacian in the slowest local mode; in faster ones it grows.
const BY_LAPLACIAN: f64 = 0.2;

/// Share of an acceleration's load that is a rounding error where a constraint cancels the rest.
pub(crate) const CANCELLED: f64 = 1e-10;

/// Squared lengths at the vertices of the fields `u_0`, `u_1` and `K^-1 L u_1`, summed over accelerations.
pub(crate) struct Fields([Vec<f64>; 3]);

impl Fields {
    /// No field yet, for some vertices.
    pub(crate) fn new(vertices: usize) -> Self {
        Self([(); 3].map(|()| vec![0.0; vertices]))
    }

    /// Adds the fields of an acceleration.
    pub(crate) fn add(&mut self, fields: [&Rows; 3]) {
        for (sums, field) in self.0.iter_mut().zip(fields) {
            for (sum, u) in sums.iter_mut().zip(field) {
                *sum += u.iter().map(|x| x * x).sum::<f64>();
            }
        }
    }

    /// Slowest motions of the vertices; of those that no field moves, that of the Laplacian's lowest
    /// frequency, Hz.
    pub(crate) fn swings(&self, frequency: f64) -> Vec<Swing> {
        let [sag, answer, pulled] = &self.0;
        let of = |v: usize| {
            let omega = (sag[v] / answer[v]).sqrt().sqrt();
            if !(omega.is_finite() && omega > 0.0) {
                return Swing { omega: TAU * frequency, excess: 1.0 };
            }
            // The Laplacian resists every motion at least as much as flesh does.
            Swing { omega, excess: (pulled[v] / answer[v]).sqrt().max(1.0) }
        };
        (0..sag.len()).map(of).collect()
    }
}

/// Slowest motion of a vertex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Swing {
    /// Elastic frequency, rad/s.
    pub(crate) omega: f64,
    /// Resistance of the Laplacian to the slowest motion, in that of the flesh.
    pub(crate) excess: f64,
}

impl Swing {
    /// No motion, of a pinned vertex.
    pub(crate) const NONE: Self = Self { omega: 0.0, excess: 1.0 };

    /// Damping by mass, 1/s, and by the Laplacian, s, for a ratio of 1.
    fn damping(&self) -> [f64; 2] {
        if self.omega == 0.0 {
            return [0.0; 2];
        }
        let stiffness = 2.0 * BY_LAPLACIAN / (self.excess * self.omega);
        [2.0 * (1.0 - BY_LAPLACIAN) * self.omega, stiffness]
    }
}

/// Damping matrix of a held body for a ratio and a scale of stiffness of 1, n x n, kg/s, and the factors of
/// mass and Laplacian that come near it, 1/s and s.
///
/// `resistances`: of a tet, the Laplacian's conductivity and its resistance to bending, Pa.
pub(crate) fn damping_matrix(
    mesh: &TetMesh,
    resistances: impl Fn(usize) -> [f64; 2],
    mass: &[f64],
    swings: &[Swing],
) -> Result<(Sparse, [f64; 2])> {
    let each: Vec<[f64; 2]> = swings.iter().map(Swing::damping).collect();
    let by_laplacian = |tet: &[u32; 4]| {
        let moving = || tet.iter().map(|&v| each[v as usize][1]).filter(|&beta| beta > 0.0);
        moving().sum::<f64>() / moving().count().max(1) as f64
    };
    let scaled = |k: usize| -> Vec<f64> {
        mesh.tets().iter().enumerate().map(|(t, tet)| by_laplacian(tet) * resistances(t)[k]).collect()
    };
    let stiffness = stiffness_of(mesh, &scaled(0), &scaled(1))?;
    let viscous: Vec<f64> = each.iter().zip(mass).map(|([alpha, _], mass)| alpha * mass).collect();
    let whole: f64 = mass.iter().sum();
    let mean = [0, 1].map(|k| each.iter().zip(mass).map(|(each, mass)| each[k] * mass).sum::<f64>() / whole);
    Ok((add_diagonal(&stiffness, &viscous, 1.0), mean))
}

/// Factor on a damping matrix for a ratio and a scale of stiffness of 1.
pub(crate) fn scale(params: &SimulationParams) -> f64 {
    params.damping * params.stiffness.sqrt()
}
