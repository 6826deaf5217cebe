//! Drag of a medium on a body of handles, at parts that are sums of coordinates.

use faer::Mat;

use super::ProjectiveModel;
use crate::Result;
use crate::inputs::drag::Drag;
use crate::inputs::settings::{HISTORY, SimulationParams};
use crate::kinematics::history::known_velocity;
use crate::kinematics::points::Points;
use crate::math::rows::Rows;
use crate::potentials::drag::{PointDrag, check_at_vertices, in_metric};

/// Largest number of parts, to make the cost of drag independent of the mesh.
const MOST: usize = 64;

/// Parts of a body by nearest handle, with drag at their centres of mass.
pub(super) struct HandleDrag {
    /// Part of each vertex.
    of_vertices: Vec<u32>,
    /// Centre of mass of each part as a sum of coordinates.
    rows: Vec<Vec<(u32, f64)>>,
    /// `sum m s s'` of the parts' masses m and rows s, r x r, kg.
    gram: Mat<f64>,
    drag: PointDrag,
    /// Drag of the parts.
    given: Vec<Given>,
    /// Known part of the velocities of the coordinates, times the length of a substep.
    known: Vec<[f64; 3]>,
}

/// Linear and quadratic drag coefficient of a part, and the sums of coefficients times medium velocities.
#[derive(Clone, Copy, Default)]
struct Given {
    factors: [f64; 2],
    flows: [[f64; 3]; 2],
}

impl Given {
    /// Adds the drag of a vertex.
    fn add(&mut self, factors: [f64; 2], velocity: &[f64; 3]) {
        for (kind, factor) in factors.into_iter().enumerate() {
            self.factors[kind] += factor;
            (0..3).for_each(|c| self.flows[kind][c] += factor * velocity[c]);
        }
    }

    /// Velocity of the medium, averaged with the drag coefficients. With both kinds of drag, it is the mean
    /// of both averages, since the coefficients have different units.
    fn velocity(&self) -> [f64; 3] {
        let kinds = [0, 1].into_iter().filter(|&kind| self.factors[kind] > 0.0);
        let count = kinds.clone().count().max(1) as f64;
        let mean = |c: usize| kinds.clone().map(|kind| self.flows[kind][c] / self.factors[kind]).sum::<f64>();
        [0, 1, 2].map(|c| mean(c) / count)
    }
}

impl HandleDrag {
    fn new(model: &ProjectiveModel) -> Self {
        let of_vertices = parts(model);
        let count = of_vertices.iter().max().map_or(0, |last| *last as usize + 1);
        let (mut mass, mut sums) = (vec![0.0; count], vec![vec![0.0; model.rank()]; count]);
        for (vertex, (&part, m)) in of_vertices.iter().zip(&model.vertex_mass).enumerate() {
            mass[part as usize] += m;
            for (row, value) in model.coordinates.row(&model.handles, vertex) {
                sums[part as usize][row as usize] += m * value;
            }
        }
        let rows = sums.iter().zip(&mass).map(|(sums, mass)| {
            let entries = (0..).zip(sums).filter(|(_, sum)| **sum != 0.0);
            entries.map(|(row, sum)| (row, sum / mass)).collect()
        });
        let rows: Vec<Vec<(u32, f64)>> = rows.collect();
        let mut gram = Mat::zeros(model.rank(), model.rank());
        for (row, m) in rows.iter().zip(&mass) {
            for &(i, value) in row {
                row.iter().for_each(|&(j, other)| gram[(i as usize, j as usize)] += m * value * other);
            }
        }
        let drag = PointDrag::new(mass, model.diagonal);
        let given = vec![Given::default(); count];
        Self { of_vertices, rows, gram, drag, given, known: vec![[0.0; 3]; model.rank()] }
    }

    /// Stores the vertex drag of the next step, or none.
    pub(super) fn enter(
        known: &mut Option<Self>,
        model: &ProjectiveModel,
        drag: Option<&Drag>,
    ) -> Result<()> {
        let Some(drag) = drag else {
            known.iter_mut().for_each(|medium| medium.drag.enter(std::iter::empty()));
            return Ok(());
        };
        check_at_vertices(drag, model.vertex_mass.len())?;
        let medium = known.get_or_insert_with(|| Self::new(model));
        medium.given.fill(Given::default());
        let of = drag.linear().iter().zip(drag.quadratic()).zip(drag.velocity());
        for (&part, ((&c, &q), velocity)) in medium.of_vertices.iter().zip(of) {
            medium.given[part as usize].add([c, q], velocity);
        }
        medium.drag.enter(medium.given.iter().map(|given| (given.factors, given.velocity())));
        Ok(())
    }

    /// Drag matrix of the coordinates for a uniform coefficient of one, kg.
    pub(super) fn gram(&self) -> &Mat<f64> {
        &self.gram
    }

    /// Sets the known part of the parts' velocities before a substep; returns the drag coefficient of the
    /// metric, 1/s^2, or 0 if negligible.
    pub(super) fn meet(
        &mut self,
        history: &[Vec<[f64; 3]>; HISTORY],
        params: &SimulationParams,
        (inertia, h): (f64, f64),
    ) -> f64 {
        if !self.drag.acts() {
            return 0.0;
        }
        let factors = params.integrator.velocity();
        let [.., older, last] = history;
        for (known, (older, last)) in self.known.iter_mut().zip(older.iter().zip(last)) {
            *known = [0, 1, 2].map(|c| known_velocity(older[c], last[c], factors));
        }
        self.drag.prepare(factors[0], h, |moved| self.rows.displace(&self.known, moved));
        in_metric(self.drag.steepness(), inertia)
    }

    /// Potential of drag, J; adds the gradient.
    pub(super) fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> f64 {
        self.drag.evaluate(&self.rows[..], y, gradient)
    }

    /// Adds the force of the medium on a body at rest, then switches drag off.
    pub(super) fn rest(&mut self, h: f64, force: &mut Rows) {
        self.drag.rest(&self.rows[..], h, force);
    }
}

/// Part of each vertex: the nearest of the first handles, a farthest-point sample, on the same loose part.
fn parts(model: &ProjectiveModel) -> Vec<u32> {
    let loose = model.coordinates.parts.len();
    let centers = model.handles.centers();
    let chosen = centers.len().min(MOST.max(loose));
    let nearest = |(place, &of): (&[f64; 3], &u32)| {
        let own = |&handle: &usize| model.handles.parts()[handle] == of;
        let apart = |handle: usize| (0..3).map(|c| (place[c] - centers[handle][c]).powi(2)).sum::<f64>();
        let closer = |a: &usize, b: &usize| apart(*a).total_cmp(&apart(*b));
        let first = (0..chosen).filter(own).min_by(closer);
        first.or_else(|| (chosen..centers.len()).find(own)).unwrap_or(0)
    };
    let found: Vec<usize> =
        model.vertices().iter().zip(model.handles.parts_of_vertices()).map(nearest).collect();
    let mut used = found.clone();
    used.sort_unstable();
    used.dedup();
    found.iter().map(|handle| used.partition_point(|other| other < handle) as u32).collect()
}
