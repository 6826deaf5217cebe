//! Prints a digest of every kind of motion and model, one a line: two versions that print the same give the
//! same bits. `cargo x bits` compares the working tree with a commit.

use std::sync::Arc;

use jounce::body::{Body as Character, BodyParams};
use jounce::file::{encode, encode_state};
use jounce::inputs::{Drag, Grip, Integrator, Pull, SimulationParams, StepInput};
use jounce::material::{Fibres, Field, Law};
use jounce::mesh::bounds;
use jounce::modal::{ModalForces, RayleighDamping};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::reduced::{Bounds, ReducedExtras, ReducedModel, Shot};
use jounce::model::skinning_modes::{PointSpring, SkinningStepper};
use jounce::model::tree::{Domain, DomainTree, TreeInput, Wind};
use jounce::operators::{Stitches, lumped_mass};
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::{Participant, Simulation, step_together};
use jounce::subspace::Restraint;
use jounce::{Progress, Result};
use jounce_tests::bodies::{Body, REST, Transform, bar, swing, turn, waves};
use jounce_tests::figure::Figure;
use jounce_tests::handled;
use jounce_tests::limb::Limb;
use jounce_tests::methods::{hung, models, of_handles};
use jounce_tests::sewn::Bars;
use jounce_tests::touching::{Body as Falling, ground};
use jounce_tests::trees::{attached, bending, chain, linear, problem, soft, stick};

const FRAMES: u32 = 10;

fn silent() -> Progress {
    Progress::default()
}

/// FNV-1a of some bytes.
fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn of_numbers(numbers: &[f64]) -> u64 {
    digest(numbers.iter().flat_map(|x| x.to_bits().to_le_bytes()))
}

fn tell(name: &str, found: Result<u64>) {
    match found {
        Ok(digest) => println!("{name:<58}{digest:016x}"),
        Err(error) => println!("{name:<58}{error}"),
    }
}

/// Settings that use every part of a step between them.
fn settings() -> Vec<(&'static str, SimulationParams)> {
    let base = SimulationParams::default();
    let gravity = [0.3, 0.0, -9.81];
    let bounds = SimulationParams { limit: Some(0.05), stretch: Some(0.05), ..base };
    vec![
        ("plain", base),
        ("half rest, substeps", SimulationParams { pose_rest: 0.5, substeps: 3, damping: 0.1, ..base }),
        ("bdf2", SimulationParams { integrator: Integrator::Bdf2, pose_rest: 0.3, strength: 1.5, ..base }),
        ("heavy, damped", SimulationParams { damping: 0.3, gravity, stiffness: 0.5, ..base }),
        ("limits", bounds),
        ("limits, bdf2", SimulationParams { integrator: Integrator::Bdf2, gravity, substeps: 2, ..bounds }),
        ("displacement limit", SimulationParams { stretch: None, strength: 2.0, ..bounds }),
        ("exact", SimulationParams { tolerance: 1e-12, max_iterations: 300, ..bounds }),
        ("open stitches", SimulationParams { stitching: 0.3.into(), damping: 0.1, ..base }),
        ("contraction", SimulationParams { contraction: 0.2.into(), ..base }),
        ("tether", SimulationParams { hold: 3.0, gravity, inflation: 1.2, ..base }),
    ]
}

/// Drag of each kind in a wind.
fn drag(model: &Model, linear: f64, quadratic: f64) -> Option<Drag> {
    let wind = [0.4, -0.9, 0.3];
    let times = |masses: &[f64], x: f64| masses.iter().map(|mass| x * mass).collect::<Vec<f64>>();
    if let Ok(samples) = model.force_samples(6) {
        let samples = Arc::new(samples);
        let (masses, winds) = (samples.masses().to_vec(), wind.repeat(samples.masses().len()));
        let (linear, quadratic) = (times(&masses, linear), times(&masses, quadratic));
        return Drag::new(samples, &linear, Some(&quadratic), Some(&winds)).ok();
    }
    let masses = vec![1.0; model.vertices().len()];
    let (linear, quadratic) = (times(&masses, linear), times(&masses, quadratic));
    Drag::at_vertices(&linear, Some(&quadratic), Some(&wind.repeat(masses.len()))).ok()
}

fn pose(model: &Model, frame: u32) -> Option<Vec<Transform>> {
    (model.bone_count() > 0).then(|| swing(f64::from(frame) / 24.0)[..model.bone_count().min(2)].to_vec())
}

/// Digest of all states of a motion: steps, a cut, a coast, and statics.
fn motion(model: &Model, params: SimulationParams, drag: Option<&Drag>) -> Result<u64> {
    let mut sim = Simulation::new(model.clone(), params)?;
    let force: Vec<f64> = (0..model.coefficient_shape().iter().product::<usize>())
        .map(|i| 1e-2 * (i as f64 * 0.7).sin())
        .collect();
    let mut bytes = Vec::new();
    for frame in 0..FRAMES {
        let pose = pose(model, frame);
        let force = (frame > 6).then_some(&force[..]);
        let input = StepInput { pose: pose.as_deref(), drag, force, ..StepInput::default() };
        match frame {
            4 => sim.cut(&input)?,
            5 => sim.coast(&input)?,
            8 => bytes.extend(sim.settle(&input, 200, &silent())?.energy.to_le_bytes()),
            _ => bytes.extend(sim.step_with(&input, &silent())?.energy.to_le_bytes()),
        }
        bytes.extend(encode_state(&sim.save_state()));
        bytes.extend(sim.coefficients().iter().flat_map(|x| x.to_le_bytes()));
    }
    bytes.extend(sim.coefficient_velocities().iter().flat_map(|x| x.to_le_bytes()));
    Ok(digest(bytes))
}

fn tell_motions(name: &str, model: &Model) {
    for (of, params) in settings() {
        tell(&format!("{name}: {of}"), motion(model, params, None));
    }
    for (of, linear, quadratic) in [("linear drag", 3.0, 0.0), ("drag", 2.0, 9.0)] {
        let drag = drag(model, linear, quadratic);
        tell(&format!("{name}: {of}"), motion(model, SimulationParams::default(), drag.as_ref()));
    }
    if let Ok(bytes) = encode(model) {
        tell(&format!("{name}: file"), Ok(digest(bytes)));
    }
}

/// A fibrous, stitched and pinned body in the full space.
fn bars() -> Model {
    let bars = Bars::new([4, 2, 2], false);
    let stitches = bars.stitches(5, 2e3);
    let fibres = Fibres::new(Field::Uniform(1e4), &vec![[1.0, 0.0, 0.0]; bars.mesh.tets().len()]);
    let restraint = Restraint { pinned: Some(&bars.pinned), ..Restraint::default() };
    let fibres = fibres.expect("a direction");
    let extras =
        FullSpaceExtras { stitches: Some(&stitches), fibres: Some(&fibres), ..FullSpaceExtras::default() };
    let model = FullSpaceModel::of(&bars.mesh, &bars.material, &restraint, &extras, &silent());
    Model::FullSpace(model.expect("a valid body").into())
}

/// Reduced bodies: trained, sewn, and of polynomials.
fn reduced() -> Vec<(&'static str, Model)> {
    let limb = Limb::new(bar([6, 2, 2], 0.1), Law::NeoHookean, 2e4);
    let poses: Vec<[Transform; 2]> = (0..16).map(|f| swing(f64::from(f) / 12.0)).collect();
    let loose = SimulationParams::default();
    let (snapshots, whole, coefficients) = limb.learnt(10, loose, &poses);
    tell("principal displacements", Ok(of_numbers(&snapshots) ^ of_numbers(&coefficients)));
    let shot = Shot { poses: poses.as_flattened(), coefficients: &coefficients };
    let cubature = whole.train(&shot, (30, 0), &silent()).expect("a shot");
    tell("cubature of a shot", Ok(of_numbers(&cubature.weights)));
    let bounds = Bounds { limit: Some(0.05), stretch: Some(0.1) };
    let limits = whole.train_limits(&shot, bounds, ([30, 10], 0), &silent()).expect("a shot");
    tell("samples of limits", Ok(of_numbers(&limits.weights) ^ of_numbers(&limits.tets.weights)));
    let trained = whole.sampled(&cubature).and_then(|model| model.limited(&limits)).expect("samples");
    let mesh = bar([5, 2, 2], 0.1);
    let stitches = Stitches::between_vertices(&mesh, &[[2, 17], [5, 40]], &[3e3, 1e3], &[0.0; 2]);
    let made = |law, extras: &ReducedExtras<'_>| {
        ReducedModel::new(&mesh, &soft(law, 0.3), &waves(&mesh, 12), extras, &silent())
            .expect("a body")
            .into()
    };
    let stitches = stitches.expect("vertices");
    let sewn = ReducedExtras { stitches: Some(&stitches), ..ReducedExtras::default() };
    let cubic = ReducedExtras { cubic: true, ..ReducedExtras::default() };
    vec![
        ("trained", Model::Reduced(trained.into())),
        ("sewn", Model::Reduced(made(Law::Corotated, &sewn))),
        ("polynomials", Model::Reduced(made(Law::StVenantKirchhoff, &cubic))),
    ]
}

/// Bodies among colliders, and bodies that touch each other.
fn tell_contact() {
    let params = SimulationParams { gravity: [0.3, 0.0, -9.81], substeps: 2, ..SimulationParams::default() };
    let ball = |x: f64| Collider::new(Shape::sphere([x, 0.1, -0.12], 0.15).expect("a ball"), 0.4);
    let colliders = [ground(-0.02, 0.5), ball(0.2).expect("a ball")];
    for (name, body) in [("ball", Falling::ball()), ("block", Falling::block())] {
        let mut sim = body.among(params, &colliders);
        tell(&format!("{name} among colliders"), falling(&mut sim, 12));
    }
    for (number, model) in handled::models().into_iter().enumerate() {
        let mut sim = Simulation::among(model, params, &colliders, None).expect("a body");
        tell(&format!("handles {number} among colliders"), falling(&mut sim, 12));
    }
    let cube = handled::clustered(&bar([3, 3, 3], 0.05), 6, 8);
    let shape = || Collider::new(Shape::cuboid([0.075; 3], [0.15; 3]).expect("a box"), 0.5).expect("a box");
    let mut sims: Vec<Simulation> = (0..2)
        .map(|_| Simulation::touching(cube.clone(), params, &colliders, None, shape()).expect("a body"))
        .collect();
    let above = turn([1.0, 0.2, 0.0], 0.1, [0.0; 3], [0.03, 0.02, 0.17]);
    let start = jounce::inputs::Start { place: above, ..Default::default() };
    sims[1].place(&start).expect("a place");
    let mut bytes = Vec::new();
    for _ in 0..12 {
        let turns = sims.iter_mut().map(|simulation| Participant { simulation, input: StepInput::default() });
        step_together(&mut turns.collect::<Vec<_>>()).expect("a step");
        sims.iter().for_each(|sim| bytes.extend(encode_state(&sim.save_state())));
    }
    tell("two cubes together", Ok(digest(bytes)));
}

fn falling(sim: &mut Simulation, frames: usize) -> Result<u64> {
    let mut bytes = Vec::new();
    for _ in 0..frames {
        sim.step(None)?;
        bytes.extend(encode_state(&sim.save_state()));
    }
    Ok(digest(bytes))
}

fn tell_grip() {
    let model = handled::clustered(&bar([6, 2, 2], 0.1), 8, 10);
    let grip = Arc::new(Grip::new(handled::projective(&model), &[0, 20], None).expect("points"));
    let pull = Pull::new(grip, &[[0.1, 0.0, 0.2], [0.5, 0.3, 0.1]], 4.0, 3.0).expect("targets");
    let mut sim = Simulation::new(model, SimulationParams::default()).expect("a body");
    let mut bytes = Vec::new();
    for _ in 0..FRAMES {
        sim.step_with(&StepInput { pull: Some(&pull), ..StepInput::default() }, &silent()).expect("a step");
        bytes.extend(encode_state(&sim.save_state()));
    }
    tell("gripped handles", Ok(digest(bytes)));
}

/// Domain trees, free and attached, of linear modes and of flesh, in wind and on a ball.
fn tell_trees() {
    let material = soft(Law::Corotated, 0.3);
    let (first, second) = (attached(&stick(4), &material, 3), linear(&stick(4), &material, 3, true));
    let free = linear(&stick(4), &material, 4, false);
    let flesh = Arc::new(Domain::of_flesh(&bending(&stick(4), &material, 3, 8)).expect("flesh"));
    let (velocity, rate) = ([[2.0, 0.5, 0.0]; 2], [1.0, 3.0]);
    let wind = Wind { velocity: &velocity, rate: &rate };
    let ball = Collider::new(Shape::sphere([0.6, 0.1, -0.2], 0.15).expect("a ball"), 0.4).expect("a ball");
    for (name, members, free) in [
        ("attached tree", chain(&[first.clone(), second.clone()], 4), false),
        ("free tree", chain(&[free, second], 4), true),
        ("tree of flesh", chain(&[flesh.clone(), flesh], 4), false),
    ] {
        for (of, params) in settings().into_iter().take(4) {
            let params = SimulationParams { gravity: [0.3, 0.0, -4.0], ..params };
            let mut tree = match of {
                "plain" => DomainTree::among(&members, free, params, std::slice::from_ref(&ball)),
                _ => DomainTree::new(&members, free, params),
            }
            .expect("a tree");
            let mut numbers = Vec::new();
            for frame in 0..FRAMES {
                let root = turn([0.0, 0.0, 1.0], 0.02 * f64::from(frame), [0.0; 3], [0.0; 3]);
                let wind = (frame > 5).then_some(&wind);
                let input = TreeInput { root: (!free).then_some(&root), wind, ..TreeInput::default() };
                numbers.push(tree.step(&input, &silent()).expect("a step").energy);
                numbers.extend(tree.positions(1).expect("a domain"));
            }
            tell(&format!("{name}: {of}"), Ok(of_numbers(&numbers)));
        }
    }
}

fn tell_linear_modes() {
    let mesh = stick(6);
    let problem = problem(&mesh, &soft(Law::Corotated, 0.3), true);
    let modes = problem.lowest(6, &silent()).expect("modes");
    let shapes = |k: usize| modes.shapes.col_as_slice(k).to_vec();
    tell("linear modes", Ok(of_numbers(&(0..6).flat_map(shapes).collect::<Vec<f64>>())));
    let rows: Vec<f64> = (0..6 * 20).map(|i| (i as f64).sin()).collect();
    let damping = RayleighDamping::new(1.0, 1e-4).expect("damping");
    let found = jounce::modal::swing(&modes, ModalForces { rows: &rows, fps: 24.0 }, &damping);
    tell("modal amplitudes", found.map(|found| of_numbers(&found)));
}

/// A loop, and steps with a spring from a point.
fn tell_loops_and_springs() {
    let model = Body::bar().model();
    let pose = |frame: usize| {
        let phase = std::f64::consts::TAU * (frame % 12) as f64 / 12.0;
        let bend = turn([0.1, 0.0, 1.0], 0.6 * phase.sin(), [0.4, 0.1, 0.1], [0.0; 3]);
        [turn([0.0, 1.0, 0.3], 0.2 * phase.cos(), [0.0; 3], [0.0; 3]), bend]
    };
    let poses: Vec<_> = (0..=12).map(pose).collect();
    let inputs: Vec<StepInput<'_>> =
        poses.iter().map(|p| StepInput { pose: Some(p), ..StepInput::default() }).collect();
    let params =
        SimulationParams { damping: 0.1, stiffness: 25.0, limit: Some(0.1), ..SimulationParams::default() };
    for (name, model) in [("loop of modes", &model), ("loop of a basis", &jounce_reduced())] {
        let params =
            if name == "loop of modes" { params } else { SimulationParams { limit: None, ..params } };
        let mut sim = Simulation::new(model.clone(), params).expect("a body");
        let found = sim.settle_cycle(&inputs, &[], 5, 1e-7, &silent());
        tell(name, found.map(|_| digest(encode_state(&sim.save_state()))));
    }
    let Model::Skinning(body) = &model else { return };
    let weights = vec![0.5; body.mode_count()];
    let mut spring = PointSpring::new(body, (&weights, [0.4, 0.1, 0.1]), 2.0, &params).expect("weights");
    spring.displacement = [0.05, 0.0, 0.1];
    let mut stepper = SkinningStepper::new(body.clone());
    let mut numbers = Vec::new();
    for frame in 0..FRAMES {
        let pose = swing(f64::from(frame) / 24.0);
        let input = StepInput { pose: Some(&pose), ..StepInput::default() };
        stepper.step(&input, &params, (frame > 2).then_some(&spring)).expect("a step");
        numbers.extend_from_slice(stepper.coefficients());
    }
    tell("spring from a point", Ok(of_numbers(&numbers)));
}

fn jounce_reduced() -> Model {
    jounce_tests::methods::in_displacements(Law::NeoHookean)
}

/// A whole character, built.
fn tell_character() {
    let figure = Figure::new();
    for (name, law, cubature) in [("clusters", Law::Arap, 0), ("cubature", Law::Corotated, 60)] {
        let core = Some(figure.anatomy());
        let params = BodyParams { resolution: 24, modes: 8, law, cubature, core, ..BodyParams::default() };
        let body = Character::new(&figure.surface(), &figure.weights, figure.bones.len(), &params, &silent());
        let body = body.expect("a character");
        tell(&format!("character, {name}: file"), encode(&body.model).map(digest));
        let mut sim = Simulation::new(body.model.clone(), SimulationParams::default()).expect("a body");
        let mut pose = vec![REST; figure.bones.len()];
        let mut bytes = Vec::new();
        for frame in 0..FRAMES {
            pose[1] = turn([1.0, 0.0, 0.0], 0.05 * f64::from(frame), [0.0, 0.0, 1.1], [0.0; 3]);
            sim.step(Some(&pose)).expect("a step");
            bytes.extend(encode_state(&sim.save_state()));
        }
        tell(&format!("character, {name}: motion"), Ok(digest(bytes)));
    }
    let (low, high) = bounds(figure.surface().points());
    tell("surface", Ok(of_numbers(&[low, high].concat())));
}

fn main() {
    for (number, model) in models().into_iter().enumerate() {
        tell_motions(&format!("model {number}"), &model);
    }
    tell_motions("jelly", &of_handles());
    tell_motions("hung jelly", &hung());
    for (number, model) in handled::models().into_iter().enumerate() {
        tell_motions(&format!("handles {number}"), &model);
    }
    tell_motions("full space, sewn", &bars());
    let limb = Limb::new(bar([6, 2, 2], 0.1), Law::NeoHookean, 2e4);
    tell("masses", Ok(of_numbers(&lumped_mass(&limb.mesh, &limb.material))));
    tell_motions("full space, limb", &Model::FullSpace(limb.full().into()));
    for (name, model) in reduced() {
        tell_motions(&format!("basis, {name}"), &model);
    }
    tell_contact();
    tell_grip();
    tell_trees();
    tell_linear_modes();
    tell_loops_and_springs();
    tell_character();
}
