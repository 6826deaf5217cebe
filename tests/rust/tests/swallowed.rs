//! Bodies thrown at narrow obstacles: nothing stays inside. Distances are measured by formulas of this file.

use jounce::Progress;
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::projective::{ProjectiveModel, Start};
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::Simulation;
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce_tests::bodies::{bar, turn};
use jounce_tests::handled::places;
use jounce_tests::touching::{Body, params};
use rayon::prelude::*;

/// Side of the thrown cube, metres.
const SIDE: f64 = 0.1;
/// Depth that counts as inside at the end, as a share of the side.
const INSIDE: f64 = 5e-3;
/// Frames at the end of a throw in all of which a vertex is inside that stays inside.
const LAST: usize = 6;
/// Widths of obstacles in sides of the cube, and speeds in sides a substep.
const WIDTHS: [f64; 5] = [0.1, 0.25, 0.5, 1.0, 3.0];
const SPEEDS: [f64; 5] = [0.05, 0.2, 0.5, 1.0, 3.0];

/// An obstacle with its top at the origin.
#[derive(Clone, Copy, Debug)]
enum Obstacle {
    Post { width: f64 },
    Ball { radius: f64 },
    Rail { radius: f64 },
}

impl Obstacle {
    fn collider(self) -> Collider {
        let shape = match self {
            Self::Post { width } => Shape::cuboid([0.0, 0.0, -1.0], [width, width, 2.0]),
            Self::Ball { radius } => Shape::sphere([0.0, 0.0, -radius], radius),
            Self::Rail { radius } => Shape::capsule([0.0, -0.5, -radius], [0.0, 0.5, -radius], radius),
        };
        Collider::new(shape.unwrap(), 0.3).unwrap()
    }

    /// Depth of a point below the obstacle's surface, negative outside.
    fn depth(self, [x, y, z]: [f64; 3]) -> f64 {
        match self {
            Self::Post { width } => (0.5 * width - x.abs().max(y.abs())).min(-z).min(z + 2.0),
            Self::Ball { radius } => radius - (x * x + y * y + (z + radius).powi(2)).sqrt(),
            Self::Rail { radius } => {
                let beyond = y - y.clamp(-0.5, 0.5);
                radius - (x * x + beyond * beyond + (z + radius).powi(2)).sqrt()
            }
        }
    }
}

/// A cube of jelly with its first corner at the origin.
enum Thrown {
    Free { mesh: TetMesh, model: Model },
    Full(Body),
}

impl Thrown {
    fn free() -> Self {
        let silent = Progress::default();
        let mesh = bar([6, 6, 6], SIDE / 6.0);
        let material =
            Material::new(Law::Arap, Field::Uniform(2e4), Field::Uniform(0.0), Field::Uniform(1000.0))
                .unwrap();
        let handles = Handles::spread(&mesh, 12, 0, &silent).unwrap();
        let labels = cluster_tets_by_place(&mesh, 30, 0, &silent).unwrap();
        let model = ProjectiveModel::new(&mesh, &material, &handles, &labels, &silent).unwrap();
        Self::Free { model: Model::Projective(model.into()), mesh }
    }

    fn full() -> Self {
        Self::Full(Body::new(bar([6, 6, 6], SIDE / 6.0), None))
    }

    /// Vertices of the surface at the end of each of 36 frames, after a throw downwards from above an
    /// obstacle, at a speed in sides a substep. jitter: number of the place.
    fn thrown(&self, obstacle: Obstacle, (speed, substeps): (f64, u32), jitter: u32) -> Vec<Vec<[f64; 3]>> {
        let speed = speed * SIDE * 24.0 * f64::from(substeps);
        let aside = 0.08 * SIDE * (f64::from(jitter) - 2.6);
        let shift = [aside - 0.5 * SIDE, 0.4 * aside - 0.5 * SIDE, 0.03 + 0.05 * SIDE * f64::from(jitter)];
        let params = SimulationParams { substeps, damping: 0.2, ..params() };
        match self {
            Self::Free { mesh, model } => {
                let colliders = [obstacle.collider()];
                let mut sim = Simulation::among(model.clone(), params, &colliders, None).unwrap();
                let place = turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], shift);
                sim.place(&Start { place, velocity: [0.0, 0.0, -speed], ..Start::default() }).unwrap();
                let skin = mesh.boundary_vertices();
                frames(&mut sim, |sim| {
                    let all = places(sim);
                    skin.iter().map(|&vertex| all[vertex as usize].into()).collect()
                })
            }
            Self::Full(body) => {
                let place = |place: &[f64; 3]| std::array::from_fn(|c| place[c] + shift[c]);
                let places = body.mesh.vertices().iter().map(place).collect();
                let body = Body::new(TetMesh::new(places, body.mesh.tets().to_vec()).unwrap(), None);
                // One kick sends it flying.
                let (dt, gravity) = (1e-3, [0.0, 0.0, -1e3 * speed]);
                let kick = SimulationParams { gravity, dt, substeps: 1, ..params };
                let mut sim = body.among(kick, &[obstacle.collider()]);
                sim.step(None).unwrap();
                sim.set_params(params).unwrap();
                let skin = body.mesh.boundary_vertices();
                frames(&mut sim, |sim| {
                    let points = body.points(sim);
                    skin.iter().map(|&vertex| points[vertex as usize]).collect()
                })
            }
        }
    }
}

fn frames(sim: &mut Simulation, points: impl Fn(&Simulation) -> Vec<[f64; 3]>) -> Vec<Vec<[f64; 3]>> {
    let mut next = || {
        sim.step(None).unwrap();
        points(sim)
    };
    (0..36).map(|_| next()).collect()
}

#[test]
fn nothing_stays_inside_a_narrow_obstacle() {
    let bodies = [Thrown::free(), Thrown::full()];
    let mut throws = Vec::new();
    for width in WIDTHS {
        let (width, radius) = (width * SIDE, 0.5 * width * SIDE);
        for obstacle in [Obstacle::Post { width }, Obstacle::Ball { radius }, Obstacle::Rail { radius }] {
            for (speed, substeps) in SPEEDS.into_iter().flat_map(|speed| [(speed, 1), (speed, 4)]) {
                throws.extend((0..bodies.len()).map(|body| (body, obstacle, speed, substeps)));
            }
        }
    }
    let stays = |(number, &(body, obstacle, speed, substeps)): (usize, &(usize, Obstacle, f64, u32))| {
        let frames = bodies[body].thrown(obstacle, (speed, substeps), number as u32 % 7);
        let inside = |vertex: &usize| {
            let last = &frames[frames.len() - LAST..];
            last.iter().all(|points| obstacle.depth(points[*vertex]) > INSIDE * SIDE)
        };
        let count = (0..frames[0].len()).filter(inside).count();
        (count > 0).then(|| format!("body {body}, {obstacle:?}, {speed} in {substeps}: {count}"))
    };
    let stays: Vec<String> = throws.par_iter().enumerate().filter_map(stays).collect();
    assert!(stays.is_empty(), "{} of {}:\n{}", stays.len(), throws.len(), stays.join("\n"));
}
