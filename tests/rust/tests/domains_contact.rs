//! Trees of domains among colliders: drops, slopes, momentum, equilibrium against the full space, and
//! rejected input.

use std::sync::Arc;

use jounce::inputs::{Integrator, SimulationParams, StepInput, StepReport};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, lattice};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::tree::{Domain, DomainTree, Member, TreeInput};
use jounce::operators::lumped_mass;
use jounce::potentials::contact::{Collider, Shape};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Error, Progress};
use jounce_tests::bodies::{REST, Transform, bar, turn};
use jounce_tests::limb::displacement;
use jounce_tests::surfaces::sphere;
use jounce_tests::touching::{G, check_slopes, ground, moved, params};
use jounce_tests::trees::{CELL, attached, bending, chain, exact, linear, slice, soft, stick};
use nalgebra::Vector3;

fn silent() -> Progress {
    Progress::default()
}

fn shape(made: jounce::Result<Shape>, friction: f64) -> Collider {
    Collider::new(made.unwrap(), friction).unwrap()
}

/// A free body with its mesh and vertex masses.
struct Flying {
    mesh: TetMesh,
    masses: Vec<f64>,
    member: Member,
}

impl Flying {
    fn new(mesh: TetMesh, place: Transform) -> Self {
        let number = Field::Uniform;
        let material = Material::new(Law::Corotated, number(2e4), number(0.3), number(1000.0)).unwrap();
        let domain = linear(&mesh, &material, 12, false);
        let member = Member { domain, place, parent: None, interface: Vec::new() };
        Self { masses: lumped_mass(&mesh, &material), mesh, member }
    }

    /// A ball of radius 0.1 that touches z = 0.
    fn ball() -> Self {
        let surface = sphere(3).placed([0.1; 3], [0.0, 0.0, 0.1]).surface();
        Self::new(lattice(&surface, 8, &silent()).unwrap(), REST)
    }

    fn block(place: Transform) -> Self {
        Self::new(bar([4, 4, 2], 0.05), place)
    }

    fn among(&self, params: SimulationParams, colliders: &[Collider]) -> DomainTree {
        DomainTree::among(std::slice::from_ref(&self.member), true, params, colliders).unwrap()
    }

    /// Mass-weighted sum of a quantity over all vertices.
    fn sum(&self, tree: &DomainTree, of: impl Fn(Vector3<f64>) -> Vector3<f64>) -> Vector3<f64> {
        let places = tree.positions(0).unwrap();
        let terms = places.as_chunks::<3>().0.iter().zip(&self.masses);
        terms.map(|(x, mass)| *mass * of(Vector3::from(*x))).sum()
    }

    fn mean(&self, tree: &DomainTree) -> Vector3<f64> {
        self.sum(tree, |x| x) / self.masses.iter().sum::<f64>()
    }

    /// Largest penetration of the boundary's vertices into a shape, as a share of the diagonal.
    fn depth(&self, tree: &DomainTree, shape: &Shape) -> f64 {
        depth(tree, 0, &self.mesh, shape)
    }
}

fn depth(tree: &DomainTree, domain: usize, mesh: &TetMesh, shape: &Shape) -> f64 {
    let places = tree.positions(domain).unwrap();
    let places = places.as_chunks::<3>().0;
    let boundary = mesh.boundary_vertices();
    let depths = boundary.iter().map(|&v| -shape.distance(places[v as usize]).0);
    depths.fold(0.0, f64::max) / mesh.diagonal()
}

fn step(tree: &mut DomainTree) -> StepReport {
    tree.step(&TreeInput::default(), &silent()).unwrap()
}

fn steps(tree: &mut DomainTree, count: usize) {
    for _ in 0..count {
        step(tree);
    }
}

fn check_drops(drops: impl Iterator<Item = u32>) {
    let ball = Flying::ball();
    for drop in drops {
        let height = 0.02 + 0.02 * f64::from(drop);
        let ground = ground(-height, 0.5);
        let dt = [1.0 / 24.0, 1.0 / 40.0, 1.0 / 60.0][drop as usize % 3];
        let params = SimulationParams { dt, damping: 0.05, ..params() };
        let mut tree = ball.among(params, std::slice::from_ref(&ground));
        let start = ball.mean(&tree).z;
        let (mut last, mut lowest) = (start, start);
        for frame in 0..400 {
            step(&mut tree);
            last = ball.mean(&tree).z;
            lowest = lowest.min(last);
            assert!(last < start, "drop {drop} at {frame}: {last}");
            // After landing it rebounds by at most a tenth.
            if lowest < start - height {
                assert!(last < start - 0.9 * height, "drop {drop} at {frame}: {last} of {height}");
            }
            assert!(ball.depth(&tree, ground.shape()) < 1e-3, "drop {drop} at {frame}");
        }
        for _ in 0..20 {
            let report = step(&mut tree);
            let now = ball.mean(&tree).z;
            assert!((now - last).abs() < 1e-7, "drop {drop}: {}", now - last);
            assert!(report.iterations <= 4, "{report:?}");
            last = now;
        }
        let depth = ball.depth(&tree, ground.shape());
        assert!(depth > 0.0 && depth < 1e-3, "drop {drop}: {depth}");
    }
}

#[test]
fn a_ball_that_is_dropped_never_gains_height_and_comes_to_rest() {
    check_drops((0..40).step_by(5));
}

#[test]
#[ignore = "long: forty drops"]
fn a_ball_dropped_forty_times_never_gains_height_and_comes_to_rest() {
    check_drops(0..40);
}

/// Sum of kinetic, gravitational and elastic energy, J.
fn energy(body: &Flying, tree: &DomainTree, before: &[f64], elastic: f64, h: f64) -> f64 {
    let now = tree.positions(0).unwrap();
    let mut energy = elastic;
    for (vertex, mass) in body.masses.iter().enumerate() {
        let moved = (0..3).map(|c| (now[3 * vertex + c] - before[3 * vertex + c]).powi(2)).sum::<f64>();
        energy += mass * (0.5 * moved / (h * h) + G * now[3 * vertex + 2]);
    }
    energy
}

#[test]
fn energy_does_not_rise_where_a_block_tumbles_over_colliders() {
    let place = turn([1.0, 0.4, 0.2], 0.9, [0.0; 3], [0.0, 0.0, 0.5]);
    let block = Flying::block(place);
    let h = 1.0 / 60.0;
    for friction in [0.0, 0.6] {
        let colliders = [
            ground(0.0, friction),
            shape(Shape::sphere([0.05, 0.0, 0.1], 0.15), friction),
            shape(Shape::cuboid([0.4, 0.0, 0.0], [0.3, 0.5, 0.1]), friction),
        ];
        let mut tree = block.among(SimulationParams { dt: h, tolerance: 1e-9, ..params() }, &colliders);
        let (mut last, mut past) = (f64::INFINITY, tree.positions(0).unwrap());
        let mut first = None;
        for frame in 0..240 {
            let report = step(&mut tree);
            let now = energy(&block, &tree, &past, report.energy, h);
            assert!(now <= last + 1e-6 * first.unwrap_or(0.0), "{friction} at {frame}: {now} after {last}");
            (last, past) = (now, tree.positions(0).unwrap());
            first = first.or(Some(now));
        }
        assert!(last < 0.7 * first.unwrap(), "it has come down");
    }
}

/// The impulse of a plane on a body in a step points away from it, within the friction cone; without
/// friction it has no tangential part.
#[test]
fn momentum_changes_by_gravity_and_by_what_pushes() {
    let place = turn([0.0, 1.0, 0.3], 0.6, [0.0; 3], [0.0, 0.0, 0.05]);
    let h = 1.0 / 60.0;
    for friction in [0.0, 0.4] {
        let block = Flying::block(place);
        let gravity = [1.5, 0.5, -G];
        let params = SimulationParams { dt: h, gravity, ..exact() };
        let mut tree = block.among(params, &[ground(-0.1, friction)]);
        let weight = block.masses.iter().sum::<f64>() * G;
        let mut past = vec![block.sum(&tree, |x| x)];
        let (mut touched, mut slid): (i32, f64) = (0, 0.0);
        for _ in 0..90 {
            step(&mut tree);
            past.insert(0, block.sum(&tree, |x| x));
            let Some(&[now, last, older]) = past.first_chunk() else { continue };
            let force = (now - 2.0 * last + older) / (h * h)
                - block.masses.iter().sum::<f64>() * Vector3::from(gravity);
            let along = force.xy().norm();
            assert!(force.z > -1e-7 * weight, "{force}");
            assert!(along <= friction * force.z * (1.0 + 1e-2) + 1e-6 * weight, "{force}");
            touched += i32::from(force.z > 1e-3 * weight);
            slid = slid.max(along / weight);
        }
        assert!(touched > 20, "{touched}");
        assert_eq!(slid > 0.1, friction > 0.0, "{slid}");
    }
}

#[test]
fn a_block_on_a_slope_sticks_below_the_angle_of_friction_and_slides_above_it() {
    let block = Flying::block(REST);
    let places = |params, ground: &Collider| {
        let mut tree = block.among(params, std::slice::from_ref(ground));
        let mut place = || {
            step(&mut tree);
            block.mean(&tree).x
        };
        (0..72).map(|_| place()).collect()
    };
    check_slopes(places, 1e-6, 0.01);
}

#[test]
fn what_is_thrown_fast_does_not_pass_a_thin_box() {
    let ball = Flying::ball();
    for speed in [5.0, 10.0, 20.0, 40.0] {
        let top = 0.1 - 1.5 * speed / 24.0;
        let thin = shape(Shape::cuboid([0.0, 0.0, top - 0.005], [1.0, 1.0, 0.01]), 0.3);
        let kick = SimulationParams { gravity: [0.0, 0.0, -speed * 24.0], ..params() };
        let mut tree = ball.among(kick, std::slice::from_ref(&thin));
        step(&mut tree);
        tree.set_params(SimulationParams { gravity: [0.0; 3], ..params() }).unwrap();
        for frame in 0..12 {
            step(&mut tree);
            let places = tree.positions(0).unwrap();
            let lowest = places.as_chunks::<3>().0.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
            assert!(lowest > top - 2e-3, "{speed} m/s at {frame}: {}", lowest - top);
        }
    }
}

#[test]
fn what_touches_nothing_moves_by_the_same_bits_as_without_colliders() {
    let ball = Flying::ball();
    let far = [ground(-40.0, 0.5), shape(Shape::sphere([3.0, 0.0, 0.0], 2.0), 0.2)];
    let alone = std::slice::from_ref(&ball.member);
    let hung = chain(
        &[
            attached(&stick(4), &soft(Law::Corotated, 0.3), 3),
            linear(&stick(4), &soft(Law::Corotated, 0.3), 3, true),
        ],
        4,
    );
    for (members, free) in [(alone, true), (hung.as_slice(), false)] {
        let params = SimulationParams { gravity: [0.3, 0.0, -4.0], substeps: 2, damping: 0.02, ..params() };
        let mut one = DomainTree::new(members, free, params).unwrap();
        let mut other = DomainTree::among(members, free, params, &far).unwrap();
        for _ in 0..20 {
            assert_eq!(step(&mut one), step(&mut other));
            assert_eq!(one.frames(), other.frames());
            for domain in 0..members.len() {
                assert_eq!(one.positions(domain).unwrap(), other.positions(domain).unwrap());
            }
        }
    }
}

/// Number of cells in half of a bar hanging over a ball.
const HALF: usize = 8;

fn hanging() -> SimulationParams {
    let gravity = [0.0, 0.0, -3.0];
    SimulationParams { gravity, damping: 0.5, tolerance: 1e-8, max_iterations: 200, ..params() }
}

/// Middle of a half's end.
fn tip() -> usize {
    slice(&stick(HALF), HALF as f64 * CELL)[4] as usize
}

/// Static deflections of both halves' ends, and their penetration into a collider.
fn hung(material: &Material, (modes, count): (usize, usize), below: Option<&Collider>) -> ([f64; 2], f64) {
    let half = Arc::new(Domain::of_flesh(&bending(&stick(HALF), material, modes, count)).unwrap());
    let members = chain(&[half.clone(), half], HALF);
    let mut tree = match below {
        Some(below) => DomainTree::among(&members, false, hanging(), std::slice::from_ref(below)).unwrap(),
        None => DomainTree::new(&members, false, hanging()).unwrap(),
    };
    steps(&mut tree, 150);
    let hangs =
        |domain: usize| tree.positions(domain).unwrap()[3 * tip() + 2] - stick(HALF).vertices()[tip()][2];
    let depth = |below: &Collider| {
        (0..2).map(|domain| depth(&tree, domain, &stick(HALF), below.shape())).fold(0.0, f64::max)
    };
    ([0, 1].map(hangs), below.map_or(0.0, depth))
}

/// A fixed bar sags onto a ball: the halves agree with the full-space bar the better, the more
/// displacements they have.
#[test]
fn a_bar_in_two_lies_on_a_ball_as_the_full_space_does() {
    let material = soft(Law::Corotated, 0.0);
    let below = shape(Shape::sphere([1.2, 0.1, -0.33], 0.3), 0.0);
    let whole = stick(2 * HALF);
    let pinned: Vec<bool> = whole.vertices().iter().map(|x| x[0] < 1e-9).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let full =
        FullSpaceModel::of(&whole, &material, &restraint, &FullSpaceExtras::default(), &silent()).unwrap();
    let colliders = std::slice::from_ref(&below);
    let mut simulation =
        Simulation::among(Model::FullSpace(full.into()), hanging(), colliders, None).unwrap();
    simulation.settle(&StepInput::default(), 5000, &silent()).unwrap();
    let u = displacement(&simulation);
    let right = [HALF, 2 * HALF].map(|cells| u[3 * slice(&whole, cells as f64 * CELL)[4] as usize + 2]);
    let errors = [(3, 6), (6, 20), (10, 40)].map(|sizes| {
        let (found, depth) = hung(&material, sizes, Some(&below));
        assert!(depth > 0.0 && depth < 1e-3, "{depth}");
        (0..2).map(|end| (found[end] / right[end] - 1.0).abs()).fold(0.0, f64::max)
    });
    println!("{errors:?} of {right:?}");
    assert!(errors[0] > errors[1] && errors[1] > errors[2] && errors[2] < 0.04, "{errors:?}");
    let ([_, alone], _) = hung(&material, (6, 20), None);
    assert!(alone < 1.5 * right[1], "the ball does hold it: {alone}");
}

/// A fixed body deep inside a collider passes through it; a body that starts on the ground, pinned vertices
/// included, rests on it.
#[test]
fn what_is_held_passes_through_what_it_is_deep_in_and_lies_on_what_it_touches() {
    let material = soft(Law::Corotated, 0.3);
    let members = chain(&[attached(&stick(4), &material, 3), linear(&stick(4), &material, 3, true)], 4);
    let mut free = DomainTree::new(&members, false, hanging()).unwrap();
    let mut deep = DomainTree::among(&members, false, hanging(), &[ground(1.0, 0.5)]).unwrap();
    let mut lies = DomainTree::among(&members, false, hanging(), &[ground(0.0, 0.5)]).unwrap();
    for _ in 0..60 {
        assert_eq!(step(&mut free), step(&mut deep));
        step(&mut lies);
    }
    assert_eq!(free.positions(1).unwrap(), deep.positions(1).unwrap());
    for domain in 0..2 {
        let depth = depth(&lies, domain, &stick(4), ground(0.0, 0.5).shape());
        assert!(depth < 1e-3, "{domain}: {depth}");
    }
    let lowest = |tree: &DomainTree| {
        tree.positions(1).unwrap().as_chunks::<3>().0.iter().map(|x| x[2]).fold(0.0, f64::min)
    };
    assert!(lowest(&free) < 20.0 * lowest(&lies), "{} {}", lowest(&free), lowest(&lies));
}

/// A slab with four hundred vertices in contact at once, more than the working set holds.
#[test]
fn what_touches_with_many_vertices_lies_still() {
    let slab = Flying::new(bar([19, 19, 2], 0.02), REST);
    let below = ground(-0.02, 0.5);
    let mut tree = slab.among(SimulationParams { damping: 0.2, ..params() }, std::slice::from_ref(&below));
    steps(&mut tree, 100);
    let before = slab.mean(&tree);
    for _ in 0..20 {
        let report = step(&mut tree);
        assert!(report.iterations <= 6, "{report:?}");
    }
    assert!((slab.mean(&tree) - before).norm() < 1e-6);
    let depth = slab.depth(&tree, below.shape());
    assert!(depth > 0.0 && depth < 1e-3 && before.z.abs() < 1e-3, "{depth} {before}");
}

#[test]
fn colliders_that_move_carry_and_push() {
    let block = Flying::block(REST);
    let mut tree = block.among(params(), &[ground(0.0, 0.6)]);
    let lift = |frame: i32| moved([0.01 * f64::from(frame), 0.0, 0.005 * f64::from(frame)], 0.0);
    for frame in 0..60 {
        let colliders = [lift(frame)];
        let input = TreeInput { colliders: Some(&colliders), ..TreeInput::default() };
        tree.step(&input, &silent()).unwrap();
    }
    let mean = block.mean(&tree);
    assert!((mean.z - 0.05 - 0.005 * 59.0).abs() < 0.01, "{mean}");
    assert!((mean.x - 0.1 - 0.01 * 59.0).abs() < 0.03, "{mean}");
}

#[test]
fn a_state_replays_bit_for_bit_on_any_number_of_threads() {
    let play = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let block = Flying::block(turn([1.0, 0.2, 0.0], 0.7, [0.0; 3], [0.0, 0.0, 0.1]));
            let params = SimulationParams { substeps: 2, ..params() };
            let mut tree = block.among(params, &[ground(0.0, 0.5)]);
            steps(&mut tree, 6);
            let state = tree.save_state();
            let mut run = || {
                tree.restore_state(&state).unwrap();
                steps(&mut tree, 12);
                tree.positions(0).unwrap()
            };
            let [first, again] = [run(), run()];
            assert_eq!(first, again);
            first
        })
    };
    assert_eq!(play(1), play(3));
}

#[test]
fn what_does_not_go_with_colliders_is_refused_and_changes_nothing() {
    let block = Flying::block(REST);
    let members = std::slice::from_ref(&block.member);
    let refused = |params, colliders: &[Collider]| {
        DomainTree::among(members, true, params, colliders).err().unwrap().to_string()
    };
    assert!(refused(params(), &[]).starts_with("colliders: is empty"));
    let bdf2 = SimulationParams { integrator: Integrator::Bdf2, ..params() };
    assert!(refused(bdf2, &[ground(0.0, 0.5)]).starts_with("integrator: among colliders"));
    let sparing = ground(0.0, 0.5).sparing(&[1]);
    assert!(refused(params(), &[sparing]).starts_with("colliders: points that pass through"));
    let mut tree = block.among(params(), &[ground(0.0, 0.5)]);
    step(&mut tree);
    let state = tree.save_state();
    assert!(matches!(tree.set_params(bdf2), Err(Error::Unsupported { what: "integrator", .. })));
    let mut crooked = REST;
    crooked[0][0] = 2.0;
    for (colliders, sentence) in [
        (vec![REST; 2], "colliders: expected shape (1, 3, 4)"),
        (vec![crooked], "colliders: expected a rotation"),
    ] {
        let input = TreeInput { colliders: Some(&colliders), ..TreeInput::default() };
        let error = tree.step(&input, &silent()).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{error}");
        assert!(tree.save_state() == state);
    }
    let other = DomainTree::new(members, true, params()).unwrap().save_state();
    assert!(matches!(tree.restore_state(&other), Err(Error::Shape { what: "state", .. })));
}
