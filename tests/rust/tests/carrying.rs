//! Flesh that feels a share of the rig's acceleration, on a rig that turns.

use jounce::Progress;
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::Law;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::{Transform, bar, turn};
use jounce_tests::limb::{Limb, displacement};
use nalgebra::{Rotation3, Vector3};

const AXIS: [f64; 3] = [0.2, -0.5, 1.0];

fn limb(cells: [usize; 3], cell: f64, young: f64) -> Limb {
    Limb::new(bar(cells, cell), Law::Corotated, young)
}

fn params() -> SimulationParams {
    SimulationParams {
        dt: 1.0 / 96.0,
        damping: 0.1,
        max_iterations: 500,
        tolerance: 1e-10,
        ..SimulationParams::default()
    }
}

/// Largest displacement of a vertex.
fn furthest(u: &[f64]) -> f64 {
    u.as_chunks::<3>().0.iter().map(|u| Vector3::from(*u).norm()).fold(0.0, f64::max)
}

/// Displacements of a limb that is pushed once and then swings freely, on a rig at each of some angles.
fn swings(integrator: Integrator, angles: &[f64]) -> Vec<Vec<f64>> {
    let limb = limb([10, 2, 2], 0.1, 2e4);
    let model = Model::FullSpace(limb.full().into());
    let params = SimulationParams { integrator, strength: 0.0, ..params() };
    let mut sim = Simulation::new(model, params).unwrap();
    let of_axis = |angle: f64| Rotation3::from_scaled_axis(Vector3::from(AXIS).normalize() * angle);
    let step = |(number, &angle): (usize, &f64)| {
        let pose = [turn(AXIS, angle, [0.0; 3], [0.0; 3]); 2];
        let push = |mass: &f64| of_axis(angle) * Vector3::new(3.0, 20.0, 10.0) * *mass;
        let force: Vec<f64> = limb.mass.iter().flat_map(|mass| <[f64; 3]>::from(push(mass))).collect();
        let force = (1..6).contains(&number).then_some(force.as_slice());
        let input = StepInput { pose: Some(&pose), force, ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        let back = of_axis(-angle);
        let places = displacement(&sim);
        let turned = places.as_chunks::<3>().0.iter().map(|u| <[f64; 3]>::from(back * Vector3::from(*u)));
        turned.flatten().collect()
    };
    angles.iter().enumerate().map(step).collect()
}

#[test]
fn without_the_rigs_acceleration_flesh_swings_on_a_turning_rig_as_on_a_still_one() {
    let angles: Vec<f64> = (0..40).map(|step| 2.0 * (0.2 * f64::from(step)).sin()).collect();
    for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
        let still = swings(integrator, &[0.0; 40]);
        let turning = swings(integrator, &angles);
        let most = still.iter().map(|u| furthest(u)).fold(0.0, f64::max);
        assert!(most > 0.02, "{most}");
        for (step, (still, turning)) in still.iter().zip(&turning).enumerate() {
            let apart: Vec<f64> = still.iter().zip(turning).map(|(a, b)| a - b).collect();
            assert!(furthest(&apart) < 1e-5 * most, "{integrator:?} at {step}: {}", furthest(&apart) / most);
        }
    }
}

/// Two swings a second, by a radian, in which limp flesh would whirl ever farther for its inertia alone.
#[test]
fn limp_flesh_on_a_turning_rig_moves_less_with_less_of_its_acceleration() {
    let pose = |step: u32| -> [Transform; 2] {
        let angle = (std::f64::consts::TAU * 2.0 * f64::from(step) / 96.0).sin();
        [turn([0.0, 0.0, 1.0], angle, [0.0; 3], [0.0; 3]); 2]
    };
    let moved = |strength: f64| {
        let params = SimulationParams { strength, ..params() };
        let model = Model::FullSpace(limb([20, 1, 1], 0.05, 1e6).full().into());
        let mut sim = Simulation::new(model, params).unwrap();
        let step = |number| {
            sim.step(Some(&pose(number))).unwrap();
            furthest(&displacement(&sim))
        };
        (0..240).map(step).fold(0.0, f64::max)
    };
    let [little, more] = [5e-4, 2e-3].map(moved);
    assert!(little < 0.06 && little < more && more < 4.5 * little, "{little}, {more}");
}

#[test]
fn a_map_of_strength_carries_each_vertex_as_the_strength_of_all_does() {
    let limb = limb([10, 2, 2], 0.1, 2e4);
    let moved = |strength: f64, map: f64| {
        let map = vec![map; limb.mass.len()];
        let restraint = Restraint { pinned: Some(&limb.pinned), ..Restraint::default() };
        let extras =
            FullSpaceExtras { rig: Some(&limb.rig), strength: Some(&map), ..FullSpaceExtras::default() };
        let model = FullSpaceModel::of(&limb.mesh, &limb.material, &restraint, &extras, &Progress::default());
        let params = SimulationParams { strength, ..params() };
        let mut sim = Simulation::new(Model::FullSpace(model.unwrap().into()), params).unwrap();
        // The bones turn by different angles.
        let pose =
            |step: u32| [0.02, 0.05].map(|turns| turn(AXIS, turns * f64::from(step), [0.0; 3], [0.0; 3]));
        for step in 0..12 {
            sim.step(Some(&pose(step))).unwrap();
        }
        displacement(&sim)
    };
    for (strength, map) in [(0.5, 0.25), (2.0, 0.25), (2.0, 1.0)] {
        let [parts, whole] = [moved(strength, map), moved(strength * map, 1.0)];
        let apart: Vec<f64> = parts.iter().zip(&whole).map(|(a, b)| a - b).collect();
        assert!(furthest(&whole) > 1e-3 && furthest(&apart) < 1e-6 * furthest(&whole), "{strength}, {map}");
    }
}
