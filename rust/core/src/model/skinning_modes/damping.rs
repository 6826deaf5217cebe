//! Damping of a body in skinning modes: a held one at its local frequencies, a free or stitched one mode by
//! mode.

use faer::{Mat, MatRef};

use super::body::Body;
use super::data::SkinningData;
use crate::Result;
use crate::material::Material;
use crate::math::dense::diagonal::FREE;
use crate::math::dense::{inner, product};
use crate::math::rows::Rows;
use crate::math::{COPY, DenseCholesky};
use crate::potentials::swings::{CANCELLED, Fields, Swing, damping_matrix};

impl Body<'_> {
    /// Damping of each coordinate for a ratio and a scale of stiffness of 1, r, 1/s.
    ///
    /// The diagonal of `Phi' B'CB Phi` of a held body, alike for copies; `2 sqrt(spectrum)` of a free one,
    /// and of one with stitches, whose damping is known mode by mode when they open.
    pub(super) fn damping(&self, material: &Material, data: &SkinningData) -> Result<Vec<f64>> {
        let Some(swings) = self.swings(data) else {
            return Ok(data.spectrum.iter().map(|value| 2.0 * value.sqrt()).collect());
        };
        let resistances = |tet: usize| [2.0 * material.mu(tet), material.bending(tet)];
        let (matrix, _) = damping_matrix(self.mesh, resistances, &self.mass, &swings)?;
        let seen = product(self.form(&matrix).as_ref(), data.basis.as_ref());
        let entry = |i: usize| {
            let pairs = data.basis.col_as_slice(i).iter().zip(seen.col_as_slice(i));
            pairs.map(|(phi, seen)| phi * seen).sum()
        };
        let entries: Vec<f64> = (0..data.spectrum.len()).map(entry).collect();
        Ok(shared_by_copies(&data.spectrum, &entries))
    }

    /// Local frequencies of all vertices; `None` for a free or stitched body, and for one whose samples leave
    /// a motion without resistance.
    fn swings(&self, data: &SkinningData) -> Option<Vec<Swing>> {
        let (rank, least) = (data.spectrum.len(), FREE * data.spectrum.iter().copied().fold(0.0, f64::max));
        if data.springs().is_some() || data.spectrum.iter().any(|&value| value <= least) {
            return None;
        }
        let mut hessian = DenseCholesky::of(hessian_at_rest(data));
        if !hessian.factor() {
            return None;
        }
        let mut fields = Fields::new(self.vertex_count());
        let seen = data.uniform.iter().map(|x| x * x).sum::<f64>();
        if seen > CANCELLED * CANCELLED * data.mass {
            for axis in 0..3 {
                let mut sag = vec![[0.0; 3]; rank];
                sag.iter_mut().zip(&data.uniform).for_each(|(row, load)| row[axis] = *load);
                let answer = |mut rows: Vec<[f64; 3]>| {
                    hessian.solve(rows.as_flattened_mut(), 1);
                    rows
                };
                let sag = answer(sag);
                let second = answer(sag.clone());
                let pull = second.iter().zip(&data.spectrum).map(|(row, value)| row.map(|x| value * x));
                let pulled = answer(pull.collect());
                let [sag, second, pulled] = [sag, second, pulled].map(|rows| self.moved(data, &rows));
                fields.add([&sag, &second, &pulled]);
            }
        }
        let lowest = data.spectrum.iter().copied().fold(f64::INFINITY, f64::min).sqrt();
        let mut swings = fields.swings(lowest / std::f64::consts::TAU);
        (0..swings.len()).filter(|&v| !self.is_moved(v)).for_each(|v| swings[v] = Swing::NONE);
        Some(swings)
    }

    /// Displacement of all vertices, n x 3, by reduced coordinates, r rows.
    fn moved(&self, data: &SkinningData, rows: &Rows) -> Vec<[f64; 3]> {
        let rows =
            product(data.basis.as_ref(), MatRef::from_row_major_slice(rows.as_flattened(), rows.len(), 3));
        let rows: Vec<[f64; 3]> = (0..rows.nrows()).map(|i| [0, 1, 2].map(|c| rows[(i, c)])).collect();
        self.displaced(&rows)
    }
}

/// Numbers of the coordinates, with the mean of those of copies: rounding chooses any combination of
/// coordinates with the same eigenvalue.
pub(super) fn shared_by_copies(spectrum: &[f64], numbers: &[f64]) -> Vec<f64> {
    let places: Vec<usize> = (0..spectrum.len()).collect();
    let copies = places.chunk_by(|&a, &b| (spectrum[b] - spectrum[a]).abs() <= COPY * spectrum[b]);
    let shared = |copies: &[usize]| {
        let mean = copies.iter().map(|&k| numbers[k]).sum::<f64>() / copies.len() as f64;
        vec![mean; copies.len()]
    };
    copies.flat_map(shared).collect()
}

/// Second derivative of the elastic energy at rest, 3r x 3r with the axes of a coordinate side by side:
/// `diag(spectrum) - A' w/2 A + D' v D`, A the rotation of the clusters and D their change of volume.
fn hessian_at_rest(data: &SkinningData) -> Mat<f64> {
    let (rank, clusters) = (data.spectrum.len(), data.cluster_weights.len());
    let gradient = |c: usize, i: usize, axis: usize| data.cluster_basis[(3 * c + axis, i)];
    let turning = Mat::from_fn(3 * clusters, 3 * rank, |row, column| {
        let ((c, axis), (i, along)) = ((row / 3, row % 3), (column / 3, column % 3));
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        let half = (0.5 * data.cluster_weights[c]).sqrt();
        match along {
            _ if along == last => half * gradient(c, i, next),
            _ if along == next => -half * gradient(c, i, last),
            _ => 0.0,
        }
    });
    let swelling = Mat::from_fn(clusters, 3 * rank, |c, column| {
        data.cluster_volumes[c].sqrt() * gradient(c, column / 3, column % 3)
    });
    let mut sum = inner(swelling.as_ref(), swelling.as_ref()) - inner(turning.as_ref(), turning.as_ref());
    (0..3 * rank).for_each(|k| sum[(k, k)] += data.spectrum[k / 3]);
    sum
}
