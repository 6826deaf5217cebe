//! Projection from displacements of a mesh's vertices to embedded points.

use super::project::Project;
use crate::Result;
use crate::mesh::{Embedding, TetMesh};

/// Displacements `u_i = sum over j of b_ij u_j` of points, or the vertex displacements themselves.
pub(crate) struct VertexProjector {
    vertices: usize,
    /// Vertices and barycentric weights of each point; `None` for the vertices themselves.
    points: Option<Vec<([u32; 4], [f64; 4])>>,
}

impl VertexProjector {
    /// # Errors
    /// [`Error::Shape`] or [`Error::Index`] for an embedding in another mesh.
    pub(crate) fn new(mesh: &TetMesh, embedding: Option<&Embedding>) -> Result<Self> {
        embedding.map_or(Ok(()), |embedding| embedding.check_mesh(mesh))?;
        let points = embedding.map(|embedding| {
            let places = embedding.tets().iter().zip(embedding.barycentric());
            places.map(|(&tet, &shares)| (mesh.tets()[tet as usize], shares)).collect()
        });
        Ok(Self { vertices: mesh.vertices().len(), points })
    }
}

impl Project for VertexProjector {
    fn coefficient_count(&self) -> usize {
        3 * self.vertices
    }

    fn shape(&self) -> String {
        format!("({}, 3)", self.vertices)
    }

    fn point_count(&self) -> usize {
        self.points.as_ref().map_or(self.vertices, Vec::len)
    }

    fn displacement(&self, coefficients: &[f64], out: &mut [f32]) {
        let Some(points) = &self.points else {
            out.iter_mut().zip(coefficients).for_each(|(out, &u)| *out = u as f32);
            return;
        };
        let u = coefficients.as_chunks::<3>().0;
        for (out, (corners, shares)) in out.as_chunks_mut::<3>().0.iter_mut().zip(points) {
            let corners = || corners.iter().zip(shares);
            *out = std::array::from_fn(|c| {
                corners().map(|(&v, share)| share * u[v as usize][c]).sum::<f64>() as f32
            });
        }
    }

    /// `sum over i of b_ij f_i`.
    fn reduce_forces(&self, forces: &[f64]) -> Vec<f64> {
        let Some(points) = &self.points else { return forces.to_vec() };
        let mut sums = vec![[0.0; 3]; self.vertices];
        for (force, (corners, shares)) in forces.as_chunks::<3>().0.iter().zip(points) {
            for (&vertex, share) in corners.iter().zip(shares) {
                (0..3).for_each(|c| sums[vertex as usize][c] += share * force[c]);
            }
        }
        sums.as_flattened().to_vec()
    }
}
