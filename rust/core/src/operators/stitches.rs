//! Stitches: zero-length springs between points of a mesh.

use faer::sparse::{SparseColMat, Triplet};

use crate::math::Sparse;
use crate::mesh::{Embedding, TetMesh};
use crate::{Error, Result};

/// Stiffness that is accepted, N/m: beyond it nothing of the flesh's own would be left in double precision.
const STIFFEST: f64 = 1e15;
/// How far from 1 the shares of a place may sum.
const WHOLE: f64 = 1e-6;

/// A place in a mesh: what it takes of up to four vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Anchor {
    pub(crate) vertices: [u32; 4],
    /// Sum to one.
    pub(crate) shares: [f64; 4],
}

impl Anchor {
    /// Vertices and their shares, those without a share left out.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let entries = self.vertices.iter().zip(&self.shares);
        entries.filter(|(_, share)| **share != 0.0).map(|(&vertex, &share)| (vertex as usize, share))
    }
}

/// One spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stitch {
    pub(crate) ends: [Anchor; 2],
    /// N/m.
    pub(crate) stiffness: f64,
    /// Share of the distance at rest that is kept.
    pub(crate) gap: f64,
}

impl Stitch {
    /// `phi(x_a) - phi(x_b)`: vertices and values, a vertex of both ends twice.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let [a, b] = &self.ends;
        a.entries().chain(b.entries().map(|(vertex, share)| (vertex, -share)))
    }
}

/// Springs that pull points of one mesh together, from part to part or within one.
///
/// Energy, J: `sum_s k_s / 2 |x_a - x_b - g_s d_s|^2` of whole positions, rig and displacement together. With
/// `g = 0` a spring has no length, and pulls shut what lies apart, at rest or in a pose. With `g = 1` it keeps
/// the distance that its ends have at rest, `d = sum_j (w_aj + w_bj) / 2 T_j [X_a - X_b; 0]`, turned along with
/// the rig there; where the ends lie in one place, there is no difference. Source: `[IDSR eq. 4]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Stitches {
    vertex_count: usize,
    stitches: Vec<Stitch>,
}

impl Stitches {
    /// Springs between vertices: pairs of their indices, and a stiffness (N/m) and the share of the distance at
    /// rest that is kept for each pair.
    ///
    /// # Errors
    /// [`Error::Index`] for a vertex that is not there, [`Error::Shape`] unless there is one number a pair,
    /// [`Error::Range`] for a stiffness that is not positive and a gap outside of [0, 1].
    pub fn between_vertices(
        mesh: &TetMesh,
        pairs: &[[u32; 2]],
        stiffness: &[f64],
        gaps: &[f64],
    ) -> Result<Self> {
        let n = mesh.vertices().len();
        let anchor = |vertex: u32| Anchor { vertices: [vertex; 4], shares: [1.0, 0.0, 0.0, 0.0] };
        Self::new(n, n, pairs, anchor, stiffness, gaps)
    }

    /// Springs between points of an embedding, likewise.
    ///
    /// # Errors
    /// As [`Stitches::between_vertices`]; [`Error::Shape`] if the points do not hang in this mesh.
    pub fn between_points(
        mesh: &TetMesh,
        embedding: &Embedding,
        pairs: &[[u32; 2]],
        stiffness: &[f64],
        gaps: &[f64],
    ) -> Result<Self> {
        embedding.check_mesh(mesh)?;
        let anchor = |point: u32| Anchor {
            vertices: mesh.tets()[embedding.tets()[point as usize] as usize],
            shares: embedding.barycentric()[point as usize],
        };
        Self::new(mesh.vertices().len(), embedding.points().len(), pairs, anchor, stiffness, gaps)
    }

    fn new(
        vertex_count: usize,
        point_count: usize,
        pairs: &[[u32; 2]],
        anchor: impl Fn(u32) -> Anchor,
        stiffness: &[f64],
        gaps: &[f64],
    ) -> Result<Self> {
        for (what, numbers) in [("stiffness", stiffness), ("gap", gaps)] {
            if numbers.len() != pairs.len() {
                let (expected, got) = (format!("({},)", pairs.len()), format!("({},)", numbers.len()));
                return Err(Error::Shape { what, expected, got });
            }
        }
        if let Some(at) = pairs.as_flattened().iter().position(|&point| point as usize >= point_count) {
            let index = pairs.as_flattened()[at].into();
            return Err(Error::Index { what: "pairs", element: at / 2, index, count: point_count });
        }
        check_numbers(stiffness.iter().copied(), gaps.iter().copied())?;
        let stitch = |(s, pair): (usize, &[u32; 2])| Stitch {
            ends: pair.map(&anchor),
            stiffness: stiffness[s],
            gap: gaps[s],
        };
        Ok(Self { vertex_count, stitches: pairs.iter().enumerate().map(stitch).collect() })
    }

    /// Springs of a mesh of so many vertices, which [`Stitches::stitches`] has given.
    pub(crate) fn from_stitches(vertex_count: usize, stitches: Vec<Stitch>) -> Result<Self> {
        for (element, stitch) in stitches.iter().enumerate() {
            for Anchor { vertices, shares } in &stitch.ends {
                if let Some(&vertex) = vertices.iter().find(|&&vertex| vertex as usize >= vertex_count) {
                    let (index, count) = (vertex.into(), vertex_count);
                    return Err(Error::Index { what: "stitches", element, index, count });
                }
                let got: f64 = shares.iter().sum();
                if !((got - 1.0).abs() < WHOLE && shares.iter().all(|share| share.is_finite())) {
                    return Err(Error::Range { what: "stitches", expected: "shares that sum to 1", got });
                }
            }
            check_numbers([stitch.stiffness], [stitch.gap])?;
        }
        Ok(Self { vertex_count, stitches })
    }

    /// No springs, of a mesh.
    pub fn none(mesh: &TetMesh) -> Self {
        Self { vertex_count: mesh.vertices().len(), stitches: Vec::new() }
    }

    /// Number of springs s.
    pub fn len(&self) -> usize {
        self.stitches.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stitches.is_empty()
    }

    pub(crate) fn stitches(&self) -> &[Stitch] {
        &self.stitches
    }

    /// Stiffness of each spring, s, N/m.
    pub fn stiffness(&self) -> impl Iterator<Item = f64> {
        self.stitches.iter().map(|stitch| stitch.stiffness)
    }

    /// The columns `a_s = phi(x_a) - phi(x_b)`, n x s, so that `a_s' v` is how far values at the vertices differ
    /// between the ends.
    pub fn differences(&self) -> Sparse {
        let entries = self.stitches.iter().zip(0..).flat_map(|(stitch, s)| {
            stitch.entries().map(move |(vertex, share)| Triplet::new(vertex as u32, s, share))
        });
        let entries: Vec<_> = entries.collect();
        SparseColMat::try_new_from_triplets(self.vertex_count, self.stitches.len(), &entries)
            .expect("indices were checked")
    }

    /// `factor sum_s k_s a_s a_s'`, n x n, N/m.
    pub(crate) fn laplacian(&self, factor: f64) -> Sparse {
        let entries = self.stitches.iter().flat_map(|stitch| {
            stitch.entries().flat_map(move |(row, a)| {
                let value = move |b: f64| factor * stitch.stiffness * a * b;
                stitch.entries().map(move |(column, b)| Triplet::new(row as u32, column as u32, value(b)))
            })
        });
        let entries: Vec<_> = entries.collect();
        SparseColMat::try_new_from_triplets(self.vertex_count, self.vertex_count, &entries)
            .expect("indices were checked")
    }

    /// What turns these springs into `wanted`: springs whose stiffness is what is to be added, negative to take
    /// away, none for what stays.
    pub(crate) fn change_to(&self, wanted: &Self) -> Self {
        let mut change = wanted.clone();
        for old in &self.stitches {
            let same = |new: &&mut Stitch| new.ends == old.ends;
            match change.stitches.iter_mut().find(same) {
                Some(new) => new.stiffness -= old.stiffness,
                None => change.stitches.push(Stitch { stiffness: -old.stiffness, ..*old }),
            }
        }
        change.stitches.retain(|stitch| stitch.stiffness != 0.0);
        change
    }

    /// Errors with [`Error::Shape`] unless these are stitches of a mesh with so many vertices.
    pub(crate) fn check_vertices(&self, n: usize) -> Result<()> {
        if self.vertex_count == n {
            return Ok(());
        }
        let (expected, got) =
            (format!("stitches of a mesh of {n} vertices"), format!("{}", self.vertex_count));
        Err(Error::Shape { what: "stitches", expected, got })
    }
}

fn check_numbers(
    stiffness: impl IntoIterator<Item = f64>,
    gaps: impl IntoIterator<Item = f64>,
) -> Result<()> {
    if let Some(got) = stiffness.into_iter().find(|k| !(*k > 0.0 && *k <= STIFFEST)) {
        return Err(Error::Range { what: "stiffness", expected: "positive numbers up to 1e15", got });
    }
    match gaps.into_iter().find(|gap| !(0.0..=1.0).contains(gap)) {
        Some(got) => Err(Error::Range { what: "gap", expected: "numbers in [0, 1]", got }),
        None => Ok(()),
    }
}
