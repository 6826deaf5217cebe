//! Local frequencies of a held body, the reference of its damping.
//!
//! Inverse iteration with the elastic Hessian K at rest, `K u_(j+1) = M u_j`, starts with uniform
//! accelerations: `u_0` is the sag. The quotient `|u_j| / |u_(j+1)|` of a vertex tends to the square of the
//! lowest frequency. At first it is that of the slowest mode in which the vertex takes part: a tail has its
//! own, slow, beside a firm belly.

use crate::inputs::settings::SimulationParams;
use crate::math::rows::Rows;

/// Number of fields of an iteration, the sag first.
pub(crate) const FIELDS: usize = 2;

/// Stiffness damping, as a share of that for the whole ratio at the metric's lowest frequency.
const STIFF: f64 = 0.2;

/// Squared lengths at the vertices of the fields of inverse iterations.
pub(crate) struct Fields([Vec<f64>; FIELDS]);

impl Fields {
    /// No field yet, for some vertices.
    pub(crate) fn new(vertices: usize) -> Self {
        Self([(); FIELDS].map(|()| vec![0.0; vertices]))
    }

    /// Adds a field of an iteration.
    pub(crate) fn add(&mut self, number: usize, field: &Rows) {
        for (sum, u) in self.0[number].iter_mut().zip(field) {
            *sum += u.iter().map(|x| x * x).sum::<f64>();
        }
    }

    /// Angular frequencies of the vertices, rad/s; 0 at those that no field moves.
    pub(crate) fn frequencies(&self) -> Vec<f64> {
        let [before, after] = &self.0;
        let square = |(before, after): (&f64, &f64)| {
            let quotient = before / after;
            if quotient.is_finite() { quotient.sqrt().sqrt() } else { 0.0 }
        };
        before.iter().zip(after).map(square).collect()
    }
}

/// Angular frequencies of the coordinates of a body: their mean, rad/s, and shares of it.
#[derive(Debug, Clone)]
pub(crate) struct Swings {
    mean: f64,
    pub(crate) shares: Vec<f64>,
}

impl Swings {
    /// The given frequencies, with a weight each in the mean.
    pub(crate) fn new(mut frequencies: Vec<f64>, weight: impl Fn(usize) -> f64) -> Self {
        let whole: f64 = (0..frequencies.len()).map(&weight).sum();
        let mean = frequencies.iter().enumerate().map(|(i, omega)| weight(i) * omega).sum::<f64>() / whole;
        let unit = if mean > 0.0 { mean } else { 1.0 };
        frequencies.iter_mut().for_each(|omega| *omega /= unit);
        Self { mean, shares: frequencies }
    }

    /// Mean damping by mass, 1/s, of a ratio at each local frequency, and a little by stiffness, s, for
    /// motion much faster than the lowest frequency of the metric, Hz.
    pub(crate) fn damping(&self, frequency: f64, params: &SimulationParams) -> [f64; 2] {
        let omega = std::f64::consts::TAU * frequency;
        let root = params.stiffness.sqrt();
        [2.0 * params.damping * root * self.mean, STIFF * params.damping * root / omega]
    }
}
