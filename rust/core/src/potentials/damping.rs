//! Damping by mass and by stiffness.

use crate::inputs::settings::SimulationParams;

/// Damping by mass, 1/s, and by the metric's stiffness, s times the scale of stiffness, of a body with a
/// given lowest frequency, Hz.
///
/// Mass damping would slow down a body that nothing holds.
pub(crate) fn damping(frequency: f64, is_held: bool, params: &SimulationParams) -> [f64; 2] {
    let omega = std::f64::consts::TAU * frequency * params.stiffness.sqrt();
    if params.damping == 0.0 {
        [0.0; 2]
    } else if is_held {
        // alpha / w + beta w is twice the damping ratio at omega and at three times omega.
        [1.5 * params.damping * omega, 0.5 * params.damping / omega * params.stiffness]
    } else {
        [0.0, 2.0 * params.damping / omega * params.stiffness]
    }
}
