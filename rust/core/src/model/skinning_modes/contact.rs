//! Contact of a body of skinning modes with colliders.
//!
//! A step without a contact is the same as one without colliders, bit for bit. A body on its way into a
//! collider starts its step at its last place, on the side from which it came.

use std::sync::Arc;

use super::SkinningModel;
use super::limit_places::row;
use super::metric::Metric;
use crate::Result;
use crate::math::rows::Rows;
use crate::parallel::*;
use crate::potentials::contact::{
    Anchor, Collider, ContactSkin, Corners, Inverse, ReducedBody, ReducedContact, VertexRows,
};
use crate::sampling::covering::norm2;
use crate::solve::{Lbfgs, Value};
use crate::stepping::method::{RigState, last};
use crate::stepping::state::State;

/// Least motion of a point under its contact force, as a share of the largest motion that the force causes,
/// in a body with pinned vertices. Modes have no dent where bone is near, and the force would crumple the
/// rest.
const LEAD: f64 = 0.8;

/// Colliders of a body of skinning modes, and its contact points.
pub(super) struct Touching {
    pub(super) contact: ReducedContact,
    /// Cluster with the nearest centre to each point, whose offset stands for that of the point.
    clusters: Vec<usize>,
    /// Diagonal and revision of the metric of the known compliances.
    diagonal: Vec<f64>,
    revision: u64,
}

impl Touching {
    /// Contact of points of a skin; of boundary vertices without one, for a body without bones.
    pub(super) fn new(
        model: &SkinningModel,
        colliders: Arc<[Collider]>,
        skin: Option<&ContactSkin>,
    ) -> Result<Self> {
        let body = ReducedBody {
            mesh: model.mesh(),
            coordinates: model.coordinates,
            bones: model.bone_count(),
            rank: model.rank(),
            mass: model.mass(),
            lead: model.pinned().contains(&true).then_some(LEAD),
        };
        let contact = ReducedContact::new(&body, colliders, skin, &Places::new(model, &body))?;
        let centers: Vec<[f64; 3]> = (0..model.center_count()).map(|c| model.rest_center(c)).collect();
        let clusters = contact.places().iter().map(|place| nearest(place, &centers)).collect();
        Ok(Self { contact, clusters, diagonal: Vec::new(), revision: 0 })
    }

    /// Begins a substep of h seconds from a state.
    pub(super) fn begin(&mut self, model: &SkinningModel, state: &State, rig: RigState<'_>, h: f64) {
        let [.., pose] = &state.path;
        let [.., offset] = &state.offset_path;
        self.place([[pose, offset], [rig.pose, rig.offset]], model);
        self.contact.begin((last(state), &state.contact), (rig.pose, rig.colliders), Some(h), [0.0; 2]);
    }

    /// Begins statics, from the rig's shape.
    pub(super) fn begin_rest(&mut self, model: &SkinningModel, rig: RigState<'_>) {
        self.place([[rig.pose, rig.offset]; 2], model);
        self.contact.begin_rest(rig.pose, rig.colliders, [0.0; 2]);
    }

    /// Places the points by the rig alone, with pose and offsets at the start and at the end.
    fn place(&mut self, rigs: [[&Rows; 2]; 2], model: &SkinningModel) {
        let rigged = self.contact.place(rigs.map(|[pose, _]| pose));
        for (places, [_, offsets]) in rigged.iter_mut().zip(rigs) {
            let centers = model.offset_parts(offsets).centers;
            for (place, &cluster) in places.iter_mut().zip(&self.clusters).filter(|_| !centers.is_empty()) {
                (0..3).for_each(|c| place[c] += centers[cluster][c]);
            }
        }
    }

    /// Adds the effect of contact forces to a direction from y.
    pub(super) fn correct(
        &mut self,
        metric: &Metric,
        y: &Rows,
        memory: &mut Lbfgs,
        (direction, value): (&mut Rows, &mut Value),
    ) {
        if !self.contact.touches() && !self.contact.may_meet(y, direction) {
            return;
        }
        if self.revision != metric.revision() || self.diagonal != metric.diagonal {
            self.contact.change_metric();
            memory.change_metric();
            self.diagonal.clone_from(&metric.diagonal);
            self.revision = metric.revision();
        }
        let mut solve = |rows: &mut Rows| metric.solve(rows);
        self.contact.correct(y, memory, (direction, value), Inverse::even(&mut solve));
    }

    /// Sticking positions after a substep.
    pub(super) fn anchors(&self) -> &[Anchor] {
        self.contact.anchors()
    }
}

impl SkinningModel {
    /// `true` for each vertex of the mesh at which all modes vanish, as on bone.
    pub fn pinned(&self) -> Vec<bool> {
        self.weights().chunks(self.mode_count()).map(|weights| weights.iter().all(|&w| w == 0.0)).collect()
    }
}

/// Index of the centre nearest to a place.
fn nearest(place: &[f64; 3], centers: &[[f64; 3]]) -> usize {
    let distance2 = |c: usize| (0..3).map(|d| (centers[c][d] - place[d]).powi(2)).sum::<f64>();
    (0..centers.len()).min_by(|&a, &b| distance2(a).total_cmp(&distance2(b))).unwrap_or(0)
}

/// Vertices of a body of skinning modes.
struct Places<'a> {
    model: &'a SkinningModel,
    moves: Vec<bool>,
}

impl<'a> Places<'a> {
    fn new(model: &'a SkinningModel, body: &ReducedBody<'_>) -> Self {
        let response = |vertex: usize| norm2(&row(&model.data, &model.coordinates, vertex));
        let vertices = body.mesh.vertices().len();
        Self { model, moves: (0..vertices).into_par_iter().map(|v| body.is_moved(response(v))).collect() }
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
