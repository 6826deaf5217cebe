//! The limit of displacements: a potential that is zero up to half of the limit and grows without bound towards
//! it, so that flesh stiffens before it gets there.
//!
//! `U = sum over places s of mu_s kappa L^2 phi(|u_s| / L)`, `phi(x) = -t^2 ln(1 - t)`, `t = 2 x - 1` and 0 below
//! `x = 1/2`, with L the limit, mu_s a share of the mass and kappa the lowest elastic eigenvalue: twice smooth, in
//! joules, and nothing at all for calm motion.

use rayon::prelude::*;

use super::SkinningModel;
use crate::math::lanes::{Packed, multiply_add};
use crate::mesh::bounds;

/// Share of the limit up to which nothing is felt.
const KNEE: f64 = 0.5;
/// Share of the limit that a state beyond it is pulled back to before it is stepped.
const INSIDE: f64 = 0.9;
/// Cells along the diagonal; each that holds flesh has one place.
const CELLS: f64 = 12.0;

/// The places where displacements are limited: of each part of space the vertex that the modes move most.
pub(super) struct LimitPlaces {
    /// `B Phi` at the places, k x r.
    basis: Packed<1>,
    /// Its transpose.
    gather: Packed<1>,
    /// The largest norm of a row of `basis`: no place moves by more than this times `|Y|`.
    reach: f64,
    /// mu, k, kg.
    masses: Vec<f64>,
}

impl LimitPlaces {
    pub(super) fn new(model: &SkinningModel) -> Self {
        let vertices = model.mesh().vertices();
        let norms: Vec<f64> = (0..vertices.len()).into_par_iter().map(|i| norm2(&row(model, i))).collect();
        let (low, _) = bounds(vertices);
        let cell = 2.0 * model.coordinates.size / CELLS;
        let mut cells = std::collections::BTreeMap::new();
        for (i, x) in vertices.iter().enumerate() {
            let key: [u32; 3] = std::array::from_fn(|c| ((x[c] - low[c]) / cell) as u32);
            let (best, count) = cells.entry(key).or_insert((i, 0_u32));
            *best = if norms[i] > norms[*best] { i } else { *best };
            *count += 1;
        }
        let rows: Vec<Vec<f64>> = cells.values().map(|&(i, _)| row(model, i)).collect();
        let share = model.mass() / vertices.len() as f64;
        Self {
            basis: Packed::new(rows.len(), model.rank(), |s, _, j| rows[s][j]),
            gather: Packed::new(model.rank(), rows.len(), |j, _, s| rows[s][j]),
            reach: norms.iter().copied().fold(0.0, f64::max).sqrt(),
            masses: cells.values().map(|&(_, count)| share * f64::from(count)).collect(),
        }
    }
}

/// A row of `B Phi`.
fn row(model: &SkinningModel, vertex: usize) -> Vec<f64> {
    let modes = model.mode_count();
    let point = model.coordinates.homogeneous(&model.mesh().vertices()[vertex]);
    let weights = &model.weights()[vertex * modes..][..modes];
    let entries: Vec<f64> = weights.iter().flat_map(|w| point.map(|x| w * x)).collect();
    let dot = |column: &[f64]| column.iter().zip(&entries).map(|(a, b)| a * b).sum();
    (0..model.rank()).map(|j| dot(model.data.basis.col_as_slice(j))).collect()
}

fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// A limit in force: where, how far, how stiff, and memory for the places.
pub(super) struct Limit {
    moved: Vec<[f64; 3]>,
    /// L, metres.
    length: f64,
    /// kappa, 1/s^2; 0 where nothing is limited.
    stiffness: f64,
}

impl Limit {
    pub(super) fn new() -> Self {
        Self { moved: Vec::new(), length: 0.0, stiffness: 0.0 }
    }

    /// Sets the limit, a share of the diagonal, and the factor on the elastic energy; allocates the first time.
    pub(super) fn set(&mut self, model: &SkinningModel, limit: Option<f64>, stiffness: f64) {
        let Some(limit) = limit else {
            self.stiffness = 0.0;
            return;
        };
        self.moved.resize(model.limit_places().masses.len(), [0.0; 3]);
        self.length = limit * 2.0 * model.coordinates.size;
        let omega = std::f64::consts::TAU * model.frequency();
        // A body without stiffness has no frequency of its own; once a second keeps the limit a limit.
        let omega2 = if omega > 0.0 { omega * omega } else { std::f64::consts::TAU.powi(2) };
        self.stiffness = stiffness * omega2;
    }

    /// The largest displacement of a place as a share of the limit, or 0 where it is certain to be below the
    /// knee.
    fn largest(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> f64 {
        if self.stiffness == 0.0 {
            return 0.0;
        }
        let places = model.limit_places();
        let bound = places.reach * norm2(y.as_flattened()).sqrt();
        if bound <= KNEE * self.length {
            return 0.0;
        }
        self.moved.fill([0.0; 3]);
        multiply_add(&places.basis, y, &mut self.moved);
        self.moved.iter().map(|u| norm2(u)).fold(0.0, f64::max).sqrt() / self.length
    }

    /// Whether the limit is felt at y.
    pub(super) fn is_felt(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        self.largest(model, y) > KNEE
    }

    /// Scales y down where it lies beyond the limit, so that the potential is finite.
    pub(super) fn enter(&mut self, model: &SkinningModel, y: &mut [[f64; 3]]) {
        let largest = self.largest(model, y);
        if largest > INSIDE {
            y.as_flattened_mut().iter_mut().for_each(|y| *y *= INSIDE / largest);
        }
    }

    /// The potential at y, J, infinite beyond the limit; its gradient is added.
    pub(super) fn evaluate(
        &mut self,
        model: &SkinningModel,
        y: &[[f64; 3]],
        gradient: &mut [[f64; 3]],
    ) -> f64 {
        let largest = self.largest(model, y);
        if largest <= KNEE {
            return 0.0;
        }
        if largest >= 1.0 {
            return f64::INFINITY;
        }
        let places = model.limit_places();
        let mut energy = 0.0;
        for (u, mass) in self.moved.iter_mut().zip(&places.masses) {
            let share = norm2(u).sqrt() / self.length;
            let (potential, slope) = potential(share);
            energy += self.stiffness * mass * self.length * self.length * potential;
            // The force along u, written as a factor on u; below the knee the slope is zero.
            let factor = if share > KNEE { self.stiffness * mass * slope / share } else { 0.0 };
            u.iter_mut().for_each(|u| *u *= factor);
        }
        multiply_add(&places.gather, &self.moved, gradient);
        energy
    }
}

/// `phi(x)` and its derivative, for x below 1.
fn potential(x: f64) -> (f64, f64) {
    if x <= KNEE {
        return (0.0, 0.0);
    }
    let t = (x - KNEE) / (1.0 - KNEE);
    let log = (-t).ln_1p();
    (-t * t * log, (t * t / (1.0 - t) - 2.0 * t * log) / (1.0 - KNEE))
}
