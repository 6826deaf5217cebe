//! Rest stiffness of a surface without volume: membrane, and curvature from the angles at its hinges.

use std::collections::HashMap;

use nalgebra::{Matrix3, Vector3};

use super::blocks::BlockMatrix;
use super::membrane::{Membrane, Piece};
use crate::math::Selection;
use crate::mesh::SurfaceMesh;

/// Change of the angle at an edge, as a sum over the vertices of both its triangles.
type Angle = [(u32, Vector3<f64>); 4];

/// K of the free vertices, N/m; `plate` is `t^3 / 12` of the thickness t, times a factor, m^3.
///
/// The curvature of a triangle is defined at [`SheetProblem`](crate::subspace::SheetProblem).
pub(crate) fn sheet_stiffness(
    surface: &SurfaceMesh,
    membrane: &Membrane,
    plate: f64,
    vertices: &Selection,
) -> BlockMatrix {
    let free = vertices.rows().len();
    let mut place = vec![free as u32; surface.points().len()];
    (0..).zip(vertices.rows()).for_each(|(row, &vertex)| place[vertex as usize] = row);
    let hinges = Hinges::new(surface, membrane);
    let stencils: Vec<Vec<u32>> = (0..membrane.len())
        .map(|piece| {
            let others =
                hinges.of(piece).into_iter().flatten().flat_map(|(_, angle)| angle.map(|term| term.0));
            membrane.pieces()[piece].corners.into_iter().chain(others).map(|v| place[v as usize]).collect()
        })
        .collect();
    let mut matrix = BlockMatrix::new(free, stencils.iter().map(Vec::as_slice));
    let mut add = |(i, a): (u32, Vector3<f64>), (j, b): (u32, Vector3<f64>), factor: f64| {
        let [i, j] = [i, j].map(|v| place[v as usize] as usize);
        if i < free && j < free {
            matrix.add(i, j, &(factor * a * b.transpose()));
        }
    };
    for (corners, weight, strains) in membrane.strains() {
        for strain in strains {
            for (i, a) in corners.into_iter().zip(strain) {
                corners.into_iter().zip(strain).for_each(|other| add((i, a), other, weight));
            }
        }
    }
    for (number, piece) in membrane.pieces().iter().enumerate() {
        let angles = hinges.of(number);
        let products = hinges.products(piece, &angles);
        for (i, (sign, angle)) in angles.iter().enumerate().filter_map(|(i, own)| Some((i, own.as_ref()?))) {
            for (j, (other_sign, other)) in
                angles.iter().enumerate().filter_map(|(j, own)| Some((j, own.as_ref()?)))
            {
                let factor = plate * piece.modulus * products[(i, j)] * sign * other_sign;
                angle.iter().for_each(|&a| other.iter().for_each(|&b| add(a, b, factor)));
            }
        }
    }
    matrix
}

/// Edges of a surface, with the triangles and opposite corners at each.
struct Hinges<'a> {
    points: &'a [[f64; 3]],
    pieces: &'a [Piece],
    edges: HashMap<[u32; 2], Vec<(usize, u32)>>,
}

impl<'a> Hinges<'a> {
    fn new(surface: &'a SurfaceMesh, membrane: &'a Membrane) -> Self {
        let mut edges: HashMap<[u32; 2], Vec<(usize, u32)>> = HashMap::new();
        for (number, piece) in membrane.pieces().iter().enumerate() {
            (0..3).for_each(|i| edges.entry(edge(piece, i)).or_default().push((number, piece.corners[i])));
        }
        Self { points: surface.points(), pieces: membrane.pieces(), edges }
    }

    fn at(&self, vertex: u32) -> Vector3<f64> {
        Vector3::from(self.points[vertex as usize])
    }

    /// Height of a corner over the opposite edge: unit vector, distance, and foot on the edge from 0 to 1.
    fn height(&self, [first, second]: [u32; 2], corner: u32) -> (Vector3<f64>, f64, f64) {
        let along = self.at(second) - self.at(first);
        let to = self.at(corner) - self.at(first);
        let share = to.dot(&along) / along.norm_squared();
        let up = to - along * share;
        let height = up.norm();
        (up / height, height, share)
    }

    /// Angles at the edges opposite to the corners of a triangle, with the sign seen from its side; `None`
    /// at border edges.
    fn of(&self, number: usize) -> [Option<(f64, Angle)>; 3] {
        let piece = &self.pieces[number];
        let [a, b, c] = piece.corners.map(|v| self.at(v));
        let normal = (b - a).cross(&(c - a));
        [0, 1, 2].map(|i| {
            let key = edge(piece, i);
            let [one, other] = self.edges.get(&key)?.as_slice() else { return None };
            let along = (self.at(key[1]) - self.at(key[0])).normalize();
            let mut ends = [Vector3::zeros(); 2];
            let mut sign = 1.0;
            let terms = [(one, 1.0), (other, -1.0)].map(|(&(owner, corner), turn)| {
                let (up, height, share) = self.height(key, corner);
                let side = turn * along.cross(&up);
                ends[0] -= side * ((1.0 - share) / height);
                ends[1] -= side * (share / height);
                if owner == number {
                    sign = side.dot(&normal).signum();
                }
                (corner, side / height)
            });
            Some((sign, [terms[0], terms[1], (key[0], ends[0]), (key[1], ends[1])]))
        })
    }

    /// `A (|S|^2 + n / (1 - n) tr^2 S)` as a quadratic form of the three angles, 1; border angles are
    /// eliminated at the minimum.
    fn products(&self, piece: &Piece, angles: &[Option<(f64, Angle)>; 3]) -> Matrix3<f64> {
        let sides = [0, 1, 2].map(|i| {
            let key = edge(piece, i);
            let length = (self.at(key[1]) - self.at(key[0])).norm();
            (length, self.height(key, piece.corners[i]).0)
        });
        let mut form = Matrix3::from_fn(|i, j| {
            let [(a, up), (b, other)] = [sides[i], sides[j]];
            a * b * (up.dot(&other).powi(2) + piece.aside) / (4.0 * piece.area)
        });
        for own in (0..3).filter(|&i| angles[i].is_none()) {
            if form[(own, own)] > 0.0 {
                form -= form.column(own) * form.row(own) / form[(own, own)];
            }
        }
        form
    }
}

/// Edge opposite to a corner of a triangle.
fn edge(piece: &Piece, corner: usize) -> [u32; 2] {
    let [a, b] = [1, 2].map(|turn| piece.corners[(corner + turn) % 3]);
    [a.min(b), a.max(b)]
}
