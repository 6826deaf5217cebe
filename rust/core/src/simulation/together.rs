//! Common steps of several bodies with contact between them; without contact each steps as if alone.

use crate::inputs::settings::{StepInput, StepReport};
use crate::model::projective::joint::{Joined, solve_joint};
use crate::model::projective::step::ProjectiveMethod;
use crate::parallel::*;
use crate::simulation::Simulation;
use crate::stepping::method::Method;
use crate::{Error, Progress, Result};

/// One body in a common step.
pub struct Participant<'a> {
    /// The body.
    pub simulation: &'a mut Simulation,
    /// Input of its step, as in [`Simulation::step_with`].
    pub input: StepInput<'a>,
}

/// A body in a common step, with its index in the list of all bodies.
struct Numbered<'a, 'b> {
    number: usize,
    participant: &'a mut Participant<'b>,
    report: StepReport,
}

/// Steps several bodies in parallel; returns a report for each, in order.
///
/// Bodies with a [shape](Simulation::touching) touch each other. Bodies that may come near each other in a
/// substep are solved as one system, with opposite forces; all others have the same bits as alone. The bits
/// are the same for any number of threads.
///
/// # Errors
/// As [`Simulation::step_with`], for the first failing body; bodies without a shape come first.
/// [`Error::Unsupported`] for bodies with shapes that differ in time step or substeps. Then no body has
/// moved.
pub fn step_together(participants: &mut [Participant<'_>]) -> Result<Vec<StepReport>> {
    let (mut touching, mut alone) = (Vec::new(), Vec::new());
    for (number, participant) in participants.iter_mut().enumerate() {
        let body = Numbered { number, participant, report: StepReport::default() };
        if body.participant.simulation.has_shape() { touching.push(body) } else { alone.push(body) }
    }
    let outcome = check(&touching).and_then(|()| each_alone(&mut alone));
    let outcome = outcome.and_then(|()| {
        among_each_other(&mut touching).inspect_err(|_| alone.iter_mut().for_each(Numbered::undo))
    });
    outcome.map(|()| {
        touching.extend(alone);
        touching.sort_by_key(|body| body.number);
        touching.iter().map(|body| body.report).collect()
    })
}

impl Numbered<'_, '_> {
    fn undo(&mut self) {
        self.participant.simulation.undo();
    }
}

/// Checks that all bodies have the same substeps.
fn check(bodies: &[Numbered<'_, '_>]) -> Result<()> {
    let timing = |body: &Numbered<'_, '_>| {
        let params = body.participant.simulation.params();
        (params.dt, params.substeps)
    };
    if bodies.windows(2).any(|pair| timing(&pair[0]) != timing(&pair[1])) {
        let why = "bodies that touch each other need the same dt and the same substeps; set them alike";
        return Err(Error::Unsupported { what: "substeps", why });
    }
    Ok(())
}

/// Results for all items, computed in parallel, in order.
fn each<T: Send, U: Send>(all: &mut [T], act: impl Fn(&mut T) -> U + Send + Sync) -> Vec<U> {
    all.par_iter_mut().with_max_len(1).map(act).collect()
}

fn each_alone(bodies: &mut [Numbered<'_, '_>]) -> Result<()> {
    let outcomes: Vec<Result<()>> = each(bodies, |body| {
        let Participant { simulation, input } = &mut *body.participant;
        simulation.step_with(input, &Progress::default()).map(|report| body.report = report)
    });
    let Some(error) = outcomes.iter().find_map(|outcome| outcome.clone().err()) else { return Ok(()) };
    let stepped = bodies.iter_mut().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
    stepped.for_each(|(body, _)| body.undo());
    Err(error)
}

fn among_each_other(bodies: &mut [Numbered<'_, '_>]) -> Result<()> {
    for begun in 0..bodies.len() {
        let Participant { simulation, input } = &mut *bodies[begun].participant;
        if let Err(error) = simulation.stepper.begin(input) {
            bodies[..begun].iter_mut().for_each(Numbered::undo);
            return Err(error);
        }
    }
    let substeps = bodies.first().map_or(0, |body| body.participant.simulation.params().substeps);
    let steps = (1..=substeps).try_for_each(|substep| advance(bodies, substep));
    let ended = steps.and_then(|()| {
        bodies.iter_mut().try_for_each(|body| {
            let Simulation { stepper, params, .. } = &mut *body.participant.simulation;
            stepper.end(body.report, params).map(|report| body.report = report)
        })
    });
    ended.inspect_err(|_| bodies.iter_mut().for_each(Numbered::undo))
}

/// One substep of all bodies.
fn advance(bodies: &mut [Numbered<'_, '_>], substep: u32) -> Result<()> {
    let prepared = each(bodies, |body| {
        let Simulation { stepper, params, .. } = &mut *body.participant.simulation;
        stepper.prepare(substep, params)
    });
    // The first error in order, for any number of threads.
    prepared.into_iter().collect::<Result<()>>()?;
    let islands = islands(bodies);
    let mut groups: Vec<Vec<&mut Numbered<'_, '_>>> = (0..bodies.len()).map(|_| Vec::new()).collect();
    bodies.iter_mut().zip(islands).for_each(|(body, island)| groups[island].push(body));
    each(&mut groups, |group| solve(group)).into_iter().collect::<Result<()>>()?;
    bodies.iter_mut().for_each(|body| body.participant.simulation.stepper.take());
    Ok(())
}

/// The body of handles with a shape; `None` for others.
fn touching_body(method: &mut dyn Method) -> Option<&mut ProjectiveMethod> {
    method.touching().and_then(|body| body.downcast_mut())
}

/// Connected component of each body in the graph of possible contact, named by its first body.
fn islands(bodies: &mut [Numbered<'_, '_>]) -> Vec<usize> {
    let reaches = each(bodies, |body| {
        let (method, state) = body.participant.simulation.stepper.parts();
        touching_body(method).and_then(|body| body.reach(state))
    });
    let meet = |a: usize, b: usize| match (&reaches[a], &reaches[b]) {
        (Some([low, high]), Some([other_low, other_high])) => {
            (0..3).all(|c| low[c] <= other_high[c] && high[c] >= other_low[c])
        }
        _ => false,
    };
    let mut islands: Vec<usize> = (0..bodies.len()).collect();
    for b in 0..bodies.len() {
        for a in (0..b).filter(|&a| meet(a, b)) {
            let (from, to) = (islands[a].max(islands[b]), islands[a].min(islands[b]));
            islands.iter_mut().filter(|island| **island == from).for_each(|island| *island = to);
        }
    }
    islands
}

/// Solves a substep for bodies in possible contact.
fn solve(group: &mut [&mut Numbered<'_, '_>]) -> Result<()> {
    if let [body] = group {
        let Simulation { stepper, params, .. } = &mut *body.participant.simulation;
        let (method, state) = stepper.parts();
        return method.solve(state, params, &Progress::default()).map(|found| body.report.add(found));
    }
    let params = group.iter().map(|body| body.participant.simulation.params());
    let budget = params.fold((0, f64::INFINITY), |(most, least), params| {
        (params.max_iterations.max(most), params.tolerance.min(least))
    });
    let mut joined: Vec<Joined<'_>> = group
        .iter_mut()
        .filter_map(|body| {
            let number = body.number as u32;
            let (method, state) = body.participant.simulation.stepper.parts();
            touching_body(method).map(|body| Joined { body, state, number })
        })
        .collect();
    let found = solve_joint(&mut joined, budget)?;
    group.iter_mut().for_each(|body| body.report.add(found));
    Ok(())
}
