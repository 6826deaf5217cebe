//! Contact of skinning modes with colliders: points of the surface, carried by the rig and displaced by the
//! modes.
//!
//! A point is at `c = J_c p + (B Phi)_c Y`. The second term is a sum of the reduced coordinates, for the
//! contact potential a point as any other; the first is its offset. A substep is first solved without
//! contact. Only if a point then is inside a collider, or has passed one, it is solved again by descent with
//! the contact potential. Flesh that has touched before begins with that descent.

use std::collections::BTreeSet;
use std::sync::Arc;

use nalgebra::Vector3;

use super::SkinningModel;
use crate::inputs::settings::HISTORY;
use crate::kinematics::posing::Posing;
use crate::math::dense;
use crate::math::rows::{Rows, dot};
use crate::potentials::contact::{
    Anchor, Bound, Collider, Contact, ContactPoints, ContactSkin, ContactState, Corners, End, ROWS, Start,
    VertexRows,
};
use crate::stepping::state::State;
use crate::stepping::substep::{RigPlace, last};
use crate::{Error, Result};

/// Largest number of contact points.
const MOST: usize = 256;

/// Contact of a body of skinning modes, and the end of its substep.
pub(super) struct ModalContact {
    pub(super) contact: Contact,
    posing: Posing,
    balls: Vec<Ball>,
    /// Largest sum of the magnitudes of a point's weights: 1 without negative ones.
    spread: f64,
    /// Largest row norm of the points: none is displaced by more than this times `|Y|`.
    reach: f64,
    /// Pose and rows of collider placements at the end of the substep.
    pose: Vec<[f64; 3]>,
    colliders: Vec<[f64; 3]>,
    /// Posed points at the start and at the end, relative to the mean translations of the poses.
    posed: [Vec<[f64; 3]>; 2],
    /// Duration of the substep in seconds; `None` in statics.
    h: Option<f64>,
    /// `true` if the substep is solved with contact.
    pub(super) acts: bool,
}

/// Ball around all points of a handle, in the body's coordinates.
struct Ball {
    handle: usize,
    center: [f64; 4],
    radius: f64,
}

impl ModalContact {
    /// Contact of the points of a skin; without bones, also of the boundary vertices.
    pub(super) fn new(
        model: &SkinningModel,
        colliders: Arc<[Collider]>,
        skin: Option<&ContactSkin>,
    ) -> Result<Self> {
        let bones = model.bone_count();
        let rig = skin.and_then(|skin| skin.rig.as_deref());
        if bones > 0 && rig.is_none() {
            let why = "skinning modes keep no weights of points; give contact points with their weights";
            return Err(Error::Unsupported { what: "contact_weights", why });
        }
        let points = ContactPoints::new(model.mesh(), skin, model, (model.rank(), MOST))?.dense();
        let rows = points.rig_rows(&model.coordinates, bones, rig)?;
        let posing = Posing::of_rows(model.coordinates, bones, rows.iter().map(|row| &row[..]));
        let norm2 = |entries: &[(u32, f64)]| entries.iter().map(|(_, value)| value * value).sum::<f64>();
        let zeros = || vec![[0.0; 3]; points.len()];
        Ok(Self {
            balls: balls(&posing),
            spread: spread(&posing),
            reach: points.iter().map(|(.., entries)| norm2(entries)).fold(0.0, f64::max).sqrt(),
            pose: vec![[0.0; 3]; posing.handle_rows()],
            colliders: vec![[0.0; 3]; ROWS * colliders.len()],
            posed: [zeros(), zeros()],
            h: None,
            acts: false,
            contact: Contact::new(colliders, points, |_| bones > 0, &model.pinned(), model.diagonal())?,
            posing,
        })
    }

    /// Sets the end of a substep of h seconds. Contact acts from the start if a point has stuck to a
    /// collider.
    pub(super) fn enter(&mut self, state: &State, rig: RigPlace<'_>, h: f64) {
        self.set_end(rig, Some(h));
        if !state.contact.anchors.is_empty() {
            self.begin(&state.contact, [&state.path[HISTORY - 1], last(state)]);
        }
    }

    /// Sets statics, in which contact always acts.
    pub(super) fn rest(&mut self, rig: RigPlace<'_>, y: &Rows) {
        self.set_end(rig, None);
        let standing = ContactState { last: rig.colliders.to_vec(), ..ContactState::default() };
        self.begin(&standing, [rig.pose, y]);
    }

    fn set_end(&mut self, rig: RigPlace<'_>, h: Option<f64>) {
        self.pose.copy_from_slice(rig.pose);
        self.colliders.copy_from_slice(rig.colliders);
        (self.h, self.acts) = (h, false);
    }

    /// Begins contact from a pose and coordinates.
    fn begin(&mut self, state: &ContactState, [pose, y]: [&Rows; 2]) {
        let [before, now] = self.origins(pose);
        self.posing.apply(pose, &before, &mut self.posed[0]);
        self.posing.apply(&self.pose, &now, &mut self.posed[1]);
        let start = Start { rows: y, beyond: &self.posed[0], origin: before, state, h: self.h };
        let end = End { colliders: &self.colliders, beyond: &self.posed[1], origin: now };
        self.contact.begin(&start, &end, [0.0; 2]);
        self.acts = true;
    }

    /// `true` if contact begins to act: a movable point is inside a collider at y, or has passed one; `solve`
    /// applies the inverse metric.
    pub(super) fn arises(&mut self, state: &State, y: &Rows, solve: impl FnMut(&mut Rows)) -> bool {
        if self.acts || !self.may_meet(state, y) {
            return false;
        }
        self.begin(&state.contact, [&state.path[HISTORY - 1], last(state)]);
        self.acts = self.contact.is_felt(y, solve);
        self.acts
    }

    /// `true` if any point may meet a collider on the way to y.
    fn may_meet(&self, state: &State, y: &Rows) -> bool {
        let poses = [&state.path[HISTORY - 1][..], &self.pose];
        let origins = self.origins(poses[0]);
        let [(start, before), (here, now)] = [0, 1].map(|at| self.around(poses[at], &origins[at]));
        let [moved, moves] = [last(state), y].map(|y| self.reach * dot(y, y).sqrt());
        let (around_start, around_here) = (before + moved, now + moves);
        let beside = around_start + around_here;
        let bound = Bound { start, here, around_start, around_here, beside, ahead: 0.0 };
        self.contact.may_meet(&bound, [&state.contact.last, &self.colliders], origins)
    }

    /// Mean translations of the poses at the start and at the end.
    fn origins(&self, start: &Rows) -> [[f64; 3]; 2] {
        [start, &self.pose].map(|pose| self.posing.translation(pose))
    }

    /// Centre and radius of a ball around all points in a pose.
    fn around(&self, pose: &Rows, origin: &[f64; 3]) -> (Vector3<f64>, f64) {
        let placed = |ball: &Ball| ball.placed(&pose[4 * ball.handle..][..4], origin);
        let sum = self.balls.iter().map(|ball| placed(ball).0).sum::<Vector3<f64>>();
        let middle = sum / self.balls.len() as f64;
        let far = self.balls.iter().map(placed).map(|(center, radius)| (center - middle).norm() + radius);
        (middle, self.spread * far.fold(0.0, f64::max))
    }

    /// Points that stick to colliders at the end of the substep.
    pub(super) fn anchors(&self) -> &[Anchor] {
        if self.acts { self.contact.anchors() } else { &[] }
    }
}

impl Ball {
    /// Centre and radius in a pose, metres.
    fn placed(&self, rows: &Rows, origin: &[f64; 3]) -> (Vector3<f64>, f64) {
        let at = |d: usize| self.center[d] * Vector3::from(rows[d]);
        let stretched = rows[..3].iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
        (at(0) + at(1) + at(2) + at(3) - Vector3::from(*origin), stretched * self.radius)
    }
}

/// Largest sum of the magnitudes of a point's weights.
fn spread(posing: &Posing) -> f64 {
    let sum = |ends: &[usize]| posing.entries[ends[0]..ends[1]].iter().map(|(_, row)| row[3].abs()).sum();
    posing.starts.windows(2).map(sum).fold(1.0, f64::max)
}

/// A ball around all points of each handle that moves any.
fn balls(posing: &Posing) -> Vec<Ball> {
    let mut boxes = vec![[[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]]; posing.handle_rows() / 4];
    for (handle, entries) in posing.entries.iter().filter(|(_, entries)| entries[3] != 0.0) {
        let [low, high] = &mut boxes[*handle as usize];
        for c in 0..3 {
            let x = entries[c] / entries[3];
            (low[c], high[c]) = (low[c].min(x), high[c].max(x));
        }
    }
    let boxes = boxes.into_iter().enumerate().filter(|(_, [low, _])| low[0].is_finite());
    let ball = |(handle, [low, high]): (usize, [[f64; 3]; 2])| {
        let side = |c: usize| (high[c] - low[c]).powi(2);
        let middle = |c: usize| 0.5 * (low[c] + high[c]);
        let radius = 0.5 * (0..3).map(side).sum::<f64>().sqrt();
        Ball { handle, center: [middle(0), middle(1), middle(2), 1.0], radius }
    };
    boxes.map(ball).collect()
}

impl SkinningModel {
    /// Weights of the modes at a mesh vertex.
    fn weights_at(&self, vertex: u32) -> &[f64] {
        &self.data.weights[vertex as usize * self.mode_count()..][..self.mode_count()]
    }

    /// Rest positions of vertices without motion next to moving ones, metres.
    fn pinned(&self) -> Vec<[f64; 3]> {
        let mesh = self.mesh();
        let beside = mesh.tets().iter().filter(|tet| tet.iter().any(|&vertex| self.moves(vertex))).flatten();
        let pinned: BTreeSet<u32> = beside.copied().filter(|&vertex| !self.moves(vertex)).collect();
        pinned.iter().map(|&vertex| mesh.vertices()[vertex as usize]).collect()
    }
}

/// Sums of all reduced coordinates.
impl VertexRows for SkinningModel {
    fn moves(&self, vertex: u32) -> bool {
        self.weights_at(vertex).iter().any(|&weight| weight != 0.0)
    }

    fn enter(&self, point: &Corners, entries: &mut Vec<(u32, f64)>) {
        let mut weights = vec![0.0; self.mode_count()];
        let mut place = [0.0; 3];
        for (vertex, share) in point {
            let corner = self.mesh().vertices()[*vertex as usize];
            (0..3).for_each(|c| place[c] += share * corner[c]);
            weights.iter_mut().zip(self.weights_at(*vertex)).for_each(|(sum, weight)| *sum += share * weight);
        }
        let place = self.coordinates.homogeneous(&place);
        let factors: Vec<f64> = weights.iter().flat_map(|weight| place.map(|x| weight * x)).collect();
        let row = |column: usize| dense::dot(self.data.basis.col_as_slice(column), &factors);
        entries.extend((0..self.rank()).map(|column| (column as u32, row(column))));
    }
}
