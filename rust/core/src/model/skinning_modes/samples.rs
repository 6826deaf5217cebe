//! Sample points for force fields: centres of mass of clusters, with positions and forces at reduced cost.

use faer::{Mat, MatRef};
use nalgebra::Matrix3;

use super::{SkinningData, SkinningModel};
use crate::inputs::force_samples::{ForceSamples, foreign_samples};
use crate::inputs::settings::HISTORY;
use crate::kinematics::history::apart;
use crate::math::dense::product;
use crate::math::lanes::{Packed, PackedBoth, multiply_add};
use crate::math::polar::nearest_rotation;
use crate::rig::Pose;
use crate::stepping::state::State;
use crate::{Result, check};

/// Number of places for the comparison of poses.
const PLACES: usize = 40;

impl SkinningModel {
    /// Samples of about `count` parts: at most one a cluster, and exactly `count` below this.
    ///
    /// Clusters are joined with the nearest of `count` distant clusters, the heaviest first.
    ///
    /// # Errors
    /// [`Error::Range`](crate::Error::Range) for a count of 0.
    pub fn force_samples(&self, count: usize) -> Result<ForceSamples> {
        check::range("count", "at least one sample", 0.0, count != 0)?;
        let data = &self.data;
        let centers: Vec<[f64; 3]> = (0..self.center_count()).map(|c| self.rest_center(c)).collect();
        let groups = group(&centers, &data.center_masses, count);
        let masses: Vec<f64> =
            groups.iter().map(|group| group.iter().map(|&c| data.center_masses[c]).sum()).collect();
        let mean = |rows: MatRef<'_, f64>| {
            Mat::from_fn(groups.len(), rows.ncols(), |s, j| {
                groups[s].iter().map(|&c| data.center_masses[c] / masses[s] * rows[(c, j)]).sum()
            })
        };
        let (basis, rig) = (mean(data.center_basis.as_ref()), mean(data.center_rig.as_ref()));
        let modes = product(basis.as_ref(), data.reduction.as_ref());
        let mut shares = Mat::zeros(groups.len(), centers.len());
        for (s, group) in groups.iter().enumerate() {
            group.iter().for_each(|&c| shares[(s, c)] = data.center_masses[c] / masses[s]);
        }
        let center = |s: usize| {
            std::array::from_fn(|d| {
                groups[s].iter().map(|&c| data.center_masses[c] / masses[s] * centers[c][d]).sum()
            })
        };
        Ok(ForceSamples {
            points: (0..groups.len()).map(center).collect(),
            basis: PackedBoth::of(basis.as_ref()),
            rows: basis,
            rig: Packed::of(rig.as_ref()),
            clusters: Packed::of(shares.as_ref()),
            gather: Packed::of(modes.transpose()),
            masses,
        })
    }

    /// Centre of mass of a cluster at rest: the rig's position with every bone at rest.
    pub(super) fn rest_center(&self, cluster: usize) -> [f64; 3] {
        let SkinningData { center_rig, .. } = &self.data;
        let mean =
            |d: usize| (d..center_rig.ncols()).step_by(4).map(|j| center_rig[(cluster, j)]).sum::<f64>();
        std::array::from_fn(|d| self.coordinates.center[d] + self.coordinates.size * mean(d))
    }

    /// Sample positions by linear skinning in a pose, k, metres. They exclude displacement, and forces read
    /// there depend on the pose alone.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for samples of another model;
    /// [`Error::Shape`](crate::Error::Shape), [`Error::NotFinite`](crate::Error::NotFinite) or
    /// [`Error::Range`](crate::Error::Range) for the pose.
    pub fn posed_samples(&self, samples: &ForceSamples, pose: Option<&Pose>) -> Result<Vec<[f64; 3]>> {
        let mut handles = vec![[0.0; 3]; self.cluster_rig.columns()];
        self.set_pose(pose, &mut handles)?;
        self.sample_positions(samples, &handles, &vec![[0.0; 3]; self.rank()], &[])
    }

    /// The rig's overall rotation between two poses (4 rows a handle), from the mass-weighted gradients of
    /// the clusters.
    pub(super) fn turn(&self, from: &[[f64; 3]], to: &[[f64; 3]]) -> Matrix3<f64> {
        let mut moved = Matrix3::zeros();
        for (cluster, mass) in self.data.cluster_masses.iter().enumerate() {
            moved += *mass * self.rig_gradient(cluster, to) * self.rig_gradient(cluster, from).transpose();
        }
        nearest_rotation(&moved)
    }

    /// Largest rotation or strain of a cluster by the rig between two poses (4 rows a handle), as a share
    /// of the diagonal: the change of its gradient times the relative size of a cluster of its mass.
    fn turned(&self, from: &[[f64; 3]], to: &[[f64; 3]]) -> f64 {
        let masses = &self.data.cluster_masses;
        let whole: f64 = masses.iter().sum();
        let turned = |(cluster, mass): (usize, &f64)| {
            let change = self.rig_gradient(cluster, to) - self.rig_gradient(cluster, from);
            change.norm() * (mass / whole).cbrt()
        };
        masses.iter().enumerate().map(turned).fold(0.0, f64::max)
    }

    /// The rig's mean gradient of a cluster in a pose (4 rows a handle).
    fn rig_gradient(&self, cluster: usize, pose: &[[f64; 3]]) -> Matrix3<f64> {
        Matrix3::from_fn(|c, row| {
            let entries = pose.iter().enumerate();
            entries.map(|(j, x)| self.data.cluster_rig[(3 * cluster + row, j)] * x[c]).sum()
        })
    }

    /// Checks that samples have the sizes of this model, else [`Error::Shape`](crate::Error::Shape).
    pub(super) fn check_samples(&self, samples: &ForceSamples) -> Result<()> {
        let sizes = (samples.rig.columns(), samples.basis.matrix.columns(), samples.clusters.columns());
        if sizes == (self.cluster_rig.columns(), self.rank(), self.center_count())
            && samples.gather.items() == 4 * self.mode_count()
        {
            return Ok(());
        }
        Err(foreign_samples())
    }

    /// Sample positions in a pose (4 rows a handle) with reduced coordinates, and with offsets of the
    /// clusters' centres (c rows or none), k, metres.
    pub(super) fn sample_positions(
        &self,
        samples: &ForceSamples,
        pose: &[[f64; 3]],
        reduced: &[[f64; 3]],
        centers: &[[f64; 3]],
    ) -> Result<Vec<[f64; 3]>> {
        self.check_samples(samples)?;
        let mut positions = vec![[0.0; 3]; samples.points.len()];
        multiply_add(&samples.rig, pose, &mut positions);
        multiply_add(&samples.basis.matrix, reduced, &mut positions);
        if !centers.is_empty() {
            multiply_add(&samples.clusters, centers, &mut positions);
        }
        Ok(positions)
    }

    /// The generalised force, m x 3 x 4, of forces on samples, k x 3 in newtons.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::NotFinite`](crate::Error::NotFinite) for the forces,
    /// [`Error::Shape`](crate::Error::Shape) for samples of another model.
    pub fn reduce_sample_forces(&self, samples: &ForceSamples, forces: &[f64]) -> Result<Vec<f64>> {
        samples.check(forces)?;
        self.check_samples(samples)?;
        let mut rows = vec![[0.0; 3]; 4 * self.mode_count()];
        multiply_add(&samples.gather, forces.as_chunks::<3>().0, &mut rows);
        let modes = rows.as_chunks::<4>().0.iter();
        Ok(modes.flat_map(|rows| self.coordinates.leave_force(rows).into_iter().flatten()).collect())
    }
}

/// Groups of clusters around `count` distant ones.
fn group(centers: &[[f64; 3]], masses: &[f64], count: usize) -> Vec<Vec<usize>> {
    let distance2 = |a: usize, b: usize| (0..3).map(|c| (centers[a][c] - centers[b][c]).powi(2)).sum::<f64>();
    let largest = |values: &[f64]| (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut nearest = vec![(f64::INFINITY, 0); centers.len()];
    let mut seed = largest(masses).unwrap_or(0);
    let mut groups = vec![Vec::new(); count.min(centers.len())];
    for group in 0..groups.len() {
        for (cluster, nearest) in nearest.iter_mut().enumerate() {
            let distance = distance2(cluster, seed);
            if distance < nearest.0 || cluster == seed {
                *nearest = (if cluster == seed { -1.0 } else { distance }, group);
            }
        }
        let distances: Vec<f64> = nearest.iter().map(|nearest| nearest.0).collect();
        seed = largest(&distances).unwrap_or(0);
    }
    nearest.iter().enumerate().for_each(|(cluster, &(_, group))| groups[group].push(cluster));
    groups
}

impl SkinningModel {
    /// Sample positions at the last substep of a state, k x 3; rest positions before the first.
    pub(super) fn samples_in(&self, state: &State, samples: &ForceSamples) -> Result<Vec<[f64; 3]>> {
        if !state.started {
            return Ok(samples.points().to_vec());
        }
        let last = HISTORY - 1;
        let centers = self.offset_parts(&state.offset_path[last]).centers;
        self.sample_positions(samples, &state.path[last], &state.reduced[last], centers)
    }

    /// As [`Method::carried`](crate::stepping::method::Method::carried), from places all over the body and
    /// the clusters' gradients: bones without flesh may be anywhere.
    pub(super) fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)> {
        let samples = self.force_samples(PLACES)?;
        let (start, end) = (self.samples_in(from, &samples)?, self.samples_in(to, &samples)?);
        let (advance, moved) = apart(&start, &end);
        Ok((advance, (moved / self.diagonal()).max(self.turned(&from.frames[1], &to.frames[1]))))
    }
}
