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

    /// The rig in which every bone moves as the bone it is merged into.
    ///
    /// `into[j]` names the bone whose weights take over those of bone j, itself to keep it; chains are followed.
    /// Bones that were merged away are left out, so that the constraint built on the result has rows only for
    /// the bones kept. Poses belong to the rig they were made for: those of the result have a transform for each
    /// bone kept, in order.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Index`], or [`Error::Range`] if a chain never ends.
    pub fn merged(&self, into: &[u32]) -> Result<Self> {
        let count = self.bone_count();
        if into.len() != count {
            return Err(Error::Shape {
                what: "into",
                expected: format!("({count},)"),
                got: format!("({},)", into.len()),
            });
        }
        if let Some(element) = into.iter().position(|&j| j as usize >= count) {
            return Err(Error::Index { what: "into", element, index: into[element].into(), count });
        }
        let mut bones = vec![Vec::new(); count];
        for bone in 0..count {
            bones[chain_end(into, bone)?].extend_from_slice(&self.bones[bone]);
        }
        let kept = (0..count).filter(|&j| into[j] as usize == j);
        let bones = kept.map(|j| sum_by_vertex(std::mem::take(&mut bones[j]))).collect();
        Ok(Self { vertex_count: self.vertex_count, bones })
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

fn chain_end(into: &[u32], bone: usize) -> Result<usize> {
    let mut end = bone;
    for _ in 0..into.len() {
        if into[end] as usize == end {
            return Ok(end);
        }
        end = into[end] as usize;
    }
    Err(Error::Range {
        what: "into",
        expected: "chains that end in a bone merged into itself",
        got: bone as f64,
    })
}

fn sum_by_vertex(mut entries: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    entries.sort_by_key(|&(vertex, _)| vertex);
    entries.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        kept.1 += if same { later.1 } else { 0.0 };
        same
    });
    entries
}
