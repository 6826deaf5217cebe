//! Inertia and damping of a substep, `a / 2 |x - target|^2` and `b / 2 |x - damped|^2` in the mass norm, and
//! damping by the metric's stiffness.

use crate::inputs::settings::{HISTORY, Integrator, SimulationParams};
use crate::kinematics::history::free_flight;

/// Targets and factors of inertia and damping.
pub(crate) struct Inertia {
    /// Inertial target of the coordinates.
    pub(crate) target: Vec<[f64; 3]>,
    /// Reference coordinates of damping.
    pub(crate) damped: Vec<[f64; 3]>,
    /// `a_0 / h^2`, 1/s^2; 0 in statics.
    pub(crate) factor: f64,
    /// Mass damping, 1/s^2, and stiffness damping, as they enter the metric.
    pub(crate) damping: [f64; 2],
    /// Factor on the matrix of damping.
    pub(crate) viscous: f64,
    /// Extra mass factor of the metric in statics, 1/s^2, which makes a loose body's metric definite.
    pub(crate) held: f64,
    /// Drag coefficient of the metric, 1/s^2.
    pub(crate) dragged: f64,
}

impl Inertia {
    /// No inertia yet, for some rows of coordinates.
    pub(crate) fn new(rows: usize) -> Self {
        let (target, damped) = (vec![[0.0; 3]; rows], vec![[0.0; 3]; rows]);
        Self { target, damped, factor: 0.0, damping: [0.0; 2], viscous: 0.0, held: 0.0, dragged: 0.0 }
    }

    /// Sets the factors of a substep of h seconds, with damping by mass, 1/s, and by stiffness, s, for the
    /// metric, and the factor on the matrix of damping.
    pub(crate) fn begin(&mut self, (damping, viscous): ([f64; 2], f64), params: &SimulationParams, h: f64) {
        let [speed, _] = params.integrator.velocity();
        self.factor = params.integrator.acceleration()[0] / (h * h);
        self.damping = damping.map(|part| part * speed / h);
        self.viscous = viscous * speed / h;
        (self.held, self.dragged) = (0.0, 0.0);
    }

    /// Sets the factors of statics.
    pub(crate) fn rest(&mut self, held: f64) {
        (self.factor, self.damping, self.viscous) = (0.0, [0.0; 2], 0.0);
        (self.held, self.dragged) = (held, 0.0);
    }

    /// Sets the targets of free flight.
    pub(crate) fn fly(&mut self, history: &[Vec<[f64; 3]>; HISTORY], integrator: Integrator) {
        free_flight(history, integrator, &mut self.target);
        let ([.., older, last], velocity) = (history, integrator.velocity());
        for (damped, (older, last)) in self.damped.iter_mut().zip(older.iter().zip(last)) {
            (0..3).for_each(|c| damped[c] = last[c] - velocity[1] / velocity[0] * (last[c] - older[c]));
        }
    }

    /// Factors of mass and Laplacian in the metric, for a factor on the elastic energy.
    pub(crate) fn metric(&self, stiffness: f64) -> [f64; 2] {
        [self.factor + self.held + self.damping[0] + self.dragged, stiffness + self.damping[1]]
    }
}

/// Damping by mass, 1/s, and by the metric's stiffness, s times the scale of stiffness, of a body with a
/// given lowest frequency, Hz.
///
/// `with_mass` is false where mass damping would slow down rigid motion.
pub(crate) fn rayleigh(frequency: f64, with_mass: bool, params: &SimulationParams) -> [f64; 2] {
    let omega = std::f64::consts::TAU * frequency * params.stiffness.sqrt();
    if params.damping == 0.0 {
        [0.0; 2]
    } else if with_mass {
        // alpha / w + beta w is twice the damping ratio at omega and at three times omega.
        [1.5 * params.damping * omega, 0.5 * params.damping / omega * params.stiffness]
    } else {
        [0.0, 2.0 * params.damping / omega * params.stiffness]
    }
}

/// Modal damping `2 zeta omega`, 1/s, with the same ratio in every coordinate.
pub(crate) fn modal_damping(spectrum: f64, params: &SimulationParams) -> f64 {
    2.0 * params.damping * (params.stiffness * spectrum).sqrt()
}
