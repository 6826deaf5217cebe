//! `step_together`: several simulations in one step, which touch each other.

use jounce::simulation::{self, Participant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::run;
use crate::forces::Drag;
use crate::simulation::Simulation;
use crate::step_report::StepReport;

/// Steps several simulations at once, in parallel; returns a report for each, in order.
///
/// Bodies with a `shape` touch each other: contact between them is detected once a substep, with
/// opposite forces on both. All others step exactly as they would alone. The states contain sticking
/// contacts, which refer to the other bodies by list position: pass the bodies in the same order each
/// step.
///
/// Parameters
/// ----------
/// simulations : sequence of Simulation
///     Simulations of any models, without duplicates.
/// poses : sequence of arrays
///     Pose of each body, as in `Simulation.step`, or None.
/// forces : sequence of arrays, optional
///     Force on each body, as in `Simulation.step`, or None; without the list, no body has any.
/// offsets : sequence of arrays, optional
///     Offsets of each body, as in `Simulation.step`, or None; without the list, no body has any.
/// drags : sequence of Drag, optional
///     Drag of each body, as in `Simulation.step`, or None; without the list, no body has any.
/// colliders : sequence of arrays, optional
///     Places of each body's colliders, as in `Simulation.step`, or None; without the list, all stay.
///
/// Returns
/// -------
/// list of StepReport
///     A report for each simulation, in order.
///
/// Raises
/// ------
/// ValueError
///     As `Simulation.step` does, for the first failing body (bodies without a shape come first),
///     and for shapes with different dt or substeps; then no body has moved.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
/// >>> bodies = [jounce.Simulation(model, gravity=(0, 0, -9.81)) for body in range(2)]
/// >>> reports = jounce.step_together(bodies, [None, None])
/// >>> len(reports)
/// 2
#[pyfunction]
#[pyo3(signature = (simulations, poses, forces=None, offsets=None, drags=None, colliders=None))]
pub fn step_together(
    py: Python<'_>,
    simulations: Vec<Bound<'_, Simulation>>,
    poses: Vec<Option<Bound<'_, PyAny>>>,
    forces: Option<Vec<Option<Bound<'_, PyAny>>>>,
    offsets: Option<Vec<Option<Bound<'_, PyAny>>>>,
    drags: Option<Vec<Option<Bound<'_, Drag>>>>,
    colliders: Option<Vec<Option<Bound<'_, PyAny>>>>,
) -> PyResult<Vec<StepReport>> {
    let count = simulations.len();
    let none = || (0..count).map(|_| None).collect();
    let (forces, offsets) = (forces.unwrap_or_else(none), offsets.unwrap_or_else(none));
    let drags = drags.unwrap_or_else(|| (0..count).map(|_| None).collect());
    let colliders = colliders.unwrap_or_else(none);
    let lengths = [poses.len(), forces.len(), offsets.len(), drags.len(), colliders.len()];
    for (what, got) in ["poses", "forces", "offsets", "drags", "colliders"].into_iter().zip(lengths) {
        if got != count {
            let text = format!("{what}: expected one for each of {count} simulations, got {got}");
            return Err(PyValueError::new_err(text));
        }
    }
    let mut bodies = Vec::with_capacity(count);
    for simulation in &simulations {
        bodies.push(
            simulation
                .get()
                .lock()
                .map_err(|_| PyValueError::new_err("simulations: one is in use, or there twice"))?,
        );
    }
    let mut inputs = Vec::with_capacity(count);
    for (i, simulation) in simulations.iter().enumerate() {
        let (pose, force, offsets) = (poses[i].as_ref(), forces[i].as_ref(), offsets[i].as_ref());
        let (drag, colliders) = (drags[i].as_ref(), colliders[i].as_ref());
        inputs.push(simulation.get().arrays(pose, force, offsets, drag, colliders)?);
    }
    let mut turns: Vec<Participant<'_>> = bodies
        .iter_mut()
        .zip(&inputs)
        .map(|(body, arrays)| Participant { simulation: body, input: arrays.input() })
        .collect();
    let reports = run(py, || simulation::step_together(&mut turns))?;
    Ok(reports.into_iter().map(StepReport::from).collect())
}
