//! The inverse of a factored problem with changed stitches.

use faer::linalg::solvers::{PartialPivLu, Solve};
use faer::{Mat, MatRef};

use super::change::Change;
use crate::math::dense::{inner, product, symmetric_eigen};
use crate::math::{ForwardSubstituted, Halfway, SparseCholesky};
use crate::subspace::eigenpairs::Eigenproblem;
use crate::subspace::openings::Openings;
use crate::{Error, Result};

/// Share of the largest work below which a stitch force is left out.
const IDLE: f64 = 1e-12;

/// `(K + A k A')^-1 = K^-1 - K^-1 A (k^-1 + S)^-1 A' K^-1`, `S = A' K^-1 A` (Woodbury's formula).
///
/// Of a cut body, K has a border: openings w and stitch forces f solve
/// `[S_BB - D, S_BA - A_J; S_AB - A_J', k^-1 + S_AA] [w; f] = [B A]' K^-1 E'b - [J'b; 0]`, with
/// `A_J = J' A`, and the solution is `E K^-1 (E'b - B w - A f) + J w`.
pub(super) struct Inverse<'a> {
    factor: &'a SparseCholesky,
    openings: Option<&'a Openings>,
    half: ForwardSubstituted,
    /// S.
    compliance: Mat<f64>,
    /// `D^-1/2` of each opening, then `sqrt |k|` of each stitch.
    root: Vec<f64>,
    /// Factor of the matrix above between these roots r, without openings `sign k + r S r`, so that nothing
    /// overflows for very soft or very stiff stitches.
    small: PartialPivLu<f64>,
}

/// Responses to some loads, before back substitution.
pub(super) struct Response<'a> {
    halfway: Halfway<'a>,
    /// `b' (K + A k A')^-1 b` of each load b, c.
    pub energies: Vec<f64>,
    /// Openings and stitch forces under the loads, s x c.
    forces: Mat<f64>,
}

impl<'a> Inverse<'a> {
    pub fn new(problem: &'a Eigenproblem, change: &Change) -> Self {
        let openings = problem.openings.as_ref();
        let border = openings.map(|openings| openings.border(&change.columns));
        let half = problem
            .factor
            .forward_substituted(border.as_ref().map_or(&change.columns, |(columns, _)| columns));
        let compliance = half.inverse_gram();
        let corner = |i: usize, j: usize| openings.map_or(0.0, |openings| openings.corner[(i, j)]);
        let count = openings.map_or(0, |openings| openings.origin.len());
        let mut root: Vec<f64> = (0..count).map(|c| corner(c, c).sqrt().recip()).collect();
        root.extend(change.stiffness.iter().map(|k| k.abs().sqrt()));
        let beside = |c: usize, s: usize| border.as_ref().map_or(0.0, |(_, beside)| beside[(c, s - count)]);
        let small = Mat::from_fn(root.len(), root.len(), |i, j| {
            let scaled = |value: f64| root[i] * value * root[j];
            scaled(compliance[(i, j)])
                + match (i < count, j < count) {
                    (true, true) => -scaled(corner(i, j)),
                    (true, false) => -scaled(beside(i, j)),
                    (false, true) => -scaled(beside(j, i)),
                    (false, false) if i == j => change.stiffness[i - count].signum(),
                    (false, false) => 0.0,
                }
        });
        let small = small.partial_piv_lu();
        Self { factor: &problem.factor, openings, half, compliance, root, small }
    }

    /// Forces F that correct the modes W by `K^-1 A F`, as in [`Eigenproblem::update`], given `A' W`;
    /// `None` if the stitches are unchanged, or if a cut opens the body: residuals then give all corrections.
    pub fn corrections(&self, stretches: MatRef<'_, f64>) -> Result<Option<Mat<f64>>> {
        let count = self.root.len();
        if count == 0 || self.openings.is_some() {
            return Ok(None);
        }
        if count <= stretches.ncols() {
            return Ok(Some(Mat::identity(count, count)));
        }
        let forces = self.forces(stretches);
        if !forces.is_all_finite() {
            return Err(Error::Numerical { what: "stitches", why: "their forces are not finite".into() });
        }
        // Forces of unit work, `F' S F = 1`.
        let work = inner(forces.as_ref(), product(self.compliance.as_ref(), forces.as_ref()).as_ref());
        let (values, vectors) = symmetric_eigen(work.as_ref())?;
        let least = IDLE * values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..values.len()).filter(|&i| values[i] > least).collect();
        let combine =
            Mat::from_fn(vectors.nrows(), kept.len(), |i, j| vectors[(i, kept[j])] / values[kept[j]].sqrt());
        Ok(Some(product(forces.as_ref(), combine.as_ref())))
    }

    /// Loads b, n x c, on the way to `(K + A k A')^-1 b`.
    pub fn begin(&self, loads: MatRef<'_, f64>) -> Response<'a> {
        let Some(openings) = self.openings else {
            return self.respond(Halfway::new(self.factor, loads), None);
        };
        let size = loads.nrows() - openings.origin.len();
        let own = loads.subrows(size, openings.origin.len());
        self.respond(Halfway::new(self.factor, openings.gathered(loads).as_ref()), Some(own))
    }

    /// Response to loads halfway, of which those at openings are given apart.
    fn respond(&self, halfway: Halfway<'a>, opening: Option<MatRef<'_, f64>>) -> Response<'a> {
        let (mut energies, mut pulls) = halfway.forms(&self.half);
        for (c, own) in opening.iter().flat_map(|opening| opening.col_iter().enumerate()) {
            own.iter().enumerate().for_each(|(row, load)| pulls[(row, c)] -= load);
        }
        let forces = self.forces(pulls.as_ref());
        for (c, energy) in energies.iter_mut().enumerate() {
            *energy -= pulls.col(c).transpose() * forces.col(c);
        }
        Response { halfway, energies, forces }
    }

    /// `(K + A k A')^-1 b` for some of the columns b.
    pub fn finish(&self, response: &Response<'_>, chosen: &[usize]) -> Mat<f64> {
        let closed = response.halfway.solve(chosen, &self.half, &response.forces);
        let opening = |row: usize, column: usize| response.forces[(row, chosen[column])];
        match self.openings {
            None => closed,
            Some(openings) => openings.opened(closed.as_ref(), opening),
        }
    }

    /// `(k^-1 + S)^-1 g`.
    fn forces(&self, pulls: MatRef<'_, f64>) -> Mat<f64> {
        let scaled = |x: MatRef<'_, f64>| Mat::from_fn(x.nrows(), x.ncols(), |s, c| self.root[s] * x[(s, c)]);
        if self.root.is_empty() { pulls.to_owned() } else { scaled(self.small.solve(scaled(pulls)).as_ref()) }
    }
}
