//! The elastic energy in the coordinates of a basis.

use faer::Mat;

use super::cubic::CubicScratch;
use super::limit_energy::LimitScratch;
use super::{Quadratic, ReducedModel};
use crate::kinematics::rig_rows::{BIND, set_pose};
use crate::math::dense::dot;
use crate::math::rows::Rows;
use crate::potentials::elastic::samples::{Keep, SampleScratch};
use crate::rig::Pose;
use crate::{Result, check};

/// Pose-dependent part of the energy, and scratch of its evaluation.
pub(crate) struct Elastic {
    pub(super) scratch: SampleScratch,
    cubic: Option<CubicScratch>,
    pub(super) limits: LimitScratch,
    /// Constant force of the rig's cell energy (with rest shapes that do not follow) and stitches, k.
    pull: Vec<f64>,
    /// Share of the bind shape in the rest shape.
    bind: f64,
    product: Vec<f64>,
    /// Coordinates of the last evaluation in this pose (NaN before the first), with energy and gradient.
    at: Vec<f64>,
    energy: f64,
    forces: Vec<f64>,
}

impl Elastic {
    pub(super) fn new(model: &ReducedModel) -> Self {
        let zeros = || vec![0.0; model.data.rank()];
        let (scratch, limits) = (model.samples.scratch(), LimitScratch::new(model));
        let cubic = model.cubic.as_ref().map(|cubic| cubic.scratch());
        let at = vec![f64::NAN; model.data.rank()];
        let (pull, product, forces) = (zeros(), zeros(), zeros());
        Self { scratch, cubic, limits, pull, bind: 0.0, product, at, energy: 0.0, forces }
    }

    /// Energy in the bind pose, without a stretch limit.
    pub(crate) fn unposed(model: &ReducedModel) -> Result<Self> {
        let (mut made, mut still) = (Self::new(model), vec![[0.0; 3]; model.data.handle_rows()]);
        let bones = model.data.bones;
        let bind = (bones > 0).then(|| vec![BIND; bones]);
        set_pose(&model.data.coordinates, bones, bind.as_deref(), &mut still)?;
        made.set_pose(model, &still, (1.0, None));
        Ok(made)
    }

    /// Sets a pose, 4 rows a handle, its share in the rest shape, and the stretch limit.
    pub(super) fn set_pose(
        &mut self,
        model: &ReducedModel,
        pose: &Rows,
        (pose_rest, stretch): (f64, Option<f64>),
    ) {
        self.at.fill(f64::NAN);
        self.limits.set_pose(model, pose, stretch);
        if model.cubic.is_none() {
            model.samples.set_pose(&mut self.scratch, pose, (pose_rest, f64::INFINITY));
        }
        self.bind = 1.0 - pose_rest;
        self.pull.fill(0.0);
        for (quadratic, share) in felt(model, self.bind) {
            quadratic.rig.project(pose.as_flattened(), &mut self.product);
            self.pull.iter_mut().zip(&self.product).for_each(|(pull, part)| *pull += share * part);
        }
    }

    /// Energy, J, relative to the energy of the rig alone, with stretch limits; writes the gradient.
    pub(crate) fn evaluate(&mut self, model: &ReducedModel, y: &[f64], gradient: &mut [f64]) -> f64 {
        if !self.is_at(y) {
            self.energy = self.evaluate_anew(model, y);
            self.at.copy_from_slice(y);
        }
        gradient.copy_from_slice(&self.forces);
        self.energy
    }

    fn evaluate_anew(&mut self, model: &ReducedModel, y: &[f64]) -> f64 {
        let gradient = &mut self.forces;
        let mut energy = match (&model.cubic, &mut self.cubic) {
            (Some(cubic), Some(scratch)) => cubic.evaluate(scratch, y, gradient),
            _ => model.samples.evaluate(&mut self.scratch, y, gradient),
        };
        let whole = model.data.quadratics().map(|quadratic| &quadratic.own);
        for quadratic in std::iter::once(&model.unseen).chain(whole) {
            quadratic.project(y, &mut self.product);
            energy += 0.5 * dot(y, &self.product);
            gradient.iter_mut().zip(&self.product).for_each(|(sum, part)| *sum += part);
        }
        gradient.iter_mut().zip(&self.pull).for_each(|(sum, part)| *sum += part);
        energy += self.limits.stretch(model, y, gradient);
        energy + dot(y, &self.pull)
    }

    /// `true` for the coordinates of the last evaluation.
    pub(super) fn is_at(&self, y: &[f64]) -> bool {
        self.at == y
    }

    /// Adds the second derivatives of the elements' energies at the last evaluation. `keep` maps the
    /// eigenvalues of each sample; polynomials ignore it.
    pub(super) fn add_hessian(&self, model: &ReducedModel, (factor, keep): (f64, Keep), sum: &mut Mat<f64>) {
        match (&model.cubic, &self.cubic) {
            (Some(cubic), Some(scratch)) => cubic.add_hessian(scratch, factor, sum),
            _ => model.samples.add_hessian(&self.scratch, (factor, keep), |_| true, sum),
        }
    }

    /// Cell and stitch energy of the rig alone, J.
    pub(super) fn of_rig(&self, model: &ReducedModel, pose: &Rows) -> f64 {
        let of = |(quadratic, share): (&Quadratic, f64)| {
            let mut sum = 0.0;
            for (j, column) in quadratic.alone.col_iter().enumerate() {
                for c in 0..3 {
                    let image: f64 = column.iter().zip(pose).map(|(entry, row)| entry * row[c]).sum();
                    sum += pose[j][c] * image;
                }
            }
            0.5 * share * share * sum
        };
        felt(model, self.bind).map(of).sum()
    }
}

impl ReducedModel {
    /// Elastic energy of the body, in J, and its gradient by the coefficients, r.
    ///
    /// `pose_rest` in [0, 1] as in the settings. For tests and tools only.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Pose`](crate::Error::Pose) or
    /// [`Error::Range`](crate::Error::Range) for the arguments.
    pub fn elastic_energy(
        &self,
        coefficients: &[f64],
        pose: Option<&Pose>,
        pose_rest: f64,
    ) -> Result<(f64, Vec<f64>)> {
        let data = &self.data;
        data.check_coefficients("coefficients", coefficients)?;
        check::range("pose_rest", "a number in [0, 1]", pose_rest, (0.0..=1.0).contains(&pose_rest))?;
        let mut handles = vec![[0.0; 3]; data.handle_rows()];
        set_pose(&data.coordinates, data.bones, pose, &mut handles)?;
        let y = data.enter(coefficients);
        let mut elastic = Elastic::new(self);
        elastic.set_pose(self, &handles, (pose_rest, None));
        let mut gradient = vec![0.0; y.len()];
        let energy = elastic.evaluate(self, &y, &mut gradient) + elastic.of_rig(self, &handles);
        Ok((energy, data.leave_force(&gradient)))
    }
}

/// The quadratic energies with their share of the rig's pose; stitches have no rest shape.
fn felt(model: &ReducedModel, bind: f64) -> impl Iterator<Item = (&Quadratic, f64)> {
    let data = &model.data;
    let twisting = data.twisting.iter().map(move |twisting| (twisting, bind)).filter(|(_, bind)| *bind > 0.0);
    twisting.chain(data.stitches.iter().map(|stitches| (stitches, 1.0)))
}
