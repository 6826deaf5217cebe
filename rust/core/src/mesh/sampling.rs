//! The places of a surface that say what holds at the boundary of a tet mesh around it.

use super::{SurfaceMesh, TetMesh, closest_points};
use crate::Result;

/// For each vertex on the boundary of a tet mesh the closest place on a surface.
pub(crate) struct BoundarySamples {
    vertices: Vec<u32>,
    places: Vec<([u32; 3], [f64; 3])>,
}

impl BoundarySamples {
    pub(crate) fn new(surface: &SurfaceMesh, mesh: &TetMesh) -> Result<Self> {
        let vertices = mesh.boundary_vertices();
        let queries: Vec<_> = vertices.iter().map(|&v| mesh.vertices()[v as usize]).collect();
        let closest = closest_points(surface, &queries)?;
        let place = |triangle: u32| surface.triangles()[triangle as usize];
        let places = closest.iter().map(|closest| (place(closest.triangle), closest.barycentric)).collect();
        Ok(Self { vertices, places })
    }

    /// The vertices on the boundary, s.
    pub(crate) fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Three points of the surface for each, and their shares, s.
    pub(crate) fn places(&self) -> &[([u32; 3], [f64; 3])] {
        &self.places
    }

    /// Values at the points of the surface, p x k, at the places: s x k.
    pub(crate) fn sample(&self, values: &[f64], k: usize) -> Vec<f64> {
        let mut sampled = vec![0.0; self.places.len() * k];
        for (row, (points, shares)) in sampled.chunks_exact_mut(k).zip(&self.places) {
            for (&point, share) in points.iter().zip(shares) {
                let at = point as usize * k;
                row.iter_mut().zip(&values[at..at + k]).for_each(|(sum, value)| *sum += share * value);
            }
        }
        sampled
    }
}
