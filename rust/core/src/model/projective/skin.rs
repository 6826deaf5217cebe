//! Contact points of a body of handles: samples of its surface as sums of the body's coordinates.

use super::ProjectiveModel;
use crate::potentials::contact::{ContactPoints, ContactSkin, Corners, VertexRows};
use crate::potentials::elastic::body::Mesh;
use crate::{Error, Result};

/// Largest number of samples, the number of the paper `[HRPD]`, to make the cost of a step independent of
/// the mesh.
const MOST: usize = 1000;

impl ProjectiveModel {
    /// Points of a skin, or without one vertices of the boundary or of a surface, evenly thinned out.
    pub(super) fn samples(&self, skin: Option<&ContactSkin>) -> Result<ContactPoints> {
        match &self.body.mesh {
            Mesh::Tets(mesh) => ContactPoints::new(mesh, skin, self, (self.rank(), MOST)),
            Mesh::Surface(_) if skin.is_some() => {
                let why = "a surface without volume touches with its own points; leave them out";
                Err(Error::Unsupported { what: "contact_points", why })
            }
            Mesh::Surface(surface) => ContactPoints::of_surface(surface, self, (self.rank(), MOST)),
        }
    }
}

impl VertexRows for ProjectiveModel {
    fn moves(&self, vertex: u32) -> bool {
        self.attachment.as_ref().is_none_or(|attachment| !attachment.holds(vertex as usize))
    }

    fn enter(&self, point: &Corners, entries: &mut Vec<(u32, f64)>) {
        entries.extend(sum_of_rows(self, point));
    }
}

/// A point between vertices as a sum of coordinates.
pub(super) fn sum_of_rows(model: &ProjectiveModel, point: &Corners) -> Vec<(u32, f64)> {
    let mut own = Vec::new();
    for &(vertex, share) in point.iter().filter(|(_, share)| *share != 0.0) {
        let row = model.coordinates.row(&model.handles, vertex as usize);
        own.extend(row.map(|(row, value)| (row, share * value)));
    }
    own.sort_by_key(|&(row, _)| row);
    let sum = |same: &[(u32, f64)]| (same[0].0, same.iter().map(|(_, value)| value).sum());
    own.chunk_by(|a, b| a.0 == b.0).map(sum).collect()
}
