//! Embedding of render points in a tet mesh.

use nalgebra::{Matrix3, Vector3};
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

use super::{
    TetMesh,
    closest::{bounding_box, nearest_leaf, on_triangle},
    tet_mesh::check_points,
};
use crate::parallel::*;
use crate::{Error, Result};

/// The face opposite each corner of a tet.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// Points embedded in a tet mesh: a tet and the barycentric weights of its four corners for each.
///
/// ```text
/// x = sum_c b_c x_c,   sum_c b_c = 1,   b_c >= 0
/// ```
/// A point outside of the mesh is attached to the nearest point of the mesh and takes its values, bounded
/// at any distance and continuous across the surface.
#[derive(Debug, Clone)]
pub struct Embedding {
    points: Vec<[f64; 3]>,
    tets: Vec<u32>,
    barycentric: Vec<[f64; 4]>,
    tet_count: usize,
    vertex_count: usize,
    furthest: f64,
}

impl Embedding {
    /// Finds the tet of each point.
    ///
    /// On a face between tets, the choice is always the same.
    ///
    /// # Errors
    /// No points, or the first one that is not finite.
    pub fn new(mesh: &TetMesh, points: Vec<[f64; 3]>) -> Result<Self> {
        check_points("points", &points)?;
        let boxes: Vec<_> = (0..mesh.tets().len()).map(|t| bounding_box(&mesh.corners(t))).collect();
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let find =
            |&point: &[f64; 3]| nearest_leaf(&tree, point, |t| in_tet(mesh.corners(t as usize), point));
        let found: Vec<(u32, (f64, [f64; 4]))> = points.par_iter().map(find).collect::<Result<_>>()?;
        Ok(Self {
            points,
            tets: found.iter().map(|&(tet, _)| tet).collect(),
            barycentric: found.iter().map(|&(_, (_, weights))| weights).collect(),
            tet_count: mesh.tets().len(),
            vertex_count: mesh.vertices().len(),
            furthest: found.iter().map(|&(_, (distance, _))| distance).fold(0.0, f64::max),
        })
    }

    /// Points, p x 3, metres.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Tet of each point, p.
    pub fn tets(&self) -> &[u32] {
        &self.tets
    }

    /// Barycentric weights of the four corners of each point's tet, p x 4, in [0, 1], each row summing to
    /// 1.
    pub fn barycentric(&self) -> &[[f64; 4]] {
        &self.barycentric
    }

    /// Largest distance of a point from the mesh, metres; 0 up to rounding if all are inside.
    pub fn furthest(&self) -> f64 {
        self.furthest
    }

    /// Checks the numbers of vertices and tets of the points' mesh, else [`Error::Shape`].
    pub(crate) fn check_mesh(&self, mesh: &TetMesh) -> Result<()> {
        let (vertices, tets) = (mesh.vertices().len(), mesh.tets().len());
        if (vertices, tets) == (self.vertex_count, self.tet_count) {
            return Ok(());
        }
        Err(Error::Shape {
            what: "mesh",
            expected: format!("{} vertices and {} tets", self.vertex_count, self.tet_count),
            got: format!("{vertices} and {tets}"),
        })
    }

    /// Values at the points from values at the mesh's vertices.
    ///
    /// ```text
    /// out_p = sum_c b_pc values_(v_pc)
    /// ```
    /// `values` is n x k, row-major; the result p x k. Affine functions of position are reproduced inside
    /// the mesh.
    ///
    /// # Errors
    /// [`Error::Shape`] if `values` is not n x k, and for another mesh.
    pub fn interpolate(&self, mesh: &TetMesh, values: &[f64], k: usize) -> Result<Vec<f64>> {
        self.check_mesh(mesh)?;
        let vertices = self.vertex_count;
        if vertices.checked_mul(k) != Some(values.len()) {
            return Err(Error::Shape {
                what: "values",
                expected: format!("({vertices}, {k})"),
                got: format!("{} numbers", values.len()),
            });
        }
        let mut out = vec![0.0; self.points.len() * k];
        if k > 0 {
            out.par_chunks_mut(k).enumerate().for_each(|(p, row)| {
                let corners = mesh.tets()[self.tets[p] as usize];
                for (vertex, weight) in corners.into_iter().zip(self.barycentric[p]) {
                    let from = &values[vertex as usize * k..][..k];
                    row.iter_mut().zip(from).for_each(|(out, value)| *out += weight * value);
                }
            });
        }
        Ok(out)
    }
}

/// Distance from a point to a tet, and the weights of the corners at the nearest point.
fn in_tet(corners: [[f64; 3]; 4], point: [f64; 3]) -> (f64, [f64; 4]) {
    let weights = barycentric(corners, point);
    if weights.iter().all(|&weight| weight >= 0.0) {
        return (0.0, weights);
    }
    // The nearest face is one with the point on its outer side.
    let beyond = FACES.into_iter().zip(weights).filter(|&(_, weight)| weight < 0.0).map(|(face, _)| {
        let (distance, on_face) = on_triangle(face.map(|c| corners[c]), point);
        let mut weights = [0.0; 4];
        (0..3).for_each(|i| weights[face[i]] = on_face[i]);
        (distance, weights)
    });
    beyond.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, weights))
}

/// Barycentric weights of a point in a tet; some are negative outside.
fn barycentric(corners: [[f64; 3]; 4], point: [f64; 3]) -> [f64; 4] {
    let [a, b, c, d] = corners.map(|corner| Vector3::from(corner) - Vector3::from(point));
    let volume =
        |x: Vector3<f64>, y: Vector3<f64>, z: Vector3<f64>| Matrix3::from_columns(&[x, y, z]).determinant();
    let parts = [volume(b, d, c), volume(a, c, d), volume(a, d, b), volume(a, b, c)];
    let sum: f64 = parts.iter().sum();
    parts.map(|part| part / sum)
}
