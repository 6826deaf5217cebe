//! Local frequencies of a held body in its coordinates, and its damping by them.

use std::sync::Arc;

use faer::{Mat, Side};

use super::ReducedModel;
use super::damping::Damping;
use super::elastic::Elastic;
use super::reduce::{Body, applied, square};
use crate::math::dense::{inner, product};
use crate::math::rows::Rows;
use crate::potentials::swings::{CANCELLED, Fields, Swing, damping_matrix};
use crate::{Error, Result};

impl ReducedModel {
    /// Sets the damping of a held body with B, 3n x k.
    pub(super) fn set_local_damping(&mut self, body: &Body<'_>, fields: &Mat<f64>) -> Result<()> {
        if self.is_free(0) {
            return Ok(());
        }
        let swings = self.swings(fields)?;
        let resistances = |tet: usize| [body.laws[tet].slope(), body.laws[tet].bending()];
        let (matrix, mean) = damping_matrix(&self.data.mesh, resistances, &self.data.mass, &swings)?;
        let forces = applied(&matrix, fields.as_ref());
        if let Some(data) = Arc::get_mut(&mut self.data) {
            data.damping = Damping::new(square(&inner(fields.as_ref(), forces.as_ref())), mean);
        }
        Ok(())
    }

    /// Local frequencies of all vertices.
    fn swings(&self, fields: &Mat<f64>) -> Result<Vec<Swing>> {
        let hessian = self.hessian_at_rest()?;
        let found = hessian
            .self_adjoint_eigen(Side::Lower)
            .map_err(|error| Error::Numerical { what: "frequencies", why: format!("{error:?}") })?;
        let (vectors, values) = (found.U(), found.S().column_vector());
        let rank = self.data.rank();
        let least = values[rank - 1] * f64::EPSILON * rank as f64;
        let mut sums = Fields::new(self.data.mass.len());
        for load in &self.data.uniform {
            if load.iter().map(|x| x * x).sum::<f64>() <= CANCELLED * CANCELLED * self.data.total_mass {
                continue;
            }
            let mut y = product(vectors.transpose(), Mat::from_fn(rank, 1, |k, _| load[k]).as_ref());
            let mut answer = || {
                (0..rank).for_each(|k| y[(k, 0)] /= values[k].max(least));
                product(vectors, y.as_ref())
            };
            let (sag, answer) = (answer(), answer());
            let pull = Mat::from_fn(rank, 1, |k, _| self.data.spectrum[k] * answer[(k, 0)]);
            let mut pulled = product(vectors.transpose(), pull.as_ref());
            (0..rank).for_each(|k| pulled[(k, 0)] /= values[k].max(least));
            let moved = [sag, answer, product(vectors, pulled.as_ref())]
                .map(|y| product(fields.as_ref(), y.as_ref()));
            sums.add(moved.each_ref().map(|moved| -> &Rows { moved.col_as_slice(0).as_chunks::<3>().0 }));
        }
        let mut swings = sums.swings(self.data.frequency);
        for (v, swing) in swings.iter_mut().enumerate() {
            if (0..rank).all(|k| fields.col_as_slice(k)[3 * v..3 * v + 3] == [0.0; 3]) {
                *swing = Swing::NONE;
            }
        }
        Ok(swings)
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
