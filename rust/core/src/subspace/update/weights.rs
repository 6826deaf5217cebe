//! Skinning modes of a body with changed stitches or stiffness.

use faer::{Mat, MatRef};

use super::{Change, Updated};
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::operators::{Stitches, lumped_mass, weight_space_hessian};
use crate::rig::Rig;
use crate::subspace::modes::{ModesProblem, SkinningModes, WEIGHT_SPACE, conductivity, stitched};
use crate::{Error, Result};

/// Modes found by an update, with error estimates.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct ModesUpdate {
    /// The modes: mass-orthonormal, and complementary to the rig as exactly as the previous ones.
    pub modes: SkinningModes,
    /// Bounds of the relative errors of the eigenvalues, m.
    ///
    /// An eigenvalue with the shift is too high by a share of at most `2 e^2 / (g + sqrt(g^2 + 4 e^2))`,
    /// unless a mode below the highest extra one is missing. Here `e^2 = r' K^-1 r / (lambda + shift)`,
    /// `r = H w - lambda M w`, and K is the factored problem with the new stitches. g is the relative gap to
    /// the highest extra mode. Without extra modes, g is 0 for the highest mode, and its bound is e. If flesh
    /// is softer than in K, `e^2` is multiplied by the largest softening factor, by which K^-1 may be too
    /// small. A mode of which more than a twentieth may belong to an extra mode has at least this share as
    /// its bound.
    pub residuals: Vec<f64>,
    /// Estimated error of the modes at each vertex, n: the root mean square over modes of
    /// `2 K^-1 r / (g + sqrt(g^2 + 4 e^2))`, a bound of the error to first order, relative to each mode's
    /// largest weight.
    pub apart: Vec<f64>,
}

impl ModesUpdate {
    /// Largest of the bounds.
    pub fn worst(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }
}

impl ModesProblem {
    /// The `count` lowest modes with these stitches in place of the problem's own, starting from `modes`,
    /// its lowest.
    ///
    /// Rayleigh-Ritz on the stitched Hessian in the span of the modes and of static corrections `K^-1 A F`,
    /// where K is the problem's factor, so that corrections are complementary to the rig. A has a column
    /// for each stitch that is new, removed or changed in stiffness. F is the identity or, if there are
    /// more stitches than modes, the stitch forces `(k^-1 + A' K^-1 A)^-1 A' W` of the stitched body under
    /// the load `M W`.
    ///
    /// While error bounds exceed half a percent, or a mode may be a mixture with a close extra mode, the span
    /// is widened by the largest `K^-1 r`, with the stitches in K, for a few rounds. Each update starts from
    /// the problem's own modes, so errors do not accumulate over edits. Stitches raise some modes above
    /// others, so `modes` should hold a few more than `count`. Source: `[IDSR sec. 4.1, 5.1]`, with K^-1 for
    /// their M^-1.
    ///
    /// # Errors
    /// [`Error::Shape`] for stitches or modes of another mesh, [`Error::Range`] unless there are `count`
    /// modes, [`Error::Numerical`].
    pub fn update(&self, modes: &SkinningModes, stitches: &Stitches, count: usize) -> Result<ModesUpdate> {
        self.follow(modes, &self.change(modes, stitches)?, count)
    }

    /// As [`ModesProblem::update`], with a change of stiffness as well, of regions or of the whole.
    ///
    /// The mass must equal the problem's. The further the stiffness is from the problem's own, the more
    /// rounds are needed, and the sooner the bounds become too large.
    ///
    /// # Errors
    /// As [`ModesProblem::update`]; [`Error::Shape`] for a material of another mesh, [`Error::Range`] for
    /// another density.
    pub fn update_stiffness(
        &self,
        modes: &SkinningModes,
        (mesh, material): (&TetMesh, &Material),
        stitches: &Stitches,
        count: usize,
    ) -> Result<ModesUpdate> {
        self.follow(modes, &self.change_of_all(modes, (mesh, material), stitches)?, count)
    }

    /// As [`ModesProblem::update_stiffness`] for driven modes: those of the changed body, on its own
    /// eigenmodes, to which the bounds belong.
    ///
    /// `modes` are eigenmodes, the bones those of [`ModesProblem::driven`]. Answers are found by conjugate
    /// gradients with the problem's factor, and are as good as a few iterations make them.
    ///
    /// # Errors
    /// As [`ModesProblem::update_stiffness`] and [`ModesProblem::driven`].
    pub fn update_driven(
        &self,
        modes: &SkinningModes,
        body: (&TetMesh, &Material),
        stitches: &Stitches,
        bones: &Rig,
        count: usize,
    ) -> Result<ModesUpdate> {
        let change = self.change_of_all(modes, body, stitches)?;
        let found = self.follow(modes, &change, count)?;
        Ok(ModesUpdate { modes: self.drive(&found.modes, bones, Some(&change))?, ..found })
    }

    /// The change to these stitches and this material.
    fn change_of_all(
        &self,
        modes: &SkinningModes,
        (mesh, material): (&TetMesh, &Material),
        stitches: &Stitches,
    ) -> Result<Change> {
        let mut change = self.change(modes, stitches)?;
        material.check_tet_count(mesh.tets().len())?;
        self.check_mass(&self.eigen.free.values(&lumped_mass(mesh, material)))?;
        let conductivity = conductivity(mesh, material);
        let pairs = self.conductivity.iter().zip(&conductivity);
        change.softening = pairs.map(|(old, new)| old / new).fold(1.0, f64::max);
        change.hessian = Some(
            self.eigen.free.square(&stitched(weight_space_hessian(mesh, &conductivity)?, &self.stitches)?),
        );
        Ok(change)
    }

    fn follow(&self, modes: &SkinningModes, change: &Change, count: usize) -> Result<ModesUpdate> {
        let known = (modes.weights.as_ref(), modes.eigenvalues.as_slice());
        let Updated { eigenvalues, vectors, residuals, left } = self.eigen.update(known, change, count)?;
        let zeros = || vec![0.0; self.eigen.free.total()];
        let apart = left.map_or_else(zeros, |left| self.apart(left.lacking(), vectors.as_ref()));
        Ok(ModesUpdate { modes: SkinningModes { weights: vectors, eigenvalues }, residuals, apart })
    }

    /// Root mean square of the modes' errors, each relative to the mode's largest weight.
    fn apart(&self, mut lacking: Mat<f64>, weights: MatRef<'_, f64>) -> Vec<f64> {
        for (lacking, weights) in lacking.col_iter_mut().zip(weights.col_iter()) {
            let largest = weights.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
            lacking.iter_mut().for_each(|x| *x = if largest > 0.0 { *x / largest } else { 0.0 });
        }
        let count = lacking.ncols() as f64;
        let squares = |row: usize| lacking.row(row).iter().map(|x| x * x).sum::<f64>();
        let mut apart = vec![0.0; self.eigen.free.total()];
        let rows = self.eigen.free.rows().iter().enumerate();
        rows.for_each(|(row, &vertex)| apart[vertex as usize] = (squares(row) / count).sqrt());
        apart
    }

    /// Checks with [`Error::Range`] that the mass at the free vertices equals the problem's.
    fn check_mass(&self, mass: &[f64]) -> Result<()> {
        match mass.iter().zip(&self.eigen.mass).find(|(new, old)| new != old) {
            None => Ok(()),
            Some((&got, _)) => {
                Err(Error::Range { what: "mass of a vertex", expected: "that of the factored problem", got })
            }
        }
    }

    pub(super) fn change(&self, modes: &SkinningModes, stitches: &Stitches) -> Result<Change> {
        let n = self.eigen.free.total();
        if modes.weights.nrows() != n || modes.weights.ncols() != modes.eigenvalues.len() {
            let got = format!("{} and {} eigenvalues", modes.weights.nrows(), modes.eigenvalues.len());
            return Err(Error::Shape { what: "modes", expected: format!("weights of {n} vertices"), got });
        }
        stitches.check_vertices(n)?;
        let change = self.stitches.change_to(stitches);
        let stiffness = change.stiffness().map(|k| WEIGHT_SPACE * k).collect();
        Ok(Change::new(&self.eigen, &change.differences(), stiffness))
    }
}
