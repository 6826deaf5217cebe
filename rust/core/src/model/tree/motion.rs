//! Time stepping of a tree.

use nalgebra::Vector3;

use super::contact::{Standing, TreeContact};
use super::domain_tree::{DomainTree, standing};
use super::kinematics::Frame;
use super::objective::Incremental;
use super::state::{PLACE, TreeState, coordinates, frame_of, rows_of};
use super::station::{ROOT, Station, place};
use crate::inputs::settings::{HISTORY, StepReport};
use crate::math::rows::{Rows, add, combine, dot};
use crate::potentials::contact::Placement;
use crate::solve::{Descent, Objective};
use crate::stepping::history::{follow, on_parabola};
use crate::stepping::state::respace;
use crate::{Error, Progress, Result, check};

/// Largest distance between predictor and last state without an energy comparison, root mean square as a
/// share of the diagonal.
const FAR: f64 = 0.1;

/// Input of a step of a tree.
#[derive(Debug, Clone, Copy, Default)]
pub struct TreeDrive<'a> {
    /// Transform of the root, and with it of the whole tree, from its rest place; `None` keeps the last
    /// one. The first transform sets the start, at rest. Substeps interpolate on the parabola through the
    /// last three.
    pub root: Option<&'a [[f64; 4]; 3]>,
    /// A moving medium; `None` for none.
    pub wind: Option<&'a Wind<'a>>,
    /// Placements of colliders at the end of the step: rotation and translation of each from its initial
    /// place. `None` keeps the last ones; substeps interpolate as for the root.
    pub colliders: Option<&'a [[[f64; 4]; 3]]>,
}

/// A moving medium at each domain: the force `-rate m (v - velocity)` on every vertex.
#[derive(Debug, Clone, Copy)]
pub struct Wind<'a> {
    /// Velocity of the medium, d, m/s.
    pub velocity: &'a [[f64; 3]],
    /// Relaxation rate of each domain towards the medium, d, 1/s.
    pub rate: &'a [f64],
}

impl Wind<'_> {
    fn check(&self, count: usize) -> Result<()> {
        let lengths = [("wind", self.velocity.len()), ("drag", self.rate.len())];
        if let Some((what, got)) = lengths.into_iter().find(|(_, length)| *length != count) {
            let (expected, got) = (format!("{count} domains"), format!("{got}"));
            return Err(Error::Shape { what, expected, got });
        }
        check::finite("wind", self.velocity.as_flattened(), 3)?;
        check::all("drag", "rates >= 0 in 1/s", self.rate, |rate| rate.is_finite() && rate >= 0.0)
    }
}

impl DomainTree {
    /// Advances by `dt`.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`] and [`Error::Range`] for the input, [`Error::Unsupported`]
    /// for the place of a free root, [`Error::Numerical`] for overflow, [`Error::Cancelled`]. The state is
    /// then unchanged.
    pub fn step(&mut self, drive: &TreeDrive<'_>, progress: &Progress) -> Result<StepReport> {
        drive.wind.map_or(Ok(()), |wind| wind.check(self.nodes.len()))?;
        let target = self.enter(drive.root)?;
        self.collider_target.copy_from_slice(&self.state.contact.frames[1]);
        if let Some(colliders) = drive.colliders {
            Placement::enter(colliders, &mut self.collider_target)?;
        }
        self.before.copy_from(&self.state);
        if !self.state.started {
            self.state.contact.start(&self.collider_target);
            if drive.root.is_some() {
                self.state.begin(&target);
            }
        }
        self.state.started = true;
        let found = self.advance(&target, drive.wind, progress);
        if found.is_err() {
            self.state.copy_from(&self.before);
            self.show();
        }
        found
    }

    /// The complete state before a step.
    pub fn save_state(&self) -> TreeState {
        self.state.clone()
    }

    /// Restores a saved state.
    ///
    /// # Errors
    /// [`Error::Shape`] for a state of another tree.
    pub fn restore_state(&mut self, state: &TreeState) -> Result<()> {
        for [expected, got] in
            self.state.rows().zip(state.rows()).map(|(own, given)| [own.len(), given.len()])
        {
            if expected != got {
                let [expected, got] = [expected, got].map(|rows| format!("{rows} rows"));
                return Err(Error::Shape { what: "state", expected, got });
            }
        }
        let touching = self.contact.as_ref().map_or(0, TreeContact::vertex_count);
        state.contact.check(&self.state.contact, touching, false)?;
        self.state.copy_from(state);
        self.show();
        Ok(())
    }

    /// Resets the tree to rest at its initial place.
    pub fn reset(&mut self) {
        let root = standing(&self.nodes[0].domain, &self.stand);
        self.state = TreeState::new(&root, self.x.len(), self.colliders.len());
        self.show();
    }

    /// Incremental energy of the next substep, J, and its gradient. `numbers` are six for a free root,
    /// shift and angles from its free flight, then the coordinates domain by domain.
    ///
    /// Excludes wind and contact; the root keeps its last place. For tests and tools only.
    ///
    /// # Errors
    /// [`Error::Shape`] for another count of numbers.
    pub fn incremental_energy(&mut self, numbers: &[f64]) -> Result<(f64, Vec<f64>)> {
        let count = 3 * ROOT + self.coordinate_count();
        check::length("coordinates", count, numbers.len())?;
        let (root, mut rest) = numbers.split_at(3 * ROOT);
        let mut x = vec![[0.0; 3]; self.x.len()];
        x[..ROOT].as_flattened_mut().copy_from_slice(root);
        for node in &self.nodes {
            let (own, others) = rest.split_at(node.domain.rank());
            node.part_mut(&mut x).copy_from_slice(own);
            rest = others;
        }
        let mut rows = self.enter(None)?;
        if self.free {
            self.fly_on(&mut rows);
        }
        self.aim(self.params.dt / f64::from(self.params.substeps), None);
        let mut gradient = vec![[0.0; 3]; x.len()];
        let (mut energy, ..) = self.split(frame_of(&rows));
        energy.contact = None;
        let energy = energy.evaluate(&x, &mut gradient).energy;
        let parts = self.nodes.iter().flat_map(|node| node.part(&gradient));
        let slopes = gradient[..ROOT].as_flattened().iter().chain(parts).copied().collect();
        self.show();
        Ok((energy, slopes))
    }

    /// Root place of the next frame.
    fn enter(&self, root: Option<&[[f64; 4]; 3]>) -> Result<[[f64; 3]; PLACE]> {
        let Some(root) = root else {
            let [.., last] = &self.state.frames;
            return Ok(std::array::from_fn(|row| last[row]));
        };
        if self.free {
            let why = "nothing holds this tree, so that its root goes where forces take it; leave it out";
            return Err(Error::Unsupported { what: "root", why });
        }
        let moved = Placement::checked("root", root)?;
        let Frame { rotation, centre } = standing(&self.nodes[0].domain, &self.stand);
        Ok(rows_of(&Frame { rotation: moved.rotation() * rotation, centre: moved.world(&centre) }))
    }

    fn advance(
        &mut self,
        target: &[[f64; 3]; PLACE],
        wind: Option<&Wind<'_>>,
        progress: &Progress,
    ) -> Result<StepReport> {
        let mut report = StepReport::default();
        let substeps = self.params.substeps;
        let h = self.params.dt / f64::from(substeps);
        for substep in 1..=substeps {
            if self.state.spacing > 0.0 && self.state.spacing != h {
                respace(&mut self.state.history, h / self.state.spacing);
            }
            self.state.spacing = h;
            let mut rows = *target;
            self.colliders.copy_from_slice(&self.collider_target);
            if substep < substeps {
                let time = f64::from(substep) / f64::from(substeps);
                on_parabola(&self.state.frames, target, time, &mut rows);
                let frames = &self.state.contact.frames;
                on_parabola(frames, &self.collider_target, time, &mut self.colliders);
            }
            if self.free {
                self.fly_on(&mut rows);
            }
            self.aim(h, wind);
            self.begin_contact(h);
            report.add(self.solve(frame_of(&rows), progress)?);
        }
        let mut reached = *target;
        reached.copy_from_slice(&self.state.history[HISTORY - 1][..PLACE]);
        follow(&mut self.state.frames, &reached);
        follow(&mut self.state.contact.frames, &self.collider_target);
        report.energy = self.elastic_energy();
        report.converged = report.residual <= self.params.tolerance;
        Ok(report)
    }

    /// Root place after free flight.
    fn fly_on(&self, rows: &mut [[f64; 3]; PLACE]) {
        let [.., older, last] = &self.state.history;
        for (row, place) in rows.iter_mut().enumerate() {
            (0..3).for_each(|c| place[c] = 2.0 * last[row][c] - older[row][c]);
        }
    }

    /// Sets inertial targets, with gravity and wind, and damping of each domain.
    fn aim(&mut self, h: f64, wind: Option<&Wind<'_>>) {
        let (integrator, gravity) = (self.params.integrator, Vector3::from(self.params.gravity));
        let (inertia, [speed, further]) = (integrator.acceleration()[0], integrator.velocity());
        let rates = |domain: usize| wind.map_or(0.0, |wind| wind.rate[domain]);
        for (number, station) in self.stations.iter_mut().enumerate() {
            station.target.fill(0.0);
            station.inertia = inertia / (h * h) + rates(number) * speed / h;
        }
        for (back, [inertia, speed]) in integrator.recall().into_iter().enumerate() {
            let rows = &self.state.history[HISTORY - 1 - back];
            if [inertia, speed] == [0.0; 2] {
                continue;
            }
            place(&self.nodes, &mut self.stations, frame_of(rows), coordinates(rows));
            for (number, station) in self.stations.iter_mut().enumerate() {
                let factor = (inertia / (h * h) + rates(number) * speed / h) / station.inertia;
                let Station { q, target, .. } = station;
                target.iter_mut().zip(q.iter()).for_each(|(target, q)| *target += factor * q);
            }
        }
        let [.., older, last] = &self.state.history;
        for (number, (node, station)) in self.nodes.iter().zip(&mut self.stations).enumerate() {
            let blows =
                wind.map_or(Vector3::zeros(), |wind| rates(number) * Vector3::from(wind.velocity[number]));
            let push = (gravity + blows) / station.inertia;
            let s = node.domain.functions();
            (0..3).for_each(|row| station.target[row * s] += push[row]);
            let (older, last) = (node.part(coordinates(older)), node.part(coordinates(last)));
            for k in 0..node.domain.rank() {
                station.damped[k] = last[k] - further / speed * (last[k] - older[k]);
                let omega = (self.params.stiffness * node.domain.spectrum[k]).sqrt();
                station.damping[k] = 2.0 * self.params.damping * omega * speed / h;
            }
        }
    }

    /// Begins a substep of contact from the end of the last one.
    fn begin_contact(&mut self, h: f64) {
        if self.contact.is_none() {
            return;
        }
        self.show();
        let tree = (self.nodes.as_slice(), self.stations.as_slice());
        let meets = (&self.state.contact, self.colliders.as_slice());
        if let Some(contact) = &mut self.contact {
            contact.begin(tree, self.state.last(), meets, h);
        }
    }

    /// Solves a substep from a frame of the root, which is fixed or the start of a free root, and appends
    /// the solution to the history.
    fn solve(&mut self, start: Frame, progress: &Progress) -> Result<(u32, f64)> {
        let recall = self.params.integrator.recall();
        let inertia = self.params.integrator.acceleration()[0];
        self.x.fill([0.0; 3]);
        for (rows, [factor, _]) in self.state.history.iter().rev().zip(recall) {
            add(&mut self.x[ROOT..], factor / inertia, &rows[PLACE..]);
        }
        self.other[ROOT..].copy_from_slice(&self.state.history[HISTORY - 1][PLACE..]);
        let budget = (self.params.max_iterations, self.params.tolerance);
        let last = frame_of(&self.state.history[HISTORY - 1]);
        let (mut energy, descent, x, other, gradient) = self.split(start);
        // Contact detection needs a start outside of the colliders to know the entry side.
        if energy.enters(x) {
            x.copy_from_slice(other);
            energy.start = if energy.free { last } else { start };
        }
        combine(gradient, x, -1.0, other);
        if dot(gradient, gradient).sqrt() > FAR * energy.unit {
            let [there, here] = [&x[..], other].map(|rows| energy.evaluate(rows, gradient).energy);
            if here < there || there.is_nan() {
                x.copy_from_slice(other);
            }
        }
        descent.memory.clear();
        let outcome = descent.minimise(&mut energy, x, budget, |_, _| progress.proceed())?;
        if !outcome.length.is_finite() {
            let why = "numbers have overflowed; look at what drives the tree".into();
            return Err(Error::Numerical { what: "step", why });
        }
        let root = energy.root(x);
        self.take(&root);
        Ok((outcome.iterations, outcome.length))
    }

    /// Energy and minimiser of a substep from a frame of the root, and rows for coordinates and scratch.
    fn split(&mut self, start: Frame) -> (Incremental<'_>, &mut Descent, &mut Rows, &mut Rows, &mut Rows) {
        let energy = Incremental {
            nodes: &self.nodes,
            stations: &mut self.stations,
            elastic: &mut self.elastic,
            metric: &mut self.metric,
            start,
            free: self.free,
            stiffness: self.params.stiffness,
            rounding: self.rounding,
            unit: self.unit,
            contact: self.contact.as_mut(),
        };
        (energy, &mut self.descent, &mut self.x, &mut self.other, &mut self.gradient)
    }

    /// Appends the solution of a substep to the history.
    fn take(&mut self, root: &Frame) {
        self.state.history.rotate_left(1);
        let newest = &mut self.state.history[HISTORY - 1];
        newest[..PLACE].copy_from_slice(&rows_of(root));
        newest[PLACE..].copy_from_slice(&self.x[ROOT..]);
        self.show();
        if let Some(contact) = &mut self.contact {
            let tree = Standing { nodes: &self.nodes, stations: &mut self.stations, turning: None };
            self.state.contact.last.copy_from_slice(&self.colliders);
            self.state.contact.anchors.clear();
            self.state.contact.anchors.extend_from_slice(contact.settle_anchors(&tree, &self.x));
        }
    }

    /// Places all domains at the last substep.
    fn show(&mut self) {
        let rows = &self.state.history[HISTORY - 1];
        place(&self.nodes, &mut self.stations, frame_of(rows), coordinates(rows));
    }

    /// Elastic energy, J.
    fn elastic_energy(&mut self) -> f64 {
        let mut energy = 0.0;
        for (node, station) in self.nodes.iter().zip(&mut self.stations) {
            energy += station.elastic(node, self.elastic.as_mut_slice(), node.part(self.state.last()));
        }
        self.params.stiffness * energy
    }
}
