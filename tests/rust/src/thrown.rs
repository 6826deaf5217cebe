//! Bodies thrown at obstacles, and a meter of penetration by the formulas of the obstacles alone.

use jounce::inputs::Start;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{Embedding, SurfaceMesh, TetMesh};
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::potentials::contact::{Collider, ContactSkin, Shape};
use jounce::potentials::elastic::Fabric;
use jounce::simulation::Simulation;
use jounce::subspace::{Handles, cluster_tets_by_place};
use nalgebra::Vector3;

use crate::bodies::{bar, turn};
use crate::handled::{mass, places, silent, surface};
use crate::touching::{Body, G, params};

/// Side of a thrown cube, metres.
pub const SIDE: f64 = 0.1;
/// Depth that counts as inside, as a share of the side.
pub const INSIDE: f64 = 5e-3;
/// Steps at the end in all of which a vertex is inside that stays inside.
const LAST: usize = 6;
/// Points along an edge of a face in which its depth is measured.
const FINE: usize = 12;
/// Distance from the obstacle, as a share of the side, at which nothing touches: more than between two points
/// of a face in which its depth is measured.
const CLEAR: f64 = 0.15;
/// Places on the straight way of a face in a step, and the distance from the middle of what is round, in
/// radii, that counts as across it: more than from one place to the next.
const PLACES: usize = 64;
const ACROSS: f64 = 0.5;

/// An obstacle with its top at the origin.
#[derive(Clone, Copy, Debug)]
pub enum Obstacle {
    /// An upright box.
    Post {
        /// Metres.
        width: f64,
    },
    /// A sphere.
    Ball {
        /// Metres.
        radius: f64,
    },
    /// A lying rod with round ends.
    Rail {
        /// Metres.
        radius: f64,
    },
    /// A box with an edge towards the throw.
    Edge {
        /// Metres.
        width: f64,
    },
    /// An upright rod with a round tip.
    Needle {
        /// Metres.
        radius: f64,
    },
}

impl Obstacle {
    /// The obstacle as a collider.
    pub fn collider(self) -> Collider {
        let shape = match self {
            Self::Post { width } => Shape::cuboid([0.0, 0.0, -1.0], [width, width, 2.0]),
            Self::Ball { radius } => Shape::sphere([0.0, 0.0, -radius], radius),
            Self::Rail { radius } => Shape::capsule([0.0, -0.5, -radius], [0.0, 0.5, -radius], radius),
            Self::Edge { width } => Shape::cuboid([-0.5 * width, 0.0, -0.5 * width], [width, 1.0, width]),
            Self::Needle { radius } => Shape::capsule([0.0, 0.0, -1.0], [0.0, 0.0, -radius], radius),
        };
        Collider::new(shape.expect("a valid shape"), 0.3).expect("a valid collider")
    }

    /// Direction against the throw.
    pub fn up(self) -> Vector3<f64> {
        match self {
            Self::Edge { .. } => Vector3::new(1.0, 0.0, 1.0).normalize(),
            _ => Vector3::z(),
        }
    }

    /// Depth of a point below the obstacle's surface, negative outside.
    pub fn depth(self, [x, y, z]: [f64; 3]) -> f64 {
        match self {
            Self::Post { width } => (0.5 * width - x.abs().max(y.abs())).min(-z).min(z + 2.0),
            Self::Ball { radius } => radius - (x * x + y * y + (z + radius).powi(2)).sqrt(),
            Self::Rail { radius } => {
                let beyond = y - y.clamp(-0.5, 0.5);
                radius - (x * x + beyond * beyond + (z + radius).powi(2)).sqrt()
            }
            Self::Edge { width } => (-x).min(-z).min(x + width).min(z + width).min(0.5 - y.abs()),
            Self::Needle { radius } => {
                let beyond = z - z.clamp(-1.0, -radius);
                radius - (x * x + y * y + beyond * beyond).sqrt()
            }
        }
    }

    /// `true` if a face that moves straight from one place to another goes across the middle of a ball or
    /// rail: what has passed it is outside again.
    fn is_crossed(self, from: [Vector3<f64>; 3], to: [Vector3<f64>; 3]) -> bool {
        let (radius, along) = match self {
            Self::Ball { radius } => (radius, 1.0),
            Self::Rail { radius } => (radius, 0.0),
            _ => return false,
        };
        (1..=PLACES).any(|place| {
            let at = |c: usize| from[c].lerp(&to[c], place as f64 / PLACES as f64);
            let seen = |c: usize| Vector3::new(1.0, along, 1.0).component_mul(&at(c)) + radius * Vector3::z();
            distance([0, 1, 2].map(seen)) < ACROSS * radius
        })
    }
}

/// A body to be thrown, with its surface.
pub struct Thrown {
    model: Model,
    /// The mesh of a body in the full space.
    full: Option<TetMesh>,
    mass: Vec<f64>,
    /// Triangles of the surface, and its vertices.
    triangles: Vec<[u32; 3]>,
    skin: Vec<u32>,
    /// Contact points, if not all of the surface.
    points: Option<ContactSkin>,
    middle: Vector3<f64>,
}

/// Outcome of a throw.
#[derive(Debug, Default)]
pub struct Flight {
    /// `true` if a step was refused as too violent.
    pub refused: bool,
    /// Vertices that stay inside.
    pub inside: usize,
    /// Largest share of the vertices deep inside at once.
    pub deep: f64,
    /// Largest depth of a vertex and of a face, as a share of the side.
    pub deepest: [f64; 2],
    /// Largest depth on the straight way of a vertex in a step, as a share of the side: the obstacles are
    /// convex, so a vertex that passes none stays outside.
    pub passed: f64,
    /// Depth of faces at the end, as a share of the side.
    pub pierced: f64,
    /// `true` if a face goes across the middle of what is round.
    pub crossed: bool,
    /// Largest growth of the energy from one state clear of the obstacle to the next, as a share of that at
    /// the start. Contacts store energy on the way.
    pub gain: f64,
    /// Largest residual of a step.
    pub residual: f64,
    /// Number of steps that have not converged.
    pub unconverged: u32,
    /// Number of iterations of all steps.
    pub iterations: u32,
}

/// A throw from above an obstacle.
#[derive(Clone, Copy, Debug)]
pub struct Throw {
    /// Obstacle of the throw.
    pub obstacle: Obstacle,
    /// Sides a step.
    pub speed: f64,
    /// Steps a frame.
    pub substeps: u32,
    /// Number of the place above the obstacle.
    pub jitter: u32,
    /// Number of frames.
    pub frames: u32,
    /// Damping ratio.
    pub damping: f64,
}

impl Thrown {
    /// A cube of jelly with handles.
    pub fn handled(cells: usize) -> Self {
        let mesh = bar([cells; 3], SIDE / cells as f64);
        let material =
            Material::new(Law::Arap, Field::Uniform(2e4), Field::Uniform(0.0), Field::Uniform(1000.0))
                .expect("a valid material");
        let handles = Handles::spread(&mesh, if cells > 2 { 12 } else { 6 }, 0, &silent()).expect("handles");
        let labels =
            cluster_tets_by_place(&mesh, if cells > 2 { 30 } else { 5 }, 0, &silent()).expect("clusters");
        let model = ProjectiveModel::new(&mesh, &material, &handles, &labels, &silent()).expect("a model");
        Self::new(Model::Projective(model.into()), None, mesh.boundary())
    }

    /// A cube of flesh in the full space that touches with its vertices alone.
    pub fn of_points(cells: usize) -> Self {
        let body = Self::full(cells);
        let Some(mesh) = &body.full else { return body };
        let place = |vertex: u32| mesh.vertices()[vertex as usize];
        let places = mesh.boundary_vertices().into_iter().map(place);
        let points = Embedding::new(mesh, places.collect()).expect("points of the mesh");
        let skin = ContactSkin {
            points: points.into(),
            triangles: Vec::new().into(),
            rig: None,
            self_collision: false,
        };
        Self { points: Some(skin), ..body }
    }

    /// A cube of flesh in the full space.
    pub fn full(cells: usize) -> Self {
        let mesh = bar([cells; 3], SIDE / cells as f64);
        let body = Body::new(mesh.clone(), None);
        Self { mass: body.mass.clone(), ..Self::new(body.model, Some(mesh.clone()), mesh.boundary()) }
    }

    /// A sheet of cloth with handles.
    pub fn sheet(sheet: &SurfaceMesh, handles: usize) -> Self {
        let model = surface(sheet, Fabric { thickness: 2e-3, bending: 1.0 }, handles);
        Self::new(model, None, sheet.triangles().to_vec())
    }

    fn new(model: Model, full: Option<TetMesh>, triangles: Vec<[u32; 3]>) -> Self {
        let mass = if full.is_none() { mass(&model) } else { Vec::new() };
        let sum = model.vertices().iter().map(|place| Vector3::from(*place)).sum::<Vector3<f64>>();
        let middle = sum / model.vertices().len() as f64;
        let mut skin: Vec<u32> = triangles.as_flattened().to_vec();
        skin.sort_unstable();
        skin.dedup();
        Self { model, full, mass, triangles, skin, points: None, middle }
    }

    fn begin(&self, throw: &Throw, params: SimulationParams, shift: Vector3<f64>) -> Simulation {
        let colliders = [throw.obstacle.collider()];
        let velocity = -throw.speed * SIDE / params.dt * throw.obstacle.up();
        if self.full.is_none() {
            let mut sim = Simulation::among(self.model.clone(), params, &colliders, None).expect("a body");
            let place = turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], shift.into());
            sim.place(&Start { place, velocity: velocity.into(), ..Start::default() }).expect("a place");
            return sim;
        }
        // The obstacle is moved instead of the body, and one kick sends it flying.
        let dt = 1e-3;
        let kick = SimulationParams { gravity: (velocity / dt).into(), dt, ..params };
        let skin = self.points.clone();
        let mut sim = Simulation::among(self.model.clone(), kick, &colliders, skin).expect("a body");
        let pose = turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], (-shift).into());
        let input = StepInput { colliders: Some(&[pose]), ..Default::default() };
        sim.reset_with(&input).expect("an input");
        sim.step_with(&input, &silent()).expect("a step");
        sim.set_params(params).expect("settings");
        sim
    }

    /// Positions of the vertices relative to the obstacle.
    fn points(&self, sim: &Simulation, shift: Vector3<f64>) -> Vec<Vector3<f64>> {
        let Some(mesh) = &self.full else { return places(sim) };
        let moved = sim.coefficients().as_chunks::<3>().0;
        let place = |(u, x): (&[f64; 3], &[f64; 3])| Vector3::from(*u) + Vector3::from(*x) + shift;
        moved.iter().zip(mesh.vertices()).map(place).collect()
    }

    /// Throws the body.
    pub fn thrown(&self, throw: &Throw) -> Flight {
        let up = throw.obstacle.up();
        let aside = 0.08 * SIDE * (f64::from(throw.jitter) - 2.6);
        let lowest = self.model.vertices().iter().map(|x| (Vector3::from(*x) - self.middle).dot(&up));
        let above = 0.03 + 0.05 * SIDE * f64::from(throw.jitter) - lowest.fold(f64::INFINITY, f64::min);
        let shift =
            Vector3::new(0.0, 0.4 * aside, 0.0) + up.cross(&Vector3::y()) * aside + above * up - self.middle;
        let dt = 1.0 / 24.0 / f64::from(throw.substeps);
        let params = SimulationParams { dt, damping: throw.damping, gravity: (-G * up).into(), ..params() };
        let mut sim = self.begin(throw, params, shift);
        let pose = turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], (-shift).into());
        let input = StepInput {
            colliders: self.full.as_ref().map(|_| std::slice::from_ref(&pose)),
            ..Default::default()
        };
        let (mut flight, mut last, mut before) = (Flight::default(), Vec::new(), self.points(&sim, shift));
        let whole: f64 = self.mass.iter().sum();
        let speed = throw.speed * SIDE / dt;
        let moving = 0.5 * whole * speed * speed;
        let scale = moving + whole * G * SIDE;
        let mut energy = moving + self.lifted(&before, &up);
        for _ in 0..throw.frames * throw.substeps {
            let Ok(report) = sim.step_with(&input, &silent()) else {
                return Flight { refused: true, ..flight };
            };
            flight.residual = flight.residual.max(report.residual);
            flight.unconverged += u32::from(!report.converged);
            flight.iterations += report.iterations;
            let now = self.points(&sim, shift);
            let depth = |&vertex: &u32| throw.obstacle.depth(now[vertex as usize].into()) / SIDE;
            let depths: Vec<f64> = self.skin.iter().map(depth).collect();
            let deep = depths.iter().filter(|depth| **depth > INSIDE).count() as f64 / depths.len() as f64;
            flight.deep = flight.deep.max(deep);
            flight.deepest[0] = depths.iter().fold(flight.deepest[0], |most, depth| most.max(*depth));
            flight.pierced = self.pierced(&now, throw.obstacle);
            flight.deepest[1] = flight.deepest[1].max(flight.pierced);
            if flight.pierced < -CLEAR {
                let moving = self.mass.iter().zip(now.iter().zip(&before));
                let moving = moving.map(|(m, (x, y))| 0.5 * m * ((x - y) / dt).norm_squared()).sum::<f64>();
                let left = report.energy + moving + self.lifted(&now, &up);
                flight.gain = flight.gain.max((left - energy) / scale);
                energy = left;
            }
            self.follow([&before, &now], throw.obstacle, &mut flight);
            before = now;
            last.push(depths);
        }
        let stays = |vertex: &usize| last[last.len() - LAST..].iter().all(|depths| depths[*vertex] > INSIDE);
        flight.inside = (0..self.skin.len()).filter(stays).count();
        flight
    }

    /// Measures depths on the straight way from one state to the next.
    fn follow(&self, [before, now]: [&[Vector3<f64>]; 2], obstacle: Obstacle, flight: &mut Flight) {
        flight.crossed |= self.triangles.iter().any(|triangle| {
            let [from, to] = [before, now].map(|places| triangle.map(|v| places[v as usize]));
            obstacle.is_crossed(from, to)
        });
        for &vertex in &self.skin {
            let (from, to) = (before[vertex as usize], now[vertex as usize]);
            for part in 1..FINE {
                let place = from.lerp(&to, part as f64 / FINE as f64);
                flight.passed = flight.passed.max(obstacle.depth(place.into()) / SIDE);
            }
        }
    }

    /// Energy of gravity.
    fn lifted(&self, points: &[Vector3<f64>], up: &Vector3<f64>) -> f64 {
        self.mass.iter().zip(points).map(|(mass, place)| mass * G * up.dot(place)).sum()
    }

    /// Largest depth of a face, as a share of the side, negative outside.
    fn pierced(&self, points: &[Vector3<f64>], obstacle: Obstacle) -> f64 {
        let mut deepest = f64::NEG_INFINITY;
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|v| points[v as usize]);
            if matches!(obstacle, Obstacle::Post { .. } | Obstacle::Needle { .. }) {
                deepest = deepest.max(on_axis([a, b, c]).unwrap_or(deepest));
            }
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            if obstacle.depth(((a + b + c) / 3.0).into()) < -longest.max(CLEAR * SIDE) {
                continue;
            }
            for i in 0..=FINE {
                for j in 0..=FINE - i {
                    let [s, t] = [i, j].map(|n| n as f64 / FINE as f64);
                    deepest = deepest.max(obstacle.depth((a + s * (b - a) + t * (c - a)).into()));
                }
            }
        }
        deepest / SIDE
    }
}

/// Distance of a triangle from the origin.
pub fn distance([a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a));
    let is_left = |(p, q): (Vector3<f64>, Vector3<f64>)| normal.dot(&(q - p).cross(&-p)) >= 0.0;
    if normal.norm_squared() > 0.0 && [(a, b), (b, c), (c, a)].into_iter().all(is_left) {
        return (normal.dot(&a) / normal.norm()).abs();
    }
    let to_edge = |(p, q): (Vector3<f64>, Vector3<f64>)| {
        let (along, length) = (q - p, (q - p).norm_squared());
        let share = if length > 0.0 { (-p.dot(&along) / length).clamp(0.0, 1.0) } else { 0.0 };
        (p + share * along).norm()
    };
    [(a, b), (b, c), (c, a)].map(to_edge).into_iter().fold(f64::INFINITY, f64::min)
}

/// Depth below the origin at which a triangle cuts the upright axis of a long obstacle; `None` beside it, and
/// far below. What has jumped over the obstacle in a step cuts it too.
fn on_axis([a, b, c]: [Vector3<f64>; 3]) -> Option<f64> {
    let area = |p: &Vector3<f64>, q: &Vector3<f64>| p.x * q.y - p.y * q.x;
    let areas = [area(&b, &c), area(&c, &a), area(&a, &b)];
    let whole: f64 = areas.iter().sum();
    let depth = -(areas[0] * a.z + areas[1] * b.z + areas[2] * c.z) / whole;
    (areas.iter().all(|part| part / whole >= 0.0) && depth < 1.0).then_some(depth)
}
