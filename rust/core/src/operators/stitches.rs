//! Stitches: zero-length springs between points of a mesh.

use std::collections::BTreeMap;

use faer::sparse::{SparseColMat, Triplet};

use crate::math::{Sets, Sparse};
use crate::mesh::{Embedding, TetMesh};
use crate::{Error, Result, check};

/// Largest accepted stiffness, N/m: beyond this double precision would lose the flesh's own stiffness.
const STIFFEST: f64 = 1e15;
/// Fewest and most steps of the sample lattice of a spring's end, from the centre of its ball to the
/// surface. Two samples a cell of the mesh avoid the softness of point springs; large balls have enough
/// samples anyway.
const STEPS: [i32; 2] = [3, 6];
/// Largest number of coupled pairs of vertices, counted by spring: far beyond this the Laplacian exceeds
/// the memory.
const MOST_PAIRS: usize = 1 << 26;
/// Pairs gathered before summation, 64 MB.
const GATHERED_PAIRS: usize = 1 << 22;
/// Accepted deviation of an anchor's weights from a sum of 1.
const WHOLE: f64 = 1e-6;

/// A point in a mesh, or a mean of points, as weighted vertices; four for a single point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Anchor {
    pub(crate) vertices: Vec<u32>,
    /// Weights, which sum to one.
    pub(crate) shares: Vec<f64>,
}

impl Anchor {
    /// Vertices with nonzero weights.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let entries = self.vertices.iter().zip(&self.shares);
        entries.filter(|(_, share)| **share != 0.0).map(|(&vertex, &share)| (vertex as usize, share))
    }
}

/// One spring.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stitch {
    /// Stitch group.
    pub(crate) group: u8,
    pub(crate) ends: [Anchor; 2],
    /// Stiffness, N/m.
    pub(crate) stiffness: f64,
    /// Kept share of the rest distance.
    pub(crate) gap: f64,
}

impl Stitch {
    /// `phi(x_a) - phi(x_b)` as vertices and values; a vertex of both ends appears twice.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let [a, b] = &self.ends;
        a.entries().chain(b.entries().map(|(vertex, share)| (vertex, -share)))
    }

    /// Number of coupled pairs of vertices.
    fn pairs(&self) -> usize {
        let reached = self.ends.iter().map(|end| end.vertices.len()).sum::<usize>();
        reached.saturating_mul(reached)
    }
}

/// Springs between points of one mesh, between parts or within one.
///
/// Energy, J: `sum_s k_s / 2 |x_a - x_b - g_s d_s|^2` of total positions of rig and displacement. A spring
/// with `g = 0` has no length, and closes gaps at rest or in a pose. With `g = 1` it keeps the rest
/// distance of its ends, `d = sum_j (w_aj + w_bj) / 2 T_j [X_a - X_b; 0]`, rotated with the rig there. For
/// coincident ends there is no difference. Source: `[IDSR eq. 4]`.
///
/// ```
/// use jounce::Progress;
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::operators::Stitches;
///
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 1.0, 1.0])?, 4, &Progress::default())?;
/// let none = Stitches::none(&mesh);
/// assert!(none.is_empty() && none.group_count() <= 1);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Stitches {
    vertex_count: usize,
    stitches: Vec<Stitch>,
}

impl Stitches {
    /// Largest number of groups with separate opening.
    pub const MOST_GROUPS: usize = 32;

    /// Springs between vertices: pairs of indices, with a stiffness (N/m) and a kept share of the rest
    /// distance for each pair.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown vertex, [`Error::Shape`] unless there is one number a pair,
    /// [`Error::Range`] for a stiffness that is not positive and a gap outside of [0, 1].
    pub fn between_vertices(
        mesh: &TetMesh,
        pairs: &[[u32; 2]],
        stiffness: &[f64],
        gaps: &[f64],
    ) -> Result<Self> {
        let n = mesh.vertices().len();
        let anchor = |vertex: u32| Anchor { vertices: vec![vertex; 4], shares: vec![1.0, 0.0, 0.0, 0.0] };
        Self::new(n, n, pairs, anchor, stiffness, gaps)
    }

    /// Springs between points of an embedding.
    ///
    /// # Errors
    /// As [`Stitches::between_vertices`]; [`Error::Shape`] for points in another mesh.
    pub fn between_points(
        mesh: &TetMesh,
        embedding: &Embedding,
        pairs: &[[u32; 2]],
        stiffness: &[f64],
        gaps: &[f64],
    ) -> Result<Self> {
        embedding.check_mesh(mesh)?;
        let anchor = |point: u32| Anchor {
            vertices: mesh.tets()[embedding.tets()[point as usize] as usize].to_vec(),
            shares: embedding.barycentric()[point as usize].to_vec(),
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
            check::length(what, pairs.len(), numbers.len())?;
        }
        check::indices("pairs", pairs.as_flattened(), 2, point_count)?;
        check_numbers(stiffness.iter().copied(), gaps.iter().copied())?;
        let stitch = |(s, pair): (usize, &[u32; 2])| Stitch {
            group: 0,
            ends: pair.map(&anchor),
            stiffness: stiffness[s],
            gap: gaps[s],
        };
        Ok(Self { vertex_count, stitches: pairs.iter().enumerate().map(stitch).collect() })
    }

    /// The same springs in groups, each opened separately by
    /// [`SimulationParams::stitching`](crate::inputs::settings::SimulationParams::stitching); by default all
    /// are in one group.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is a number for each spring, [`Error::Range`] for a number of
    /// [`Stitches::MOST_GROUPS`] or more.
    pub fn in_groups(mut self, groups: &[u32]) -> Result<Self> {
        check::length("groups", self.len(), groups.len())?;
        if let Some(&got) = groups.iter().find(|&&group| group as usize >= Self::MOST_GROUPS) {
            let expected = "numbers of groups below 32";
            return Err(Error::Range { what: "groups", expected, got: got.into() });
        }
        self.stitches.iter_mut().zip(groups).for_each(|(stitch, &group)| stitch.group = group as u8);
        Ok(self)
    }

    /// The same springs, each acting on the mean of the flesh in a ball around either end, metres; 0 is a
    /// point.
    ///
    /// Point springs become softer with mesh refinement, since flesh yields without bound under a point
    /// force; balls have a limit. The mean is taken over a cubic lattice of samples in the ball. Samples
    /// outside of the flesh move to the nearest point inside, and samples in parts not connected to the end
    /// are left out.
    ///
    /// # Errors
    /// [`Error::Shape`] for another mesh or unless there is a radius for each spring, [`Error::Range`] for
    /// a negative radius or one that is not finite, [`Error::Unsupported`] if all balls together reach too
    /// many vertices.
    pub fn spread(mut self, mesh: &TetMesh, radii: &[f64]) -> Result<Self> {
        self.check_vertices(mesh.vertices().len())?;
        check::length("radius", self.len(), radii.len())?;
        check::all("radius", "numbers of metres >= 0", radii, |radius| radius.is_finite() && radius >= 0.0)?;
        let pairs = self.stitches.iter_mut().zip(radii).filter(|(_, radius)| **radius > 0.0);
        let ends: Vec<(&mut Anchor, f64)> = pairs
            .flat_map(|(stitch, &radius)| stitch.ends.iter_mut().map(move |end| (end, radius)))
            .collect();
        spread(mesh, ends)?;
        check_reach(&self.stitches)?;
        Ok(self)
    }

    /// Number of groups: one more than the highest group number.
    pub fn group_count(&self) -> usize {
        self.stitches.iter().map(|stitch| usize::from(stitch.group) + 1).max().unwrap_or(0)
    }

    /// The same springs with stiffness scaled by group.
    pub(crate) fn scaled(&self, shares: &[f64; Self::MOST_GROUPS]) -> Self {
        let mut scaled = self.clone();
        scaled.stitches.iter_mut().for_each(|stitch| stitch.stiffness *= shares[usize::from(stitch.group)]);
        scaled
    }

    /// The same springs with individually scaled stiffness.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one share for each, [`Error::Range`] for a share outside of (0, 1].
    pub(crate) fn weakened(&self, shares: &[f64]) -> Result<Self> {
        check::length("stitch_known", self.len(), shares.len())?;
        check::all("stitch_known", "numbers in (0, 1]", shares, |share| share > 0.0 && share <= 1.0)?;
        let mut weakened = self.clone();
        weakened.stitches.iter_mut().zip(shares).for_each(|(stitch, share)| stitch.stiffness *= share);
        Ok(weakened)
    }

    /// Springs restored from [`Stitches::stitches`] for a mesh of given number of vertices.
    pub(crate) fn from_stitches(vertex_count: usize, stitches: Vec<Stitch>) -> Result<Self> {
        for (element, stitch) in stitches.iter().enumerate() {
            for Anchor { vertices, shares } in &stitch.ends {
                if let Some(&vertex) = vertices.iter().find(|&&vertex| vertex as usize >= vertex_count) {
                    let (index, count) = (vertex.into(), vertex_count);
                    return Err(Error::Index { what: "stitches", element, index, count });
                }
                let got: f64 = shares.iter().sum();
                check::range(
                    "stitches",
                    "shares that sum to 1",
                    got,
                    (got - 1.0).abs() < WHOLE && shares.iter().all(|share| share.is_finite()),
                )?;
            }
            check_numbers([stitch.stiffness], [stitch.gap])?;
        }
        check_reach(&stitches)?;
        Ok(Self { vertex_count, stitches })
    }

    /// No springs, of a mesh.
    pub fn none(mesh: &TetMesh) -> Self {
        Self { vertex_count: mesh.vertices().len(), stitches: Vec::new() }
    }

    /// Number of vertices of the mesh.
    pub(crate) fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Number of springs s.
    pub fn len(&self) -> usize {
        self.stitches.len()
    }

    /// `true` if there are none.
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

    /// Group of each spring, s.
    pub(crate) fn groups(&self) -> impl Iterator<Item = u32> {
        self.stitches.iter().map(|stitch| stitch.group.into())
    }

    /// Columns `a_s = phi(x_a) - phi(x_b)`, n x s: `a_s' v` is the difference of vertex values v between
    /// the ends.
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
        let most = self.stitches.iter().map(Stitch::pairs).fold(1, usize::max);
        let parts = self.stitches.chunks((GATHERED_PAIRS / most).max(1));
        let parts = parts.map(|part| self.laplacian_of(part, factor));
        parts.reduce(|sum, part| &sum + &part).unwrap_or_else(|| self.laplacian_of(&[], factor))
    }

    fn laplacian_of(&self, stitches: &[Stitch], factor: f64) -> Sparse {
        let entries = stitches.iter().flat_map(|stitch| {
            stitch.entries().flat_map(move |(row, a)| {
                let value = move |b: f64| factor * stitch.stiffness * a * b;
                stitch.entries().map(move |(column, b)| Triplet::new(row as u32, column as u32, value(b)))
            })
        });
        let entries: Vec<_> = entries.collect();
        SparseColMat::try_new_from_triplets(self.vertex_count, self.vertex_count, &entries)
            .expect("indices were checked")
    }

    /// Difference from these springs to `wanted`: springs with the stiffness to add, negative for removal;
    /// unchanged springs are left out.
    pub(crate) fn change_to(&self, wanted: &Self) -> Self {
        let mut change = wanted.clone();
        for old in &self.stitches {
            let same = |new: &&mut Stitch| new.ends == old.ends;
            match change.stitches.iter_mut().find(same) {
                Some(new) => new.stiffness -= old.stiffness,
                None => change.stitches.push(Stitch { stiffness: -old.stiffness, ..old.clone() }),
            }
        }
        change.stitches.retain(|stitch| stitch.stiffness != 0.0);
        change
    }

    /// Checks that no spring has a gap, else [`Error::Unsupported`].
    pub(crate) fn check_shut(&self) -> Result<()> {
        if self.stitches.iter().all(|stitch| stitch.gap == 0.0) {
            return Ok(());
        }
        let why = "in this model they have no gap, as its springs have no length";
        Err(Error::Unsupported { what: "stitches", why })
    }

    /// Checks that the stitches belong to a mesh with n vertices, else [`Error::Shape`].
    pub(crate) fn check_vertices(&self, n: usize) -> Result<()> {
        if self.vertex_count == n {
            return Ok(());
        }
        let (expected, got) =
            (format!("stitches of a mesh of {n} vertices"), format!("{}", self.vertex_count));
        Err(Error::Shape { what: "stitches", expected, got })
    }
}

/// Replaces points by means over balls.
fn spread(mesh: &TetMesh, ends: Vec<(&mut Anchor, f64)>) -> Result<()> {
    if ends.is_empty() {
        return Ok(());
    }
    // Six tets make up a cell.
    let cell = (6.0 * mesh.volumes().iter().sum::<f64>() / mesh.volumes().len() as f64).cbrt();
    let balls: Vec<Vec<[f64; 3]>> = ends.iter().map(|(end, radius)| ball(mesh, end, *radius, cell)).collect();
    let places = Embedding::new(mesh, balls.concat())?;
    let mut parts = Sets::new(mesh.vertices().len());
    for tet in mesh.tets() {
        (1..4).for_each(|corner| parts.unite(tet[0], tet[corner]));
    }
    let hung = &mut places.tets().iter().zip(places.barycentric());
    for ((end, _), ball) in ends.into_iter().zip(&balls) {
        let own = end.entries().next().map(|(vertex, _)| parts.root(vertex as u32));
        let mut taken: BTreeMap<u32, f64> = BTreeMap::new();
        let mut total = 0.0;
        for (&tet, shares) in hung.take(ball.len()) {
            let corners = mesh.tets()[tet as usize];
            if Some(parts.root(corners[0])) == own {
                let pairs = corners.iter().zip(shares);
                pairs.for_each(|(&vertex, share)| *taken.entry(vertex).or_default() += share);
                total += 1.0;
            }
        }
        // The point nearest to an end may be in another part than the end.
        if total > 0.0 {
            taken.retain(|_, share| *share > 0.0);
            end.vertices = taken.keys().copied().collect();
            end.shares = taken.values().map(|share| share / total).collect();
        }
    }
    Ok(())
}

/// A cubic lattice of samples in the ball around an end, in a mesh with cells of given size.
fn ball(mesh: &TetMesh, end: &Anchor, radius: f64, cell: f64) -> Vec<[f64; 3]> {
    let at = |c: usize| end.entries().map(|(vertex, share)| share * mesh.vertices()[vertex][c]).sum::<f64>();
    let middle = [0, 1, 2].map(at);
    let steps = ((2.0 * radius / cell).ceil() as i32).clamp(STEPS[0], STEPS[1]);
    let side = || -steps..=steps;
    let all = side().flat_map(move |x| side().flat_map(move |y| side().map(move |z| [x, y, z])));
    let inside = all.filter(|place| place.iter().map(|x| x * x).sum::<i32>() <= steps * steps);
    let step = radius / f64::from(steps);
    inside.map(|place| std::array::from_fn(|c| middle[c] + step * f64::from(place[c]))).collect()
}

fn check_reach(stitches: &[Stitch]) -> Result<()> {
    if stitches.iter().map(Stitch::pairs).fold(0, usize::saturating_add) <= MOST_PAIRS {
        return Ok(());
    }
    let why = "so many of so large a radius reach too many vertices for the memory; make the radius smaller, \
               the mesh coarser or the stitches fewer";
    Err(Error::Unsupported { what: "stitches", why })
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
