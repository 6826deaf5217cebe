//! Free bodies, without pins or constraint: their start and tether, and their rigid motion, which damping
//! leaves alone.

use nalgebra::{Matrix3, Vector3};

use super::FullSpaceModel;
use super::parts::Parts;
use super::step::FullSpaceMethod;
use crate::Result;
use crate::inputs::settings::{HISTORY, SimulationParams};
use crate::inputs::start::Start;
use crate::kinematics::history::{extrapolate, turning_point};
use crate::kinematics::rigid::RigidMotions;
use crate::kinematics::tether::{Frame, Tether};
use crate::math::polar::nearest_rotation;
use crate::math::rows::{Rows, add, combine};
use crate::potentials::inertia::rayleigh;
use crate::potentials::swings::scale;
use crate::stepping::method::{RigState, last};
use crate::stepping::state::State;

impl FullSpaceModel {
    /// `true` for a loose body, without pins, constraint or rig.
    pub(crate) fn is_loose(&self) -> bool {
        self.posing.bones == 0 && self.parts.is_some()
    }

    /// State of a loose body at a start, inflated, with a substep of `h` seconds before it; `state` is a
    /// state at rest.
    pub(crate) fn placed(
        &self,
        start: &Start,
        (inflation, h): (f64, f64),
        mut state: State,
    ) -> Result<State> {
        let Some(parts) = &self.parts else { return Ok(state) };
        let turn = start.turn()?;
        let shift = Vector3::from(start.place.map(|row| row[3]));
        let (velocity, spin) = (Vector3::from(start.velocity), Vector3::from(start.spin));
        for (back, rows) in state.reduced.iter_mut().rev().enumerate() {
            let back = h * back as f64;
            for (row, moved) in rows.iter_mut().enumerate() {
                let center = Vector3::from(parts.all[parts.of_rows[row] as usize].center);
                let rest = Vector3::from(self.rest(row));
                let arm = inflation * turn * (rest - center);
                let place = turn * center + shift - back * velocity + arm - back * spin.cross(&arm);
                *moved = (place - rest).into();
            }
        }
        state.spacing = h;
        Ok(state)
    }

    /// Damping by mass, 1/s, and by stiffness, s, of a held body in the mean, and the factor on the damping
    /// matrix. Mass damping would slow down pieces of a free body that leave each other when their stitches
    /// open.
    pub(super) fn damping(&self, params: &SimulationParams) -> ([f64; 2], f64) {
        if let Some(local) = &self.local_damping {
            let scale = scale(params);
            return (local.mean.map(|part| scale * part), scale);
        }
        let [mass, stiffness] = rayleigh(self.frequency, self.data.stitches.is_none(), params);
        ([mass, stiffness], stiffness)
    }
}

impl FullSpaceMethod {
    /// Damps the deforming motion of a free body: by mass through the target, by stiffness within the energy.
    pub(super) fn aim_damping(&mut self, state: &State, params: &SimulationParams, h: f64) {
        if params.damping == 0.0 || self.rigid.is_none() {
            return;
        }
        let (places, ([mass, _], _)) = (self.places(state, &[0.0; 3]), self.model.damping(params));
        let Self { model, terms, u, rigid: Some(rigid), .. } = self else { return };
        let [.., older, last] = &state.reduced;
        let weigh = |rows: &Rows, out: &mut Rows| {
            let weighed = rows.iter().zip(&model.mass).map(|(row, mass)| row.map(|x| mass * x));
            out.iter_mut().zip(weighed).for_each(|(out, row)| *out = row);
        };
        let set = |rigid: &mut RigidMotions, ahead: f64| {
            let place = |rows: &mut Rows| {
                extrapolate([older, last], ahead, rows);
                add(rows, 1.0, &places[..model.free]);
            };
            rigid.set(place, weigh);
        };
        set(rigid, 0.0);
        let mut moved = vec![[0.0; 3]; last.len()];
        combine(&mut moved, last, -1.0, older);
        rigid.remove(&mut moved);
        let lost = (-mass * h).exp_m1();
        add(&mut terms.inertia.target, lost, &moved);
        add(u, lost, &moved);
        set(rigid, turning_point(params.integrator.velocity()));
    }

    /// Draws the inertial target of a loose body towards its pose, and starts there.
    pub(super) fn draw(
        &mut self,
        tether: Tether,
        (state, rig): (&State, RigState<'_>),
        (inertia, inflation): (f64, f64),
    ) {
        let Self { model, terms, u, .. } = self;
        let Some(parts) = &model.parts else { return };
        let last = last(state);
        let poses = [&state.path[HISTORY - 1][..], rig.pose].map(|pose| &pose[4..]);
        let frames = parts.frames(model, last, poses, tether.share);
        for (row, target) in terms.inertia.target.iter_mut().enumerate() {
            let part = parts.of_rows[row] as usize;
            let (rest, center) = (Vector3::from(model.rest(row)), Vector3::from(parts.all[part].center));
            let rigid =
                frames[part].map(|frame| center + frame.moved + frame.turn * (inflation * (rest - center)));
            let goal = tether.goal(rest + Vector3::from(last[row]), &frames[part], rigid);
            tether.draw(target, inertia, goal - rest);
        }
        u.copy_from_slice(&terms.inertia.target);
    }
}

impl Parts {
    /// Frame of each part, the best-fit rigid motion in the mass norm, and its goal in a substep.
    fn frames(&self, model: &FullSpaceModel, u: &Rows, poses: [&Rows; 2], share: f64) -> Vec<[Frame; 2]> {
        let mut sums = vec![(Matrix3::zeros(), Vector3::zeros()); self.all.len()];
        for (row, &part) in self.of_rows.iter().enumerate() {
            let (rest, center) = (model.rest(row), self.all[part as usize].center);
            let (arm, moved) = (Vector3::from(rest) - Vector3::from(center), Vector3::from(u[row]));
            let (moment, sum) = &mut sums[part as usize];
            *moment += model.mass[row] * (arm + moved) * arm.transpose();
            *sum += model.mass[row] * moved;
        }
        let frames = sums.iter().zip(&self.all).map(|((moment, sum), part)| {
            let body = Frame { turn: nearest_rotation(moment), moved: sum / part.mass };
            let of = |pose| Frame::of_pose(&model.posing.coordinates, pose, &part.center);
            let [from, to] = poses.map(of);
            [body, body.toward(from, to, share)]
        });
        frames.collect()
    }
}
