//! The equation of a substep, linearised for Newton's method on a whole cycle.

use faer::Mat;
use faer::linalg::solvers::PartialPivLu;

use crate::inputs::settings::HISTORY;

/// A substep of a motion.
pub(crate) struct Tangent {
    /// Gradient of the incremental energy, 3r.
    pub(crate) gradient: Vec<f64>,
    /// Factored Hessian of the incremental energy, if requested.
    pub(crate) hessian: Option<PartialPivLu<f64>>,
    /// Drag's part of the Hessian, if requested and present.
    pub(crate) drag: Option<Mat<f64>>,
}

/// The constant part of the equations of all substeps.
pub(crate) struct Recurrence {
    /// Inertia, damping and the quadratic part of the elastic energy, r.
    pub(crate) diagonal: Vec<f64>,
    /// Factors on the coordinates one, two, ... substeps ago in the right-hand side, each r.
    pub(crate) recall: [Vec<f64>; HISTORY],
    /// Factors on [`Tangent::drag`] times the coordinates one and two substeps ago.
    pub(crate) dragged: [f64; 2],
}
