//! Bodies of skinning modes among colliders: nothing that is thrown or posed stays inside, and colliders far
//! away cost and change nothing. Depths are by the formulas of the obstacles, at all vertices of the surface.

use std::sync::Arc;

use faer::Mat;
use jounce::Progress;
use jounce::file::{decode_state, encode_state};
use jounce::inputs::{Drive, SimulationParams};
use jounce::mesh::{Embedding, SurfaceMesh};
use jounce::model::Model;
use jounce::potentials::contact::{Collider, ContactSkin, Shape};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::SkinningModes;
use jounce_tests::allocations::ALLOCATIONS;
use jounce_tests::bodies::{Body, Transform, bar, displacement, turn};
use jounce_tests::thrown::{Obstacle, SIDE};
use jounce_tests::touching::{G, ground, params};
use nalgebra::Vector3;

/// Widths of obstacles, as a share of the body's length.
const WIDTHS: [f64; 5] = [0.1, 0.25, 0.5, 1.0, 3.0];
/// Length of the bar, and the depth to which its bones carry it into obstacles, metres.
const LENGTH: f64 = 0.8;
const INTO: f64 = 0.04;

/// A free cube of jelly with modes that move and squash it.
fn cube() -> Body {
    let body = Body::new(bar([4; 3], SIDE / 4.0), 4, 2);
    let wave = |x: f64| (std::f64::consts::PI * x / SIDE).cos();
    let weight = |i: usize, k: usize| if k == 0 { 1.0 } else { wave(body.mesh.vertices()[i][k - 1]) };
    let weights = Mat::from_fn(body.mesh.vertices().len(), 4, weight);
    let modes = SkinningModes { weights, eigenvalues: vec![0.0, 900.0, 900.0, 900.0] };
    Body { modes, ..body }
}

/// Largest depth of a vertex on the way of a cube that is thrown at an obstacle, and at the end, in sides.
fn thrown(body: &Body, model: &Model, obstacle: Obstacle, speed: f64, substeps: u32) -> [f64; 2] {
    let up = obstacle.up();
    let middle = Vector3::repeat(0.5 * SIDE);
    let lowest = body.mesh.vertices().iter().map(|x| (Vector3::from(*x) - middle).dot(&up));
    let shift: Vector3<f64> =
        (0.03 - lowest.fold(f64::INFINITY, f64::min)) * up + 0.004 * Vector3::y() - middle;
    let dt = 1.0 / 24.0 / f64::from(substeps);
    let velocity = -speed * SIDE / dt * up;
    let kick = SimulationParams { gravity: (velocity / 1e-3).into(), dt: 1e-3, ..params() };
    let pose = turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], (-shift).into());
    let drive = Drive { colliders: Some(&[pose]), ..Drive::default() };
    let mut sim = Simulation::among(model.clone(), kick, &[obstacle.collider()], None).unwrap();
    sim.reset_with(&drive).unwrap();
    sim.step_with(&drive, &Progress::default()).unwrap();
    sim.set_params(SimulationParams { dt, damping: 0.2, gravity: (-G * up).into(), ..params() }).unwrap();
    let outside = body.mesh.boundary_vertices();
    let (mut deepest, mut last) = (0.0, [0.0; 6]);
    for frame in 0..16 * substeps {
        sim.step_with(&drive, &Progress::default()).unwrap();
        let u = displacement(body, sim.coefficients());
        let place = |v: u32| Vector3::from(body.mesh.vertices()[v as usize]) + Vector3::from(u[v as usize]);
        let depth = |&v: &u32| obstacle.depth((place(v) + shift).into()) / SIDE;
        last[frame as usize % 6] = outside.iter().map(depth).fold(0.0, f64::max);
        deepest = f64::max(deepest, last[frame as usize % 6]);
    }
    [deepest, last.into_iter().fold(f64::INFINITY, f64::min)]
}

#[test]
fn nothing_that_is_thrown_stays_inside() {
    let body = cube();
    let model = Model::Skinning(body.reduce(None).into());
    for width in WIDTHS {
        let (wide, radius) = (width * SIDE, 0.5 * width * SIDE);
        let round = [Obstacle::Ball { radius }, Obstacle::Rail { radius }];
        for obstacle in
            [Obstacle::Post { width: wide }, Obstacle::Edge { width: wide }].into_iter().chain(round)
        {
            for (speed, substeps) in [(0.05, 1), (0.2, 1), (0.2, 4), (0.5, 4)] {
                let [deepest, end] = thrown(&body, &model, obstacle, speed, substeps);
                println!("{obstacle:?} {speed} {substeps}: {deepest:.4} {end:.4}");
                assert!(end < 1e-3, "{obstacle:?} {speed} {substeps}: {end} at the end");
                assert!(deepest < 0.03, "{obstacle:?} {speed} {substeps}: {deepest} on the way");
            }
        }
    }
}

/// A bar on two bones, and its surface with weights.
fn limb() -> (Body, Model, ContactSkin) {
    let body = Body::new(bar([16, 4, 4], LENGTH / 16.0), 16, 2);
    let outside = body.mesh.boundary_vertices();
    let places: Vec<[f64; 3]> = outside.iter().map(|&v| body.mesh.vertices()[v as usize]).collect();
    let mut weights = vec![0.0; 2 * places.len()];
    for bone in 0..2 {
        for &(vertex, weight) in body.rig.bone(bone) {
            if let Ok(point) = outside.binary_search(&vertex) {
                weights[2 * point + bone] = weight;
            }
        }
    }
    let rig = Rig::new(places.len(), 2, &weights).unwrap();
    let number = |vertex: u32| outside.binary_search(&vertex).unwrap() as u32;
    let triangles: Arc<[[u32; 3]]> = body.mesh.boundary().into_iter().map(|face| face.map(number)).collect();
    let points = Arc::new(Embedding::new(&body.mesh, places).unwrap());
    let model = body.model();
    (body, model, ContactSkin { points, triangles, rig: Some(Arc::new(rig)) })
}

/// An obstacle with its top at the origin, and the depth of a point below its surface.
type Solid = (&'static str, Shape, Box<dyn Fn([f64; 3]) -> f64>);

fn solids(width: f64) -> Vec<Solid> {
    let (wide, radius) = (width * LENGTH, 0.5 * width * LENGTH);
    let of = |obstacle: Obstacle| move |place| obstacle.depth(place);
    let shape = |obstacle: Obstacle| obstacle.collider().shape().clone();
    let (ball, rail) = (Obstacle::Ball { radius }, Obstacle::Rail { radius });
    let cut = |[x, y, z]: [f64; 3]| (0.5 * LENGTH - x.abs().max(y.abs())).min(-z).min(z + LENGTH);
    let low = SurfaceMesh::cuboid([LENGTH; 3]).unwrap();
    let lowered = |x: &[f64; 3]| [x[0] - 0.5 * LENGTH, x[1] - 0.5 * LENGTH, x[2] - LENGTH];
    let low = SurfaceMesh::new(low.points().iter().map(lowered).collect(), low.triangles().to_vec()).unwrap();
    vec![
        ("sphere", shape(ball), Box::new(of(ball))),
        ("capsule", shape(rail), Box::new(of(rail))),
        ("box", shape(Obstacle::Post { width: wide }), Box::new(of(Obstacle::Post { width: wide }))),
        ("plane", Shape::plane([0.0; 3], [0.0, 0.0, 1.0]).unwrap(), Box::new(|[_, _, z]| -z)),
        ("mesh", Shape::mesh(&low, 48).unwrap(), Box::new(cut)),
    ]
}

/// Pose of the obstacle below the middle of the bar, and of the bones, in a frame.
fn pressed(frame: usize) -> (Transform, [Transform; 2]) {
    let below = turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.5 * LENGTH, 0.1, -0.02]);
    let way = (INTO + 0.02) * (frame as f64 / 24.0).min(1.0);
    let moved = turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.0, 0.0, -way]);
    (below, [moved; 2])
}

/// Largest depth in any frame and in the last one, in lengths.
fn depths(
    limb: &(Body, Model, ContactSkin),
    mut sim: Simulation,
    depth: &dyn Fn([f64; 3]) -> f64,
) -> [f64; 2] {
    let (body, ..) = limb;
    let (mut deepest, mut end) = (0.0, 0.0);
    for frame in 0..60 {
        let (below, pose) = pressed(frame);
        let colliders = [below];
        let drive = Drive { pose: Some(&pose), colliders: Some(&colliders), ..Drive::default() };
        let drive = if sim.collider_count() > 0 { drive } else { Drive { colliders: None, ..drive } };
        sim.step_with(&drive, &Progress::default()).unwrap();
        let posed = body.rig.posed(body.mesh.vertices(), &pose).unwrap();
        let u = displacement(body, sim.coefficients());
        let at = |v: u32| std::array::from_fn(|c| posed[v as usize][c] + u[v as usize][c] - below[c][3]);
        // The ends hang on bones.
        let hangs = |v: u32| (body.mesh.vertices()[v as usize][0] / LENGTH - 0.5).abs() > 0.3;
        let flesh = body.mesh.boundary_vertices().into_iter().filter(|&v| !hangs(v));
        end = flesh.map(|v| depth(at(v))).fold(0.0, f64::max) / LENGTH;
        deepest = f64::max(deepest, end);
    }
    [deepest, end]
}

#[test]
fn what_bones_carry_into_something_stays_out() {
    let limb = limb();
    for width in WIDTHS {
        for (name, shape, depth) in solids(width) {
            let free =
                Simulation::new(limb.1.clone(), SimulationParams { damping: 0.2, ..Default::default() });
            let [_, before] = depths(&limb, free.unwrap(), &depth);
            let settings = SimulationParams { damping: 0.2, ..Default::default() };
            let collider = [Collider::new(shape, 0.3).unwrap()];
            let sim = Simulation::among(limb.1.clone(), settings, &collider, Some(limb.2.clone())).unwrap();
            let [deepest, end] = depths(&limb, sim, &depth);
            println!("{name} {width}: {before:.4} before, {deepest:.4} on the way, {end:.4} at the end");
            assert!(before > 0.03, "{name} {width}: {before}");
            assert!(deepest < 1e-3, "{name} {width}: {deepest}");
        }
    }
}

/// Coefficients of each frame.
fn shot(sim: &mut Simulation, frames: std::ops::Range<usize>) -> Vec<Vec<f64>> {
    let step = |frame| {
        let (below, pose) = pressed(frame);
        let drive = Drive { pose: Some(&pose), colliders: Some(&[below]), ..Drive::default() };
        sim.step_with(&drive, &Progress::default()).unwrap();
        sim.coefficients().to_vec()
    };
    frames.map(step).collect()
}

#[test]
fn steps_have_the_same_bits_after_going_back() {
    let (_, model, skin) = limb();
    let settings = SimulationParams { substeps: 2, ..params() };
    let ball = [Collider::new(Shape::sphere([0.0, 0.0, -0.2], 0.2).unwrap(), 0.5).unwrap()];
    let begun = || Simulation::among(model.clone(), settings, &ball, Some(skin.clone())).unwrap();
    let whole = shot(&mut begun(), 0..30);
    let mut sim = begun();
    shot(&mut sim, 0..17);
    let state = decode_state(&encode_state(&sim.save_state())).unwrap();
    let mut other = begun();
    other.restore_state(&state).unwrap();
    assert_eq!(shot(&mut other, 17..30), whole[17..]);
    other.restore_state(&state).unwrap();
    assert_eq!(shot(&mut other.duplicate().unwrap(), 17..30), whole[17..]);
}

#[test]
fn colliders_far_away_change_no_bit_and_allocate_nothing() {
    let (_, model, skin) = limb();
    let far = [Collider::new(Shape::sphere([0.0, 0.0, -9.0], 1.0).unwrap(), 0.5).unwrap(), ground(-8.0, 0.5)];
    let mut among = Simulation::among(model.clone(), params(), &far, Some(skin)).unwrap();
    let mut alone = Simulation::new(model, params()).unwrap();
    for frame in 0..30 {
        let (_, pose) = pressed(frame);
        let before = ALLOCATIONS.get();
        among.step(Some(&pose)).unwrap();
        // The first steps near enough to compute all points make room for them.
        assert!(frame < 12 || ALLOCATIONS.get() == before, "{frame}");
        alone.step(Some(&pose)).unwrap();
        assert_eq!(among.coefficients(), alone.coefficients());
    }
}

#[test]
fn a_body_with_bones_needs_the_weights_of_its_points() {
    let (_, model, skin) = limb();
    let plane = [ground(0.0, 0.5)];
    let refused = |skin: Option<ContactSkin>| {
        Simulation::among(model.clone(), params(), &plane, skin).map(drop).unwrap_err().to_string()
    };
    let sentence =
        "contact_weights: skinning modes keep no weights of points; give contact points with their weights";
    assert_eq!(refused(None), sentence);
    assert_eq!(refused(Some(ContactSkin { rig: None, ..skin.clone() })), sentence);
    let one = Rig::new(3, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0]).unwrap();
    let wrong = refused(Some(ContactSkin { rig: Some(Arc::new(one)), ..skin }));
    assert!(wrong.starts_with("contact_weights: expected shape ("), "{wrong}");
}
