//! Contact detection for a body, and search directions with contact forces.

use std::sync::Arc;

use nalgebra::Vector3;

use super::columns::ComplianceColumns;
use super::faces::{Added, FaceStarts, Faces};
use super::placement::ROWS;
use super::{
    Anchor, Bound, Collider, Compliance, ContactPoints, ContactState, Course, Inverse, Mobility, Moved,
    PointGroups, SelfContact, Touch, respond,
};
use crate::Result;
use crate::math::rows::{Rows, add};
use crate::solve::{Compact, Lbfgs, Value};

/// Ratio of free motion under a force to the penetration of a contact with the same force.
pub(crate) const HARD: f64 = 1e3;
/// Distance from a collider at which a point counts as near, as a share of the body's diagonal.
pub(crate) const NEAR: f64 = 1e-3;
/// Relative compliance below which a point counts as immovable, fixed by the constraint of a rig.
pub(crate) const HELD: f64 = 1e-6;
/// The same for the skin's contact with itself: bones press firm places into each other.
const FIRM: f64 = 0.03;
/// Ratio of free motion to penetration for the skin's contact with itself. Limbs press flesh from several
/// sides at once, to which hard contacts have no solution.
const YIELDING: f64 = 10.0;
/// Speed at which points inside a collider at the start of a substep are pushed out, diagonals a second. An
/// immediate push would shoot them out.
pub(crate) const LET_OUT: f64 = 0.25;
/// Share of the flesh between a point and the nearest pinned vertex that gives way. In statics, which have no
/// time, and by colliders with a deeper core, a point is pushed no further: thin flesh would tear.
pub(super) const GIVES: f64 = 0.5;
/// Depth of a core, in diagonals, from which a collider counts as ground, and dents flesh without limit.
pub(super) const BROAD: f64 = 0.1;
/// Depth, in diagonals, from which attached flesh that starts a substep inside a collider passes through
/// until free. A push would tear it off its attachment.
pub(crate) const SWALLOWED: f64 = 0.05;

/// Number of searches of a substep in which friction bounds follow the normal forces; they stand in later
/// ones.
const RUBBING: u32 = 60;

/// Colliders of a body, and the contacts of the current search.
pub(crate) struct Contact {
    pub(super) colliders: Arc<[Collider]>,
    pub(crate) points: ContactPoints,
    pub(super) groups: PointGroups,
    /// Faces between the points.
    pub(super) faces: Faces,
    /// Points of the substep, with the numbers after those of the points.
    pub(super) added: Vec<Added>,
    /// Contact of the skin with itself; `None` without self-collision.
    pub(super) itself: Option<SelfContact>,
    /// Points in contact with other soft bodies.
    pub(super) body_points: Vec<usize>,
    /// `true` for allowed pairs of point and collider; indexed by point, then collider.
    pub(super) may_touch: Vec<bool>,
    /// `true` for each point of a part attached by pins or a constraint.
    pub(super) held: Vec<bool>,
    /// Rest distance of each point from the pinned vertices, metres; infinite without pins.
    pub(super) reach: Vec<f64>,
    /// `true` for colliders with attached flesh deep inside at the start of the substep; its inner points
    /// then pass through.
    pub(super) swallows: Vec<bool>,
    /// Offsets of the points from the positions in the rows, at the end of the substep, metres; empty for
    /// zero.
    beyond: Vec<[f64; 3]>,
    /// Diagonal of the body, metres.
    pub(super) diagonal: f64,
    /// Placements of each collider.
    pub(super) placements: Vec<Moved>,
    /// Bound on distances around each point, and its distance, from each collider at the start of the
    /// substep, metres; NaN if unknown. Indexed by point, then collider.
    pub(super) starts: Vec<[f64; 2]>,
    pub(super) face_starts: FaceStarts,
    /// Least motion of a point in contact, as a share of the largest one that its force causes; `None` for
    /// any.
    pub(super) lead: Option<f64>,
    /// Course of each point: start of the substep in the start's own space, current position and next
    /// position.
    pub(super) courses: Vec<Course>,
    /// Largest push-out distance in a substep, metres; `None` in statics.
    pub(super) let_out: Option<f64>,
    pub(super) rubs: bool,
    /// Number of searches in the substep.
    pub(super) searches: u32,
    pub(super) anchors: Vec<Anchor>,
    pub(super) touches: Vec<Touch>,
    /// Contact forces of the last search, N; `None` for new contacts.
    pub(super) found: Vec<Option<Vector3<f64>>>,
    /// Forces on the points at the last energy evaluation, N.
    forces: Vec<Vector3<f64>>,
    /// Parameters of the metric of `columns`.
    metric: [f64; 2],
    pub(super) columns: ComplianceColumns,
    spread: Vec<[f64; 3]>,
}

/// The start of a substep.
pub(crate) struct Start<'a> {
    /// All rows, in a space with its origin at `origin`.
    pub(crate) rows: &'a Rows,
    /// Offsets of the points from the positions in the rows; empty for zero.
    pub(crate) beyond: &'a Rows,
    pub(crate) origin: [f64; 3],
    pub(crate) state: &'a ContactState,
    /// Seconds; `None` in statics, without friction.
    pub(crate) h: Option<f64>,
}

/// The end of a substep.
pub(crate) struct End<'a> {
    /// Rows of collider placements.
    pub(crate) colliders: &'a Rows,
    /// Offsets of the points from the positions in the rows, in a space with its origin at `origin`; empty
    /// for zero.
    pub(crate) beyond: &'a Rows,
    pub(crate) origin: [f64; 3],
}

impl Contact {
    /// Contact of a body's points with colliders. `held` tells the rows attached by pins or a constraint,
    /// `pinned` the rest positions of pinned vertices. Errors for a collider that excludes unknown points.
    pub(crate) fn new(
        colliders: Arc<[Collider]>,
        points: ContactPoints,
        held: impl Fn(usize) -> bool,
        pinned: &[[f64; 3]],
        diagonal: f64,
    ) -> Result<Self> {
        let held = |point: usize| points.has_row(point, &held);
        Ok(Self {
            may_touch: points.may_touch(&colliders)?,
            groups: PointGroups::new(&points),
            faces: Faces::new(&points),
            held: (0..points.len()).map(held).collect(),
            added: Vec::new(),
            itself: None,
            body_points: Vec::new(),
            reach: points.places().iter().map(|place| reach(place, pinned)).collect(),
            swallows: Vec::new(),
            placements: Vec::new(),
            courses: Vec::new(),
            starts: Vec::new(),
            face_starts: FaceStarts::new(),
            lead: None,
            let_out: None,
            rubs: false,
            searches: 0,
            anchors: Vec::new(),
            touches: Vec::new(),
            found: Vec::new(),
            forces: Vec::new(),
            metric: [0.0; 2],
            columns: ComplianceColumns::new(points.len()),
            spread: Vec::new(),
            colliders,
            points,
            beyond: Vec::new(),
            diagonal,
        })
    }

    /// Adds self-collision. Pinned points touch the skin, but no colliders.
    pub(crate) fn meet_itself(&mut self) {
        let pinned = (0..self.points.len()).filter(|&point| !self.points.moves(point));
        let count = self.colliders.len();
        pinned.for_each(|point| self.may_touch[point * count..][..count].fill(false));
        self.itself = Some(SelfContact::new(&self.points, &self.groups, &self.faces, self.diagonal));
    }

    /// Selects at most `most` points for contact with other soft bodies.
    pub(crate) fn meet_bodies(&mut self, most: usize) {
        self.body_points = self.points.thinned(NEAR * self.diagonal, most);
    }

    /// Number of rows of all placements.
    pub(crate) fn rows(&self) -> usize {
        ROWS * self.colliders.len()
    }

    /// Number of possible contact points, those on faces included.
    pub(crate) fn places(&self) -> usize {
        self.points.len() + self.faces.lanes()
    }

    /// Invalidates everything that depends on the metric.
    pub(crate) fn change_metric(&mut self) {
        self.columns.clear();
    }

    /// Begins a substep with search directions in a given metric.
    pub(crate) fn begin(&mut self, start: &Start<'_>, end: &End<'_>, metric: [f64; 2]) {
        self.placements = Moved::all(&start.state.last, end.colliders, [&start.origin, &end.origin]);
        copy(start.beyond, &mut self.beyond);
        self.forget();
        let course = |(point, place): (usize, Vector3<f64>)| {
            let start = place + self.shift(point);
            Course { start, here: start, ahead: start }
        };
        self.courses = self.points.all_at(start.rows).into_iter().enumerate().map(course).collect();
        self.swallows = self.swallows();
        self.starts.clear();
        self.starts.resize(self.may_touch.len(), [f64::NAN; 2]);
        copy(end.beyond, &mut self.beyond);
        self.rubs = start.h.is_some();
        self.let_out = start.h.map(|h| LET_OUT * self.diagonal * h);
        self.anchors.clone_from(&start.state.anchors);
        if self.metric != metric {
            self.metric = metric;
            self.change_metric();
        }
    }

    /// Forgets all contacts of the substep.
    fn forget(&mut self) {
        self.searches = 0;
        self.added.clear();
        self.faces.spots.clear();
        self.face_starts.clear();
        self.itself.iter_mut().for_each(SelfContact::forget);
        self.points.remove_added();
        self.columns.truncate(self.points.len());
        self.touches.clear();
        self.found.clear();
        self.forces.clear();
    }

    /// `true` if the last search had a contact.
    pub(crate) fn touches(&self) -> bool {
        !self.touches.is_empty()
    }

    /// `true` if a bound on the courses of all points may meet a collider.
    pub(crate) fn may_meet(&self, bound: &Bound) -> bool {
        let mut pairs = self.colliders.iter().zip(&self.placements);
        pairs.any(|(collider, moved)| bound.may_meet(collider.shape(), moved, NEAR * self.diagonal))
    }

    /// `true` if points or faces meet a collider on their way to u, with the rig in the offsets.
    pub(crate) fn is_met(&mut self, u: &Rows) -> bool {
        self.find(&[], u, &vec![[0.0; 3]; u.len()]);
        let is_met =
            self.touches.iter().any(|touch| touch.gap(&self.courses[touch.point as usize].here) < 0.0);
        self.forget();
        is_met
    }

    /// Largest push-out distance, metres, of a point at some distance from the pinned vertices.
    pub(super) fn let_out(&self, reach: f64) -> f64 {
        self.let_out.unwrap_or(GIVES * reach)
    }

    pub(super) fn shift(&self, point: usize) -> Vector3<f64> {
        if let Some(parts) = self.points.parts(point).filter(|_| !self.beyond.is_empty()) {
            let shift = |&(part, share): &(u32, f64)| share * Vector3::from(self.beyond[part as usize]);
            return parts.iter().map(shift).sum();
        }
        self.beyond.get(point).map_or_else(Vector3::zeros, |&shift| shift.into())
    }

    fn swallows(&self) -> Vec<bool> {
        let deep = |(collider, moved): (&Collider, &Moved)| {
            let stands = (collider.shape(), &moved.before);
            self.groups.any_deep(&self.courses, stands, SWALLOWED * self.diagonal, |point| self.held[point])
        };
        self.colliders.iter().zip(&self.placements).map(deep).collect()
    }

    /// Contact energy, J, at the positions given by `place`.
    pub(crate) fn evaluate(&mut self, place: impl Fn(&ContactPoints, usize) -> Vector3<f64>) -> f64 {
        self.forces.clear();
        let mut sum = 0.0;
        for touch in &self.touches {
            let point = touch.point as usize;
            let (energy, force) = touch.evaluate(&(place(&self.points, point) + self.shift(point)));
            self.forces.push(force);
            sum += energy;
        }
        sum
    }

    /// Derivative of the contact energy along a direction of the moving rows.
    pub(crate) fn slope(&self, direction: &Rows) -> f64 {
        let along = |(touch, force): (&Touch, &Vector3<f64>)| {
            -force.dot(&self.points.at(touch.point as usize, direction))
        };
        self.touches.iter().zip(&self.forces).map(along).sum()
    }

    /// Detects contacts, and adds the effect of contact forces to the free direction from u.
    pub(crate) fn correct(
        &mut self,
        rig: &Rows,
        u: &Rows,
        memory: &mut Lbfgs,
        direction: &mut Rows,
        value: &mut Value,
        mut inverse: Inverse<'_>,
    ) {
        let place = |points: &ContactPoints, point: usize| points.at(point, rig) + points.at(point, u);
        let before = self.evaluate(place);
        self.find(rig, u, direction);
        if self.is_idle() {
            self.touches.clear();
            self.found.clear();
        } else {
            self.turn(memory, direction, &mut inverse);
        }
        let after = self.evaluate(place);
        value.energy += after - before;
        value.size += after - before;
    }

    /// `true` if all contacts stay open along the direction and no contact force can arise.
    fn is_idle(&self) -> bool {
        self.touches.iter().all(|touch| {
            let Course { here, ahead, .. } = &self.courses[touch.point as usize];
            touch.bound == 0.0 && touch.gap(here) >= 0.0 && touch.gap(ahead) >= 0.0
        })
    }

    /// Adds the effect of contact forces to a direction.
    fn turn(&mut self, memory: &mut Lbfgs, direction: &mut Rows, inverse: &mut Inverse<'_>) {
        self.stiffen(direction.len(), inverse);
        let touched = self.touched();
        let points = inverse
            .mobility(&touched, &self.points, direction.len())
            .unwrap_or_else(|| self.columns.mobility(&touched, self.points.len()));
        let compact = memory.compact(|rows| inverse.solve(rows));
        let compliance = self.compliance(points, &compact);
        let free = self.touches.iter().map(|touch| self.courses[touch.point as usize].ahead);
        let free: Vec<Vector3<f64>> = free.collect();
        let friction: Vec<f64> = self.touches.iter().map(|touch| self.friction(touch)).collect();
        let guess = self.guess(&friction);
        let following: &[f64] = if self.searches > RUBBING { &[] } else { &friction };
        let forces = respond(&mut self.touches, following, &free, &compliance, &guess);
        self.found = forces.iter().copied().map(Some).collect();
        self.push(&forces, &compliance, &compact, direction, inverse);
    }

    /// Initial contact forces: those of the last search, or for new contacts from the penetration at the
    /// start of the substep, with the friction bound set accordingly.
    fn guess(&mut self, friction: &[f64]) -> Vec<Vector3<f64>> {
        let begun = |((touch, found), friction): ((&mut Touch, &Option<Vector3<f64>>), &f64)| {
            found.unwrap_or_else(|| {
                let start = self.courses[touch.point as usize].start;
                let moved = self.placements.get(touch.collider as usize);
                let start = moved.map_or(start, |moved| moved.now.world(&moved.before.local(&start)));
                let push = touch.stiffness * (-touch.gap(&start)).max(0.0);
                touch.bound = friction * push;
                push * touch.normal
            })
        };
        self.touches.iter_mut().zip(&self.found).zip(friction).map(begun).collect()
    }

    pub(super) fn friction(&self, touch: &Touch) -> f64 {
        let collider = self.colliders.get(touch.collider as usize).filter(|_| self.rubs);
        collider.map_or(0.0, Collider::friction)
    }

    /// Sets all contact stiffnesses; contacts of points that do not give way are left out.
    fn stiffen(&mut self, rows: usize, inverse: &mut Inverse<'_>) {
        self.know_columns(rows, inverse);
        let moves = |touch: &Touch| self.columns.own(touch.point as usize);
        let most = self.touches.iter().map(moves).fold(0.0, f64::max);
        let gives = |touch: &Touch| {
            let point = touch.point as usize;
            self.columns.gives_way(point, &touch.normal)
                && self.lead.is_none_or(|share| self.columns.leads(point, share))
        };
        let least = |touch: &Touch| if self.is_pair(touch.point as usize) { FIRM } else { HELD };
        let stays = |touch: &Touch| moves(touch) > least(touch) * most && gives(touch);
        let stays: Vec<bool> = self.touches.iter().map(stays).collect();
        let (mut of_touches, mut of_found) = (stays.iter(), stays.iter());
        self.touches.retain(|_| of_touches.next() == Some(&true));
        self.found.retain(|_| of_found.next() == Some(&true));
        let hard = |touch: &Touch| if self.is_pair(touch.point as usize) { YIELDING } else { HARD };
        let hard: Vec<f64> = self.touches.iter().map(hard).collect();
        for (touch, hard) in self.touches.iter_mut().zip(hard) {
            touch.stiffness = hard / self.columns.own(touch.point as usize);
        }
    }

    /// Computes the missing compliances of all contacts; those of pairs are sums of their points'.
    fn know_columns(&mut self, rows: usize, inverse: &mut Inverse<'_>) {
        let touched = self.touched();
        let (own, pairs): (Vec<usize>, Vec<usize>) = touched.iter().partition(|&&point| !self.is_pair(point));
        let parts = pairs.iter().filter_map(|&pair| self.points.parts(pair)).flatten();
        let moving =
            |&&(part, share): &&(u32, f64)| share != 0.0 && self.points.has_row(part as usize, |_| true);
        let mut needed: Vec<usize> = parts.filter(moving).map(|&(part, _)| part as usize).collect();
        needed.sort_unstable();
        self.columns.know(&needed, &self.points, rows, inverse);
        self.columns.know(&own, &self.points, rows, inverse);
        pairs.into_iter().for_each(|pair| self.columns.add_up(pair, &self.points));
    }

    /// `true` for the number of a pair of the skin with itself.
    fn is_pair(&self, point: usize) -> bool {
        let added = point.checked_sub(self.points.len());
        added.is_some_and(|number| matches!(self.added[number], Added::Pair(_)))
    }

    /// Points of all contacts.
    fn touched(&self) -> Vec<usize> {
        self.touches.iter().map(|touch| touch.point as usize).collect()
    }

    fn compliance(&self, points: Mobility, compact: &Compact<'_>) -> Compliance {
        let columns = |touch: &Touch| {
            compact.columns.iter().map(|column| self.points.at(touch.point as usize, column)).collect()
        };
        Compliance {
            points,
            columns: self.touches.iter().map(columns).collect(),
            matrix: compact.matrix.clone(),
        }
    }

    /// `direction += H S'f`.
    fn push(
        &mut self,
        forces: &[Vector3<f64>],
        compliance: &Compliance,
        compact: &Compact<'_>,
        direction: &mut Rows,
        inverse: &mut Inverse<'_>,
    ) {
        self.spread.clear();
        self.spread.resize(direction.len(), [0.0; 3]);
        for (touch, force) in self.touches.iter().zip(forces) {
            self.points.spread(touch.point as usize, force, &mut self.spread);
        }
        inverse.solve(&mut self.spread);
        add(direction, 1.0, &self.spread);
        for (column, share) in compact.columns.iter().zip(compliance.shares(forces)) {
            add(direction, share, column);
        }
    }

    /// Sticking positions of points after the substep, at u.
    pub(crate) fn settle_anchors(&mut self, rig: &Rows, u: &Rows) {
        self.anchors.clear();
        for touch in &self.touches {
            let point = touch.point as usize;
            let place = self.points.at(point, rig) + self.points.at(point, u) + self.shift(point);
            let moved = self.placements.get(touch.collider as usize);
            let anchor = moved.and_then(|moved| moved.anchor(touch, &place));
            self.anchors.extend(anchor.map(|anchor| self.of_lane(anchor, &place)));
        }
        self.anchors.sort_by_key(|anchor| (anchor.point, anchor.collider));
    }

    pub(crate) fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }
}

/// Distance to the nearest pinned position, metres.
/// Distance of a place from the nearest pinned vertex, metres; infinite without one.
pub(super) fn reach(place: &[f64; 3], pinned: &[[f64; 3]]) -> f64 {
    let away = pinned.iter().map(|other| (Vector3::from(*place) - Vector3::from(*other)).norm_squared());
    away.fold(f64::INFINITY, f64::min).sqrt()
}

fn copy(rows: &Rows, out: &mut Vec<[f64; 3]>) {
    out.clear();
    out.extend_from_slice(rows);
}
