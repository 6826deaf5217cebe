//! Stitches in the reduced body: exact, because their energy is quadratic in coefficients and pose.
//!
//! With a row of B and of J at each spring's difference of ends, `x_a - x_b - g d = D z + D_J p`. The quadratic
//! part in z joins the stiffness that is diagonalised; what is kept beside it is the coupling and the rig's own.

use faer::Mat;

use super::reduce::Body;
use crate::math::dense::product;
use crate::operators::Stitches;

/// What stitches add to a reduced body beside its stiffness.
#[derive(Clone)]
pub(crate) struct ReducedStitches {
    /// `Phi' D'k D_J`, r x 4h.
    pub(crate) rig: Mat<f64>,
    /// `D_J'k D_J`, 4h x 4h.
    pub(crate) spread: Mat<f64>,
}

/// Rows of B and J at the differences of the ends, s x 4m and s x 4h, and the stiffness, s.
pub(super) struct StitchRows {
    modes: Mat<f64>,
    rig: Mat<f64>,
    stiffness: Vec<f64>,
}

impl StitchRows {
    pub(super) fn new(body: &Body<'_>, stitches: &Stitches) -> Self {
        let (b, j) = (4 * body.modes, 4 * body.handles);
        let rows: Vec<(Vec<f64>, Vec<f64>)> = stitches
            .stitches()
            .iter()
            .map(|stitch| {
                let (mut modes, mut rig) = (vec![0.0; b], vec![0.0; j]);
                for (vertex, share) in stitch.entries() {
                    body.add_mode_row(vertex, share, &mut modes);
                    body.add_rig_row(vertex, share, &mut rig);
                }
                let mut apart = [0.0; 3];
                for (vertex, share) in stitch.entries() {
                    (0..3).for_each(|d| apart[d] += share * body.points[vertex][d]);
                }
                for (vertex, share) in stitch.ends.iter().flat_map(|end| end.entries()) {
                    for &(handle, weight) in body.handles_of(vertex) {
                        let kept = 0.5 * stitch.gap * share * weight;
                        (0..3).for_each(|d| rig[4 * handle as usize + d] -= kept * apart[d]);
                    }
                }
                (modes, rig)
            })
            .collect();
        Self {
            modes: Mat::from_fn(rows.len(), b, |s, k| rows[s].0[k]),
            rig: Mat::from_fn(rows.len(), j, |s, k| rows[s].1[k]),
            stiffness: stitches.stiffness().collect(),
        }
    }

    fn forces(&self, rows: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(rows.nrows(), rows.ncols(), |s, k| self.stiffness[s] * rows[(s, k)])
    }

    /// `D'k D`, 4m x 4m.
    pub(super) fn quadratic(&self) -> Mat<f64> {
        product(self.modes.transpose(), self.forces(&self.modes).as_ref())
    }

    /// The rest, for reduced coordinates of this basis.
    pub(super) fn reduce(&self, basis: &Mat<f64>) -> ReducedStitches {
        let forces = self.forces(&self.rig);
        let pull = product(self.modes.transpose(), forces.as_ref());
        ReducedStitches {
            rig: product(basis.transpose(), pull.as_ref()),
            spread: product(self.rig.transpose(), forces.as_ref()),
        }
    }
}
