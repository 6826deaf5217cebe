//! Drag of a medium at points of a moving body.
//!
//! The velocity at the end of a substep relative to the medium is `w = v_0 (x - x_k) / h + ...`. The force
//! `-(c + q |w|) w` is minus the gradient of `h / v_0 sum_i (c_i |w_i|^2 / 2 + q_i |w_i|^3 / 3)`. This
//! potential is convex and part of the incremental energy: any coefficient is stable. Points are the
//! vertices of the full space, or parts of a reduced body.

use nalgebra::{Matrix3, Vector3};

use crate::inputs::drag::Drag;
use crate::kinematics::points::Points;
use crate::math::rows::Rows;
use crate::{Error, Result};

/// Largest `c h / m`; points with a larger coefficient follow the medium anyway.
pub(crate) const FOLLOWS: f64 = 1e6;
/// Largest `q size / m`, for the same reason.
const FOLLOWS_QUADRATIC: f64 = 1e9;
/// Share of inertia below which the metric ignores drag.
const SLIGHT: f64 = 0.25;

/// Drag of a step at points of a body.
pub(crate) struct PointDrag {
    /// Masses of the points, kg.
    mass: Vec<f64>,
    /// Diagonal of the body, metres.
    size: f64,
    /// c and q as given, N s/m and N s^2/m^2; empty without drag.
    given: Vec<[f64; 2]>,
    /// Velocity of the medium, m/s.
    medium: Vec<[f64; 3]>,
    /// `v_0 / h`.
    rate: f64,
    /// c and q, bounded by `FOLLOWS` and `FOLLOWS_QUADRATIC`.
    bounded: Vec<[f64; 2]>,
    /// w at the end of the substep without displacement.
    known: Vec<[f64; 3]>,
    /// Displacements of the points at the last evaluation, and forces on them.
    moved: Vec<[f64; 3]>,
    forces: Vec<[f64; 3]>,
}

/// Checks that the drag is at n vertices.
pub(crate) fn check_at_vertices(drag: &Drag, n: usize) -> Result<()> {
    let got = drag.linear().len();
    if drag.is_at_vertices() && got == n {
        return Ok(());
    }
    let expected = format!("drag at {n} vertices");
    let got = format!("drag at {got} {}", if drag.is_at_vertices() { "vertices" } else { "parts" });
    Err(Error::Shape { what: "drag", expected, got })
}

/// Drag coefficient in the metric for a given steepness, 1/s^2: a power of two, to reuse factorisations.
pub(crate) fn in_metric(steepness: f64, inertia: f64) -> f64 {
    if steepness > SLIGHT * inertia { steepness.log2().round().exp2() } else { 0.0 }
}

impl PointDrag {
    /// No drag yet, at points of given masses, kg, on a body of given size, metres.
    pub(crate) fn new(mass: Vec<f64>, size: f64) -> Self {
        let [medium, known, moved, forces] = [const { Vec::new() }; 4];
        Self { mass, size, given: Vec::new(), medium, rate: 0.0, bounded: Vec::new(), known, moved, forces }
    }

    /// Sets the masses of the points of the next steps.
    pub(crate) fn set_masses(&mut self, masses: &[f64]) {
        self.mass.clear();
        self.mass.extend_from_slice(masses);
    }

    /// `v_0 / h`.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Bounded c and q of a point.
    pub(crate) fn factors(&self, row: usize) -> [f64; 2] {
        self.bounded[row]
    }

    /// Sets linear and quadratic coefficients and medium velocity of the next step at each point; no points
    /// means no drag.
    pub(crate) fn enter(&mut self, points: impl Iterator<Item = ([f64; 2], [f64; 3])>) {
        self.given.clear();
        self.medium.clear();
        self.bounded.clear();
        for (given, medium) in points {
            self.given.push(given);
            self.medium.push(medium);
        }
        self.moved.resize(self.given.len(), [0.0; 3]);
        self.forces.resize(self.given.len(), [0.0; 3]);
    }

    /// `true` if there is drag.
    pub(crate) fn acts(&self) -> bool {
        !self.given.is_empty()
    }

    /// Sets the known part of a substep: `write` gets zeros, and writes `h v` of total positions at its end
    /// without displacement.
    pub(crate) fn prepare(&mut self, factor: f64, h: f64, write: impl FnOnce(&mut Rows)) {
        self.rate = factor / h;
        self.moved.fill([0.0; 3]);
        write(&mut self.moved);
        self.known.clear();
        for (moved, medium) in self.moved.iter().zip(&self.medium) {
            self.known.push(std::array::from_fn(|c| moved[c] / h - medium[c]));
        }
        self.bound(h);
    }

    fn bound(&mut self, h: f64) {
        self.bounded.clear();
        for ([c, q], mass) in self.given.iter().zip(&self.mass) {
            self.bounded.push([c.min(FOLLOWS * mass / h), q.min(FOLLOWS_QUADRATIC * mass / self.size)]);
        }
    }

    /// Writes the displacements of the points at coordinates.
    pub(crate) fn displace<P: Points + ?Sized>(&mut self, points: &P, y: &P::Coordinates) {
        points.displace(y, &mut self.moved);
    }

    /// The displacements of the points at the last evaluation.
    pub(crate) fn moved(&self) -> &Rows {
        &self.moved
    }

    /// Potential at coordinates, J; adds its gradient.
    pub(crate) fn evaluate<P: Points + ?Sized>(
        &mut self,
        points: &P,
        y: &P::Coordinates,
        gradient: &mut P::Coordinates,
    ) -> f64 {
        if !self.acts() {
            return 0.0;
        }
        self.displace(points, y);
        let mut forces = std::mem::take(&mut self.forces);
        forces.fill([0.0; 3]);
        let potential = self.evaluate_at(&self.moved, &mut forces);
        points.pull_back(&forces, gradient);
        self.forces = forces;
        potential
    }

    /// Adds the generalised force on a body at rest, then switches drag off.
    pub(crate) fn rest<P: Points + ?Sized>(&mut self, points: &P, h: f64, force: &mut P::Coordinates) {
        let mut forces = std::mem::take(&mut self.forces);
        forces.fill([0.0; 3]);
        self.rest_at(h, &mut forces);
        points.pull_back(&forces, force);
        self.forces = forces;
    }

    /// Adds the force on a body at rest, N, then switches drag off.
    pub(crate) fn rest_at(&mut self, h: f64, force: &mut Rows) {
        self.bound(h);
        for ((force, medium), [c, q]) in force.iter_mut().zip(&self.medium).zip(&self.bounded) {
            let factor = c + q * Vector3::from(*medium).norm();
            (0..3).for_each(|i| force[i] += factor * medium[i]);
        }
        self.given.clear();
        self.bounded.clear();
    }

    /// Mean derivative of the force by the displacement, 1/s^2 per mass.
    pub(crate) fn steepness(&self) -> f64 {
        let steepness = |([c, q], w): (&[f64; 2], &[f64; 3])| c + 2.0 * q * Vector3::from(*w).norm();
        let whole: f64 = self.bounded.iter().zip(&self.known).map(steepness).sum();
        self.rate * whole / self.mass.iter().sum::<f64>()
    }

    /// w of a point at a displacement.
    pub(crate) fn relative(&self, row: usize, u: &[f64; 3]) -> Vector3<f64> {
        self.rate * Vector3::from(*u) + Vector3::from(self.known[row])
    }

    /// Potential at displacements of the points, J; adds its gradient, N.
    pub(crate) fn evaluate_at(&self, u: &Rows, gradient: &mut Rows) -> f64 {
        let mut potential = 0.0;
        for (row, [c, q]) in self.bounded.iter().enumerate() {
            let w = self.relative(row, &u[row]);
            let speed = w.norm();
            potential += (0.5 * c + q * speed / 3.0) * speed * speed;
            (0..3).for_each(|i| gradient[row][i] += (c + q * speed) * w[i]);
        }
        if self.acts() { potential / self.rate } else { 0.0 }
    }

    /// Second derivatives at a point.
    pub(crate) fn hessian(&self, row: usize, u: &[f64; 3]) -> Matrix3<f64> {
        let Some([c, q]) = self.bounded.get(row) else { return Matrix3::zeros() };
        let w = self.relative(row, u);
        let speed = w.norm();
        let along = if speed > 0.0 { w * w.transpose() / speed } else { Matrix3::zeros() };
        self.rate * ((c + q * speed) * Matrix3::identity() + *q * along)
    }
}
