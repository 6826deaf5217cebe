//! Trees of domains: comparison with the body in one piece, momentum, energy, and rejected input.

use std::f64::consts::TAU;
use std::sync::Arc;

use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::{Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::tree::{Domain, DomainTree, Member, TreeInput, Wind};
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Error, Progress};
use jounce_tests::bodies::{REST, Transform, turn};
use jounce_tests::limb::displacement;
use jounce_tests::trees::{
    CELL, along, attached, bending, chain, exact, linear, place_of, problem, slice, soft, stepped, stick,
};
use nalgebra::Vector3;

/// Numbers of cells along the whole bar and along a half.
const WHOLE: usize = 16;
const HALF: usize = 8;
/// Time step so long that a step ends at rest.
const LONG: f64 = 1e4;

fn silent() -> Progress {
    Progress::default()
}

fn blown<'a>(wind: &'a Wind<'a>) -> TreeInput<'a> {
    TreeInput { wind: Some(wind), ..TreeInput::default() }
}

fn led(root: &Transform) -> TreeInput<'_> {
    TreeInput { root: Some(root), ..TreeInput::default() }
}

fn tree(members: &[Member], free: bool, params: SimulationParams) -> DomainTree {
    DomainTree::new(members, free, params).unwrap()
}

/// Two halves in a chain.
fn halves(domain: &Arc<Domain>) -> Vec<Member> {
    chain(&[domain.clone(), domain.clone()], HALF)
}

/// Static deflection of the middle of the last domain's end.
fn hanging(members: &[Member], cells: usize, gravity: [f64; 3]) -> Vector3<f64> {
    let tip = slice(&stick(cells), cells as f64 * CELL)[4];
    let last = members.len() - 1;
    let start = tree(members, false, SimulationParams { dt: LONG, gravity, ..exact() });
    let before = Vector3::from(place_of(&start, last, tip));
    Vector3::from(place_of(&stepped(start, 6), last, tip)) - before
}

/// Static deflection of the bar in one piece, in the full space.
fn hanging_whole(material: &Material, gravity: [f64; 3]) -> Vector3<f64> {
    let (mesh, progress) = (stick(WHOLE), silent());
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 1e-9).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let full =
        FullSpaceModel::of(&mesh, material, &restraint, &FullSpaceExtras::default(), &progress).unwrap();
    let params = SimulationParams { gravity, tolerance: 1e-11, ..exact() };
    let mut simulation = Simulation::new(Model::FullSpace(full.into()), params).unwrap();
    simulation.settle(&StepInput::default(), 5000, &progress).unwrap();
    let tip = slice(&mesh, WHOLE as f64 * CELL)[4] as usize;
    Vector3::from_column_slice(&displacement(&simulation)[3 * tip..][..3])
}

/// Frequency of the largest amplitude of a signal near a given one, as a share of it.
fn loudest(signal: &[f64], h: f64, near: f64) -> f64 {
    let count = signal.len() as f64;
    let loud = |share: f64| {
        let mut sum = [0.0; 2];
        for (i, value) in (0..).map(f64::from).zip(signal) {
            let (window, angle) = (1.0 - (TAU * i / count).cos(), TAU * share * near * h * i);
            sum[0] += window * value * angle.cos();
            sum[1] += window * value * angle.sin();
        }
        sum[0].hypot(sum[1])
    };
    let shares = (0..=600).map(|i| 0.97 + 2e-4 * f64::from(i));
    shares.max_by(|&a, &b| loud(a).total_cmp(&loud(b))).unwrap()
}

/// First frequency of two halves, as a share of a given frequency.
fn swinging(members: &[Member], near: f64) -> f64 {
    let (h, gravity) = (1.0 / near / 200.0, [0.0, 0.0, -1e-3]);
    let mut tree = stepped(tree(members, false, SimulationParams { dt: LONG, gravity, ..exact() }), 4);
    let tip = slice(&stick(HALF), HALF as f64 * CELL)[4];
    let integrator = Integrator::Bdf2;
    tree.set_params(SimulationParams { dt: h, integrator, damping: 0.01, ..exact() }).unwrap();
    let mut signal = Vec::new();
    for _ in 0..4000 {
        tree.step(&TreeInput::default(), &silent()).unwrap();
        signal.push(place_of(&tree, 1, tip)[2] - CELL);
    }
    loudest(&signal, h, near)
}

/// A child's interface is treated as rigid, which matters with Poisson's ratio.
#[test]
fn a_bar_in_two_swings_and_hangs_as_the_bar_in_one() {
    let gravity = [0.0, 0.0, -1e-3];
    for (poisson, off, slower) in [(0.0, 0.0025, 5e-4), (0.3, 0.004, 2e-3)] {
        let material = soft(Law::Corotated, poisson);
        let near = problem(&stick(WHOLE), &material, true).lowest(1, &silent()).unwrap().frequencies()[0];
        let whole = hanging_whole(&material, gravity);
        let error = |members: &[Member]| (hanging(members, HALF, gravity) - whole).norm() / whole.norm();
        let errors = [2, 5, 20].map(|count| error(&halves(&linear(&stick(HALF), &material, count, true))));
        assert!(errors[0] > 0.1 && errors[1] < 0.11 && errors[2] < 0.025, "{errors:?}");
        // With a half's static response to the other's pull, three modes are as good as all.
        let members = halves(&attached(&stick(HALF), &material, 3));
        let hung = error(&members);
        assert!(hung < off, "{hung}");
        let share = swinging(&members, near);
        assert!((share - 1.0).abs() < slower, "{share}");
        let few = swinging(&halves(&linear(&stick(HALF), &material, 5, true)), near);
        assert!((few - 1.0).abs() > 0.01, "{few}");
    }
}

#[test]
fn far_bends_are_those_of_the_full_space() {
    let (material, gravity) = (soft(Law::Corotated, 0.0), [0.0, 0.0, -8.0]);
    let whole = hanging_whole(&material, gravity);
    assert!(whole.norm() > 0.4 * WHOLE as f64 * CELL, "{whole}");
    let error = |found: Vector3<f64>| (found - whole).norm() / whole.norm();
    let flesh = |modes: usize, count: usize| {
        let flesh = bending(&stick(HALF), &material, modes, count);
        let members = halves(&Arc::new(Domain::of_flesh(&flesh).unwrap()));
        error(hanging(&members, HALF, gravity))
    };
    let errors = [flesh(3, 6), flesh(6, 20), flesh(10, 40)];
    // Each piece bends little, in linear modes; all pieces together bend far.
    let pieces = [1, 2, 8].map(|count| {
        let cells = WHOLE / count;
        let domain = attached(&stick(cells), &material, 4);
        error(hanging(&chain(&vec![domain; count], cells), cells, gravity))
    });
    println!("flesh {errors:?}, linear pieces {pieces:?}");
    assert!(errors[1] < 0.5 * errors[0] && errors[2] < 0.01, "{errors:?}");
    assert!(pieces[0] > 0.3 && pieces[1] < 0.2 && pieces[2] < 0.04, "{pieces:?}");
}

/// A free tree: a stem and two arms at its end, one of them rotated.
fn free_tree() -> Vec<Member> {
    let material = soft(Law::Corotated, 0.3);
    let (stem, arm) = (linear(&stick(4), &material, 6, false), attached(&stick(2), &material, 3));
    let end = slice(&stick(4), 4.0 * CELL);
    let side: Vec<u32> =
        (0..).zip(stick(4).vertices()).filter(|(_, x)| x[2] > 0.19 && x[0] > 0.15).map(|(v, _)| v).collect();
    let mut upright = turn([0.0, 1.0, 0.0], -TAU / 4.0, [0.0; 3], [0.0; 3]);
    (upright[0][3], upright[2][3]) = (0.4, 0.2);
    let root = Member { domain: stem, place: REST, parent: None, interface: Vec::new() };
    let hung = |place: Transform, parent: usize, interface: Vec<u32>| Member {
        domain: arm.clone(),
        place,
        parent: Some(parent),
        interface,
    };
    let further = slice(&stick(2), 2.0 * CELL);
    vec![root, hung(along(0.4), 0, end), hung(upright, 0, side), hung(along(0.6), 1, further)]
}

/// Vertex masses of a member.
fn masses(number: usize) -> Vec<f64> {
    let mesh = stick(if number == 0 { 4 } else { 2 });
    lumped_mass(&mesh, &soft(Law::Corotated, 0.3))
}

/// Masses and positions of all vertices.
fn everything(tree: &DomainTree) -> Vec<(f64, Vector3<f64>)> {
    let of = |domain: usize| {
        let places = tree.positions(domain).unwrap();
        let places: Vec<Vector3<f64>> = places.as_chunks::<3>().0.iter().map(|x| Vector3::from(*x)).collect();
        masses(domain).into_iter().zip(places)
    };
    (0..tree.domain_count()).flat_map(of).collect()
}

/// Sets a free tree spinning by a medium that moves its parts apart.
fn spun(params: SimulationParams) -> DomainTree {
    let mut tree = tree(&free_tree(), true, params);
    let velocity = [[0.0, 0.4, 0.0], [0.3, -1.0, 2.0], [1.5, 0.2, -1.0], [-2.0, 1.0, 3.0]];
    let wind = Wind { velocity: &velocity, rate: &[3.0; 4] };
    for _ in 0..8 {
        tree.step(&blown(&wind), &silent()).unwrap();
    }
    tree
}

/// `sum m a = sum f` and `sum x m a = sum x f` in each step, so internal forces between domains cancel.
#[test]
fn momentum_changes_by_outer_forces_alone() {
    let (h, gravity) = (1.0 / 48.0, Vector3::new(0.4, 0.0, -2.0));
    let factors = [
        (Integrator::BackwardEuler, vec![1.0, -2.0, 1.0]),
        (Integrator::Bdf2, vec![2.25, -6.0, 5.5, -2.0, 0.25]),
    ];
    for (integrator, factors) in factors {
        let converged = SimulationParams { tolerance: 1e-14, ..exact() };
        let params =
            SimulationParams { dt: h, integrator, damping: 0.02, gravity: gravity.into(), ..converged };
        let mut tree = spun(params);
        let mut past = vec![everything(&tree)];
        for step in 0..40 {
            tree.step(&TreeInput::default(), &silent()).unwrap();
            past.insert(0, everything(&tree));
            if step < 4 {
                continue;
            }
            let [mut push, mut twist, mut size] = [Vector3::zeros(), Vector3::zeros(), Vector3::zeros()];
            for (vertex, (mass, x)) in past[0].iter().enumerate() {
                let moved: Vector3<f64> =
                    factors.iter().zip(&past).map(|(factor, places)| *factor * places[vertex].1).sum();
                let force = *mass * (moved / (h * h) - gravity);
                push += force;
                twist += x.cross(&force);
                size += force.abs() + x.cross(&force).abs();
            }
            assert!(size.max() > 1.0, "something moves");
            assert!(
                push.norm().max(twist.norm()) < 1e-6 * size.norm(),
                "{integrator:?} {push} {twist} of {size}"
            );
        }
    }
}

#[test]
fn energy_does_not_rise_where_nothing_drives() {
    let h = 1.0 / 60.0;
    for free in [true, false] {
        let mut tree = spun_or_hung(free, h);
        let mut past = everything(&tree);
        let mut last = f64::INFINITY;
        let mut first = 0.0;
        for _ in 0..200 {
            let report = tree.step(&TreeInput::default(), &silent()).unwrap();
            let now = everything(&tree);
            let mut energy = report.energy;
            for ((mass, x), (_, before)) in now.iter().zip(&past) {
                energy += 0.5 * mass * ((x - before) / h).norm_squared();
            }
            assert!(energy <= last * (1.0 + 1e-9) + 1e-12, "{energy} after {last}");
            (first, last, past) = (if first == 0.0 { energy } else { first }, energy, now);
        }
        assert!(first > 0.01, "{first}");
    }
}

/// A spinning free tree, or a tree released after bending far under gravity.
fn spun_or_hung(free: bool, h: f64) -> DomainTree {
    let params = SimulationParams { dt: h, ..exact() };
    if free {
        return spun(params);
    }
    let mut members = free_tree();
    members[0].domain = attached(&stick(4), &soft(Law::Corotated, 0.3), 4);
    let bent = SimulationParams { dt: LONG, gravity: [5.0, 20.0, -60.0], ..exact() };
    let mut tree = stepped(tree(&members, false, bent), 4);
    tree.set_params(params).unwrap();
    tree
}

/// A driven root has the same effect as gravity in the opposite direction.
#[test]
fn domains_feel_how_their_root_is_moved() {
    let (material, h, push) = (soft(Law::Corotated, 0.3), 1.0 / 30.0, [3.0, -2.0, 5.0]);
    let members = halves(&attached(&stick(HALF), &material, 3));
    let params = SimulationParams { dt: h, damping: 0.05, ..exact() };
    let mut driven = tree(&members, false, params);
    let mut pulled = tree(&members, false, SimulationParams { gravity: push.map(|a| -a), ..params });
    driven.step(&led(&REST), &silent()).unwrap();
    pulled.step(&led(&REST), &silent()).unwrap();
    // The pulled one starts a step earlier.
    pulled.reset();
    for step in 1..60 {
        let mut root = REST;
        let far = 0.5 * h * h * f64::from(step * (step + 1));
        (0..3).for_each(|c| root[c][3] = far * push[c]);
        driven.step(&led(&root), &silent()).unwrap();
        pulled.step(&TreeInput::default(), &silent()).unwrap();
        for domain in 0..2 {
            let (one, other) = (driven.coordinates(domain).unwrap(), pulled.coordinates(domain).unwrap());
            let size = other.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
            one.iter().zip(other).for_each(|(a, b)| assert!((a - b).abs() < 1e-7 * size.max(0.1), "{a} {b}"));
        }
    }
}

#[test]
fn one_domain_is_the_reduced_body() {
    let (mesh, material) = (stick(HALF), soft(Law::NeoHookean, 0.3));
    let flesh = bending(&mesh, &material, 4, 10);
    for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
        let params = SimulationParams { integrator, gravity: [0.0, 5.0, -50.0], substeps: 2, ..exact() };
        let mut simulation = Simulation::new(Model::Reduced(flesh.clone()), params).unwrap();
        let root = Member {
            domain: Domain::of_flesh(&flesh).unwrap().into(),
            place: REST,
            parent: None,
            interface: vec![],
        };
        let mut tree = tree(&[root], false, params);
        for _ in 0..24 {
            simulation.step(None).unwrap();
            tree.step(&TreeInput::default(), &silent()).unwrap();
            let (right, found) = (displacement(&simulation), tree.positions(0).unwrap());
            for (i, (u, x)) in right.iter().zip(&found).enumerate() {
                let apart = (x - mesh.vertices()[i / 3][i % 3] - u).abs();
                assert!(apart < 3e-7, "{apart}");
            }
        }
        assert!(displacement(&simulation).iter().any(|u| u.abs() > 0.05));
    }
}

#[test]
fn the_gradient_is_that_of_differences() {
    for free in [true, false] {
        let mut tree = if free { spun(exact()) } else { spun_or_hung(false, 1.0 / 30.0) };
        let count = 6 + tree.coordinate_count();
        let some = |i: usize| (1.3 * i as f64).sin();
        let at: Vec<f64> = (0..count)
            .map(|i| if i < 6 { 0.4 * f64::from(u8::from(free)) } else { 0.15 } * some(i))
            .collect();
        let (_, slopes) = tree.incremental_energy(&at).unwrap();
        let most = slopes.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
        for i in (if free { 0 } else { 6 })..count {
            let mut moved = |by: f64| {
                let mut moved = at.clone();
                moved[i] += by;
                tree.incremental_energy(&moved).unwrap().0
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(
                (difference - slopes[i]).abs() < 1e-7 * most,
                "{i}: {difference} {} of {most}",
                slopes[i]
            );
        }
    }
}

/// Everything is rotated, gravity included.
#[test]
fn it_is_the_same_wherever_it_stands() {
    let material = soft(Law::Corotated, 0.3);
    let members = halves(&attached(&stick(HALF), &material, 3));
    let world = turn([1.0, 2.0, -0.5], 1.9, [0.3, 0.0, 0.0], [4.0, -7.0, 2.0]);
    let apply = |place: &Transform| -> Transform {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let sum: f64 = (0..3).map(|k| world[i][k] * place[k][j]).sum();
                if j == 3 { sum + world[i][3] } else { sum }
            })
        })
    };
    let turned: Vec<Member> =
        members.iter().map(|member| Member { place: apply(&member.place), ..member.clone() }).collect();
    let down = [0.0, 3.0, -9.0];
    let gravity = std::array::from_fn(|i| (0..3).map(|k| world[i][k] * down[k]).sum());
    let params = SimulationParams { damping: 0.1, ..exact() };
    let one = stepped(tree(&members, false, SimulationParams { gravity: down, ..params }), 10);
    let other = stepped(tree(&turned, false, SimulationParams { gravity, ..params }), 10);
    for domain in 0..2 {
        let pairs = one.coordinates(domain).unwrap().iter().zip(other.coordinates(domain).unwrap());
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
    }
}

#[test]
fn what_nothing_holds_goes_with_the_wind() {
    let mut tree = spun(SimulationParams { damping: 0.2, ..exact() });
    let velocity = [[3.0, -1.0, 0.5]; 4];
    let wind = Wind { velocity: &velocity, rate: &[2.0; 4] };
    for _ in 0..400 {
        tree.step(&blown(&wind), &silent()).unwrap();
    }
    let before = everything(&tree);
    tree.step(&blown(&wind), &silent()).unwrap();
    for ((_, x), (_, before)) in everything(&tree).iter().zip(&before) {
        assert!((24.0 * (x - before) - Vector3::from(velocity[0])).norm() < 1e-4);
    }
}

#[test]
fn a_state_replays_bit_for_bit_on_any_number_of_threads() {
    let play = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut tree = spun(SimulationParams { integrator: Integrator::Bdf2, substeps: 2, ..exact() });
            let state = tree.save_state();
            let mut run = || {
                tree.restore_state(&state).unwrap();
                for _ in 0..5 {
                    tree.step(&TreeInput::default(), &silent()).unwrap();
                }
                (0..4).map(|domain| tree.positions(domain).unwrap()).collect::<Vec<_>>()
            };
            let [first, again] = [run(), run()];
            assert_eq!(first, again);
            first
        })
    };
    assert_eq!(play(1), play(3));
}

fn refused(change: impl Fn(&mut Vec<Member>)) -> String {
    let mut members = halves(&linear(&stick(HALF), &soft(Law::Corotated, 0.3), 3, true));
    change(&mut members);
    let error = DomainTree::new(&members, false, exact()).err().unwrap();
    assert!(!error.to_string().contains('\n'));
    error.to_string()
}

#[test]
fn what_is_no_tree_is_refused() {
    assert_eq!(refused(Vec::clear), "domains: is empty; at least one is needed");
    assert!(refused(|all| all[0].parent = Some(1)).starts_with("domain 0: its parent is not among"));
    assert!(refused(|all| all[1].parent = Some(1)).starts_with("domain 1: its parent is not among"));
    assert!(refused(|all| all[1].parent = None).starts_with("domain 1: only the first has no parent"));
    assert!(refused(|all| all[1].interface[2] = 900).starts_with("interface: element 2 refers to index 900"));
    for interface in [&[][..], &[8], &[8, 17], &[8, 17, 26]] {
        let sentence = refused(|all| all[1].interface = interface.to_vec());
        assert!(sentence.starts_with("domain 1: its interface is three vertices or more"), "{sentence}");
    }
    assert!(refused(|all| all[1].place = along(3.0)).starts_with("domain 1: it is held elsewhere"));
    assert!(refused(|all| all[1].place[0][0] = 2.0).starts_with("placements: expected a rotation"));
    assert!(refused(|all| all[1].place[2][3] = f64::NAN).starts_with("placements: element 11 is NaN"));
    let free = linear(&stick(HALF), &soft(Law::Corotated, 0.3), 3, false);
    assert!(refused(|all| all[1].domain = free.clone()).starts_with("domain 1: nothing holds it"));
}

#[test]
fn what_cannot_be_stepped_is_refused_and_changes_nothing() {
    let mut free = spun(exact());
    let state = free.save_state();
    let error = free.step(&led(&REST), &silent()).unwrap_err();
    assert!(error.to_string().starts_with("root: nothing holds this tree"));
    let winds = [
        (Wind { velocity: &[[0.0; 3]; 3], rate: &[1.0; 4] }, "wind: expected shape"),
        (Wind { velocity: &[[0.0; 3]; 4], rate: &[1.0; 5] }, "drag: expected shape"),
        (Wind { velocity: &[[0.0, f64::NAN, 0.0]; 4], rate: &[1.0; 4] }, "wind: element 0 is NaN"),
        (Wind { velocity: &[[0.0; 3]; 4], rate: &[-1.0; 4] }, "drag: expected rates"),
        (Wind { velocity: &[[1e308; 3]; 4], rate: &[1e300; 4] }, "step failed: numbers have overflowed"),
    ];
    for (wind, sentence) in winds {
        let error = free.step(&blown(&wind), &silent()).unwrap_err();
        assert!(error.to_string().starts_with(sentence), "{error}");
        assert!(free.save_state() == state);
    }
    let other = tree(&free_tree()[..2], true, exact()).save_state();
    assert!(matches!(free.restore_state(&other), Err(Error::Shape { what: "state", .. })));
    let members = halves(&linear(&stick(HALF), &soft(Law::Corotated, 0.3), 3, true));
    let mut held = tree(&members, false, exact());
    let mut crooked = REST;
    crooked[1][1] = 0.5;
    assert!(matches!(held.step(&led(&crooked), &silent()), Err(Error::Range { what: "root", .. })));
    assert!(held.coordinates(2).is_err() && held.positions(7).is_err());
}

#[test]
fn what_its_frame_does_a_domain_does_not() {
    let (mesh, material): (TetMesh, Material) = (stick(2), soft(Law::Corotated, 0.3));
    let problem = problem(&mesh, &material, false);
    let modes = problem.lowest(9, &silent()).unwrap();
    let (points, masses, boundary) = (mesh.vertices(), problem.masses(), mesh.boundary_vertices());
    let domain = Domain::of_modes(points, &masses, &boundary, &modes).unwrap();
    assert_eq!((domain.rank(), domain.held().len()), (3, 0));
    let rigid = problem.lowest(6, &silent()).unwrap();
    let none = Domain::of_modes(points, &masses, &boundary, &rigid);
    assert!(matches!(none, Err(Error::Unsupported { .. })));
    assert!(matches!(Domain::of_modes(points, &[1.0], &boundary, &modes), Err(Error::Shape { .. })));
    let further = Domain::of_modes(points, &masses, &[0, 27], &modes);
    assert!(matches!(further, Err(Error::Index { what: "boundary", element: 1, .. })));
}
