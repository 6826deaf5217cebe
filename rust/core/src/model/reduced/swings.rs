//! Local frequencies of a held body in its coordinates.

use std::sync::Arc;

use faer::{Mat, Side};

use super::ReducedModel;
use super::elastic::Elastic;
use crate::math::dense::product;
use crate::potentials::swings::{FIELDS, Fields, Swings};
use crate::{Error, Result};

impl ReducedModel {
    /// Sets the local frequencies of a held body with B, 3n x k: of a coordinate the mean over its kinetic
    /// energy, `b'M diag(omega) b`.
    pub(super) fn set_swings(&mut self, fields: &Mat<f64>) -> Result<()> {
        if self.is_free(0) {
            return Ok(());
        }
        let frequencies = self.local_frequencies(fields)?;
        let Some(data) = Arc::get_mut(&mut self.data) else { return Ok(()) };
        let mean = |k: usize| {
            let column = fields.col_as_slice(k).as_chunks::<3>().0;
            let square = |row: &[f64; 3]| row.iter().map(|x| x * x).sum::<f64>();
            column
                .iter()
                .zip(data.mass.iter().zip(&frequencies))
                .map(|(row, (m, omega))| m * omega * square(row))
                .sum()
        };
        data.swings = Some(Swings::new((0..data.spectrum.len()).map(mean).collect(), |_| 1.0));
        Ok(())
    }

    /// Angular frequencies of all vertices, n, rad/s.
    fn local_frequencies(&self, fields: &Mat<f64>) -> Result<Vec<f64>> {
        let hessian = self.hessian_at_rest()?;
        let found = hessian
            .self_adjoint_eigen(Side::Lower)
            .map_err(|error| Error::Numerical { what: "frequencies", why: format!("{error:?}") })?;
        let (vectors, values) = (found.U(), found.S().column_vector());
        let rank = self.data.rank();
        let least = values[rank - 1] * f64::EPSILON * rank as f64;
        let mut sums = Fields::new(self.data.mass.len());
        for load in &self.data.uniform {
            let mut y = product(vectors.transpose(), Mat::from_fn(rank, 1, |k, _| load[k]).as_ref());
            for number in 0..FIELDS {
                for k in 0..rank {
                    y[(k, 0)] /= values[k].max(least);
                }
                let u = product(fields.as_ref(), product(vectors, y.as_ref()).as_ref());
                sums.add(number, u.col_as_slice(0).as_chunks::<3>().0);
            }
        }
        Ok(sums.frequencies())
    }

    /// Second derivative of the elastic energy at rest, k x k.
    fn hessian_at_rest(&self) -> Result<Mat<f64>> {
        let rank = self.data.rank();
        let mut elastic = Elastic::unposed(self)?;
        elastic.evaluate(self, &vec![0.0; rank], &mut vec![0.0; rank]);
        let mut sum = Mat::from_fn(rank, rank, |i, j| {
            self.data.quadratics().map(|quadratic| quadratic.own.at(i, j)).sum::<f64>() + self.unseen.at(i, j)
        });
        elastic.add_hessian(self, (1.0, |value| value.max(0.0)), &mut sum);
        Ok(sum)
    }
}
