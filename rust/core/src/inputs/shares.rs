//! Shares per part of a body: contraction per muscle, stiffness per stitch group.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::material::{Fibres, Field};
use crate::operators::Stitches;
use crate::{Error, Result};

const MOST: usize = Fibres::MOST_MUSCLES;
const _: () = assert!(Stitches::MOST_GROUPS == MOST);

/// A number in [0, 1] for each part of a body, or a single number for all.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Shares {
    shares: [f64; MOST],
    /// Number of parts; `None` for one share for all.
    parts: Option<usize>,
}

impl Shares {
    /// Largest number of different parts.
    pub const MOST: usize = MOST;

    /// One share for each part, in order; `what` names the setting.
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty list, [`Error::Range`] for more than [`Shares::MOST`].
    pub fn of_each(what: &'static str, given: &[f64]) -> Result<Self> {
        if given.is_empty() {
            return Err(Error::Empty { what });
        }
        let mut shares = [given[0]; MOST];
        let expected = "a share for each of at most 32 parts";
        let got = given.len() as f64;
        shares.get_mut(..given.len()).ok_or(Error::Range { what, expected, got })?.copy_from_slice(given);
        Ok(Self { shares, parts: Some(given.len()) })
    }

    /// The shares as given: for each part, or a single share for all.
    pub fn given(&self) -> Field {
        let each = |count: usize| Field::PerTet(self.shares[..count].to_vec());
        self.parts.map_or(Field::Uniform(self.shares[0]), each)
    }

    /// Share of each part, padded with unused numbers.
    pub(crate) fn each(&self) -> &[f64; MOST] {
        &self.shares
    }

    /// `true` if all parts have this share.
    pub(crate) fn are_all(&self, share: f64) -> bool {
        let told = self.parts.unwrap_or(1);
        self.shares[..told].iter().all(|own| *own == share)
    }

    /// Checks that all shares are in range, else [`Error::Range`].
    pub(crate) fn check(&self, what: &'static str) -> Result<()> {
        match self.shares.into_iter().find(|share| !(0.0..=1.0).contains(share)) {
            Some(got) => Err(Error::Range { what, expected: "a number in [0, 1]", got }),
            None => Ok(()),
        }
    }

    /// Checks the number of parts, else [`Error::Shape`].
    pub(crate) fn check_parts(&self, what: &'static str, count: usize) -> Result<()> {
        match self.parts {
            Some(got) if got != count => {
                Err(Error::Shape { what, expected: format!("({count},)"), got: format!("({got},)") })
            }
            _ => Ok(()),
        }
    }
}

impl From<f64> for Shares {
    /// The same share for all parts.
    fn from(share: f64) -> Self {
        Self { shares: [share; MOST], parts: None }
    }
}
