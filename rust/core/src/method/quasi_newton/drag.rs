//! Drag at the vertices: what a medium does to them as they move through it.
//!
//! With the velocity `w = v_0 (x - x_k) / h + ...` at the end of a substep, relative to the medium, the force `-(c + q |w|) w` is
//! minus the gradient of `h / v_0 sum_i (c_i |w_i|^2 / 2 + q_i |w_i|^3 / 3)`, which is convex and joins the incremental energy: no
//! coefficient is too large for a step.

use nalgebra::{Matrix3, Vector3};

use super::FullSpaceModel;
use crate::math::rows::Rows;
use crate::method::skinning_modes::Drag;
use crate::{Error, Result};

/// Largest `c h / m`, and `q size / m`: what feels more follows the medium in any case.
const FOLLOWS: f64 = 1e6;
const FOLLOWS_QUADRATIC: f64 = 1e9;
/// Share of inertia below which the metric need not know what drags.
const SLIGHT: f64 = 0.25;

/// The drag of a step, on the rows that move.
#[derive(Default)]
pub(super) struct VertexDrag {
    /// c and q as given, N s/m and N s^2/m^2; no rows where nothing drags.
    linear: Vec<f64>,
    quadratic: Vec<f64>,
    /// Velocity of the medium, m/s.
    medium: Vec<[f64; 3]>,
    /// `v_0 / h`.
    rate: f64,
    /// c and q, no larger than what follows the medium.
    bounded: Vec<[f64; 2]>,
    /// w without displacement at the end of the substep.
    known: Vec<[f64; 3]>,
}

impl VertexDrag {
    /// Takes the drag of the next step.
    pub(super) fn enter(&mut self, model: &FullSpaceModel, drag: Option<&Drag>) -> Result<()> {
        self.linear.clear();
        self.bounded.clear();
        let Some(drag) = drag else { return Ok(()) };
        let (expected, got) = (model.vertices.len(), drag.linear().len());
        if !drag.is_at_vertices() || expected != got {
            let expected = format!("drag at {expected} vertices");
            let got = format!("drag at {got} {}", if drag.is_at_vertices() { "vertices" } else { "parts" });
            return Err(Error::Shape { what: "drag", expected, got });
        }
        let moving = || model.vertices[..model.free].iter().map(|&vertex| vertex as usize);
        self.linear.extend(moving().map(|vertex| drag.linear()[vertex]));
        self.quadratic.clear();
        self.quadratic.extend(moving().map(|vertex| drag.quadratic()[vertex]));
        self.medium.clear();
        self.medium.extend(moving().map(|vertex| drag.velocity()[vertex]));
        Ok(())
    }

    /// Whether anything drags.
    pub(super) fn acts(&self) -> bool {
        !self.linear.is_empty()
    }

    /// Sets what is known of a substep before it is solved: `h v` of whole positions without displacement at its end.
    pub(super) fn prepare(&mut self, model: &FullSpaceModel, moved: &Rows, factor: f64, h: f64) {
        self.rate = factor / h;
        let known = moved.iter().zip(&self.medium);
        self.known = known.map(|(moved, medium)| std::array::from_fn(|c| moved[c] / h - medium[c])).collect();
        self.bound(model, h);
    }

    fn bound(&mut self, model: &FullSpaceModel, h: f64) {
        let size = model.mesh.diagonal();
        let rows = self.linear.iter().zip(&self.quadratic).zip(&model.mass);
        let bound = |((c, q), mass): ((&f64, &f64), &f64)| {
            [c.min(FOLLOWS * mass / h), q.min(FOLLOWS_QUADRATIC * mass / size)]
        };
        self.bounded = rows.map(bound).collect();
    }

    /// The force on a body that rests, N. There is no drag from then on.
    pub(super) fn rest(&mut self, model: &FullSpaceModel, h: f64, force: &mut Rows) {
        self.bound(model, h);
        for ((force, medium), [c, q]) in force.iter_mut().zip(&self.medium).zip(&self.bounded) {
            let factor = c + q * Vector3::from(*medium).norm();
            (0..3).for_each(|i| force[i] += factor * medium[i]);
        }
        self.linear.clear();
        self.bounded.clear();
    }

    /// What the metric knows of it, 1/s^2 on the mass: its mean, as a power of two, so that few factors are made.
    pub(super) fn in_metric(&self, model: &FullSpaceModel, inertia: f64) -> f64 {
        let steepness = |([c, q], w): (&[f64; 2], &[f64; 3])| c + 2.0 * q * Vector3::from(*w).norm();
        let whole: f64 = self.bounded.iter().zip(&self.known).map(steepness).sum();
        let mean = self.rate * whole / model.mass.iter().sum::<f64>();
        if mean > SLIGHT * inertia { mean.log2().round().exp2() } else { 0.0 }
    }

    fn relative(&self, row: usize, u: &[f64; 3]) -> Vector3<f64> {
        self.rate * Vector3::from(*u) + Vector3::from(self.known[row])
    }

    /// The potential, J; its gradient, N, is added.
    pub(super) fn evaluate(&self, u: &Rows, gradient: &mut Rows) -> f64 {
        let mut potential = 0.0;
        for (row, [c, q]) in self.bounded.iter().enumerate() {
            let w = self.relative(row, &u[row]);
            let speed = w.norm();
            potential += (0.5 * c + q * speed / 3.0) * speed * speed;
            (0..3).for_each(|i| gradient[row][i] += (c + q * speed) * w[i]);
        }
        if self.acts() { potential / self.rate } else { 0.0 }
    }

    /// Second derivatives at a vertex.
    pub(super) fn hessian(&self, row: usize, u: &[f64; 3]) -> Matrix3<f64> {
        let Some([c, q]) = self.bounded.get(row) else { return Matrix3::zeros() };
        let w = self.relative(row, u);
        let speed = w.norm();
        let along = if speed > 0.0 { w * w.transpose() / speed } else { Matrix3::zeros() };
        self.rate * ((c + q * speed) * Matrix3::identity() + *q * along)
    }
}
