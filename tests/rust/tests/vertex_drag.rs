//! Drag in the full space: forces of a medium on moving vertices.

use jounce::Progress;
use jounce::inputs::Drag;
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::bar;

const DT: f64 = 1.0 / 24.0;
const G: [f64; 3] = [2.0, 0.0, -9.81];

struct Body {
    mesh: TetMesh,
    mass: Vec<f64>,
    model: Model,
}

impl Body {
    /// A bar, fixed at one end or free.
    fn new(held: bool) -> Self {
        let mesh = bar([6, 2, 2], 0.1);
        let number = Field::Uniform;
        let material = Material::new(Law::NeoHookean, number(4e4), number(0.3), number(1000.0)).unwrap();
        let pinned: Vec<bool> = mesh.vertices().iter().map(|v| held && v[0] == 0.0).collect();
        let restraint = Restraint { pinned: held.then_some(&pinned), ..Restraint::default() };
        let extras = FullSpaceExtras::default();
        let model = FullSpaceModel::of(&mesh, &material, &restraint, &extras, &Progress::default()).unwrap();
        Self { mass: lumped_mass(&mesh, &material), model: Model::FullSpace(model.into()), mesh }
    }

    /// Coefficients proportional to the vertices' masses.
    fn drag(&self, linear: f64, quadratic: f64, medium: [f64; 3]) -> Drag {
        let of_mass = |share: f64| -> Vec<f64> { self.mass.iter().map(|m| share * m).collect() };
        let velocity = vec![medium; self.mass.len()];
        Drag::at_vertices(&of_mass(linear), Some(&of_mass(quadratic)), Some(velocity.as_flattened())).unwrap()
    }

    fn simulation(&self, params: SimulationParams) -> Simulation {
        Simulation::new(self.model.clone(), params).unwrap()
    }
}

fn params() -> SimulationParams {
    SimulationParams {
        gravity: G,
        dt: DT,
        tolerance: 1e-11,
        max_iterations: 200,
        ..SimulationParams::default()
    }
}

fn step(sim: &mut Simulation, force: Option<&[f64]>, drag: Option<&Drag>) -> Vec<f64> {
    sim.step_with(&StepInput { force, drag, ..StepInput::default() }, &Progress::default()).unwrap();
    sim.coefficients().to_vec()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs())) / size
}

#[test]
fn a_step_ends_where_the_force_of_its_end_leads() {
    let body = Body::new(true);
    let medium = [0.5, 0.0, 1.0];
    for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
        let params = SimulationParams { integrator, ..params() };
        for (linear, quadratic) in [(3.0, 0.0), (200.0, 0.0), (0.0, 4.0), (5.0, 50.0)] {
            let drag = body.drag(linear, quadratic, medium);
            let (mut sim, mut places) = (body.simulation(params), vec![vec![0.0; 3 * body.mass.len()]; 3]);
            for frame in 0..6 {
                let before = sim.save_state();
                places.rotate_left(1);
                places[2] = step(&mut sim, None, Some(&drag));
                if frame < 3 {
                    continue;
                }
                let factors = match integrator {
                    Integrator::BackwardEuler => [1.0, 0.0],
                    _ => [1.5, -0.5],
                };
                let force = |i: usize| -> [f64; 3] {
                    let w: [f64; 3] = std::array::from_fn(|c| {
                        let at = |back: usize| places[2 - back][3 * i + c];
                        (factors[0] * (at(0) - at(1)) + factors[1] * (at(1) - at(2))) / DT - medium[c]
                    });
                    let speed = w.iter().map(|w| w * w).sum::<f64>().sqrt();
                    w.map(|w| -body.mass[i] * (linear + quadratic * speed) * w)
                };
                let force: Vec<f64> = (0..body.mass.len()).flat_map(force).collect();
                let mut given = body.simulation(params);
                given.restore_state(&before).unwrap();
                let gap = apart(&places[2], &step(&mut given, Some(&force), None));
                assert!(gap < 1e-6, "{integrator:?} {linear} {quadratic} {frame}: {gap}");
            }
        }
    }
}

/// `v' = (v + h g) / (1 + h c)` with backward Euler, and the speed of a falling body in a moving medium.
#[test]
fn a_loose_body_falls_as_a_point_does() {
    let body = Body::new(false);
    for linear in [0.5, 20.0, 1e9] {
        let drag = body.drag(linear, 0.0, [0.0; 3]);
        let (mut sim, mut speed, mut fallen) = (body.simulation(params()), 0.0, 0.0);
        // A body that follows the medium does so to a millionth per substep.
        let felt = linear.min(1e6 / DT);
        for frame in 0..30 {
            let u = step(&mut sim, None, Some(&drag));
            speed = (speed + DT * G[2]) / (1.0 + DT * felt);
            fallen += DT * speed;
            let gap = (u[2] - fallen).abs();
            // A share of the distance, plus the tolerance of a step.
            assert!(gap < 1e-6 * fallen.abs() + 1e-11, "{linear} {frame}: {} {fallen}", u[2]);
        }
    }
    let drag = body.drag(0.0, 3.0, [0.0; 3]);
    let (mut sim, mut last) = (body.simulation(params()), vec![0.0; 3 * body.mass.len()]);
    let mut speeds = [0.0; 3];
    for _ in 0..60 {
        let now = step(&mut sim, None, Some(&drag));
        speeds = std::array::from_fn(|c| (now[c] - last[c]) / DT);
        last = now;
    }
    let speed = speeds.iter().map(|v| v * v).sum::<f64>().sqrt();
    let gravity = G.iter().map(|g| g * g).sum::<f64>().sqrt();
    assert!((speed - (gravity / 3.0).sqrt()).abs() < 1e-6, "{speed}");
}

#[test]
fn a_body_settles_in_the_wind_as_under_its_force() {
    let (body, wind) = (Body::new(true), [0.0, 3.0, 0.0]);
    let drag = body.drag(2.0, 0.5, wind);
    let mut blown = body.simulation(params());
    let input = StepInput { drag: Some(&drag), ..StepInput::default() };
    blown.settle(&input, 1000, &Progress::default()).unwrap();
    let force: Vec<f64> = body.mass.iter().flat_map(|m| [0.0, m * (2.0 + 0.5 * 3.0) * 3.0, 0.0]).collect();
    let mut pushed = body.simulation(params());
    pushed
        .settle(&StepInput { force: Some(&force), ..StepInput::default() }, 1000, &Progress::default())
        .unwrap();
    assert!(apart(pushed.coefficients(), blown.coefficients()) < 1e-8);
}

#[test]
fn drag_of_nothing_changes_no_bit_and_what_does_not_fit_is_refused() {
    let body = Body::new(true);
    let none = body.drag(0.0, 0.0, [0.0; 3]);
    let (mut with, mut without) = (body.simulation(params()), body.simulation(params()));
    for _ in 0..5 {
        assert_eq!(step(&mut with, None, Some(&none)), step(&mut without, None, None));
    }
    let few = Drag::at_vertices(&[1.0; 4], None, None).unwrap();
    let before = with.save_state();
    let refused =
        with.step_with(&StepInput { drag: Some(&few), ..StepInput::default() }, &Progress::default());
    let n = body.mesh.vertices().len();
    let sentence = format!("drag: expected shape drag at {n} vertices, got drag at 4 vertices");
    assert_eq!(refused.unwrap_err().to_string(), sentence);
    assert_eq!(with.save_state(), before);
    let modes = jounce_tests::bodies::Body::bar().model();
    let mut sim = Simulation::new(modes.clone(), params()).unwrap();
    let at_parts = Drag::new(modes.force_samples(3).unwrap().into(), &[1.0; 3], None, None).unwrap();
    let pose = [jounce_tests::bodies::REST; 2];
    let input = |drag| StepInput { pose: Some(&pose), drag: Some(drag), ..StepInput::default() };
    let of_vertices = sim.step_with(&input(&few), &Progress::default()).unwrap_err();
    assert_eq!(
        of_vertices.to_string(),
        "samples: expected shape samples of this model, got samples of another"
    );
    sim.step_with(&input(&at_parts), &Progress::default()).unwrap();
    assert!(Drag::at_vertices(&[-1.0], None, None).is_err());
}
