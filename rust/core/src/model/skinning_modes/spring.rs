//! A spring that pulls a point of a body to a target.

use super::SkinningModel;
use crate::Result;
use crate::inputs::settings::SimulationParams;

/// Square of the angular frequency that motion without stiffness counts as having, 1/s^2: that of 1 Hz.
const SLOWEST: f64 = 39.5;

/// Response of a point, as a share of that of the whole body in its lowest mode, below which a point is part
/// of the bones: a spring would move all else before it.
const FIRM: f64 = 0.3;

/// Spring from a point of a body to a target, implicit in time: it pulls without a kick, however firm.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSpring {
    /// Row of `B Phi` at the point, r.
    pub(super) row: Vec<f64>,
    /// Stiffness, N/m.
    pub(super) stiffness: f64,
    /// Wanted displacement of the point from its rigged place, metres.
    pub displacement: [f64; 3],
}

impl PointSpring {
    /// A spring from a point with weights of the modes, m, at a rest position. `firmness` is its stiffness in
    /// units of the body's own at this point: at 4 the point goes four fifths of the way to its target, and
    /// less far where the flesh is firm.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::NotFinite`](crate::Error::NotFinite) for the
    /// weights.
    pub fn new(
        model: &SkinningModel,
        (weights, point): (&[f64], [f64; 3]),
        firmness: f64,
        params: &SimulationParams,
    ) -> Result<Self> {
        let [x, y, z] = point;
        let force: Vec<f64> =
            weights.iter().flat_map(|w| [w * x, w * y, w * z, *w].into_iter().chain([0.0; 8])).collect();
        let row = model.row_of_force(&force)?;
        let soft = |(row, spectrum): (&f64, &f64)| row * row / (params.stiffness * spectrum + SLOWEST);
        let response: f64 = row.iter().zip(&model.data().spectrum).map(soft).sum();
        let whole = 1.0 / (model.mass() * (params.stiffness * lowest(model) + SLOWEST));
        Ok(Self { row, stiffness: firmness / response.max(FIRM * whole), displacement: [0.0; 3] })
    }
}

/// Lowest eigenvalue with stiffness, 1/s^2.
fn lowest(model: &SkinningModel) -> f64 {
    (std::f64::consts::TAU * model.frequency()).powi(2)
}
