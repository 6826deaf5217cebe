//! Contractile fibres, a second set of elements beside those of the law.
//!
//! In a tet with hat functions of gradients g_i, `F d = sum_i (g_i . d) x_i`: a fibre needs one weight a
//! corner. Fibres belong to tets and not to lattice cells, since each has its own direction and stiffness.
//! With rest shapes that follow the rig, a fibre rotates and stretches with them:
//! `F S_a^-1 d_a = F d / |S_a d|` with `d_a = S_a d / |S_a d|`; a clamped rest shape adds its surplus
//! `a E d / |S_a d|`.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::elements::deformation;
use super::rest_shape::{STRETCHES, rest_stretch_in_lanes};
use crate::inputs::shares::Shares;
use crate::material::{self, FibreAtRest, Strand};
use crate::math::polar::cofactors;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::operators::{BlockMatrix, gradients};
use crate::parallel::*;

/// Fibres a task.
const TASK: usize = 1024;

/// Stress-free stretch of the fibres of each muscle.
pub(crate) type Relaxed = [f64; material::Fibres::MOST_MUSCLES];

/// Stress-free stretches for given contractions.
pub(crate) fn relaxed(contraction: &Shares) -> Relaxed {
    contraction.each().map(|share| 1.0 - share)
}

/// A tet with a fibre, at rest.
pub(crate) struct FibreTet {
    taut: Taut,
    gradients: [[f64; 3]; 4],
    direction: Vector3<f64>,
    muscle: u8,
}

/// Data of an energy evaluation.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Taut {
    /// `g_i . d`, 1/m.
    weights: [f64; 4],
    /// The rest shape's surplus along the fibre.
    surplus: [f64; 3],
    /// Rows of the body.
    corners: [u32; 4],
    /// m^3.
    volume: f64,
    /// k, Pa.
    stiffness: f64,
}

/// Fibres of a mesh with vertices at rows `place`.
pub(crate) fn fibre_tets(mesh: &TetMesh, fibres: &material::Fibres, place: &[u32]) -> Vec<FibreTet> {
    let hats = gradients(mesh);
    let of_tet = |&FibreAtRest { tet, muscle, stiffness, direction }: &FibreAtRest| FibreTet {
        taut: Taut {
            weights: hats[tet].map(|gradient| Vector3::from(gradient).dot(&direction)),
            surplus: [0.0; 3],
            corners: mesh.tets()[tet].map(|vertex| place[vertex as usize]),
            volume: mesh.volumes()[tet],
            stiffness,
        },
        gradients: hats[tet],
        direction,
        muscle,
    };
    fibres.strands().iter().map(of_tet).collect()
}

impl FibreTet {
    /// The fibre with its rest shape following the rig by a share.
    fn following(&self, rig: &Rows, share: f64) -> Taut {
        let f = deformation(rig, &self.taut.corners, &self.gradients);
        let f = std::array::from_fn(|e| f[(e / 3, e % 3)]);
        let scalar = pulp::Scalar::new();
        let rest = rest_stretch_in_lanes(scalar, f, share, STRETCHES);
        // S_a^-1 is symmetric and has the determinant 1 / growth.
        let stretch = rest.growth * Matrix3::from_row_slice(&cofactors(scalar, &rest.inverse));
        let longer = (stretch * self.direction).norm();
        let weights = self.taut.weights.map(|weight| weight / longer);
        let surplus = (Matrix3::from_row_slice(&rest.surplus) * self.direction / longer).into();
        Taut { weights, surplus, volume: rest.growth * self.taut.volume, ..self.taut }
    }
}

impl Taut {
    /// F d, relative to the rest shape.
    fn along(&self, x: &Rows) -> Vector3<f64> {
        let [first, rest @ ..] = self.corners.map(|row| Vector3::from(x[row as usize]));
        let edges = rest.iter().zip(&self.weights[1..]).map(|(x, weight)| *weight * (x - first));
        edges.fold(self.surplus.into(), |sum, edge| sum + edge)
    }

    fn strand(&self, relaxed: f64) -> Strand {
        Strand { stiffness: self.stiffness, relaxed }
    }
}

/// The fibres of a body in a step.
pub(crate) struct Fibres {
    rest: Arc<[FibreTet]>,
    now: Vec<Taut>,
    /// The muscle of each.
    muscle: Vec<u8>,
    bent: bool,
    /// Pull at F d, N m, and energy, J, of each fibre.
    found: Vec<[f64; 4]>,
}

impl Fibres {
    pub(crate) fn new(rest: Arc<[FibreTet]>) -> Self {
        let now = rest.iter().map(|tet| tet.taut).collect();
        let muscle = rest.iter().map(|tet| tet.muscle).collect();
        Self { now, muscle, bent: false, found: vec![[0.0; 4]; rest.len()], rest }
    }

    /// Lets the fibres follow the rig as far as rest shapes do.
    pub(crate) fn follow(&mut self, rig: &Rows, share: f64) {
        if share > 0.0 || self.bent {
            self.bent = share > 0.0;
            let tets = self.now.par_iter_mut().with_min_len(TASK).zip(&self.rest[..]);
            tets.for_each(|(now, tet)| *now = if share > 0.0 { tet.following(rig, share) } else { tet.taut });
        }
    }

    /// Energy, J, at the positions of all rows for given stress-free stretches of the muscles; adds the
    /// gradient, N, to the first rows. The same bits for any number of threads.
    pub(crate) fn evaluate(&mut self, x: &Rows, relaxed: &Relaxed, gradient: &mut Rows) -> f64 {
        let fibres = self.now.par_iter().zip(&self.muscle);
        self.found.par_iter_mut().with_min_len(TASK).zip(fibres).for_each(|(found, (taut, &muscle))| {
            let (strand, along) = (taut.strand(relaxed[usize::from(muscle)]), taut.along(x));
            let pull = taut.volume * strand.pull(&along);
            *found = [pull[0], pull[1], pull[2], taut.volume * strand.density(&along)];
        });
        let mut energy = 0.0;
        for (taut, [pull @ .., own]) in self.now.iter().zip(&self.found) {
            energy += own;
            for (&row, weight) in taut.corners.iter().zip(taut.weights) {
                if let Some(sum) = gradient.get_mut(row as usize) {
                    (0..3).for_each(|c| sum[c] += weight * pull[c]);
                }
            }
        }
        energy
    }

    /// Adds a multiple of their Hessian on the first rows, with `keep` applied to its eigenvalues.
    pub(crate) fn add_hessian(
        &self,
        x: &Rows,
        (relaxed, factor, free): (&Relaxed, f64, usize),
        keep: fn(f64) -> f64,
        matrix: &mut BlockMatrix,
    ) {
        for (taut, &muscle) in self.now.iter().zip(&self.muscle) {
            let hessian = taut.strand(relaxed[usize::from(muscle)]).filtered_hessian(&taut.along(x), keep);
            let block = factor * taut.volume * hessian;
            let moving =
                |(row, weight): (u32, f64)| ((row as usize) < free).then_some((row as usize, weight));
            let entries = || taut.corners.into_iter().zip(taut.weights).filter_map(moving);
            for (row, a) in entries() {
                entries().for_each(|(column, b)| matrix.add(row, column, &(a * b * block)));
            }
        }
    }
}
