//! Drag in a reduced basis: the drag of single vertices, gathered in parts.

use jounce::inputs::Drag;
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::model::Model;
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::subspace::Basis;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Transform, bar, swing, waves};
use jounce_tests::limb::{Limb, displacement};

fn exact() -> SimulationParams {
    SimulationParams { max_iterations: 500, tolerance: 1e-11, ..SimulationParams::default() }
}

fn flesh() -> Limb {
    Limb::new(bar([6, 2, 2], 0.1), Law::NeoHookean, 2e4)
}

/// Coefficients proportional to the vertices' masses, in a wind that varies in space if it `turns`.
fn drag(flesh: &Limb, linear: f64, quadratic: f64, turns: bool) -> Drag {
    let of_mass = |share: f64| -> Vec<f64> { flesh.mass.iter().map(|m| share * m).collect() };
    let wind = |x: &[f64; 3]| [0.5, if turns { 3.0 * x[0] } else { 0.0 }, 1.0];
    let velocity: Vec<f64> = flesh.mesh.vertices().iter().flat_map(wind).collect();
    Drag::at_vertices(&of_mass(linear), Some(&of_mass(quadratic)), Some(&velocity)).unwrap()
}

fn played(model: &Model, params: SimulationParams, drag: Option<&Drag>) -> Vec<f64> {
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    let mut found = Vec::new();
    for frame in 0..16 {
        let pose: [Transform; 2] = swing(f64::from(frame) / 24.0);
        let input = StepInput { pose: Some(&pose), drag, ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        found.extend(displacement(&sim));
    }
    found
}

#[test]
fn all_displacements_feel_what_the_full_space_does() {
    let flesh = flesh();
    let full = flesh.full();
    let reduced = Model::Reduced(flesh.reduced(&flesh.everything(), Some(full.frequency())).into());
    let full = Model::FullSpace(full.into());
    let other = SimulationParams { integrator: Integrator::Bdf2, substeps: 2, strength: 1.4, ..exact() };
    for (params, coefficients) in [(exact(), [20.0, 0.0]), (other, [5.0, 8.0])] {
        let drag = drag(&flesh, coefficients[0], coefficients[1], true);
        let (free, right) = (played(&full, params, None), played(&full, params, Some(&drag)));
        let (moved, error) =
            (flesh.error(&free, &right), flesh.error(&played(&reduced, params, Some(&drag)), &right));
        println!("{coefficients:?}: {moved} {error}");
        assert!(moved > 0.3 && error < 0.02, "{coefficients:?}: {moved} {error}");
    }
}

/// A body with translations only, without a rig: `v' = (v + h g + h c u) / (1 + h c)` with backward Euler.
#[test]
fn a_loose_body_falls_as_a_point_does() {
    let mesh = bar([6, 2, 2], 0.1);
    let number = Field::Uniform;
    let material = Material::new(Law::Corotated, number(1e5), number(0.3), number(1000.0)).unwrap();
    let n = mesh.vertices().len();
    let shapes: Vec<f64> =
        (0..3).flat_map(|axis| (0..3 * n).map(move |i| f64::from(u8::from(i % 3 == axis)))).collect();
    let basis = Basis::from_shapes(&shapes, 3).unwrap();
    let model =
        ReducedModel::new(&mesh, &material, &basis, &ReducedExtras::default(), &Progress::default()).unwrap();
    let model = Model::Reduced(model.into());
    let mass = lumped_mass(&mesh, &material);
    let params = SimulationParams { gravity: [0.0, 0.0, -9.81], dt: 1.0 / 24.0, ..exact() };
    for linear in [0.5, 20.0, 1e9] {
        let coefficients: Vec<f64> = mass.iter().map(|m| linear * m).collect();
        let drag = Drag::at_vertices(&coefficients, None, None).unwrap();
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let (mut speed, mut fallen) = (0.0, 0.0);
        // A body that follows the medium does so to a millionth per substep.
        let felt = linear.min(1e6 / params.dt);
        for _ in 0..30 {
            sim.step_with(&StepInput { drag: Some(&drag), ..StepInput::default() }, &Progress::default())
                .unwrap();
            speed = (speed + params.dt * params.gravity[2]) / (1.0 + params.dt * felt);
            fallen += params.dt * speed;
            let gap = (displacement(&sim)[2] - fallen).abs();
            // Displacements are in single precision.
            assert!(gap < 1e-6 * fallen.abs() + 1e-11, "{linear}: {gap} {fallen}");
        }
    }
}

#[test]
fn a_body_settles_in_the_wind_as_under_its_force() {
    let flesh = flesh();
    let model = Model::Reduced(flesh.reduced(&waves(&flesh.mesh, 14), None).into());
    let drag = drag(&flesh, 2.0, 0.5, false);
    let settled = |input: &StepInput<'_>| {
        let mut sim = Simulation::new(model.clone(), exact()).unwrap();
        sim.settle(input, 1000, &Progress::default()).unwrap();
        displacement(&sim)
    };
    let pose: [Transform; 2] = swing(0.0);
    let wind = [0.5, 0.0, 1.0_f64];
    let speed = wind.iter().map(|w| w * w).sum::<f64>().sqrt();
    let push: Vec<f64> = flesh.mass.iter().flat_map(|m| wind.map(|w| m * (2.0 + 0.5 * speed) * w)).collect();
    let Model::Reduced(reduced) = &model else { unreachable!() };
    let size = push.len();
    let work = |shape: &[f64]| shape.iter().zip(&push).map(|(x, f)| x * f).sum::<f64>();
    let force: Vec<f64> = reduced.basis().shapes().chunks(size).map(work).collect();
    let right = settled(&StepInput { pose: Some(&pose), force: Some(&force), ..StepInput::default() });
    let found = settled(&StepInput { pose: Some(&pose), drag: Some(&drag), ..StepInput::default() });
    assert!(flesh.error(&found, &right) < 1e-5, "{}", flesh.error(&found, &right));
}

#[test]
fn drag_of_nothing_changes_no_bit_and_what_does_not_fit_is_refused() {
    let flesh = flesh();
    let model = Model::Reduced(flesh.reduced(&waves(&flesh.mesh, 14), None).into());
    assert_eq!(played(&model, exact(), Some(&drag(&flesh, 0.0, 0.0, true))), played(&model, exact(), None));
    let few = Drag::at_vertices(&[1.0; 4], None, None).unwrap();
    let mut sim = Simulation::new(model.clone(), exact()).unwrap();
    let pose: [Transform; 2] = swing(0.1);
    sim.step_with(&StepInput { pose: Some(&pose), ..StepInput::default() }, &Progress::default()).unwrap();
    let before = sim.save_state();
    let input = StepInput { pose: Some(&pose), drag: Some(&few), ..StepInput::default() };
    let refused = sim.step_with(&input, &Progress::default()).unwrap_err();
    assert!(matches!(refused, Error::Shape { what: "drag", .. }), "{refused}");
    assert_eq!(sim.save_state(), before);
}

#[test]
fn violent_drag_is_finite_and_takes_energy() {
    let flesh = flesh();
    let model = Model::Reduced(flesh.reduced(&waves(&flesh.mesh, 14), None).into());
    for (linear, quadratic) in [(2.0, 0.0), (1e12, 0.0), (0.0, 1.0), (1e290, 1e290)] {
        let still: Vec<f64> = flesh.mass.iter().map(|m| linear * m).collect();
        let squared: Vec<f64> = flesh.mass.iter().map(|m| quadratic * m).collect();
        let drag = Drag::at_vertices(&still, Some(&squared), None).unwrap();
        let params = SimulationParams { damping: 0.0, ..exact() };
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let mut largest = [f64::INFINITY; 2];
        for frame in 0..72 {
            // A blow, after which the pose is held.
            let pose: [Transform; 2] = swing(if frame < 6 { f64::from(frame % 2) * 0.2 } else { 0.0 });
            let input = StepInput { pose: Some(&pose), drag: Some(&drag), ..StepInput::default() };
            sim.step_with(&input, &Progress::default()).unwrap();
            let most = displacement(&sim).iter().fold(0.0_f64, |most, u| most.max(u.abs()));
            assert!(most.is_finite());
            if frame >= 24 {
                let span = usize::from(frame >= 48);
                largest[span] = if largest[span].is_finite() { largest[span].max(most) } else { most };
            }
        }
        assert!(largest[1] <= largest[0] * (1.0 + 1e-9), "{linear} {quadratic}: {largest:?}");
    }
}
