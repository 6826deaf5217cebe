//! Energy of the limits of a body at its limit samples.

use std::sync::Arc;

use faer::Mat;

use super::limits::{LimitSamples, Limits};
use super::reduce::samples_of;
use super::{ReducedData, ReducedModel};
use crate::Result;
use crate::inputs::settings::SimulationParams;
use crate::kinematics::points::Points;
use crate::kinematics::rig_rows::set_pose;
use crate::math::columns::Columns;
use crate::math::dense::product;
use crate::math::rows::Rows;
use crate::potentials::displacement_limit::Limit;
use crate::potentials::elastic::mesh_elements::{limit_law, tet_elements};
use crate::potentials::elastic::samples::{Keep, SampleScratch, Samples};
use crate::rig::Pose;
use crate::sampling::cubature::Cubature;

impl ReducedModel {
    /// The same body with limits at given samples.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Index`](crate::Error::Index),
    /// [`Error::Range`](crate::Error::Range) or [`Error::NotFinite`](crate::Error::NotFinite) for vertices,
    /// tets and weights.
    pub fn limited(&self, given: &LimitSamples) -> Result<Self> {
        let data = &self.data;
        given.check(&data.mesh)?;
        let fields = data.fields();
        let of = |i: usize| 3 * given.vertices[i / 3] as usize + i % 3;
        let tets = (!given.tets.tets.is_empty()).then(|| data.limit_elements(&given.tets, &fields));
        let limits = Limits {
            given: given.clone(),
            tets,
            moves: Columns::new(3 * given.vertices.len(), data.rank(), |i, k| fields[(of(i), k)]),
            masses: given
                .vertices
                .iter()
                .zip(&given.weights)
                .map(|(&v, w)| w * data.mass[v as usize])
                .collect(),
        };
        Ok(Self {
            data: data.clone(),
            samples: self.samples.clone(),
            cubic: self.cubic.clone(),
            cubature: self.cubature.clone(),
            limits: Some(Arc::new(limits)),
            unseen: self.unseen.clone(),
        })
    }

    /// Samples of the limits; `None` for a body without limits.
    pub fn limit_samples(&self) -> Option<&LimitSamples> {
        self.limits.as_ref().map(|limits| &limits.given)
    }

    /// Energy of the limits in given settings, J, and its gradient by the coefficients, r.
    ///
    /// For tests and tools only.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Pose`](crate::Error::Pose) or
    /// [`Error::Range`](crate::Error::Range) for the arguments.
    pub fn limit_energy(
        &self,
        coefficients: &[f64],
        pose: Option<&Pose>,
        params: &SimulationParams,
    ) -> Result<(f64, Vec<f64>)> {
        params.check()?;
        self.data.check_coefficients("coefficients", coefficients)?;
        let mut handles = vec![[0.0; 3]; self.data.handle_rows()];
        set_pose(&self.data.coordinates, self.data.bones, pose, &mut handles)?;
        let y = self.data.enter(coefficients);
        let mut scratch = LimitScratch::new(self);
        scratch.set_pose(self, &handles, params.stretch);
        let mut gradient = vec![0.0; y.len()];
        let mut energy = params.stiffness * scratch.stretch(self, &y, &mut gradient);
        gradient.iter_mut().for_each(|slope| *slope *= params.stiffness);
        if let Some(limit) = &self.displacement_limit(params) {
            energy += scratch.displacement(self, limit, &y, &mut gradient);
        }
        Ok((energy, self.data.leave_force(&gradient)))
    }

    /// Displacement limit of the settings.
    pub(super) fn displacement_limit(&self, params: &SimulationParams) -> Option<Limit> {
        Limit::new(self.data.frequency, self.data.mesh.diagonal(), params)
    }
}

impl ReducedData {
    /// B, 3n x k.
    pub(super) fn fields(&self) -> Mat<f64> {
        product(self.basis.columns.as_ref(), self.turn.as_ref())
    }

    /// Limit elements of some tets, with weighted volumes.
    pub(super) fn limit_elements(&self, tets: &Cubature, fields: &Mat<f64>) -> Samples {
        let place: Vec<u32> = (0..self.mass.len() as u32).collect();
        let mut elements = tet_elements(&self.mesh, &self.energies, &tets.tets, &place);
        elements.iter_mut().zip(&tets.weights).for_each(|(element, weight)| element.volume *= weight);
        samples_of(&elements, limit_law, &self.rig, fields)
    }
}

/// Active limits, and scratch of their evaluation.
pub(super) struct LimitScratch {
    tets: Option<SampleScratch>,
    /// `true` with a stretch limit.
    stretches: bool,
    u: Vec<[f64; 3]>,
    pull: Vec<[f64; 3]>,
    product: Vec<f64>,
}

impl LimitScratch {
    pub(super) fn new(model: &ReducedModel) -> Self {
        let limits = model.limits.as_ref();
        let rows = vec![[0.0; 3]; limits.map_or(0, |limits| limits.masses.len())];
        Self {
            tets: limits.and_then(|limits| limits.tets.as_ref()).map(Samples::scratch),
            stretches: false,
            u: rows.clone(),
            pull: rows,
            product: vec![0.0; model.data.rank()],
        }
    }

    /// Sets a pose, 4 rows a handle, and the stretch limit.
    pub(super) fn set_pose(&mut self, model: &ReducedModel, pose: &Rows, stretch: Option<f64>) {
        self.stretches = stretch.is_some();
        let tets = model.limits.as_ref().and_then(|limits| limits.tets.as_ref());
        if let (Some(tets), Some(scratch), Some(limit)) = (tets, &mut self.tets, stretch) {
            tets.set_pose(scratch, pose, (1.0, limit));
        }
    }

    /// Energy of the stretch limit, J; adds the gradient.
    pub(super) fn stretch(&mut self, model: &ReducedModel, y: &[f64], gradient: &mut [f64]) -> f64 {
        let tets = model.limits.as_ref().and_then(|limits| limits.tets.as_ref()).filter(|_| self.stretches);
        let (Some(tets), Some(scratch)) = (tets, &mut self.tets) else { return 0.0 };
        let energy = tets.evaluate(scratch, y, &mut self.product);
        if energy > 0.0 {
            gradient.iter_mut().zip(&self.product).for_each(|(sum, part)| *sum += part);
        }
        energy
    }

    /// Potential of the displacement limit, J; adds the gradient.
    pub(super) fn displacement(
        &mut self,
        model: &ReducedModel,
        limit: &Limit,
        y: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        let Some(limits) = &model.limits else { return 0.0 };
        limits.moves.displace(y, &mut self.u);
        self.pull.fill([0.0; 3]);
        let energy = limit.evaluate(&limits.masses, &self.u, &mut self.pull);
        if energy > 0.0 {
            limits.moves.pull_back(&self.pull, gradient);
        }
        energy
    }

    /// Adds the second derivatives of the stretch limit at the last evaluation, as
    /// [`Samples::add_hessian`].
    pub(super) fn add_stretch_hessian(&self, model: &ReducedModel, how: (f64, Keep), sum: &mut Mat<f64>) {
        let tets = model.limits.as_ref().and_then(|limits| limits.tets.as_ref()).filter(|_| self.stretches);
        let (Some(tets), Some(scratch)) = (tets, &self.tets) else { return };
        tets.add_hessian(scratch, how, |sample| scratch.is_stressed(sample), sum);
    }

    /// Adds the second derivatives of the displacement limit.
    pub(super) fn add_displacement_hessian(&self, model: &ReducedModel, limit: &Limit, sum: &mut Mat<f64>) {
        let Some(limits) = &model.limits else { return };
        for (v, (mass, u)) in limits.masses.iter().zip(&self.u).enumerate() {
            let hessian = limit.hessian(*mass, u);
            if hessian.norm_squared() > 0.0 {
                let own = Mat::from_fn(3, sum.ncols(), |c, k| limits.moves.at(3 * v + c, k));
                let forces = product(Mat::from_fn(3, 3, |i, j| hessian[(i, j)]).as_ref(), own.as_ref());
                *sum += product(own.transpose(), forces.as_ref());
            }
        }
    }
}
