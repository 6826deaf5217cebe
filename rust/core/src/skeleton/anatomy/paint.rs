//! Share of bone and parts, painted layer by layer at the vertices of a mesh.

use std::collections::BTreeMap;

use crate::mesh::TetMesh;
use crate::skeleton::part::Part;

/// Smooth step from 0 at `low` to 1 at `high`.
pub(super) fn step(x: f64, low: f64, high: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Linear blend from `a` at 0 to `b` at 1.
pub(super) fn blend(a: f64, b: f64, share: f64) -> f64 {
    a + (b - a) * share
}

/// Share of bone, n, and weights of the parts, n each.
pub(super) struct Paint {
    pub(super) share: Vec<f64>,
    pub(super) parts: BTreeMap<Part, Vec<f64>>,
}

impl Paint {
    /// All bone.
    pub(super) fn new(count: usize) -> Self {
        Self { share: vec![1.0; count], parts: BTreeMap::new() }
    }

    /// Blends a share of bone over a vertex.
    pub(super) fn lay(&mut self, vertex: usize, weight: f64, share: f64) {
        self.share[vertex] = blend(self.share[vertex], share, weight);
    }

    /// Adds to the weight of a part at a vertex.
    pub(super) fn give(&mut self, part: Part, vertex: usize, weight: f64) {
        if weight > 0.0 {
            let count = self.share.len();
            self.parts.entry(part).or_insert_with(|| vec![0.0; count])[vertex] += weight;
        }
    }

    /// Gives a vertex to a part and takes it from the others.
    pub(super) fn take(&mut self, part: Part, vertex: usize, weight: f64) {
        self.parts.values_mut().for_each(|weights| weights[vertex] *= 1.0 - weight);
        self.give(part, vertex, weight);
    }

    /// Weight of all appendages at a vertex.
    pub(super) fn appendage(&self, vertex: usize) -> f64 {
        self.parts.iter().filter(|(part, _)| part.is_appendage()).map(|(_, weights)| weights[vertex]).sum()
    }

    /// Blends share and parts with the neighbouring vertices, except `kept` ones.
    pub(super) fn smooth(&mut self, mesh: &TetMesh, kept: impl Fn(usize) -> bool) {
        let mean = around(mesh, &self.share);
        for (vertex, share) in self.share.iter_mut().enumerate().filter(|(vertex, _)| !kept(*vertex)) {
            *share = 0.5 * (*share + mean[vertex]);
        }
        for weights in self.parts.values_mut() {
            for _ in 0..ROUNDS {
                *weights = around(mesh, weights);
            }
        }
    }
}

/// Rounds of smoothing of the weights of parts.
const ROUNDS: usize = 2;

/// Mean over the tets around each vertex, n, of their corners' values.
fn around(mesh: &TetMesh, values: &[f64]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); values.len()];
    for tet in mesh.tets() {
        let mean = tet.iter().map(|&vertex| values[vertex as usize]).sum::<f64>() / 4.0;
        for &vertex in tet {
            let (sum, count) = &mut sums[vertex as usize];
            (*sum, *count) = (*sum + mean, *count + 1.0);
        }
    }
    sums.iter().zip(values).map(|(&(sum, count), &own)| if count > 0.0 { sum / count } else { own }).collect()
}
