//! Rigs other than linear skinning, given by their offsets from it at the points of the surface.

use std::f64::consts::PI;
use std::sync::Arc;

use jounce::body::{Body, BodyParams};
use jounce::inputs::Drag;
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::Law;
use jounce::mesh::{SurfaceMesh, closest_points};
use jounce::model::Model;
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::{lumped_mass, spread_to_interior};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::{Error, Progress};
use jounce_tests::bodies::{REST, Transform, largest, turn};
use jounce_tests::surfaces::sphere;

const FRAMES: u32 = 40;

/// An egg along x, 1 m long.
fn egg() -> SurfaceMesh {
    sphere(4).placed([0.5, 0.25, 0.2], [0.0; 3]).surface()
}

fn params() -> BodyParams {
    BodyParams { resolution: 12, modes: 6, clusters: 20, cubature: 0, ..BodyParams::default() }
}

/// Weights of two bones that blend along x; the second has none below the middle.
fn weights(surface: &SurfaceMesh) -> Vec<f64> {
    let blend = |x: f64| (2.0 * x + 0.3).clamp(0.0, 1.0);
    surface.points().iter().flat_map(|p| [1.0 - blend(p[0]), blend(p[0])]).collect()
}

fn swing(time: f64) -> [Transform; 2] {
    let angle = 0.9 * (6.0 * time).sin();
    [
        turn([0.0, 1.0, 0.3], 0.2 * angle, [0.0; 3], [3.0 + 0.1 * (5.0 * time).sin(), 0.0, 0.1 * time]),
        turn([0.1, 0.0, 1.0], angle, [0.1, 0.1, 0.1], [3.0, 0.05 * (9.0 * time).sin(), 0.0]),
    ]
}

/// Points posed by linear skinning.
fn posed(surface: &SurfaceMesh, weights: &[f64], pose: &[Transform]) -> Vec<[f64; 3]> {
    let moved =
        |t: &Transform, p: &[f64; 3], c: usize| t[c][0] * p[0] + t[c][1] * p[1] + t[c][2] * p[2] + t[c][3];
    let rows = weights.chunks_exact(pose.len()).zip(surface.points());
    rows.map(|(w, p)| std::array::from_fn(|c| w.iter().zip(pose).map(|(w, t)| w * moved(t, p, c)).sum()))
        .collect()
}

fn difference(a: &[[f64; 3]], b: &[[f64; 3]]) -> Vec<f64> {
    a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| a - b).collect()
}

fn displacement(model: &Model, sim: &Simulation) -> Vec<[f64; 3]> {
    let projector = model.projector(None).unwrap();
    let mut u = vec![0.0; 3 * projector.point_count()];
    projector.displacement(sim.coefficients(), &mut u).unwrap();
    u.as_chunks::<3>().0.iter().map(|u| u.map(f64::from)).collect()
}

/// Largest difference of coefficients over frames, relative to the largest coefficient.
fn furthest(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let size = a.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
    let gap = a.iter().flatten().zip(b.iter().flatten()).fold(0.0_f64, |s, (a, b)| s.max((a - b).abs()));
    gap / size
}

/// Settings that differ in every treatment of poses: time, substeps, rest shape, strength, stretch.
///
/// Flesh at its limit is firm. Softer flesh thrown far beyond it has several equilibria, and rounding would
/// decide between them.
fn settings() -> [SimulationParams; 5] {
    let base = SimulationParams { damping: 0.05, stiffness: 0.5, tolerance: 1e-10, ..Default::default() };
    [
        base,
        SimulationParams { substeps: 3, integrator: Integrator::Bdf2, ..base },
        SimulationParams { pose_rest: 0.0, gravity: [0.0, 0.0, -9.81], ..base },
        SimulationParams { pose_rest: 0.6, strength: 1.7, substeps: 2, ..base },
        SimulationParams { stretch: Some(0.1), stiffness: 5.0, max_iterations: 500, ..base },
    ]
}

/// Coefficients of all frames; `input` gives pose and offsets at a time.
fn run(
    model: &Model,
    params: SimulationParams,
    input: impl Fn(f64) -> (Vec<Transform>, Option<Vec<f64>>),
) -> Vec<Vec<f64>> {
    run_in(0.0, model, params, input)
}

/// As [`run`], in a medium at rest with drag coefficients proportional to each part's mass.
fn run_in(
    medium: f64,
    model: &Model,
    params: SimulationParams,
    input: impl Fn(f64) -> (Vec<Transform>, Option<Vec<f64>>),
) -> Vec<Vec<f64>> {
    let samples = Arc::new(model.force_samples(6).unwrap());
    let coefficients: Vec<f64> = samples.masses().iter().map(|m| medium * m).collect();
    let drag = Drag::new(samples, &coefficients, Some(&coefficients), None).unwrap();
    let mut sim = Simulation::new(model.clone(), params).unwrap();
    let step = |frame| {
        let (pose, offsets) = input(f64::from(frame) / 24.0);
        let offsets = offsets.as_deref();
        let input = StepInput { pose: Some(&pose), offsets, drag: Some(&drag), ..StepInput::default() };
        sim.step_with(&input, &Progress::default()).unwrap();
        sim.coefficients().to_vec()
    };
    (0..FRAMES).map(step).collect()
}

#[test]
fn a_linear_rig_given_as_offsets_is_the_linear_rig() {
    let surface = egg();
    let weights = weights(&surface);
    let corotated = BodyParams { law: Law::Corotated, poisson: 0.4, ..params() };
    let sampled = BodyParams { cubature: 40, ..corotated.clone() };
    for params in [params(), corotated, sampled] {
        let body = Body::new(&surface, &weights, 2, &params, &Progress::default()).unwrap();
        let twin = |time: f64| {
            let offsets = difference(&posed(&surface, &weights, &swing(time)), surface.points());
            (vec![REST, REST], Some(body.reduce_offsets(&offsets).unwrap()))
        };
        for (which, settings) in settings().into_iter().enumerate() {
            let linear = run(&body.model, settings, |time| (swing(time).to_vec(), None));
            let gap = furthest(&linear, &run(&body.model, settings, twin));
            println!("{:?} {which}: {gap:.1e}", params.law);
            assert!(gap < 1e-6, "settings {which}: {gap}");
        }
    }
}

#[test]
fn in_the_full_space_offsets_of_the_vertices_are_the_rig_again() {
    let surface = egg();
    let weights = weights(&surface);
    let body = Body::new(&surface, &weights, 2, &params(), &Progress::default()).unwrap();
    let model = body.full_space(None, None, &Progress::default()).unwrap();
    let linear: Vec<f64> = lumped_mass(&body.mesh, &body.material).iter().map(|m| 2.0 * m).collect();
    let drag = Drag::at_vertices(&linear, Some(&linear), None).unwrap();
    let run = |params: SimulationParams, as_offsets: bool| -> Vec<Vec<f64>> {
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let frame = |frame| {
            let pose = swing(f64::from(frame) / 24.0);
            let offsets = difference(&posed(&surface, &weights, &pose), surface.points());
            let offsets = body.vertex_offsets(&offsets).unwrap();
            let input = StepInput { drag: Some(&drag), ..StepInput::default() };
            let input = if as_offsets {
                StepInput { pose: Some(&[REST, REST]), offsets: Some(&offsets), ..input }
            } else {
                StepInput { pose: Some(&pose), ..input }
            };
            sim.step_with(&input, &Progress::default()).unwrap();
            sim.coefficients().to_vec()
        };
        (0..20).map(frame).collect()
    };
    for params in &settings()[..4] {
        let gap = furthest(&run(*params, false), &run(*params, true));
        assert!(gap < 1e-6, "{params:?}: {gap}");
    }
}

#[test]
fn a_part_of_the_pose_may_be_given_as_offsets() {
    let surface = egg();
    let weights = weights(&surface);
    let body = Body::new(&surface, &weights, 2, &params(), &Progress::default()).unwrap();
    let other = |time: f64| [swing(time)[0], swing(0.3 * time)[1]];
    let twin = |time: f64| {
        let (wanted, given) =
            (posed(&surface, &weights, &swing(time)), posed(&surface, &weights, &other(time)));
        (other(time).to_vec(), Some(body.reduce_offsets(&difference(&wanted, &given)).unwrap()))
    };
    let linear = run(&body.model, settings()[1], |time| (swing(time).to_vec(), None));
    assert!(furthest(&linear, &run(&body.model, settings()[1], twin)) < 1e-6);
}

#[test]
fn offsets_of_zero_change_no_bit() {
    let surface = egg();
    let body = Body::new(&surface, &weights(&surface), 2, &params(), &Progress::default()).unwrap();
    let none = body.reduce_offsets(&vec![0.0; 3 * surface.points().len()]).unwrap();
    for settings in settings() {
        let without = run(&body.model, settings, |time| (swing(time).to_vec(), None));
        let with = run(&body.model, settings, |time| (swing(time).to_vec(), Some(none.clone())));
        assert_eq!(without, with);
    }
}

/// A shape that one bone cannot make: odd in x, y and z.
fn shape(p: &[f64; 3]) -> f64 {
    p[0] * p[1] * p[2] / (0.5 * 0.25 * 0.2)
}

/// The same model with two additional bones, which move by the shape and back.
fn with_shape_as_bone(surface: &SurfaceMesh, body: &Body) -> Model {
    let boundary = body.mesh.boundary_vertices();
    let queries: Vec<_> = boundary.iter().map(|&v| body.mesh.vertices()[v as usize]).collect();
    let value = |t: [u32; 3], b: [f64; 3]| -> f64 {
        (0..3).map(|i| b[i] * shape(&surface.points()[t[i] as usize])).sum()
    };
    let closest = closest_points(surface, &queries).unwrap();
    let known: Vec<f64> =
        closest.iter().map(|c| value(surface.triangles()[c.triangle as usize], c.barycentric)).collect();
    let spread = spread_to_interior(&body.mesh, &boundary, &known, 1).unwrap();
    let weights: Vec<f64> = spread.iter().flat_map(|s| [1.0, *s, -s]).collect();
    let rig = Rig::new(spread.len(), 3, &weights).unwrap();
    let (material, modes) = (&body.material, &body.modes);
    let extras = Extras { cubature: body.cubature.as_ref(), ..Extras::default() };
    let model = SkinningModel::with_extras(&body.mesh, material, modes, &body.labels, Some(&rig), &extras);
    Model::Skinning(model.unwrap().into())
}

#[test]
fn what_no_bone_can_make_moves_the_flesh_as_its_harmonic_extension_does() {
    for params in [params(), BodyParams { cubature: 30, ..params() }] {
        residual_offsets_act_as_bones(&params);
    }
}

fn residual_offsets_act_as_bones(params: &BodyParams) {
    let surface = egg();
    let count = surface.points().len();
    let body = Body::new(&surface, &vec![1.0; count], 1, params, &Progress::default()).unwrap();
    let reference = with_shape_as_bone(&surface, &body);
    let bone = |time: f64| turn([0.2, 1.0, 0.3], 0.5 * (5.0 * time).sin(), [0.0; 3], [0.0, 0.1 * time, 0.0]);
    let way = |time: f64| [0.03 * (2.0 * PI * time).sin(), 0.02 * (9.0 * time).cos(), 0.05 * time];
    let as_bones = |time: f64| {
        let shifted = turn([1.0, 0.0, 0.0], 0.0, [0.0; 3], way(time));
        (vec![bone(time), shifted, REST], None)
    };
    let as_offsets = |time: f64| {
        let offsets: Vec<f64> =
            surface.points().iter().flat_map(|p| way(time).map(|w| shape(p) * w)).collect();
        (vec![bone(time)], Some(body.reduce_offsets(&offsets).unwrap()))
    };
    for (which, settings) in settings().into_iter().enumerate() {
        for medium in [0.0, 5.0] {
            let bones = run_in(medium, &reference, settings, as_bones);
            let gap = furthest(&bones, &run_in(medium, &body.model, settings, as_offsets));
            println!("{which} {medium}: {gap:.1e}");
            assert!(gap < 1e-6, "settings {which} {medium}: {gap}");
        }
    }
    let samples = [reference.force_samples(6).unwrap(), body.model.force_samples(6).unwrap()];
    let places: Vec<Vec<[f64; 3]>> = [(&reference, &samples[0]), (&body.model, &samples[1])]
        .into_iter()
        .enumerate()
        .map(|(which, (model, samples))| {
            let (pose, offsets) = if which == 0 { as_bones(0.4) } else { as_offsets(0.4) };
            let mut sim = Simulation::new(model.clone(), SimulationParams::default()).unwrap();
            let input = StepInput { pose: Some(&pose), offsets: offsets.as_deref(), ..StepInput::default() };
            sim.settle(&StepInput { ..input }, 100, &Progress::default()).unwrap();
            assert!(largest(&displacement(model, &sim)) < 1e-9, "held at the posed shape");
            sim.sample_positions(samples).unwrap()
        })
        .collect();
    let gap = difference(&places[0], &places[1]).into_iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    assert!(gap < 1e-8, "{gap}");
}

#[test]
fn a_saved_state_holds_the_offsets() {
    let surface = egg();
    let weights = weights(&surface);
    let body = Body::new(&surface, &weights, 2, &params(), &Progress::default()).unwrap();
    let offsets = |frame: u32| {
        let size = 0.1 * (0.7 * f64::from(frame)).sin();
        let bulge: Vec<f64> = surface.points().iter().flat_map(|p| [0.0, size * shape(p), size]).collect();
        body.reduce_offsets(&bulge).unwrap()
    };
    let mut sim = Simulation::new(body.model.clone(), settings()[1]).unwrap();
    let step = |sim: &mut Simulation, frame: u32| {
        let (pose, offsets) = (swing(f64::from(frame) / 24.0), offsets(frame));
        sim.step_with(
            &StepInput { pose: Some(&pose), offsets: Some(&offsets), ..StepInput::default() },
            &Progress::default(),
        )
        .unwrap();
    };
    let start = sim.save_state();
    (0..5).for_each(|frame| step(&mut sim, frame));
    let state = sim.save_state();
    (5..9).for_each(|frame| step(&mut sim, frame));
    let end = sim.coefficients().to_vec();
    for mut other in [sim, Simulation::new(body.model.clone(), settings()[1]).unwrap()] {
        other.restore_state(&state).unwrap();
        (5..9).for_each(|frame| step(&mut other, frame));
        assert_eq!(other.coefficients(), end);
        other.restore_state(&start).unwrap();
        (0..9).for_each(|frame| step(&mut other, frame));
        assert_eq!(other.coefficients(), end);
    }
}

#[test]
fn offsets_that_do_not_fit_are_refused() {
    let surface = egg();
    let body = Body::new(&surface, &weights(&surface), 2, &params(), &Progress::default()).unwrap();
    let count = 3 * surface.points().len();
    let refused = |offsets: &[f64]| body.reduce_offsets(offsets).err();
    assert!(matches!(refused(&vec![0.0; count - 3]), Some(Error::Shape { what: "offsets", .. })));
    let mut bad = vec![0.0; count];
    bad[7] = f64::NAN;
    assert!(matches!(refused(&bad), Some(Error::NotFinite { what: "offsets", element: 2, .. })));
    let mut sim = Simulation::new(body.model.clone(), SimulationParams::default()).unwrap();
    sim.step(Some(&swing(0.0))).unwrap();
    let good = body.reduce_offsets(&vec![0.01; count]).unwrap();
    let mut step = |offsets: &[f64]| {
        sim.step_with(
            &StepInput { pose: Some(&swing(0.1)), offsets: Some(offsets), ..StepInput::default() },
            &Progress::default(),
        )
        .err()
    };
    assert!(matches!(step(&good[3..]), Some(Error::Shape { what: "offsets", .. })));
    let broken: Vec<f64> = good.iter().map(|_| f64::INFINITY).collect();
    assert!(matches!(step(&broken), Some(Error::NotFinite { what: "offsets", element: 0, .. })));
    let huge: Vec<f64> = good.iter().map(|_| 1e13).collect();
    assert!(matches!(step(&huge), Some(Error::Range { what: "offsets", .. })));
    assert!(step(&good).is_none());
}
