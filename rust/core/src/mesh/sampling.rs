//! Surface points that provide the boundary values of an enclosing tet mesh.

use super::{SurfaceMesh, TetMesh, closest_points};
use crate::Result;

/// Closest surface point of each boundary vertex of a tet mesh.
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

    /// Three surface points with weights for each, s.
    pub(crate) fn places(&self) -> &[([u32; 3], [f64; 3])] {
        &self.places
    }

    /// Interpolation of values at the surface points, p x k, to the closest points: s x k.
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
