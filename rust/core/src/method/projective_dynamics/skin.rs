//! What of a loose body touches things: samples of its surface as sums of the body's coordinates.

use super::ProjectiveModel;
use crate::Result;
use crate::mesh::Embedding;
use crate::method::loads::contact::{ContactPoints, Corners, VertexRows};

/// Most samples of a surface, as many as the paper takes `[HRPD]`: a step costs no more on a finer mesh.
const MOST: usize = 1000;

impl ProjectiveModel {
    /// Points of a skin, or without one vertices of the boundary, evenly thinned out.
    pub(super) fn samples(&self, skin: Option<&Embedding>) -> Result<ContactPoints> {
        ContactPoints::new(&self.mesh, skin, self, (self.rank(), MOST))
    }
}

impl VertexRows for ProjectiveModel {
    fn moves(&self, _: u32) -> bool {
        true
    }

    fn enter(&self, point: &Corners, entries: &mut Vec<(u32, f64)>) {
        let mut own = Vec::new();
        for &(vertex, share) in point.iter().filter(|(_, share)| *share != 0.0) {
            let (vertex, scaled) = (vertex as usize, |(row, value): (u32, f64)| (row, share * value));
            let part = self.handles.parts_of_vertices()[vertex];
            own.extend(self.coordinates.affine_row(part, &self.mesh.vertices()[vertex]).map(scaled));
            for (handle, values) in self.handles.row(&self.mesh, vertex) {
                let row = |(d, value)| Some((self.coordinates.own(4 * handle + d)?, value));
                own.extend(values.into_iter().enumerate().filter_map(row).map(scaled));
            }
        }
        own.sort_by_key(|&(row, _)| row);
        let sum = |same: &[(u32, f64)]| (same[0].0, same.iter().map(|(_, value)| value).sum());
        entries.extend(own.chunk_by(|a, b| a.0 == b.0).map(sum));
    }
}
