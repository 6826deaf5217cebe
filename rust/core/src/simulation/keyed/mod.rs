//! Motion through keyed shapes with least effort `[MOR sec. 5]`: space-time optimisation of forces on the
//! coordinates, and feedback gains for disturbed shots.

mod course;
mod plan;
pub(crate) mod tracking;

use std::sync::Arc;

use course::{Course, Line};
pub use plan::KeyedParams;
use plan::{Plan, Want};
pub use tracking::Tracking;

use crate::inputs::settings::{SimulationParams, StepInput};
use crate::model::Model;
use crate::model::reduced::ReducedModel;
use crate::model::reduced::step::ReducedMethod;
use crate::simulation::Simulation;
use crate::solve::Objective;
use crate::{Error, Progress, Result, check};

/// Smallest effort; below, rounding errors dominate.
const LEAST_EFFORT: f64 = 1e-15;

/// Target at the end of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Index of the step that ends at the key, from 0.
    pub frame: usize,
    /// Target of the key.
    pub aim: Aim,
    /// Weight of the miss; usually 1.
    pub weight: f64,
}

/// Kinds of targets.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// The displacement of these coefficients, r, in the mass norm.
    Shape(Vec<f64>),
    /// The displacement of one vertex, metres.
    Vertex {
        /// Index of the vertex.
        vertex: u32,
        /// Displacement from the rig position.
        displacement: [f64; 3],
    },
}

impl std::fmt::Display for Aim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shape(coefficients) => write!(f, "shape, {} coefficients", coefficients.len()),
            Self::Vertex { vertex, .. } => write!(f, "vertex {vertex}"),
        }
    }
}

/// A motion through keys, and its control forces.
///
/// ```
/// use jounce::inputs::{SimulationParams, StepInput};
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::model::Model;
/// use jounce::model::reduced::{ReducedExtras, ReducedModel};
/// use jounce::operators::Stitches;
/// use jounce::simulation::Simulation;
/// use jounce::simulation::keyed::{Aim, Key, KeyedParams};
/// use jounce::subspace::{LinearProblem, Restraint};
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 8, &progress)?;
/// let [young, poisson, density] = [1e5, 0.3, 1000.0].map(Field::Uniform);
/// let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
/// let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < 0.1).collect();
/// let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
/// let problem = LinearProblem::new(&mesh, &rubber, &restraint, &Stitches::none(&mesh), &progress)?;
/// let basis = problem.lowest(2, &progress)?.basis();
/// let bar = ReducedModel::new(&mesh, &rubber, &basis, &ReducedExtras::default(), &progress)?;
/// let mut simulation = Simulation::new(Model::Reduced(bar.into()), SimulationParams::default())?;
/// simulation.reset(None)?;
/// let keys = [Key { frame: 5, aim: Aim::Shape(vec![0.1, 0.0]), weight: 1.0 }];
/// let motion = simulation.keyed(&[StepInput::default(); 6], &keys, &KeyedParams::default(), &progress)?;
/// // Played with its forces, the body ends at the coefficients of the motion.
/// for force in motion.forces.chunks_exact(2) {
///     simulation.step_with(&StepInput { force: Some(force), ..StepInput::default() }, &progress)?;
/// }
/// let apart = simulation.coefficients()[0] - motion.coefficients[10];
/// assert!(apart.abs() < 1e-6, "{apart}");
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct KeyedMotion {
    /// Generalised control forces of the frames, f x r, for [`StepInput::force`]; the given forces come on
    /// top.
    pub forces: Vec<f64>,
    /// Coefficients at the ends of the frames, f x r.
    pub coefficients: Vec<f64>,
    /// Miss of each key as a share of the diagonal: root mean square over the mass for a shape.
    pub misses: Vec<f64>,
    /// Iterations.
    pub iterations: u32,
    /// Change of the forces in the last iteration, to compare with the tolerance.
    pub residual: f64,
    body: Arc<ReducedModel>,
    line: Line,
    /// The unit of forces, m kg^(1/2) / s^2.
    push: f64,
    /// Seconds a substep.
    h: f64,
}

impl Simulation {
    /// Motion from the current state through keys with least effort: forces u on the coordinates, one a
    /// frame, that minimise
    ///
    /// ```text
    /// 1/2 sum_keys w |x - x*|^2 / size^2 + e / 2f sum_f |u_f|^2 / push^2
    /// ```
    /// with `|u|^2 = f'M^-1 f` for the corresponding forces on vertices, and `push = size omega^2`. The
    /// shot is the simulation under these forces, including substeps, damping and gravity. The gradient
    /// comes from the discrete adjoint, search directions from L-BFGS on the Gauss-Newton metric
    /// `[MOR sec. 5]`. inputs: one pose a frame, with additional forces. The simulation's state is
    /// unchanged.
    ///
    /// ```
    /// use jounce::inputs::{StepInput, SimulationParams};
    /// use jounce::material::{Field, Law, Material};
    /// use jounce::mesh::{SurfaceMesh, lattice};
    /// use jounce::model::Model;
    /// use jounce::model::reduced::{ReducedExtras, ReducedModel};
    /// use jounce::operators::Stitches;
    /// use jounce::simulation::Simulation;
    /// use jounce::simulation::keyed::{Aim, Key, KeyedParams};
    /// use jounce::subspace::{LinearProblem, Restraint};
    /// use jounce::Progress;
    ///
    /// let progress = Progress::default();
    /// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 8, &progress)?;
    /// let [young, poisson, density] = [1e5, 0.3, 1000.0].map(Field::Uniform);
    /// let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
    /// let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < 0.1).collect();
    /// let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
    /// let none = Stitches::none(&mesh);
    /// let problem = LinearProblem::new(&mesh, &rubber, &restraint, &none, &progress)?;
    /// let basis = problem.lowest(3, &progress)?.basis();
    /// let bar = ReducedModel::new(&mesh, &rubber, &basis, &ReducedExtras::default(), &progress)?;
    ///
    /// let mut simulation = Simulation::new(Model::Reduced(bar.into()), SimulationParams::default())?;
    /// simulation.reset(None)?;
    /// let keys = [Key { frame: 9, aim: Aim::Shape(vec![0.1, 0.0, 0.0]), weight: 1.0 }];
    /// let inputs = [StepInput::default(); 10];
    /// let motion = simulation.keyed(&inputs, &keys, &KeyedParams::default(), &progress)?;
    /// assert!(motion.misses[0] < 0.01);
    /// # Ok::<(), jounce::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for models other than reduced ones, and with drag; [`Error::Empty`] without
    /// frames or keys; [`Error::Index`], [`Error::Shape`], [`Error::NotFinite`] and [`Error::Range`] for an
    /// invalid key or setting; as [`Simulation::step_with`].
    pub fn keyed(
        &self,
        inputs: &[StepInput<'_>],
        keys: &[Key],
        params: &KeyedParams,
        progress: &Progress,
    ) -> Result<KeyedMotion> {
        let model = self.keyed_model()?;
        progress.enter("keys", 0.0, 1.0)?;
        let mut plan = self.plan(model, (inputs, keys), params, progress)?;
        let rows = plan.size().div_ceil(3);
        let mut forces = vec![[0.0; 3]; rows];
        // Invalid input is reported at once.
        plan.play(&forces.as_flattened()[..plan.size()])?;
        let outcome = plan.descend(&mut forces, params)?;
        let forces = &forces.as_flattened()[..plan.size()];
        plan.play(forces)?;
        let misses = plan.misses();
        let settings = self.params();
        let mut motion = KeyedMotion {
            forces: Vec::new(),
            coefficients: Vec::new(),
            misses: shares(keys, &misses, model.data.rank()),
            iterations: outcome.iterations,
            residual: outcome.length,
            body: model.clone(),
            line: plan.course.line,
            push: plan.push,
            h: settings.dt / f64::from(settings.substeps),
        };
        motion.tell(forces);
        Ok(motion)
    }

    /// Objective of [`Simulation::keyed`] at generalised forces on the coefficients, f x r, and its
    /// gradient, f x r.
    ///
    /// For tests and tools only.
    ///
    /// # Errors
    /// As [`Simulation::keyed`], and [`Error::Shape`] for the forces.
    pub fn keyed_objective(
        &self,
        (inputs, keys): (&[StepInput<'_>], &[Key]),
        params: &KeyedParams,
        forces: &[f64],
    ) -> Result<(f64, Vec<f64>)> {
        let (model, silent) = (self.keyed_model()?, Progress::default());
        let mut plan = self.plan(model, (inputs, keys), params, &silent)?;
        let (data, push) = (&model.data, plan.push);
        let r = data.basis.count();
        check::shape("forces", &[inputs.len(), r], forces.len())?;
        let mut inner = vec![[0.0; 3]; plan.size().div_ceil(3)];
        let mut gradient = inner.clone();
        let frames = inner.as_flattened_mut().chunks_exact_mut(data.rank());
        frames.zip(forces.chunks_exact(r)).for_each(|(own, force)| data.enter_force(force, own));
        inner.as_flattened_mut().iter_mut().for_each(|force| *force /= push);
        let value = plan.evaluate(&inner, &mut gradient);
        let mut outer = vec![0.0; forces.len()];
        let slopes = gradient.as_flattened().chunks_exact(data.rank());
        outer.chunks_exact_mut(r).zip(slopes).for_each(|(outer, slope)| data.leave(slope, outer));
        outer.iter_mut().for_each(|slope| *slope /= push);
        plan.failure.map_or(Ok((value.energy, outer)), Err)
    }

    fn keyed_model(&self) -> Result<&Arc<ReducedModel>> {
        let why = "only a reduced model has forces on few coordinates; make one of its modes";
        let unsupported = Error::Unsupported { what: "keys", why };
        if let Model::Reduced(model) = self.model() { Ok(model) } else { Err(unsupported) }
    }

    fn plan<'a>(
        &self,
        model: &'a Arc<ReducedModel>,
        (inputs, keys): (&'a [StepInput<'a>], &[Key]),
        params: &KeyedParams,
        progress: &'a Progress,
    ) -> Result<Plan<'a>> {
        check(model, inputs, keys, params)?;
        let (settings, start) = (*self.params(), self.save_state());
        let method = ReducedMethod::new(model.clone());
        let course = Course::new((model, method), (start, inputs), settings, progress);
        let wants = keys.iter().flat_map(|key| model.wants(key)).collect();
        Ok(Plan::new(course, wants, (params.effort / inputs.len() as f64, model.push(&settings))))
    }
}

impl KeyedMotion {
    /// Writes forces and coordinates in terms of the basis.
    fn tell(&mut self, forces: &[f64]) {
        let data = &self.body.data;
        let mut coefficients = vec![0.0; data.basis.count()];
        for (frame, force) in forces.chunks_exact(data.rank()).enumerate() {
            let force: Vec<f64> = force.iter().map(|v| self.push * v).collect();
            self.forces.extend(data.leave_force(&force));
            data.leave(self.line.before(frame + 1, 0), &mut coefficients);
            self.coefficients.extend_from_slice(&coefficients);
        }
    }
}

impl ReducedModel {
    /// Unit of forces: pull of the lowest deforming mode at a displacement of one diagonal, m kg^(1/2) /
    /// s^2.
    fn push(&self, params: &SimulationParams) -> f64 {
        let omega = std::f64::consts::TAU * self.data.frequency;
        // A body without a lowest frequency uses 1 rad/s.
        let square = if omega > 0.0 && omega.is_finite() { omega * omega } else { 1.0 };
        self.unit() * params.stiffness * square
    }

    /// Target values of a key in the coordinates.
    fn wants(&self, key: &Key) -> Vec<Want> {
        let (data, rank) = (&self.data, self.data.rank());
        let (frame, weight) = (key.frame, key.weight.sqrt());
        match &key.aim {
            Aim::Shape(coefficients) => {
                let (goals, share) = (data.enter(coefficients), self.unit().recip());
                let row = |k: usize| (0..rank).map(|j| if j == k { share } else { 0.0 }).collect();
                (0..rank).map(|k| Want { frame, row: row(k), goal: share * goals[k], weight }).collect()
            }
            Aim::Vertex { vertex, displacement } => {
                let share = data.mesh.diagonal().recip();
                let row = |c: usize| -> Vec<f64> {
                    let own = data.basis.columns.row(3 * *vertex as usize + c);
                    let moved =
                        |k: usize| own.iter().zip(data.turn.col_as_slice(k)).map(|(u, turn)| u * turn);
                    (0..rank).map(|k| share * moved(k).sum::<f64>()).collect()
                };
                let want = |c: usize| Want { frame, row: row(c), goal: share * displacement[c], weight };
                (0..3).map(want).collect()
            }
        }
    }
}

/// Miss of each key.
fn shares(keys: &[Key], misses: &[f64], rank: usize) -> Vec<f64> {
    let mut rest = misses;
    let share = |key: &Key| {
        let own;
        (own, rest) = rest.split_at(if matches!(key.aim, Aim::Shape(_)) { rank } else { 3 });
        own.iter().map(|miss| miss * miss).sum::<f64>().sqrt()
    };
    keys.iter().map(share).collect()
}

fn check(model: &ReducedModel, inputs: &[StepInput<'_>], keys: &[Key], params: &KeyedParams) -> Result<()> {
    for (what, empty) in [("frames", inputs.is_empty()), ("keys", keys.is_empty())] {
        if empty {
            return Err(Error::Empty { what });
        }
    }
    if inputs.iter().any(|input| input.drag.is_some()) {
        let why = "motion through keys knows no medium; leave it out";
        return Err(Error::Unsupported { what: "drag", why });
    }
    let positive = |what, got: f64| {
        let expected = "a positive number";
        if got.is_finite() && got > 0.0 { Ok(()) } else { Err(Error::Range { what, expected, got }) }
    };
    positive("effort", params.effort)?;
    if params.effort < LEAST_EFFORT {
        return Err(Error::Range {
            what: "effort",
            expected: "a number of 1e-15 or more",
            got: params.effort,
        });
    }
    positive("tolerance", params.tolerance)?;
    check::range("max_iterations", "a positive number", 0.0, params.max_iterations != 0)?;
    for (element, key) in keys.iter().enumerate() {
        let outside = |what, index: i64, count| Err(Error::Index { what, element, index, count });
        if key.frame >= inputs.len() {
            return outside("keys", key.frame as i64, inputs.len());
        }
        positive("weight", key.weight)?;
        match &key.aim {
            Aim::Shape(coefficients) => model.data.check_coefficients("coefficients", coefficients)?,
            Aim::Vertex { vertex, displacement } => {
                if *vertex as usize >= model.data.mass.len() {
                    return outside("vertex", i64::from(*vertex), model.data.mass.len());
                }
                if let Some(&value) = displacement.iter().find(|x| !x.is_finite()) {
                    return Err(Error::NotFinite { what: "displacement", element, value });
                }
            }
        }
    }
    Ok(())
}
