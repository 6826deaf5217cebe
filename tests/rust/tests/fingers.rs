//! Fingers in flesh: colliders that overlap, are narrower than the flesh is fine, and move fast.

use jounce::Progress;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::potentials::contact::{Collider, Shape};
use jounce::subspace::Restraint;
use jounce_tests::bodies::{Transform, bar, turn};
use jounce_tests::touching::Body;
use nalgebra::{Matrix3, Vector3};

/// Cells of the flesh, their width, and its height, metres.
const CELLS: [usize; 3] = [12, 10, 5];
const CELL: f64 = 0.02;
const TOP: f64 = 0.1;
/// Radius of a finger, length of each of its three bones, and distance from the flesh at rest.
const RADIUS: f64 = 0.01;
const BONE: f64 = 0.03;
const ABOVE: f64 = 0.02;
/// Frame of the largest depth, and the last frame.
const DEEP: f64 = 4.0;
const LAST: usize = 15;

/// Flesh over a hard bottom.
fn flesh(poisson: f64) -> Body {
    let mesh = bar(CELLS, CELL);
    let pinned: Vec<bool> = mesh.vertices().iter().map(|v| v[2] == 0.0).collect();
    Body::with_poisson(mesh, &Restraint { pinned: Some(&pinned), ..Restraint::default() }, poisson)
}

/// Height of a bone's upper end.
fn height(bone: usize) -> f64 {
    TOP + ABOVE + BONE * (3 - bone) as f64
}

/// The three bones of four fingers that point down at the flesh.
fn fingers() -> Vec<Collider> {
    let bone = |finger: usize, bone: usize| {
        let [x, y] = [0.07, 0.05 + 0.025 * finger as f64];
        let capsule = Shape::capsule([x, y, height(bone)], [x, y, height(bone) - BONE], RADIUS).unwrap();
        Collider::new(capsule, 0.5).unwrap()
    };
    (0..4).flat_map(|finger| (0..3).map(move |number| bone(finger, number))).collect()
}

/// Placements in a frame: the fingers enter the flesh, bend in it, and are drawn through it.
fn placed(frame: f64) -> Vec<Transform> {
    let (down, along) = (0.015 * frame.min(DEEP), 0.012 * (frame - DEEP).clamp(0.0, 8.0));
    let bone = |bone: usize| {
        let bend = 0.12 * bone as f64 * (frame - 2.0).clamp(0.0, 4.0);
        turn([0.0, 1.0, 0.0], bend, [0.07, 0.0, height(bone)], [along, 0.0, -down])
    };
    (0..12).map(|number| bone(number % 3)).collect()
}

/// Largest depth of the flesh in the fingers, metres.
fn depth(points: &[[f64; 3]], fingers: &[Collider], places: &[Transform]) -> f64 {
    let depth = |point: &[f64; 3], finger: &Collider, place: &Transform| {
        let turned = Matrix3::from_fn(|i, j| place[i][j]);
        let shift = Vector3::from_fn(|i, _| place[i][3]);
        -finger.shape().distance((turned.transpose() * (Vector3::from(*point) - shift)).into()).0
    };
    let pairs = points.iter().flat_map(|point| fingers.iter().zip(places).map(move |pair| (point, pair)));
    pairs.map(|(point, (finger, place))| depth(point, finger, place)).fold(0.0, f64::max)
}

/// Planes that followed their points throughout a substep left 5 of these 15 steps unconverged at a Poisson's
/// ratio of 0, and 8 at 0.45.
#[test]
fn flesh_between_fingers_comes_to_a_solution() {
    for poisson in [0.0, 0.45] {
        let (body, fingers) = (flesh(poisson), fingers());
        let params = SimulationParams {
            substeps: 4,
            max_iterations: 200,
            tolerance: 1e-6,
            damping: 0.1,
            ..SimulationParams::default()
        };
        let mut sim = body.among(params, &fingers);
        let (mut unconverged, mut iterations, mut deepest) = (0, 0, 0.0);
        for frame in 1..=LAST {
            let places = placed(frame as f64);
            let input = StepInput { colliders: Some(&places), ..StepInput::default() };
            let report = sim.step_with(&input, &Progress::default()).unwrap();
            unconverged += usize::from(!report.converged);
            iterations += report.iterations;
            deepest = f64::max(deepest, depth(&body.points(&sim), &fingers, &places));
        }
        println!("{poisson}: {unconverged} unconverged, {iterations} iterations, {deepest} m deep");
        assert!(unconverged <= 1, "{poisson}: {unconverged} of {LAST}");
        assert!(deepest < RADIUS, "{poisson}: {deepest}");
    }
}
