//! Clusters of tets that share a rotation: their mean deformation gradients, and what these do not see.

use faer::Mat;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::coordinates::HandleCoordinates;
use super::nearby::side_by_side;
use crate::material::Material;
use crate::math::grouped::{Grouped, GroupedRows};
use crate::math::lanes::{Buffer, lane_counts};
use crate::math::polar::rotations_in_lanes;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::operators::Strains;
use crate::subspace::Handles;

/// Mean gradients `F_c = I + sum_k y_k g_ck'` of clusters c, with the few g that are not zero, 1/m.
pub(super) struct Clusters {
    gradients: Grouped<3>,
    /// `sum over the tets of 2 mu V`, J, a cluster a SIMD lane; zero in lanes that are left over.
    weights: Buffer<f64>,
    count: usize,
}

/// Memory for coordinates, and for what clusters add to the gradient.
pub(super) struct ClusterRoom {
    y: GroupedRows,
    sums: GroupedRows,
}

/// The g of a cluster by their columns, and its weight.
type ClusterRow = (Vec<(u32, [f64; 3])>, f64);

impl Clusters {
    /// Of the tets of each cluster, and what of a stiffness the means do not see.
    pub(super) fn new(
        mesh: &TetMesh,
        material: &Material,
        handles: &Handles,
        coordinates: &HandleCoordinates,
        tets: &[Vec<u32>],
        stiffness: &Mat<f64>,
    ) -> (Self, Mat<f64>) {
        let strains = Strains::new(mesh);
        let stiff = |t: u32| 2.0 * material.mu(t as usize) * mesh.volumes()[t as usize];
        let of = |room: &mut Vec<[f64; 3]>, tets: &&Vec<u32>| -> ClusterRow {
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
            let columns = affine(coordinates, part).chain(others(coordinates, &touched, room));
            (columns.filter(|(_, g)| *g != [0.0; 3]).collect(), weight)
        };
        let zeros = || vec![[0.0; 3]; 4 * handles.count()];
        let clusters: Vec<&Vec<u32>> =
            side_by_side(&centers(mesh, tets)).into_iter().map(|c| &tets[c]).collect();
        let rows: Vec<ClusterRow> = clusters.par_iter().map_init(zeros, of).collect();
        let unseen = unseen(stiffness, &rows, coordinates.affine_count());
        let (rows, own): (Vec<_>, Vec<f64>) = rows.into_iter().unzip();
        let mut weights = Buffer::zeros(own.len().next_multiple_of(lane_counts().0));
        weights[..own.len()].copy_from_slice(&own);
        (Self { gradients: Grouped::new(&coordinates.slots, &rows), weights, count: own.len() }, unseen)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The whole weight, J.
    pub(super) fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    pub(super) fn room(&self) -> ClusterRoom {
        let slots = self.gradients.slots();
        ClusterRoom { y: slots.room(), sums: slots.room() }
    }

    /// `sum_c w_c / 2 |F_c - inflation R_c|^2`, with R_c the rotation nearest to F_c; adds `factor` times its derivative.
    pub(super) fn evaluate(
        &self,
        y: &Rows,
        [factor, inflation]: [f64; 2],
        gradient: &mut Rows,
        room: &mut ClusterRoom,
    ) -> f64 {
        room.y.enter(self.gradients.slots(), y);
        let energy = Arch::new().dispatch(Local { clusters: self, factor, inflation, room });
        room.sums.add_to(self.gradients.slots(), 1.0, gradient);
        energy
    }
}

/// The local step: rotations of clusters and their forces.
struct Local<'a> {
    clusters: &'a Clusters,
    factor: f64,
    inflation: f64,
    room: &'a mut ClusterRoom,
}

impl WithSimd for Local<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (Clusters { gradients, weights, count }, lanes) = (self.clusters, S::F64_LANES);
        let (weights, _) = S::as_simd_f64s(weights);
        let ClusterRoom { y, sums } = self.room;
        let (y, sums) = (y.registers::<S>(), sums.zeros(simd));
        let [factor, inflation, one] = [self.factor, self.inflation, 1.0].map(|x| simd.splat_f64s(x));
        let zero = simd.splat_f64s(0.0);
        let mut energy = zero;
        for (block, &weight) in weights.iter().enumerate() {
            let own = block * lanes..(*count).min((block + 1) * lanes);
            let mut f = [zero; 9];
            let packed = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(&mut f);
            for (lane, cluster) in own.clone().enumerate() {
                let spread = gradients.product::<S, 9>(simd, cluster, y);
                for e in 0..9 {
                    packed[e * lanes + lane] = simd.reduce_sum_f64s(spread[e]);
                }
            }
            for e in [0, 4, 8] {
                f[e] = simd.add_f64s(f[e], one);
            }
            let (r, scale) = (rotations_in_lanes(simd, f), simd.mul_f64s(factor, weight));
            let mut squares = zero;
            let mut forces = f;
            for e in 0..9 {
                let apart = simd.sub_f64s(f[e], simd.mul_f64s(inflation, r[e]));
                squares = simd.mul_add_e_f64s(apart, apart, squares);
                forces[e] = simd.mul_f64s(scale, apart);
            }
            energy = simd.mul_add_e_f64s(weight, squares, energy);
            let packed = pulp::bytemuck::cast_slice::<S::f64s, f64>(&forces);
            for (lane, cluster) in own.enumerate() {
                let mut force = [zero; 9];
                for e in 0..9 {
                    force[e] = simd.splat_f64s(packed[e * lanes + lane]);
                }
                gradients.add_adjoint(simd, cluster, &force, sums);
            }
        }
        0.5 * simd.reduce_sum_f64s(energy)
    }
}

/// What of a stiffness the means do not see: `K - sum_c w_c g_c g_c'`, zero in affine motions.
fn unseen(stiffness: &Mat<f64>, clusters: &[ClusterRow], affine: usize) -> Mat<f64> {
    let mut unseen = stiffness.clone();
    for (row, weight) in clusters {
        for (j, b) in row {
            let (column, b) = (unseen.col_as_slice_mut(*j as usize), b.map(|x| weight * x));
            for (i, a) in row.iter().filter(|(i, _)| i >= j) {
                column[*i as usize] -= a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            }
        }
    }
    let zero = |i: usize, j: usize| i < affine || j < affine;
    Mat::from_fn(
        unseen.nrows(),
        unseen.ncols(),
        |i, j| {
            if zero(i, j) { 0.0 } else { unseen[(i.max(j), i.min(j))] }
        },
    )
}

/// The means of the corners of each cluster's tets.
fn centers(mesh: &TetMesh, tets: &[Vec<u32>]) -> Vec<[f64; 3]> {
    let center = |tets: &Vec<u32>| {
        let corners = || tets.iter().flat_map(|&tet| mesh.corners(tet as usize));
        [0, 1, 2].map(|c| corners().map(|corner| corner[c]).sum::<f64>() / (4 * tets.len()) as f64)
    };
    tets.iter().map(center).collect()
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
