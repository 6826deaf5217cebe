//! The clusters of a body in the reduction: means of rows over the tets of each.

use faer::Mat;

use super::body::Body;
use crate::Result;
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::operators::{MassShares, Strains};
use crate::parallel::*;
use crate::sampling::cubature::Cubature;
use crate::subspace::tets_of_labels;

/// Tets of each cluster, and the weight of each cluster.
pub(super) struct Clusters {
    tets: Vec<Vec<u32>>,
    factors: Vec<f64>,
}

/// Means of rows of B and J over clusters, q a cluster: qc x 4m and qc x 4h; and the weights of the clusters,
/// c.
pub(super) struct ClusterMeans {
    pub(super) modes: Mat<f64>,
    pub(super) rig: Mat<f64>,
    pub(super) weights: Vec<f64>,
}

impl Clusters {
    pub(super) fn new(mesh: &TetMesh, labels: &[i32]) -> Result<Self> {
        let tets = tets_of_labels(mesh, labels)?;
        Ok(Self { factors: vec![1.0; tets.len()], tets })
    }

    /// Clusters of one tet each.
    pub(super) fn of_single_tets(tets: &[u32], factors: Vec<f64>) -> Self {
        Self { tets: tets.iter().map(|&tet| vec![tet]).collect(), factors }
    }

    /// Each tet of a cubature as a weighted cluster.
    pub(super) fn of_cubature(cubature: &Cubature) -> Self {
        Self::of_single_tets(&cubature.tets, cubature.weights.clone())
    }

    fn sums(&self, of_tet: impl Fn(usize) -> f64) -> Vec<f64> {
        let sum = |tets: &Vec<u32>| tets.iter().map(|&t| of_tet(t as usize)).sum::<f64>();
        self.tets.iter().zip(&self.factors).map(|(tets, factor)| factor * sum(tets)).collect()
    }

    /// Mass of each cluster, kg.
    pub(super) fn masses(&self, mesh: &TetMesh, material: &Material) -> Vec<f64> {
        let mass = |t: usize| material.density(t) * mesh.volumes()[t];
        let whole: f64 = (0..mesh.tets().len()).map(mass).sum();
        let own = self.sums(mass);
        let scale = whole / own.iter().sum::<f64>();
        own.iter().map(|mass| scale * mass).collect()
    }

    /// The sum of `lambda V` in each cluster, 0 for a law without lambda.
    pub(super) fn volumes(&self, mesh: &TetMesh, material: &Material) -> Vec<f64> {
        self.sums(|t| material.volumetric(t) * mesh.volumes()[t])
    }

    /// Mean gradients, weighted by `2 mu V`.
    pub(super) fn gradients(&self, body: &Body<'_>, material: &Material) -> ClusterMeans {
        let mut means = means(body, &self.gradient_shares(body.mesh, material));
        means.weights.iter_mut().zip(&self.factors).for_each(|(weight, factor)| *weight *= factor);
        means
    }

    /// Centres of mass, with vertex-lumped mass.
    pub(super) fn centers(&self, body: &Body<'_>, material: &Material) -> ClusterMeans {
        means(body, &self.center_shares(body.mesh, material))
    }

    /// Contribution of each vertex to the mean gradients, 3c.
    pub(super) fn gradient_functionals(&self, mesh: &TetMesh, material: &Material) -> Vec<Vec<(u32, f64)>> {
        functionals(&self.gradient_shares(mesh, material))
    }

    /// Contribution of each vertex to the centres of mass, c.
    pub(super) fn center_functionals(&self, mesh: &TetMesh, material: &Material) -> Vec<Vec<(u32, f64)>> {
        functionals(&self.center_shares(mesh, material))
    }

    fn gradient_shares(&self, mesh: &TetMesh, material: &Material) -> Vec<Shares<3>> {
        let strains = Strains::new(mesh);
        let stiff = |t: usize| 2.0 * material.mu(t) * mesh.volumes()[t];
        self.tets.par_iter().map(|tets| Shares::new(tets, stiff, |t| strains.of(t))).collect()
    }

    fn center_shares(&self, mesh: &TetMesh, material: &Material) -> Vec<Shares<1>> {
        let mass = |t: usize| material.density(t) * mesh.volumes()[t];
        let lumped = MassShares::new(mesh);
        let corners = |t: usize| lumped.of(t).map(|(corner, share)| (corner, [share]));
        self.tets.par_iter().map(|tets| Shares::new(tets, mass, corners)).collect()
    }
}

impl ClusterMeans {
    /// Rows of J, each multiplied by the weight of its cluster.
    pub(super) fn stiff_rig(&self) -> Mat<f64> {
        Mat::from_fn(self.rig.nrows(), self.rig.ncols(), |i, j| self.weights[i / 3] * self.rig[(i, j)])
    }
}

/// Means of the rows of B and J.
fn means<const Q: usize>(body: &Body<'_>, clusters: &[Shares<Q>]) -> ClusterMeans {
    let (b, j) = (4 * body.modes, 4 * body.handles);
    let rows: Vec<(Vec<f64>, Vec<f64>)> = clusters
        .par_iter()
        .map(|cluster| {
            let (mut modes, mut rig) = (vec![0.0; Q * b], vec![0.0; Q * j]);
            for &(v, shares) in &cluster.vertices {
                for c in 0..Q {
                    body.add_mode_row(v as usize, shares[c], &mut modes[c * b..(c + 1) * b]);
                    body.add_rig_row(v as usize, shares[c], &mut rig[c * j..(c + 1) * j]);
                }
            }
            (modes, rig)
        })
        .collect();
    let count = Q * rows.len();
    ClusterMeans {
        modes: Mat::from_fn(count, b, |i, k| rows[i / Q].0[(i % Q) * b + k]),
        rig: Mat::from_fn(count, j, |i, k| rows[i / Q].1[(i % Q) * j + k]),
        weights: clusters.iter().map(|cluster| cluster.weight).collect(),
    }
}

/// Q functionals a cluster, each as vertices and shares.
fn functionals<const Q: usize>(clusters: &[Shares<Q>]) -> Vec<Vec<(u32, f64)>> {
    let one = |cluster: &Shares<Q>, q: usize| {
        cluster.vertices.iter().map(|&(vertex, shares)| (vertex, shares[q])).collect()
    };
    clusters.iter().flat_map(|cluster| (0..Q).map(move |q| one(cluster, q))).collect()
}

/// Weight of a cluster, and its mean as a sum of `share * value` over its vertices, each vertex once.
struct Shares<const Q: usize> {
    weight: f64,
    vertices: Vec<(u32, [f64; Q])>,
}

impl<const Q: usize> Shares<Q> {
    /// Shares of Q values a tet, summed over the vertices in `terms`.
    fn new<Terms: IntoIterator<Item = (u32, [f64; Q])>>(
        tets: &[u32],
        weight: impl Fn(usize) -> f64,
        terms: impl Fn(usize) -> Terms,
    ) -> Self {
        let total = tets.iter().map(|&t| weight(t as usize)).sum();
        let mut vertices: Vec<(u32, [f64; Q])> = Vec::with_capacity(4 * tets.len());
        for &t in tets {
            let share = weight(t as usize) / total;
            let scaled = |(vertex, values): (u32, [f64; Q])| (vertex, values.map(|x| share * x));
            vertices.extend(terms(t as usize).into_iter().map(scaled));
        }
        // A stable sort: the sums below run in the order of the tets.
        vertices.sort_by_key(|&(v, _)| v);
        vertices.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                (0..Q).for_each(|c| kept.1[c] += next.1[c]);
            }
            same
        });
        Self { weight: total, vertices }
    }
}
