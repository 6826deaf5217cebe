//! How far muscles contract.

use serde::{Deserialize, Serialize};

use crate::material::Fibres;
use crate::{Error, Result};

/// Share of their length by which the fibres of each muscle want to be shorter: 0 relaxed, 1 to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Contraction {
    shares: [f64; Fibres::MOST_MUSCLES],
    /// Of how many muscles it tells; `None` where one share is that of all.
    muscles: Option<usize>,
}

impl Contraction {
    /// A share for each muscle, in their order.
    ///
    /// # Errors
    /// [`Error::Empty`] for none, [`Error::Range`] for more than [`Fibres::MOST_MUSCLES`].
    pub fn of_each(given: &[f64]) -> Result<Self> {
        if given.is_empty() {
            return Err(Error::Empty { what: "contraction" });
        }
        let mut shares = [0.0; Fibres::MOST_MUSCLES];
        let expected = "a share for each of at most 32 muscles";
        let got = given.len() as f64;
        let own = shares.get_mut(..given.len());
        own.ok_or(Error::Range { what: "contraction", expected, got })?.copy_from_slice(given);
        Ok(Self { shares, muscles: Some(given.len()) })
    }

    /// The stretch at which the fibres of each muscle are without stress.
    pub(crate) fn relaxed(&self) -> [f64; Fibres::MOST_MUSCLES] {
        self.shares.map(|share| 1.0 - share)
    }

    /// Errors with [`Error::Range`] for a share that makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        match self.shares.into_iter().find(|share| !(0.0..=1.0).contains(share)) {
            Some(got) => Err(Error::Range { what: "contraction", expected: "a number in [0, 1]", got }),
            None => Ok(()),
        }
    }

    /// Errors unless it is of a body with so many muscles.
    pub(crate) fn check_muscles(&self, count: usize) -> Result<()> {
        if count == 0 && self.shares.iter().any(|share| *share > 0.0) {
            let why = "only full-space flesh with fibres contracts; set it to 0";
            return Err(Error::Unsupported { what: "contraction", why });
        }
        match self.muscles {
            Some(got) if count > 0 && got != count => Err(Error::Shape {
                what: "contraction",
                expected: format!("({count},)"),
                got: format!("({got},)"),
            }),
            _ => Ok(()),
        }
    }
}

impl From<f64> for Contraction {
    /// The same of all muscles.
    fn from(share: f64) -> Self {
        Self { shares: [share; Fibres::MOST_MUSCLES], muscles: None }
    }
}
