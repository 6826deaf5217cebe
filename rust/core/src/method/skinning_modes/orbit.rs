//! Substeps along a given motion: how far each is from solving its equation, and how that changes with the
//! motion. This is what Newton's method on a whole cycle needs.

use faer::Mat;
use faer::linalg::solvers::PartialPivLu;

use super::step::{SkinningStepper, damping};
use crate::method::settings::HISTORY;
use crate::method::{Drive, SimulationParams};
use crate::{Progress, Result};

/// Share of the body's size by which a coordinate is moved to see how the gradient changes.
const PROBE: f64 = 1e-6;

/// A substep of a motion.
pub(crate) struct Tangent {
    /// Gradient of the incremental energy, 3r.
    pub(crate) gradient: Vec<f64>,
    /// Its derivative, factored, where it was asked for.
    pub(crate) hessian: Option<PartialPivLu<f64>>,
    /// What drag adds to it, where that was asked for and there is drag.
    pub(crate) drag: Option<Mat<f64>>,
}

/// The part of a substep's equation that is the same in all of them.
pub(crate) struct Recurrence {
    /// Inertia, damping and the quadratic part of the elastic energy, r.
    pub(crate) diagonal: Vec<f64>,
    /// Factors on the coordinates one, two, ... substeps ago in what pulls on the next, each r.
    pub(crate) recall: [Vec<f64>; HISTORY],
    /// Factors on [`Tangent::drag`] times the coordinates one and two substeps ago, likewise.
    pub(crate) dragged: [f64; 2],
}

impl SkinningStepper {
    /// As [`SkinningStepper::step`]; keeps the reduced coordinates after each substep.
    pub(crate) fn step_traced(
        &mut self,
        drive: &Drive<'_>,
        params: &SimulationParams,
        places: &mut Vec<Vec<[f64; 3]>>,
        progress: &Progress,
    ) -> Result<()> {
        let report = self.step_by(drive, params, |stepper| {
            let solved = stepper.solve(params, progress)?;
            places.push(stepper.reduced.clone());
            Ok(solved)
        });
        report.map(|_| ())
    }

    /// Goes to `places`, one a substep, in place of solving; `None` where one lies beyond the limit.
    pub(crate) fn step_along(
        &mut self,
        drive: &Drive<'_>,
        params: &SimulationParams,
        places: &[Vec<[f64; 3]>],
        probe: bool,
    ) -> Result<Option<Vec<Tangent>>> {
        let mut rest = places.iter();
        let mut tangents = Some(Vec::with_capacity(places.len()));
        self.step_by(drive, params, |stepper| {
            if let Some(place) = rest.next() {
                let tangent = stepper.tangent(params, place, probe);
                stepper.reduced.copy_from_slice(place);
                tangents = tangents.take().zip(tangent).map(|(mut all, tangent)| {
                    all.push(tangent);
                    all
                });
            }
            Ok((0, 0.0))
        })?;
        Ok(tangents)
    }

    /// The derivative is taken by differences: the energy is smooth but for its second derivative at the knee of
    /// the limit, and a column costs as much as an iteration of a step.
    fn tangent(&mut self, params: &SimulationParams, place: &[[f64; 3]], probe: bool) -> Option<Tangent> {
        let length = PROBE * self.model.unit();
        let (mut objective, descent, local, moved, _) = self.objective(params);
        let gradient = descent.gradient(&mut objective, local, place)?.as_flattened().to_vec();
        if !probe {
            return Some(Tangent { gradient, hessian: None, drag: None });
        }
        let size = gradient.len();
        let mut hessian = Mat::zeros(size, size);
        moved.copy_from_slice(place);
        for j in 0..size {
            moved.as_flattened_mut()[j] += length;
            let beside = descent.gradient(&mut objective, local, moved)?.as_flattened();
            let column = hessian.col_as_slice_mut(j).iter_mut().zip(beside.iter().zip(&gradient));
            column.for_each(|(out, (beside, here))| *out = (beside - here) / length);
            moved.as_flattened_mut()[j] = place.as_flattened()[j];
        }
        let drag = self.drag.hessian(place);
        Some(Tangent { gradient, hessian: Some(hessian.partial_piv_lu()), drag })
    }

    pub(crate) fn recurrence(&self, params: &SimulationParams) -> Recurrence {
        let h = params.dt / f64::from(params.substeps);
        let (inertia, speed) = (params.integrator.acceleration(), params.integrator.velocity());
        let (next, after) =
            (|k: usize| inertia.get(k).copied().unwrap_or(0.0), [speed[0] - speed[1], speed[1]]);
        let recall = std::array::from_fn(|back| {
            let momentum = (inertia[back] - next(back + 1)) / (h * h);
            let kept = after.get(back).copied().unwrap_or(0.0) / h;
            self.model.data.spectrum.iter().map(|&s| momentum + kept * damping(s, params)).collect()
        });
        let dragged = after.map(|factor| factor / speed[0]);
        Recurrence { diagonal: self.diagonal.clone(), recall, dragged }
    }
}
