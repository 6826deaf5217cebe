//! Free bodies with handles in contact with each other.

use jounce::file::{decode_state, encode_state};
use jounce::inputs::Start;
use jounce::inputs::{SimulationParams, StepInput, StepReport};
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::operators::lumped_mass;
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::{Participant, Simulation, step_together};
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, bar, turn};
use jounce_tests::touching::{ground, params};
use nalgebra::{Matrix3, Vector3};

const EDGE: f64 = 0.12;
const MIDDLE: [f64; 3] = [0.5 * EDGE; 3];

/// A cube of jelly with a corner at the origin and edges along the axes.
struct Cube {
    mesh: TetMesh,
    mass: Vec<f64>,
    handles: Handles,
    model: Model,
}

impl Cube {
    fn new(density: f64, young: f64) -> Self {
        let (silent, mesh) = (Progress::default(), bar([4; 3], EDGE / 4.0));
        let [young, poisson, density] = [young, 0.0, density].map(Field::Uniform);
        let material = Material::new(Law::Arap, young, poisson, density).unwrap();
        let handles = Handles::spread(&mesh, 8, 0, &silent).unwrap();
        let labels = cluster_tets_by_place(&mesh, 24, 0, &silent).unwrap();
        let model = ProjectiveModel::new(&mesh, &material, &handles, &labels, &silent).unwrap();
        Self { mass: lumped_mass(&mesh, &material), handles, model: Model::Projective(model.into()), mesh }
    }

    fn shape() -> Shape {
        Shape::cuboid(MIDDLE, [EDGE; 3]).unwrap()
    }

    fn simulation(&self, params: SimulationParams, colliders: &[Collider], friction: f64) -> Simulation {
        let shape = Collider::new(Self::shape(), friction).unwrap();
        Simulation::touching(self.model.clone(), params, colliders, None, shape).unwrap()
    }

    fn places(&self, sim: &Simulation) -> Vec<Vector3<f64>> {
        let transforms = sim.coefficients().as_chunks::<4>().0.as_chunks::<3>().0;
        let place = |vertex: usize| {
            let rest = Vector3::from(self.mesh.vertices()[vertex]);
            self.handles.of_vertex(vertex).iter().fold(rest, |sum, &(handle, weight)| {
                let arm = rest - Vector3::from(self.handles.centers()[handle as usize]);
                let row = |[x, y, z, shift]: [f64; 4]| x * arm[0] + y * arm[1] + z * arm[2] + shift;
                sum + weight * Vector3::from(transforms[handle as usize].map(row))
            })
        };
        (0..self.mesh.vertices().len()).map(place).collect()
    }

    /// Largest penetration of some points into a deformed cube, found in its rest shape, as a share of the
    /// diagonal.
    fn depth_of(&self, points: &[Vector3<f64>], places: &[Vector3<f64>]) -> f64 {
        let mut deepest = 0.0;
        for tet in self.mesh.tets() {
            let edges = |[a, b, c, d]: [Vector3<f64>; 4]| Matrix3::from_columns(&[b - a, c - a, d - a]);
            let now = tet.map(|v| places[v as usize]);
            let rest = tet.map(|v| Vector3::from(self.mesh.vertices()[v as usize]));
            let Some(inverse) = edges(now).try_inverse() else { continue };
            for point in points {
                let shares = inverse * (point - now[0]);
                if shares.min() > 0.0 && shares.sum() < 1.0 {
                    let place = rest[0] + edges(rest) * shares;
                    deepest = f64::max(deepest, -Self::shape().distance(place.into()).0);
                }
            }
        }
        deepest / self.mesh.diagonal()
    }
}

/// Largest penetration of a vertex into another cube, as a share of the diagonal.
fn depth(cube: &Cube, sims: &[Simulation]) -> f64 {
    let places: Vec<_> = sims.iter().map(|sim| cube.places(sim)).collect();
    let mut deepest = 0.0;
    for a in 0..sims.len() {
        for b in (0..sims.len()).filter(|&b| b != a) {
            deepest = f64::max(deepest, cube.depth_of(&places[a], &places[b]));
        }
    }
    deepest
}

fn step(sims: &mut [Simulation]) -> Vec<StepReport> {
    let turns = sims.iter_mut().map(|simulation| Participant { simulation, input: StepInput::default() });
    step_together(&mut turns.collect::<Vec<_>>()).unwrap()
}

fn placed(place: [f64; 3], angle: f64) -> Start {
    Start { place: turn([1.0, 0.4, 0.3], angle, MIDDLE, place), ..Start::default() }
}

/// Upright cubes stacked on the ground, each rotated about the vertical.
fn stack(cube: &Cube, count: usize, params: SimulationParams) -> Vec<Simulation> {
    let floor = ground(0.0, 0.5);
    let one = |i: usize| {
        let mut sim = cube.simulation(params, std::slice::from_ref(&floor), 0.5);
        let place =
            turn([0.0, 0.0, 1.0], 0.3 * i as f64, MIDDLE, [0.0, 0.0, 0.001 + 1.005 * EDGE * i as f64]);
        sim.place(&Start { place, ..Start::default() }).unwrap();
        sim
    };
    (0..count).map(one).collect()
}

fn furthest(a: &[Vector3<f64>], b: &[Vector3<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

#[test]
fn two_that_collide_in_the_air_keep_their_momentum_and_gain_no_energy() {
    let cubes = [Cube::new(2000.0, 4e4), Cube::new(500.0, 1e4)];
    let params = SimulationParams { dt: 1.0 / 96.0, gravity: [0.0; 3], ..params() };
    let starts = [
        Start { velocity: [1.0, 0.0, 0.0], ..placed([-0.2, 0.0, 0.0], 0.4) },
        Start { velocity: [-2.0, 0.0, 0.0], ..placed([0.1, 0.02, 0.0], 1.1) },
    ];
    let mut sims: Vec<_> = cubes.iter().map(|cube| cube.simulation(params, &[], 0.5)).collect();
    sims.iter_mut().zip(&starts).for_each(|(sim, start)| sim.place(start).unwrap());
    let mut last: Vec<_> = cubes.iter().zip(&sims).map(|(cube, sim)| cube.places(sim)).collect();
    let (mut energy, mut rise, mut deepest, mut turned) = (3.456, 0.0, 0.0, 0.0);
    for _ in 0..48 {
        let reports = step(&mut sims);
        let now: Vec<_> = cubes.iter().zip(&sims).map(|(cube, sim)| cube.places(sim)).collect();
        let (mut momentum, mut angular) = (Vector3::zeros(), Vector3::zeros());
        let mut sum: f64 = reports.iter().map(|report| report.energy).sum();
        for ((cube, now), last) in cubes.iter().zip(&now).zip(&last) {
            for ((mass, now), last) in cube.mass.iter().zip(now).zip(last) {
                let velocity = (now - last) / params.dt;
                momentum += *mass * velocity;
                angular += *mass * now.cross(&velocity);
                sum += 0.5 * mass * velocity.norm_squared();
            }
        }
        assert!((momentum - Vector3::new(1.728, 0.0, 0.0)).norm() < 1e-9 * 1.728, "{momentum}");
        turned = f64::max(turned, (angular - Vector3::new(0.0, 0.10368, -0.06912)).norm());
        rise = f64::max(rise, sum - energy);
        deepest = f64::max(deepest, cubes[0].depth_of(&now[1], &now[0]));
        deepest = f64::max(deepest, cubes[0].depth_of(&now[0], &now[1]));
        (last, energy) = (now, sum);
    }
    assert!(energy < 0.3 * 3.456, "they have not met: {energy}");
    assert!(rise < 1e-9 * 3.456, "{rise}");
    assert!(deepest < 0.01, "{deepest}");
    assert!(turned < 0.05 * 0.1246, "{turned}");
}

#[test]
fn what_rests_on_others_is_silent() {
    // Softer cubes would buckle under their own weight; for five of 12 cm the limit is 250 kPa.
    for (count, young, frames) in [(2, 2e4, 200), (5, 1e6, 96)] {
        let cube = Cube::new(1000.0, young);
        // Residuals that a step leaves for the next one are no motion.
        let calm = SimulationParams { damping: 0.3, tolerance: 1e-8, max_iterations: 100, ..params() };
        let mut sims = stack(&cube, count, calm);
        let places = |sims: &[Simulation]| sims.iter().flat_map(|sim| cube.places(sim)).collect::<Vec<_>>();
        let (mut before, mut moved, mut deepest) = (places(&sims), 0.0, 0.0);
        for _ in 0..frames {
            step(&mut sims);
            let now = places(&sims);
            moved = furthest(&before, &now) / cube.mesh.diagonal();
            deepest = f64::max(deepest, depth(&cube, &sims));
            before = now;
        }
        assert!(moved < 2e-6, "{count}: {moved}");
        assert!(deepest < 1e-3, "{count}: {deepest}");
        // No cube has slid off, or sunk into the one below.
        for (i, sim) in sims.iter().enumerate() {
            let center = cube.places(sim).iter().sum::<Vector3<f64>>() / cube.mass.len() as f64;
            assert!((center - Vector3::from(MIDDLE)).xy().norm() < 0.02 * EDGE, "{i} of {count}: {center}");
            assert!(center[2] > 0.7 * EDGE * (i as f64 + 0.5), "{i} of {count}: {center}");
        }
    }
}

#[test]
fn a_heap_stays_out_of_itself_and_of_its_box() {
    let cube = Cube::new(1000.0, 5e4);
    let params = SimulationParams { substeps: 4, damping: 0.2, ..params() };
    let side = 3.5 * EDGE;
    let walls = [
        ([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
        ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([side, 0.0, 0.0], [-1.0, 0.0, 0.0]),
        ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        ([0.0, side, 0.0], [0.0, -1.0, 0.0]),
    ];
    let walls =
        walls.map(|(point, normal)| Collider::new(Shape::plane(point, normal).unwrap(), 0.5).unwrap());
    let one = |i: usize| {
        let (layer, row, column) = (i / 4, i % 4 / 2, i % 2);
        let place = [1.7 * column as f64, 1.7 * row as f64, 1.9 * layer as f64];
        let mut sim = cube.simulation(params, &walls, 0.5);
        sim.place(&placed(place.map(|x| (x + 0.4) * EDGE), 0.7 * i as f64)).unwrap();
        sim
    };
    let mut sims: Vec<_> = (0..16).map(one).collect();
    let (mut deepest, mut unconverged) = (0.0, 0);
    for frame in 0..24 {
        let reports = step(&mut sims);
        unconverged += usize::from(reports.iter().any(|report| !report.converged));
        deepest = f64::max(deepest, depth(&cube, &sims));
        let places = sims.iter().flat_map(|sim| cube.places(sim));
        let outside = places.map(|place| place.min()).fold(0.0, f64::min);
        assert!(outside > -1e-3 * EDGE, "{frame}: {outside}");
    }
    assert!(deepest < 0.01, "{deepest}");
    assert!(unconverged < 4, "{unconverged}");
}

#[test]
fn a_restored_state_replays_the_same_bits_for_any_number_of_threads() {
    let cube = Cube::new(1000.0, 2e4);
    let params = SimulationParams { substeps: 2, damping: 0.1, ..params() };
    let mut sims = stack(&cube, 2, params);
    (0..4).for_each(|_| _ = step(&mut sims));
    let states: Vec<_> = sims.iter().map(Simulation::save_state).collect();
    (0..3).for_each(|_| _ = step(&mut sims));
    let expected: Vec<_> = sims.iter().map(Simulation::save_state).collect();
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut others = stack(&cube, 2, params);
        for (sim, state) in others.iter_mut().zip(&states) {
            sim.restore_state(&decode_state(&encode_state(state)).unwrap()).unwrap();
        }
        pool.install(|| (0..3).for_each(|_| _ = step(&mut others)));
        let got: Vec<_> = others.iter().map(Simulation::save_state).collect();
        assert_eq!(got, expected);
    }
}

#[test]
fn those_that_do_not_meet_move_as_alone() {
    let cube = Cube::new(1000.0, 2e4);
    let floor = ground(0.0, 0.5);
    let start = |i: usize| placed([0.5 * i as f64, 0.0, 0.1], 0.4 * i as f64);
    let mut sims: Vec<_> =
        (0..3).map(|_| cube.simulation(params(), std::slice::from_ref(&floor), 0.5)).collect();
    let mut alone: Vec<_> = (0..3)
        .map(|_| {
            let floor = std::slice::from_ref(&floor);
            Simulation::among(cube.model.clone(), params(), floor, None).unwrap()
        })
        .collect();
    for i in 0..3 {
        sims[i].place(&start(i)).unwrap();
        alone[i].place(&start(i)).unwrap();
    }
    for _ in 0..24 {
        let reports = step(&mut sims);
        let expected: Vec<_> = alone.iter_mut().map(|sim| sim.step(None).unwrap()).collect();
        assert_eq!(reports, expected);
        for (sim, alone) in sims.iter().zip(&alone) {
            assert_eq!(sim.save_state(), alone.save_state());
        }
    }
}

#[test]
fn what_cannot_touch_is_refused() {
    let cube = Cube::new(1000.0, 2e4);
    let other = SimulationParams { substeps: 3, ..params() };
    let mut sims = [cube.simulation(params(), &[], 0.5), cube.simulation(other, &[], 0.5)];
    let before: Vec<_> = sims.iter().map(Simulation::save_state).collect();
    let turns = sims.iter_mut().map(|simulation| Participant { simulation, input: StepInput::default() });
    let refused = step_together(&mut turns.collect::<Vec<_>>());
    assert!(matches!(refused, Err(Error::Unsupported { what: "substeps", .. })));
    let after: Vec<_> = sims.iter().map(Simulation::save_state).collect();
    assert_eq!(before, after);
    let shape = Collider::new(Cube::shape(), 0.5).unwrap();
    let sparing = shape.clone().sparing(&[0]);
    let refused = Simulation::touching(cube.model.clone(), params(), &[], None, sparing);
    assert!(matches!(refused.err(), Some(Error::Unsupported { what: "shape", .. })));
    let skinned = Body::bar().model();
    let refused = Simulation::touching(skinned, params(), &[], None, shape);
    assert!(matches!(refused.err(), Some(Error::Unsupported { what: "shape", .. })));
}
