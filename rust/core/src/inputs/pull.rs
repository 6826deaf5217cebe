//! Springs from points of a body of handles to targets: the input of a step.

use std::sync::Arc;

use crate::math::rows::Rows;
use crate::{Error, Result, check};

/// Largest number of points in a grip: each is a column of the metric's update.
pub(crate) const MOST: usize = 64;
/// Highest frequency of a spring, Hz: a pin.
const FIRMEST: f64 = 1e5;

/// Points of a body of handles prepared for pulling.
///
/// A point is at `c = X + sum_k s_k y_k` of few coordinates. Its effective mass is its share of the mass of
/// its part.
#[derive(Debug)]
pub struct Grip {
    pub(crate) points: Vec<Point>,
    /// Rank of the body.
    pub(crate) rank: usize,
    pub(crate) total_mass: f64,
}

/// One point of a grip.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) part: u32,
    pub(crate) place: [f64; 3],
    pub(crate) corners: [(u32, f64); 4],
    pub(crate) rows: Vec<(u32, f64)>,
    pub(crate) mass: f64,
}

/// Grip points with targets and a frequency for a step; cheap to clone.
///
/// A point follows its target like a critically damped spring that carries the whole mass of its part:
/// `c'' = -w^2 (c - g) - 2 w c'` with `w = 2 pi f`. All velocity of gripped parts decays by `exp(-calm t)`,
/// to damp swinging and spinning.
#[derive(Debug, Clone)]
pub struct Pull {
    pub(crate) grip: Arc<Grip>,
    pub(crate) targets: Arc<[[f64; 3]]>,
    pub(crate) frequency: f64,
    pub(crate) calm: f64,
}

impl Point {
    /// `sum_k s_k y_k`.
    pub(crate) fn moved(&self, rows: &Rows) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for &(row, value) in &self.rows {
            (0..3).for_each(|c| sum[c] += value * rows[row as usize][c]);
        }
        sum
    }
}

impl Pull {
    /// Pulls points to targets, metres, at f Hz; the velocity of the gripped parts decays at a rate, 1/s.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is a target for each point, [`Error::NotFinite`]; [`Error::Range`] for
    /// the frequency and the rate.
    pub fn new(grip: Arc<Grip>, targets: &[[f64; 3]], frequency: f64, calm: f64) -> Result<Self> {
        let (what, count) = ("targets", grip.points.len());
        if targets.len() != count {
            let (expected, got) = (format!("({count}, 3)"), format!("({}, 3)", targets.len()));
            return Err(Error::Shape { what, expected, got });
        }
        check::finite(what, targets.as_flattened(), 3)?;
        check::range(
            "frequency",
            "a number of Hz above 0, at most 100000",
            frequency,
            frequency > 0.0 && frequency <= FIRMEST,
        )?;
        check::range("calm", "a number >= 0", calm, calm.is_finite() && calm >= 0.0)?;
        Ok(Self { grip, targets: targets.into(), frequency, calm })
    }

    /// Target positions, metres.
    pub fn targets(&self) -> &[[f64; 3]] {
        &self.targets
    }
}
