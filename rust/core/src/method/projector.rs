//! From coefficients to displacements of vertices, in one pass over memory.

use crate::method::coordinates::Coordinates;
use crate::{Error, Result};

/// Displacements `u_i = sum over k of W_ik Z_k [X_i; 1]` at fixed points: tet vertices or render vertices.
///
/// Holds one weight a mode and point and the points, as f32.
pub struct Projector {
    coordinates: Coordinates,
    modes: usize,
    points: Vec<[f32; 3]>,
    weights: Vec<f32>,
}

impl Projector {
    /// Takes points (p x 3) and the weights of the modes at them (p x m, C order).
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers do not match.
    pub fn new(points: &[[f64; 3]], weights: &[f64], modes: usize) -> Result<Self> {
        if weights.len() != points.len() * modes {
            return Err(Error::Shape {
                what: "weights",
                expected: format!("({}, {modes})", points.len()),
                got: format!("{} numbers", weights.len()),
            });
        }
        let coordinates = Coordinates::of(points);
        let local = |p: &[f64; 3]| {
            let [x, y, z, _] = coordinates.homogeneous(p);
            [x as f32, y as f32, z as f32]
        };
        Ok(Self {
            coordinates,
            modes,
            points: points.iter().map(local).collect(),
            weights: weights.iter().map(|&w| w as f32).collect(),
        })
    }

    /// Number of points p.
    pub fn point_count(&self) -> usize {
        self.points.len()
    }

    /// Writes the displacements, p x 3 in metres, of `coefficients`, m x 3 x 4 in C order.
    ///
    /// # Errors
    /// [`Error::Shape`] if either slice has the wrong length.
    pub fn displacement(&self, coefficients: &[f64], out: &mut [f32]) -> Result<()> {
        let shape = |what, expected: String, got: usize| Error::Shape {
            what,
            expected,
            got: format!("{got} numbers"),
        };
        if coefficients.len() != 12 * self.modes {
            return Err(shape("coefficients", format!("({}, 3, 4)", self.modes), coefficients.len()));
        }
        if out.len() != 3 * self.points.len() {
            return Err(shape("out", format!("({}, 3)", self.points.len()), out.len()));
        }
        let local: Vec<[[f32; 3]; 4]> = coefficients
            .as_chunks::<4>()
            .0
            .as_chunks::<3>()
            .0
            .iter()
            .map(|z| self.coordinates.enter(z).map(|row| row.map(|v| v as f32)))
            .collect();
        let rows = self.weights.chunks_exact(self.modes).zip(&self.points);
        for (out, (weights, point)) in out.as_chunks_mut::<3>().0.iter_mut().zip(rows) {
            let mut sum = [[0.0_f32; 3]; 4];
            for (w, z) in weights.iter().zip(&local) {
                (0..4).for_each(|d| (0..3).for_each(|i| sum[d][i] += w * z[d][i]));
            }
            let [x, y, z] = *point;
            *out = std::array::from_fn(|i| sum[0][i] * x + sum[1][i] * y + sum[2][i] * z + sum[3][i]);
        }
        Ok(())
    }
}
