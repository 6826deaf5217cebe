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

/// A body in contact, with its index in the list of all bodies.
struct Guest<'a, 'b> {
    number: usize,
    turn: &'a mut Participant<'b>,
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
pub fn step_together(turns: &mut [Participant<'_>]) -> Result<Vec<StepReport>> {
    let (mut guests, mut alone) = (Vec::new(), Vec::new());
    for (number, turn) in turns.iter_mut().enumerate() {
        let guest = Guest { number, turn, report: StepReport::default() };
        if guest.turn.simulation.has_shape() { guests.push(guest) } else { alone.push(guest) }
    }
    let outcome = check(&guests).and_then(|()| each_alone(&mut alone));
    let outcome = outcome
        .and_then(|()| among_each_other(&mut guests).inspect_err(|_| alone.iter_mut().for_each(Guest::undo)));
    outcome.map(|()| {
        guests.extend(alone);
        guests.sort_by_key(|guest| guest.number);
        guests.iter().map(|guest| guest.report).collect()
    })
}

impl Guest<'_, '_> {
    fn undo(&mut self) {
        self.turn.simulation.undo();
    }
}

/// Checks that all bodies have the same substeps.
fn check(guests: &[Guest<'_, '_>]) -> Result<()> {
    let timing = |guest: &Guest<'_, '_>| {
        let params = guest.turn.simulation.params();
        (params.dt, params.substeps)
    };
    if guests.windows(2).any(|pair| timing(&pair[0]) != timing(&pair[1])) {
        let why = "bodies that touch each other need the same dt and the same substeps; set them alike";
        return Err(Error::Unsupported { what: "substeps", why });
    }
    Ok(())
}

/// Results for all items, computed in parallel, in order.
fn each<T: Send, U: Send>(all: &mut [T], act: impl Fn(&mut T) -> U + Send + Sync) -> Vec<U> {
    all.par_iter_mut().with_max_len(1).map(act).collect()
}

fn each_alone(guests: &mut [Guest<'_, '_>]) -> Result<()> {
    let outcomes: Vec<Result<()>> = each(guests, |guest| {
        let Participant { simulation, input } = &mut *guest.turn;
        simulation.step_with(input, &Progress::default()).map(|report| guest.report = report)
    });
    let Some(error) = outcomes.iter().find_map(|outcome| outcome.clone().err()) else { return Ok(()) };
    let stepped = guests.iter_mut().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
    stepped.for_each(|(guest, _)| guest.undo());
    Err(error)
}

fn among_each_other(guests: &mut [Guest<'_, '_>]) -> Result<()> {
    for begun in 0..guests.len() {
        let Participant { simulation, input } = &mut *guests[begun].turn;
        if let Err(error) = simulation.stepper.begin(input) {
            guests[..begun].iter_mut().for_each(Guest::undo);
            return Err(error);
        }
    }
    let substeps = guests.first().map_or(0, |guest| guest.turn.simulation.params().substeps);
    let steps = (1..=substeps).try_for_each(|substep| advance(guests, substep));
    let ended = steps.and_then(|()| {
        guests.iter_mut().try_for_each(|guest| {
            let Simulation { stepper, params, .. } = &mut *guest.turn.simulation;
            stepper.end(guest.report, params).map(|report| guest.report = report)
        })
    });
    ended.inspect_err(|_| guests.iter_mut().for_each(Guest::undo))
}

/// One substep of all bodies.
fn advance(guests: &mut [Guest<'_, '_>], substep: u32) -> Result<()> {
    let prepared = each(guests, |guest| {
        let Simulation { stepper, params, .. } = &mut *guest.turn.simulation;
        stepper.prepare(substep, params)
    });
    // The first error in order, for any number of threads.
    prepared.into_iter().collect::<Result<()>>()?;
    let islands = islands(guests);
    let mut groups: Vec<Vec<&mut Guest<'_, '_>>> = (0..guests.len()).map(|_| Vec::new()).collect();
    guests.iter_mut().zip(islands).for_each(|(guest, island)| groups[island].push(guest));
    each(&mut groups, |group| find(group)).into_iter().collect::<Result<()>>()?;
    guests.iter_mut().for_each(|guest| guest.turn.simulation.stepper.take());
    Ok(())
}

/// The body of handles with a shape; `None` for others.
fn participant(method: &mut dyn Method) -> Option<&mut ProjectiveMethod> {
    method.touching().and_then(|body| body.downcast_mut())
}

/// Connected component of each body in the graph of possible contact, named by its first body.
fn islands(guests: &mut [Guest<'_, '_>]) -> Vec<usize> {
    let reaches = each(guests, |guest| {
        let (method, state) = guest.turn.simulation.stepper.parts();
        participant(method).and_then(|body| body.reach(state))
    });
    let meet = |a: usize, b: usize| match (&reaches[a], &reaches[b]) {
        (Some([low, high]), Some([other_low, other_high])) => {
            (0..3).all(|c| low[c] <= other_high[c] && high[c] >= other_low[c])
        }
        _ => false,
    };
    let mut islands: Vec<usize> = (0..guests.len()).collect();
    for b in 0..guests.len() {
        for a in (0..b).filter(|&a| meet(a, b)) {
            let (from, to) = (islands[a].max(islands[b]), islands[a].min(islands[b]));
            islands.iter_mut().filter(|island| **island == from).for_each(|island| *island = to);
        }
    }
    islands
}

/// Solves a substep for bodies in possible contact.
fn find(group: &mut [&mut Guest<'_, '_>]) -> Result<()> {
    if let [guest] = group {
        let Simulation { stepper, params, .. } = &mut *guest.turn.simulation;
        let (method, state) = stepper.parts();
        return method.solve(state, params, &Progress::default()).map(|found| guest.report.add(found));
    }
    let params = group.iter().map(|guest| guest.turn.simulation.params());
    let budget = params.fold((0, f64::INFINITY), |(most, least), params| {
        (params.max_iterations.max(most), params.tolerance.min(least))
    });
    let mut joined: Vec<Joined<'_>> = group
        .iter_mut()
        .filter_map(|guest| {
            let number = guest.number as u32;
            let (method, state) = guest.turn.simulation.stepper.parts();
            participant(method).map(|body| Joined { body, state, number })
        })
        .collect();
    let found = solve_joint(&mut joined, budget)?;
    group.iter_mut().for_each(|guest| guest.report.add(found));
    Ok(())
}
