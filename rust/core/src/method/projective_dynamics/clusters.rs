//! Clusters of tets that share a rotation: their mean deformation gradients, and what these do not see.

use faer::Mat;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::coordinates::HandleCoordinates;
use crate::material::Material;
use crate::math::dense::dot;
use crate::math::lanes::{Buffer, PackedSparse, columns_product};
use crate::math::polar::rotations_in_lanes;
use crate::mesh::{TetMesh, bounds};
use crate::operators::Strains;
use crate::subspace::Handles;

/// Mean gradients `F_c = I + sum_k y_k g_ck'` of clusters c, with the few g that are not zero, 1/m; a cluster a SIMD lane.
pub(super) struct Clusters {
    gradients: PackedSparse<3>,
    /// `sum over the tets of 2 mu V`, J; zero in lanes that are left over.
    weights: Buffer<f64>,
    count: usize,
}

/// Memory for forces of clusters, still spread over the lanes: r x 3 x lanes.
pub(super) struct Spread(Buffer<f64>);

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
        let of = |room: &mut Vec<[f64; 3]>, tets: &&Vec<u32>| {
            let weight: f64 = tets.iter().map(|&t| stiff(t)).sum();
            let part = handles.parts_of_vertices()[mesh.tets()[tets[0] as usize][0] as usize];
            let mut touched = Vec::new();
            for &tet in *tets {
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
            let mut row = vec![[0.0; 3]; coordinates.count()];
            for (column, g) in affine(coordinates, part).chain(others(coordinates, &touched, room)) {
                row[column as usize] = g;
            }
            (row, weight)
        };
        let zeros = || vec![[0.0; 3]; 4 * handles.count()];
        let clusters: Vec<&Vec<u32>> = side_by_side(mesh, tets).into_iter().map(|c| &tets[c]).collect();
        let rows: Vec<_> = clusters.par_iter().map_init(zeros, of).collect();
        let gradient = |cluster: usize, axis: usize, column: usize| rows[cluster].0[column][axis];
        let gradients = PackedSparse::new(rows.len(), coordinates.count(), gradient);
        let mut weights = Buffer::zeros(rows.len().next_multiple_of(gradients.lanes()));
        weights.iter_mut().zip(&rows).for_each(|(weight, row)| *weight = row.1);
        Self { gradients, weights, count: rows.len() }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The whole weight, J.
    pub(super) fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    pub(super) fn room(&self) -> Spread {
        Spread(Buffer::zeros(3 * self.gradients.columns() * self.gradients.lanes()))
    }

    /// What of a stiffness the means do not see: `K - sum_c w_c g_c g_c'`, zero in affine motions.
    pub(super) fn unseen(&self, stiffness: &Mat<f64>, affine: usize) -> Mat<f64> {
        let (mut unseen, lanes) = (stiffness.clone(), self.gradients.lanes());
        for ((block, columns), weights) in self.gradients.blocks().zip(self.weights.chunks_exact(lanes)) {
            let weigh = |(g, weight): (&f64, &f64)| weight * g;
            let weights = || weights.iter().cycle();
            for (a, &i) in block.chunks_exact(3 * lanes).zip(columns) {
                let a: Vec<f64> = a.iter().zip(weights()).map(weigh).collect();
                for (b, &j) in block.chunks_exact(3 * lanes).zip(columns) {
                    unseen[(i as usize, j as usize)] -= dot(&a, b);
                }
            }
        }
        let zero = |i: usize, j: usize| i < affine || j < affine;
        Mat::from_fn(unseen.nrows(), unseen.ncols(), |i, j| {
            if zero(i, j) { 0.0 } else { 0.5 * (unseen[(i, j)] + unseen[(j, i)]) }
        })
    }

    /// `sum_c w_c / 2 |F_c - inflation R_c|^2`, with R_c the rotation nearest to F_c; adds `factor` times its derivative.
    pub(super) fn evaluate(
        &self,
        y: &[[f64; 3]],
        [factor, inflation]: [f64; 2],
        gradient: &mut [[f64; 3]],
        Spread(spread): &mut Spread,
    ) -> f64 {
        let energy = Arch::new().dispatch(Local { clusters: self, y, factor, inflation, spread });
        let sums = spread.chunks_exact(self.gradients.lanes());
        gradient.as_flattened_mut().iter_mut().zip(sums).for_each(|(g, sums)| *g += sums.iter().sum::<f64>());
        energy
    }
}

/// The local step: rotations of clusters and their forces.
struct Local<'a> {
    clusters: &'a Clusters,
    y: &'a [[f64; 3]],
    factor: f64,
    inflation: f64,
    spread: &'a mut [f64],
}

impl WithSimd for Local<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (weights, _) = S::as_simd_f64s(&self.clusters.weights);
        let (spread, _) = S::as_mut_simd_f64s(self.spread);
        let [factor, inflation, one] = [self.factor, self.inflation, 1.0].map(|x| simd.splat_f64s(x));
        let mut energy = simd.splat_f64s(0.0);
        spread.fill(energy);
        for ((gradients, columns), &weight) in self.clusters.gradients.blocks().zip(weights) {
            let y = columns.iter().map(|&column| &self.y[column as usize]);
            let mut f = columns_product::<S, 3, 9>(simd, gradients, y);
            for e in [0, 4, 8] {
                f[e] = simd.add_f64s(f[e], one);
            }
            let (r, scale) = (rotations_in_lanes(simd, f), simd.mul_f64s(factor, weight));
            let mut squares = simd.splat_f64s(0.0);
            let mut force = f;
            for e in 0..9 {
                let apart = simd.sub_f64s(f[e], simd.mul_f64s(inflation, r[e]));
                squares = simd.mul_add_e_f64s(apart, apart, squares);
                force[e] = simd.mul_f64s(scale, apart);
            }
            energy = simd.mul_add_e_f64s(weight, squares, energy);
            let (gradients, _) = S::as_simd_f64s(gradients);
            for (g, &column) in gradients.chunks_exact(3).zip(columns) {
                let sums = &mut spread[3 * column as usize..3 * column as usize + 3];
                for (i, sum) in sums.iter_mut().enumerate() {
                    let partial = simd.mul_add_e_f64s(g[0], force[3 * i], *sum);
                    let partial = simd.mul_add_e_f64s(g[1], force[3 * i + 1], partial);
                    *sum = simd.mul_add_e_f64s(g[2], force[3 * i + 2], partial);
                }
            }
        }
        0.5 * simd.reduce_sum_f64s(energy)
    }
}

/// Clusters in an order in which those that share a register are near each other, as they then feel the same handles.
fn side_by_side(mesh: &TetMesh, tets: &[Vec<u32>]) -> Vec<usize> {
    let center = |tets: &Vec<u32>| {
        let corners = || tets.iter().flat_map(|&tet| mesh.corners(tet as usize));
        [0, 1, 2].map(|c| corners().map(|corner| corner[c]).sum::<f64>() / (4 * tets.len()) as f64)
    };
    let centers: Vec<[f64; 3]> = tets.iter().map(center).collect();
    let mut order: Vec<usize> = (0..tets.len()).collect();
    halve(&mut order, &centers);
    order
}

/// Orders along the longest side, then each half likewise; as many as a register holds are not cut apart.
fn halve(order: &mut [usize], centers: &[[f64; 3]]) {
    if order.len() < 2 {
        return;
    }
    let (low, high) = bounds(&order.iter().map(|&cluster| centers[cluster]).collect::<Vec<_>>());
    let longer = |best: usize, c: usize| if high[c] - low[c] > high[best] - low[best] { c } else { best };
    let axis = (1..3).fold(0, longer);
    order.sort_by(|&a, &b| centers[a][axis].total_cmp(&centers[b][axis]).then(a.cmp(&b)));
    let (one, other) = order.split_at_mut(order.len().next_power_of_two() / 2);
    halve(one, centers);
    halve(other, centers);
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
