//! Elements with a single deformation gradient: a tet, or a cell of flesh with all its tets.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use crate::material::Material;
use crate::math::dense::product;
use crate::math::polar::Matrix;
use crate::mesh::{FleshCell, TetMesh};
use crate::model::skinning_modes::body::Body;
use crate::operators::Strains;
use crate::parallel::*;
use crate::sampling::cubature::Cubature;

/// Number of cells whose twists are formed at once.
const CELLS: usize = 256;

/// Elements of a mesh, with the total weight of their tets.
pub(in super::super) struct Elements {
    /// Number of tets an element, consecutive in the mesh.
    tets_each: usize,
    /// Vertices of an element.
    corners_each: usize,
    /// Vertices of each element with their contributions to the gradient, 1/m.
    terms: Vec<(u32, [f64; 3])>,
    /// `2 mu V` and `lambda V` of each element, the latter 0 for a law without lambda.
    pub(super) stiffness: Vec<f64>,
    pub(super) volumes: Vec<f64>,
    /// Share of the first tet in the stiffness.
    first: Vec<f64>,
}

impl Elements {
    pub(super) fn new(mesh: &TetMesh, material: &Material) -> Self {
        let (tets_each, corners_each) =
            if mesh.cells().is_empty() { (1, 4) } else { (mesh.tets_per_cell(), 8) };
        let strains = Strains::new(mesh);
        let stiff = |t: usize| 2.0 * material.mu(t) * mesh.volumes()[t];
        let resists = |t: usize| material.volumetric(t) * mesh.volumes()[t];
        let firsts = || (0..mesh.tets().len()).step_by(tets_each);
        let sums = |of_tet: &dyn Fn(usize) -> f64| {
            firsts().map(|first| (first..first + tets_each).map(of_tet).sum()).collect::<Vec<f64>>()
        };
        let stiffness = sums(&stiff);
        Self {
            terms: firsts().flat_map(|first| strains.of(first)).collect(),
            first: firsts().zip(&stiffness).map(|(first, whole)| stiff(first) / whole).collect(),
            volumes: sums(&resists),
            tets_each,
            corners_each,
            stiffness,
        }
    }

    pub(super) fn tets_each(&self) -> usize {
        self.tets_each
    }

    /// The first tet of an element.
    pub(super) fn tet(&self, element: usize) -> u32 {
        (element * self.tets_each) as u32
    }

    /// Weight of an element in units of its first tet.
    pub(super) fn tets_like_first(&self, element: usize) -> f64 {
        1.0 / self.first[element]
    }

    fn terms_of(&self, element: usize) -> &[(u32, [f64; 3])] {
        &self.terms[element * self.corners_each..][..self.corners_each]
    }

    /// Elements deformed by a mode.
    pub(super) fn moving(&self, body: &Body<'_>) -> Vec<usize> {
        let moves = |&e: &usize| self.terms_of(e).iter().any(|&(v, _)| body.is_moved(v as usize));
        (0..self.stiffness.len()).filter(moves).collect()
    }

    /// All tets of some elements, with weight 1.
    pub(super) fn all_tets(&self, elements: &[usize]) -> Cubature {
        let tets_of = |&e: &usize| (e * self.tets_each..(e + 1) * self.tets_each).map(|tet| tet as u32);
        let tets: Vec<u32> = elements.iter().flat_map(tets_of).collect();
        Cubature { weights: vec![1.0; tets.len()], tets }
    }

    /// `G B Phi` of some elements, 3k x r.
    pub(super) fn mode_gradients(&self, body: &Body<'_>, elements: &[usize], basis: &Mat<f64>) -> Mat<f64> {
        let mut rows = Mat::zeros(4 * body.modes, 3 * elements.len());
        for (place, &element) in elements.iter().enumerate() {
            for (v, hat) in self.terms_of(element) {
                for (d, &scale) in hat.iter().enumerate() {
                    body.add_mode_row(*v as usize, scale, rows.col_as_slice_mut(3 * place + d));
                }
            }
        }
        product(rows.transpose(), basis.as_ref())
    }

    /// Gradients of values at the vertices, n x 3.
    pub(super) fn gradients(&self, values: &[[f64; 3]]) -> Vec<Matrix> {
        let gradient = |terms: &[(u32, [f64; 3])]| {
            let mut f = [0.0; 9];
            for (v, hat) in terms {
                let x = &values[*v as usize];
                (0..3).for_each(|i| (0..3).for_each(|d| f[3 * i + d] += x[i] * hat[d]));
            }
            f
        };
        self.terms.chunks_exact(self.corners_each).map(gradient).collect()
    }

    /// Forces of stresses at n vertices: the transpose of [`Elements::gradients`].
    pub(super) fn forces(&self, stresses: &[Matrix], n: usize) -> Vec<[f64; 3]> {
        let mut forces = vec![[0.0; 3]; n];
        for (terms, stress) in self.terms.chunks_exact(self.corners_each).zip(stresses) {
            for (v, hat) in terms {
                let force = &mut forces[*v as usize];
                (0..3).for_each(|i| force[i] += (0..3).map(|d| stress[3 * i + d] * hat[d]).sum::<f64>());
            }
        }
        forces
    }
}

/// `B'TB`, 4m x 4m: resistance of cells of flesh outside of their gradient, from
/// [`stiffness`](crate::operators::stiffness); `None` for a mesh without cells.
pub(in super::super) fn twists(body: &Body<'_>, material: &Material) -> Option<Mat<f64>> {
    let mesh = body.mesh;
    if mesh.cells().is_empty() {
        return None;
    }
    let (each, columns) = (mesh.tets_per_cell(), 4 * body.modes);
    let weight = |cell: usize| -> f64 {
        (each * cell..each * (cell + 1)).map(|t| material.bending(t) * mesh.volumes()[t]).sum()
    };
    let part = |(chunk, cells): (usize, &[FleshCell])| {
        let mut rows = Mat::zeros(columns, 4 * cells.len());
        for (place, cell) in cells.iter().enumerate() {
            let weight = weight(chunk * CELLS + place);
            for (twist, (resistance, signs)) in cell.twists().into_iter().enumerate() {
                let row = rows.col_as_slice_mut(4 * place + twist);
                let scale = (weight * resistance).sqrt();
                for (&v, sign) in cell.corners.iter().zip(signs) {
                    body.add_mode_row(v as usize, scale * sign, row);
                }
            }
        }
        let mut square = Mat::zeros(columns, columns);
        matmul(square.as_mut(), Accum::Replace, &rows, rows.transpose(), 1.0, Par::Seq);
        square
    };
    let parts: Vec<Mat<f64>> = mesh.cells().par_chunks(CELLS).enumerate().map(part).collect();
    let mut whole = Mat::zeros(columns, columns);
    parts.iter().for_each(|part| whole += part);
    Some(whole)
}
