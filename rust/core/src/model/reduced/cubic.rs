//! Forces of St. Venant-Kirchhoff flesh as cubic polynomials of the coordinates `[MOR sec. 3.1]`.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use crate::math::columns::Columns;
use crate::math::dense::dot;
use crate::math::symmetric::{Spread, Symmetric};
use crate::parallel::*;
use crate::potentials::elastic::samples::Samples;
use crate::{Progress, Result};

/// Largest number of coordinates. Beyond this the coefficients exceed a hundred megabytes, and a cubature
/// is faster.
pub(super) const MOST: usize = 80;
/// Number of elements in one product of strains, and number of pairs per task.
const AT_ONCE: usize = 128;
const PANEL: usize = 96;
/// Components of a strain.
const STRAIN: usize = 6;

/// Exact energy, forces and stiffness of all elements, with the rest shape of the bind pose.
///
/// Green's strain of `F = I + sum_i y_i G_i` is `sum_i y_i e_i + 1/2 sum_ij y_i y_j q_ij` with
/// `e_i = sym G_i` and `q_ij = sym G_i'G_j`, so that with `<a, b> = sum_t V_t a:C:b`
/// ```text
/// K2_ij = <e_i, e_j>,  K3_ijk = <e_i, q_jk> + <e_j, q_ik> + <e_k, q_ij>,
/// K4_ijkl = <q_ij, q_kl> + <q_ik, q_jl> + <q_il, q_jk>,
/// E = 1/2 K2 yy + 1/6 K3 yyy + 1/24 K4 yyyy,  f = K2 y + 1/2 K3 yy + 1/3 S y,
/// K = K2 + K3 y + S,  S = 1/2 K4 yy.
/// ```
/// Pairs are those of i <= j, one i after the other.
pub(super) struct CubicForces {
    /// K2, k x k.
    linear: Columns,
    /// K3, pairs x k.
    quadratic: Columns,
    /// K4, pairs x pairs.
    cubic: Symmetric,
}

/// Scratch of an evaluation.
pub(super) struct CubicScratch {
    /// `y_i y_j`, multiplied by the number of times it occurs in a sum over all i and j.
    squares: Vec<[f64; 1]>,
    spread: Spread<1>,
    /// K2 y.
    image: Vec<f64>,
    /// K3 y and `2 S`, of pairs.
    bent: Vec<f64>,
    stretched: Vec<[f64; 1]>,
}

fn pair_count(rank: usize) -> usize {
    rank * (rank + 1) / 2
}

/// Index of a pair, in either order.
fn pair(rank: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * rank - i * (i + 1) / 2 + j
}

/// Ranges of pairs of each coordinate with itself and its successors.
fn rows(rank: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rank).map(move |i| pair(rank, i, i)..pair(rank, i, rank - 1) + 1)
}

/// Pairs of coordinates in their order.
fn pairs(rank: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..rank).flat_map(move |i| (i..rank).map(move |j| (i, j)))
}

impl CubicForces {
    /// Polynomials of elements with Lamé parameters lambda and mu, Pa.
    pub(super) fn new(samples: &Samples, laws: &[(f64, f64)], progress: &Progress) -> Result<Self> {
        let rank = samples.rank();
        let count = pair_count(rank);
        let (mut linear, mut mixed) = (Mat::<f64>::zeros(rank, rank), Mat::<f64>::zeros(rank, count));
        let mut panels: Vec<Mat<f64>> = (0..count)
            .step_by(PANEL)
            .map(|first| Mat::zeros(count - first, PANEL.min(count - first)))
            .collect();
        for first in (0..laws.len()).step_by(AT_ONCE) {
            progress.report(0.5 + 0.5 * first as f32 / laws.len() as f32)?;
            let [own, squares] = strains(samples, laws, first..(first + AT_ONCE).min(laws.len()));
            matmul(&mut linear, Accum::Add, own.transpose(), &own, 1.0, Par::Seq);
            matmul(&mut mixed, Accum::Add, own.transpose(), &squares, 1.0, Par::Seq);
            panels.par_iter_mut().enumerate().for_each(|(panel, sum)| {
                let rest = squares.as_ref().subcols(PANEL * panel, sum.nrows());
                let columns = rest.subcols(0, sum.ncols());
                matmul(sum, Accum::Add, rest.transpose(), columns, 1.0, Par::Seq);
            });
        }
        let product = |a: usize, b: usize| {
            let (a, b) = (a.min(b), a.max(b));
            panels[a / PANEL][(b - a / PANEL * PANEL, a % PANEL)]
        };
        let ends: Vec<(usize, usize)> = pairs(rank).collect();
        let of = |i: usize, j: usize| pair(rank, i, j);
        let order: Vec<u32> = (0..count as u32).collect();
        Ok(Self {
            linear: Columns::new(rank, rank, |i, j| linear[(i, j)]),
            quadratic: Columns::new(count, rank, |row, k| {
                let (i, j) = ends[row];
                mixed[(k, row)] + mixed[(i, of(j, k))] + mixed[(j, of(i, k))]
            }),
            cubic: Symmetric::new(&order, |row, column| {
                let ((i, j), (k, l)) = (ends[row], ends[column]);
                product(row, column) + product(of(i, k), of(j, l)) + product(of(i, l), of(j, k))
            }),
        })
    }

    pub(super) fn scratch(&self) -> CubicScratch {
        let rank = self.linear.count();
        let count = pair_count(rank);
        CubicScratch {
            squares: vec![[0.0]; count],
            spread: Spread::new(count),
            image: vec![0.0; rank],
            bent: vec![0.0; count],
            stretched: vec![[0.0]; count],
        }
    }

    /// Energy, J; writes the gradient.
    pub(super) fn evaluate(&self, scratch: &mut CubicScratch, y: &[f64], gradient: &mut [f64]) -> f64 {
        let CubicScratch { squares, spread, image, bent, stretched } = scratch;
        for (i, row) in rows(y.len()).enumerate() {
            squares[row.clone()]
                .iter_mut()
                .zip(&y[i..])
                .for_each(|(square, other)| *square = [2.0 * y[i] * other]);
            squares[row.start] = [y[i] * y[i]];
        }
        self.linear.combine(y, image);
        self.quadratic.combine(y, bent);
        self.cubic.multiply(squares, stretched, spread);
        gradient.copy_from_slice(image);
        let [mut third, mut fourth] = [0.0; 2];
        for (i, row) in rows(y.len()).enumerate() {
            let (mut own, first) = (0.0, row.start);
            for (place, at) in row.enumerate() {
                let (bent, [stretched], [square]) = (bent[at], stretched[at], squares[at]);
                let force = 0.5 * bent + stretched / 6.0;
                own += force * y[i + place];
                gradient[i + place] += force * y[i];
                third += bent * square;
                fourth += stretched * square;
            }
            // The first pair of a row is a coordinate with itself.
            gradient[i] += own - (0.5 * bent[first] + stretched[first][0] / 6.0) * y[i];
        }
        0.5 * dot(y, image) + third / 6.0 + fourth / 24.0
    }

    /// Adds a multiple of the second derivatives at the last evaluation.
    pub(super) fn add_hessian(&self, scratch: &CubicScratch, factor: f64, sum: &mut Mat<f64>) {
        for (i, row) in rows(self.linear.count()).enumerate() {
            for (place, at) in row.enumerate() {
                let j = i + place;
                let curvature = self.linear.at(j, i) + scratch.bent[at] + 0.5 * scratch.stretched[at][0];
                sum[(j, i)] += factor * curvature;
                if i != j {
                    sum[(i, j)] += factor * curvature;
                }
            }
        }
    }
}

/// The e and the q of some elements, one column a coordinate or pair. Six rows each, scaled to make
/// `V a:C:b` the sum of products.
fn strains(samples: &Samples, laws: &[(f64, f64)], chosen: Range<usize>) -> [Mat<f64>; 2] {
    let rank = samples.rank();
    let mut own = Mat::zeros(STRAIN * chosen.len(), rank);
    let mut squares = Mat::zeros(STRAIN * chosen.len(), pair_count(rank));
    for (place, sample) in chosen.enumerate() {
        let (lambda, mu) = laws[sample];
        let scale = [2.0 * mu, 2.0 * mu + 3.0 * lambda].map(|x| (x * samples.volume(sample)).sqrt());
        let gradients: Vec<[f64; 9]> =
            (0..rank).map(|k| std::array::from_fn(|entry| samples.gradient(sample, entry, k))).collect();
        let rows = STRAIN * place..STRAIN * (place + 1);
        for (g, mut column) in gradients.iter().zip(own.col_iter_mut()) {
            let strain = packed(|i, j| 0.5 * (g[3 * i + j] + g[3 * j + i]), scale);
            rows.clone().zip(strain).for_each(|(row, number)| column[row] = number);
        }
        for ((i, j), mut column) in pairs(rank).zip(squares.col_iter_mut()) {
            let (a, b) = (&gradients[i], &gradients[j]);
            let entry = |i: usize, j: usize| {
                let both = |m: usize| a[3 * m + i] * b[3 * m + j] + b[3 * m + i] * a[3 * m + j];
                0.5 * (both(0) + both(1) + both(2))
            };
            rows.clone().zip(packed(entry, scale)).for_each(|(row, number)| column[row] = number);
        }
    }
    [own, squares]
}

/// Scaled strain components whose products sum to `2 mu a:b + lambda tr a tr b`, from the roots of `2 mu`
/// and of `2 mu + 3 lambda`.
fn packed(entry: impl Fn(usize, usize) -> f64, [shear, bulk]: [f64; 2]) -> [f64; STRAIN] {
    let [x, y, z] = [0, 1, 2].map(|i| entry(i, i));
    let (root2, root3) = (2.0_f64.sqrt(), 3.0_f64.sqrt());
    [
        bulk / root3 * (x + y + z),
        shear / root2 * (x - y),
        shear / (root2 * root3) * (x + y - 2.0 * z),
        shear * root2 * entry(0, 1),
        shear * root2 * entry(1, 2),
        shear * root2 * entry(0, 2),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Field, Law, Material};
    use crate::mesh::TetMesh;
    use crate::model::reduced::{ReducedExtras, ReducedModel};
    use crate::subspace::Basis;

    /// Four tets around an edge, with some displacement fields.
    fn body() -> ReducedModel {
        let points = [
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 0.3],
            [0.1, 1.1, 0.5],
            [-0.9, 0.1, 0.4],
            [0.0, -1.0, 0.6],
        ];
        let tets = [[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 5], [0, 1, 5, 2]];
        let mesh = TetMesh::new(points.to_vec(), tets.map(|tet| tet.map(|v| v as u32)).to_vec()).unwrap();
        let number = Field::Uniform;
        let law = Law::StVenantKirchhoff;
        let material = Material::new(law, number(1e3), number(0.3), number(1e3)).unwrap();
        let shapes: Vec<f64> = (0..18 * 7).map(|i| (1.3 * i as f64).sin()).collect();
        let basis = Basis::from_shapes(&shapes, 7).unwrap();
        let extras = ReducedExtras { cubic: true, ..ReducedExtras::default() };
        ReducedModel::new(&mesh, &material, &basis, &extras, &Progress::default()).unwrap()
    }

    #[test]
    fn second_derivatives_are_those_of_differences() {
        let model = body();
        let cubic = model.cubic.as_ref().unwrap();
        let mut scratch = cubic.scratch();
        let mut at = |y: &[f64]| {
            let mut gradient = vec![0.0; y.len()];
            cubic.evaluate(&mut scratch, y, &mut gradient);
            let mut hessian = Mat::zeros(y.len(), y.len());
            cubic.add_hessian(&scratch, 1.0, &mut hessian);
            (gradient, hessian)
        };
        let unit = model.unit();
        let y: Vec<f64> = (0..model.data.rank()).map(|k| 0.2 * unit * (2.1 * k as f64).cos()).collect();
        let (_, hessian) = at(&y);
        let size = hessian.norm_max();
        for k in 0..y.len() {
            let mut moved = |by: f64| {
                let mut moved = y.clone();
                moved[k] += by * unit;
                at(&moved).0
            };
            let (up, down) = (moved(1e-4), moved(-1e-4));
            for j in 0..y.len() {
                let difference = (up[j] - down[j]) / (2e-4 * unit);
                assert!((difference - hessian[(j, k)]).abs() < 1e-7 * size, "{j} {k}: {difference}");
            }
        }
    }
}
