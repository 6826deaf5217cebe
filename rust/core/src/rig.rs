//! Rigs (weights that bind vertices to bones) and poses (one transform a bone).

use crate::{Error, Result};

/// How far a row of weights may be from summing to one before it is refused.
const SUM_TOLERANCE: f64 = 1e-6;

/// One 3x4 affine transform a bone, row-major: `x = T [X; 1]`, from rest to posed position in world space, metres.
pub type Pose = [[[f64; 4]; 3]];

/// Linear-blend weights of every vertex for every bone, kept a bone at a time.
#[derive(Debug, Clone)]
pub struct Rig {
    vertex_count: usize,
    bones: Vec<Vec<(u32, f64)>>,
}

impl Rig {
    /// Takes dense weights, n x b in C order; rows must sum to one and are then normalised exactly.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`], or [`Error::WeightSum`] with the first offending vertex.
    pub fn new(vertex_count: usize, bone_count: usize, weights: &[f64]) -> Result<Self> {
        if vertex_count == 0 || bone_count == 0 {
            return Err(Error::Empty { what: "weights" });
        }
        if weights.len() != vertex_count * bone_count {
            return Err(Error::Shape {
                what: "weights",
                expected: format!("({vertex_count}, {bone_count})"),
                got: format!("{} numbers", weights.len()),
            });
        }
        let mut bones = vec![Vec::new(); bone_count];
        for (vertex, row) in weights.chunks_exact(bone_count).enumerate() {
            if let Some(&value) = row.iter().find(|w| !w.is_finite()) {
                return Err(Error::NotFinite { what: "weights", element: vertex, value });
            }
            let sum: f64 = row.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(Error::WeightSum { vertex, sum });
            }
            for (bone, &weight) in row.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                bones[bone].push((vertex as u32, weight / sum));
            }
        }
        Ok(Self { vertex_count, bones })
    }

    /// A single affine handle that moves every vertex with weight one.
    pub fn single(vertex_count: usize) -> Result<Self> {
        Self::new(vertex_count, 1, &vec![1.0; vertex_count])
    }

    /// Number of vertices n.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Number of bones b.
    pub fn bone_count(&self) -> usize {
        self.bones.len()
    }

    /// The vertices a bone moves and its weight on each, by ascending vertex.
    pub fn bone(&self, bone: usize) -> &[(u32, f64)] {
        &self.bones[bone]
    }
}
