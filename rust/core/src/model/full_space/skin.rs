//! Contact points of a full-space body: sums of its vertices, plus offsets from the points' own skinning
//! weights.

use std::collections::{BTreeMap, BTreeSet};

use super::FullSpaceModel;
use crate::kinematics::posing::Posing;
use crate::kinematics::rig_rows::handles_of_vertices;
use crate::math::rows::Rows;
use crate::potentials::contact::{ContactPoints, ContactSkin, Corners, VertexRows};
use crate::rig::Rig;
use crate::{Error, Result};

/// Largest number of contact points; more are thinned out.
const MOST: usize = 4000;

/// Offsets of points with their own skinning weights from the interpolated vertices.
#[derive(Default)]
pub(super) struct Skin {
    posing: Option<Posing>,
    /// Offsets at the start and at the end of a substep, metres; empty without own weights.
    pub(super) start: Vec<[f64; 3]>,
    pub(super) end: Vec<[f64; 3]>,
}

impl Skin {
    /// Skin with its contact points; without a skin, those of the mesh's boundary.
    pub(super) fn new(model: &FullSpaceModel, skin: Option<&ContactSkin>) -> Result<(Self, ContactPoints)> {
        let points = ContactPoints::new(model.mesh(), skin, model, (model.free, MOST))?;
        let rig = skin.and_then(|skin| skin.rig.as_ref());
        let posing = rig.map(|rig| model.posing.beyond(&points, rig)).transpose()?;
        let zeros = || vec![[0.0; 3]; if posing.is_some() { points.len() } else { 0 }];
        Ok((Self { start: zeros(), end: zeros(), posing }, points))
    }

    /// Computes the offsets at two poses, each in a space with its own origin.
    pub(super) fn go(&mut self, start: (&Rows, &[f64; 3]), end: (&Rows, &[f64; 3])) {
        if let Some(posing) = &self.posing {
            posing.apply(start.0, start.1, &mut self.start);
            posing.apply(end.0, end.1, &mut self.end);
        }
    }
}

impl Posing {
    /// Linear map to the offset between points skinned by their own weights and points interpolated from
    /// skinned vertices.
    pub(super) fn beyond(&self, points: &ContactPoints, rig: &Rig) -> Result<Self> {
        let sizes = |points: usize, bones: usize| format!("({points}, {bones})");
        let expected = sizes(points.given(), self.bones);
        let got = sizes(rig.vertex_count(), rig.bone_count());
        if expected != got {
            return Err(Error::Shape { what: "contact_weights", expected, got });
        }
        let (ends, weights) = handles_of_vertices(points.given(), Some(rig));
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for (index, place, corners) in points.iter() {
            let place = self.coordinates.homogeneous(place);
            let own =
                weights[ends[index]..ends[index + 1]].iter().map(|&(bone, w)| (bone, place.map(|x| w * x)));
            let carried = corners.iter().flat_map(|&(row, share)| {
                let own = &self.entries[self.starts[row as usize]..self.starts[row as usize + 1]];
                own.iter().map(move |&(bone, row)| (bone, row.map(|x| -share * x)))
            });
            let mut sums = BTreeMap::<u32, [f64; 4]>::new();
            for (bone, row) in own.chain(carried) {
                sums.entry(bone).or_default().iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            entries.extend(sums);
            starts.push(entries.len());
        }
        Ok(Self { coordinates: self.coordinates, bones: self.bones, starts, entries })
    }
}

impl FullSpaceModel {
    /// Rest positions of pinned vertices next to moving ones, metres.
    pub(super) fn pinned_beside_flesh(&self) -> Vec<[f64; 3]> {
        let moves = |&vertex: &u32| self.data.moving.contains(vertex as usize);
        let beside = self.data.mesh.tets().iter().filter(|tet| tet.iter().any(moves)).flatten();
        let pinned: BTreeSet<u32> = beside.copied().filter(|vertex| !moves(vertex)).collect();
        pinned.iter().map(|&vertex| self.data.mesh.vertices()[vertex as usize]).collect()
    }
}

/// One row a vertex.
impl VertexRows for FullSpaceModel {
    fn moves(&self, vertex: u32) -> bool {
        (self.rows[vertex as usize] as usize) < self.free
    }

    fn enter(&self, point: &Corners, entries: &mut Vec<(u32, f64)>) {
        entries.extend(point.iter().map(|&(vertex, weight)| (self.rows[vertex as usize], weight)));
    }
}
