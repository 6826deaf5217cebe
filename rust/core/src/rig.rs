//! Rigs (weights that bind vertices to bones) and poses (one transform per bone).

use crate::{Error, Result, check};

/// Tolerance for the sum of a row of weights.
const SUM_TOLERANCE: f64 = 1e-6;
/// Share of the mass below which a bone, together with its descendants, counts as small. Measured: a hand
/// has two percent or more. Its flesh, all of it near the surface, floats off if the constraint ignores
/// fingers of half a percent; below a third of a percent the largest motion changes by less than three
/// percent of itself.
const SMALL_BONE: f64 = 0.003;

/// One 3x4 affine transform per bone, row-major: `x = T [X; 1]`, from rest to posed position in world
/// space, metres.
pub type Pose = [[[f64; 4]; 3]];

/// Linear-blend weights of every vertex for every bone, stored per bone, and additional shapes.
///
/// ```
/// use jounce::rig::Rig;
///
/// // Two vertices, two bones: the second vertex follows both by half.
/// let rig = Rig::new(2, 2, &[1.0, 0.0, 0.5, 0.5])?;
/// let at = |z| [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, z]];
/// let posed = rig.posed(&[[0.0; 3], [1.0, 0.0, 0.0]], &[at(0.0), at(3.0)])?;
/// assert_eq!(posed, [[0.0, 0.0, 0.0], [1.0, 0.0, 1.5]]);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rig {
    vertex_count: usize,
    bones: Vec<Vec<(u32, f64)>>,
    shapes: Vec<Vec<(u32, [f64; 3])>>,
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
        check::shape("weights", &[vertex_count, bone_count], weights.len())?;
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
        Ok(Self { vertex_count, bones, shapes: Vec::new() })
    }

    /// Takes weights per bone, in the form of [`Rig::bone`] and without normalisation or shapes.
    ///
    /// # Errors
    /// As [`Rig::new`]; [`Error::Index`] for an invalid vertex, [`Error::Range`] for vertices that do not
    /// ascend.
    pub(crate) fn from_bones(vertex_count: usize, bones: Vec<Vec<(u32, f64)>>) -> Result<Self> {
        if vertex_count == 0 || bones.is_empty() {
            return Err(Error::Empty { what: "weights" });
        }
        let mut sums = vec![0.0; vertex_count];
        for (element, entries) in bones.iter().enumerate() {
            if let Some(pair) = entries.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
                let (expected, got) = ("vertices of a bone that ascend", pair[1].0.into());
                return Err(Error::Range { what: "weights", expected, got });
            }
            for &(vertex, weight) in entries {
                let (index, count) = (vertex.into(), vertex_count);
                let missing = Error::Index { what: "weights", element, index, count };
                *sums.get_mut(vertex as usize).ok_or(missing)? += weight;
            }
        }
        // A weight that is not finite makes no sum close to one.
        match sums.iter().position(|sum: &f64| sum.is_nan() || (sum - 1.0).abs() > SUM_TOLERANCE) {
            Some(vertex) => Err(Error::WeightSum { vertex, sum: sums[vertex] }),
            None => Ok(Self { vertex_count, bones, shapes: Vec::new() }),
        }
    }

    /// The same rig with shapes that the animator adds to the pose, such as blend shapes, which modes must
    /// not imitate.
    ///
    /// `shapes` are displacements at rest, s x n x 3 in C order, metres; their size has no effect. A
    /// simulation responds to their motion only through
    /// [`StepInput::offsets`](crate::inputs::StepInput::offsets).
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`].
    pub fn with_shapes(mut self, shapes: &[f64]) -> Result<Self> {
        let n = self.vertex_count;
        if !shapes.len().is_multiple_of(3 * n) {
            let (expected, got) = (format!("(s, {n}, 3)"), format!("{} numbers", shapes.len()));
            return Err(Error::Shape { what: "shapes", expected, got });
        }
        check::finite("shapes", shapes, 3 * n)?;
        let moving = |shape: &[[f64; 3]]| {
            (0..).zip(shape).filter(|(_, x)| **x != [0.0; 3]).map(|(vertex, x)| (vertex, *x)).collect()
        };
        self.shapes.extend(shapes.as_chunks::<3>().0.chunks_exact(n).map(moving));
        Ok(self)
    }

    /// A rig with a single affine handle that moves every vertex with weight one.
    pub fn single(vertex_count: usize) -> Result<Self> {
        Self::new(vertex_count, 1, &vec![1.0; vertex_count])
    }

    /// The rig in which every bone moves with the bone it is merged into.
    ///
    /// `into[j]` names the bone that takes over the weights of bone j, j itself to keep it; chains are
    /// followed. Merged bones are left out, so that the constraint built on the result has rows only for
    /// the bones kept. Poses belong to the rig they were made for: those of the result have a transform for
    /// each bone kept, in order.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Index`], or [`Error::Range`] if a chain never ends.
    pub fn merged(&self, into: &[u32]) -> Result<Self> {
        let count = self.bone_count();
        check::length("merge_into", count, into.len())?;
        check_bones("merge_into", into)?;
        let mut bones = vec![Vec::new(); count];
        for bone in 0..count {
            let end = chain("merge_into", into, bone)?.last().copied().unwrap_or(bone);
            bones[end].extend_from_slice(&self.bones[bone]);
        }
        let kept = (0..count).filter(|&j| into[j] as usize == j);
        let bones = kept.map(|j| sum_by_vertex(std::mem::take(&mut bones[j]))).collect();
        Ok(Self { vertex_count: self.vertex_count, bones, shapes: self.shapes.clone() })
    }

    /// The same bones and shapes restricted to some vertices; rows of the others are empty.
    pub(crate) fn restricted(&self, keep: impl Fn(u32) -> bool) -> Self {
        fn of<T: Copy>(parts: &[Vec<(u32, T)>], keep: impl Fn(u32) -> bool) -> Vec<Vec<(u32, T)>> {
            parts
                .iter()
                .map(|part| part.iter().copied().filter(|&(vertex, _)| keep(vertex)).collect())
                .collect()
        }
        Self {
            vertex_count: self.vertex_count,
            bones: of(&self.bones, &keep),
            shapes: of(&self.shapes, &keep),
        }
    }

    /// Merge targets in the form of [`merged`](Self::merged): each bone too small to count names its
    /// parent.
    ///
    /// A bone is small if it and all its descendants together move less than 0.3 percent of the mass:
    /// fingers, toes, a jaw, never a link in the middle of a chain. `mass` is n, kg; `parents[j]` is the
    /// parent of bone j, `None` for a root, which always counts. The rule ignores names, and keeps bones of
    /// thick parts that share a region with their parent, such as twist bones.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Index`], or [`Error::Range`] if a chain of parents never ends.
    pub fn small_bones(&self, mass: &[f64], parents: &[Option<u32>]) -> Result<Vec<u32>> {
        check::length("mass", self.vertex_count, mass.len())?;
        check::length("bone_parents", self.bone_count(), parents.len())?;
        let above: Vec<u32> = (0..).zip(parents).map(|(j, parent)| parent.unwrap_or(j)).collect();
        check_bones("bone_parents", &above)?;
        let mut below = vec![0.0; above.len()];
        for (bone, entries) in self.bones.iter().enumerate() {
            let moved: f64 = entries.iter().map(|&(vertex, weight)| weight * mass[vertex as usize]).sum();
            chain("bone_parents", &above, bone)?.into_iter().for_each(|j| below[j] += moved);
        }
        let least = SMALL_BONE * mass.iter().sum::<f64>();
        Ok((0..).zip(&above).zip(&below).map(|((j, &up), &own)| if own < least { up } else { j }).collect())
    }

    /// Vertices in a pose by linear blending: `x_i = sum_j w_ij T_j [X_i; 1]`, n, metres.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of points or bones, [`Error::NotFinite`] for the pose.
    pub fn posed(&self, points: &[[f64; 3]], pose: &Pose) -> Result<Vec<[f64; 3]>> {
        check::length("points", self.vertex_count, points.len())?;
        check::length("pose", self.bone_count(), pose.len())?;
        let numbers = pose.as_flattened().as_flattened();
        check::finite("pose", numbers, 12)?;
        let mut posed = vec![[0.0; 3]; points.len()];
        for (bone, transform) in self.bones.iter().zip(pose) {
            for &(vertex, weight) in bone {
                let [x, y, z] = points[vertex as usize];
                for (moved, [a, b, c, d]) in posed[vertex as usize].iter_mut().zip(transform) {
                    *moved += weight * (a * x + b * y + c * z + d);
                }
            }
        }
        Ok(posed)
    }

    /// Number of vertices n.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Number of bones b.
    pub fn bone_count(&self) -> usize {
        self.bones.len()
    }

    /// Vertices moved by each shape with their displacements, by ascending vertex.
    pub fn shapes(&self) -> &[Vec<(u32, [f64; 3])>] {
        &self.shapes
    }

    /// Vertices moved by a bone with their weights, by ascending vertex.
    pub fn bone(&self, bone: usize) -> &[(u32, f64)] {
        &self.bones[bone]
    }
}

fn check_bones(what: &'static str, bones: &[u32]) -> Result<()> {
    let count = bones.len();
    match bones.iter().position(|&j| j as usize >= count) {
        Some(element) => Err(Error::Index { what, element, index: bones[element].into(), count }),
        None => Ok(()),
    }
}

/// A bone, its target, and so on up to a bone that names itself.
fn chain(what: &'static str, above: &[u32], bone: usize) -> Result<Vec<usize>> {
    let mut links = vec![bone];
    let mut end = bone;
    while above[end] as usize != end {
        end = above[end] as usize;
        if links.len() == above.len() {
            return Err(Error::Range { what, expected: "chains of bones that end", got: bone as f64 });
        }
        links.push(end);
    }
    Ok(links)
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
