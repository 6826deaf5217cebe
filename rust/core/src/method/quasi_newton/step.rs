//! Steps of a full-space body.

use std::sync::Arc;

use super::FullSpaceModel;
use super::check_length;
use super::elements::Elements;
use super::newton::Newton;
use super::objective::{Incremental, Terms};
use crate::math::rows::{Rows, combine};
use crate::math::{SparseCholesky, VertexRoom, on_pool};
use crate::method::SimulationParams;
use crate::method::history::{felt_acceleration, past_acceleration, remember};
use crate::method::settings::HISTORY;
use crate::solve::{Descent, Objective, Outcome};
use crate::{Error, Result};

/// Pairs of curvature that are learnt from `[QN sec. 4.2]`.
const PAIRS: usize = 5;

/// What is far for a descent to start at, root mean square as a share of the diagonal.
const FAR: f64 = 0.1;

/// How the energy of a step is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Minimiser {
    /// L-BFGS with as many pairs on the constant metric; none is projective dynamics with a line search.
    QuasiNewton {
        /// Most pairs of a step and the change of the gradient.
        pairs: usize,
    },
    /// Newton's method on the projected Hessian: many times slower an iteration, and the reference.
    Newton,
}

impl Default for Minimiser {
    fn default() -> Self {
        Self::QuasiNewton { pairs: PAIRS }
    }
}

/// What happened in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullSpaceReport {
    /// Iterations.
    pub iterations: u32,
    /// Evaluations of the energy in line searches.
    pub trials: u32,
    /// Change in the last iteration: root mean square displacement over the mass, as a share of the diagonal.
    pub residual: f64,
    /// Elastic energy at the end, J.
    pub energy: f64,
}

/// The state of a full-space body and the memory of its steps; what its metric needs is kept between steps.
///
/// A step minimises `a_0 / (2 h^2) |x - y|_M^2 + s E(x) + damping` over the displacements u of `x = rig + u`
/// that the model's restraint allows. The same inputs give the same bits for any number of threads.
pub struct FullSpaceStepper {
    model: Arc<FullSpaceModel>,
    minimiser: Minimiser,
    elements: Elements,
    /// Those of the bind shape, once a pose has bent the others.
    rest: Option<Elements>,
    metric: Option<([f64; 2], SparseCholesky)>,
    room: VertexRoom,
    descent: Descent,
    terms: Terms,
    positions: Vec<[f64; 3]>,
    beyond: Vec<[f64; 3]>,
    started: bool,
    /// Of the last steps, older first.
    displacements: [Vec<[f64; 3]>; HISTORY],
    rigs: [Vec<[f64; 3]>; HISTORY],
    u: Vec<[f64; 3]>,
}

impl FullSpaceStepper {
    /// A body that has not started yet.
    pub fn new(model: Arc<FullSpaceModel>, minimiser: Minimiser) -> Self {
        let (rows, free) = (model.vertices.len(), model.free);
        let pairs = match minimiser {
            Minimiser::QuasiNewton { pairs } => pairs,
            Minimiser::Newton => 0,
        };
        Self {
            minimiser,
            elements: model.elements.clone(),
            rest: None,
            metric: None,
            room: VertexRoom::default(),
            descent: Descent::new(free, pairs),
            terms: Terms::new(rows, free),
            positions: vec![[0.0; 3]; rows],
            beyond: vec![[0.0; 3]; rows],
            started: false,
            displacements: std::array::from_fn(|_| vec![[0.0; 3]; free]),
            rigs: std::array::from_fn(|_| vec![[0.0; 3]; rows]),
            u: vec![[0.0; 3]; free],
            model,
        }
    }

    /// Starts anew, at rest: n x 3 vertices as the rig has them, and the displacements added to them, which
    /// must be allowed.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`].
    pub fn reset(&mut self, posed: &[[f64; 3]], displacement: &[[f64; 3]]) -> Result<()> {
        self.check("posed", posed)?;
        self.check("displacement", displacement)?;
        let vertices = &self.model.vertices;
        for rig in &mut self.rigs {
            rig.iter_mut().zip(vertices).for_each(|(row, &vertex)| *row = posed[vertex as usize]);
        }
        for u in &mut self.displacements {
            u.iter_mut().zip(vertices).for_each(|(row, &vertex)| *row = displacement[vertex as usize]);
        }
        self.descent.memory.clear();
        self.started = true;
        Ok(())
    }

    /// Drops the curvature that steps have learnt: the next one then depends on positions alone.
    pub fn forget(&mut self) {
        self.descent.memory.clear();
    }

    /// One implicit step of `dt / substeps` to the vertices as the rig has them then, n x 3; the first is a
    /// reset. `heard` is told the incremental energy before each iteration, and can stop the step.
    ///
    /// Of the settings, the limits of displacement and stretch are not obeyed. Damping is that of a Rayleigh
    /// damper: the ratio holds at the lowest frequency of the metric and, unless nothing restrains the body,
    /// three times it.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`], those of the settings, [`Error::Numerical`] if numbers
    /// overflow, and what `heard` returns. The state then stays as it was.
    pub fn step(
        &mut self,
        posed: &[[f64; 3]],
        params: &SimulationParams,
        heard: impl FnMut(u32, f64) -> Result<()> + Send,
    ) -> Result<FullSpaceReport> {
        params.check()?;
        self.check("posed", posed)?;
        if !self.started {
            self.reset(posed, &vec![[0.0; 3]; posed.len()])?;
        }
        self.prepare(posed, params)?;
        self.aim(params);
        let (outcome, energy) = self.minimise(params, heard)?;
        if !(outcome.length.is_finite() && energy.is_finite()) {
            let why = "the flesh moves too far for numbers; lower the step or the forces".to_owned();
            return Err(Error::Numerical { what: "step", why });
        }
        remember(&mut self.displacements, &self.u);
        remember(&mut self.rigs, &self.terms.rig);
        let (iterations, trials) = (outcome.iterations, outcome.trials);
        Ok(FullSpaceReport { iterations, trials, residual: outcome.length, energy })
    }

    /// What the rig and the settings say of the step: rest shapes and the metric.
    fn prepare(&mut self, posed: &[[f64; 3]], params: &SimulationParams) -> Result<()> {
        let terms = &mut self.terms;
        terms.rig.iter_mut().zip(&self.model.vertices).for_each(|(row, &v)| *row = posed[v as usize]);
        let bent = params.pose_rest > 0.0;
        if bent || self.rest.is_some() {
            let rest = self.rest.get_or_insert_with(|| self.model.elements.clone());
            self.elements.follow(rest, &terms.rig, params.pose_rest);
        }
        let h = params.dt / f64::from(params.substeps);
        let (acceleration, velocity) = (params.integrator.acceleration(), params.integrator.velocity());
        terms.inertia = acceleration[0] / (h * h);
        terms.stiffness = params.stiffness;
        terms.pose_rest = params.pose_rest;
        terms.drag = self.model.damping(params).map(|part| part * velocity[0] / h);
        let key = terms.metric();
        if self.metric.as_ref().is_none_or(|(known, _)| *known != key) {
            self.metric = Some((key, self.model.metric(key[0], key[1])?));
            self.descent.memory.clear();
        }
        Ok(())
    }

    /// Where inertia, gravity and damping want the flesh, and where its descent starts.
    fn aim(&mut self, params: &SimulationParams) {
        let h = params.dt / f64::from(params.substeps);
        let (acceleration, velocity) = (params.integrator.acceleration(), params.integrator.velocity());
        let terms = &mut self.terms;
        let [.., older, last] = &self.displacements;
        let felt = &mut self.beyond[..self.model.free];
        past_acceleration(&self.displacements, &acceleration, &mut terms.target);
        felt_acceleration(&self.rigs, &terms.rig, &acceleration, params.strength, felt);
        let mut squares = 0.0;
        for row in 0..last.len() {
            for c in 0..3 {
                let kept = last[row][c] - terms.target[row][c] / acceleration[0];
                let push = (h * h * params.gravity[c] - felt[row][c]) / acceleration[0];
                squares += self.model.mass[row] * push * push;
                self.u[row][c] = kept;
                terms.target[row][c] = kept + push;
                let velocity = velocity[1] / velocity[0] * (last[row][c] - older[row][c]);
                terms.damped[row][c] = last[row][c] - velocity;
            }
        }
        // A constraint allows what was allowed before, which inertia of the rig alone is not; and where
        // forces would take the flesh far off before it resists, what was before is nearer.
        if self.model.constraint.is_none() && squares.sqrt() < FAR * self.model.unit() {
            self.u.copy_from_slice(&terms.target);
        }
    }

    fn minimise(
        &mut self,
        params: &SimulationParams,
        mut heard: impl FnMut(u32, f64) -> Result<()> + Send,
    ) -> Result<(Outcome, f64)> {
        let Some((_, factor)) = &self.metric else { return Ok((Outcome::default(), 0.0)) };
        let mut energy = Incremental {
            model: &self.model,
            elements: &mut self.elements,
            terms: &self.terms,
            factor,
            room: &mut self.room,
            positions: &mut self.positions,
            beyond: &mut self.beyond,
        };
        let (descent, u) = (&mut self.descent, &mut self.u);
        let budget = (params.max_iterations, params.tolerance);
        let minimiser = self.minimiser;
        let last = &self.displacements[HISTORY - 1];
        on_pool(move || {
            energy.start(last, u);
            let outcome = match minimiser {
                Minimiser::Newton => {
                    let mut newton = Newton::new(&mut energy, |value| value.max(0.0));
                    descent.minimise(&mut newton, u, budget, &mut heard)?
                }
                Minimiser::QuasiNewton { .. } => {
                    let outcome = descent.minimise(&mut energy, u, budget, &mut heard)?;
                    if outcome.stalled {
                        finish(descent, &mut energy, u, budget, outcome, heard)?
                    } else {
                        outcome
                    }
                }
            };
            let elastic = energy.elastic(u, &mut vec![[0.0; 3]; u.len()]);
            Ok((outcome, elastic))
        })
    }

    /// Displacements added to the rig, n x 3, m.
    pub fn displacement(&self) -> Vec<[f64; 3]> {
        let mut displacement = vec![[0.0; 3]; self.model.vertices.len()];
        for (&vertex, u) in self.model.vertices.iter().zip(&self.displacements[HISTORY - 1]) {
            displacement[vertex as usize] = *u;
        }
        displacement
    }

    /// Positions of the vertices after the last step, n x 3, m.
    pub fn positions(&self) -> Vec<[f64; 3]> {
        let mut positions = self.displacement();
        for (&vertex, rig) in self.model.vertices.iter().zip(&self.rigs[HISTORY - 1]) {
            (0..3).for_each(|c| positions[vertex as usize][c] += rig[c]);
        }
        positions
    }

    fn check(&self, what: &'static str, points: &[[f64; 3]]) -> Result<()> {
        check_length(what, self.model.vertices.len(), points.len())?;
        match points.as_flattened().iter().position(|x| !x.is_finite()) {
            Some(i) => Err(Error::NotFinite { what, element: i / 3, value: points[i / 3][i % 3] }),
            None => Ok(()),
        }
    }
}

impl Incremental<'_> {
    /// Takes a start that is far from where the flesh was back there, unless it is lower: forces or speed would
    /// take it further than it resists, and, where each step ends early, ever further.
    fn start(&mut self, last: &Rows, u: &mut Rows) {
        let mut gradient = vec![[0.0; 3]; u.len()];
        combine(&mut gradient, u, -1.0, last);
        if self.length(&gradient) > FAR {
            let far = self.evaluate(u, &mut gradient).energy;
            let near = self.evaluate(last, &mut gradient).energy;
            if near < far || far.is_nan() {
                u.copy_from_slice(last);
            }
        }
    }
}

/// Goes on by Newton's method where no direction of the metric leads down any more: with the magnitudes of
/// eigenvalues, which do better than projected ones far from a minimum `[AbsoluteNewton]`.
fn finish(
    descent: &mut Descent,
    energy: &mut Incremental<'_>,
    u: &mut [[f64; 3]],
    (max_iterations, tolerance): (u32, f64),
    so_far: Outcome,
    heard: impl FnMut(u32, f64) -> Result<()>,
) -> Result<Outcome> {
    descent.memory.clear();
    let rest = (max_iterations - so_far.iterations, tolerance);
    let outcome = match descent.minimise(&mut Newton::new(energy, f64::abs), u, rest, heard) {
        // Elements so distorted that their Hessians cannot be factored: what has been reached is kept.
        Err(Error::Numerical { .. }) => Outcome::default(),
        outcome => outcome?,
    };
    descent.memory.clear();
    Ok(Outcome {
        iterations: outcome.iterations + so_far.iterations,
        trials: outcome.trials + so_far.trials,
        length: if outcome.iterations > 0 { outcome.length } else { so_far.length },
        ..outcome
    })
}
