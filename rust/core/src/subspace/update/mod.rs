//! Modes of a body with other stitches or another stiffness, from those it had before.

mod change;
mod inverse;
mod low_rank;
mod space;

use change::Change;
use faer::{Mat, MatRef};
use inverse::Inverse;
use space::Space;

use super::modes::{ModesProblem, SkinningModes, check_truncation, conductivity, stitched};
use crate::material::Material;
use crate::math::dense::{add_product, product};
use crate::mesh::TetMesh;
use crate::operators::{Stitches, lumped_mass, weight_space_hessian};
use crate::{Error, Result};

/// Residual at which modes are good enough.
const GOOD: f64 = 5e-3;
/// Share of that above which a residual has a part in widening the space.
const WIDENING: f64 = 0.2;
/// Times that the space is widened by what the residuals ask for.
const MOST_ROUNDS: i32 = 4;
/// How many times less a round may be hoped to leave of the residual: where that would not do, none is tried.
const HOPE: f64 = 8.0;

/// Modes found by an update, and how good they are.
#[derive(Debug, Clone)]
pub struct ModesUpdate {
    /// The modes: orthonormal in the mass, and complementary to the rig as exactly as those before.
    pub modes: SkinningModes,
    /// `r' K^-1 r / (lambda + shift)` of each mode, with `r = H w - lambda M w` and K the factored problem with the new
    /// stitches, m: about the relative error of its eigenvalue. Where flesh is softer than in K it is multiplied by the
    /// largest of the factors, which K^-1 may fall short by.
    pub residuals: Vec<f64>,
}

impl ModesUpdate {
    /// The largest of the residuals.
    pub fn worst(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }
}

impl ModesProblem {
    /// The `count` lowest modes with these stitches in place of the problem's own, from `modes`, its lowest.
    ///
    /// Rayleigh-Ritz on the stitched Hessian in the span of the modes and of static corrections `K^-1 A F`, where K
    /// is the problem's factor, so that corrections are complementary to the rig. A has a column for each stitch
    /// that is new, gone or of another stiffness; F is the identity, or where there are more stitches than modes,
    /// the forces `(k^-1 + A' K^-1 A)^-1 A' W` of the stitches while the body, stitched, gives way to `M W`. Where
    /// residuals above half a percent are left, the span is widened by the worst `K^-1 r`, with the
    /// stitches in K, a few times. As each update
    /// starts from the problem's own modes, errors do not add up over edits. Stitches lift some modes above
    /// others, so that `modes` should hold a few more than `count`. Source: `[IDSR sec. 4.1, 5.1]`, with K^-1 for
    /// their M^-1.
    ///
    /// # Errors
    /// [`Error::Shape`] for stitches or modes of another mesh, [`Error::Range`] unless there are `count` modes,
    /// [`Error::Numerical`].
    pub fn update(&self, modes: &SkinningModes, stitches: &Stitches, count: usize) -> Result<ModesUpdate> {
        self.follow(modes, &self.change(modes, stitches)?, count)
    }

    /// The same with another stiffness as well: of regions, or of the whole.
    ///
    /// The mass must be the problem's. The further the stiffness is from the problem's own, the more rounds it
    /// takes, and the sooner the residuals say that it was too far.
    ///
    /// # Errors
    /// As [`ModesProblem::update`]; [`Error::Shape`] for a material of another mesh, [`Error::Range`] for another
    /// density.
    pub fn update_stiffness(
        &self,
        modes: &SkinningModes,
        (mesh, material): (&TetMesh, &Material),
        stitches: &Stitches,
        count: usize,
    ) -> Result<ModesUpdate> {
        let mut change = self.change(modes, stitches)?;
        material.check_tet_count(mesh.tets().len())?;
        self.check_mass(&self.free.values(&lumped_mass(mesh, material)))?;
        let conductivity = conductivity(mesh, material);
        let pairs = self.conductivity.iter().zip(&conductivity);
        change.softening = pairs.map(|(old, new)| old / new).fold(1.0, f64::max);
        change.hessian =
            Some(self.free.square(&stitched(weight_space_hessian(mesh, &conductivity)?, &self.stitches)?));
        self.follow(modes, &change, count)
    }

    fn follow(&self, modes: &SkinningModes, change: &Change, count: usize) -> Result<ModesUpdate> {
        check_truncation(count, modes.eigenvalues.len())?;
        if change.is_none() {
            return Ok(ModesUpdate { modes: modes.truncated(count)?, residuals: vec![0.0; count] });
        }
        let old = self.free.rows_of_dense(modes.weights.as_ref());
        let inverse = Inverse::new(self, change);
        let stretches = change.stretches(old.as_ref());
        let mut space = Space::new(self, change, old, &modes.eigenvalues);
        if let Some(forces) = inverse.corrections(&stretches)? {
            let mut columns = Mat::zeros(self.mass.len(), forces.ncols());
            change.add_columns(&mut columns, &forces);
            self.factor.solve_in_place(columns.as_mut());
            // What the modes hold already would drown the rest of it: K is nearly singular along rigid motion.
            let mut along = product(stretches.transpose(), forces.as_ref());
            let compliance = |k: usize| 1.0 / (modes.eigenvalues[k] + self.shift);
            along
                .row_iter_mut()
                .enumerate()
                .for_each(|(k, row)| row.iter_mut().for_each(|x| *x *= compliance(k)));
            add_product(columns.as_mut(), -1.0, space.columns(), along.as_ref());
            space.widen(columns.as_ref());
        }
        // Another stiffness mixes all modes: those beyond keep one from being taken for a higher one.
        let wide = if change.hessian.is_some() { modes.eigenvalues.len() } else { count };
        for round in 0.. {
            let (mut eigenvalues, mut weights) = space.lowest(wide)?;
            let loads = change.residuals(self, weights.as_ref(), &eigenvalues);
            let (energies, forces) = inverse.energies(loads.as_ref());
            let measure =
                |(energy, value): (f64, &f64)| change.softening * energy.max(0.0) / (value + self.shift);
            let measures: Vec<f64> = energies.into_iter().zip(&eigenvalues).map(measure).collect();
            let worst = measures[..count].iter().copied().fold(0.0, f64::max);
            if worst <= GOOD || worst > GOOD * HOPE.powi(MOST_ROUNDS - round) {
                eigenvalues.truncate(count);
                weights.truncate(weights.nrows(), count);
                let modes = self.spread(weights.as_ref(), eigenvalues);
                return Ok(ModesUpdate { modes, residuals: measures[..count].to_vec() });
            }
            let bad: Vec<usize> = (0..wide).filter(|&k| measures[k] > WIDENING * GOOD).collect();
            let of_bad = |x: &Mat<f64>| Mat::from_fn(x.nrows(), bad.len(), |i, j| x[(i, bad[j])]);
            let mut columns = of_bad(&loads);
            inverse.solve_in_place(&mut columns, &of_bad(&forces));
            space.widen(columns.as_ref());
        }
        unreachable!("the rounds end");
    }

    /// Errors with [`Error::Range`] unless the mass, of the free vertices, is the problem's.
    fn check_mass(&self, mass: &[f64]) -> Result<()> {
        match mass.iter().zip(&self.mass).find(|(new, old)| new != old) {
            None => Ok(()),
            Some((&got, _)) => {
                Err(Error::Range { what: "mass of a vertex", expected: "that of the factored problem", got })
            }
        }
    }

    fn change(&self, modes: &SkinningModes, stitches: &Stitches) -> Result<Change> {
        let n = self.free.total();
        if modes.weights.nrows() != n || modes.weights.ncols() != modes.eigenvalues.len() {
            let got = format!("{} and {} eigenvalues", modes.weights.nrows(), modes.eigenvalues.len());
            return Err(Error::Shape { what: "modes", expected: format!("weights of {n} vertices"), got });
        }
        stitches.check_vertices(n)?;
        Ok(Change::new(self, stitches))
    }

    /// `M x`.
    fn heavy(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut heavy = x.to_owned();
        for column in heavy.as_mut().col_iter_mut() {
            column.iter_mut().zip(&self.mass).for_each(|(x, mass)| *x *= mass);
        }
        heavy
    }

    fn spread(&self, weights: MatRef<'_, f64>, eigenvalues: Vec<f64>) -> SkinningModes {
        let mut weights = self.free.spread(weights);
        self.fix_bases(weights.as_mut(), &eigenvalues);
        SkinningModes { weights, eigenvalues }
    }
}
