//! Free jellies that meet at speed, and a meter of penetration by their vertices alone.

use jounce::Progress;
use jounce::inputs::Start;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::{Participant, Simulation, step_together};
use jounce::subspace::{Handles, cluster_tets_by_place};
use nalgebra::{Matrix3, Vector3};

use crate::bodies::{bar, turn};
use crate::handled::{mass, places};
use crate::thrown::distance;
use crate::touching::params;

/// Number of cells along an edge of a cube.
const CELLS: usize = 4;
/// Side of the smaller cube, metres.
pub const SIDE: f64 = 0.1;

/// A cube of jelly with a corner at the origin.
pub struct Cube {
    mesh: TetMesh,
    skin: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    mass: Vec<f64>,
    model: Model,
    side: f64,
}

impl Cube {
    /// A cube of 20 kPa.
    pub fn new(side: f64) -> Self {
        let (silent, mesh) = (Progress::default(), bar([CELLS; 3], side / CELLS as f64));
        let material =
            Material::new(Law::Arap, Field::Uniform(2e4), Field::Uniform(0.0), Field::Uniform(1000.0))
                .expect("a valid material");
        let handles = Handles::spread(&mesh, 12, 0, &silent).expect("handles");
        let labels = cluster_tets_by_place(&mesh, 60, 0, &silent).expect("clusters");
        let model = ProjectiveModel::new(&mesh, &material, &handles, &labels, &silent).expect("a model");
        let model = Model::Projective(model.into());
        Self {
            skin: mesh.boundary_vertices(),
            triangles: mesh.boundary(),
            mass: mass(&model),
            model,
            mesh,
            side,
        }
    }

    fn simulation(&self, params: SimulationParams, friction: f64) -> Simulation {
        let shape = Shape::cuboid([0.5 * self.side; 3], [self.side; 3]).expect("a shape");
        let shape = Collider::new(shape, friction).expect("a collider");
        Simulation::touching(self.model.clone(), params, &[], None, shape).expect("a body")
    }

    /// Largest distance from the deformed surface of the points inside of it, as a share of the smaller side.
    fn depth_of(&self, points: &[Vector3<f64>], places: &[Vector3<f64>]) -> f64 {
        let inside = points
            .iter()
            .filter(|point| self.mesh.tets().iter().any(|tet| is_in(point, tet.map(|v| places[v as usize]))));
        let depth = |point: &Vector3<f64>| {
            let corners = |triangle: &[u32; 3]| triangle.map(|v| places[v as usize] - point);
            self.triangles.iter().map(|triangle| distance(corners(triangle))).fold(f64::INFINITY, f64::min)
        };
        inside.map(depth).fold(0.0, f64::max) / SIDE
    }
}

/// `true` if a point is in a tet.
fn is_in(point: &Vector3<f64>, corners: [Vector3<f64>; 4]) -> bool {
    let reaches = |c: usize| {
        let along = corners.map(|corner| corner[c] - point[c]);
        along.iter().any(|x| *x > 0.0) && along.iter().any(|x| *x < 0.0)
    };
    if !(0..3).all(reaches) {
        return false;
    }
    let [a, b, c, d] = corners;
    let inverse = Matrix3::from_columns(&[b - a, c - a, d - a]).try_inverse();
    inverse.is_some_and(|inverse| {
        let shares = inverse * (point - a);
        shares.min() > 0.0 && shares.sum() < 1.0
    })
}

/// A meeting of two cubes.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Relative speed, small sides a substep.
    pub speed: f64,
    /// Distance of the centres across the way, small sides.
    pub beside: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Substeps a frame.
    pub substeps: u32,
    /// Number of the repetition.
    pub jitter: u32,
    /// Number of frames.
    pub frames: u32,
}

/// Outcome of a meeting.
#[derive(Debug, Default)]
pub struct Met {
    /// Largest depth of a vertex on the way and at the end, as a share of the small side.
    pub deepest: f64,
    /// At the end.
    pub left: f64,
    /// Distance of the centres along the way at the end, with its sign at the start, small sides.
    pub apart: f64,
    /// Largest residual and number of iterations.
    pub residual: f64,
    /// Sum over all steps.
    pub iterations: u32,
    /// Largest change of momentum, as a share of that of the thrown cube.
    pub lost: f64,
    /// Largest growth of kinetic and elastic energy, as a share of that at the start.
    pub gain: f64,
}

/// Throws the first cube at the second.
pub fn met(cubes: [&Cube; 2], meeting: &Meeting) -> Met {
    let &Meeting { speed, beside, friction, substeps, jitter, frames } = meeting;
    let dt = 1.0 / 24.0 / f64::from(substeps);
    let params = SimulationParams { dt, gravity: [0.0; 3], damping: 0.1, ..params() };
    let mut sims = cubes.map(|cube| cube.simulation(params, friction));
    let [small, large] = cubes.map(|cube| cube.side);
    let speed = speed * SIDE / dt;
    let nudge = f64::from(jitter);
    let gap = 0.02 + 0.013 * nudge * SIDE + (0.31 * nudge).fract() * (speed * dt).min(SIDE);
    let starts = [
        ([-0.5 * small - gap - 0.5 * large, beside * SIDE, 0.03 * SIDE * (nudge - 4.3)], speed, 0.21 * nudge),
        ([0.0; 3], 0.0, 0.0),
    ];
    for ((sim, cube), (place, speed, angle)) in sims.iter_mut().zip(cubes).zip(starts) {
        let middle = [0.5 * cube.side; 3];
        let shift = std::array::from_fn(|c| place[c] - middle[c]);
        let place = turn([1.0, 0.1, 0.1], angle, middle, shift);
        let velocity = [speed, 0.0, 0.0];
        sim.place(&Start { place, velocity, ..Start::default() }).expect("a place");
    }
    let center = |cube: &Cube, places: &[Vector3<f64>]| {
        let sum: Vector3<f64> = cube.mass.iter().zip(places).map(|(m, x)| *m * x).sum();
        sum / cube.mass.iter().sum::<f64>()
    };
    let moving = cubes[0].mass.iter().sum::<f64>() * speed;
    let whole = 0.5 * moving * speed;
    let mut before = [0, 1].map(|i| places(&sims[i]));
    let (mut met, mut energy) = (Met::default(), whole);
    for _ in 0..frames * substeps {
        let turns = sims.iter_mut().map(|simulation| Participant { simulation, input: StepInput::default() });
        let reports = step_together(&mut turns.collect::<Vec<_>>()).expect("a step");
        let now = [0, 1].map(|i| places(&sims[i]));
        met.residual = reports.iter().fold(met.residual, |most, report| most.max(report.residual));
        met.iterations += reports[0].iterations;
        let skins = [0, 1].map(|i| cubes[i].skin.iter().map(|&v| now[i][v as usize]).collect::<Vec<_>>());
        met.left = cubes[0].depth_of(&skins[1], &now[0]).max(cubes[1].depth_of(&skins[0], &now[1]));
        met.deepest = met.deepest.max(met.left);
        let mut momentum = Vector3::zeros();
        let mut sum: f64 = reports.iter().map(|report| report.energy).sum();
        for i in 0..2 {
            for ((m, x), y) in cubes[i].mass.iter().zip(&now[i]).zip(&before[i]) {
                let velocity = (x - y) / dt;
                momentum += *m * velocity;
                sum += 0.5 * m * velocity.norm_squared();
            }
        }
        met.lost = met.lost.max((momentum - moving * Vector3::x()).norm() / moving);
        met.gain = met.gain.max((sum - energy) / whole);
        (energy, before) = (sum, now);
    }
    met.apart = (center(cubes[1], &before[1]) - center(cubes[0], &before[0])).x / SIDE;
    met
}
