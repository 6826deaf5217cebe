//! Drag on parts of a body: velocity-dependent forces `f_s = -(c_s + q_s |w_s|) w_s` with
//! `w_s = v_s - u_s`.
//!
//! v is the integrator's velocity at the end of a substep, `h v = v_0 (x - x_k) + v_1 (x_k - x_(k-1))` for
//! total positions of rig and displacement. It is linear in Y, and the force is minus the gradient of
//!
//! `P(Y) = h / v_0 sum over s of (c_s |w_s|^2 / 2 + q_s |w_s|^3 / 3)`.
//!
//! This potential is convex and part of the incremental energy: any coefficient is stable, and the work of
//! the force on the final velocity `w` of a step is never positive.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatMut, Par};

use super::SkinningModel;
use crate::Result;
use crate::inputs::drag::{Drag, Parts};
use crate::inputs::force_samples::foreign_samples;
use crate::inputs::settings::HISTORY;
use crate::inputs::settings::SimulationParams;
use crate::math::lanes::multiply_add;
use crate::stepping::history;
use crate::stepping::state::State;

/// Largest `c h / m`. A part with a larger coefficient follows the medium anyway, to a millionth in a
/// substep, and the rest of the body would lose precision.
const FOLLOWS: f64 = 1e6;
/// Largest `q size / m`, for the same reason.
const FOLLOWS_QUADRATIC: f64 = 1e9;

/// Largest coefficient in the metric, in units of `m / h`: beyond this, rounding would erase the rest of
/// the metric. The line search compensates.
const STEEPEST: f64 = 1e9;

/// Drag of a step, and scratch for its parts.
pub(super) struct DragForce {
    /// `None` without drag.
    drag: Option<Drag>,
    /// `v_0 / h`.
    rate: f64,
    /// Bounded c and q, k.
    linear: Vec<f64>,
    quadratic: Vec<f64>,
    /// w at the end of the substep without displacement, k.
    known: Vec<[f64; 3]>,
    /// w, or a force, k.
    parts: Vec<[f64; 3]>,
    /// Differences of rows of the pose, the displacement or offsets.
    rows: Vec<[f64; 3]>,
    /// Rows of `B Phi`, each multiplied by a square root, k x r.
    weighted: Mat<f64>,
}

impl DragForce {
    pub(super) fn new() -> Self {
        Self {
            drag: None,
            rate: 0.0,
            linear: Vec::new(),
            quadratic: Vec::new(),
            known: Vec::new(),
            parts: Vec::new(),
            rows: Vec::new(),
            weighted: Mat::new(),
        }
    }

    /// Sets the coefficients, bounded by `FOLLOWS` and `FOLLOWS_QUADRATIC`.
    fn bound(&mut self, drag: &Parts, model: &SkinningModel, h: f64) {
        let size = model.diagonal();
        for (s, &mass) in drag.samples().masses().iter().enumerate() {
            self.linear[s] = drag.linear[s].min(FOLLOWS * mass / h);
            self.quadratic[s] = drag.quadratic[s].min(FOLLOWS_QUADRATIC * mass / size);
        }
    }

    /// Stores the drag of the next step; allocates only for more parts than ever before.
    pub(super) fn enter(&mut self, model: &SkinningModel, drag: Option<&Drag>) -> Result<()> {
        self.drag = None;
        let Some(drag) = drag else { return Ok(()) };
        model.check_samples(drag.0.samples.as_deref().ok_or_else(foreign_samples)?)?;
        if drag.is_nothing() {
            return Ok(());
        }
        let k = drag.count();
        let longest = model.cluster_rig.columns().max(model.rank()).max(model.center_count());
        self.linear.resize(k, 0.0);
        self.quadratic.resize(k, 0.0);
        self.known.resize(k, [0.0; 3]);
        self.parts.resize(k, [0.0; 3]);
        self.rows.resize(longest, [0.0; 3]);
        self.weighted.resize_with(k, model.rank(), |_, _| 0.0);
        self.drag = Some(drag.clone());
        Ok(())
    }

    /// `true` if there is drag in this step.
    pub(super) fn acts(&self) -> bool {
        self.drag.is_some()
    }

    /// `true` if the force is linear in Y.
    pub(super) fn is_linear(&self) -> bool {
        self.drag.as_ref().is_none_or(|drag| drag.quadratic().iter().all(|&q| q == 0.0))
    }

    /// Sets the known part of a substep of length h.
    pub(super) fn prepare(
        &mut self,
        model: &SkinningModel,
        state: &State,
        (pose, offset): (&[[f64; 3]], &[[f64; 3]]),
        params: &SimulationParams,
        h: f64,
    ) {
        let Some(Drag(drag)) = self.drag.clone() else { return };
        let factors = params.integrator.velocity();
        self.rate = factors[0] / h;
        self.bound(&drag, model, h);
        let Self { known, rows, .. } = self;
        known.fill([0.0; 3]);
        let rig = &mut rows[..pose.len()];
        history::velocity(&state.path, pose, factors, rig);
        multiply_add(&drag.samples().rig, rig, known);
        let moved = &mut rows[..model.rank()];
        let last = &state.reduced[HISTORY - 1];
        history::velocity(&state.reduced, last, factors, moved);
        moved.as_flattened_mut().iter_mut().zip(last.as_flattened()).for_each(|(x, y)| *x -= factors[0] * y);
        multiply_add(&drag.samples().basis, moved, known);
        if !offset.is_empty() {
            let centers = state.offset_path.each_ref().map(|rows| model.offset_parts(rows).centers);
            let now = model.offset_parts(offset).centers;
            let moved = &mut rows[..now.len()];
            history::velocity(&centers, now, factors, moved);
            multiply_add(&drag.samples().clusters, moved, known);
        }
        for (known, medium) in known.iter_mut().zip(&drag.velocity) {
            (0..3).for_each(|c| known[c] = known[c] / h - medium[c]);
        }
    }

    /// Adds the force of the medium on a body at rest, r rows, then switches drag off.
    pub(super) fn rest(&mut self, model: &SkinningModel, h: f64, rows: &mut [[f64; 3]]) {
        let Some(Drag(drag)) = self.drag.take() else { return };
        self.bound(&drag, model, h);
        for (s, part) in self.parts.iter_mut().enumerate() {
            let medium = drag.velocity[s];
            let factor = self.linear[s] + self.quadratic[s] * norm(&medium);
            *part = medium.map(|u| factor * u);
        }
        multiply_add(&drag.samples().reduce, &self.parts, rows);
    }

    /// Adds the force of linear drag at Y = 0, r rows.
    pub(super) fn add_known(&mut self, rows: &mut [[f64; 3]]) {
        let Some(Drag(drag)) = &self.drag else { return };
        for (s, part) in self.parts.iter_mut().enumerate() {
            *part = self.known[s].map(|w| -self.linear[s] * w);
        }
        multiply_add(&drag.samples().reduce, &self.parts, rows);
    }

    /// Writes w at Y to `parts`.
    fn relative(&mut self, y: &[[f64; 3]]) {
        let Some(Drag(drag)) = &self.drag else { return };
        self.parts.fill([0.0; 3]);
        multiply_add(&drag.samples().basis, y, &mut self.parts);
        for (part, known) in self.parts.iter_mut().zip(&self.known) {
            (0..3).for_each(|c| part[c] = self.rate * part[c] + known[c]);
        }
    }

    /// P at Y, J; adds the gradient.
    pub(super) fn evaluate(&mut self, y: &[[f64; 3]], gradient: &mut [[f64; 3]]) -> f64 {
        self.relative(y);
        let Some(Drag(drag)) = &self.drag else { return 0.0 };
        let mut potential = 0.0;
        for (s, part) in self.parts.iter_mut().enumerate() {
            let (c, q, speed) = (self.linear[s], self.quadratic[s], norm(part));
            potential += (0.5 * c + q * speed / 3.0) * speed * speed;
            part.iter_mut().for_each(|w| *w *= c + q * speed);
        }
        multiply_add(&drag.samples().reduce, &self.parts, gradient);
        potential / self.rate
    }

    /// Adds an upper bound of the second derivative of P at Y to the lower half of a matrix, r x r. Exact
    /// for linear drag; capped at [`STEEPEST`].
    pub(super) fn add_metric(&mut self, y: &[[f64; 3]], lower: MatMut<'_, f64>) {
        self.relative(y);
        let Some(Drag(drag)) = &self.drag else { return };
        let roots = |s: usize| {
            let steepest = self.linear[s] + 2.0 * self.quadratic[s] * norm(&self.parts[s]);
            (self.rate * steepest.min(STEEPEST * self.rate * drag.samples().masses()[s])).sqrt()
        };
        for j in 0..self.weighted.ncols() {
            let rows = drag.samples().rows.col_as_slice(j).iter().enumerate();
            let weighted = self.weighted.col_as_slice_mut(j).iter_mut();
            rows.zip(weighted).for_each(|((s, b), out)| *out = roots(s) * b);
        }
        let (left, right) = (self.weighted.transpose(), self.weighted.as_ref());
        let (whole, half) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
        matmul(lower, half, Accum::Add, left, whole, right, whole, 1.0, Par::Seq);
    }

    /// The second derivative of P at Y, 3r x 3r.
    pub(super) fn hessian(&mut self, y: &[[f64; 3]]) -> Option<Mat<f64>> {
        self.relative(y);
        let Drag(drag) = self.drag.as_ref()?;
        let rows = &drag.samples().rows;
        let mut hessian = Mat::zeros(3 * y.len(), 3 * y.len());
        for (s, w) in self.parts.iter().enumerate() {
            let (speed, q) = (norm(w), self.quadratic[s]);
            for i in 0..3 * y.len() {
                for j in 0..3 * y.len() {
                    let along = if speed > 0.0 { q * w[i % 3] * w[j % 3] / speed } else { 0.0 };
                    let alike = if i % 3 == j % 3 { self.linear[s] + q * speed } else { 0.0 };
                    hessian[(i, j)] += self.rate * (alike + along) * rows[(s, i / 3)] * rows[(s, j / 3)];
                }
            }
        }
        Some(hessian)
    }
}

fn norm(w: &[f64; 3]) -> f64 {
    w.iter().map(|w| w * w).sum::<f64>().sqrt()
}
