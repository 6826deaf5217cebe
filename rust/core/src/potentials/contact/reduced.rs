//! Contact of a body in a few coordinates y: few points of the skin, each `J p + B y`.
//!
//! Nothing in a step depends on the size of the mesh, and a bound on all points at once tells that a body
//! meets no collider. A vertex takes part if the coordinates move it at least as easily as the mass of the
//! whole body; a contact of others would move all else before them.

use std::collections::BTreeSet;
use std::sync::Arc;

use nalgebra::Vector3;

use super::{
    Anchor, Bound, Collider, Contact, ContactPoints, ContactSkin, ContactState, Course, End, Inverse, Start,
    VertexRows,
};
use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::posing::Posing;
use crate::kinematics::rig_rows::rig_rows;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::solve::{Lbfgs, Value};
use crate::{Error, Result};

/// Largest number of contact points.
const MOST: usize = 256;
/// Response of a vertex to a force, as a share of that of the whole body, from which it is in contact; less
/// than 1 against rounding.
const EASY: f64 = 0.99;

/// A body in reduced coordinates.
pub(crate) struct ReducedBody<'a> {
    pub(crate) mesh: &'a TetMesh,
    pub(crate) coordinates: Coordinates,
    /// Number of bones, 0 without a rig.
    pub(crate) bones: usize,
    /// Number of rows of coordinates.
    pub(crate) rank: usize,
    /// kg.
    pub(crate) mass: f64,
    /// Least motion of a point under its contact force, as a share of the largest motion that the force
    /// causes; `None` for any.
    pub(crate) lead: Option<f64>,
}

/// Contact of a body in reduced coordinates.
pub(crate) struct ReducedContact {
    contact: Contact,
    /// Number of rows of coordinates.
    rank: usize,
    /// J at the points.
    posing: Posing,
    /// Points by the rig alone at the start and at the end of the substep, metres.
    rigged: [Vec<[f64; 3]>; 2],
    /// Largest norm of a row of B: no point moves by more than this times `|y|`.
    reach: f64,
    /// Bound on the points by the rig alone, without motion.
    bound: Bound,
    /// Length of y at the start of the substep.
    begun: f64,
}

impl ReducedContact {
    /// Contact of points of a skin; of boundary vertices without one, for a body without bones.
    pub(crate) fn new(
        body: &ReducedBody<'_>,
        colliders: Arc<[Collider]>,
        skin: Option<&ContactSkin>,
        rows: &impl VertexRows,
    ) -> Result<Self> {
        let mut points = ContactPoints::new(body.mesh, skin, rows, (body.rank, MOST))?;
        points.pack();
        let posing = body.posing(&points, skin)?;
        let rigged = [(); 2].map(|()| vec![[0.0; 3]; points.len()]);
        let (reach, bound) = (points.reach(), bound(&rigged));
        let pinned = body.pinned(rows);
        let mut contact = Contact::new(colliders, points, |_| body.bones > 0, &pinned, body.mesh.diagonal())?;
        contact.lead = body.lead;
        Ok(Self { contact, rank: body.rank, posing, rigged, reach, bound, begun: 0.0 })
    }

    /// Points by the rig alone in two poses, at the start and at the end of a substep, metres.
    pub(crate) fn place(&mut self, poses: [&Rows; 2]) -> &mut [Vec<[f64; 3]>; 2] {
        let origin = self.posing.translation(poses[1]);
        self.rigged.iter_mut().zip(poses).for_each(|(places, pose)| self.posing.apply(pose, &origin, places));
        &mut self.rigged
    }

    /// Begins a substep of h seconds, or statics without, from coordinates and the state of contact, once the
    /// points are placed. `pose` and `colliders` are those at the end.
    pub(crate) fn begin(
        &mut self,
        (rows, state): (&Rows, &ContactState),
        (pose, colliders): (&Rows, &Rows),
        h: Option<f64>,
        metric: [f64; 2],
    ) {
        let origin = self.posing.translation(pose);
        (self.bound, self.begun) = (bound(&self.rigged), length(rows));
        let [start, end] = &self.rigged;
        let start = Start { rows, beyond: start, origin, state, h };
        self.contact.begin(&start, &End { colliders, beyond: end, origin }, metric);
    }

    /// Begins statics among colliders, from the rig's shape.
    pub(crate) fn begin_rest(&mut self, pose: &Rows, colliders: &Rows, metric: [f64; 2]) {
        let standing = ContactState { last: colliders.to_vec(), ..ContactState::default() };
        let still = vec![[0.0; 3]; self.rank];
        self.begin((&still, &standing), (pose, colliders), None, metric);
    }

    /// `true` if the body may meet a collider on its way to y or on a step along a direction from there.
    pub(crate) fn may_meet(&self, y: &Rows, direction: &Rows) -> bool {
        let [start, here, ahead] =
            [self.begun, length(y), length(direction)].map(|length| self.reach * length);
        self.contact.may_meet(&Bound {
            around_start: self.bound.around_start + start,
            around_here: self.bound.around_here + here,
            beside: self.bound.beside + start + here,
            ahead,
            ..self.bound
        })
    }

    /// `true` if the body meets a collider on its way to y.
    pub(crate) fn is_met(&mut self, y: &Rows) -> bool {
        self.may_meet(y, &[]) && self.contact.is_met(y)
    }

    /// `true` if the last search had a contact.
    pub(crate) fn touches(&self) -> bool {
        self.contact.touches()
    }

    /// Forgets the compliances of another metric.
    pub(crate) fn change_metric(&mut self) {
        self.contact.change_metric();
    }

    /// Contact energy, J, at y.
    pub(crate) fn evaluate(&mut self, y: &Rows) -> f64 {
        self.contact.evaluate(|points, point| points.at(point, y))
    }

    /// Derivative of the contact energy along a direction.
    pub(crate) fn slope(&self, direction: &Rows) -> f64 {
        self.contact.slope(direction)
    }

    /// Adds the effect of contact forces to a direction from y.
    pub(crate) fn correct(
        &mut self,
        y: &Rows,
        memory: &mut Lbfgs,
        (direction, value): (&mut Rows, &mut Value),
        inverse: Inverse<'_>,
    ) {
        if self.touches() || self.may_meet(y, direction) {
            self.contact.correct(&[], y, memory, direction, value, inverse);
        }
    }

    /// Sticking positions after a substep that ends at y.
    pub(crate) fn settle_anchors(&mut self, y: &Rows) {
        self.contact.settle_anchors(&[], y);
    }

    /// Sticking positions after a substep.
    pub(crate) fn anchors(&self) -> &[Anchor] {
        self.contact.anchors()
    }

    /// Rest positions of the points, metres.
    pub(crate) fn places(&self) -> &[[f64; 3]] {
        self.contact.points.places()
    }

    /// Number of rows of the collider placements, and of contact points.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.contact.rows(), self.contact.places()]
    }
}

impl ReducedBody<'_> {
    /// `true` for a vertex with a compliance in the metric of the mass, 1/kg, that takes part.
    pub(crate) fn is_moved(&self, compliance: f64) -> bool {
        compliance >= EASY / self.mass
    }

    /// J at contact points.
    fn posing(&self, points: &ContactPoints, skin: Option<&ContactSkin>) -> Result<Posing> {
        let (rig, bones) = (skin.and_then(|skin| skin.rig.as_deref()), self.bones);
        if rig.is_none() && bones > 0 {
            let why =
                "the model knows no bones at the points; give contact_points and their skinning weights";
            return Err(Error::Unsupported { what: "contact_weights", why });
        }
        let sizes = (points.given(), bones);
        if let Some(got) = rig.map(|rig| (rig.vertex_count(), rig.bone_count())).filter(|got| *got != sizes) {
            let [expected, got] = [sizes, got].map(|(points, bones)| format!("({points}, {bones})"));
            return Err(Error::Shape { what: "contact_weights", expected, got });
        }
        let mut all = vec![[0.0; 3]; points.given()];
        points.iter().for_each(|(index, place, _)| all[index] = *place);
        let rows = rig_rows(&self.coordinates, &all, rig);
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for (index, ..) in points.iter() {
            entries.extend(&rows[index]);
            starts.push(entries.len());
        }
        Ok(Posing { coordinates: self.coordinates, bones, starts, entries })
    }

    /// Rest positions of vertices that do not move, next to moving ones, metres.
    fn pinned(&self, rows: &impl VertexRows) -> Vec<[f64; 3]> {
        let moves = |&vertex: &u32| rows.moves(vertex);
        let beside = self.mesh.tets().iter().filter(|tet| tet.iter().any(moves)).flatten();
        let pinned: BTreeSet<u32> = beside.copied().filter(|vertex| !rows.moves(*vertex)).collect();
        pinned.iter().map(|&vertex| self.mesh.vertices()[vertex as usize]).collect()
    }
}

fn length(rows: &Rows) -> f64 {
    rows.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Bound on points that move from one place to another.
fn bound([start, end]: &[Vec<[f64; 3]>; 2]) -> Bound {
    let course = |(start, end): (&[f64; 3], &[f64; 3])| {
        let [start, here] = [start, end].map(|place| Vector3::from(*place));
        Course { start, here, ahead: here }
    };
    let courses: Vec<Course> = start.iter().zip(end).map(course).collect();
    Bound::of(courses.iter())
}
