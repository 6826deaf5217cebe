//! Forward simulation of a shot under control forces, with the derivatives of its frame ends.

use faer::Mat;
use faer::linalg::solvers::{PartialPivLu, Solve};

use crate::inputs::settings::{HISTORY, SimulationParams, StepInput};
use crate::math::dense::product;
use crate::model::reduced::ReducedModel;
use crate::model::reduced::step::ReducedMethod;
use crate::stepping::method::Method;
use crate::stepping::state::State;
use crate::stepping::stepper::Stepper;
use crate::{Progress, Result};

/// A shot of f frames from a state, s substeps each, under control forces in addition to its input; k
/// coordinates.
pub(super) struct Course<'a> {
    model: &'a ReducedModel,
    stepper: Stepper<ReducedMethod>,
    start: State,
    inputs: &'a [StepInput<'a>],
    params: SimulationParams,
    pub(super) progress: &'a Progress,
    pub(super) line: Line,
}

/// A simulated trajectory, and the derivatives of its substeps.
#[derive(Clone)]
pub(super) struct Line {
    /// Coordinates of the substeps before the start, older first, and of all following ones.
    pub(super) places: Vec<Vec<f64>>,
    /// Factored derivative of each substep's equation by the end coordinates, k x k.
    factors: Vec<PartialPivLu<f64>>,
    /// Factors on the coordinates one, two, ... substeps ago in the right-hand side, each k x k.
    recall: [Mat<f64>; HISTORY],
    substeps: usize,
}

impl<'a> Course<'a> {
    pub(super) fn new(
        (model, method): (&'a ReducedModel, ReducedMethod),
        (start, inputs): (State, &'a [StepInput<'a>]),
        params: SimulationParams,
        progress: &'a Progress,
    ) -> Self {
        let line = Line {
            places: Vec::new(),
            factors: Vec::new(),
            recall: std::array::from_fn(|_| Mat::new()),
            substeps: params.substeps as usize,
        };
        Self { model, stepper: Stepper::new(Box::new(method)), start, inputs, params, progress, line }
    }

    /// Number of coordinates k.
    pub(super) fn rank(&self) -> usize {
        self.model.data.rank()
    }

    /// Number of frames f.
    pub(super) fn frames(&self) -> usize {
        self.inputs.len()
    }

    /// Simulates the shot under forces on the coordinates, f x k.
    ///
    /// # Errors
    /// As a step of the simulation.
    pub(super) fn play(&mut self, forces: &[f64]) -> Result<()> {
        let (rank, params) = (self.rank(), &self.params);
        let Self { model, stepper, line, .. } = self;
        stepper.restore(&self.start)?;
        line.places.clear();
        line.factors.clear();
        line.places.extend(self.start.reduced.iter().map(|rows| rows.as_flattened()[..rank].to_vec()));
        for (input, force) in self.inputs.iter().zip(forces.chunks_exact(rank)) {
            let mut force = model.data.leave_force(force);
            let own = input.force.unwrap_or_default();
            force.iter_mut().zip(own).for_each(|(force, own)| *force += own);
            let input = StepInput { force: Some(&force), ..*input };
            stepper.step_by(&input, params, &mut |method, state| {
                let factor = method.solve_to_the_end(&state.reduced[HISTORY - 1], self.progress)?;
                line.factors.push(factor);
                line.places.push(method.solution().as_flattened()[..rank].to_vec());
                Ok((1, 0.0))
            })?;
        }
        let (inertia, damping) = stepper.method.inertia_and_damping(params);
        line.recall = params.integrator.recall().map(|[momentum, kept]| {
            let mass = |i: usize, j: usize| if i == j { momentum * inertia } else { 0.0 };
            Mat::from_fn(rank, rank, |i, j| mass(i, j) + kept * damping[(i, j)])
        });
        Ok(())
    }
}

impl Line {
    /// Number of coordinates k.
    pub(super) fn rank(&self) -> usize {
        self.recall[0].nrows()
    }

    /// Number of frames f.
    pub(super) fn frames(&self) -> usize {
        self.factors.len() / self.substeps
    }

    /// Number of previous substeps with an influence on the next.
    pub(super) fn depth(&self) -> usize {
        HISTORY - self.recall.iter().rev().take_while(|recall| recall.norm_max() == 0.0).count()
    }

    /// Coordinates some substeps before the start of a frame; frame f is the end of the shot.
    pub(super) fn before(&self, frame: usize, substeps: usize) -> &[f64] {
        &self.places[HISTORY - 1 + frame * self.substeps - substeps]
    }

    /// Derivatives by the forces, f k x c, of c numbers that depend on the frame ends: the discrete
    /// adjoint.
    ///
    /// `pull` adds the derivatives of the c numbers by the coordinates at the end of a frame. With the
    /// equation `g_n(y_n) = sum_j C_j y_(n-j) + u` of a substep and H its derivative,
    /// `H_n l_n = p_n + sum_j C_j l_(n+j)`, and the derivative by u is the sum of l over the frame's
    /// substeps.
    pub(super) fn adjoint(&self, count: usize, pull: impl Fn(usize, &mut Mat<f64>)) -> Mat<f64> {
        let (rank, frames) = (self.rank(), self.frames());
        let mut slopes = Mat::zeros(frames * rank, count);
        // Adjoints of the following substeps, nearest first.
        let mut after: [Mat<f64>; HISTORY] = std::array::from_fn(|_| Mat::zeros(rank, count));
        for frame in (0..frames).rev() {
            for substep in (0..self.substeps).rev() {
                let mut own = Mat::zeros(rank, count);
                for (recall, later) in self.recall.iter().zip(&after).take(self.depth()) {
                    own += product(recall.as_ref(), later.as_ref());
                }
                if substep + 1 == self.substeps {
                    pull(frame, &mut own);
                }
                self.factors[frame * self.substeps + substep].solve_in_place(&mut own);
                let mut sum = slopes.as_mut().subrows_mut(frame * rank, rank);
                sum += &own;
                after.rotate_right(1);
                after[0] = own;
            }
        }
        slopes
    }

    /// Derivatives of a frame's last substeps, newest first, by those before the frame and by the frame's
    /// force: m k x m k and m k x k.
    pub(super) fn linearised(&self, frame: usize) -> [Mat<f64>; 2] {
        let (rank, depth) = (self.rank(), self.depth());
        let mut state = Mat::<f64>::identity(depth * rank, depth * rank);
        let mut force = Mat::<f64>::zeros(depth * rank, rank);
        for factor in &self.factors[frame * self.substeps..][..self.substeps] {
            [state, force] = [(&state, 0.0), (&force, 1.0)].map(|(from, own)| {
                let mut next = Mat::from_fn(rank, from.ncols(), |i, c| if i == c { own } else { 0.0 });
                for (j, recall) in self.recall[..depth].iter().enumerate() {
                    next += product(recall.as_ref(), from.subrows(j * rank, rank));
                }
                factor.solve_in_place(&mut next);
                let older = |i: usize, c: usize| if i < rank { next[(i, c)] } else { from[(i - rank, c)] };
                Mat::from_fn(depth * rank, from.ncols(), older)
            });
        }
        [state, force]
    }
}
