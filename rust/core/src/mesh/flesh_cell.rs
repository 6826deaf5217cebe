//! A cubic cell of a lattice that flesh fills in part.

use crate::{Error, Result};

/// A cell twists no more easily than one whose flesh has this variance about its centre.
const LEAST_SPREAD: f64 = 0.2;

/// The share of a cell that counts as spread evenly over it, however little of it is flesh: no corner weighs
/// nothing.
const EVEN: f64 = 0.01;

/// How far off its place a corner may be, as a share of the side.
const CUBE: f64 = 1e-6;

/// A cell of eight vertices, and where in it the flesh is. Coordinates in a cell run from -1 to 1.
///
/// Fields are trilinear in a cell, `u = sum_i u_i (1 + s_ix x)(1 + s_iy y)(1 + s_iz z) / 8` with `s_i` in
/// {-1, 1} the place of corner i: bit a of i is set where it is 1 along axis a.
#[derive(Debug, Clone, PartialEq)]
pub struct FleshCell {
    /// Its vertices.
    pub corners: [u32; 8],
    /// Length of an edge, metres.
    pub side: f64,
    /// Centre of the flesh.
    pub centre: [f64; 3],
    /// Variance of the flesh about its centre, along each axis: 1/3 for a cell that is full.
    pub spread: [f64; 3],
}

impl FleshCell {
    /// Errors unless it is a cube of vertices with its flesh inside; it is the cell of that number.
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

    /// What share of the mass of the flesh, of this volume, each corner has.
    ///
    /// Flesh weighs where it is: with c its centre and e a hundredth of the cell over the volume,
    /// ```text
    /// (1 - e) (1 + s_ix c_x)(1 + s_iy c_y)(1 + s_iz c_z) / 8 + e / 8
    /// ```
    /// Without e momentum and centre of mass are those of the flesh, in any motion that is linear in the cell.
    /// Equal shares put mass where no flesh is: what is thinner than a cell would swing up to 2.4 times too slowly.
    pub fn mass_shares(&self, volume: f64) -> [f64; 8] {
        let even = (EVEN * self.side.powi(3) / volume).min(1.0);
        std::array::from_fn(|corner| {
            let factor = |axis: usize| 1.0 + place(corner, axis) * self.centre[axis];
            ((1.0 - even) * factor(0) * factor(1) * factor(2) + even) / 8.0
        })
    }

    /// What the corners add to the gradient at the centre of the flesh, 1/m; they sum to zero.
    pub fn gradients(&self) -> [[f64; 3]; 8] {
        std::array::from_fn(|corner| {
            let factor = |axis: usize| 1.0 + place(corner, axis) * self.centre[axis];
            std::array::from_fn(|axis| {
                let rest = factor((axis + 1) % 3) * factor((axis + 2) % 3);
                place(corner, axis) * rest / (4.0 * self.side)
            })
        })
    }

    /// What the gradient at one place cannot tell: the factors s of `xy`, `yz`, `zx` and `xyz`, x in metres
    /// from the middle of the cell, as sums over the corners, 1/m^2 and 1/m^3; and with each the mean square
    /// gradient r that resists it.
    ///
    /// For `xy` r is `(side / 2)^2 (spread_x + spread_y) / 2`: a field `(xy, -x^2 / 2)`, which bends, has the
    /// strain y only. Of flesh that fills a corner alone it says next to nothing of the other corners, which have some
    /// of its mass and would swing by themselves: variances count as 0.2 and more on average.
    pub fn twists(&self) -> [(f64, [f64; 8]); 4] {
        self.twists_resisting(|a, b| ((self.spread[a] + self.spread[b]) / 2.0).max(LEAST_SPREAD), 1.0 / 9.0)
    }

    /// The same for one function, such as the weights of a mode, that varies smoothly: however little of the cell is
    /// flesh, r is `(side / 2)^2` for `xy`, half more than the function's own gradient in a full cell, and for `xyz`
    /// `(side / 2)^4 / 3`, just that.
    ///
    /// With less, cells of little flesh twist by themselves and take the place of modes; with more, or with
    /// tets, whose five a cell are no mirror image of themselves, modes are jagged and bodies that move in them too stiff.
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

/// Where a corner is along an axis, -1 or 1.
fn place(corner: usize, axis: usize) -> f64 {
    if corner >> axis & 1 == 1 { 1.0 } else { -1.0 }
}
