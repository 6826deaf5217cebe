//! Displacement limit: a potential that is zero up to half of the limit and grows without bound towards it.
//! Flesh stiffens before it reaches the limit.
//!
//! `U = sum over places s of mu_s kappa L^2 phi(|u_s| / L)`, `phi(x) = -t^2 ln(1 - t)`, `t = 2 x - 1` and 0
//! below `x = 1/2`, with L the limit, mu_s the effective mass of a place and kappa the lowest elastic
//! eigenvalue. The potential has two continuous derivatives, is in joules, and vanishes for calm motion.

use faer::Mat;
use rayon::prelude::*;

use super::SkinningModel;
use crate::material::growth::{KNEE, potential};
use crate::math::dense::dot;
use crate::math::lanes::{Packed, multiply_add};

/// Share of the limit to which a state beyond it is scaled before a step.
const INSIDE: f64 = 0.9;
/// Leverage below which a vertex needs no place of its own.
const UNSEEN: f64 = 0.1;
/// Largest number of places, for each reduced coordinate.
const MOST: usize = 8;
/// Squared row norm, relative to the largest, that counts as not moving.
const FAINT: f64 = 1e-6;

/// Places of the displacement limit: few, but no vertex moves far without one of them.
pub(super) struct LimitPlaces {
    /// `B Phi` at the places, k x r.
    basis: Packed<1>,
    /// Transpose of `basis`.
    gather: Packed<1>,
    /// Largest row norm of `basis`: no place moves by more than this times `|Y|`.
    reach: f64,
    /// Effective masses mu of the places, k, kg, `1 / |b_s|^2`.
    masses: Vec<f64>,
}

impl LimitPlaces {
    pub(super) fn new(model: &SkinningModel) -> Self {
        let outside = model.mesh().boundary_vertices();
        let rows: Vec<Vec<f64>> = outside.par_iter().map(|&i| row(model, i as usize)).collect();
        let places = covering(&rows, 1, MOST * model.rank());
        Self {
            basis: Packed::new(places.len(), model.rank(), |s, _, j| rows[places[s]][j]),
            gather: Packed::new(model.rank(), places.len(), |j, _, s| rows[places[s]][j]),
            reach: places.iter().map(|&s| norm2(&rows[s])).fold(0.0, f64::max).sqrt(),
            masses: places.iter().map(|&s| 1.0 / norm2(&rows[s])).collect(),
        }
    }
}

/// Greedy choice of items of `each` rows b by leverage, the sum of `b' (sum of b_s b_s')^-1 b` over the
/// item's rows with the sum over chosen rows. Stops if no item has more than [`UNSEEN`], or at `most`
/// items. Every row is then nearly in the span of the chosen ones.
pub(super) fn covering(rows: &[Vec<f64>], each: usize, most: usize) -> Vec<usize> {
    let norms: Vec<f64> = rows.chunks_exact(each).map(|own| own.iter().map(|row| norm2(row)).sum()).collect();
    let faint = FAINT * norms.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let rank = rows.first().map_or(0, Vec::len);
    let mut leverage: Vec<f64> = norms.iter().map(|norm| norm / faint).collect();
    let mut inverse = Mat::from_fn(rank, rank, |i, j| if i == j { 1.0 / faint } else { 0.0 });
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let best = (0..norms.len()).max_by(|&a, &b| leverage[a].total_cmp(&leverage[b]));
        let Some(best) = best.filter(|&best| leverage[best] > UNSEEN) else { break };
        chosen.push(best);
        for row in &rows[each * best..][..each] {
            let seen: Vec<f64> = (0..rank).map(|j| dot(inverse.col_as_slice(j), row)).collect();
            let scale = 1.0 / (1.0 + dot(&seen, row));
            for j in 0..rank {
                inverse
                    .col_as_slice_mut(j)
                    .iter_mut()
                    .zip(&seen)
                    .for_each(|(x, s)| *x -= scale * seen[j] * s);
            }
            let sees = |own: &[Vec<f64>]| own.iter().map(|row| dot(&seen, row).powi(2)).sum::<f64>();
            leverage
                .par_iter_mut()
                .zip(rows.par_chunks_exact(each))
                .for_each(|(l, own)| *l -= scale * sees(own));
        }
        // A place is chosen at most once, to leave room for the others.
        leverage[best] = f64::NEG_INFINITY;
    }
    chosen
}

/// A row of `B Phi`.
fn row(model: &SkinningModel, vertex: usize) -> Vec<f64> {
    let modes = model.mode_count();
    let point = model.coordinates.homogeneous(&model.mesh().vertices()[vertex]);
    let weights = &model.weights()[vertex * modes..][..modes];
    let entries: Vec<f64> = weights.iter().flat_map(|w| point.map(|x| w * x)).collect();
    (0..model.rank()).map(|j| dot(model.data.basis.col_as_slice(j), &entries)).collect()
}

fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// An active displacement limit: places, length, stiffness and scratch.
pub(super) struct Limit {
    moved: Vec<[f64; 3]>,
    /// Coordinates of the last measurement, and the largest displacement there, m.
    known: Vec<[f64; 3]>,
    furthest: f64,
    /// L, metres.
    length: f64,
    /// kappa, 1/s^2; 0 without a limit.
    stiffness: f64,
}

impl Limit {
    pub(super) fn new() -> Self {
        Self { moved: Vec::new(), known: Vec::new(), furthest: 0.0, length: 0.0, stiffness: 0.0 }
    }

    /// Sets the limit, a share of the diagonal, and the factor on the elastic energy; allocates the first
    /// time.
    pub(super) fn set(&mut self, model: &SkinningModel, limit: Option<f64>, stiffness: f64) {
        let Some(limit) = limit else {
            self.stiffness = 0.0;
            return;
        };
        self.moved.resize(model.limit_places().masses.len(), [0.0; 3]);
        self.known.resize(model.rank(), [0.0; 3]);
        self.length = limit * 2.0 * model.coordinates.size;
        let omega = std::f64::consts::TAU * model.frequency();
        // A body without stiffness has no lowest frequency; 1 Hz keeps the limit effective.
        let omega2 = if omega > 0.0 { omega * omega } else { std::f64::consts::TAU.powi(2) };
        self.stiffness = stiffness * omega2;
    }

    /// Largest displacement of a place as a share of the limit, or 0 if certainly below the knee.
    fn largest(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> f64 {
        if self.stiffness == 0.0 {
            return 0.0;
        }
        let places = model.limit_places();
        let apart =
            y.as_flattened().iter().zip(self.known.as_flattened()).map(|(y, known)| (y - known).powi(2));
        if self.furthest + places.reach * apart.sum::<f64>().sqrt() <= KNEE * self.length {
            return 0.0;
        }
        self.moved.fill([0.0; 3]);
        multiply_add(&places.basis, y, &mut self.moved);
        self.known.copy_from_slice(y);
        self.furthest = self.moved.iter().map(|u| norm2(u)).fold(0.0, f64::max).sqrt();
        self.furthest / self.length
    }

    /// `true` if the limit is active at y.
    pub(super) fn is_felt(&mut self, model: &SkinningModel, y: &[[f64; 3]]) -> bool {
        self.largest(model, y) > KNEE
    }

    /// Scales y down if it exceeds the limit, to make the potential finite.
    pub(super) fn enter(&mut self, model: &SkinningModel, y: &mut [[f64; 3]]) {
        let largest = self.largest(model, y);
        if largest > INSIDE {
            y.as_flattened_mut().iter_mut().for_each(|y| *y *= INSIDE / largest);
        }
    }

    /// Potential at y, J, infinite beyond the limit; adds the gradient.
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
            // Force along u, as a factor on u; the slope is zero below the knee.
            let factor = if share > KNEE { self.stiffness * mass * slope / share } else { 0.0 };
            u.iter_mut().for_each(|u| *u *= factor);
        }
        multiply_add(&places.gather, &self.moved, gradient);
        energy
    }
}
