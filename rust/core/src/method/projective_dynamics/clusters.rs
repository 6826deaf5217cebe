//! Clusters of tets that share a rotation: their mean deformation gradients, and what these do not see.

use faer::Mat;
use rayon::prelude::*;

use super::coordinates::HandleCoordinates;
use crate::material::Material;
use crate::math::polar::{Matrix, rotations};
use crate::mesh::TetMesh;
use crate::operators::Strains;
use crate::subspace::Handles;

/// Mean gradients `F_c = I + sum_k y_k g_ck'` of clusters c, with the few g that are not zero, 1/m.
pub(super) struct Clusters {
    starts: Vec<usize>,
    entries: Vec<(u32, [f64; 3])>,
    /// `sum over the tets of 2 mu V`, J.
    weights: Vec<f64>,
}

/// Deformation gradients of clusters and their nearest rotations, and memory for both.
pub(super) struct Rotations {
    gradients: Vec<Matrix>,
    rotations: Vec<Matrix>,
}

impl Clusters {
    pub(super) fn new(
        mesh: &TetMesh,
        material: &Material,
        handles: &Handles,
        coordinates: &HandleCoordinates,
        tets: &[Vec<u32>],
    ) -> Self {
        let strains = Strains::new(mesh);
        let stiff = |t: u32| 2.0 * material.mu(t as usize) * mesh.volumes()[t as usize];
        let of = |room: &mut Vec<[f64; 3]>, tets: &Vec<u32>| {
            let weight: f64 = tets.iter().map(|&t| stiff(t)).sum();
            let part = handles.parts_of_vertices()[mesh.tets()[tets[0] as usize][0] as usize];
            let mut touched = Vec::new();
            for &tet in tets {
                let share = stiff(tet) / weight;
                for (vertex, g) in strains.of(tet as usize) {
                    for (handle, entries) in handles.row(vertex as usize) {
                        touched.push(handle);
                        for (sum, entry) in room[4 * handle..].iter_mut().zip(entries) {
                            (0..3).for_each(|c| sum[c] += share * entry * g[c]);
                        }
                    }
                }
            }
            touched.sort_unstable();
            touched.dedup();
            (affine(coordinates, part).chain(others(coordinates, &touched, room)).collect::<Vec<_>>(), weight)
        };
        let zeros = || vec![[0.0; 3]; 4 * handles.count()];
        let found: Vec<_> = tets.par_iter().map_init(zeros, of).collect();
        let mut starts = vec![0];
        starts.extend(found.iter().scan(0, |end, (entries, _)| {
            *end += entries.len();
            Some(*end)
        }));
        let weights = found.iter().map(|(_, weight)| *weight).collect();
        Self { starts, entries: found.into_iter().flat_map(|(entries, _)| entries).collect(), weights }
    }

    pub(super) fn count(&self) -> usize {
        self.weights.len()
    }

    /// The whole weight, J.
    pub(super) fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    fn of(&self, cluster: usize) -> &[(u32, [f64; 3])] {
        &self.entries[self.starts[cluster]..self.starts[cluster + 1]]
    }

    /// What of a stiffness the means do not see: `K - sum_c w_c g_c g_c'`, zero in affine motions.
    pub(super) fn unseen(&self, stiffness: &Mat<f64>, affine: usize) -> Mat<f64> {
        let mut unseen = stiffness.clone();
        for (cluster, weight) in self.weights.iter().enumerate() {
            for &(i, a) in self.of(cluster) {
                for &(j, b) in self.of(cluster) {
                    unseen[(i as usize, j as usize)] -= weight * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
                }
            }
        }
        let zero = |i: usize, j: usize| i < affine || j < affine;
        Mat::from_fn(unseen.nrows(), unseen.ncols(), |i, j| {
            if zero(i, j) { 0.0 } else { 0.5 * (unseen[(i, j)] + unseen[(j, i)]) }
        })
    }

    /// `sum_c w_c / 2 |F_c - R_c|^2`, with R_c the rotation nearest to F_c; adds `factor` times its derivative.
    pub(super) fn evaluate(
        &self,
        y: &[[f64; 3]],
        factor: f64,
        gradient: &mut [[f64; 3]],
        room: &mut Rotations,
    ) -> f64 {
        for (cluster, f) in room.gradients.iter_mut().enumerate() {
            *f = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            for &(k, g) in self.of(cluster) {
                let y = &y[k as usize];
                (0..9).for_each(|e| f[e] += y[e / 3] * g[e % 3]);
            }
        }
        rotations(&room.gradients, &mut room.rotations);
        let mut energy = 0.0;
        for (cluster, (f, r)) in room.gradients.iter().zip(&room.rotations).enumerate() {
            let apart: Matrix = std::array::from_fn(|e| f[e] - r[e]);
            energy += 0.5 * self.weights[cluster] * apart.iter().map(|x| x * x).sum::<f64>();
            let force = apart.map(|x| factor * self.weights[cluster] * x);
            for &(k, g) in self.of(cluster) {
                let out = &mut gradient[k as usize];
                (0..9).for_each(|e| out[e / 3] += force[e] * g[e % 3]);
            }
        }
        energy
    }
}

impl Rotations {
    pub(super) fn new(count: usize) -> Self {
        Self { gradients: vec![[0.0; 9]; count], rotations: vec![[0.0; 9]; count] }
    }
}

/// Of the affine motions of a part, exactly: a translation has no gradient.
fn affine(coordinates: &HandleCoordinates, part: u32) -> impl Iterator<Item = (u32, [f64; 3])> {
    let slope = 1.0 / coordinates.parts[part as usize].size;
    (0..3).map(move |axis| {
        (4 * part + axis, std::array::from_fn(|c| if c == axis as usize { slope } else { 0.0 }))
    })
}

/// Of other coordinates, from sums by entries of handles, which are zero afterwards.
fn others(coordinates: &HandleCoordinates, handles: &[usize], sums: &mut [[f64; 3]]) -> Vec<(u32, [f64; 3])> {
    let mut found = Vec::new();
    for entry in handles.iter().flat_map(|&handle| 4 * handle..4 * handle + 4) {
        let sum = std::mem::take(&mut sums[entry]);
        found.extend(coordinates.own(entry).map(|column| (column, sum)));
    }
    found
}
