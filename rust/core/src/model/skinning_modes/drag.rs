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

use faer::{Mat, MatMut};

use super::SkinningModel;
use crate::Result;
use crate::inputs::drag::Drag;
use crate::inputs::force_samples::foreign_samples;
use crate::inputs::settings::SimulationParams;
use crate::kinematics::history;
use crate::math::dense::add_lower_product;
use crate::math::lanes::multiply_add;
use crate::potentials::drag::PointDrag;
use crate::stepping::state::State;

/// Largest coefficient in the metric, in units of `m / h`: beyond this, rounding would erase the rest of
/// the metric. The line search compensates.
const STEEPEST: f64 = 1e9;

/// Drag of a step at the samples of its parts, and scratch.
pub(super) struct DragForce {
    /// `None` without drag.
    drag: Option<Drag>,
    points: PointDrag,
    /// Differences of rows of the pose, the displacement or offsets.
    rows: Vec<[f64; 3]>,
    /// Rows of `B Phi`, each multiplied by a square root, k x r.
    weighted: Mat<f64>,
}

impl DragForce {
    pub(super) fn new(model: &SkinningModel) -> Self {
        let points = PointDrag::new(Vec::new(), model.diagonal());
        Self { drag: None, points, rows: Vec::new(), weighted: Mat::new() }
    }

    /// Stores the drag of the next step; allocates only for more parts than ever before.
    pub(super) fn enter(&mut self, model: &SkinningModel, drag: Option<&Drag>) -> Result<()> {
        self.drag = None;
        let Some(drag) = drag else { return Ok(()) };
        let samples = drag.0.samples.as_deref().ok_or_else(foreign_samples)?;
        model.check_samples(samples)?;
        if drag.is_nothing() {
            return Ok(());
        }
        let k = drag.count();
        let longest = model.cluster_rig.columns().max(model.rank()).max(model.center_count());
        self.points.set_masses(samples.masses());
        let factors = drag.linear().iter().zip(drag.quadratic()).map(|(c, q)| [*c, *q]);
        self.points.enter(factors.zip(drag.velocity().iter().copied()));
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
        let Some(Drag(drag)) = &self.drag else { return };
        let factors = params.integrator.velocity();
        let (samples, rows) = (drag.samples(), &mut self.rows);
        self.points.prepare(factors[0], h, |known| {
            let rig = &mut rows[..pose.len()];
            history::velocity(&state.path, pose, factors, rig);
            multiply_add(&samples.rig, rig, known);
            let moved = &mut rows[..model.rank()];
            let [.., older, last] = &state.reduced;
            for (moved, (older, last)) in moved.iter_mut().zip(older.iter().zip(last)) {
                *moved = [0, 1, 2].map(|c| history::known_velocity(older[c], last[c], factors));
            }
            multiply_add(&samples.basis.matrix, moved, known);
            if !offset.is_empty() {
                let centers = state.offset_path.each_ref().map(|rows| model.offset_parts(rows).centers);
                let now = model.offset_parts(offset).centers;
                let moved = &mut rows[..now.len()];
                history::velocity(&centers, now, factors, moved);
                multiply_add(&samples.clusters, moved, known);
            }
        });
    }

    /// Adds the force of the medium on a body at rest, r rows, then switches drag off.
    pub(super) fn rest(&mut self, h: f64, rows: &mut [[f64; 3]]) {
        let Some(Drag(drag)) = self.drag.take() else { return };
        self.points.rest(&drag.samples().basis, h, rows);
    }

    /// P at Y, J; adds the gradient.
    pub(super) fn evaluate(&mut self, y: &[[f64; 3]], gradient: &mut [[f64; 3]]) -> f64 {
        let Some(Drag(drag)) = &self.drag else { return 0.0 };
        self.points.evaluate(&drag.samples().basis, y, gradient)
    }

    /// Adds an upper bound of the second derivative of P at Y to the lower half of a matrix, r x r. Exact
    /// for linear drag; capped at [`STEEPEST`].
    pub(super) fn add_metric(&mut self, y: &[[f64; 3]], lower: MatMut<'_, f64>) {
        let Some(Drag(drag)) = &self.drag else { return };
        self.points.displace(&drag.samples().basis, y);
        let rate = self.points.rate();
        let roots = |s: usize| {
            let [c, q] = self.points.factors(s);
            let steepest = c + 2.0 * q * self.points.relative(s, &self.points.moved()[s]).norm();
            (rate * steepest.min(STEEPEST * rate * drag.samples().masses()[s])).sqrt()
        };
        for j in 0..self.weighted.ncols() {
            let rows = drag.samples().rows.col_as_slice(j).iter().enumerate();
            let weighted = self.weighted.col_as_slice_mut(j).iter_mut();
            rows.zip(weighted).for_each(|((s, b), out)| *out = roots(s) * b);
        }
        add_lower_product(lower, self.weighted.transpose(), self.weighted.as_ref());
    }

    /// The second derivative of P at Y, 3r x 3r.
    pub(super) fn hessian(&mut self, y: &[[f64; 3]]) -> Option<Mat<f64>> {
        let Drag(drag) = self.drag.as_ref()?;
        self.points.displace(&drag.samples().basis, y);
        let rows = &drag.samples().rows;
        let mut hessian = Mat::zeros(3 * y.len(), 3 * y.len());
        for (s, moved) in self.points.moved().iter().enumerate() {
            let ([c, q], w) = (self.points.factors(s), self.points.relative(s, moved));
            let (rate, speed) = (self.points.rate(), w.norm());
            for i in 0..3 * y.len() {
                for j in 0..3 * y.len() {
                    let along = if speed > 0.0 { q * w[i % 3] * w[j % 3] / speed } else { 0.0 };
                    let alike = if i % 3 == j % 3 { c + q * speed } else { 0.0 };
                    hessian[(i, j)] += rate * (alike + along) * rows[(s, i / 3)] * rows[(s, j / 3)];
                }
            }
        }
        Some(hessian)
    }
}
