//! Modal warping: each vertex rotated independently `[ModalWarping]`.

use faer::{Mat, MatRef};
use nalgebra::Vector3;

use super::turns::{CHUNK, combined, sines};
use crate::mesh::{SurfaceMesh, TetMesh};
use crate::operators::{gradients, surface_gradients};
use crate::parallel::*;

/// Squared angle below which the third coefficient is summed as a series, to avoid cancellation.
const SMALL: f64 = 0.25;
/// Number of terms of this series; the remainder is below rounding.
const TERMS: usize = 6;

/// `u = (I + b W + c W^2) Psi z`, with W the cross product with `w = 1/2 curl Psi z` at a vertex and t its
/// length, `b = (1 - cos t) / t^2` and `c = (t - sin t) / t^3`: the mean of the rotations `exp(s W)` for s
/// from 0 to 1.
pub(super) struct Modal {
    /// Infinitesimal rotations of the displacements, 3n x k.
    rotations: Mat<f64>,
}

impl Modal {
    pub(super) fn new(rotations: Mat<f64>) -> Self {
        Self { rotations }
    }

    /// Warped displacement, n x 3, of a linear displacement with its amplitudes.
    pub(super) fn warp(&self, mut moved: Vec<[f64; 3]>, amplitudes: &[f64]) -> Vec<[f64; 3]> {
        let rotations = combined(&self.rotations, amplitudes);
        let both = moved.par_iter_mut().zip(&rotations).with_min_len(CHUNK);
        both.for_each(|(u, &w)| *u = turned(Vector3::from(*u), Vector3::from(w)).into());
        moved
    }
}

/// Infinitesimal rotations of displacements at the vertices, `w = 1/2 curl psi`, averaged over the adjacent
/// tets by volume.
///
/// `displacements` is 3n x k with interleaved rows, of a mesh of n vertices. The result is 3n x k, in
/// radians per unit of amplitude.
pub fn vertex_rotations(mesh: &TetMesh, displacements: MatRef<'_, f64>) -> Mat<f64> {
    let gradients = gradients(mesh);
    averaged(mesh.vertices().len(), displacements, |at, add| {
        for ((tet, gradients), &volume) in mesh.tets().iter().zip(&gradients).zip(mesh.volumes()) {
            let curl: Vector3<f64> =
                tet.iter().zip(gradients).map(|(&v, &g)| Vector3::from(g).cross(&at(v))).sum();
            tet.iter().for_each(|&v| add(v, volume, curl));
        }
    })
}

/// As [`vertex_rotations`], of a surface without volume, averaged over the triangles by area.
///
/// The third direction of a triangle's gradient is its normal, which rotates with the triangle
/// `[MOR eq. 26, 27]`: with g the gradients in its plane and N its normal, the curl is
/// `sum_i g_i x u_i - N x g_i (N.u_i)`, twice the rotation of a rigid motion.
pub fn surface_rotations(surface: &SurfaceMesh, displacements: MatRef<'_, f64>) -> Mat<f64> {
    let triangles: Vec<_> = surface_gradients(surface).collect();
    averaged(surface.points().len(), displacements, |at, add| {
        for (corners, area, gradients) in &triangles {
            let normal = gradients[1].cross(&gradients[2]).normalize();
            let turn = |(&v, g): (&u32, &Vector3<f64>)| {
                let u = at(v);
                g.cross(&u) - normal.cross(g) * normal.dot(&u)
            };
            let curl: Vector3<f64> = corners.iter().zip(gradients).map(turn).sum();
            corners.iter().for_each(|&v| add(v, *area, curl));
        }
    })
}

/// Half the curls of displacements, 3n x k, at n vertices: weighted means of the contributions of `each`,
/// which is given a lookup of the vertices' displacements.
fn averaged(
    n: usize,
    displacements: MatRef<'_, f64>,
    each: impl Fn(&dyn Fn(u32) -> Vector3<f64>, &mut dyn FnMut(u32, f64, Vector3<f64>)) + Sync,
) -> Mat<f64> {
    let column = |k: usize| {
        let at = |v: u32| Vector3::from_fn(|c, _| displacements[(3 * v as usize + c, k)]);
        let (mut sums, mut whole) = (vec![Vector3::zeros(); n], vec![0.0; n]);
        each(&at, &mut |v, weight, curl| {
            sums[v as usize] += 0.5 * weight * curl;
            whole[v as usize] += weight;
        });
        sums.iter().zip(whole).flat_map(|(sum, whole)| <[f64; 3]>::from(sum / whole)).collect()
    };
    let columns: Vec<Vec<f64>> = (0..displacements.ncols()).into_par_iter().map(column).collect();
    Mat::from_fn(displacements.nrows(), columns.len(), |row, k| columns[k][row])
}

/// A displacement multiplied by the mean of the rotations from none to w.
fn turned(u: Vector3<f64>, w: Vector3<f64>) -> Vector3<f64> {
    let square = w.norm_squared();
    let [a, b] = sines(square);
    let across = w.cross(&u);
    u + b * across + third(a, square) * w.cross(&across)
}

/// `(t - sin t) / t^3` from `a = sin t / t` and the square of t; for small t the sum of
/// `(-t^2)^j / (2 j + 3)!`.
fn third(a: f64, square: f64) -> f64 {
    if square > SMALL {
        return (1.0 - a) / square;
    }
    let longer = |sum: f64, j: usize| 1.0 - sum * square / ((2 * j + 2) * (2 * j + 3)) as f64;
    (1..TERMS).rev().fold(1.0, longer) / 6.0
}
