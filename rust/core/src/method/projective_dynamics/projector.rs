//! From the transforms of handles to the displacements of points.

use rayon::prelude::*;

use super::ProjectiveModel;
use crate::mesh::Embedding;
use crate::{Error, Result};

/// Points a task works on.
const TASK: usize = 4096;

/// Displacements `u_i = sum_j w_ij Z_j [X_i - c_j; 1]` at fixed points, each of which feels few handles.
pub(in crate::method) struct HandleProjector {
    centers: Vec<[f64; 3]>,
    points: Vec<[f64; 3]>,
    starts: Vec<usize>,
    handles: Vec<u32>,
    weights: Vec<f64>,
}

impl HandleProjector {
    /// # Errors
    /// [`Error::Shape`] or [`Error::Index`] if the embedding is not one in this mesh.
    pub(in crate::method) fn new(model: &ProjectiveModel, embedding: Option<&Embedding>) -> Result<Self> {
        let embedding = embedding.map(|embedding| Ok((embedding, model.tets_of(embedding)?))).transpose()?;
        let points = embedding.map_or(model.vertices(), |(embedding, _)| embedding.points()).to_vec();
        let (mut starts, mut handles, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut row = Vec::new();
        for point in 0..points.len() {
            match embedding {
                None => row.extend_from_slice(model.handles.of_vertex(point)),
                Some((embedding, tets)) => {
                    let corners = tets[embedding.tets()[point] as usize];
                    for (vertex, share) in corners.iter().zip(embedding.barycentric()[point]) {
                        let of = model.handles.of_vertex(*vertex as usize);
                        row.extend(of.iter().map(|&(handle, weight)| (handle, share * weight)));
                    }
                    row.sort_by_key(|&(handle, _)| handle);
                }
            }
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                handles.push(same[0].0);
                weights.push(same.iter().map(|(_, weight)| weight).sum());
            }
            row.clear();
            starts.push(handles.len());
        }
        Ok(Self { centers: model.handles.centers().to_vec(), points, starts, handles, weights })
    }

    pub(in crate::method) fn point_count(&self) -> usize {
        self.points.len()
    }

    fn of_point(&self, point: usize) -> impl Iterator<Item = (usize, f64)> {
        let own = self.starts[point]..self.starts[point + 1];
        self.handles[own.clone()].iter().map(|&handle| handle as usize).zip(self.weights[own].iter().copied())
    }

    pub(in crate::method) fn displacement(&self, coefficients: &[f64], out: &mut [f32]) -> Result<()> {
        if coefficients.len() != 12 * self.centers.len() {
            let expected = format!("({}, 3, 4)", self.centers.len());
            let got = format!("{} numbers", coefficients.len());
            return Err(Error::Shape { what: "coefficients", expected, got });
        }
        let transforms = coefficients.as_chunks::<4>().0.as_chunks::<3>().0;
        out.par_chunks_mut(3 * TASK).enumerate().for_each(|(task, out)| {
            for (i, out) in out.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                *out = self.moved(task * TASK + i, transforms).map(|x| x as f32);
            }
        });
        Ok(())
    }

    fn moved(&self, point: usize, transforms: &[[[f64; 4]; 3]]) -> [f64; 3] {
        let (mut sum, place) = ([0.0; 3], self.points[point]);
        for (handle, weight) in self.of_point(point) {
            let center = &self.centers[handle];
            let arm: [f64; 3] = std::array::from_fn(|d| place[d] - center[d]);
            for (sum, [x, y, z, shift]) in sum.iter_mut().zip(&transforms[handle]) {
                *sum += weight * (x * arm[0] + y * arm[1] + z * arm[2] + shift);
            }
        }
        sum
    }

    /// `sum over i of w_ij f_i [X_i - c_j; 1]'`.
    pub(in crate::method) fn reduce_forces(&self, forces: &[f64]) -> Vec<f64> {
        let mut sums = vec![[[0.0; 4]; 3]; self.centers.len()];
        for (point, (force, place)) in forces.as_chunks::<3>().0.iter().zip(&self.points).enumerate() {
            for (handle, weight) in self.of_point(point) {
                let center = &self.centers[handle];
                for (row, force) in sums[handle].iter_mut().zip(force) {
                    (0..3).for_each(|d| row[d] += weight * force * (place[d] - center[d]));
                    row[3] += weight * force;
                }
            }
        }
        sums.as_flattened().as_flattened().to_vec()
    }
}
