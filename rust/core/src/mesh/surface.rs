//! Triangle surfaces as made by artists.

use nalgebra::Vector3;

use super::tet_mesh::{check_points, extent};
use crate::{Error, Result};

/// A triangle surface, such as a character's render meshes joined in one space.
///
/// Points in metres, p x 3; triangles as three point indices, q x 3. Only unusable surfaces are refused: a
/// surface may be open, in many parts, self-intersecting, inconsistently oriented, with repeated points,
/// points of no triangle and triangles of no area.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceMesh {
    points: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl SurfaceMesh {
    /// Surface with checked input.
    ///
    /// # Errors
    /// No points or no triangles; the first point that is not finite; the first index out of range.
    pub fn new(points: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self> {
        check_points("points", &points)?;
        if triangles.is_empty() {
            return Err(Error::Empty { what: "triangles" });
        }
        let count = points.len();
        match triangles.as_flattened().iter().position(|&v| v as usize >= count) {
            Some(i) => Err(Error::Index {
                what: "triangles",
                element: i / 3,
                index: triangles[i / 3][i % 3].into(),
                count,
            }),
            None => Ok(Self { points, triangles }),
        }
    }

    /// A box with a corner at the origin, for first trials: eight points, twelve triangles that face
    /// outwards.
    ///
    /// ```
    /// use jounce::mesh::SurfaceMesh;
    ///
    /// let surface = SurfaceMesh::cuboid([4.0, 1.0, 1.0])?;
    /// assert_eq!(surface.points()[7], [4.0, 1.0, 1.0]);
    /// # Ok::<(), jounce::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a length that is not finite.
    pub fn cuboid([x, y, z]: [f64; 3]) -> Result<Self> {
        let corner = |i: u32| [f64::from(i >> 2) * x, f64::from(i >> 1 & 1) * y, f64::from(i & 1) * z];
        let sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
        let triangles = sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Self::new((0..8).map(corner).collect(), triangles)
    }

    /// Point positions, p x 3, metres.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Point indices of each triangle, q x 3.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Length of the bounding box's diagonal, metres.
    pub fn diagonal(&self) -> f64 {
        extent(&self.points)
    }

    /// Sum of the areas of the triangles, square metres.
    pub fn area(&self) -> f64 {
        let of = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|v| Vector3::from(self.points[v as usize]));
            0.5 * (b - a).cross(&(c - a)).norm()
        };
        self.triangles.iter().map(of).sum()
    }

    /// Corner positions of each triangle, and each loose point as a triangle without extent.
    pub(super) fn pieces(&self) -> Vec<[[f64; 3]; 3]> {
        let mut loose = vec![true; self.points.len()];
        self.triangles.as_flattened().iter().for_each(|&v| loose[v as usize] = false);
        let triangles = self.triangles.iter().map(|t| t.map(|v| self.points[v as usize]));
        let points = self.points.iter().zip(loose).filter(|(_, loose)| *loose).map(|(&p, _)| [p; 3]);
        triangles.chain(points).collect()
    }
}
