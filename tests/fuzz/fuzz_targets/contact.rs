//! Any colliders at any, also jumping, positions around full-space flesh, free jelly and an attached sheet:
//! either an error message, or finite motion.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use jounce::Progress;
use jounce::inputs::{StepInput, SimulationParams};
use jounce::material::{Field, Law, Material};
use jounce::mesh::SurfaceMesh;
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::potentials::contact::{Collider, Shape};
use jounce::potentials::elastic::Fabric;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce_fuzz::{REST, Settings, Transform, advance, cube};
use libfuzzer_sys::fuzz_target;

const MOST_ITERATIONS: u32 = 20;

/// Number of vertices along a side of the sheet.
const SIDE: u32 = 5;

/// A rigged cube in the full space, a free cube with handles, and a sheet with handles attached to two
/// bones.
static BODIES: LazyLock<[Model; 3]> = LazyLock::new(|| {
    let (cube, silent) = (cube(), Progress::default());
    let full = cube.full_space(None, None, &silent).expect("a cube has a full space");
    let jelly = Material::new(Law::Arap, Field::Uniform(2e4), Field::Uniform(0.0), Field::Uniform(1e3));
    let handles = Handles::spread(&cube.mesh, 6, 0, &silent).expect("a cube has handles");
    let labels = cluster_tets_by_place(&cube.mesh, 8, 0, &silent).expect("a cube has clusters");
    let loose = ProjectiveModel::new(&cube.mesh, &jelly.expect("a material"), &handles, &labels, &silent);
    [full, Model::Projective(loose.expect("a cube can be loose").into()), sheet()]
});

/// A level sheet of 1 m with one side attached to the second of two bones.
fn sheet() -> Model {
    let cloth = Material::new(Law::Arap, Field::Uniform(1e4), Field::Uniform(0.0), Field::Uniform(300.0));
    let points: Vec<[f64; 3]> = (0..SIDE * SIDE)
        .map(|i| [i % SIDE, i / SIDE].map(|x| f64::from(x) / 4.0))
        .map(|[x, y]| [x, y, 0.5])
        .collect();
    let corners = (0..SIDE - 1).flat_map(|y| (0..SIDE - 1).map(move |x| SIDE * y + x));
    let triangles = corners.flat_map(|i| [[i, i + 1, i + SIDE], [i + 1, i + SIDE + 1, i + SIDE]]).collect();
    let weights: Vec<f64> = points.iter().flat_map(|_| [0.0, 1.0]).collect();
    let held: Vec<f64> = points.iter().map(|p| f64::from(p[0] == 0.0)).collect();
    let rig = Rig::new(points.len(), 2, &weights).expect("weights of a sheet");
    let surface = SurfaceMesh::new(points, triangles).expect("a sheet is a surface");
    let silent = Progress::default();
    let handles = Handles::over(&surface, 6, 0, &silent).expect("a sheet has handles");
    let fabric = Fabric { thickness: 2e-3, bending: 1.0 };
    ProjectiveModel::surface(&surface, &cloth.expect("a material"), fabric, &handles, &silent)
        .and_then(|model| model.attached(&rig, &held, 30.0))
        .map(|model| Model::Projective(model.into()))
        .expect("a sheet can hang")
}

/// A plausible number, or any number at all.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Number {
    Near(i8),
    Any(f64),
}

impl Number {
    fn value(self) -> f64 {
        match self {
            Self::Near(near) => f64::from(near) / 32.0,
            Self::Any(any) => any,
        }
    }
}

/// Colliders of any shape: flat, huge, inverted.
#[derive(Debug, Arbitrary)]
struct Obstacle {
    shape: Kind,
    friction: Number,
    spared: Vec<u8>,
}

#[derive(Debug, Arbitrary)]
enum Kind {
    Plane([[Number; 3]; 2]),
    Sphere([Number; 3], Number),
    Capsule([[Number; 3]; 2], Number),
    Cuboid([[Number; 3]; 2]),
    Mesh { points: Vec<[Number; 3]>, triangles: Vec<[u8; 3]>, resolution: u8 },
}

impl Obstacle {
    fn collider(&self) -> jounce::Result<Collider> {
        let of = |numbers: &[Number; 3]| numbers.map(Number::value);
        let shape = match &self.shape {
            Kind::Plane([point, normal]) => Shape::plane(of(point), of(normal)),
            Kind::Sphere(center, radius) => Shape::sphere(of(center), radius.value()),
            Kind::Capsule([start, end], radius) => Shape::capsule(of(start), of(end), radius.value()),
            Kind::Cuboid([center, size]) => Shape::cuboid(of(center), of(size)),
            Kind::Mesh { points, triangles, resolution } => {
                let points = points.iter().take(32).map(of).collect();
                let triangles = triangles.iter().take(64).map(|t| t.map(u32::from)).collect();
                SurfaceMesh::new(points, triangles)
                    .and_then(|surface| Shape::mesh(&surface, usize::from(resolution % 16)))
            }
        };
        let spared: Vec<u32> = self.spared.iter().map(|&point| point.into()).collect();
        Ok(Collider::new(shape?, self.friction.value())?.sparing(&spared))
    }
}

/// Position of a collider in a frame.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Place {
    Home,
    Rigid { angles: [i8; 2], to: [Number; 3] },
    Scaled([i8; 3]),
    Wild(Transform),
}

impl Place {
    fn transform(self) -> Transform {
        match self {
            Self::Home => REST,
            Self::Wild(transform) => transform,
            // From mirrored to four times the size; a scale near 1 counts as rounding, and is accepted.
            Self::Scaled(scale) => {
                let mut scaled = REST;
                (0..3).for_each(|c| scaled[c][c] = 1.0 + f64::from(scale[c]).powi(3) / 7e5);
                scaled
            }
            Self::Rigid { angles, to } => {
                let [(s, c), (t, d)] = angles.map(|angle| (f64::from(angle) / 40.0).sin_cos());
                let [x, y, z] = to.map(Number::value);
                [[c, -s * d, s * t, x], [s, c * d, -c * t, y], [0.0, t, d, z]]
            }
        }
    }
}

#[derive(Debug, Arbitrary)]
struct Frame {
    places: [Place; 3],
    swing: [i8; 3],
    jumps: bool,
}

fuzz_target!(|input: (Settings, u8, Vec<Obstacle>, Vec<Frame>)| {
    let (settings, body, obstacles, frames) = input;
    let Ok(colliders) = obstacles.iter().take(3).map(Obstacle::collider).collect::<Result<Vec<_>, _>>()
    else {
        return;
    };
    let model = BODIES[usize::from(body) % BODIES.len()].clone();
    let is_loose = model.bone_count() == 0;
    // If all points are in contact with several colliders, an iteration under a sanitizer takes tens of
    // milliseconds.
    let wild = settings.params();
    let params = SimulationParams { max_iterations: wild.max_iterations.min(MOST_ITERATIONS), ..wild };
    let Ok(mut simulation) = Simulation::among(model, params, &colliders, None) else { return };
    for frame in frames.into_iter().take(6) {
        let places = frame.places.map(Place::transform);
        let mut bent = REST;
        bent.iter_mut().zip(frame.swing).for_each(|(row, small)| row[3] = f64::from(small) / 64.0);
        let pose = [REST, bent];
        let pose = (!is_loose).then_some(&pose[..]);
        let input = StepInput { pose, colliders: Some(&places[..colliders.len()]), ..StepInput::default() };
        if frame.jumps {
            let _ = simulation.cut(&input);
        }
        advance(&mut simulation, &input);
    }
});
