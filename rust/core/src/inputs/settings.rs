//! Settings of a simulation, input and reports of steps.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::inputs::drag::Drag;
use crate::inputs::pull::Pull;
use crate::inputs::shares::Shares;
use crate::rig::Pose;
use crate::{Error, Result, check};

/// Time discretisation; both integrators are unconditionally stable.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Integrator {
    /// First order: loses much energy, more with longer steps. The integrator of the paper.
    #[default]
    BackwardEuler,
    /// Second-order backward differences: little energy loss for steps short against the period, while
    /// unresolved fast motion is still damped.
    Bdf2,
}

impl Integrator {
    /// `h^2 d2x/dt2` at the new position as a sum of backward differences `x_i - x_(i-1)`, newest first.
    pub(crate) fn acceleration(self) -> [f64; HISTORY] {
        match self {
            Self::BackwardEuler => [1.0, -1.0, 0.0, 0.0],
            Self::Bdf2 => [2.25, -3.75, 1.75, -0.25],
        }
    }

    /// `h dx/dt`, in the same form.
    pub(crate) fn velocity(self) -> [f64; 2] {
        match self {
            Self::BackwardEuler => [1.0, 0.0],
            Self::Bdf2 => [1.5, -0.5],
        }
    }

    /// Factors on the positions one, two, ... substeps ago in `h^2 d2x/dt2` and in `h dx/dt`, with opposite
    /// sign.
    pub(crate) fn recall(self) -> [[f64; 2]; HISTORY] {
        let [inertia, speed] = [&self.acceleration()[..], &self.velocity()[..]];
        let of = |factors: &[f64], back: usize| factors.get(back).copied().unwrap_or(0.0);
        std::array::from_fn(|back| [inertia, speed].map(|all| of(all, back) - of(all, back + 1)))
    }
}

/// Number of stored curvature pairs of the default minimiser `[QN sec. 4.2]`.
const PAIRS: u32 = 5;

/// Minimiser of the energy of a step in the full space.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Minimiser {
    /// L-BFGS with a number of pairs on the constant metric; with zero pairs, projective dynamics with a
    /// line search.
    QuasiNewton {
        /// Number of curvature pairs.
        pairs: u32,
    },
    /// Newton's method on the projected Hessian: many times slower an iteration, the reference.
    Newton,
}

impl Default for Minimiser {
    fn default() -> Self {
        Self::QuasiNewton { pairs: PAIRS }
    }
}

/// Number of stored substeps.
pub(crate) const HISTORY: usize = 4;

/// Settings of a simulation; all may change between two steps.
///
/// ```
/// use jounce::inputs::{Integrator, SimulationParams};
///
/// let integrator = Integrator::Bdf2;
/// let lively = SimulationParams { integrator, damping: 0.05, ..SimulationParams::default() };
/// lively.check()?;
/// let wrong = SimulationParams { damping: -1.0, ..lively };
/// assert!(wrong.check().unwrap_err().to_string().starts_with("damping"));
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SimulationParams {
    /// Time between two poses, seconds.
    pub dt: f64,
    /// Implicit steps between two poses.
    pub substeps: u32,
    /// Time discretisation.
    pub integrator: Integrator,
    /// Most iterations in a substep.
    pub max_iterations: u32,
    /// Minimiser of the full space; other models have the default alone.
    pub minimiser: Minimiser,
    /// Stopping threshold, root mean square over the mass as a share of the diagonal: a substep ends once an
    /// iteration moves the body by less, or in the full space once it is nearer to its solution. There the
    /// threshold shrinks, down to a hundredth, for a substep that moves the body by less than `2e-4`.
    pub tolerance: f64,
    /// Damping ratio, the same in every mode: 0 none, 1 critical.
    pub damping: f64,
    /// Acceleration of gravity in world space, m/s^2.
    pub gravity: [f64; 3],
    /// Position of the elastic rest shape: 0 at the bind shape, 1 at the posed shape.
    pub pose_rest: f64,
    /// Factor on the elastic energy; frequencies scale with its square root.
    pub stiffness: f64,
    /// Factor on the acceleration of the rig felt by the flesh: 0 moves nothing, 1 is physical, more
    /// exaggerates. Below 1, held flesh in the full space turns with the rig by the rest.
    pub strength: f64,
    /// Share of the felt acceleration that is constant between two poses, their second difference. The rest
    /// follows the path through the poses, whose velocity jumps at each: the flesh then feels accelerations
    /// above a sixth of the frame rate by a third too much. The constant one comes half a frame later.
    pub smoothing: f64,
    /// Contraction of muscles: stress-free shortening of the fibres as a share of length, per muscle, 0
    /// relaxed.
    pub contraction: Shares,
    /// Active share of the stiffness of each stitch group, 1 as built, 0 open.
    pub stitching: Shares,
    /// Rest length factor of a loose body, or one of handles with volume; its volume scales with the third
    /// power `[HRPD]`.
    pub inflation: f64,
    /// Frequency in Hz of a critically damped spring from a loose body to its pose; 0 lets go.
    pub hold: f64,
    /// Largest displacement anywhere, as a share of the body's diagonal; `None` for no limit. The flesh
    /// stiffens beyond half of the limit.
    pub limit: Option<f64>,
    /// Largest relative change of a length against the rig's own; `None` for no limit. The flesh stiffens
    /// beyond half of the limit.
    pub stretch: Option<f64>,
}

impl Default for SimulationParams {
    fn default() -> Self {
        Self {
            dt: 1.0 / 24.0,
            substeps: 1,
            integrator: Integrator::default(),
            max_iterations: 30,
            minimiser: Minimiser::default(),
            tolerance: 1e-6,
            damping: 0.0,
            gravity: [0.0; 3],
            pose_rest: 1.0,
            stiffness: 1.0,
            strength: 1.0,
            smoothing: 0.0,
            contraction: 0.0.into(),
            stitching: 1.0.into(),
            inflation: 1.0,
            hold: 0.0,
            limit: None,
            stretch: None,
        }
    }
}

/// Place of a setting, by kind, for interfaces that know settings by name.
#[non_exhaustive]
#[derive(Debug)]
pub enum Setting<'a> {
    /// A number.
    Number(&'a mut f64),
    /// A number of repetitions.
    Count(&'a mut u32),
    /// An upper bound, or `None`.
    Limit(&'a mut Option<f64>),
    /// A vector in world space.
    Vector(&'a mut [f64; 3]),
    /// The time discretisation.
    Integrator(&'a mut Integrator),
    /// The minimiser of the full space.
    Minimiser(&'a mut Minimiser),
    /// A share for each part of a body, and the name of these parts.
    Shares(&'a mut Shares, &'static str),
}

impl Setting<'_> {
    /// Takes the value of another setting of the same kind.
    pub fn assign(self, other: Setting<'_>) {
        match (self, other) {
            (Self::Number(own), Setting::Number(new)) => *own = *new,
            (Self::Count(own), Setting::Count(new)) => *own = *new,
            (Self::Limit(own), Setting::Limit(new)) => *own = *new,
            (Self::Vector(own), Setting::Vector(new)) => *own = *new,
            (Self::Integrator(own), Setting::Integrator(new)) => *own = *new,
            (Self::Minimiser(own), Setting::Minimiser(new)) => *own = *new,
            (Self::Shares(own, _), Setting::Shares(new, _)) => *own = *new,
            _ => unreachable!("a setting has one kind"),
        }
    }
}

/// Upper bound of substeps and of iterations.
const MOST_REPETITIONS: u32 = 100_000;
/// Upper bound of curvature pairs.
const MOST_PAIRS: u32 = 100;

impl SimulationParams {
    /// All settings by name.
    pub fn by_name(&mut self) -> [(&'static str, Setting<'_>); 18] {
        use Setting::{Count, Limit, Number, Vector};
        [
            ("dt", Number(&mut self.dt)),
            ("substeps", Count(&mut self.substeps)),
            ("integrator", Setting::Integrator(&mut self.integrator)),
            ("max_iterations", Count(&mut self.max_iterations)),
            ("minimiser", Setting::Minimiser(&mut self.minimiser)),
            ("tolerance", Number(&mut self.tolerance)),
            ("damping", Number(&mut self.damping)),
            ("gravity", Vector(&mut self.gravity)),
            ("pose_rest", Number(&mut self.pose_rest)),
            ("stiffness", Number(&mut self.stiffness)),
            ("strength", Number(&mut self.strength)),
            ("smoothing", Number(&mut self.smoothing)),
            ("contraction", Setting::Shares(&mut self.contraction, "muscles")),
            ("stitching", Setting::Shares(&mut self.stitching, "groups")),
            ("inflation", Number(&mut self.inflation)),
            ("hold", Number(&mut self.hold)),
            ("limit", Limit(&mut self.limit)),
            ("stretch", Limit(&mut self.stretch)),
        ]
    }

    /// As [`SimulationParams::check`]; with colliders, also [`Error::Unsupported`] for settings that
    /// exclude them.
    pub(crate) fn check_among(&self, among: bool) -> Result<()> {
        self.check()?;
        if among && self.integrator != Integrator::BackwardEuler {
            let why =
                "among colliders only backward Euler loses what an impact takes; bdf2 would give it back";
            return Err(Error::Unsupported { what: "integrator", why });
        }
        if among && self.minimiser == Minimiser::Newton {
            let why = "Newton's method knows no contact; among colliders give a number of pairs";
            return Err(Error::Unsupported { what: "minimiser", why });
        }
        Ok(())
    }

    /// Checks the settings: [`Error::Range`] or [`Error::NotFinite`] for the first invalid one.
    pub fn check(&self) -> Result<()> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let at_least_zero = |v: f64| v.is_finite() && v >= 0.0;
        let (limit, stretch) = (self.limit.unwrap_or(1.0), self.stretch.unwrap_or(1.0));
        let count = |v: u32| (1..=MOST_REPETITIONS).contains(&v);
        let pairs = match self.minimiser {
            Minimiser::QuasiNewton { pairs } => pairs,
            Minimiser::Newton => 0,
        };
        let checks = [
            ("dt", "a positive number of seconds", self.dt, positive(self.dt)),
            ("substeps", "a whole number from 1 to 100000", self.substeps.into(), count(self.substeps)),
            (
                "max_iterations",
                "a whole number from 1 to 100000",
                self.max_iterations.into(),
                count(self.max_iterations),
            ),
            ("minimiser", "0 to 100 pairs", pairs.into(), pairs <= MOST_PAIRS),
            ("tolerance", "a number >= 0", self.tolerance, at_least_zero(self.tolerance)),
            ("damping", "a ratio >= 0", self.damping, at_least_zero(self.damping)),
            ("pose_rest", "a number in [0, 1]", self.pose_rest, (0.0..=1.0).contains(&self.pose_rest)),
            ("stiffness", "a positive number", self.stiffness, positive(self.stiffness)),
            ("strength", "a number >= 0", self.strength, at_least_zero(self.strength)),
            ("smoothing", "a number in [0, 1]", self.smoothing, (0.0..=1.0).contains(&self.smoothing)),
            (
                "inflation",
                "a number in [0.01, 100]",
                self.inflation,
                (0.01..=100.0).contains(&self.inflation),
            ),
            ("hold", "a number in [0, 100000] Hz", self.hold, (0.0..=1e5).contains(&self.hold)),
            ("limit", "a positive share of the diagonal", limit, positive(limit)),
            ("stretch", "a positive share", stretch, positive(stretch)),
        ];
        for (what, expected, got, valid) in checks {
            check::range(what, expected, got, valid)?;
        }
        self.contraction.check("contraction")?;
        self.stitching.check("stitching")?;
        check::finite("gravity", &self.gravity, 1)
    }
}

/// Input of a step, apart from the previous state. The default drives a body without a rig.
///
/// ```
/// use jounce::body::{Body, BodyParams};
/// use jounce::inputs::{SimulationParams, StepInput};
/// use jounce::mesh::SurfaceMesh;
/// use jounce::simulation::Simulation;
/// use jounce::Progress;
///
/// let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5])?;
/// let params = BodyParams { resolution: 8, modes: 4, cubature: 12, ..BodyParams::default() };
/// let model = Body::new(&surface, &[1.0; 8], 1, &params, &Progress::default())?.model;
/// let mut simulation = Simulation::new(model, SimulationParams::default())?;
/// let at = |z| [[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, z]]];
/// simulation.reset(Some(&at(0.0)))?;
/// let force = [10.0; 4 * 3 * 4];
/// let input = StepInput { pose: Some(&at(0.0)), force: Some(&force), ..StepInput::default() };
/// simulation.step_with(&input, &Progress::default())?;
/// assert!(simulation.coefficients().iter().any(|z| *z != 0.0));
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct StepInput<'a> {
    /// b transforms; `None` for a model without a rig.
    pub pose: Option<&'a Pose>,
    /// Generalised force on the coefficients, m x 3 x 4, constant throughout the step: from
    /// [`Projector::reduce_forces`](crate::kinematics::projector::Projector::reduce_forces) or
    /// [`Model::reduce_sample_forces`](crate::model::Model::reduce_sample_forces).
    pub force: Option<&'a [f64]>,
    /// Difference of the rig from linear skinning in this pose, reduced by
    /// [`OffsetReduction`](crate::model::skinning_modes::offsets::OffsetReduction); `None` for none.
    pub offsets: Option<&'a [f64]>,
    /// Drag of a medium throughout the step; `None` for none.
    pub drag: Option<&'a Drag>,
    /// Springs from points of a body of handles to targets throughout the step; `None` for none.
    pub pull: Option<&'a Pull>,
    /// Placements of colliders at the end of the step: rotation and translation of each from its initial
    /// place. `None` keeps the last placements. The first step moves colliders from their initial places; a
    /// reset places them without motion.
    pub colliders: Option<&'a [[[f64; 4]; 3]]>,
}

/// Report of a step.
///
/// ```
/// use jounce::body::{Body, BodyParams};
/// use jounce::inputs::SimulationParams;
/// use jounce::mesh::SurfaceMesh;
/// use jounce::simulation::Simulation;
/// use jounce::Progress;
///
/// let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5])?;
/// let params = BodyParams { resolution: 8, modes: 4, cubature: 12, ..BodyParams::default() };
/// let model = Body::new(&surface, &[1.0; 8], 1, &params, &Progress::default())?.model;
/// let mut simulation = Simulation::new(model, SimulationParams::default())?;
/// let at = |z| [[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, z]]];
/// simulation.reset(Some(&at(0.0)))?;
/// let report = simulation.step(Some(&at(0.1)))?;
/// assert!(report.converged && report.residual <= simulation.params().tolerance);
/// assert!(report.energy > 0.0, "the flesh lags behind, deformed");
/// # Ok::<(), jounce::Error>(())
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct StepReport {
    /// Iterations, summed over the substeps.
    pub iterations: u32,
    /// In the full space, for skinning modes and in reduced bases the distance to the solution, otherwise the
    /// change in the last iteration: root mean square over the mass, as a share of the diagonal; the largest
    /// of the substeps. To compare with the tolerance.
    pub residual: f64,
    /// `true` if every substep has reached the tolerance.
    pub converged: bool,
    /// Elastic energy at the end, J. For as-rigid-as-possible materials it uses the rotations of the last
    /// local step and is therefore never below the exact energy. Energy of offsets inside clusters is not
    /// included.
    pub energy: f64,
}

impl StepReport {
    /// Adds a substep to the report.
    pub(crate) fn add(&mut self, (iterations, residual): (u32, f64)) {
        self.iterations += iterations;
        // `f64::max` would ignore NaN.
        if !(residual <= self.residual || self.residual.is_nan()) {
            self.residual = residual;
        }
    }
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::{Integrator, Minimiser, SimulationParams};
    use crate::material::Law;

    #[test]
    fn settings_are_text_and_back() {
        let settings = SimulationParams {
            integrator: Integrator::Bdf2,
            limit: Some(0.25),
            contraction: 0.5.into(),
            minimiser: Minimiser::QuasiNewton { pairs: 8 },
            ..SimulationParams::default()
        };
        let text = serde_json::to_string(&settings).unwrap();
        assert!(text.contains(r#""integrator":"bdf2""#), "{text}");
        assert_eq!(serde_json::from_str::<SimulationParams>(&text).unwrap(), settings);
        let few: SimulationParams = serde_json::from_str(r#"{"damping": 0.5}"#).unwrap();
        assert_eq!(few, SimulationParams { damping: 0.5, ..SimulationParams::default() });
        assert!(serde_json::from_str::<SimulationParams>(r#"{"dampnig": 0.5}"#).is_err());
        assert_eq!(serde_json::to_string(&Law::NeoHookean).unwrap(), r#""neo_hookean""#);
    }
}
