//! Loops: the last frame of a cycle meets the first in position and velocity.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use jounce::inputs::Drag;
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::mesh::Embedding;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::lumped_mass;
use jounce::potentials::contact::{Collider, ContactSkin, Shape};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, REST, Transform, turn};
use jounce_tests::methods::hung;

const FRAMES: usize = 24;
const DIAGONAL: f64 = 0.9;

/// Periodic motion with harmonics out of phase, advancing `advance` metres per cycle.
fn cycle(advance: f64) -> Vec<[Transform; 2]> {
    let pose = |frame: usize| {
        let phase = std::f64::consts::TAU * (frame % FRAMES) as f64 / FRAMES as f64;
        let shift = [0.05 * phase.sin(), 0.0, advance * frame as f64 / FRAMES as f64];
        [
            turn([0.0, 1.0, 0.3], 0.2 * phase.cos(), [0.0; 3], shift),
            turn([0.1, 0.0, 1.0], 0.6 * phase.sin() + 0.2 * (2.0 * phase).cos(), [0.4, 0.1, 0.1], shift),
        ]
    };
    (0..=FRAMES).map(pose).collect()
}

fn settings() -> [SimulationParams; 3] {
    // Stiff enough for the bar to vibrate a few times per cycle.
    let base = SimulationParams {
        damping: 0.12,
        stiffness: 25.0,
        tolerance: 1e-9,
        max_iterations: 200,
        ..Default::default()
    };
    [
        SimulationParams { substeps: 4, ..base },
        SimulationParams { integrator: Integrator::Bdf2, substeps: 4, ..base },
        SimulationParams { pose_rest: 0.5, gravity: [0.0, 0.0, -3.0], ..base },
    ]
}

fn inputs(poses: &[[Transform; 2]]) -> Vec<StepInput<'_>> {
    poses.iter().map(|pose| StepInput { pose: Some(pose), ..StepInput::default() }).collect()
}

/// Largest difference of a displacement's coordinates, as a share of the diagonal.
fn apart(model: &Model, a: &[f64], b: &[f64]) -> f64 {
    let projector = model.projector(None).unwrap();
    let show = |z: &[f64]| {
        let mut u = vec![0.0; 3 * projector.point_count()];
        projector.displacement(z, &mut u).unwrap();
        u
    };
    let (a, b) = (show(a), show(b));
    a.iter().zip(&b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max) / DIAGONAL
}

#[test]
fn the_last_frame_meets_the_first() {
    for body in Body::bars() {
        let model = body.model();
        for params in settings() {
            let poses = cycle(0.0);
            let mut sim = Simulation::new(model.clone(), params).unwrap();
            let report = sim.settle_cycle(&inputs(&poses), &[], 6, 1e-6, &Progress::default()).unwrap();
            assert!(report.seam() <= 1e-6 && report.passes <= 6, "{report:?}");
            let frames: Vec<Vec<f64>> = std::iter::once(sim.coefficients().to_vec())
                .chain(poses[1..].iter().chain(&poses[1..3]).map(|pose| {
                    sim.step(Some(pose)).unwrap();
                    sim.coefficients().to_vec()
                }))
                .collect();
            let still = vec![0.0; frames[0].len()];
            assert!(apart(&model, &frames[5], &still) > 1e-3);
            // Position, velocity and acceleration match.
            for frame in 0..3 {
                let seam = apart(&model, &frames[frame], &frames[frame + FRAMES]);
                assert!(seam < 1e-4, "{frame}: {seam}");
            }
        }
    }
}

#[test]
fn the_seam_is_a_root_mean_square_over_the_mass() {
    let body = Body::bar();
    let mass = lumped_mass(&body.mesh, &body.material);
    for model in [body.model(), full(), hung()] {
        let projector = model.projector(None).unwrap();
        let shown = |sim: &Simulation| {
            let mut moved = vec![0.0; 3 * projector.point_count()];
            projector.displacement(sim.coefficients(), &mut moved).unwrap();
            moved
        };
        let poses = cycle(0.0);
        let mut sim = Simulation::new(model.clone(), settings()[0]).unwrap();
        let report = sim.settle_cycle(&inputs(&poses), &[], 1, 1e-6, &Progress::default()).unwrap();
        let start = shown(&sim);
        for pose in &poses[1..] {
            sim.step(Some(pose)).unwrap();
        }
        let squares = |(m, (a, b)): (&f64, (&[f32; 3], &[f32; 3]))| {
            m * (0..3).map(|c| f64::from(a[c] - b[c]).powi(2)).sum::<f64>()
        };
        let end = shown(&sim);
        let pairs = start.as_chunks::<3>().0.iter().zip(end.as_chunks::<3>().0);
        let sum: f64 = mass.iter().zip(pairs).map(squares).sum();
        let right = (sum / mass.iter().sum::<f64>()).sqrt() / body.mesh.diagonal();
        assert!(right > 1e-3 && (report.position / right - 1.0).abs() < 0.02, "{} {right}", report.position);
    }
}

#[test]
fn a_walk_that_advances_closes_as_one_in_place() {
    let model = Body::bar().model();
    let settle = |advance: f64| {
        let params = settings()[0];
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let report = sim.settle_cycle(&inputs(&cycle(advance)), &[], 6, 1e-8, &Progress::default()).unwrap();
        (report, sim.coefficients().to_vec())
    };
    let ((there, moving), (here, in_place)) = (settle(0.8), settle(0.0));
    assert!(there.seam() <= 1e-8 && here.seam() <= 1e-8, "{there:?} {here:?}");
    assert!(apart(&model, &moving, &in_place) < 1e-5);
}

#[test]
fn forces_and_strengths_take_part() {
    let model = Body::bar().model();
    let poses = cycle(0.0);
    let force = |frame: usize| -> Vec<f64> {
        let push = (std::f64::consts::TAU * frame as f64 / FRAMES as f64).sin();
        (0..12 * model.mode_count()).map(|i| if i % 12 == 11 { 600.0 * push } else { 0.0 }).collect()
    };
    let forces: Vec<Vec<f64>> = (0..=FRAMES).map(force).collect();
    let with = |forces: Option<&[Vec<f64>]>, strengths: &[f64]| {
        let input = |(frame, pose): (usize, _)| StepInput {
            pose: Some(pose),
            force: forces.map(|forces| forces[frame].as_slice()),
            ..StepInput::default()
        };
        let inputs: Vec<StepInput<'_>> =
            poses.iter().map(|pose| pose.as_slice()).enumerate().map(input).collect();
        let params = settings()[0];
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let report = sim.settle_cycle(&inputs, strengths, 6, 1e-6, &Progress::default()).unwrap();
        assert!(report.seam() <= 1e-6, "{report:?}");
        assert_eq!(sim.params(), &params);
        sim.coefficients().to_vec()
    };
    let plain = with(None, &[]);
    let ones = with(None, &[1.0; FRAMES + 1]);
    assert_eq!(plain, ones);
    assert!(apart(&model, &with(Some(&forces), &[]), &plain) > 1e-3);
    let calm: Vec<f64> = (0..=FRAMES).map(|frame| if frame < 12 { 1.0 } else { 0.0 }).collect();
    assert!(apart(&model, &with(None, &calm), &plain) > 1e-4);
}

#[test]
fn acceleration_saves_passes() {
    // With so little damping each cycle alone leaves much of the seam.
    let model = Body::bar().model();
    let poses = cycle(0.0);
    let params = SimulationParams { integrator: Integrator::Bdf2, damping: 0.02, ..settings()[1] };
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    let pass = |sim: &mut Simulation| {
        let start = sim.coefficients().to_vec();
        poses[1..].iter().for_each(|pose| {
            sim.step(Some(pose)).unwrap();
        });
        apart(&model, &start, sim.coefficients())
    };
    sim.settle_cycle(&inputs(&poses), &[], 6, 0.0, &Progress::default()).unwrap();
    let accelerated = pass(&mut sim);
    sim.reset(Some(&poses[0])).unwrap();
    let plain = (0..6).map(|_| pass(&mut sim)).fold(f64::INFINITY, f64::min);
    assert!(1.5 * accelerated < plain, "{accelerated} {plain}");
}

#[test]
fn flesh_that_stiffens_closes() {
    // Near its limit the flesh moves differently in each cycle, and repetition never converges.
    let model = Body::bar().model();
    let poses = cycle(0.0);
    for limit in [0.02, 0.007] {
        let params = SimulationParams { damping: 0.05, limit: Some(limit), ..settings()[1] };
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let report = sim.settle_cycle(&inputs(&poses), &[], 6, 1e-6, &Progress::default()).unwrap();
        assert!(report.seam() <= 1e-6 && report.passes <= 4, "{limit} {report:?}");
    }
}

#[test]
fn it_stops_within_a_frame_of_being_told_to_and_changes_nothing() {
    const PASSES: u32 = 1000;
    let model = Body::bar().model();
    let poses = cycle(0.0);
    let params = SimulationParams { damping: 0.05, limit: Some(0.007), ..settings()[1] };
    let mut sim = Simulation::new(model, params).unwrap();
    sim.step(Some(&poses[3])).unwrap();
    let state = sim.save_state();
    let (progress, returned) = (Progress::default(), AtomicBool::new(false));
    let stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            while progress.fraction() <= 2.2 / PASSES as f32 && !returned.load(Relaxed) {
                std::thread::yield_now();
            }
            progress.cancel();
        });
        // Newton's method follows the third pass and later ones.
        let stopped = sim.settle_cycle(&inputs(&poses), &[], PASSES, 0.0, &progress);
        returned.store(true, Relaxed);
        stopped
    });
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert!(progress.fraction() < 1.0 && progress.stage() == "closing the cycle");
    assert_eq!(sim.save_state(), state);
    assert_eq!(sim.params(), &params);
}

#[test]
fn what_is_no_cycle_is_refused_and_changes_nothing() {
    let model = Body::bar().model();
    let mut sim = Simulation::new(model, settings()[0]).unwrap();
    let poses = cycle(0.0);
    sim.step(Some(&poses[3])).unwrap();
    sim.step(Some(&poses[4])).unwrap();
    let state = sim.save_state();
    let inputs = inputs(&poses);
    let mut ask = |inputs: &[StepInput<'_>], strengths: &[f64], passes| {
        let error = sim.settle_cycle(inputs, strengths, passes, 1e-6, &Progress::default()).unwrap_err();
        assert_eq!(sim.save_state(), state);
        error
    };
    match ask(&inputs[..FRAMES], &[], 6) {
        Error::Range { what: "poses", got, .. } => assert!(got > 1e-3 && got < 1.0, "{got}"),
        other => panic!("{other}"),
    }
    // Rotated about its middle, the body as a whole does not move.
    let (rest, turned) = ([REST; 2], [turn([1.0, 0.0, 0.0], 0.8, [0.4, 0.15, 0.15], [0.0; 3]); 2]);
    let held = |pose| StepInput { pose: Some(pose), ..StepInput::default() };
    match ask(&[held(&rest), held(&turned)], &[], 6) {
        Error::Range { what: "poses", got, .. } => assert!(got > 0.1, "{got}"),
        other => panic!("{other}"),
    }
    assert!(matches!(ask(&inputs[..1], &[], 6), Error::Range { what: "poses", .. }));
    assert!(matches!(ask(&inputs, &[1.0], 6), Error::Shape { what: "strengths", .. }));
    assert!(matches!(ask(&inputs, &[-1.0; FRAMES + 1], 6), Error::Range { what: "strength", .. }));
    assert!(matches!(ask(&inputs, &[], 0), Error::Range { what: "max_passes", .. }));
}

#[test]
fn what_is_dragged_closes() {
    let model = Body::bar().model();
    let poses = cycle(0.0);
    let samples = Arc::new(model.force_samples(6).unwrap());
    let times = |x: f64| -> Vec<f64> { samples.masses().iter().map(|m| x * m).collect() };
    let close = |linear: f64, quadratic: f64, params: SimulationParams| {
        let drag = Drag::new(samples.clone(), &times(linear), Some(&times(quadratic)), None).unwrap();
        let inputs: Vec<StepInput<'_>> =
            inputs(&poses).into_iter().map(|input| StepInput { drag: Some(&drag), ..input }).collect();
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let report = sim.settle_cycle(&inputs, &[], 6, 1e-6, &Progress::default()).unwrap();
        assert!(report.seam() <= 1e-6 && report.passes <= 4, "{linear} {quadratic} {report:?}");
        let start = sim.coefficients().to_vec();
        inputs[1..].iter().for_each(|input| {
            sim.step_with(input, &Progress::default()).unwrap();
        });
        assert!(apart(&model, &start, sim.coefficients()) < 1e-5);
        start
    };
    let plain = close(0.0, 0.0, settings()[0]);
    for (linear, quadratic) in [(10.0, 0.0), (0.0, 10.0)] {
        assert!(apart(&model, &plain, &close(linear, quadratic, settings()[0])) > 1e-3);
        // So close to the limit that only Newton's method converges, and only if it takes all of the drag
        // into account.
        let params = SimulationParams { damping: 0.0, limit: Some(0.02), ..settings()[1] };
        close(0.1 * linear, quadratic, params);
    }
}

/// The bar with every vertex.
fn full() -> Model {
    let body = Body::bar();
    let restraint = Restraint { rig: Some(&body.rig), ..Restraint::default() };
    let extras = FullSpaceExtras { rig: Some(&body.rig), ..FullSpaceExtras::default() };
    let made = FullSpaceModel::of(&body.mesh, &body.material, &restraint, &extras, &Progress::default());
    Model::FullSpace(made.unwrap().into())
}

/// All vertices as contact points, skinned as they are.
fn skin(model: &Model) -> ContactSkin {
    let mesh = model.mesh().unwrap();
    ContactSkin {
        points: Embedding::new(mesh, mesh.vertices().to_vec()).unwrap().into(),
        triangles: Vec::new().into(),
        rig: Some(Body::bar().rig.into()),
        self_collision: false,
    }
}

/// A rod above the bar's free end, and a wall beside it.
fn around(friction: f64) -> [Collider; 2] {
    let rod = Shape::capsule([0.6, -1.0, 0.37], [0.6, 1.0, 0.37], 0.05).unwrap();
    let wall = Shape::plane([0.0, -0.1, 0.0], [0.0, 1.0, 0.0]).unwrap();
    [rod, wall].map(|shape| Collider::new(shape, friction).unwrap())
}

/// Placements of a rod with an advance a cycle, metres, and of a resting wall.
fn placed(advance: f64) -> Vec<[Transform; 2]> {
    let along = |frame: usize| [0.0, 0.0, advance * frame as f64 / FRAMES as f64];
    (0..=FRAMES).map(|frame| [turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], along(frame)), REST]).collect()
}

/// Inputs with colliders.
fn among<'a>(poses: &'a [[Transform; 2]], places: &'a [[Transform; 2]]) -> Vec<StepInput<'a>> {
    let places = places.iter().map(|places| Some(&places[..]));
    inputs(poses).into_iter().zip(places).map(|(input, colliders)| StepInput { colliders, ..input }).collect()
}

#[test]
fn a_cycle_among_colliders_closes_in_place_and_as_a_walk() {
    for (model, stiffness, damping) in [full(), Body::bar().model()]
        .into_iter()
        .flat_map(|model| [(model.clone(), 25.0, 0.12), (model, 4.0, 0.05)])
    {
        let params =
            SimulationParams { max_iterations: 200, tolerance: 1e-8, stiffness, damping, ..settings()[0] };
        let motion = |advance: f64, friction: f64| {
            let (poses, places) = (cycle(advance), placed(advance));
            let mut sim =
                Simulation::among(model.clone(), params, &around(friction), Some(skin(&model))).unwrap();
            let inputs = among(&poses, &places);
            let report = sim.settle_cycle(&inputs, &[], 16, 1e-6, &Progress::default()).unwrap();
            assert!(report.seam() <= 1e-6, "{advance} {friction}: {report:?}");
            let first = sim.coefficients().to_vec();
            let frame = |input: &StepInput<'_>| {
                sim.step_with(input, &Progress::default()).unwrap();
                sim.coefficients().to_vec()
            };
            let frames: Vec<Vec<f64>> = inputs[1..].iter().map(frame).collect();
            let seam = apart(&model, &first, &frames[FRAMES - 1]);
            assert!(seam < 1e-5, "{advance} {friction}: {seam}");
            frames
        };
        let most = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            a.iter().zip(b).map(|(a, b)| apart(&model, a, b)).fold(0.0, f64::max)
        };
        let [smooth, rough] = [0.0, 0.5].map(|friction| motion(0.0, friction));
        let [walking, _] = [0.0, 0.5].map(|friction| motion(0.8, friction));
        assert!(most(&smooth, &walking) < 1e-4, "{}", most(&smooth, &walking));
        assert!(most(&smooth, &rough) > 1e-3);
        let mut free = Simulation::new(model.clone(), params).unwrap();
        let poses = cycle(0.0);
        free.settle_cycle(&inputs(&poses), &[], 16, 1e-6, &Progress::default()).unwrap();
        let frame = |pose: &[Transform; 2]| {
            free.step(Some(pose)).unwrap();
            free.coefficients().to_vec()
        };
        let free: Vec<Vec<f64>> = poses[1..].iter().map(frame).collect();
        assert!(most(&smooth, &free) > 0.02, "{}", most(&smooth, &free));
    }
}

#[test]
fn a_collider_that_ends_elsewhere_is_refused_and_changes_nothing() {
    let model = full();
    let mut sim = Simulation::among(model.clone(), settings()[0], &around(0.5), Some(skin(&model))).unwrap();
    let before = sim.save_state();
    // The rod stays behind in a walk, and goes away from a body in place.
    for (advance, beside) in [(0.8, 0.0), (0.0, 0.3)] {
        let (poses, places) = (cycle(advance), placed(beside));
        match sim.settle_cycle(&among(&poses, &places), &[], 6, 1e-6, &Progress::default()) {
            Err(Error::Range { what: "colliders", got, .. }) => assert!(got > 0.1, "{got}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(sim.save_state(), before);
    }
}

/// Number of repetitions after which a hanging body has forgotten its start.
const FORGOTTEN: usize = 24;

/// Transforms moved along z.
fn ahead(transforms: &[Transform; 2], way: f64) -> [Transform; 2] {
    transforms.map(|mut moved| {
        moved[2][3] += way;
        moved
    })
}

#[test]
fn a_body_that_hangs_on_a_rig_closes_in_place_and_as_a_walk() {
    let model = hung();
    let params = SimulationParams { damping: 0.2, tolerance: 1e-8, substeps: 2, ..settings()[0] };
    let motion = |advance: f64, friction: Option<f64>| {
        let (poses, places) = (cycle(advance), placed(advance));
        let made = || match friction {
            None => Simulation::new(model.clone(), params).unwrap(),
            Some(friction) => Simulation::among(model.clone(), params, &around(friction), None).unwrap(),
        };
        let mut looped = made();
        let inputs = if friction.is_some() { among(&poses, &places) } else { inputs(&poses) };
        let report = looped.settle_cycle(&inputs, &[], 16, 1e-6, &Progress::default()).unwrap();
        assert!(report.seam() <= 1e-6, "{advance} {friction:?}: {report:?}");
        // The same motion, repeated from a start at rest until that is forgotten.
        let mut repeated = made();
        for frame in 0..=FORGOTTEN * FRAMES {
            let (round, frame) = (frame / FRAMES, frame % FRAMES);
            let way = advance * (round as f64 - FORGOTTEN as f64);
            let (pose, places) = (ahead(&poses[frame], way), ahead(&places[frame], way));
            let colliders = friction.map(|_| &places[..]);
            let input = StepInput { pose: Some(&pose), colliders, ..StepInput::default() };
            repeated.step_with(&input, &Progress::default()).unwrap();
        }
        let error = apart(&model, looped.coefficients(), repeated.coefficients());
        assert!(error < 1e-5, "{advance} {friction:?}: {error}");
        looped.coefficients().to_vec()
    };
    let [free, touched, walking] =
        [(0.0, None), (0.0, Some(0.5)), (0.8, None)].map(|(advance, friction)| motion(advance, friction));
    assert!(apart(&model, &free, &touched) > 1e-3);
    // Damping by mass is that of air: a walk trails.
    assert!(apart(&model, &free, &walking) > 0.1);
}
