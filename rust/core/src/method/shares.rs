//! Shares of which each part of a body may have its own: muscles that contract, stitch groups that open.

use serde::{Deserialize, Serialize};

use crate::material::Fibres;
use crate::operators::Stitches;
use crate::{Error, Result};

const MOST: usize = Fibres::MOST_MUSCLES;
const _: () = assert!(Stitches::MOST_GROUPS == MOST);

/// A number in [0, 1] for each of some parts of a body, or one for all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    shares: [f64; MOST],
    /// Of how many parts it tells; `None` where one share is that of all.
    parts: Option<usize>,
}

impl Shares {
    /// Most parts that may differ.
    pub const MOST: usize = MOST;

    /// A share for each part, in their order; `what` is the setting that they are of.
    ///
    /// # Errors
    /// [`Error::Empty`] for none, [`Error::Range`] for more than [`Shares::MOST`].
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

    /// The share of each part, and behind the last one numbers that no part has.
    pub(crate) fn each(&self) -> &[f64; MOST] {
        &self.shares
    }

    /// Whether all parts have this one.
    pub(crate) fn are_all(&self, share: f64) -> bool {
        let told = self.parts.unwrap_or(1);
        self.shares[..told].iter().all(|own| *own == share)
    }

    /// Errors with [`Error::Range`] for a share that makes no sense.
    pub(crate) fn check(&self, what: &'static str) -> Result<()> {
        match self.shares.into_iter().find(|share| !(0.0..=1.0).contains(share)) {
            Some(got) => Err(Error::Range { what, expected: "a number in [0, 1]", got }),
            None => Ok(()),
        }
    }

    /// Errors with [`Error::Shape`] unless it is of so many parts.
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
    /// The same of all parts.
    fn from(share: f64) -> Self {
        Self { shares: [share; MOST], parts: None }
    }
}
