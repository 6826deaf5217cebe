//! Clusters of tets with a shared rotation: mean deformation gradients, and the remaining quadratic energy.

use std::collections::BTreeMap;

use faer::Mat;
use pulp::{Arch, Simd, WithSimd};

use super::rest_shape::spectral;
use crate::kinematics::handles::HandleCoordinates;
use crate::kinematics::nearby::side_by_side;
use crate::material::{Material, StrainLimit};
use crate::math::grouped::{Grouped, GroupedRows, share_registers};
use crate::math::lanes::{Buffer, lane_counts};
use crate::math::polar::rotations_in_lanes;
use crate::math::rows::Rows;
use crate::math::signed_svd_in_lanes;
use crate::mesh::TetMesh;
use crate::operators::Strains;
use crate::parallel::*;
use crate::subspace::Handles;

/// Mean deformation gradients `F_c = I + sum_k y_k g_ck'` of clusters c, with their few nonzero g, 1/m; one
/// cluster a SIMD lane.
///
/// All clusters of a register belong to one part, and its affine motions have the same g in all of them:
/// `1 / size` along each axis.
pub(crate) struct Clusters {
    /// Gradients of non-affine coordinates.
    gradients: Grouped<3>,
    /// `sum over the tets of 2 mu V`, J; zero in padding lanes.
    weights: Buffer<f64>,
    /// The part of each register, and `1 / size` of each part.
    parts: Vec<usize>,
    slopes: Vec<f64>,
    count: usize,
    limit: Option<StrainLimit>,
}

/// Scratch for coordinates, and for the clusters' share of the gradient.
pub(crate) struct ClusterScratch {
    y: GroupedRows,
    sums: GroupedRows,
}

/// The nonzero g of a cluster by column, and the cluster's weight.
type ClusterRow = (Vec<(u32, [f64; 3])>, f64);

impl Clusters {
    /// Clusters of given tets, and the part of `stiffness` that the means do not represent.
    pub(crate) fn new(
        mesh: &TetMesh,
        material: &Material,
        handles: &Handles,
        coordinates: &HandleCoordinates,
        tets: &[Vec<u32>],
        stiffness: &Mat<f64>,
    ) -> (Self, Mat<f64>) {
        let strains = Strains::new(mesh);
        let stiff = |t: u32| 2.0 * material.mu(t as usize) * mesh.volumes()[t as usize];
        let of = |scratch: &mut Vec<[f64; 3]>, tets: &Vec<u32>| -> ClusterRow {
            let weight: f64 = tets.iter().map(|&t| stiff(t)).sum();
            let mut touched = Vec::new();
            for &tet in tets {
                let share = stiff(tet) / weight;
                for (vertex, g) in strains.of(tet as usize) {
                    for (handle, entries) in handles.row(vertex as usize) {
                        touched.push(handle);
                        for (sum, entry) in scratch[4 * handle..].iter_mut().zip(entries) {
                            (0..3).for_each(|c| sum[c] += share * entry * g[c]);
                        }
                    }
                }
            }
            touched.sort_unstable();
            touched.dedup();
            let columns = others(coordinates, &touched, scratch).into_iter().filter(|(_, g)| *g != [0.0; 3]);
            (columns.collect(), weight)
        };
        let zeros = || vec![[0.0; 3]; 4 * handles.count()];
        let (order, parts) = in_lanes(mesh, handles, tets);
        let own = |cluster: &Option<usize>| cluster.map(|cluster| &tets[cluster]);
        let none = || (Vec::new(), 0.0);
        let rows: Vec<ClusterRow> = order
            .par_iter()
            .map_init(zeros, |scratch, cluster| own(cluster).map_or_else(none, |tets| of(scratch, tets)))
            .collect();
        let unseen = unseen(stiffness, &rows, coordinates.affine_count());
        let (rows, own): (Vec<_>, Vec<f64>) = rows.into_iter().unzip();
        let mut weights = Buffer::zeros(own.len());
        weights.copy_from_slice(&own);
        let slopes = coordinates.parts.iter().map(|part| 1.0 / part.size).collect();
        let gradients = Grouped::new(&coordinates.slots, &rows);
        (Self { gradients, weights, parts, slopes, count: tets.len(), limit: None }, unseen)
    }

    /// Sets a limit of the stretches of clusters.
    pub(super) fn limit(&mut self, limit: StrainLimit) {
        self.limit = Some(limit);
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Total weight, J.
    pub(super) fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    pub(super) fn scratch(&self) -> ClusterScratch {
        let slots = self.gradients.slots();
        ClusterScratch { y: slots.scratch(), sums: slots.scratch() }
    }

    /// `sum_c w_c / 2 |F_c - inflation R_c|^2`, with R_c the rotation nearest to F_c, and the energy of a
    /// limit; adds `factor` times the derivative.
    pub(super) fn evaluate(
        &self,
        y: &Rows,
        [factor, inflation]: [f64; 2],
        gradient: &mut Rows,
        scratch: &mut ClusterScratch,
    ) -> f64 {
        scratch.y.enter(self.gradients.slots(), y);
        let energy = Arch::new().dispatch(Local { clusters: self, factor, inflation, y, gradient, scratch });
        scratch.sums.add_to(self.gradients.slots(), 1.0, gradient);
        energy
    }
}

/// The local step: rotations of clusters and their forces.
struct Local<'a> {
    clusters: &'a Clusters,
    factor: f64,
    inflation: f64,
    /// Affine coordinates are read from and written to these rows, all others to the scratch.
    y: &'a Rows,
    gradient: &'a mut Rows,
    scratch: &'a mut ClusterScratch,
}

impl WithSimd for Local<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Clusters { gradients, weights, parts, slopes, limit, .. } = self.clusters;
        let (weights, _) = S::as_simd_f64s(weights);
        let ClusterScratch { y, sums } = self.scratch;
        let (y, sums) = (y.registers::<S>(), sums.zeros(simd));
        let [factor, inflation] = [self.factor, self.inflation].map(|x| simd.splat_f64s(x));
        let zero = simd.splat_f64s(0.0);
        let mut energy = zero;
        let mut first = 0;
        for same in parts.chunk_by(|a, b| a == b) {
            let (part, slope) = (same[0], slopes[same[0]]);
            let (affine, mut pulls) = (affine(simd, &self.y[4 * part..], slope), [zero; 9]);
            for block in first..first + same.len() {
                let weight = weights[block];
                let mut f = gradients.product::<S, 9>(simd, block, y);
                for e in 0..9 {
                    f[e] = simd.add_f64s(f[e], affine[e]);
                }
                let (r, scale) = (rotations_in_lanes(simd, f), simd.mul_f64s(factor, weight));
                let mut squares = zero;
                let mut forces = f;
                for e in 0..9 {
                    forces[e] = simd.sub_f64s(f[e], simd.mul_f64s(inflation, r[e]));
                    squares = simd.mul_add_e_f64s(forces[e], forces[e], squares);
                }
                if let Some(limit) = limit {
                    squares = add_beyond(simd, f, (squares, inflation), limit, &mut forces);
                }
                for e in 0..9 {
                    forces[e] = simd.mul_f64s(scale, forces[e]);
                    pulls[e] = simd.add_f64s(pulls[e], forces[e]);
                }
                energy = simd.mul_add_e_f64s(weight, squares, energy);
                gradients.add_adjoint(simd, block, &forces, sums);
            }
            for e in 0..9 {
                self.gradient[4 * part + e % 3][e / 3] += slope * simd.reduce_sum_f64s(pulls[e]);
            }
            first += same.len();
        }
        0.5 * simd.reduce_sum_f64s(energy)
    }
}

/// Adds `firmness (F - p(F))` of a limit scaled by the inflation to forces; returns the squares `|F - R|^2`
/// with `firmness |F - p(F)|^2`.
#[inline(always)]
fn add_beyond<S: Simd>(
    simd: S,
    f: [S::f64s; 9],
    (squares, inflation): (S::f64s, S::f64s),
    limit: &StrainLimit,
    forces: &mut [S::f64s; 9],
) -> S::f64s {
    let of = |factor: f64| simd.mul_f64s(inflation, simd.splat_f64s(factor));
    let inside = simd.mul_f64s(inflation, of(limit.inside()));
    if simd.reduce_max_f64s(simd.sub_f64s(squares, inside)) <= 0.0 {
        return squares;
    }
    let (mut u, mut v) = (f, f);
    let mut sigma = signed_svd_in_lanes(simd, f, &mut u, &mut v);
    let (least, most, firmness) = (of(limit.least), of(limit.most), simd.splat_f64s(limit.firmness));
    let mut sum = squares;
    for stretch in &mut sigma {
        let apart = simd.sub_f64s(*stretch, simd.min_f64s(simd.max_f64s(*stretch, least), most));
        *stretch = simd.mul_f64s(firmness, apart);
        sum = simd.mul_add_e_f64s(*stretch, apart, sum);
    }
    let beyond = spectral(simd, &u, &sigma, &v);
    for e in 0..9 {
        forces[e] = simd.add_f64s(forces[e], beyond[e]);
    }
    sum
}

/// Deformation gradient of a part under its affine motions; the first three rows are the difference from
/// the identity.
#[inline(always)]
fn affine<S: Simd>(simd: S, rows: &Rows, slope: f64) -> [S::f64s; 9] {
    let mut f = [simd.splat_f64s(0.0); 9];
    for e in 0..9 {
        let rest = if e % 4 == 0 { 1.0 } else { 0.0 };
        f[e] = simd.splat_f64s(rest + slope * rows[e % 3][e / 3]);
    }
    f
}

/// Clusters in lane order, grouped by part with neighbours adjacent and `None` in padding lanes; and the
/// part of each register.
fn in_lanes(mesh: &TetMesh, handles: &Handles, tets: &[Vec<u32>]) -> (Vec<Option<usize>>, Vec<usize>) {
    let part = |tets: &Vec<u32>| handles.parts_of_vertices()[mesh.tets()[tets[0] as usize][0] as usize];
    let mut of_parts = BTreeMap::<u32, Vec<usize>>::new();
    for (cluster, tets) in tets.iter().enumerate() {
        of_parts.entry(part(tets)).or_default().push(cluster);
    }
    let (centers, lanes) = (centers(mesh, tets), lane_counts().0);
    let (mut order, mut parts) = (Vec::new(), Vec::new());
    for (part, clusters) in of_parts {
        let places: Vec<[f64; 3]> = clusters.iter().map(|&cluster| centers[cluster]).collect();
        order.extend(side_by_side(&places).into_iter().map(|number| Some(clusters[number])));
        order.resize(order.len().next_multiple_of(lanes), None);
        parts.resize(order.len() / lanes, part as usize);
    }
    share_registers(&mut order);
    (order, parts)
}

/// Stiffness that the means do not represent: `K - sum_c w_c g_c g_c'`, zero in affine motions.
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

/// Mean corner position of each cluster's tets.
fn centers(mesh: &TetMesh, tets: &[Vec<u32>]) -> Vec<[f64; 3]> {
    let center = |tets: &Vec<u32>| {
        let corners = || tets.iter().flat_map(|&tet| mesh.corners(tet as usize));
        [0, 1, 2].map(|c| corners().map(|corner| corner[c]).sum::<f64>() / (4 * tets.len()) as f64)
    };
    tets.iter().map(center).collect()
}

/// Non-affine coordinates from sums by handle entry; clears the sums.
fn others(coordinates: &HandleCoordinates, handles: &[usize], sums: &mut [[f64; 3]]) -> Vec<(u32, [f64; 3])> {
    let mut found = Vec::new();
    for entry in handles.iter().flat_map(|&handle| 4 * handle..4 * handle + 4) {
        let sum = std::mem::take(&mut sums[entry]);
        found.extend(coordinates.own(entry).map(|column| (column, sum)));
    }
    found
}
