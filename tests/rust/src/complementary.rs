//! Complementary dynamics without a subspace: the reference of reductions.

use faer::sparse::linalg::matmul::sparse_dense_matmul;
use faer::{Accum, Mat, Par};
use jounce::material::Material;
use jounce::math::{Sparse, SparseCholesky, polar};
use jounce::mesh::TetMesh;
use jounce::operators::{Strains, displacement_constraint, lumped_mass, stiffness};
use jounce::rig::{Pose, Rig};
use jounce::{Error, Result};
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;

/// Settings of the full-space step.
#[derive(Debug, Clone)]
pub struct ComplementarySolverParams {
    /// Time step h, s.
    pub dt: f64,
    /// Most local-global iterations a step.
    pub max_iterations: u32,
    /// Relative change of u, in units of the mesh's diagonal, at convergence.
    pub tolerance: f64,
}

/// Backward Euler on every vertex, with `J' M D u = 0` enforced exactly: the reference for reductions of
/// `[FastCD eq. 3]`.
///
/// Minimises `1/(2 h^2) |x - y|^2_M + sum_t V_t mu_t |F_t - R_t|^2` over u with `x = x_rig + u` by
/// local-global steps; the rest shape is the bind shape. The global matrix `M / h^2 + L` is the same for x,
/// y and z and factored once. Every step costs several sweeps over the mesh: a solver for error
/// measurements, not for interactive use.
pub struct ComplementarySolver {
    mesh: TetMesh,
    rig: Rig,
    params: ComplementarySolverParams,
    mass: Vec<f64>,
    /// `2 mu_t V_t`.
    weights: Vec<f64>,
    stiffness: Sparse,
    factor: SparseCholesky,
    displacement: Mat<f64>,
    previous_displacement: Mat<f64>,
    posed: Mat<f64>,
    previous_posed: Mat<f64>,
}

impl ComplementarySolver {
    /// Solver at rest in a given pose.
    ///
    /// # Errors
    /// As the operators, and [`Error::Range`] for a time step that is not positive.
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        rig: &Rig,
        leak: &[f64],
        pose: &Pose,
        params: ComplementarySolverParams,
    ) -> Result<Self> {
        if params.dt.is_nan() || params.dt <= 0.0 {
            return Err(Error::Range {
                what: "dt",
                expected: "a positive number of seconds",
                got: params.dt,
            });
        }
        let mass = lumped_mass(mesh, material);
        let stiffness = stiffness(mesh, material)?;
        let constraint = displacement_constraint(mesh, &mass, rig, leak)?;
        let factor =
            SparseCholesky::constrained(&add_diagonal(&stiffness, &mass, params.dt.powi(-2)), &constraint)?;
        let posed = skin(mesh, rig, pose)?;
        let zero = Mat::zeros(mesh.vertices().len(), 3);
        Ok(Self {
            weights: (0..mesh.tets().len()).map(|t| 2.0 * material.mu(t) * mesh.volumes()[t]).collect(),
            mesh: mesh.clone(),
            rig: rig.clone(),
            displacement: zero.clone(),
            previous_displacement: zero,
            previous_posed: posed.clone(),
            posed,
            params,
            mass,
            stiffness,
            factor,
        })
    }

    /// Advances by one time step to a pose; returns the number of local-global iterations.
    ///
    /// # Errors
    /// [`Error::Shape`] for a pose with another number of bones.
    pub fn step(&mut self, pose: &Pose) -> Result<u32> {
        let posed = skin(&self.mesh, &self.rig, pose)?;
        let constant = self.constant_terms(&posed);
        let start = self.displacement.clone();
        let tolerance = self.params.tolerance * self.mesh.diagonal();
        let mut iterations = 0;
        loop {
            let mut next = &constant + self.elastic_pull(&posed);
            self.factor.solve_in_place(next.as_mut());
            let change = (&next - &self.displacement).norm_max();
            self.displacement = next;
            iterations += 1;
            if change <= tolerance || iterations >= self.params.max_iterations {
                break;
            }
        }
        self.previous_displacement = start;
        self.previous_posed = std::mem::replace(&mut self.posed, posed);
        Ok(iterations)
    }

    /// The displacement u added to the posed mesh, n x 3, metres.
    pub fn displacement(&self) -> &Mat<f64> {
        &self.displacement
    }

    /// Constant terms of the iterations: `M / h^2 (2 x_k - x_(k-1) - x_rig) - L x_rig`.
    fn constant_terms(&self, posed: &Mat<f64>) -> Mat<f64> {
        let scale = self.params.dt.powi(-2);
        let mut terms = Mat::from_fn(posed.nrows(), 3, |i, c| {
            let now = self.posed[(i, c)] + self.displacement[(i, c)];
            let before = self.previous_posed[(i, c)] + self.previous_displacement[(i, c)];
            scale * self.mass[i] * (2.0 * now - before - posed[(i, c)])
        });
        sparse_dense_matmul(
            terms.as_mut(),
            Accum::Add,
            self.stiffness.as_ref(),
            posed.as_ref(),
            -1.0,
            Par::Seq,
        );
        terms
    }

    /// `sum_t 2 mu_t V_t G_t' R_t`: elastic force of every tet towards its closest rotation.
    fn elastic_pull(&self, posed: &Mat<f64>) -> Mat<f64> {
        let strains = Strains::new(&self.mesh);
        let deformation = |t: usize| {
            let mut f = [0.0; 9];
            for (v, g) in strains.of(t) {
                for i in 0..3 {
                    let x = posed[(v as usize, i)] + self.displacement[(v as usize, i)];
                    (0..3).for_each(|j| f[3 * i + j] += x * g[j]);
                }
            }
            f
        };
        let deformations: Vec<polar::Matrix> =
            (0..self.weights.len()).into_par_iter().map(deformation).collect();
        let mut rotations = vec![[0.0; 9]; deformations.len()];
        polar::rotations(&deformations, &mut rotations);
        let mut pull = Mat::zeros(posed.nrows(), 3);
        for (t, rotation) in rotations.iter().enumerate() {
            let scaled = self.weights[t] * Matrix3::from_row_slice(rotation);
            for (v, g) in strains.of(t) {
                let force = scaled * Vector3::from(g);
                (0..3).for_each(|c| pull[(v as usize, c)] += force[c]);
            }
        }
        pull
    }
}

/// `K + scale diag(d)`.
fn add_diagonal(matrix: &Sparse, diagonal: &[f64], scale: f64) -> Sparse {
    let mut sum = matrix.clone();
    for (column, d) in diagonal.iter().enumerate() {
        let place = matrix.row_idx_of_col_raw(column).partition_point(|row| (*row as usize) < column);
        sum.val_of_col_mut(column)[place] += scale * d;
    }
    sum
}

/// Linear blend skinning of every vertex: `x_i = sum_j w_ij T_j [X_i; 1]`, n x 3.
fn skin(mesh: &TetMesh, rig: &Rig, pose: &Pose) -> Result<Mat<f64>> {
    if pose.len() != rig.bone_count() {
        let expected = format!("({}, 3, 4)", rig.bone_count());
        return Err(Error::Shape { what: "pose", expected, got: format!("({}, 3, 4)", pose.len()) });
    }
    let mut posed = Mat::zeros(mesh.vertices().len(), 3);
    for (bone, transform) in pose.iter().enumerate() {
        for &(vertex, weight) in rig.bone(bone) {
            let [x, y, z] = mesh.vertices()[vertex as usize];
            for (c, [a, b, d, shift]) in transform.iter().enumerate() {
                posed[(vertex as usize, c)] += weight * (a * x + b * y + d * z + shift);
            }
        }
    }
    Ok(posed)
}
