//! Driven modes: the softest eigenmodes, and the answers of the flesh to the accelerations of its bones.

use faer::{Mat, MatRef, Scale};

use super::modes::{ModesProblem, SkinningModes};
use super::update::Change;
use crate::math::dense::{add_product, inner, product, symmetric_eigen};
use crate::math::multiply_columns;
use crate::rig::Rig;
use crate::{Error, Progress, Result};

/// One in this many modes is an eigenmode.
const SOFTEST: usize = 3;
/// Smallest energy of a response's remainder, as a share of the largest.
const STILL: f64 = 1e-8;
/// Iterations for the answers of a changed body.
const ROUNDS: usize = 8;
/// Largest error of a response, as a share of its energy.
const EXACT: f64 = 1e-10;
/// Relative difference below which two energies are equal.
const TIE: f64 = 1e-6;
/// Smallest independent share of a direction's squared norm.
const DEPENDENT: f64 = 1e-10;

impl ModesProblem {
    /// Modes that contain the motion which each bone's acceleration makes, also of small soft parts, which
    /// the softest eigenmodes of the whole leave out.
    ///
    /// The rig acts on the weights through the loads `M w_b` of its bones. The first third of the modes are
    /// eigenmodes, up to rounding. The others contain the static answers `K^-1 M w_b`, K the Hessian with a
    /// small shift, chosen one after the other: next comes the bone whose answer has the most energy outside
    /// of the modes so far. If the bones run out, further eigenmodes follow. An answer is smooth and fades
    /// away from the bone's flesh; it is complementary and zero at pins like an eigenmode.
    ///
    /// The result is mass-orthonormal and diagonal in the Hessian (Rayleigh-Ritz): `eigenvalues` are those of
    /// the span, ascending, and each is an upper bound of the eigenvalue of its number. The highest belong to
    /// small or firm parts, which a truncated set leaves out. Source: load-dependent vectors,
    /// `[WilsonYuanDickens]`.
    ///
    /// # Errors
    /// As [`restrained_modes`](super::restrained_modes); [`Error::Shape`] for a rig of another mesh.
    pub fn driven(&self, count: usize, rig: &Rig, progress: &Progress) -> Result<SkinningModes> {
        self.driven_from(&self.lowest(count, progress)?, rig)
    }

    /// The driven modes, given as many of the lowest.
    ///
    /// # Errors
    /// As [`driven`](Self::driven).
    pub(crate) fn driven_from(&self, softest: &SkinningModes, rig: &Rig) -> Result<SkinningModes> {
        self.drive(softest, rig, None)
    }

    /// As many driven modes as there are eigenmodes, of the problem or of a changed one.
    pub(super) fn drive(
        &self,
        softest: &SkinningModes,
        rig: &Rig,
        change: Option<&Change>,
    ) -> Result<SkinningModes> {
        let n = self.eigen.free.total();
        if rig.vertex_count() != n {
            let (expected, got) = (format!("weights of {n} vertices"), format!("{}", rig.vertex_count()));
            return Err(Error::Shape { what: "rig", expected, got });
        }
        let count = softest.eigenvalues.len();
        let known = self.eigen.free.rows_of_dense(softest.weights.as_ref());
        let kept = count.div_ceil(SOFTEST);
        let soft = (known.subcols(0, kept), softest.eigenvalues.as_slice());
        let answers = self.answers(self.loads(rig), change, soft, count - kept);
        let columns =
            known.col_iter().take(kept).chain(answers.col_iter()).chain(known.col_iter().skip(kept));
        let basis = self.independent(columns.map(|column| column.iter().copied().collect()), count);
        let energies = inner(basis.as_ref(), self.image(change, basis.as_ref()).as_ref());
        let (eigenvalues, turn) = symmetric_eigen(energies.as_ref())?;
        let weights = self.eigen.spread(product(basis.as_ref(), turn.as_ref()).as_ref(), &eigenvalues);
        Ok(SkinningModes { weights, eigenvalues })
    }

    /// Up to `most` answers to loads at the free rows, each without its part in the eigenmodes and in the
    /// answers before it: orthogonal in K.
    fn answers(
        &self,
        mut loads: Mat<f64>,
        change: Option<&Change>,
        (modes, eigenvalues): (MatRef<'_, f64>, &[f64]),
        most: usize,
    ) -> Mat<f64> {
        let mut left = self.solved(&loads, change);
        // `K w = (lambda + shift) M w` for an eigenmode; with a constraint, up to its columns, in which no
        // answer has a part.
        let mut along = inner(modes, loads.as_ref());
        add_product(loads.as_mut(), -1.0, self.eigen.heavy(modes).as_ref(), along.as_ref());
        for (row, value) in along.row_iter_mut().zip(eigenvalues) {
            row.iter_mut().for_each(|x| *x /= value + self.eigen.shift);
        }
        add_product(left.as_mut(), -1.0, modes, along.as_ref());
        let mut chosen = Mat::zeros(left.nrows(), 0);
        let mut largest = 0.0;
        while chosen.ncols() < most {
            let energies: Vec<f64> = left
                .col_iter()
                .zip(loads.col_iter())
                .map(|(answer, load)| answer.transpose() * load)
                .collect();
            let most_left = energies.iter().copied().fold(0.0, f64::max);
            largest = most_left.max(largest);
            let next = energies.iter().position(|&energy| energy >= (1.0 - TIE) * most_left);
            let Some(next) = next.filter(|_| most_left > STILL * largest) else { break };
            let (answer, load) = (left.col(next).to_owned(), loads.col(next).to_owned());
            let shares = inner(answer.as_mat(), loads.as_ref()) * Scale(1.0 / energies[next]);
            add_product(left.as_mut(), -1.0, answer.as_mat(), shares.as_ref());
            add_product(loads.as_mut(), -1.0, load.as_mat(), shares.as_ref());
            // Exactly, so that a bone is chosen at most once.
            left.col_mut(next).fill(0.0);
            chosen.resize_with(answer.nrows(), chosen.ncols() + 1, |i, _| answer[i]);
        }
        chosen
    }

    /// `K^-1 b` for the columns b: by the factor or, for a changed body, by conjugate gradients that start
    /// with it.
    fn solved(&self, loads: &Mat<f64>, change: Option<&Change>) -> Mat<f64> {
        let mut found = loads.clone();
        self.eigen.factor.solve_in_place(found.as_mut());
        if change.is_none() {
            return found;
        }
        let shifted = |x: MatRef<'_, f64>| {
            let mut image = self.image(change, x);
            image += self.eigen.heavy(x) * Scale(self.eigen.shift);
            image
        };
        let works = |a: &Mat<f64>, b: &Mat<f64>| -> Vec<f64> {
            a.col_iter().zip(b.col_iter()).map(|(a, b)| a.transpose() * b).collect()
        };
        // Beyond this accuracy there is nothing but rounding errors to follow.
        let least: Vec<f64> = works(loads, &found).iter().map(|energy| EXACT * energy).collect();
        let share = |k: usize, a: f64, b: f64| if a > least[k] && b > 0.0 { a / b } else { 0.0 };
        let mut residual = loads - shifted(found.as_ref());
        let mut direction = Mat::zeros(found.nrows(), found.ncols());
        let mut before = vec![0.0; found.ncols()];
        for _ in 0..ROUNDS {
            let mut next = residual.clone();
            self.eigen.factor.solve_in_place(next.as_mut());
            let work = works(&residual, &next);
            for (k, (column, next)) in direction.col_iter_mut().zip(next.col_iter()).enumerate() {
                let kept = share(k, work[k], before[k]);
                column.iter_mut().zip(next.iter()).for_each(|(d, next)| *d = next + kept * *d);
            }
            let image = shifted(direction.as_ref());
            let resisted = works(&direction, &image);
            let steps: Vec<f64> = (0..work.len()).map(|k| share(k, work[k], resisted[k])).collect();
            for (k, step) in steps.into_iter().enumerate() {
                found.col_mut(k).iter_mut().zip(direction.col(k).iter()).for_each(|(x, d)| *x += step * d);
                residual.col_mut(k).iter_mut().zip(image.col(k).iter()).for_each(|(r, i)| *r -= step * i);
            }
            before = work;
        }
        found
    }

    /// `H x` of the problem or of a changed one.
    fn image(&self, change: Option<&Change>, x: MatRef<'_, f64>) -> Mat<f64> {
        match change {
            Some(change) => change.image(&self.eigen, x),
            None => multiply_columns(&self.eigen.hessian, x),
        }
    }

    /// `M w_b` at the free rows, one column for each bone.
    fn loads(&self, rig: &Rig) -> Mat<f64> {
        let mut loads = Mat::zeros(self.eigen.mass.len(), rig.bone_count());
        for bone in 0..rig.bone_count() {
            for &(vertex, weight) in rig.bone(bone) {
                if let Some(row) = self.eigen.free.place(vertex) {
                    loads[(row as usize, bone)] += weight * self.eigen.mass[row as usize];
                }
            }
        }
        loads
    }

    /// The first `count` independent directions, mass-orthonormal.
    fn independent(&self, columns: impl Iterator<Item = Vec<f64>>, count: usize) -> Mat<f64> {
        let mut basis: Mat<f64> = Mat::zeros(self.eigen.mass.len(), 0);
        for mut column in columns {
            if basis.ncols() == count {
                break;
            }
            let before = self.square(column.iter());
            for _ in 0..2 {
                for known in basis.col_iter() {
                    let terms = known.iter().zip(&column).zip(&self.eigen.mass);
                    let along: f64 = terms.map(|((known, x), mass)| known * x * mass).sum();
                    column.iter_mut().zip(known.iter()).for_each(|(x, known)| *x -= along * known);
                }
            }
            let after = self.square(column.iter());
            if after > DEPENDENT * before {
                let scale = 1.0 / after.sqrt();
                basis.resize_with(column.len(), basis.ncols() + 1, |i, _| scale * column[i]);
            }
        }
        basis
    }

    /// `x' M x`.
    fn square<'a>(&self, x: impl Iterator<Item = &'a f64>) -> f64 {
        x.zip(&self.eigen.mass).map(|(x, mass)| mass * x * x).sum()
    }
}
