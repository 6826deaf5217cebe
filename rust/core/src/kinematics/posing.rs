//! Vertex positions by the rig: `x_i = sum_j w_ij T_j [X_i; 1]`.

use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::rig_rows::rig_rows;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::rig::Rig;

/// The rows of J, in the order of the body's rows.
pub(crate) struct Posing {
    pub(crate) coordinates: Coordinates,
    /// Number of bones, 0 without a rig.
    pub(crate) bones: usize,
    pub(crate) starts: Vec<usize>,
    /// Handles and their four entries.
    pub(crate) entries: Vec<(u32, [f64; 4])>,
}

impl Posing {
    /// Rows of J for a mesh with vertices in a given order.
    pub(crate) fn new(mesh: &TetMesh, rig: Option<&Rig>, vertices: &[u32]) -> Self {
        let coordinates = Coordinates::of_mesh(mesh);
        let rows = rig_rows(&coordinates, mesh.vertices(), rig);
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for &vertex in vertices {
            entries.extend(&rows[vertex as usize]);
            starts.push(entries.len());
        }
        Self { coordinates, bones: rig.map_or(0, Rig::bone_count), starts, entries }
    }

    /// Handles of a row and their weights.
    pub(crate) fn weights(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        self.entries[self.starts[row]..self.starts[row + 1]]
            .iter()
            .map(|(handle, entries)| (*handle, entries[3]))
    }

    /// Rows of a pose: four a handle.
    pub(crate) fn handle_rows(&self) -> usize {
        4 * self.bones.max(1)
    }

    /// `out = J p`, after subtraction of `moved` from the translation of each handle.
    pub(crate) fn apply(&self, pose: &Rows, moved: &[f64; 3], out: &mut Rows) {
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
    pub(crate) fn translation(&self, pose: &Rows) -> [f64; 3] {
        let count = (pose.len() / 4) as f64;
        std::array::from_fn(|c| pose.iter().skip(3).step_by(4).map(|row| row[c]).sum::<f64>() / count)
    }
}
