//! What of a full-space body touches things: sums of its vertices, and what weights of their own add.

use std::collections::BTreeSet;

use super::FullSpaceModel;
use super::posing::Posing;
use crate::Result;
use crate::math::rows::Rows;
use crate::method::loads::contact::{ContactPoints, ContactSkin, Corners, VertexRows};

/// Most points of a body: more are thinned out.
const MOST: usize = 4000;

/// What the rig has points at beyond the vertices that carry them, if they have weights of their own.
#[derive(Default)]
pub(super) struct Skin {
    posing: Option<Posing>,
    /// At the start of a substep and at its end, metres; none without.
    pub(super) start: Vec<[f64; 3]>,
    pub(super) end: Vec<[f64; 3]>,
}

impl Skin {
    /// Of a skin, or without one of the mesh's boundary; with the points of it that touch.
    pub(super) fn new(model: &FullSpaceModel, skin: Option<&ContactSkin>) -> Result<(Self, ContactPoints)> {
        let mut place = vec![0; model.vertices.len()];
        (0..).zip(&model.vertices).for_each(|(row, &vertex)| place[vertex as usize] = row);
        let rows = PlacedRows { place, free: model.free };
        let points = skin.map(|skin| &*skin.points);
        let points = ContactPoints::new(model.mesh(), points, &rows, (model.free, MOST))?;
        let rig = skin.and_then(|skin| skin.rig.as_ref());
        let posing = rig.map(|rig| model.posing.beyond(&points, rig)).transpose()?;
        let zeros = || vec![[0.0; 3]; if posing.is_some() { points.len() } else { 0 }];
        Ok((Self { start: zeros(), end: zeros(), posing }, points))
    }

    /// Finds where it is beyond at two poses, each in a space whose origin is somewhere.
    pub(super) fn go(&mut self, start: (&Rows, &[f64; 3]), end: (&Rows, &[f64; 3])) {
        if let Some(posing) = &self.posing {
            posing.apply(start.0, start.1, &mut self.start);
            posing.apply(end.0, end.1, &mut self.end);
        }
    }
}

impl FullSpaceModel {
    /// Where pinned vertices next to moving ones are at rest, metres.
    pub(super) fn pinned_beside_flesh(&self) -> Vec<[f64; 3]> {
        let moves = |&vertex: &u32| self.data.moving.contains(vertex as usize);
        let beside = self.data.mesh.tets().iter().filter(|tet| tet.iter().any(moves)).flatten();
        let pinned: BTreeSet<u32> = beside.copied().filter(|vertex| !moves(vertex)).collect();
        pinned.iter().map(|&vertex| self.data.mesh.vertices()[vertex as usize]).collect()
    }
}

/// A row a vertex.
struct PlacedRows {
    place: Vec<u32>,
    free: usize,
}

impl VertexRows for PlacedRows {
    fn moves(&self, vertex: u32) -> bool {
        (self.place[vertex as usize] as usize) < self.free
    }

    fn enter(&self, point: &Corners, entries: &mut Vec<(u32, f64)>) {
        entries.extend(point.iter().map(|&(vertex, weight)| (self.place[vertex as usize], weight)));
    }
}
