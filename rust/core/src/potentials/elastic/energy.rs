//! Elastic energy of a whole mesh as a function of its vertices, with gradient and Hessian.

use nalgebra::{Matrix3, Vector3};

use super::elements::{Element, deformation};
use super::mesh_elements::elements_of;
use crate::material::{Energy, Hessian, Material, PrincipalStretch};
use crate::math::Sparse;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::operators::{BlockMatrix, twisting_stiffness};
use crate::parallel::*;
use crate::{Error, Result, check};

/// Elastic energy of flesh of any law at given vertex positions x, n x 3 in metres, with its derivatives.
/// ```text
/// E(x) = sum_e V_e psi_e(F_e(x)) + 1/2 x'T x
/// ```
/// over tets or [cells](TetMesh::cells), which also resist bending: T is
/// [`twisting_stiffness`]. Full-space bodies minimise it, except for stitches, fibres, limits and rest
/// shapes that follow the rig. In J, N and N/m. Source: `[QN eq. 9]`.
///
/// ```
/// use jounce::Progress;
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::potentials::ElasticEnergy;
///
/// let mesh = lattice(&SurfaceMesh::cuboid([1.0; 3])?, 4, &Progress::default())?;
/// let [young, poisson, density] = [1e4, 0.0, 1000.0].map(Field::Uniform);
/// let energy = ElasticEnergy::new(&mesh, &Material::new(Law::Arap, young, poisson, density)?)?;
/// // A tenth longer along one axis: V mu (s - 1)^2 with mu = E / 2.
/// let longer: Vec<[f64; 3]> = mesh.vertices().iter().map(|&[x, y, z]| [1.1 * x, y, z]).collect();
/// assert!((energy.value(&longer)? - 5e3 * 0.01).abs() < 1e-2);
/// let hessian = energy.hessian(&longer, false)?;
/// assert_eq!(hessian.nrows(), 3 * mesh.vertices().len());
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct ElasticEnergy {
    elements: Vec<Element>,
    twisting: Option<Sparse>,
    rest: Vec<[f64; 3]>,
}

impl ElasticEnergy {
    /// Energy of a mesh of a material.
    ///
    /// # Errors
    /// [`Error::Shape`] for a material of another mesh, [`Error::Range`] for several laws in a cell.
    pub fn new(mesh: &TetMesh, material: &Material) -> Result<Self> {
        let tets = mesh.tets().len();
        material.check_tet_count(tets)?;
        let energies = material.energies(tets);
        let place: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
        let (_, elements) = elements_of(mesh, &energies, &place)?;
        let bending: Vec<f64> = energies.iter().map(PrincipalStretch::bending).collect();
        let rest = mesh.vertices().to_vec();
        Ok(Self { elements, twisting: twisting_stiffness(mesh, &bending), rest })
    }

    /// Vertices at rest, n, metres.
    pub fn rest(&self) -> &[[f64; 3]] {
        &self.rest
    }

    /// `E(x)`, J.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for positions other than n x 3 finite numbers.
    pub fn value(&self, positions: &[[f64; 3]]) -> Result<f64> {
        self.check("positions", positions)?;
        let of = |element: &Element| element.volume * element.energy.density(&element.shape(positions));
        let flesh: Vec<f64> = self.elements.par_iter().map(of).collect();
        let twisted = self.twisted(positions);
        let bending: f64 =
            twisted.as_flattened().iter().zip(positions.as_flattened()).map(|(f, x)| f * x).sum();
        Ok(flesh.iter().sum::<f64>() + 0.5 * bending)
    }

    /// `dE/dx`, n x 3, N: minus the elastic forces.
    ///
    /// # Errors
    /// As [`ElasticEnergy::value`].
    pub fn gradient(&self, positions: &[[f64; 3]]) -> Result<Vec<[f64; 3]>> {
        self.check("positions", positions)?;
        let of = |element: &Element| element.volume * element.energy.stress(&element.shape(positions));
        Ok(self.gathered(of, positions))
    }

    /// `d2E/dx2`, 3n x 3n, symmetric, stored whole; rows 3i to 3i + 2 belong to vertex i.
    ///
    /// `is_definite` replaces the Hessian of each element by the positive semidefinite matrix closest to it.
    ///
    /// # Errors
    /// As [`ElasticEnergy::value`].
    pub fn hessian(&self, positions: &[[f64; 3]], is_definite: bool) -> Result<Sparse> {
        self.check("positions", positions)?;
        let corners = self.elements.iter().map(|element| element.corners.as_slice());
        let mut matrix = BlockMatrix::new(self.rest.len(), corners);
        let of = |element: &Element| element.volume * element.hessian(positions, is_definite);
        let hessians: Vec<Hessian> = self.elements.par_iter().map(of).collect();
        for (element, hessian) in self.elements.iter().zip(&hessians) {
            matrix.add_element(&element.corners, &element.gradients, hessian);
        }
        if let Some(twisting) = &self.twisting {
            for column in 0..twisting.ncols() {
                for (&row, &value) in
                    twisting.row_idx_of_col_raw(column).iter().zip(twisting.val_of_col(column))
                {
                    matrix.add(row as usize, column, &(value * Matrix3::identity()));
                }
            }
        }
        Ok(matrix.whole())
    }

    /// Forces `sum_e P_e g_i` on the vertices for a matrix P of each element, and `T x`.
    fn gathered(&self, of: impl Fn(&Element) -> Matrix3<f64> + Send + Sync, x: &Rows) -> Vec<[f64; 3]> {
        let mut forces = self.twisted(x);
        let stresses: Vec<Matrix3<f64>> = self.elements.par_iter().map(of).collect();
        for (element, stress) in self.elements.iter().zip(&stresses) {
            for (&row, gradient) in element.corners.iter().zip(&element.gradients) {
                let force = stress * Vector3::from(*gradient);
                (0..3).for_each(|c| forces[row as usize][c] += force[c]);
            }
        }
        forces
    }

    /// `T x`; zeros for tets.
    fn twisted(&self, x: &Rows) -> Vec<[f64; 3]> {
        let mut forces = vec![[0.0; 3]; x.len()];
        let Some(twisting) = &self.twisting else { return forces };
        for (column, force) in forces.iter_mut().enumerate() {
            for (&row, &value) in twisting.row_idx_of_col_raw(column).iter().zip(twisting.val_of_col(column))
            {
                (0..3).for_each(|c| force[c] += value * x[row as usize][c]);
            }
        }
        forces
    }

    fn check(&self, what: &'static str, rows: &Rows) -> Result<()> {
        let n = self.rest.len();
        if rows.len() != n {
            let (expected, got) = (format!("({n}, 3)"), format!("({}, 3)", rows.len()));
            return Err(Error::Shape { what, expected, got });
        }
        check::finite(what, rows.as_flattened(), 3)
    }
}

impl Element {
    /// Deformation gradient at given vertices.
    fn shape(&self, x: &Rows) -> Matrix3<f64> {
        deformation(x, &self.corners, &self.gradients)
    }

    /// Hessian of the energy density.
    fn hessian(&self, x: &Rows, is_definite: bool) -> Hessian {
        let shape = self.shape(x);
        if is_definite { self.energy.definite_hessian(&shape) } else { self.energy.hessian(&shape) }
    }
}
