//! Linear system for the forces along the active directions of contacts.
//!
//! The matrix is the compliance between the directions, plus their own softness. The factor of a few
//! directions, or of pushing alone, is cheap. Friction couples up to three directions a contact, and a flat
//! face hundreds of contacts: conjugate gradients then solve the system, with factors of smaller matrices as
//! preconditioner, and to the precision of a factorisation. The compliance between points is the same in
//! every direction. It is therefore the whole matrix of contacts that all stick, but for a few curvature
//! columns, and on a flat face pushing and friction are apart.

use faer::linalg::matmul::matmul;
use faer::{Accum, ColRef, Mat, MatRef, Par};
use nalgebra::Vector3;

use super::{Compliance, Mobility};
use crate::math::DenseCholesky;
use crate::math::dense::dot;

/// Number of directions of friction above which the system is solved by iteration.
const MANY: usize = 128;
/// Number of directions an iteration: more iterations cost as much as a factorisation.
const WORTH: usize = 10;
/// Largest share of contacts that slide for which friction is preconditioned as if all stuck.
const FEW: f64 = 0.1;
/// Residual at convergence, relative to the displacement of a point under the largest force alone.
const EXACT: f64 = 1e-11;

/// One active direction of a contact force: linear in the point's displacement from an origin, with
/// compliance `softness`.
pub(super) struct Active {
    pub(super) touch: usize,
    /// `true` for the direction of pushing, `false` for one of friction.
    pub(super) is_push: bool,
    pub(super) along: Vector3<f64>,
    pub(super) softness: f64,
    pub(super) origin: Vector3<f64>,
}

/// Active directions, in the order of their contacts, and the compliance between all contacts.
pub(super) struct System<'a> {
    pub(super) active: &'a [Active],
    pub(super) compliance: &'a Compliance,
}

impl System<'_> {
    /// Force along each direction beside constant forces, iterated from a guess; `None` for a matrix that is
    /// not positive definite.
    pub(super) fn solve(&self, constant: &[Vector3<f64>], guess: Vec<f64>) -> Option<Vec<f64>> {
        let moved = self.compliance.moved(constant);
        let away = |one: &Active| one.along.dot(&(one.origin - moved[one.touch]));
        let aside: Vec<f64> = self.active.iter().map(away).collect();
        let friction = self.active.iter().filter(|one| !one.is_push).count();
        let iterated = match &self.compliance.points {
            Mobility::Even(points) if friction > MANY => {
                Coupling::new(self, points).and_then(|coupling| coupling.solve(&aside, guess))
            }
            _ => None,
        };
        iterated.or_else(|| self.factored(aside))
    }

    /// Motion of each direction in each curvature column.
    fn columns(&self) -> Mat<f64> {
        let Compliance { columns, matrix, .. } = self.compliance;
        let entry = |i: usize, k: usize| self.active[i].along.dot(&columns[self.active[i].touch][k]);
        Mat::from_fn(self.active.len(), matrix.nrows(), entry)
    }

    /// Solution by the factor of the whole matrix.
    fn factored(&self, mut sizes: Vec<f64>) -> Option<Vec<f64>> {
        let (active, middle) = (self.active, &self.compliance.matrix);
        let (count, columns) = (active.len(), self.columns());
        let (mut turned, mut matrix) = (Mat::zeros(count, middle.nrows()), Mat::zeros(count, count));
        matmul(&mut turned, Accum::Replace, &columns, middle, 1.0, Par::Seq);
        matmul(&mut matrix, Accum::Replace, &turned, columns.transpose(), 1.0, Par::Seq);
        for (j, one) in active.iter().enumerate() {
            let column = &mut matrix.col_as_slice_mut(j)[j..];
            for (entry, other) in column.iter_mut().zip(&active[j..]) {
                *entry += self.compliance.points.along([other.touch, one.touch], [&other.along, &one.along]);
            }
            column[0] += one.softness;
        }
        let mut factor = DenseCholesky::of(matrix);
        factor.factor().then(|| factor.solve(&mut sizes, 1))?;
        Some(sizes)
    }
}

/// Contacts with active directions, for solution by iteration.
struct Coupling<'a> {
    system: &'a System<'a>,
    /// Number of each direction's contact.
    contacts: Vec<usize>,
    /// Compliance between the contacts' points.
    points: Mat<f64>,
    /// Motion of each direction in each curvature column.
    columns: Mat<f64>,
    parts: Vec<Part>,
}

/// Directions preconditioned as if no others acted.
struct Part {
    directions: Vec<usize>,
    /// Row of each direction in the factor.
    rows: Vec<usize>,
    factor: DenseCholesky,
    /// `true` if a row is a contact that moves in any direction, `false` for one direction.
    is_of_contacts: bool,
}

impl<'a> Coupling<'a> {
    /// `None` for a compliance that is not positive definite.
    fn new(system: &'a System<'a>, points: &Mat<f64>) -> Option<Self> {
        let active = system.active;
        let (mut contacts, mut touches) = (Vec::with_capacity(active.len()), Vec::new());
        for one in active {
            if touches.last() != Some(&one.touch) {
                touches.push(one.touch);
            }
            contacts.push(touches.len() - 1);
        }
        let mut between = Mat::zeros(touches.len(), touches.len());
        for (j, &touch) in touches.iter().enumerate() {
            let entries = between.col_as_slice_mut(j).iter_mut().zip(&touches);
            entries.for_each(|(entry, &other)| *entry = points.col_as_slice(touch)[other]);
        }
        let columns = system.columns();
        let mut coupling = Self { system, contacts, points: between, columns, parts: Vec::new() };
        let slides = 3 * touches.len() - active.len();
        let parts = if slides == 0 {
            vec![((0..active.len()).collect(), true)]
        } else {
            let (pushes, friction) = (0..active.len()).partition(|&i| active[i].is_push);
            vec![(pushes, false), (friction, (slides as f64) < FEW * touches.len() as f64)]
        };
        let parts =
            parts.into_iter().map(|(directions, is_of_contacts)| coupling.part(directions, is_of_contacts));
        coupling.parts = parts.collect::<Option<_>>()?;
        Some(coupling)
    }

    fn part(&self, directions: Vec<usize>, is_of_contacts: bool) -> Option<Part> {
        let (active, contacts) = (self.system.active, &self.contacts);
        let (mut rows, mut heads) = (Vec::with_capacity(directions.len()), Vec::<usize>::new());
        for &i in &directions {
            if !is_of_contacts || heads.last().is_none_or(|&head| contacts[head] != contacts[i]) {
                heads.push(i);
            }
            rows.push(heads.len() - 1);
        }
        let mut matrix = Mat::zeros(heads.len(), heads.len());
        for (j, &to) in heads.iter().enumerate() {
            let column = self.points.col_as_slice(contacts[to]);
            for (entry, &from) in matrix.col_as_slice_mut(j)[j..].iter_mut().zip(&heads[j..]) {
                let along = if is_of_contacts { 1.0 } else { active[from].along.dot(&active[to].along) };
                *entry = along * column[contacts[from]];
            }
            matrix[(j, j)] += active[to].softness;
        }
        let mut factor = DenseCholesky::of(matrix);
        factor.factor().then_some(Part { directions, rows, factor, is_of_contacts })
    }

    /// Solution by conjugate gradients; `None` if a factorisation costs less.
    fn solve(&self, aside: &[f64], mut sizes: Vec<f64>) -> Option<Vec<f64>> {
        let mut residual: Vec<f64> = aside.iter().zip(self.apply(&sizes)).map(|(b, a)| b - a).collect();
        let (mut direction, mut last) = (vec![0.0; sizes.len()], f64::INFINITY);
        for _ in 0..sizes.len() / WORTH {
            if self.is_settled(&residual, &sizes) {
                return Some(sizes);
            }
            let preconditioned = self.precondition(&residual);
            let measure = dot(&residual, &preconditioned);
            direction.iter_mut().zip(&preconditioned).for_each(|(d, p)| *d = p + measure / last * *d);
            let image = self.apply(&direction);
            let step = measure / dot(&direction, &image);
            if !(step > 0.0 && step.is_finite()) {
                return None;
            }
            sizes.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
            residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
            last = measure;
        }
        None
    }

    fn is_settled(&self, residual: &[f64], sizes: &[f64]) -> bool {
        let most = sizes.iter().fold(0.0, |most: f64, size| most.max(size.abs()));
        let own = |i: usize| self.points[(self.contacts[i], self.contacts[i])];
        residual.iter().enumerate().all(|(i, residual)| residual.abs() <= EXACT * most * own(i))
    }

    /// Product with the matrix of the system.
    fn apply(&self, sizes: &[f64]) -> Vec<f64> {
        let (active, middle) = (self.system.active, &self.system.compliance.matrix);
        let (count, rank, columns) = (self.points.nrows(), middle.nrows(), self.columns.as_ref());
        let [mut forces, mut moved] = [(); 2].map(|()| Mat::<f64>::zeros(count, 3));
        for ((one, &contact), size) in active.iter().zip(&self.contacts).zip(sizes) {
            (0..3).for_each(|c| forces[(contact, c)] += size * one.along[c]);
        }
        let product = |out: &mut Mat<f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>| {
            matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
        };
        product(&mut moved, self.points.as_ref(), forces.as_ref());
        let [mut along, mut shares] = [(); 2].map(|()| Mat::zeros(rank, 1));
        let mut learnt = Mat::zeros(sizes.len(), 1);
        product(&mut along, columns.transpose(), ColRef::from_slice(sizes).as_mat());
        product(&mut shares, middle.as_ref(), along.as_ref());
        product(&mut learnt, columns, shares.as_ref());
        let each = active.iter().zip(&self.contacts).zip(sizes).enumerate();
        let image = each.map(|(i, ((one, &contact), size))| {
            let along: f64 = (0..3).map(|c| one.along[c] * moved[(contact, c)]).sum();
            along + learnt[(i, 0)] + one.softness * size
        });
        image.collect()
    }

    fn precondition(&self, residual: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; residual.len()];
        for Part { directions, rows, factor, is_of_contacts } in &self.parts {
            let each = if *is_of_contacts { 3 } else { 1 };
            let share =
                |i: usize, c: usize| if *is_of_contacts { self.system.active[i].along[c] } else { 1.0 };
            let mut spread = vec![0.0; each * factor.matrix.ncols()];
            for (&i, &row) in directions.iter().zip(rows) {
                (0..each).for_each(|c| spread[each * row + c] += residual[i] * share(i, c));
            }
            factor.solve(&mut spread, each);
            for (&i, &row) in directions.iter().zip(rows) {
                out[i] = (0..each).map(|c| spread[each * row + c] * share(i, c)).sum();
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use nalgebra::Vector3;

    use super::super::{Compliance, Mobility};
    use super::{Active, Coupling, MANY, System};

    const COUNT: usize = 120;
    const OWN: f64 = 1e-3;

    /// Points on a plane, much closer together than what they move.
    fn compliance() -> Compliance {
        let place = |i: usize| [0.3 * (i % 12) as f64, 0.3 * (i / 12) as f64];
        let entry = |i: usize, j: usize| {
            let [a, b] = [place(i), place(j)];
            OWN * (-0.5 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp()
        };
        let wave = |i: usize, k: usize| (0.1 * (i * (k + 2)) as f64).cos();
        let columns = |i: usize| (0..2).map(|k| Vector3::new(wave(i, k), 0.2, wave(i, k + 1))).collect();
        let matrix = Mat::from_fn(2, 2, |a, b| 0.01 * OWN * if a == b { 1.0 } else { 0.3 });
        let points = Mobility::Even(Mat::from_fn(COUNT, COUNT, entry));
        Compliance { points, columns: (0..COUNT).map(columns).collect(), matrix }
    }

    /// Contacts on the plane, a share of which slide in several directions.
    fn active(sliding: f64) -> Vec<Active> {
        let mut active = Vec::new();
        for touch in 0..COUNT {
            let part = touch as f64 / COUNT as f64;
            let mut add = |is_push: bool, along: Vector3<f64>, softness: f64| {
                let origin = OWN * Vector3::new((9.0 * part).sin(), part, 2.0 - part);
                active.push(Active { touch, is_push, along, softness, origin });
            };
            add(true, Vector3::z(), 1e-3 * OWN);
            if part < sliding {
                add(false, Vector3::new(part.cos(), part.sin(), 0.0), OWN * (0.01 + part));
            } else {
                add(false, Vector3::x(), 1e-3 * OWN);
                add(false, Vector3::y(), 1e-3 * OWN);
            }
        }
        active
    }

    #[test]
    fn iterations_and_a_factor_give_the_same_forces() {
        let compliance = compliance();
        let Mobility::Even(points) = &compliance.points else { unreachable!() };
        for sliding in [0.0, 0.05, 0.5] {
            let active = active(sliding);
            assert!(active.iter().filter(|one| !one.is_push).count() > MANY);
            let system = System { active: &active, compliance: &compliance };
            let aside: Vec<f64> = active.iter().map(|one| one.along.dot(&one.origin)).collect();
            let right = system.factored(aside.clone()).unwrap();
            let coupling = Coupling::new(&system, points).unwrap();
            let found = coupling.solve(&aside, vec![0.0; active.len()]).expect("convergence");
            let most = right.iter().fold(0.0, |most: f64, size| most.max(size.abs()));
            let apart = right.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-7 * most, "{sliding}: {apart:e} of {most:e}");
            // From the solution, nothing is left to do.
            assert_eq!(coupling.solve(&aside, found.clone()).unwrap(), found);
        }
    }
}
