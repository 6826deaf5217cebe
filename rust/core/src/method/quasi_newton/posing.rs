//! Vertex positions by the rig: `x_i = sum_j w_ij T_j [X_i; 1]`.

use std::collections::BTreeMap;

use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::method::coordinates::Coordinates;
use crate::method::loads::contact::ContactPoints;
use crate::method::rig_rows::{handles_of_vertices, rig_rows};
use crate::rig::Rig;
use crate::{Error, Result};

/// The rows of J, in the order of the body's rows.
pub(super) struct Posing {
    pub(super) coordinates: Coordinates,
    /// Number of bones, 0 without a rig.
    pub(super) bones: usize,
    starts: Vec<usize>,
    /// Handles and their four entries.
    entries: Vec<(u32, [f64; 4])>,
}

impl Posing {
    /// Rows of J for a mesh with vertices in a given order.
    pub(super) fn new(mesh: &TetMesh, rig: Option<&Rig>, vertices: &[u32]) -> Self {
        let coordinates = Coordinates::of_mesh(mesh);
        let rows = rig_rows(&coordinates, mesh.vertices(), rig);
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for &vertex in vertices {
            entries.extend(&rows[vertex as usize]);
            starts.push(entries.len());
        }
        Self { coordinates, bones: rig.map_or(0, Rig::bone_count), starts, entries }
    }

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

    /// Handles of a row and their weights.
    pub(super) fn weights(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        self.entries[self.starts[row]..self.starts[row + 1]]
            .iter()
            .map(|(handle, entries)| (*handle, entries[3]))
    }

    /// Rows of a pose: four a handle.
    pub(super) fn handle_rows(&self) -> usize {
        4 * self.bones.max(1)
    }

    /// `out = J p`, after subtraction of `moved` from the translation of each handle.
    pub(super) fn apply(&self, pose: &Rows, moved: &[f64; 3], out: &mut Rows) {
        for (ends, out) in self.starts.windows(2).zip(out) {
            *out = [0.0; 3];
            for (handle, entries) in &self.entries[ends[0]..ends[1]] {
                let rows = &pose[4 * *handle as usize..][..4];
                for c in 0..3 {
                    let turned = (0..3)
                        .fold(entries[3] * (rows[3][c] - moved[c]), |sum, d| sum + entries[d] * rows[d][c]);
                    out[c] += turned;
                }
            }
        }
    }

    /// Mean translation of a pose. It has no elastic effect, and its subtraction preserves precision far
    /// from the origin.
    pub(super) fn translation(&self, pose: &Rows) -> [f64; 3] {
        let count = (pose.len() / 4) as f64;
        std::array::from_fn(|c| pose.iter().skip(3).step_by(4).map(|row| row[c]).sum::<f64>() / count)
    }
}
