//! Contact points on the surface of a body.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use nalgebra::Vector3;

use super::shape::Collider;
use crate::math::columns::Columns;
use crate::math::lanes::{Packed, multiply_add};
use crate::math::rows::Rows;
use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
use crate::rig::Rig;
use crate::{Error, Result};

/// Smallest spacing of points, as a share of the mean edge of the mesh.
const NEAR: f64 = 0.35;
/// Growth factor of the spacing until the number of points is small enough.
const COARSER: f64 = 1.2;
/// Total weight of moving vertices below which a point counts as pinned.
const MOVES: f64 = 0.5;

/// Vertices of a point, and their weights.
pub(crate) type Corners = [(u32, f64); 4];

/// Surface points for contact with colliders. Of points much closer together than vertices are, only the
/// first counts.
#[derive(Clone)]
pub struct ContactSkin {
    /// Points in the model's mesh.
    pub points: Arc<Embedding>,
    /// Triangles between the points, which are in contact as well; empty for contact of the points alone.
    pub triangles: Arc<[[u32; 3]]>,
    /// Skinning weights of the displayed points, if different from those of the mesh.
    pub rig: Option<Arc<Rig>>,
    /// `true` if the skin collides with itself.
    pub self_collision: bool,
}

/// Relation of a body's rows to its vertices.
pub(crate) trait VertexRows {
    /// `true` if a vertex moves relative to its rig.
    fn moves(&self, vertex: u32) -> bool;

    /// Adds the rows of a point with their weights.
    fn enter(&self, point: &Corners, entries: &mut Vec<(u32, f64)>);

    /// Adds the displacement of a point by each number in the moving rows, three a row, where rows are no
    /// vectors of space.
    fn enter_fields(&self, _point: &Corners, _fields: &mut Vec<[f64; 3]>) {}
}

/// Points as weighted sums of a body's rows, or of displacements.
pub(crate) struct ContactPoints {
    /// Start of each point's entries, and entries of row and weight.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    /// Displacements of each point by each number in the moving rows; empty for sums of rows.
    fields: Vec<[f64; 3]>,
    /// At rest, metres.
    places: Vec<[f64; 3]>,
    /// Index of each point among all given points, and the number of given points.
    indices: Vec<u32>,
    given: usize,
    /// Number of moving rows.
    free: usize,
    /// The same maps for all points at once; `None` for points that few rows move.
    packed: Option<AllPoints>,
    /// Triangles between the points.
    faces: Vec<[u32; 3]>,
    /// Parts of each added point, with their weights.
    added: Vec<Corners>,
}

/// Maps from all moving rows to all points without added ones.
enum AllPoints {
    /// Weight of each row.
    Rows(Packed<1>),
    /// Displacements, three rows a point.
    Fields(Columns),
}

/// All points of a surface before thinning, with the triangles between them.
struct Candidates {
    places: Vec<[f64; 3]>,
    corners: Vec<Corners>,
    triangles: Vec<[u32; 3]>,
    /// `true` if pinned points count as well: the skin may touch them.
    pinned: bool,
}

impl ContactPoints {
    /// Points of a skin, or boundary vertices of the mesh without one. Only moving points count, and pinned
    /// ones of a skin with self-collision, at most `most` of them; the first `free` rows move.
    pub(crate) fn new(
        mesh: &TetMesh,
        skin: Option<&ContactSkin>,
        rows: &impl VertexRows,
        (free, most): (usize, usize),
    ) -> Result<Self> {
        let edge = (mesh.volumes().iter().sum::<f64>() / mesh.volumes().len() as f64 * 6.0).cbrt();
        let candidates = skin.map_or_else(|| Ok(of_boundary(mesh)), |skin| of_skin(mesh, skin))?;
        Ok(Self::chosen(candidates, edge, rows, (free, most)))
    }

    /// Points of a surface, chosen in the same way.
    pub(crate) fn of_surface(
        surface: &SurfaceMesh,
        rows: &impl VertexRows,
        sizes: (usize, usize),
    ) -> Result<Self> {
        let places = surface.points().to_vec();
        let corners = (0..places.len() as u32).map(alone).collect();
        let edge = (2.0 * surface.area() / surface.triangles().len() as f64).sqrt();
        let triangles = surface.triangles().to_vec();
        Ok(Self::chosen(Candidates { places, corners, triangles, pinned: false }, edge, rows, sizes))
    }

    /// Points among candidates, about an edge length apart, and the triangles between them.
    fn chosen(
        Candidates { places, corners, triangles, pinned }: Candidates,
        edge: f64,
        rows: &impl VertexRows,
        (free, most): (usize, usize),
    ) -> Self {
        let moves = |corners: &Corners| {
            let moving = corners.iter().filter(|(vertex, _)| rows.moves(*vertex));
            moving.map(|(_, weight)| weight).sum::<f64>() >= MOVES
        };
        let counts = |point: &usize| pinned || moves(&corners[*point]);
        let moving: Vec<usize> = (0..corners.len()).filter(counts).collect();
        let thin = Thinned::new(&places, moving, NEAR * edge, most);
        let faces = thin.faces(&places, &triangles);
        Self { faces, ..Self::kept((places, corners), &thin.kept, rows, free) }
    }

    /// All points of given positions and corners.
    pub(super) fn all(
        (places, corners): (Vec<[f64; 3]>, Vec<Corners>),
        rows: &impl VertexRows,
        free: usize,
    ) -> Self {
        let kept: Vec<usize> = (0..places.len()).collect();
        Self::kept((places, corners), &kept, rows, free)
    }

    fn kept(
        (places, corners): (Vec<[f64; 3]>, Vec<Corners>),
        kept: &[usize],
        rows: &impl VertexRows,
        free: usize,
    ) -> Self {
        let (mut starts, mut entries, mut fields) = (vec![0], Vec::new(), Vec::new());
        for &point in kept {
            rows.enter(&corners[point], &mut entries);
            rows.enter_fields(&corners[point], &mut fields);
            starts.push(entries.len());
        }
        let indices = kept.iter().map(|&point| point as u32).collect();
        let rest = kept.iter().map(|&point| places[point]).collect();
        Self {
            starts,
            entries,
            fields,
            places: rest,
            indices,
            given: places.len(),
            free,
            packed: None,
            faces: Vec::new(),
            added: Vec::new(),
        }
    }

    /// Triangles between the points.
    pub(super) fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// Adds a weighted sum of the points.
    pub(super) fn add(&mut self, parts: Corners) {
        for (corner, share) in parts.into_iter().filter(|(_, share)| *share != 0.0) {
            let own = self.starts[corner as usize]..self.starts[corner as usize + 1];
            let entries: Vec<(u32, f64)> =
                self.entries[own].iter().map(|&(row, weight)| (row, share * weight)).collect();
            self.entries.extend(entries);
        }
        self.starts.push(self.entries.len());
        if self.is_coupled() {
            let field =
                |corner: u32, i: usize| Vector3::from(self.fields[3 * self.free * corner as usize + i]);
            let sum =
                |i: usize| -> Vector3<f64> { parts.iter().map(|&(c, share)| share * field(c, i)).sum() };
            let fields: Vec<[f64; 3]> = (0..3 * self.free).map(|i| sum(i).into()).collect();
            self.fields.extend(fields);
        }
        self.added.push(parts);
    }

    /// Parts of an added point, with their weights; `None` for other points.
    pub(super) fn parts(&self, point: usize) -> Option<&Corners> {
        self.added.get(point.checked_sub(self.len())?)
    }

    /// Removes all added points.
    pub(super) fn remove_added(&mut self) {
        self.added.clear();
        self.starts.truncate(self.len() + 1);
        self.entries.truncate(self.starts[self.len()]);
        if self.is_coupled() {
            self.fields.truncate(3 * self.free * self.len());
        }
    }

    /// `true` for allowed pairs of point and collider, indexed by point, then collider.
    pub(crate) fn may_touch(&self, colliders: &[Collider]) -> Result<Vec<bool>> {
        for collider in colliders {
            let spared = collider.spared();
            if let Some(element) = spared.iter().position(|&index| index as usize >= self.given) {
                let (index, count) = (spared[element].into(), self.given);
                return Err(Error::Index { what: "spared", element, index, count });
            }
        }
        let touches = |index: u32| {
            colliders.iter().map(move |collider| collider.spared().binary_search(&index).is_err())
        };
        Ok(self.indices.iter().flat_map(|&index| touches(index)).collect())
    }

    /// At most `most` points, evenly thinned out, at least `spacing` metres apart.
    pub(super) fn thinned(&self, spacing: f64, most: usize) -> Vec<usize> {
        Thinned::new(&self.places, (0..self.len()).collect(), spacing, most).kept
    }

    /// Number of points before thinning.
    pub(crate) fn given(&self) -> usize {
        self.given
    }

    /// Index among the given points, rest position, and weighted rows of each point.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &[f64; 3], &[(u32, f64)])> {
        let points = self.indices.iter().zip(&self.places).enumerate();
        points.map(|(point, (&index, place))| (index as usize, place, self.of(point)))
    }

    /// Number of points without added ones.
    pub(crate) fn len(&self) -> usize {
        self.indices.len()
    }

    /// Rest positions of the points, metres.
    pub(crate) fn places(&self) -> &[[f64; 3]] {
        &self.places
    }

    pub(super) fn of(&self, point: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[point]..self.starts[point + 1]]
    }

    /// `true` for points moved by displacements, which couple directions.
    pub(super) fn is_coupled(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Displacements of a point by each number in the moving rows.
    fn fields_of(&self, point: usize) -> &[[f64; 3]] {
        &self.fields[3 * self.free * point..][..3 * self.free]
    }

    /// Largest norm of the map from the moving rows to a point: no point moves further than this times the
    /// length of the rows.
    pub(crate) fn reach(&self) -> f64 {
        let length2 = |point: usize| -> f64 {
            match self.is_coupled() {
                true => self.fields_of(point).as_flattened().iter().map(|x| x * x).sum(),
                false => self.of(point).iter().map(|(_, weight)| weight * weight).sum(),
            }
        };
        (0..self.len()).map(length2).fold(0.0, f64::max).sqrt()
    }

    /// A point from positions of all rows, or from values of the moving rows alone.
    pub(crate) fn at(&self, point: usize, rows: &Rows) -> Vector3<f64> {
        if self.is_coupled() {
            let moved = self.fields_of(point).iter().zip(rows.as_flattened());
            return moved.fold(Vector3::zeros(), |sum, (field, x)| sum + *x * Vector3::from(*field));
        }
        let of_given = if rows.is_empty() { &[] } else { self.of(point) };
        let own = of_given.iter().filter(|(row, _)| (*row as usize) < rows.len());
        own.fold(Vector3::zeros(), |sum, &(row, weight)| sum + weight * Vector3::from(rows[row as usize]))
    }

    /// Prepares products with all rows at once, for points with an entry of each moving row.
    pub(crate) fn pack(&mut self) {
        let (points, numbers) = (self.len(), 3 * self.free);
        self.packed = Some(if self.is_coupled() {
            AllPoints::Fields(Columns::new(3 * points, numbers, |i, k| self.fields_of(i / 3)[k][i % 3]))
        } else {
            AllPoints::Rows(Packed::new(points, self.free, |point, _, row| self.of(point)[row].1))
        });
    }

    /// All points without added ones, from positions of all rows or values of the moving rows.
    pub(crate) fn all_at(&self, rows: &Rows) -> Vec<Vector3<f64>> {
        let Some(packed) = &self.packed else {
            return (0..self.len()).map(|point| self.at(point, rows)).collect();
        };
        let mut places = vec![[0.0; 3]; self.len()];
        match packed {
            _ if rows.is_empty() => {}
            AllPoints::Rows(packed) => multiply_add(packed, rows, &mut places),
            AllPoints::Fields(columns) => columns.combine(rows.as_flattened(), places.as_flattened_mut()),
        }
        places.into_iter().map(Vector3::from).collect()
    }

    /// `true` if a point moves relative to its rig.
    pub(super) fn moves(&self, point: usize) -> bool {
        let moving = self.of(point).iter().filter(|(row, _)| (*row as usize) < self.free);
        self.is_coupled() || moving.map(|(_, weight)| weight).sum::<f64>() >= MOVES
    }

    /// `true` if any moving row of a point satisfies a predicate.
    pub(crate) fn has_row(&self, point: usize, is_one: impl Fn(usize) -> bool) -> bool {
        if self.is_coupled() {
            return (0..self.free).any(is_one);
        }
        let moving = |&&(row, weight): &&(u32, f64)| (row as usize) < self.free && weight != 0.0;
        self.of(point).iter().filter(moving).any(|&(row, _)| is_one(row as usize))
    }

    /// Adds the transpose action of a value at a point to the moving rows.
    pub(crate) fn spread(&self, point: usize, value: &Vector3<f64>, rows: &mut Rows) {
        if self.is_coupled() {
            let moved = self.fields_of(point).iter().zip(rows.as_flattened_mut());
            return moved.for_each(|(field, x)| *x += value.dot(&Vector3::from(*field)));
        }
        for &(row, weight) in self.of(point) {
            if (row as usize) < self.free {
                (0..3).for_each(|c| rows[row as usize][c] += weight * value[c]);
            }
        }
    }
}

/// A vertex itself.
fn alone(vertex: u32) -> Corners {
    [(vertex, 1.0), (vertex, 0.0), (vertex, 0.0), (vertex, 0.0)]
}

fn of_skin(mesh: &TetMesh, skin: &ContactSkin) -> Result<Candidates> {
    let points = &*skin.points;
    points.check_mesh(mesh)?;
    let count = points.points().len();
    if let Some(element) = skin.triangles.as_flattened().iter().position(|&index| index as usize >= count) {
        let index = skin.triangles.as_flattened()[element].into();
        return Err(Error::Index { what: "contact_triangles", element, index, count });
    }
    let corner = |(&tet, weights): (&u32, &[f64; 4])| {
        let vertices = mesh.tets()[tet as usize];
        std::array::from_fn(|c| (vertices[c], weights[c]))
    };
    Ok(Candidates {
        places: points.points().to_vec(),
        corners: points.tets().iter().zip(points.barycentric()).map(corner).collect(),
        triangles: skin.triangles.to_vec(),
        pinned: skin.self_collision,
    })
}

fn of_boundary(mesh: &TetMesh) -> Candidates {
    let vertices = mesh.boundary_vertices();
    let number = |vertex: u32| vertices.partition_point(|&other| other < vertex) as u32;
    Candidates {
        places: vertices.iter().map(|&vertex| mesh.vertices()[vertex as usize]).collect(),
        corners: vertices.iter().map(|&vertex| alone(vertex)).collect(),
        triangles: mesh.boundary().into_iter().map(|triangle| triangle.map(number)).collect(),
        pinned: false,
    }
}

/// The first moving point in each cell of a grid; the grid is coarsened until there are few enough.
struct Thinned {
    kept: Vec<usize>,
    spacing: f64,
}

impl Thinned {
    fn new(places: &[[f64; 3]], moving: Vec<usize>, mut spacing: f64, most: usize) -> Self {
        loop {
            let mut seen = HashSet::new();
            let first = |point: &usize| seen.insert(cell(&places[*point], spacing));
            let kept: Vec<usize> = moving.iter().copied().filter(first).collect();
            if kept.len() <= most {
                return Self { kept, spacing };
            }
            spacing *= COARSER;
        }
    }

    /// Triangles between the kept points: those with corners in three of their cells.
    fn faces(&self, places: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
        let numbered =
            (0..).zip(&self.kept).map(|(number, &kept)| (cell(&places[kept], self.spacing), number));
        let numbers: HashMap<[i64; 3], u32> = numbered.collect();
        let mut seen = BTreeSet::new();
        let face = |triangle: &[u32; 3]| {
            let number = |corner: u32| numbers.get(&cell(&places[corner as usize], self.spacing)).copied();
            let [Some(a), Some(b), Some(c)] = triangle.map(number) else { return None };
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            (sorted[0] < sorted[1] && sorted[1] < sorted[2] && seen.insert(sorted)).then_some([a, b, c])
        };
        triangles.iter().filter_map(face).collect()
    }
}

fn cell(place: &[f64; 3], spacing: f64) -> [i64; 3] {
    place.map(|x| (x / spacing).floor() as i64)
}
