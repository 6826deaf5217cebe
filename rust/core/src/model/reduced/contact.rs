//! Contact of a body in a basis of displacements with colliders. A basis dents as its displacements do.

use std::sync::Arc;

use faer::Mat;

use super::ReducedModel;
use crate::Result;
use crate::potentials::contact::{Collider, ContactSkin, Corners, ReducedBody, ReducedContact, VertexRows};

impl ReducedModel {
    /// Contact of points of a skin; of boundary vertices without one, for a body without bones.
    pub(super) fn touching(
        &self,
        colliders: Arc<[Collider]>,
        skin: Option<&ContactSkin>,
    ) -> Result<ReducedContact> {
        let data = &self.data;
        let body = ReducedBody {
            mesh: &data.mesh,
            coordinates: data.coordinates,
            bones: data.bones,
            rank: data.rank().div_ceil(3),
            mass: data.total_mass,
            lead: None,
        };
        let fields = self.fields();
        let square = |i: usize| fields.row(i).iter().map(|x| x * x).sum::<f64>();
        let response = |v: usize| (0..3).map(|c| square(3 * v + c)).sum::<f64>() / 3.0;
        let moves = (0..data.mass.len()).map(|v| body.is_moved(response(v))).collect();
        ReducedContact::new(&body, colliders, skin, &Places { fields, moves })
    }
}

/// Vertices of a body in a basis.
struct Places {
    /// B, 3n x k.
    fields: Mat<f64>,
    moves: Vec<bool>,
}

impl VertexRows for Places {
    fn moves(&self, vertex: u32) -> bool {
        self.moves[vertex as usize]
    }

    fn enter(&self, _: &Corners, _: &mut Vec<(u32, f64)>) {}

    fn enter_fields(&self, point: &Corners, fields: &mut Vec<[f64; 3]>) {
        let rank = self.fields.ncols();
        let sum = |c: usize, k: usize| {
            point.iter().map(|&(vertex, share)| share * self.fields[(3 * vertex as usize + c, k)]).sum()
        };
        fields.extend((0..rank).map(|k| [0, 1, 2].map(|c| sum(c, k))));
        // Rows hold three coordinates each, padded with zeros.
        fields.extend((rank..rank.next_multiple_of(3)).map(|_| [0.0; 3]));
    }
}
