//! Projection from basis coefficients to displacements of points.

use faer::MatRef;

use super::project::Project;
use crate::Result;
use crate::math::columns::Columns;
use crate::mesh::{Embedding, TetMesh};
use crate::parallel::*;

/// Numbers a task.
const TASK: usize = 3 * 4096;

/// Displacements `u = sum_j U_j q_j` at fixed points.
pub(crate) struct DisplacementProjector {
    points: usize,
    count: usize,
    /// U at the points, in pieces of rows.
    pieces: Vec<Columns>,
}

impl DisplacementProjector {
    /// # Errors
    /// [`Error::Shape`] or [`Error::Index`] for an embedding in another mesh.
    pub(crate) fn new(basis: MatRef<'_, f64>, mesh: &TetMesh, embedding: Option<&Embedding>) -> Result<Self> {
        embedding.map_or(Ok(()), |embedding| embedding.check_mesh(mesh))?;
        let points = embedding.map_or(mesh.vertices().len(), |embedding| embedding.points().len());
        let value = |i: usize, j: usize| match embedding {
            None => basis[(i, j)],
            Some(embedding) => {
                let corners = mesh.tets()[embedding.tets()[i / 3] as usize];
                let shares = &embedding.barycentric()[i / 3];
                corners.iter().zip(shares).map(|(&v, share)| share * basis[(3 * v as usize + i % 3, j)]).sum()
            }
        };
        let piece = |first: usize| {
            let rows = TASK.min(3 * points - first);
            Columns::new(rows, basis.ncols(), |i, j| value(first + i, j))
        };
        let pieces = (0..3 * points).step_by(TASK).map(piece).collect();
        Ok(Self { points, count: basis.ncols(), pieces })
    }
}

impl Project for DisplacementProjector {
    fn coefficient_count(&self) -> usize {
        self.count
    }

    fn shape(&self) -> String {
        format!("({},)", self.count)
    }

    fn point_count(&self) -> usize {
        self.points
    }

    fn displacement(&self, coefficients: &[f64], out: &mut [f32]) {
        self.pieces.par_iter().zip(out.par_chunks_mut(TASK)).for_each(|(piece, out)| {
            let mut sums = vec![0.0; out.len()];
            piece.combine(coefficients, &mut sums);
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum as f32);
        });
    }

    /// `U' f` of forces at the points.
    fn reduce_forces(&self, forces: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        let mut part = vec![0.0; self.count];
        for (piece, forces) in self.pieces.iter().zip(forces.chunks(TASK)) {
            piece.project(forces, &mut part);
            sums.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
        }
        sums
    }
}
