//! Contact of a body of skinning modes with colliders.
//!
//! A few points of the skin touch: their positions are `J p + B Phi Y`, with one row of r numbers each.
//! Nothing in a step depends on the size of the mesh. A step without a contact is the same as one without
//! colliders, bit for bit: points are looked at once it is solved, and only a body that meets a collider is
//! solved again, by descent.

use std::collections::BTreeSet;
use std::sync::Arc;

use nalgebra::Vector3;

use super::SkinningModel;
use super::limit_places::row;
use super::metric::Metric;
use crate::kinematics::posing::Posing;
use crate::kinematics::rig_rows::rig_rows;
use crate::math::rows::Rows;
use crate::parallel::*;
use crate::potentials::contact::{
    Anchor, Bound, Collider, Contact, ContactPoints, ContactSkin, ContactState, Corners, Course, End,
    Inverse, Start, VertexRows,
};
use crate::rig::Rig;
use crate::sampling::covering::norm2;
use crate::solve::{Lbfgs, Value};
use crate::stepping::method::{RigState, last};
use crate::stepping::state::State;
use crate::{Error, Result};

/// Largest number of contact points.
const MOST: usize = 256;
/// Response of a vertex to a force, as a share of that of the whole body, from which it is in contact; less
/// than 1 against rounding.
const EASY: f64 = 0.99;

/// Colliders of a body of skinning modes, and its contact points.
pub(super) struct Touching {
    pub(super) contact: Contact,
    /// J at the points.
    posing: Posing,
    /// Cluster with the nearest centre to each point, whose offset stands for that of the point.
    clusters: Vec<usize>,
    /// Points by the rig alone at the start and at the end of the substep, metres.
    rigged: [Vec<[f64; 3]>; 2],
    /// Largest norm of a row of `B Phi`: no point moves by more than this times `|Y|`.
    reach: f64,
    /// Bound on the points by the rig alone, without motion.
    bound: Bound,
    /// Length of Y at the start of the substep.
    begun: f64,
    /// Diagonal of the metric of the known compliances; empty for a metric with more than a diagonal.
    diagonal: Vec<f64>,
}

impl Touching {
    /// Contact of points of a skin; of boundary vertices without one, for a body without bones.
    pub(super) fn new(
        model: &SkinningModel,
        colliders: Arc<[Collider]>,
        skin: Option<&ContactSkin>,
    ) -> Result<Self> {
        let places = Places::new(model);
        let mut points = ContactPoints::new(model.mesh(), skin, &places, (model.rank(), MOST))?;
        points.pack();
        let centers: Vec<[f64; 3]> = (0..model.center_count()).map(|c| model.rest_center(c)).collect();
        let clusters = points.places().iter().map(|place| nearest(place, &centers)).collect();
        let posing = posing(model, &points, skin.and_then(|skin| skin.rig.as_deref()))?;
        let rigged = [(); 2].map(|()| vec![[0.0; 3]; points.len()]);
        let (has_bones, pinned) = (model.bone_count() > 0, places.pinned());
        let length2 = |entries: &[(u32, f64)]| entries.iter().map(|(_, x)| x * x).sum::<f64>();
        let reach = points.iter().map(|(.., entries)| length2(entries)).fold(0.0, f64::max).sqrt();
        let bound = bound(&rigged);
        let contact = Contact::new(colliders, points, |_| has_bones, &pinned, model.diagonal())?;
        Ok(Self { contact, posing, clusters, rigged, reach, bound, begun: 0.0, diagonal: Vec::new() })
    }

    /// Begins a substep of h seconds from a state.
    pub(super) fn begin(&mut self, model: &SkinningModel, state: &State, rig: RigState<'_>, h: f64) {
        let past = |history: &[Vec<[f64; 3]>]| history[history.len() - 1].clone();
        let from = [past(&state.path), past(&state.offset_path)];
        self.place([[&from[0], &from[1]], [rig.pose, rig.offset]], model);
        self.enter((last(state), &state.contact), rig, Some(h));
    }

    /// Begins statics, from the rig's shape.
    pub(super) fn begin_rest(&mut self, model: &SkinningModel, rig: RigState<'_>) {
        self.place([[rig.pose, rig.offset]; 2], model);
        let standing = ContactState { last: rig.colliders.to_vec(), ..ContactState::default() };
        self.enter((&vec![[0.0; 3]; model.rank()], &standing), rig, None);
    }

    /// Places the points by the rig alone, with pose and offsets at the start and at the end.
    fn place(&mut self, rigs: [[&Rows; 2]; 2], model: &SkinningModel) {
        let origin = self.posing.translation(rigs[1][0]);
        for (places, [pose, offsets]) in self.rigged.iter_mut().zip(rigs) {
            self.posing.apply(pose, &origin, places);
            let centers = model.offset_parts(offsets).centers;
            for (place, &cluster) in places.iter_mut().zip(&self.clusters).filter(|_| !centers.is_empty()) {
                (0..3).for_each(|c| place[c] += centers[cluster][c]);
            }
        }
    }

    fn enter(&mut self, (rows, state): (&Rows, &ContactState), rig: RigState<'_>, h: Option<f64>) {
        let origin = self.posing.translation(rig.pose);
        (self.bound, self.begun) = (bound(&self.rigged), length(rows));
        let [start, end] = &self.rigged;
        let start = Start { rows, beyond: start, origin, state, h };
        self.contact.begin(&start, &End { colliders: rig.colliders, beyond: end, origin }, [0.0; 2]);
    }

    /// `true` if the body may meet a collider on its way to y or on a step along a direction from there.
    fn may_meet(&self, y: &Rows, direction: &Rows) -> bool {
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
    pub(super) fn is_met(&mut self, y: &Rows) -> bool {
        self.may_meet(y, &[]) && self.contact.is_met(y)
    }

    /// Adds the effect of contact forces to a direction from y.
    pub(super) fn correct(
        &mut self,
        metric: &Metric,
        y: &Rows,
        memory: &mut Lbfgs,
        (direction, value): (&mut Rows, &mut Value),
    ) {
        if !self.contact.touches() && !self.may_meet(y, direction) {
            return;
        }
        if !metric.is_diagonal() || self.diagonal != metric.diagonal {
            self.contact.change_metric();
            memory.change_metric();
            self.diagonal.clear();
            self.diagonal.extend(metric.diagonal.iter().filter(|_| metric.is_diagonal()));
        }
        let mut solve = |rows: &mut Rows| metric.solve(rows);
        self.contact.correct(&[], y, memory, direction, value, Inverse::even(&mut solve));
    }

    /// Sticking positions after a substep.
    pub(super) fn anchors(&self) -> &[Anchor] {
        self.contact.anchors()
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

/// Index of the centre nearest to a place.
fn nearest(place: &[f64; 3], centers: &[[f64; 3]]) -> usize {
    let distance2 = |c: usize| (0..3).map(|d| (centers[c][d] - place[d]).powi(2)).sum::<f64>();
    (0..centers.len()).min_by(|&a, &b| distance2(a).total_cmp(&distance2(b))).unwrap_or(0)
}

/// J at contact points.
fn posing(model: &SkinningModel, points: &ContactPoints, rig: Option<&Rig>) -> Result<Posing> {
    let bones = model.bone_count();
    if rig.is_none() && bones > 0 {
        let why = "the model knows no bones at the points; give contact_points and their skinning weights";
        return Err(Error::Unsupported { what: "contact_weights", why });
    }
    let sizes = (points.given(), bones);
    if let Some(got) = rig.map(|rig| (rig.vertex_count(), rig.bone_count())).filter(|got| *got != sizes) {
        let [expected, got] = [sizes, got].map(|(points, bones)| format!("({points}, {bones})"));
        return Err(Error::Shape { what: "contact_weights", expected, got });
    }
    let mut all = vec![[0.0; 3]; points.given()];
    points.iter().for_each(|(index, place, _)| all[index] = *place);
    let rows = rig_rows(&model.coordinates, &all, rig);
    let (mut starts, mut entries) = (vec![0], Vec::new());
    for (index, ..) in points.iter() {
        entries.extend(&rows[index]);
        starts.push(entries.len());
    }
    Ok(Posing { coordinates: model.coordinates, bones, starts, entries })
}

/// Vertices of a body of skinning modes.
struct Places<'a> {
    model: &'a SkinningModel,
    /// `true` for vertices that modes move more easily than the whole body's mass; a contact of others would
    /// move all else before them.
    moves: Vec<bool>,
}

impl<'a> Places<'a> {
    fn new(model: &'a SkinningModel) -> Self {
        let vertices = model.mesh().vertices().len();
        let response = |vertex: usize| norm2(&row(&model.data, &model.coordinates, vertex));
        let moves = |vertex: usize| response(vertex) >= EASY / model.mass();
        Self { model, moves: (0..vertices).into_par_iter().map(moves).collect() }
    }

    /// Rest positions of vertices that do not move, next to moving ones, metres.
    fn pinned(&self) -> Vec<[f64; 3]> {
        let moves = |&vertex: &u32| self.moves[vertex as usize];
        let mesh = self.model.mesh();
        let beside = mesh.tets().iter().filter(|tet| tet.iter().any(moves)).flatten();
        let pinned: BTreeSet<u32> = beside.copied().filter(|vertex| !moves(vertex)).collect();
        pinned.iter().map(|&vertex| mesh.vertices()[vertex as usize]).collect()
    }
}

/// All reduced coordinates for each point.
impl VertexRows for Places<'_> {
    fn moves(&self, vertex: u32) -> bool {
        self.moves[vertex as usize]
    }

    fn enter(&self, point: &Corners, entries: &mut Vec<(u32, f64)>) {
        let SkinningModel { data, coordinates, .. } = self.model;
        let mut sum = vec![0.0; self.model.rank()];
        for &(vertex, share) in point.iter().filter(|(_, share)| *share != 0.0) {
            let row = row(data, coordinates, vertex as usize);
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += share * x);
        }
        entries.extend((0..).zip(sum));
    }
}
