//! Elastic energy of tets, and of partly filled cells of a lattice.

use nalgebra::Vector3;

use super::elements::{Element, assemble, hat_gradients};
use super::{gradients, laplacian};
use crate::Result;
use crate::material::{FibreAtRest, Fibres, Material};
use crate::math::Sparse;
use crate::mesh::{FleshCell, TetMesh};
use crate::parallel::*;

/// Smallest fill of a cell in a modal analysis.
const LEAST_FILL: f64 = 0.3;

/// Quadratic part of the elastic energy, `u_c' L u_c / 2` for each coordinate c of the vertices.
///
/// On tets `L = sum_t 2 mu_t V_t g_t g_t'`, the [`laplacian`] of conductivity `2 mu`. Linear tets lock: a
/// beam of two cells swings 1.25 times too fast. In a mesh with [`TetMesh::cells`], the deformation
/// gradient of a cell is that at the centre of its flesh, g. Motion outside of linear fields,
/// `q_a = s_a'u`, has the energy of bending, by Young's modulus E, which is `2 mu` without resistance to
/// change of volume:
/// ```text
/// L = sum_c V_c (2 mu_c g_c g_c' + E_c sum_a r_ca s_ca s_ca')
/// ```
/// with r from [`FleshCell::twists`]. The frequency of a beam of two cells is then correct within a few
/// percent, at any position in the lattice. n x n, N/m. Source: gradients at one point with hourglass
/// control, `[FlanaganBelytschko]`.
///
/// # Errors
/// As [`laplacian`].
pub fn stiffness(mesh: &TetMesh, material: &Material) -> Result<Sparse> {
    let tets = 0..mesh.tets().len();
    let conductivity: Vec<f64> = tets.clone().map(|t| 2.0 * material.mu(t)).collect();
    let bending: Vec<f64> = tets.map(|t| material.bending(t)).collect();
    stiffness_of(mesh, &conductivity, &bending)
}

/// As [`stiffness`], with any conductivity in place of `2 mu` and any resistance to bending in place of E,
/// one number a tet each, Pa.
///
/// # Errors
/// As [`laplacian`].
pub fn stiffness_of(mesh: &TetMesh, conductivity: &[f64], bending: &[f64]) -> Result<Sparse> {
    if mesh.cells().is_empty() {
        return laplacian(mesh, conductivity);
    }
    let element = |cell: &FleshCell, weights| CellElement::new(cell, weights, &cell.twists());
    Ok(cells(mesh, [conductivity, bending], element))
}

/// Weight-space Hessian `H_w`, for a conductivity of `4 mu + lambda`, n x n, N/m. `[FastCD eq. 18]`
///
/// On tets it is the [`laplacian`]. On the cells of a lattice it adds [`FleshCell::smooth_twists`] to the
/// gradient at the centre of the flesh, for functions as smooth as cells can resolve. Cells count as at
/// least three tenths full, to keep modes from flinging objects embedded in almost empty cells.
///
/// # Errors
/// As [`laplacian`].
pub fn weight_space_hessian(mesh: &TetMesh, conductivity: &[f64]) -> Result<Sparse> {
    if mesh.cells().is_empty() {
        return laplacian(mesh, conductivity);
    }
    let split = mesh.tets_per_cell();
    let volume = |c: usize| mesh.volumes()[split * c..split * (c + 1)].iter().sum::<f64>();
    let fill = |(c, cell): (usize, &FleshCell)| (LEAST_FILL * cell.side.powi(3) / volume(c)).max(1.0);
    let fills: Vec<f64> = mesh.cells().iter().enumerate().map(fill).collect();
    let filled: Vec<f64> = conductivity.iter().enumerate().map(|(t, x)| x * fills[t / split]).collect();
    let element = |cell: &FleshCell, weights| CellElement::new(cell, weights, &cell.smooth_twists());
    Ok(cells(mesh, [&filled; 2], element))
}

/// Part of [`stiffness_of`] outside of the gradients; `None` for tets, whose gradients see everything.
pub fn twisting_stiffness(mesh: &TetMesh, bending: &[f64]) -> Option<Sparse> {
    let element = |cell: &FleshCell, weights| CellElement::new(cell, weights, &cell.twists());
    (!mesh.cells().is_empty()).then(|| cells(mesh, [&vec![0.0; bending.len()], bending], element))
}

/// Contribution of fibres to the metric of each coordinate: `sum_t k_t V_t (g_i . d)(g_j . d)`, the second
/// derivative of their energy along the fibre, taken to be as large across. n x n, N/m.
pub(crate) fn fibre_stiffness(mesh: &TetMesh, fibres: &Fibres) -> Sparse {
    let element = |&FibreAtRest { tet, stiffness, direction, .. }: &FibreAtRest| {
        let along = hat_gradients(mesh.corners(tet)).map(|gradient| Vector3::from(gradient).dot(&direction));
        FibreElement { corners: mesh.tets()[tet], along, weight: stiffness * mesh.volumes()[tet] }
    };
    assemble(mesh.vertices().len(), &fibres.strands().iter().map(element).collect::<Vec<_>>())
}

struct FibreElement {
    corners: [u32; 4],
    along: [f64; 4],
    weight: f64,
}

impl Element for FibreElement {
    fn corners(&self) -> &[u32] {
        &self.corners
    }

    fn weight(&self, corner: usize, other: usize) -> f64 {
        self.weight * self.along[corner] * self.along[other]
    }
}

fn cells(
    mesh: &TetMesh,
    resistances: [&[f64]; 2],
    element: impl Fn(&FleshCell, [f64; 2]) -> CellElement + Sync,
) -> Sparse {
    let split = mesh.tets_per_cell();
    let of = |(c, cell): (usize, &FleshCell)| {
        let sum = |of: &[f64]| (split * c..split * (c + 1)).map(|t| of[t] * mesh.volumes()[t]).sum();
        element(cell, resistances.map(sum))
    };
    let elements: Vec<CellElement> = mesh.cells().par_iter().enumerate().map(of).collect();
    assemble(mesh.vertices().len(), &elements)
}

struct CellElement {
    corners: [u32; 8],
    weights: [[f64; 8]; 8],
}

impl CellElement {
    /// Element of a cell, from the weights of gradient and twists.
    fn new(cell: &FleshCell, [gradient, twisted]: [f64; 2], twists: &[(f64, [f64; 8])]) -> Self {
        let gradients = cell.gradients().map(Vector3::from);
        // Exactly 1 without resistance to change of volume.
        let share = if gradient == twisted { 1.0 } else { gradient / twisted };
        let entry = |i: usize, j: usize| {
            let twist: f64 = twists.iter().map(|(resistance, s)| resistance * s[i] * s[j]).sum();
            twisted * (share * gradients[i].dot(&gradients[j]) + twist)
        };
        let weights = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
        Self { corners: cell.corners, weights }
    }
}

impl Element for CellElement {
    fn corners(&self) -> &[u32] {
        &self.corners
    }

    fn weight(&self, corner: usize, other: usize) -> f64 {
        self.weights[corner][other]
    }
}

/// Linear map from vertices to the deformation gradient of each tet: `F_t = sum_i x_i g_i'`.
///
/// All tets of a cell of flesh have the gradient of the cell, as in [`stiffness`].
pub struct Strains<'a> {
    mesh: &'a TetMesh,
    /// Four a tet, or eight a cell.
    gradients: Vec<[f64; 3]>,
}

impl<'a> Strains<'a> {
    /// Maps of all tets of a mesh.
    pub fn new(mesh: &'a TetMesh) -> Self {
        let gradients = if mesh.cells().is_empty() {
            gradients(mesh).into_flattened()
        } else {
            mesh.cells().iter().flat_map(FleshCell::gradients).collect()
        };
        Self { mesh, gradients }
    }

    /// Vertices of a tet's gradient, with g of each, 1/m.
    pub fn of(&self, tet: usize) -> impl Iterator<Item = (u32, [f64; 3])> {
        let (corners, element): (&[u32], usize) = match self.mesh.cells() {
            [] => (&self.mesh.tets()[tet], tet),
            cells => (&cells[tet / self.mesh.tets_per_cell()].corners, tet / self.mesh.tets_per_cell()),
        };
        corners.iter().copied().zip(self.gradients[corners.len() * element..].iter().copied())
    }
}
