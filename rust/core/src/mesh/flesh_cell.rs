//! A cubic cell of a lattice, partly filled with flesh.

use crate::{Error, Result};

/// Smallest variance of flesh in the twisting stiffness of a cell.
const LEAST_SPREAD: f64 = 0.2;

/// Share of a cell's mass distributed evenly, independent of the flesh: no corner is massless.
const EVEN: f64 = 0.01;

/// Accepted deviation of a corner from a cube, as a share of the side.
const CUBE: f64 = 1e-6;

/// A cell of eight vertices, and the distribution of flesh inside. Coordinates in a cell run from -1 to 1.
///
/// Fields are trilinear in a cell, `u = sum_i u_i (1 + s_ix x)(1 + s_iy y)(1 + s_iz z) / 8` with `s_i` in
/// {-1, 1} the position of corner i: bit a of i is set for 1 along axis a.
#[derive(Debug, Clone, PartialEq)]
pub struct FleshCell {
    /// Vertices of the cell.
    pub corners: [u32; 8],
    /// Length of an edge, metres.
    pub side: f64,
    /// Centre of the flesh.
    pub centre: [f64; 3],
    /// Variance of the flesh about its centre along each axis: 1/3 for a full cell.
    pub spread: [f64; 3],
}

impl FleshCell {
    /// Checks cell number `element`: a cube of vertices with its flesh inside.
    pub(super) fn check(&self, element: usize, vertices: &[[f64; 3]]) -> Result<()> {
        let (what, count) = ("cells", vertices.len());
        if let Some(&corner) = self.corners.iter().find(|&&corner| corner as usize >= count) {
            return Err(Error::Index { what, element, index: corner.into(), count });
        }
        let first = vertices[self.corners[0] as usize];
        let is_there = |corner: usize, axis: usize| {
            let along = if corner >> axis & 1 == 1 { self.side } else { 0.0 };
            let place = vertices[self.corners[corner] as usize][axis];
            (place - first[axis] - along).abs() <= CUBE * self.side
        };
        let is_inside = (0..3).all(|axis| {
            (-1.0..=1.0).contains(&self.centre[axis]) && (0.0..=1.0).contains(&self.spread[axis])
        });
        let is_cube = self.side.is_finite() && (0..24).all(|i| is_there(i / 3, i % 3));
        if is_cube && is_inside && self.side > 0.0 {
            return Ok(());
        }
        Err(Error::Range { what, expected: "cubes with their flesh inside", got: element as f64 })
    }

    /// Share of each corner in the mass of the flesh, of this volume.
    ///
    /// Mass is lumped according to the position of the flesh: with c its centre and e a hundredth of the
    /// cell over the volume,
    /// ```text
    /// (1 - e) (1 + s_ix c_x)(1 + s_iy c_y)(1 + s_iz c_z) / 8 + e / 8
    /// ```
    /// Without e, momentum and centre of mass equal those of the flesh, for any motion linear in the cell.
    /// Equal shares would place mass outside of the flesh, and parts thinner than a cell would swing up to
    /// 2.4 times too slowly.
    pub fn mass_shares(&self, volume: f64) -> [f64; 8] {
        let even = (EVEN * self.side.powi(3) / volume).min(1.0);
        std::array::from_fn(|corner| {
            let factor = |axis: usize| 1.0 + place(corner, axis) * self.centre[axis];
            ((1.0 - even) * factor(0) * factor(1) * factor(2) + even) / 8.0
        })
    }

    /// Contribution of each corner to the gradient at the centre of the flesh, 1/m; the sum is zero.
    pub fn gradients(&self) -> [[f64; 3]; 8] {
        std::array::from_fn(|corner| {
            let factor = |axis: usize| 1.0 + place(corner, axis) * self.centre[axis];
            std::array::from_fn(|axis| {
                let rest = factor((axis + 1) % 3) * factor((axis + 2) % 3);
                place(corner, axis) * rest / (4.0 * self.side)
            })
        })
    }

    /// Deformations invisible to the gradient at one place: the factors s of `xy`, `yz`, `zx` and `xyz`, x
    /// in metres from the middle of the cell, as sums over the corners, 1/m^2 and 1/m^3. Each comes with
    /// the mean square gradient r of its resistance.
    ///
    /// For `xy` r is `(side / 2)^2 (spread_x + spread_y) / 2`: a bending field `(xy, -x^2 / 2)` has the
    /// strain y only. Flesh in a single corner says next to nothing about the other corners, which have
    /// some of its mass and would swing by themselves: mean variances are therefore at least 0.2.
    pub fn twists(&self) -> [(f64, [f64; 8]); 4] {
        self.twists_resisting(|a, b| ((self.spread[a] + self.spread[b]) / 2.0).max(LEAST_SPREAD), 1.0 / 9.0)
    }

    /// The same for a scalar function with smooth variation, such as the weights of a mode. Independent of
    /// the amount of flesh, r is `(side / 2)^2` for `xy`, half more than the function's own gradient in a
    /// full cell, and exactly the function's own `(side / 2)^4 / 3` for `xyz`.
    ///
    /// With smaller r, cells with little flesh twist by themselves and appear as modes. With larger r, or
    /// with tets, whose five a cell are not mirror symmetric, modes are jagged and bodies in these modes
    /// too stiff.
    pub fn smooth_twists(&self) -> [(f64, [f64; 8]); 4] {
        self.twists_resisting(|_, _| 1.0, 1.0 / 3.0)
    }

    /// Twists with r of two axes in `(side / 2)^2`, and of all three in `(side / 2)^4`.
    fn twists_resisting(&self, two: impl Fn(usize, usize) -> f64, three: f64) -> [(f64, [f64; 8]); 4] {
        let half = self.side / 2.0;
        std::array::from_fn(|twist| {
            let factor = |corner, axis| place(corner, axis) / half;
            if twist == 3 {
                let s = std::array::from_fn(|i| (0..3).map(|axis| factor(i, axis)).product::<f64>() / 8.0);
                return (half.powi(4) * three, s);
            }
            let (a, b) = (twist, (twist + 1) % 3);
            let s = std::array::from_fn(|i| factor(i, a) * factor(i, b) / 8.0);
            (half * half * two(a, b), s)
        })
    }
}

/// Position of a corner along an axis, -1 or 1.
fn place(corner: usize, axis: usize) -> f64 {
    if corner >> axis & 1 == 1 { 1.0 } else { -1.0 }
}
