//! Feedback gains for a disturbed shot: a linear-quadratic regulator along the motion `[MOR sec. 5]`.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

use super::KeyedMotion;
use crate::inputs::settings::HISTORY;
use crate::math::dense::product;
use crate::stepping::state::State;
use crate::{Error, Result, check};

/// Feedback for flesh away from its planned motion; m = 2 substeps of state for backward Euler, 4 for BDF2.
#[non_exhaustive]
pub struct Tracking {
    /// Gains of the frames, r x m r: the force is minus the gain times the error of the coefficients of the
    /// last m substeps, newest first.
    pub gains: Vec<Mat<f64>>,
    /// Cost-to-go matrices P of a unit error from the start of each frame on, and at the end, m k x m k.
    pub costs: Vec<Mat<f64>>,
    /// A and B of each frame, m k x m k and m k x k, in coordinates of unit mass, as the costs.
    pub steps: Vec<[Mat<f64>; 2]>,
    /// Weights of the error at the end of a frame and of the frame's force: `q |dy|^2 + r |du|^2`.
    pub weights: [f64; 2],
}

impl KeyedMotion {
    /// Gains G that minimise `sum_f |dx_f|^2 / size^2 + e |du_f|^2 / push^2` for small disturbances,
    /// `du = -G dx`:
    ///
    /// ```text
    /// G = (R + B'PB)^-1 B'P A,  P' = Q + A'P (A - B G)
    /// ```
    /// backwards from `P = Q` at the end. A and B are the derivatives of a frame's end by its start and by
    /// its force.
    ///
    /// # Errors
    /// [`Error::Range`] for an effort that is not positive, [`Error::Numerical`].
    pub fn tracking(&self, effort: f64) -> Result<Tracking> {
        check::range("effort", "a positive number", effort, check::is_positive(effort))?;
        let (rank, frames) = (self.line.rank(), self.line.frames());
        let (size, depth) = (self.body.unit(), self.line.depth());
        let weights = [size.powi(-2), effort * self.push.powi(-2)];
        let off = |i: usize, j: usize| if i == j && i < rank { weights[0] } else { 0.0 };
        let last = Mat::from_fn(depth * rank, depth * rank, off);
        let mut costs = vec![last.clone()];
        let mut gains = Vec::with_capacity(frames);
        let steps: Vec<[Mat<f64>; 2]> = (0..frames).map(|frame| self.line.linearised(frame)).collect();
        for [a, b] in steps.iter().rev() {
            let ahead = &costs[costs.len() - 1];
            let (pa, pb) = (product(ahead.as_ref(), a.as_ref()), product(ahead.as_ref(), b.as_ref()));
            let mut force = product(b.transpose(), pb.as_ref());
            (0..rank).for_each(|i| force[(i, i)] += weights[1]);
            let factor = Llt::new(force.as_ref(), Side::Lower)
                .map_err(|error| Error::Numerical { what: "tracking", why: format!("{error:?}") })?;
            let gain = factor.solve(product(b.transpose(), pa.as_ref()));
            let next = &last + product(a.transpose(), pa.as_ref())
                - product(pa.transpose(), product(b.as_ref(), gain.as_ref()).as_ref());
            costs.push(Mat::from_fn(depth * rank, depth * rank, |i, j| 0.5 * (next[(i, j)] + next[(j, i)])));
            gains.push(self.outside(&gain));
        }
        costs.reverse();
        gains.reverse();
        Ok(Tracking { gains, costs, steps, weights })
    }

    /// Gain on coefficients from a gain on coordinates.
    fn outside(&self, gain: &Mat<f64>) -> Mat<f64> {
        let (data, rank) = (&self.body.data, self.line.rank());
        let r = data.basis.count();
        let mut all = Mat::zeros(r, r * self.line.depth());
        for back in 0..self.line.depth() {
            let own = product(gain.as_ref().subcols(back * rank, rank), data.reduction.as_ref());
            let block = product(data.reduction.transpose(), own.as_ref());
            all.as_mut().subcols_mut(back * r, r).copy_from(&block);
        }
        all
    }

    /// Force of a frame, r, that returns flesh from a state to the motion: the planned force minus the gain
    /// times the error of the state's last substeps.
    ///
    /// # Errors
    /// [`Error::Index`] for the frame, [`Error::Shape`] for a state or gains of another model,
    /// [`Error::Range`] for a state of other substeps.
    pub fn tracked_force(&self, tracking: &Tracking, frame: usize, state: &State) -> Result<Vec<f64>> {
        let (data, depth) = (&self.body.data, self.line.depth());
        let (r, rank) = (data.basis.count(), self.line.rank());
        if frame >= self.line.frames() {
            let (index, count) = (frame as i64, self.line.frames());
            return Err(Error::Index { what: "frame", element: 0, index, count });
        }
        let rows = state.reduced[0].len();
        let fits = tracking.gains.get(frame).is_some_and(|gain| gain.shape() == (r, r * depth));
        if !fits {
            let (expected, got) = ("gains of this motion".into(), "those of another".into());
            return Err(Error::Shape { what: "tracking", expected, got });
        }
        if rows != rank.div_ceil(3) {
            let (expected, got) = (format!("{} rows", rank.div_ceil(3)), format!("{rows}"));
            return Err(Error::Shape { what: "state", expected, got });
        }
        if state.spacing > 0.0 && state.spacing != self.h {
            let expected = "substeps as long as those of the motion";
            return Err(Error::Range { what: "state", expected, got: state.spacing });
        }
        let mut force = self.forces[frame * r..][..r].to_vec();
        let mut off = vec![0.0; r];
        for back in 0..depth {
            let now = &state.reduced[HISTORY - 1 - back].as_flattened()[..rank];
            let apart: Vec<f64> = now.iter().zip(self.line.before(frame, back)).map(|(a, b)| a - b).collect();
            data.leave(&apart, &mut off);
            for (j, off) in off.iter().enumerate() {
                let gain = tracking.gains[frame].col_as_slice(back * r + j);
                force.iter_mut().zip(gain).for_each(|(force, gain)| *force -= gain * off);
            }
        }
        Ok(force)
    }
}
