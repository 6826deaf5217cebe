//! Linear modes of a body whose stiffness has changed in some regions.

use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::edited::EditedModes;
use super::edits::Edit;
use super::flesh::{Flesh, LinearModes, tets_each};
use super::linear::LinearProblem;
use crate::math::{Sets, random};
use crate::operators::{Stitches, Strains};
use crate::{Progress, Result, check};

/// Number of random displacements that stand for modes of parts that are not among the known ones.
const UNKNOWN: usize = 8;
/// Seed of these displacements.
const SEED: u64 = 0x0070_6172_7473;
/// Share of a displacement's squared mass norm below which its restriction to a part is rounding error.
const NOTHING: f64 = 1e-10;

impl LinearProblem {
    /// The body with the stiffness of each tet multiplied by a factor, and its `count` lowest modes.
    ///
    /// Factors replace earlier ones, and refer to the material that the body was built with; its stitches
    /// stay, and so does a cut. `modes` are the body's lowest, a few more than `count`. As in
    /// [`ModesProblem::update_stiffness`](super::ModesProblem::update_stiffness), modes are searched for in
    /// the span of those before and of residuals under the factor before. If a part that nothing connects
    /// to others changes as a whole, its shapes stay and its frequencies change by the root of the factor.
    /// Where the bounds of the errors stay above half a percent, the body is factored anew, with the known
    /// order of elimination: its modes then have the bits of a body built so, and
    /// [`EditedModes::refactored`] tells it. `[IDSR sec. 5.1]`
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for modes or factors of another mesh,
    /// [`Error::Range`](crate::Error::Range) for a factor that is not positive and unless there are `count`
    /// modes, [`Error::Numerical`](crate::Error::Numerical), [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn stiffened(
        &self,
        modes: &LinearModes,
        factors: &[f64],
        count: usize,
        progress: &Progress,
    ) -> Result<EditedModes> {
        self.check_modes(modes)?;
        check::length("factor", self.mesh().tets().len(), factors.len())?;
        check::each("factor", "a positive number", factors, |factor| factor > 0.0)?;
        let factors = factors.iter().any(|factor| *factor != 1.0).then(|| factors.into());
        self.edited(modes, Edit { factors, ..self.edit() }, count, progress)
    }
}

impl Flesh {
    /// Factor of the part of each vertex; 0 for parts with several factors.
    pub(super) fn factor_of_parts(&self, stitches: &Stitches, factors: &[f64]) -> Vec<f64> {
        let (strains, each) = (Strains::new(&self.mesh), tets_each(&self.mesh));
        let mut sets = Sets::new(self.mesh.vertices().len());
        let mut join = |vertices: &mut dyn Iterator<Item = u32>| {
            if let Some(first) = vertices.next() {
                vertices.for_each(|other| sets.unite(first, other));
            }
        };
        let firsts = || (0..factors.len()).step_by(each);
        firsts().for_each(|tet| join(&mut strains.of(tet).map(|(vertex, _)| vertex)));
        for stitch in self.stitches.stitches().iter().chain(stitches.stitches()) {
            join(&mut stitch.entries().map(|(vertex, _)| vertex as u32));
        }
        let mut of_root = vec![f64::NAN; self.mesh.vertices().len()];
        for (tet, &factor) in factors.iter().enumerate() {
            let known = &mut of_root[sets.root(self.mesh.tets()[tet][0]) as usize];
            *known = if known.is_nan() || *known == factor { factor } else { 0.0 };
        }
        (0..of_root.len() as u32).map(|vertex| of_root[sets.root(vertex) as usize]).collect()
    }

    /// Known modes, and smooth random displacements, restricted to the parts of one factor each; `None` if
    /// all parts have the same, or if a constraint connects them.
    pub(super) fn restricted(&self, modes: &LinearModes, factors: &[f64]) -> Option<Mat<f64>> {
        let mut distinct = factors.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() < 2 || self.constraint.is_some() {
            return None;
        }
        let swings = &self.swings;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut smooth = Mat::from_fn(swings.mass.len(), UNKNOWN, |_, _| random::uniform(&mut random) - 0.5);
        for _ in 0..2 {
            smooth = swings.heavy(smooth.as_ref());
            swings.factor.solve_in_place(smooth.as_mut());
        }
        let known = swings.free.rows_of_dense(modes.shapes.as_ref());
        let mut columns = Vec::new();
        for &factor in &distinct {
            for whole in known.col_iter().chain(smooth.col_iter()) {
                let part = |(row, x): (usize, &f64)| {
                    let vertex = swings.free.rows()[row] as usize / 3;
                    if factors[vertex] == factor { *x } else { 0.0 }
                };
                let part: Vec<f64> = whole.iter().enumerate().map(part).collect();
                let square = |x: &mut dyn Iterator<Item = &f64>| -> f64 {
                    x.zip(&swings.mass).map(|(x, mass)| mass * x * x).sum()
                };
                if square(&mut part.iter()) > NOTHING * square(&mut whole.iter()) {
                    columns.extend(part);
                }
            }
        }
        let rows = swings.mass.len();
        Some(Mat::from_fn(rows, columns.len() / rows, |i, j| columns[rows * j + i]))
    }
}
