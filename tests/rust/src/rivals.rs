//! L-BFGS with any initial Hessian, dense and plain to read: the rivals in the comparison of `[QN]`.

use std::cmp::Ordering;

use faer::linalg::solvers::Llt;
use faer::prelude::Solve;
use faer::{Mat, Scale, Side};
use jounce::material::Energy;
use jounce::operators::{gradients, laplacian, lumped_mass};
use nalgebra::{Matrix3, Vector3};

use crate::hyperelastic::{Flesh, H};
use crate::rotations::rotation;

/// Sufficient-decrease parameter: share of the slope's prediction by which a step must lower the energy.
const ARMIJO: f64 = 0.3;
/// Smallest share of a step that the search tries.
const LEAST: f64 = 1e-12;

/// A column of numbers, three per vertex.
pub type Column = Mat<f64>;

/// One curvature pair of L-BFGS: the step, and the change of the gradient.
pub type Pair = (Column, Column);

/// A matrix given by the product of its inverse with a column.
pub type Inverse<'a> = dyn Fn(&Column, Option<&Pair>) -> Column + 'a;

/// Inner product of two columns.
pub fn dot(a: &Column, b: &Column) -> f64 {
    (a.transpose() * b)[(0, 0)]
}

/// Current point of a descent.
struct Place {
    x: Vec<[f64; 3]>,
    energy: f64,
    gradient: Column,
}

impl Place {
    fn new(flesh: &Flesh, x: Vec<[f64; 3]>, y: &[[f64; 3]]) -> Self {
        let (energy, gradient) = flesh.incremental(&x, y, H);
        Self { x, energy, gradient: column(&gradient) }
    }

    /// Result of a backtracking line search; `None` if it finds no descent.
    fn searched(&self, flesh: &Flesh, y: &[[f64; 3]], d: &Column) -> Option<Self> {
        let (slope, mut share) = (dot(&self.gradient, d), 1.0);
        while share > LEAST {
            let at = |(v, x): (usize, &[f64; 3])| std::array::from_fn(|c| x[c] + share * d[(3 * v + c, 0)]);
            let next = Self::new(flesh, self.x.iter().enumerate().map(at).collect(), y);
            if next.energy <= self.energy + ARMIJO * share * slope {
                return Some(next);
            }
            share *= 0.5;
        }
        None
    }
}

/// The error (11) of `[QN]` after each iteration of algorithm 2 with m pairs, starting at `y`. `least` is
/// the energy at the minimum. A failed line search ends the list.
pub fn errors(
    flesh: &Flesh,
    y: &[[f64; 3]],
    least: f64,
    m: usize,
    count: usize,
    first: &Inverse,
) -> Vec<f64> {
    let (mut place, mut pairs, mut errors) =
        (Place::new(flesh, y.to_vec(), y), Vec::<Pair>::new(), Vec::new());
    let start = place.energy;
    while errors.len() < count {
        let Some(next) = place.searched(flesh, y, &direction(&place.gradient, &pairs, first)) else {
            break;
        };
        let (s, t) = (column(&next.x) - column(&place.x), &next.gradient - &place.gradient);
        if dot(&s, &t) > 0.0 {
            pairs.push((s, t));
        }
        pairs.drain(..pairs.len().saturating_sub(m));
        place = next;
        errors.push((place.energy - least) / (start - least));
    }
    errors
}

/// The error (11) of `[QN]` after each iteration of its algorithm 3: projective-dynamics steps without
/// pairs, with Chebyshev extrapolation from the tenth on. `radius` is the spectral radius of the error
/// propagation.
pub fn chebyshev_errors(
    flesh: &Flesh,
    y: &[[f64; 3]],
    least: f64,
    radius: f64,
    count: usize,
    first: &Inverse,
) -> Vec<f64> {
    const BEGIN: usize = 10;
    let (mut place, mut errors, mut weight) = (Place::new(flesh, y.to_vec(), y), Vec::new(), 1.0);
    let (start, mut before) = (place.energy, place.x.clone());
    for k in 1..=count {
        let Some(next) = place.searched(flesh, y, &first(&-&place.gradient, None)) else {
            break;
        };
        weight = match k.cmp(&BEGIN) {
            Ordering::Less => 1.0,
            Ordering::Equal => 2.0 / (2.0 - radius * radius),
            Ordering::Greater => 4.0 / (4.0 - radius * radius * weight),
        };
        let beyond =
            |v: usize| std::array::from_fn(|c| before[v][c] + weight * (next.x[v][c] - before[v][c]));
        let moved = (0..before.len()).map(beyond).collect();
        before = std::mem::replace(&mut place, Place::new(flesh, moved, y)).x;
        errors.push((place.energy - least) / (start - least));
    }
    errors
}

/// `-H g` with H given by the pairs, the latest last, and an initial inverse.
fn direction(g: &Column, pairs: &[Pair], first: &Inverse) -> Column {
    let (mut q, mut shares) = (-g, Vec::new());
    for (s, t) in pairs.iter().rev() {
        let share = dot(s, &q) / dot(s, t);
        q -= Scale(share) * t;
        shares.push(share);
    }
    let mut d = first(&q, pairs.last());
    for ((s, t), share) in pairs.iter().zip(shares.into_iter().rev()) {
        d += Scale(share - dot(t, &d) / dot(s, t)) * s;
    }
    d
}

/// Minimum energy of a step from `y`, by Newton's method with definite elements, until the energy no longer
/// decreases.
pub fn least(flesh: &Flesh, y: &[[f64; 3]]) -> f64 {
    let mut place = Place::new(flesh, y.to_vec(), y);
    loop {
        let d = factor(&hessian(flesh, &place.x)).solve(-&place.gradient);
        match place.searched(flesh, y, &d) {
            Some(next) if place.energy - next.energy > 1e-14 * place.energy.abs() => place = next,
            _ => return place.energy,
        }
    }
}

/// Factor of a positive definite matrix.
pub fn factor(matrix: &Mat<f64>) -> Llt<f64> {
    matrix.llt(Side::Lower).expect("a definite matrix")
}

/// `M / h^2 + L` with stiffness k, the metric of `[QN]`.
pub fn metric(flesh: &Flesh, k: f64) -> Mat<f64> {
    let conductivity = vec![k; flesh.mesh.tets().len()];
    let stiffness = laplacian(&flesh.mesh, &conductivity).expect("one stiffness a tet").to_dense();
    let spread = |i: usize, j: usize| if i % 3 == j % 3 { stiffness[(i / 3, j / 3)] } else { 0.0 };
    let size = 3 * flesh.mesh.vertices().len();
    inertia(flesh) + Mat::from_fn(size, size, spread)
}

/// `M / h^2` and the element Hessians at some positions, each projected to the closest definite matrix.
pub fn hessian(flesh: &Flesh, x: &[[f64; 3]]) -> Mat<f64> {
    let mut matrix = inertia(flesh);
    let hats = gradients(&flesh.mesh);
    for (t, f) in flesh.deformations(x).iter().enumerate() {
        let own = flesh.mesh.volumes()[t] * flesh.law.definite_hessian(f);
        let corners = || flesh.mesh.tets()[t].iter().zip(&hats[t]);
        for ((&v, a), (&w, b)) in corners().flat_map(|one| corners().map(move |other| (one, other))) {
            for (i, j) in (0..9).map(|e| (e / 3, e % 3)) {
                let terms = (0..9).map(|e| (e / 3, e % 3));
                let sum: f64 = terms.map(|(k, l)| own[(i + 3 * k, j + 3 * l)] * a[k] * b[l]).sum();
                matrix[(3 * v as usize + i, 3 * w as usize + j)] += sum;
            }
        }
    }
    matrix
}

/// Rotation of each vertex, from the mean deformation gradient around it.
pub fn rotations(flesh: &Flesh, x: &[[f64; 3]]) -> Vec<Matrix3<f64>> {
    let mut around = vec![Matrix3::zeros(); x.len()];
    for (t, f) in flesh.deformations(x).iter().enumerate() {
        for &v in &flesh.mesh.tets()[t] {
            around[v as usize] += flesh.mesh.volumes()[t] * f;
        }
    }
    around.iter().map(rotation).collect()
}

/// A column with each vertex rotated by its own rotation.
pub fn turned<'a>(rotations: impl Iterator<Item = Matrix3<f64>> + 'a, of: &Column) -> Column {
    let mut out = Mat::zeros(of.nrows(), 1);
    for (v, rotation) in rotations.enumerate() {
        let turned = rotation * Vector3::from_fn(|c, _| of[(3 * v + c, 0)]);
        (0..3).for_each(|c| out[(3 * v + c, 0)] = turned[c]);
    }
    out
}

fn inertia(flesh: &Flesh) -> Mat<f64> {
    let mass = lumped_mass(&flesh.mesh, &flesh.material());
    Mat::from_fn(3 * mass.len(), 3 * mass.len(), |i, j| if i == j { mass[i / 3] / (H * H) } else { 0.0 })
}

/// Rows as a column.
pub fn column(rows: &[[f64; 3]]) -> Column {
    Mat::from_fn(3 * rows.len(), 1, |i, _| rows[i / 3][i % 3])
}
