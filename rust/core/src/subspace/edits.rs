//! Changes of a body since its factorisation.

use std::sync::{Arc, OnceLock};

use super::cut_mesh::Cut;
use super::eigenpairs::Eigenproblem;
use super::flesh::{Flesh, LinearModes};
use super::update::{Change, Rounds};
use crate::Result;
use crate::operators::{Stitches, for_each_coordinate};

/// Rounds under the inverse of another stiffness, beyond which a factor of the body's own is cheaper.
const ROUNDS: Rounds = Rounds { most: 3, hope: 5.0 };
/// Ratio of the factors of stiffness beyond which a search with the factor before takes more rounds.
const FARTHEST: f64 = 30.0;

/// Changes of a body since its factorisation.
#[derive(Clone)]
pub(super) struct Edits {
    /// The lowest modes of the body as factored.
    pub(super) modes: Arc<LinearModes>,
    pub(super) edit: Edit,
    /// The changed body with a factor of its own, if it was needed.
    pub(super) anew: Arc<OnceLock<Flesh>>,
}

/// Changes of a body.
#[derive(Clone)]
pub(super) struct Edit {
    pub(super) stitches: Stitches,
    /// Factor of each tet's stiffness; `None` if all are 1.
    pub(super) factors: Option<Arc<[f64]>>,
    pub(super) cut: Option<Arc<Cut>>,
}

impl Edit {
    /// `true` if stitches alone have changed.
    pub(super) fn is_of_stitches(&self) -> bool {
        self.factors.is_none() && self.cut.is_none()
    }
}

impl Flesh {
    /// `true` if a part of the body has factors of stiffness so different that it is better factored anew.
    pub(super) fn is_far(&self, edit: &Edit) -> bool {
        let Some(factors) = &edit.factors else { return false };
        let extreme = |pick: fn(f64, f64) -> f64| factors.iter().copied().reduce(pick).unwrap_or(1.0);
        // Stitches of a cut mesh connect no parts of the uncut one.
        let stitches = if edit.cut.is_some() { &self.stitches } else { &edit.stitches };
        extreme(f64::max) > FARTHEST * extreme(f64::min)
            && self.factor_of_parts(stitches, factors).contains(&0.0)
    }

    /// A change of the body, as a change of the eigenproblem of its cut mesh or its own.
    pub(super) fn change(&self, swings: &Eigenproblem, modes: &LinearModes, edit: &Edit) -> Result<Change> {
        let springs = self.stitches.change_to(&edit.stitches);
        let stiffness = springs.stiffness().flat_map(|k| [k; 3]).collect();
        let mut change = Change::new(swings, &for_each_coordinate(&springs.differences()), stiffness);
        change.hessian = edit.cut.as_ref().map(|_| swings.hessian.clone());
        if let Some(factors) = &edit.factors {
            let energies = self.material.stiffened(factors)?.energies(factors.len());
            change.hessian = Some(self.matrix(&energies, edit.cut.as_deref())?.whole());
            change.rounds = ROUNDS;
            change.softening = factors.iter().map(|factor| factor.recip()).fold(1.0, f64::max);
            if edit.cut.is_none() {
                change.others = self.restricted(modes, &self.factor_of_parts(&edit.stitches, factors));
            }
        }
        Ok(change)
    }
}
