//! Elastic laws defined by drawn stress curves.

use crate::{Error, Result, check};

/// Value, first and second derivative of a function.
pub(super) type Jet = [f64; 3];

/// Accepted stress at rest, relative to the largest at a knot.
const BALANCED: f64 = 1e-9;

/// The derivatives of a, b and c of a law of principal stretches `[QN eq. 9]`, as smooth curves: stress, Pa,
/// against a stretch, the product of two, and the product of all three.
#[derive(Debug, Clone, PartialEq)]
pub struct StressCurves {
    length: StressCurve,
    area: StressCurve,
    volume: StressCurve,
}

impl StressCurves {
    /// Law of three curves.
    ///
    /// # Errors
    /// [`Error::Range`] for stress at rest: `a' + 2 b' + c'` must be 0 at 1.
    pub fn new(length: StressCurve, area: StressCurve, volume: StressCurve) -> Result<Self> {
        let got = length.at(1.0)[1] + 2.0 * area.at(1.0)[1] + volume.at(1.0)[1];
        let largest = [&length, &area, &volume].map(|curve| curve.largest).into_iter().fold(0.0, f64::max);
        if got.abs() > BALANCED * largest {
            let expected = "stresses of length, twice of area, and of volume that sum to 0 Pa at 1";
            return Err(Error::Range { what: "curves", expected, got });
        }
        Ok(Self { length, area, volume })
    }

    /// Curves of lengths, areas and the volume.
    pub fn curves(&self) -> [&StressCurve; 3] {
        [&self.length, &self.area, &self.volume]
    }

    pub(super) fn length(&self, x: f64) -> Jet {
        self.length.at(x)
    }

    pub(super) fn area(&self, x: f64) -> Jet {
        self.area.at(x)
    }

    pub(super) fn volume(&self, x: f64) -> Jet {
        self.volume.at(x)
    }
}

/// A natural cubic spline through knots, continued by straight lines: twice continuously differentiable
/// everywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct StressCurve {
    /// Stretch and stress.
    knots: Vec<[f64; 2]>,
    /// Pieces before the first knot and after each knot.
    pieces: Vec<Piece>,
    /// Energy at 1, relative to the first knot.
    rest: f64,
    /// Largest magnitude of stress at a knot.
    largest: f64,
}

/// A cubic polynomial in the distance from `start`, with its integral.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    start: f64,
    /// Integral, value and derivatives at the start.
    derivatives: [f64; 5],
}

impl Piece {
    /// Integral, value and slope.
    fn at(&self, x: f64) -> Jet {
        let (t, [integral, value, slope, bend, change]) = (x - self.start, self.derivatives);
        [
            integral + t * (value + t / 2.0 * (slope + t / 3.0 * (bend + t / 4.0 * change))),
            value + t * (slope + t / 2.0 * (bend + t / 3.0 * change)),
            slope + t * (bend + t / 2.0 * change),
        ]
    }
}

impl StressCurve {
    /// The curve through `[stretch, stress in Pa]`, at least two, stretches ascending.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`] or [`Error::Range`] for invalid knots.
    pub fn new(knots: &[[f64; 2]]) -> Result<Self> {
        let what = "knots";
        if knots.len() < 2 {
            return Err(Error::Shape {
                what,
                expected: "(2 or more, 2)".into(),
                got: format!("({}, 2)", knots.len()),
            });
        }
        check::finite(what, knots.as_flattened(), 2)?;
        if let Some(pair) = knots.windows(2).find(|pair| pair[1][0] <= pair[0][0]) {
            return Err(Error::Range { what, expected: "stretches that ascend", got: pair[1][0] });
        }
        let mut curve = Self {
            pieces: pieces(knots),
            knots: knots.to_vec(),
            rest: 0.0,
            largest: knots.iter().fold(0.0, |largest, knot| knot[1].abs().max(largest)),
        };
        curve.rest = curve.at(1.0)[0];
        Ok(curve)
    }

    /// A curve of zero stress.
    pub fn zero() -> Self {
        let nothing = Piece { start: 1.0, derivatives: [0.0; 5] };
        Self { knots: Vec::new(), pieces: vec![nothing], rest: 0.0, largest: 0.0 }
    }

    /// Knots of the curve; empty for zero stress.
    pub fn knots(&self) -> &[[f64; 2]] {
        &self.knots
    }

    /// Energy from 1 to x, J/m^3, stress at x, Pa, and slope of the stress.
    pub fn at(&self, x: f64) -> [f64; 3] {
        let [energy, stress, slope] = self.pieces[self.knots.partition_point(|knot| knot[0] <= x)].at(x);
        [energy - self.rest, stress, slope]
    }
}

fn pieces(knots: &[[f64; 2]]) -> Vec<Piece> {
    let bends = bends(knots);
    let mut pieces = vec![Piece { start: knots[0][0], derivatives: [0.0; 5] }];
    let mut integral = 0.0;
    for (i, pair) in knots.windows(2).enumerate() {
        let [[start, value], [end, next]] = [pair[0], pair[1]];
        let step = end - start;
        let slope = (next - value) / step - step / 6.0 * (2.0 * bends[i] + bends[i + 1]);
        let change = (bends[i + 1] - bends[i]) / step;
        let piece = Piece { start, derivatives: [integral, value, slope, bends[i], change] };
        integral = piece.at(end)[0];
        pieces.push(piece);
    }
    let [_, value, slope, ..] = pieces[1].derivatives;
    pieces[0].derivatives = [0.0, value, slope, 0.0, 0.0];
    let end = knots[knots.len() - 1][0];
    let [integral, value, slope] = pieces[knots.len() - 1].at(end);
    pieces.push(Piece { start: end, derivatives: [integral, value, slope, 0.0, 0.0] });
    pieces
}

/// Second derivatives at the knots, zero at the ends: a tridiagonal system, eliminated from the front.
fn bends(knots: &[[f64; 2]]) -> Vec<f64> {
    let count = knots.len();
    let step = |i: usize| knots[i + 1][0] - knots[i][0];
    let slope = |i: usize| (knots[i + 1][1] - knots[i][1]) / step(i);
    let (mut coupling, mut bends) = (vec![0.0; count], vec![0.0; count]);
    for i in 1..count - 1 {
        let pivot = 2.0 * (step(i - 1) + step(i)) - step(i - 1) * coupling[i - 1];
        coupling[i] = step(i) / pivot;
        bends[i] = (6.0 * (slope(i) - slope(i - 1)) - step(i - 1) * bends[i - 1]) / pivot;
    }
    for i in (1..count - 1).rev() {
        bends[i] -= coupling[i] * bends[i + 1];
    }
    bends
}
