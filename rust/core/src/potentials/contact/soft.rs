//! Collision shape of a soft body for others: a collider in the rest space of the deforming body.
//!
//! Nodes of a grid around the body move with their containing or nearest tet; between nodes the map is
//! trilinear. A point is pulled back through this map into rest space, where the shape gives its distance.

use nalgebra::{Matrix3, Vector3};

use super::points::{ContactPoints, Corners, VertexRows};
use super::shape::Collider;
use crate::math::rows::Rows;
use crate::mesh::{Embedding, TetMesh, bounds};
use crate::{Error, Result};

/// Number of grid cells along the longest side of the body.
const CELLS: f64 = 12.0;
/// Most Newton steps, and the step length at convergence, in cells.
const STEPS: u32 = 12;
const SETTLED: f64 = 1e-9;
/// Largest accepted residual of the pull-back, in cells.
const FOUND: f64 = 1e-3;
/// Corners of a cell.
const CORNERS: usize = 8;

/// A collider carried by a soft body, at its modelled place.
pub(crate) struct SoftShape {
    pub(super) collider: Collider,
    low: Vector3<f64>,
    spacing: f64,
    /// Number of nodes along each axis.
    counts: [usize; 3],
    /// Nodes as sums of the body's rows; x fastest.
    nodes: ContactPoints,
}

/// A cell, the local position of a rest-space point, and the corners' weights.
struct Cell {
    corners: [usize; CORNERS],
    shares: [f64; CORNERS],
    slopes: [Vector3<f64>; CORNERS],
    /// Distance beyond the grid, metres.
    beyond: Vector3<f64>,
}

impl SoftShape {
    /// Shape of a body of tets; the first `free` rows move.
    pub(crate) fn new(
        mesh: &TetMesh,
        collider: Collider,
        rows: &impl VertexRows,
        free: usize,
    ) -> Result<Self> {
        let (low, high) = bounds(mesh.vertices());
        let extent = Vector3::from(high) - Vector3::from(low);
        let spacing = extent.max() / CELLS;
        let counts = std::array::from_fn(|c| (extent[c] / spacing).ceil() as usize + 3);
        let low = Vector3::from(low).add_scalar(-spacing);
        let [x, y, z]: [usize; 3] = counts;
        let at = |node: usize| [node % x, node / x % y, node / (x * y)].map(|n| n as f64);
        let places: Vec<[f64; 3]> =
            (0..x * y * z).map(|node| (low + spacing * Vector3::from(at(node))).into()).collect();
        let hung = Embedding::new(mesh, places.clone())?;
        let corners = hung.tets().iter().zip(&places).map(|(&tet, place)| of_tet(mesh, tet as usize, place));
        let nodes = ContactPoints::all((places.clone(), corners.collect::<Result<_>>()?), rows, free);
        Ok(Self { collider, low, spacing, counts, nodes })
    }

    /// Writes the node positions.
    pub(super) fn enter(&self, rows: &Rows, field: &mut Vec<Vector3<f64>>) {
        field.clear();
        let place = |(node, rest): (usize, &[f64; 3])| Vector3::from(*rest) + self.nodes.at(node, rows);
        field.extend(self.nodes.places().iter().enumerate().map(place));
    }

    /// Bounding box of all nodes for two sets of rows.
    pub(crate) fn reach(&self, places: [&Rows; 2]) -> [[f64; 3]; 2] {
        let mut field = Vec::new();
        let of = |rows: &Rows| {
            self.enter(rows, &mut field);
            let places: Vec<[f64; 3]> = field.iter().map(|place| (*place).into()).collect();
            bounds(&places)
        };
        let [(low, high), (other_low, other_high)] = places.map(of);
        let each =
            |pick: &dyn Fn(f64, f64) -> f64, a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|c| pick(a[c], b[c]));
        [each(&f64::min, low, other_low), each(&f64::max, high, other_high)]
    }

    fn cell(&self, place: &Vector3<f64>) -> Cell {
        let most = Vector3::from(self.counts.map(|n| (n - 1) as f64));
        let along = (place - self.low) / self.spacing;
        let inside = along.zip_map(&most, |x, most| x.clamp(0.0, most));
        let low: [usize; 3] = std::array::from_fn(|c| (inside[c] as usize).min(self.counts[c] - 2));
        let share = |c: usize, bit: usize| {
            let high = inside[c] - low[c] as f64;
            if bit == 1 { high } else { 1.0 - high }
        };
        let bits = |corner: usize| [corner & 1, corner >> 1 & 1, corner >> 2];
        let slope = |corner: usize, c: usize| {
            let bits = bits(corner);
            let [a, b] = [(c + 1) % 3, (c + 2) % 3];
            let sign = if bits[c] == 1 { 1.0 } else { -1.0 };
            sign * share(a, bits[a]) * share(b, bits[b]) / self.spacing
        };
        Cell {
            corners: std::array::from_fn(|corner| {
                let [x, y, z] = std::array::from_fn(|c| low[c] + bits(corner)[c]);
                x + self.counts[0] * (y + self.counts[1] * z)
            }),
            shares: std::array::from_fn(|corner| (0..3).map(|c| share(c, bits(corner)[c])).product()),
            slopes: std::array::from_fn(|corner| Vector3::from_fn(|c, _| slope(corner, c))),
            beyond: self.spacing * (along - inside),
        }
    }

    /// Deformed position of a rest-space point, and the deformation gradient.
    pub(super) fn map(&self, field: &[Vector3<f64>], place: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        let cell = self.cell(place);
        let (mut at, mut gradient) = (Vector3::zeros(), Matrix3::zeros());
        for corner in 0..CORNERS {
            let node = &field[cell.corners[corner]];
            at += cell.shares[corner] * node;
            gradient += node * cell.slopes[corner].transpose();
        }
        (at + gradient * cell.beyond, gradient)
    }

    /// Rest-space position of a point, by Newton's method from a guess, or from the nearest node if this
    /// fails. `None` for an inverted body.
    pub(super) fn pull(
        &self,
        field: &[Vector3<f64>],
        place: &Vector3<f64>,
        guess: Option<Vector3<f64>>,
    ) -> Option<Vector3<f64>> {
        let mut rest = guess.unwrap_or_else(|| self.nearest(field, place));
        for _ in 0..STEPS {
            let (at, gradient) = self.map(field, &rest);
            let Some(inverse) = gradient.try_inverse() else { break };
            let step = inverse * (place - at);
            rest += step;
            if step.norm() <= SETTLED * self.spacing {
                break;
            }
        }
        let (at, gradient) = self.map(field, &rest);
        let found = (place - at).norm() <= FOUND * self.spacing && gradient.determinant() > 0.0;
        if !found && guess.is_some() { self.pull(field, place, None) } else { found.then_some(rest) }
    }

    /// Rest position of the node nearest to a point.
    fn nearest(&self, field: &[Vector3<f64>], place: &Vector3<f64>) -> Vector3<f64> {
        let away = |node: &usize| (field[*node] - place).norm_squared();
        let nearest = (0..field.len()).min_by(|a, b| away(a).total_cmp(&away(b)));
        nearest.map_or_else(Vector3::zeros, |node| self.nodes.places()[node].into())
    }

    /// Subtracts the position of a rest-space point, as a sum of rows from `first` on.
    pub(super) fn subtract(&self, place: &Vector3<f64>, first: u32, entries: &mut Vec<(u32, f64)>) {
        let cell = self.cell(place);
        let mut own = Vec::new();
        for corner in 0..CORNERS {
            let share = cell.shares[corner] + cell.slopes[corner].dot(&cell.beyond);
            own.extend(
                self.nodes.of(cell.corners[corner]).iter().map(|&(row, weight)| (row, share * weight)),
            );
        }
        own.sort_by_key(|&(row, _)| row);
        let sum = |same: &[(u32, f64)]| -> f64 { same.iter().map(|(_, value)| value).sum() };
        entries.extend(own.chunk_by(|a, b| a.0 == b.0).map(|same| (first + same[0].0, -sum(same))));
    }
}

/// A point in or beside a tet as a sum of its corners.
fn of_tet(mesh: &TetMesh, tet: usize, place: &[f64; 3]) -> Result<Corners> {
    let vertices = mesh.tets()[tet];
    let [a, b, c, d] = vertices.map(|vertex| Vector3::from(mesh.vertices()[vertex as usize]));
    let edges = Matrix3::from_columns(&[b - a, c - a, d - a]);
    let Some(inverse) = edges.try_inverse() else {
        return Err(Error::Numerical { what: "shape", why: format!("tet {tet} is flat") });
    };
    let shares = inverse * (Vector3::from(*place) - a);
    let weights = [1.0 - shares.sum(), shares[0], shares[1], shares[2]];
    Ok(std::array::from_fn(|c| (vertices[c], weights[c])))
}
