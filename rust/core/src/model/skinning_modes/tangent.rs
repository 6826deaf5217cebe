//! Residual of a substep's equation along a given motion, and its derivative: input of Newton's method on a
//! whole cycle.

use faer::Mat;

use super::step::SkinningMethod;
use crate::inputs::settings::SimulationParams;
use crate::math::rows::Rows;
use crate::potentials::swings::scale;
use crate::solve::Objective;
use crate::stepping::recurrence::{Recurrence, Tangent};

/// Finite difference step of a coordinate, as a share of the body's size.
const PROBE: f64 = 1e-6;

impl SkinningMethod {
    /// As [`Method::tangent`](crate::stepping::method::Method::tangent).
    ///
    /// Derivatives are finite differences: the energy is smooth except for the second derivative at the
    /// knee of the limit, and a column costs as much as an iteration of a step.
    pub(super) fn derivative(
        &mut self,
        params: &SimulationParams,
        place: &[[f64; 3]],
        probe: bool,
    ) -> Option<Tangent> {
        if self.stretch.is_beyond(&self.model, place) {
            return None;
        }
        let length = PROBE * self.model.unit();
        let (mut energy, _, moved, _) = self.split(params);
        let mut gradient = |place: &Rows| {
            let mut gradient = vec![[0.0; 3]; place.len()];
            let is_finite = energy.evaluate(place, &mut gradient).energy.is_finite();
            is_finite.then(|| gradient.as_flattened().to_vec())
        };
        let here = gradient(place)?;
        if !probe {
            return Some(Tangent { gradient: here, hessian: None, drag: None });
        }
        let size = here.len();
        let mut hessian = Mat::zeros(size, size);
        moved.copy_from_slice(place);
        for j in 0..size {
            moved.as_flattened_mut()[j] += length;
            let column = hessian.col_as_slice_mut(j).iter_mut().zip(gradient(moved)?.into_iter().zip(&here));
            column.for_each(|(out, (beside, here))| *out = (beside - here) / length);
            moved.as_flattened_mut()[j] = place.as_flattened()[j];
        }
        let drag = self.drag.hessian(place);
        Some(Tangent { gradient: here, hessian: Some(hessian.partial_piv_lu()), drag })
    }

    /// Recurrence between substeps.
    pub(super) fn recalled(&self, params: &SimulationParams) -> Recurrence {
        let h = params.dt / f64::from(params.substeps);
        let ([speed, _], factors) = (params.integrator.velocity(), params.integrator.recall());
        let recall = factors.map(|[inertia, kept]| {
            let (momentum, kept) = (inertia / (h * h), kept / h);
            self.model.data.damping.iter().map(|damping| momentum + kept * scale(params) * damping).collect()
        });
        let dragged = [0, 1].map(|back| factors[back][1] / speed);
        Recurrence { diagonal: self.diagonal.clone(), recall, dragged }
    }
}
