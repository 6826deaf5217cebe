//! Places of the stretch limit: few tets, but no flesh stretches far without one of them.

use faer::Mat;
use nalgebra::{Matrix3, Vector3};

use super::body::Body;
use crate::math::dense::diagonal::FREE;
use crate::math::dense::dot;
use crate::math::lanes::{Packed, PackedSparse};
use crate::mesh::TetMesh;
use crate::operators::gradients;
use crate::parallel::*;
use crate::sampling::covering::covering;

/// Number of candidate tets; half of them are the softest.
const CANDIDATES: usize = 3000;
/// Stiffness of the limit as a share of the smallest elastic energy of a stretch of 1. With this share
/// bodies move about as far as in the full space, in which each place yields by itself.
const SHARE: f64 = 0.3;

/// Tets with a stretch limit: few, but no flesh stretches far without one of them.
#[derive(Clone)]
pub(crate) struct StretchPlaces {
    /// Indices of the tets, k.
    pub(crate) tets: Vec<u32>,
    /// kappa, k, J.
    pub(crate) stiffness: Vec<f64>,
    /// `G B Phi`, 3k x r, 1/m.
    pub(crate) basis: Mat<f64>,
    /// `G J`, 3k x 4h.
    pub(crate) rig: Mat<f64>,
}

impl StretchPlaces {
    /// Places of a body with reduced coordinates Phi, 4m x r, and elastic eigenvalues `spectrum`.
    pub(super) fn new(body: &Body<'_>, basis: &Mat<f64>, spectrum: &[f64]) -> Self {
        let hats = gradients(body.mesh);
        let moved: Vec<Vec<f64>> =
            (0..body.vertex_count()).into_par_iter().map(|v| row(body, v, basis)).collect();
        let least = FREE * spectrum.iter().copied().fold(0.0, f64::max);
        let soft: Vec<f64> = spectrum.iter().map(|&l| if l > least { 1.0 / l } else { 0.0 }).collect();
        let stretch = |tet: usize| Stretch::new(body.mesh.tets()[tet], &hats[tet], &moved);
        let compliance = |tet| stretch(tet).rows.iter().map(|row| weighted(row, row, &soft)).sum();
        let compliances: Vec<f64> = (0..hats.len()).into_par_iter().map(compliance).collect();
        let candidates = candidates(&compliances);
        let roots: Vec<f64> = soft.iter().map(|soft| soft.sqrt()).collect();
        let scaled = |row: &Vec<f64>| row.iter().zip(&roots).map(|(x, root)| x * root).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> =
            candidates.par_iter().flat_map_iter(|&tet| stretch(tet).rows.map(|row| scaled(&row))).collect();
        let chosen = covering(&rows, 3, 2 * spectrum.len());
        let mut tets: Vec<usize> = chosen.iter().map(|&place| candidates[place]).collect();
        // Sorted, because neighbours share bones.
        tets.sort_unstable();
        let found: Vec<Stretch> = tets.iter().map(|&tet| stretch(tet)).collect();
        let handles = 4 * body.handles;
        let rig: Vec<[Vec<f64>; 3]> = tets.iter().map(|&tet| rig_rows(body, tet, &hats[tet])).collect();
        Self {
            stiffness: found.iter().map(|stretch| 0.5 * SHARE / stretch.softest(&soft)).collect(),
            basis: Mat::from_fn(3 * tets.len(), spectrum.len(), |i, j| found[i / 3].rows[i % 3][j]),
            rig: Mat::from_fn(3 * tets.len(), handles, |i, j| rig[i / 3][i % 3][j]),
            tets: tets.into_iter().map(|tet| tet as u32).collect(),
        }
    }
}

impl StretchPlaces {
    /// Change of a place's gradient along an axis by a coordinate, for each axis of the rest space, 1/m.
    pub(super) fn change(&self, place: usize, coordinate: usize) -> Vector3<f64> {
        Vector3::from_column_slice(&self.basis.col_as_slice(coordinate)[3 * place..][..3])
    }

    /// Contribution of each vertex to the gradients, 3k.
    pub(super) fn gradient_functionals(&self, mesh: &TetMesh) -> Vec<Vec<(u32, f64)>> {
        let hats = gradients(mesh);
        let row = |tet: usize, d: usize| (0..4).map(|c| (mesh.tets()[tet][c], hats[tet][c][d])).collect();
        self.tets.iter().flat_map(|&tet| [0, 1, 2].map(|d| row(tet as usize, d))).collect()
    }
}

/// Places of the limit, packed for a step.
pub(super) struct PackedPlaces {
    pub(super) basis: Packed<3>,
    /// Length of each column of `basis`.
    pub(super) lengths: Packed<1>,
    pub(super) rig: PackedSparse<3>,
}

impl PackedPlaces {
    pub(super) fn new(places: &StretchPlaces) -> Self {
        let (count, rank, handles) = (places.tets.len(), places.basis.ncols(), places.rig.ncols());
        Self {
            basis: Packed::new(count, rank, |i, row, j| places.basis[(3 * i + row, j)]),
            lengths: Packed::new(count, rank, |i, _, j| {
                let column = &places.basis.col_as_slice(j)[3 * i..3 * i + 3];
                column.iter().map(|x| x * x).sum::<f64>().sqrt()
            }),
            rig: PackedSparse::new(count, handles, |i, row, j| places.rig[(3 * i + row, j)]),
        }
    }
}

/// Row of `B Phi` of a vertex.
fn row(body: &Body<'_>, vertex: usize, basis: &Mat<f64>) -> Vec<f64> {
    let mut entries = vec![0.0; basis.nrows()];
    body.add_mode_row(vertex, 1.0, &mut entries);
    (0..basis.ncols()).map(|j| dot(basis.col_as_slice(j), &entries)).collect()
}

/// Rows of `G J` of a tet.
fn rig_rows(body: &Body<'_>, tet: usize, hats: &[[f64; 3]; 4]) -> [Vec<f64>; 3] {
    std::array::from_fn(|d| {
        let mut row = vec![0.0; 4 * body.handles];
        for (&v, hat) in body.mesh.tets()[tet].iter().zip(hats) {
            body.add_rig_row(v as usize, hat[d], &mut row);
        }
        row
    })
}

/// Rows of `G B Phi` of a tet.
struct Stretch {
    rows: [Vec<f64>; 3],
}

impl Stretch {
    fn new(tet: [u32; 4], hats: &[[f64; 3]; 4], moved: &[Vec<f64>]) -> Self {
        let corners = tet.map(|v| &moved[v as usize]);
        let entry = |d: usize, j: usize| (0..4).map(|c| hats[c][d] * corners[c][j]).sum();
        Self { rows: std::array::from_fn(|d| (0..corners[0].len()).map(|j| entry(d, j)).collect()) }
    }

    /// Square of the largest stretch at an elastic energy of one half.
    fn softest(&self, soft: &[f64]) -> f64 {
        let rows = &self.rows;
        Matrix3::from_fn(|a, b| weighted(&rows[a], &rows[b], soft)).symmetric_eigenvalues().max()
    }
}

fn weighted(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    a.iter().zip(b).zip(weights).map(|((a, b), w)| a * b * w).sum()
}

/// Candidate tets: all of them, or the softest and an evenly spread subset.
fn candidates(compliances: &[f64]) -> Vec<usize> {
    let mut stretching: Vec<usize> = (0..compliances.len()).filter(|&tet| compliances[tet] > 0.0).collect();
    if stretching.len() <= CANDIDATES {
        return stretching;
    }
    stretching.sort_by(|&a, &b| compliances[b].total_cmp(&compliances[a]));
    let mut rest = stretching.split_off(CANDIDATES / 2);
    rest.sort_unstable();
    let stride = rest.len().div_ceil(CANDIDATES / 2);
    stretching.extend(rest.into_iter().step_by(stride));
    stretching
}
