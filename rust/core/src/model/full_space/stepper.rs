//! Stand-alone steps of a full-space body from any start to any rig shape, for measurements.

use std::sync::Arc;

use super::FullSpaceModel;
use super::step::FullSpaceMethod;
use crate::inputs::settings::{SimulationParams, StepInput};
use crate::solve::Outcome;
use crate::stepping::method::{Method, last};
use crate::stepping::stepper::Stepper;
use crate::{Result, check};

/// Report of a step.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullSpaceReport {
    /// Iterations.
    pub iterations: u32,
    /// Evaluations of the energy in line searches.
    pub trials: u32,
    /// Distance to the solution: root mean square over the mass, as a share of the diagonal.
    pub residual: f64,
    /// Elastic energy at the end, J.
    pub energy: f64,
}

/// Stepper of a full-space body without a rig, driven by given rig positions of its vertices.
///
/// The same inputs give the same bits for any number of threads.
pub struct FullSpaceStepper {
    model: Arc<FullSpaceModel>,
    stepper: Stepper<FullSpaceMethod>,
}

impl FullSpaceStepper {
    /// A stepper before its first step.
    pub fn new(model: Arc<FullSpaceModel>) -> Self {
        let stepper = Stepper::new(Box::new(FullSpaceMethod::new(model.clone())));
        Self { model, stepper }
    }

    /// Restarts at rest: n x 3 rig positions of the vertices, and admissible displacements.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::NotFinite`](crate::Error::NotFinite) or
    /// [`Error::Range`](crate::Error::Range).
    pub fn reset(&mut self, posed: &[[f64; 3]], displacement: &[[f64; 3]]) -> Result<()> {
        let displacement = displacement.as_flattened();
        self.model.check_vertex_rows("displacement", displacement)?;
        let offsets = self.offsets(posed)?;
        self.stepper.reset(&StepInput { offsets: Some(&offsets), ..StepInput::default() })?;
        self.model.enter(displacement, self.stepper.method.solution());
        self.stepper.stay();
        Ok(())
    }

    /// Discards all curvature pairs: the next step then depends on positions alone.
    pub fn forget(&mut self) {
        self.stepper.method.descent.memory.clear();
    }

    /// One step to new rig positions of the vertices, n x 3; the first is a reset. `on_iteration` receives
    /// the incremental energy before each iteration, and can stop the step.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::NotFinite`](crate::Error::NotFinite),
    /// [`Error::Range`](crate::Error::Range), those of the settings,
    /// [`Error::Numerical`](crate::Error::Numerical) for overflow, and errors of `on_iteration`. The state
    /// is then unchanged.
    pub fn step(
        &mut self,
        posed: &[[f64; 3]],
        params: &SimulationParams,
        mut on_iteration: impl FnMut(u32, f64) -> Result<()> + Send,
    ) -> Result<FullSpaceReport> {
        params.check()?;
        let offsets = self.offsets(posed)?;
        let input = StepInput { offsets: Some(&offsets), ..StepInput::default() };
        let budget = (params.max_iterations, params.tolerance);
        let mut trials = 0;
        let report = self.stepper.step_by(&input, params, &mut |method, state| {
            let Outcome { iterations, length, trials: more, .. } =
                method.descend(last(state), budget, &mut on_iteration)?;
            trials += more;
            Ok((iterations, length))
        })?;
        let (iterations, residual) = (report.iterations, report.residual);
        Ok(FullSpaceReport { iterations, trials, residual, energy: report.energy })
    }

    /// Displacements relative to the rig, n x 3, m.
    pub fn displacement(&self) -> Vec<[f64; 3]> {
        self.stepper.method.coefficients().as_chunks::<3>().0.to_vec()
    }

    /// Positions of the vertices after the last step, n x 3, m.
    pub fn positions(&self) -> Vec<[f64; 3]> {
        let mut positions = self.displacement();
        let [.., offsets] = &self.stepper.state().offset_path;
        for (row, &vertex) in self.model.vertices.iter().enumerate() {
            let rest = self.model.mesh().vertices()[vertex as usize];
            let moved = offsets.get(row).copied().unwrap_or_default();
            (0..3).for_each(|c| positions[vertex as usize][c] += rest[c] + moved[c]);
        }
        positions
    }

    /// Offsets of rig positions from the rest positions.
    fn offsets(&self, posed: &[[f64; 3]]) -> Result<Vec<f64>> {
        check::length("posed", self.model.vertices.len(), posed.len())?;
        check::finite("posed", posed.as_flattened(), 3)?;
        let places = posed.as_flattened().iter().zip(self.model.mesh().vertices().as_flattened());
        Ok(places.map(|(posed, rest)| posed - rest).collect())
    }
}
