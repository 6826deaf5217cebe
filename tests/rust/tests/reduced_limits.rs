//! Limits of stretch and displacement in a reduced basis: those of the full space, evaluated at all tets
//! and vertices or at a few learnt from a shot.

use jounce::inputs::{Integrator, SimulationParams};
use jounce::material::Law;
use jounce::model::Model;
use jounce::model::reduced::{Bounds, LimitSamples, Shot};
use jounce::sampling::Cubature;
use jounce::simulation::Simulation;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Transform, bar, some_coefficients, swing, turn, waves};
use jounce_tests::limb::{self, Limb};

const LIMITS: Bounds = Bounds { limit: Some(0.1), stretch: Some(0.2) };

fn silent() -> Progress {
    Progress::default()
}

fn flesh(cells: [usize; 3], law: Law) -> Limb {
    Limb::new(bar(cells, 0.1), law, 4e3)
}

/// Jumps by most of the body's size.
fn violent(count: u32) -> Vec<[Transform; 2]> {
    let pose = |frame: u32| {
        let jump = if frame < 2 { 0.0 } else { 0.4 * f64::from((frame / 3) % 2) };
        [turn([0.0, 1.0, 0.0], 1.2 * jump, [0.1, 0.0, 0.0], [jump, 0.0, 0.5 * jump]); 2]
    };
    (0..count).map(pose).collect()
}

fn exact() -> SimulationParams {
    SimulationParams { max_iterations: 1000, tolerance: 1e-9, damping: 0.1, ..SimulationParams::default() }
}

fn within(bounds: Bounds, params: SimulationParams) -> SimulationParams {
    SimulationParams { limit: bounds.limit, stretch: bounds.stretch, ..params }
}

/// Displacements of a shot.
fn played(model: &Model, params: SimulationParams, poses: &[[Transform; 2]]) -> Vec<f64> {
    let [displacements, _] = limb::played(model.clone(), params, poses);
    displacements
}

#[test]
fn all_displacements_within_limits_are_the_full_space() {
    for law in [Law::Arap, Law::NeoHookean] {
        let flesh = flesh([3, 2, 1], law);
        let full = flesh.full();
        let reduced = flesh.reduced(&flesh.everything(), Some(full.frequency()));
        let reduced = Model::Reduced(reduced.limited(&LimitSamples::all(&flesh.mesh)).unwrap().into());
        let full = Model::FullSpace(full.into());
        let others = [
            exact(),
            SimulationParams { pose_rest: 0.4, substeps: 2, stiffness: 0.7, ..exact() },
            SimulationParams { integrator: Integrator::Bdf2, pose_rest: 0.0, ..exact() },
        ];
        let both = [LIMITS, Bounds { limit: None, ..LIMITS }, Bounds { stretch: None, ..LIMITS }];
        for (params, bounds) in others.into_iter().zip(both) {
            let right = played(&full, within(bounds, params), &violent(9));
            assert!(flesh.error(&played(&full, params, &violent(9)), &right) > 0.05, "{bounds:?}");
            let error = flesh.error(&played(&reduced, within(bounds, params), &violent(9)), &right);
            assert!(error < 1e-4, "{law:?} {bounds:?}: {error:e}");
        }
    }
}

#[test]
fn gradients_are_those_of_differences() {
    let flesh = flesh([6, 2, 2], Law::NeoHookean);
    let whole = flesh.reduced(&waves(&flesh.mesh, 14), None);
    let few = LimitSamples {
        tets: Cubature { tets: vec![3, 17, 40, 71], weights: vec![2.0, 0.7, 11.0, 1.3] },
        vertices: vec![20, 44, 61],
        weights: vec![3.0, 0.4, 1.0],
    };
    for samples in [few, LimitSamples::all(&flesh.mesh)] {
        let model = whole.limited(&samples).unwrap();
        for bounds in [Bounds { limit: None, ..LIMITS }, Bounds { stretch: None, ..LIMITS }, LIMITS] {
            let params = SimulationParams { stiffness: 0.6, ..within(bounds, exact()) };
            let q = some_coefficients(14, 0.15);
            let energy = |q: &[f64]| model.limit_energy(q, Some(&swing(0.3)), &params).unwrap();
            let (value, gradient) = energy(&q);
            let scale = gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
            assert!(value > 0.0 && scale > 0.0, "{bounds:?}");
            for (j, slope) in gradient.iter().enumerate() {
                let moved = |by: f64| {
                    let mut moved = q.clone();
                    moved[j] += by;
                    energy(&moved).0
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((difference - slope).abs() < 1e-5 * scale, "{bounds:?} {j}: {difference} {slope}");
            }
        }
    }
}

#[test]
fn few_samples_hold_a_shot_within_its_limits() {
    let flesh = flesh([6, 2, 2], Law::Arap);
    let poses = violent(24);
    let (snapshots, whole, coefficients) = flesh.learnt(12, within(LIMITS, exact()), &poses);
    let shot = Shot { poses: poses.as_flattened(), coefficients: &coefficients };
    let samples = whole.train_limits(&shot, LIMITS, ([36, 12], 0), &silent()).unwrap();
    assert_eq!(whole.train_limits(&shot, LIMITS, ([36, 12], 0), &silent()).unwrap(), samples);
    assert!(!samples.tets.tets.is_empty() && samples.tets.tets.len() <= 36);
    assert!(!samples.vertices.is_empty() && samples.vertices.len() <= 12);
    let error = |samples: &LimitSamples, params| {
        let model = Model::Reduced(whole.limited(samples).unwrap().into());
        flesh.error(&played(&model, params, &poses), &snapshots)
    };
    let few = error(&samples, within(LIMITS, exact()));
    let all = error(&LimitSamples::all(&flesh.mesh), within(LIMITS, exact()));
    let none = error(&samples, exact());
    println!("few {few}, all {all}, none {none}");
    assert!(few < 0.1 && few < 0.2 * none && all < few.max(0.05), "few {few}, all {all}, none {none}");
}

#[test]
fn calm_motion_is_the_same_to_the_bit() {
    let flesh = flesh([6, 2, 2], Law::NeoHookean);
    let whole = flesh.reduced(&waves(&flesh.mesh, 14), None);
    let model = Model::Reduced(whole.limited(&LimitSamples::all(&flesh.mesh)).unwrap().into());
    let poses: Vec<_> = (0..12).map(|frame| swing(f64::from(frame) / 48.0)).collect();
    let wide = Bounds { limit: Some(10.0), stretch: Some(10.0) };
    let free = played(&Model::Reduced(whole.into()), exact(), &poses);
    assert!(free.iter().any(|u| u.abs() > 1e-4));
    assert_eq!(played(&model, within(wide, exact()), &poses), free);
    assert_eq!(played(&model, exact(), &poses), free);
}

#[test]
fn a_shot_that_feels_no_limit_teaches_none() {
    let flesh = flesh([6, 2, 2], Law::Corotated);
    let whole = flesh.reduced(&waves(&flesh.mesh, 14), None);
    let coefficients = some_coefficients(14, 1e-4);
    let pose = swing(0.1);
    let shot = Shot { poses: &pose, coefficients: &coefficients };
    let samples = whole.train_limits(&shot, LIMITS, ([20, 5], 0), &silent()).unwrap();
    assert_eq!(samples, LimitSamples::default());
    let model = Model::Reduced(whole.limited(&samples).unwrap().into());
    assert!(played(&model, within(LIMITS, exact()), &violent(6)).iter().all(|u| u.is_finite()));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let flesh = flesh([6, 2, 2], Law::Corotated);
    let poses = violent(12);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (_, whole, coefficients) = flesh.learnt(8, within(LIMITS, exact()), &poses);
            let shot = Shot { poses: poses.as_flattened(), coefficients: &coefficients };
            let samples = whole.train_limits(&shot, LIMITS, ([24, 8], 3), &silent()).unwrap();
            let model = Model::Reduced(whole.limited(&samples).unwrap().into());
            let params = within(LIMITS, SimulationParams::default());
            (samples, played(&model, params, &poses))
        })
    };
    assert!(on(1) == on(2));
}

#[test]
fn a_limit_that_makes_no_sense_is_refused() {
    let flesh = flesh([6, 2, 2], Law::Corotated);
    let whole = flesh.reduced(&waves(&flesh.mesh, 6), None);
    let refused = |samples: LimitSamples| whole.limited(&samples).map(drop).unwrap_err();
    let tets = |tets: Vec<u32>, weights: Vec<f64>| LimitSamples {
        tets: Cubature { tets, weights },
        ..LimitSamples::default()
    };
    let vertices =
        |vertices: Vec<u32>, weights: Vec<f64>| LimitSamples { vertices, weights, ..LimitSamples::default() };
    assert!(matches!(refused(tets(vec![100_000], vec![1.0])), Error::Index { what: "cubature", .. }));
    assert!(matches!(refused(tets(vec![1], vec![])), Error::Shape { .. }));
    assert!(matches!(refused(vertices(vec![100_000], vec![1.0])), Error::Index { what: "vertices", .. }));
    assert!(matches!(refused(vertices(vec![1], vec![])), Error::Shape { what: "vertices", .. }));
    assert!(matches!(refused(vertices(vec![1], vec![0.0])), Error::Range { what: "vertices", .. }));
    assert!(matches!(refused(vertices(vec![1], vec![f64::NAN])), Error::NotFinite { what: "vertices", .. }));
    let coefficients = some_coefficients(6, 0.1);
    let shot = Shot { poses: &swing(0.1), coefficients: &coefficients };
    let bounds = Bounds { limit: Some(-1.0), stretch: None };
    assert!(matches!(
        whole.train_limits(&shot, bounds, ([5, 5], 0), &silent()),
        Err(Error::Range { what: "limit", .. })
    ));
    let mut sim = Simulation::new(Model::Reduced(whole.into()), exact()).unwrap();
    for bounds in [Bounds { stretch: None, ..LIMITS }, Bounds { limit: None, ..LIMITS }] {
        let said = sim.set_params(within(bounds, exact())).unwrap_err().to_string();
        assert!(said.contains("does not know where limits are felt"), "{said}");
    }
}
