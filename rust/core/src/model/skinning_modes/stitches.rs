//! Stitches in the reduced body: exact, because their energy is quadratic in coefficients and pose.
//!
//! With one row of B and of J for each spring's difference of ends, `x_a - x_b - g d = D z + D_J p`. The
//! quadratic part in z is part of the diagonalised stiffness. Stored separately are the coupling, the rig's
//! own part, and the single springs for opening ([`Opening`](super::opening::Opening)).

use faer::Mat;

use super::body::Body;
use crate::math::dense::product;
use crate::math::lanes::{Packed, PackedBoth};
use crate::operators::Stitches;
use crate::{Error, Result, check};

/// Stitch terms of a reduced body outside of its stiffness.
#[derive(Clone)]
pub(crate) struct ReducedStitches {
    /// `Phi' D'k D_J`, r x 4h.
    pub(crate) rig: Mat<f64>,
    /// `D_J'k D_J`, 4h x 4h.
    pub(crate) spread: Mat<f64>,
    /// Springs for opening; `None` without any.
    pub(crate) springs: Option<ReducedSprings>,
}

/// The single springs.
#[derive(Clone)]
pub(crate) struct ReducedSprings {
    /// `D Phi`, s x r.
    pub(crate) modes: Mat<f64>,
    /// D_J, s x 4h.
    pub(crate) rig: Mat<f64>,
    /// k, s, N/m.
    pub(crate) stiffness: Vec<f64>,
    /// The stitch group of each, s.
    pub(crate) groups: Vec<u32>,
}

impl ReducedStitches {
    /// Checks for finite numbers and for the sizes of a body with `rank` reduced coordinates and `rows`
    /// rows of a pose.
    pub(super) fn check(&self, rank: usize, rows: usize) -> Result<()> {
        let what = "stitches";
        let mut matrices = vec![(&self.rig, [rank, rows]), (&self.spread, [rows, rows])];
        if let Some(ReducedSprings { modes, rig, stiffness, groups }) = &self.springs {
            let count = stiffness.len();
            matrices.extend([(modes, [count, rank]), (rig, [count, rows])]);
            if groups.len() != count || groups.iter().any(|&group| group as usize >= Stitches::MOST_GROUPS) {
                let (expected, got) = (format!("{count} groups below 32"), format!("{groups:?}"));
                return Err(Error::Shape { what, expected, got });
            }
            check::all(what, "positive numbers", stiffness, check::is_positive)?;
        }
        for (matrix, [rows, columns]) in matrices {
            if matrix.shape() != (rows, columns) {
                let (expected, got) = (format!("({rows}, {columns})"), format!("{:?}", matrix.shape()));
                return Err(Error::Shape { what, expected, got });
            }
            let numbers = (0..columns).flat_map(|j| matrix.col_as_slice(j));
            if let Some((element, &value)) = numbers.enumerate().find(|(_, x)| !x.is_finite()) {
                return Err(Error::NotFinite { what, element, value });
            }
        }
        Ok(())
    }
}

/// Rows of B and J for the differences of the ends, s x 4m and s x 4h, and the stiffness, s.
pub(super) struct StitchRows {
    modes: Mat<f64>,
    rig: Mat<f64>,
    stiffness: Vec<f64>,
    groups: Vec<u32>,
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
            groups: stitches.groups().collect(),
        }
    }

    fn forces(&self, rows: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(rows.nrows(), rows.ncols(), |s, k| self.stiffness[s] * rows[(s, k)])
    }

    /// `D'k D`, 4m x 4m.
    pub(super) fn quadratic(&self) -> Mat<f64> {
        product(self.modes.transpose(), self.forces(&self.modes).as_ref())
    }

    /// The remaining terms, for reduced coordinates of this basis.
    pub(super) fn reduce(self, basis: &Mat<f64>) -> ReducedStitches {
        let forces = self.forces(&self.rig);
        let pull = product(self.modes.transpose(), forces.as_ref());
        ReducedStitches {
            rig: product(basis.transpose(), pull.as_ref()),
            spread: product(self.rig.transpose(), forces.as_ref()),
            springs: Some(ReducedSprings {
                modes: product(self.modes.as_ref(), basis.as_ref()),
                rig: self.rig,
                stiffness: self.stiffness,
                groups: self.groups,
            }),
        }
    }
}

/// Rows of springs for the step.
pub(super) struct PackedSprings {
    /// `D Phi`, and D_J.
    pub(super) modes: PackedBoth,
    pub(super) rig: Packed<1>,
}

impl PackedSprings {
    pub(super) fn new(springs: &ReducedSprings) -> Self {
        Self { modes: PackedBoth::of(springs.modes.as_ref()), rig: Packed::of(springs.rig.as_ref()) }
    }
}
