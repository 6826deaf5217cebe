//! Opening of stitches during a motion.
//!
//! With shares c of their stiffness the elastic eigenvalues become a matrix, `K = diag(lambda) + A` with
//! `A = D'(c - 1)k D`, and the modal damping `2 zeta sqrt(s K)`: flesh swings freely after its stitch
//! opens. The metric is exact for stitches, by a Cholesky factor in place of a division. With all stitches as
//! built, nothing here is active.

use faer::{Mat, MatMut};

use super::SkinningModel;
use crate::Result;
use crate::inputs::settings::SimulationParams;
use crate::inputs::shares::Shares;
use crate::kinematics::points::Points;
use crate::math::dense::{dot, product, symmetric_eigen};
use crate::math::lanes::multiply_add;
use crate::math::rows::Rows;

/// Changes of a step by opened stitches; allocated at the first opening.
pub(super) struct Opening {
    /// Shares behind all fields but `damping`; `None` with all stitches as built.
    shares: Option<Shares>,
    /// `(c - 1) k`, s, N/m.
    weights: Vec<f64>,
    /// A, r x r, 1/s^2.
    stiffness: Mat<f64>,
    /// `sqrt(K) - sqrt(diag(lambda))`, r x r, 1/s, computed with damping.
    root: Option<Mat<f64>>,
    /// Off-diagonal quadratic part of the incremental energy, r x r.
    beside: Mat<f64>,
    /// Differences of ends, s rows.
    apart: Vec<[f64; 3]>,
    /// Reference velocities of damping, r rows.
    kept: Vec<[f64; 3]>,
}

impl Opening {
    /// No opened stitches.
    pub(super) fn new() -> Self {
        let (stiffness, beside) = (Mat::new(), Mat::new());
        let (weights, apart, kept) = (Vec::new(), Vec::new(), Vec::new());
        Self { shares: None, weights, stiffness, root: None, beside, apart, kept }
    }

    /// Sets the shares of a substep; returns `true` if any stitch is open. Costs nothing for unchanged
    /// shares.
    pub(super) fn enter(&mut self, model: &SkinningModel, params: &SimulationParams) -> Result<bool> {
        let open = (!params.stitching.are_all(1.0)).then_some(params.stitching);
        let (Some(shares), Some(springs)) = (open, model.data.springs()) else {
            self.shares = None;
            return Ok(false);
        };
        if self.shares != Some(shares) {
            let share = |group: &u32| shares.each()[*group as usize];
            let pairs = springs.groups.iter().zip(&springs.stiffness);
            self.weights.clear();
            self.weights.extend(pairs.map(|(group, k)| (share(group) - 1.0) * k));
            self.apart.resize(self.weights.len(), [0.0; 3]);
            self.kept.resize(model.rank(), [0.0; 3]);
            self.stiffness = quadratic(&springs.modes, &self.weights);
            self.root = None;
            self.shares = Some(shares);
        }
        if params.damping > 0.0 && self.root.is_none() {
            self.root = Some(change_of_root(&model.data.spectrum, &self.stiffness)?);
        }
        Ok(true)
    }

    /// `true` if any stitch is open.
    pub(super) fn acts(&self) -> bool {
        self.shares.is_some()
    }

    /// Sets the quadratic part of a substep, and adds its constant terms to b. `rates`: factors of
    /// velocities over h; `[last, older]`: previous coordinates.
    pub(super) fn prepare(
        &mut self,
        rig: (&SkinningModel, &Rows),
        params: &SimulationParams,
        rates: [f64; 2],
        [last, older]: [&Rows; 2],
        linear: &mut Rows,
    ) {
        self.rest(rig, params, linear);
        let Some(root) = self.root.as_ref().filter(|_| params.damping > 0.0) else { return };
        let damping = 2.0 * params.damping * params.stiffness.sqrt();
        for (kept, (last, older)) in self.kept.iter_mut().zip(last.iter().zip(older)) {
            *kept = std::array::from_fn(|c| damping * (rates[0] * last[c] - rates[1] * (last[c] - older[c])));
        }
        add_image(root, &self.kept, linear);
        let entries = root.col_iter().zip(self.beside.col_iter_mut());
        entries.for_each(|(root, beside)| {
            beside
                .iter_mut()
                .zip(root.iter())
                .for_each(|(beside, root)| *beside += damping * rates[0] * root);
        });
    }

    /// The same for statics.
    pub(super) fn rest(
        &mut self,
        (model, handles): (&SkinningModel, &Rows),
        params: &SimulationParams,
        linear: &mut Rows,
    ) {
        let Some(springs) = &model.springs else { return };
        self.apart.fill([0.0; 3]);
        multiply_add(&springs.rig, handles, &mut self.apart);
        for (apart, weight) in self.apart.iter_mut().zip(&self.weights) {
            apart.iter_mut().for_each(|x| *x *= -params.stiffness * weight);
        }
        springs.modes.pull_back(&self.apart, linear);
        self.beside.clone_from(&self.stiffness);
        self.beside.col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x *= params.stiffness));
    }

    /// Energy of a substep at y due to the opening, J; adds the gradient.
    pub(super) fn evaluate(&self, y: &Rows, gradient: &mut Rows) -> f64 {
        if !self.acts() {
            return 0.0;
        }
        let half = |(j, own): (usize, &[f64; 3])| {
            let mut sum = [0.0; 3];
            for (factor, y) in self.beside.col_as_slice(j).iter().zip(y) {
                (0..3).for_each(|c| sum[c] += factor * y[c]);
            }
            (0..3).for_each(|c| gradient[j][c] += sum[c]);
            0.5 * (0..3).map(|c| own[c] * sum[c]).sum::<f64>()
        };
        y.iter().enumerate().map(half).sum()
    }

    /// Adds the quadratic part to the lower half of a metric.
    pub(super) fn add_metric(&self, mut lower: MatMut<'_, f64>) {
        if self.acts() {
            lower += &self.beside;
        }
    }

    /// Elastic energy at y due to the opening, without the scale of stiffness, J.
    pub(super) fn energy(&mut self, (model, handles): (&SkinningModel, &Rows), y: &Rows) -> f64 {
        let Some(springs) = model.springs.as_ref().filter(|_| self.acts()) else { return 0.0 };
        self.apart.fill([0.0; 3]);
        multiply_add(&springs.rig, handles, &mut self.apart);
        multiply_add(&springs.modes.matrix, y, &mut self.apart);
        let energy =
            |(apart, weight): (&[f64; 3], &f64)| 0.5 * weight * apart.iter().map(|x| x * x).sum::<f64>();
        self.apart.iter().zip(&self.weights).map(energy).sum()
    }
}

/// `D' diag(w) D` for rows s x r: r x r, symmetric to the bit.
fn quadratic(rows: &Mat<f64>, weights: &[f64]) -> Mat<f64> {
    let weighted = Mat::from_fn(rows.nrows(), rows.ncols(), |s, j| weights[s] * rows[(s, j)]);
    let entry = |i: usize, j: usize| dot(rows.col_as_slice(i.min(j)), weighted.col_as_slice(i.max(j)));
    Mat::from_fn(rows.ncols(), rows.ncols(), entry)
}

/// `sqrt(diag(spectrum) + A) - sqrt(diag(spectrum))`, symmetric to rounding.
fn change_of_root(spectrum: &[f64], change: &Mat<f64>) -> Result<Mat<f64>> {
    let rank = spectrum.len();
    let on_diagonal = |i: usize, j: usize, value: f64| if i == j { value } else { 0.0 };
    let whole = Mat::from_fn(rank, rank, |i, j| change[(i, j)] + on_diagonal(i, j, spectrum[i]));
    let (values, vectors) = symmetric_eigen(whole.as_ref())?;
    let scaled = Mat::from_fn(rank, rank, |i, j| vectors[(i, j)] * values[j].max(0.0).sqrt());
    let root = product(scaled.as_ref(), vectors.transpose());
    Ok(Mat::from_fn(rank, rank, |i, j| root[(i, j)] - on_diagonal(i, j, spectrum[i].sqrt())))
}

/// Adds `matrix rows` for a symmetric matrix.
fn add_image(matrix: &Mat<f64>, rows: &Rows, out: &mut Rows) {
    for (column, row) in rows.iter().enumerate() {
        for (factor, out) in matrix.col_as_slice(column).iter().zip(out.iter_mut()) {
            (0..3).for_each(|c| out[c] += factor * row[c]);
        }
    }
}
