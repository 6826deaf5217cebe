//! Bars of full-space flesh against analytic solutions, and under violent treatment.

use jounce::Progress;
use jounce::inputs::{Integrator, Minimiser, SimulationParams};
use jounce::material::{Field, Law, Material, PrincipalStretch};
use jounce::mesh::solid_lattice;
use jounce::model::full_space::{FullSpaceModel, FullSpaceStepper};
use jounce::operators::momentum_leak;
use jounce::rig::Rig;
use jounce::subspace::Restraint;
use jounce_tests::bodies::{bar, turn};
use jounce_tests::complementary::{ComplementarySolver, ComplementarySolverParams};
use jounce_tests::hyperelastic::{DENSITY, Flesh, apart, longest};
use jounce_tests::laws::laws;
use jounce_tests::surfaces::sphere;
use nalgebra::Vector3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn silent(_: u32, _: f64) -> jounce::Result<()> {
    Ok(())
}

/// Laws with the small-strain moduli lambda and mu.
fn with_moduli(lambda: f64, mu: f64) -> [(&'static str, PrincipalStretch); 4] {
    [
        ("corotated", PrincipalStretch::Corotated { mu, lambda }),
        ("St. Venant-Kirchhoff", PrincipalStretch::StVenantKirchhoff { mu, lambda }),
        ("Neo-Hookean", PrincipalStretch::NeoHookean { mu, lambda }),
        (
            "Mooney-Rivlin",
            PrincipalStretch::MooneyRivlin { c1: 0.4 * mu, c2: 0.1 * mu, lambda: lambda - 0.4 * mu },
        ),
    ]
}

/// Young's modulus and Poisson's ratio as Lamé parameters.
fn lame(young: f64, poisson: f64) -> (f64, f64) {
    (young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson)))
}

/// Settings with a time step so long that inertia is negligible.
fn statics() -> SimulationParams {
    let dt = 1e3;
    SimulationParams {
        dt,
        max_iterations: 500,
        tolerance: 1e-12,
        pose_rest: 0.0,
        ..SimulationParams::default()
    }
}

/// Hanging from one end, a bar gets longer by `rho g L^2 / (2 E)` and, in its middle, thinner by nu times
/// the strain there, `rho g L / (2 E)`. The clamp prevents thinning at the end, so lengths are compared at
/// a ratio of 0.
#[test]
fn a_hanging_bar_gets_longer_and_thinner_by_the_analytic_amounts() {
    let (young, pull, length) = (1e6, 0.5, 1.6);
    let cases = [0.0, 0.3].into_iter().flat_map(|poisson| {
        let (lambda, mu) = lame(young, poisson);
        with_moduli(lambda, mu).map(|(name, law)| (poisson, name, law))
    });
    for (poisson, name, law) in cases {
        let flesh = Flesh { mesh: bar([16, 2, 2], 0.1), law };
        let mut stepper = flesh.hung();
        let settings = SimulationParams { gravity: [pull, 0.0, 0.0], ..statics() };
        for _ in 0..3 {
            stepper.step(flesh.mesh.vertices(), &settings, silent).unwrap();
        }
        let u = stepper.displacement();
        let of = |x: f64, y: f64| {
            let at = |v: &[f64; 3]| (v[0] - x).abs() + (v[1] - y).abs() + (v[2] - 0.1).abs() < 1e-9;
            Vector3::from(u[flesh.mesh.vertices().iter().position(at).unwrap()])
        };
        if poisson == 0.0 {
            let longer = of(length, 0.1).x / (DENSITY * pull * length * length / (2.0 * young));
            assert!((longer - 1.0).abs() < 5e-3, "{name}: {longer} times as much longer");
        } else {
            let strain = DENSITY * pull * 0.5 * length / young;
            let thinner = (of(0.8, 0.0).y - of(0.8, 0.2).y) / 0.2 / (poisson * strain);
            assert!((thinner - 1.0).abs() < 5e-3, "{name}: {thinner} times as much thinner");
        }
    }
}

/// A bar fixed at one end is pulled and released: `f = sqrt(E / rho) / (4 L)`. Such swings, 25 times as
/// fast as those of bending, are damped by less than the ratio.
#[test]
fn a_bar_swings_along_itself_at_the_analytic_frequency() {
    let (young, length): (f64, f64) = (1e6, 1.6);
    let analytic = (young / DENSITY).sqrt() / (4.0 * length);
    let flesh = Flesh {
        mesh: bar([16, 1, 1], 0.1),
        law: PrincipalStretch::Corotated { mu: young / 2.0, lambda: 0.0 },
    };
    for damping in [0.0, 0.1] {
        let mut stepper = flesh.hung();
        let wave = |x: f64| 1e-3 * (std::f64::consts::FRAC_PI_2 * x / length).sin();
        let pulled: Vec<[f64; 3]> = flesh.mesh.vertices().iter().map(|v| [wave(v[0]), 0.0, 0.0]).collect();
        stepper.reset(flesh.mesh.vertices(), &pulled).unwrap();
        let dt = 1.0 / (analytic * 400.0);
        let settings = SimulationParams {
            dt,
            integrator: Integrator::Bdf2,
            damping,
            max_iterations: 100,
            tolerance: 1e-13,
            pose_rest: 0.0,
            ..SimulationParams::default()
        };
        let tip = flesh.mesh.vertices().iter().position(|v| v[0] > length - 1e-9).unwrap();
        let mut heights = vec![pulled[tip][0]];
        for _ in 0..1300 {
            stepper.step(flesh.mesh.vertices(), &settings, silent).unwrap();
            heights.push(stepper.displacement()[tip][0]);
        }
        let zeros: Vec<f64> = (1..heights.len())
            .filter(|&i| heights[i - 1] > 0.0 && heights[i] <= 0.0)
            .map(|i| dt * (i as f64 - heights[i] / (heights[i] - heights[i - 1])))
            .collect();
        let found = (zeros.len() - 1) as f64 / (zeros[zeros.len() - 1] - zeros[0]);
        assert!((found / analytic - 1.0).abs() < 0.01, "damping {damping}: {found} Hz instead of {analytic}");
        let peak = |range: std::ops::Range<usize>| heights[range].iter().fold(0.0, |a: f64, x| a.max(*x));
        let ratio = (peak(600..1000) / peak(200..600)).ln() / -std::f64::consts::TAU;
        assert!((-0.01..0.01 + damping).contains(&ratio), "a ratio of {ratio} at {damping}");
    }
}

fn recovering(iterations: u32) -> SimulationParams {
    let dt = 1.0 / 30.0;
    SimulationParams {
        dt,
        max_iterations: iterations,
        tolerance: 1e-7,
        pose_rest: 0.0,
        ..SimulationParams::default()
    }
}

/// Number of inverted tets after random, flattened and mirrored starts [QN fig. 15]. A corotated law leaves
/// some.
#[test]
fn bodies_recover_from_random_flat_and_mirrored_starts() {
    const PA: f64 = 1e4;
    let stiff = [
        ("corotated", PrincipalStretch::Corotated { mu: 2.0 * PA, lambda: 10.0 * PA }, 30),
        ("St. Venant-Kirchhoff", PrincipalStretch::StVenantKirchhoff { mu: PA, lambda: PA }, 30),
        ("Neo-Hookean", PrincipalStretch::NeoHookean { mu: PA, lambda: 3.0 * PA }, 8),
        ("Mooney-Rivlin", PrincipalStretch::MooneyRivlin { c1: 0.4 * PA, c2: 0.1 * PA, lambda: 3.0 * PA }, 8),
    ];
    for (name, law, allowed) in stiff {
        let flesh = Flesh { mesh: bar([16, 4, 4], 0.05), law };
        let rest = flesh.mesh.vertices();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let random: Vec<[f64; 3]> =
            rest.iter().map(|_| [0.8, 0.2, 0.2].map(|side| side * rng.random_range(0.0..1.0))).collect();
        let flat = rest.iter().map(|v| [v[0], v[1], 0.1]).collect();
        let mirrored = rest.iter().map(|v| [v[0], v[1], 0.2 - v[2]]).collect();
        let counts = [("random", random), ("flat", flat), ("mirrored", mirrored)].map(|(start, x)| {
            let mut stepper = flesh.free();
            stepper.reset(rest, &apart(&x, rest)).unwrap();
            for _ in 0..60 {
                stepper.step(rest, &recovering(40), silent).unwrap();
            }
            (start, flesh.inverted(&stepper.positions()))
        });
        println!("{name}: {counts:?} of {} tets stay inverted", flesh.mesh.tets().len());
        assert!(counts.iter().all(|(_, count)| *count <= allowed), "{name}: {counts:?}");
    }
}

/// A body fixed at one end, which jumps by its thickness or its own length, for every law that resists
/// small strains. Steps end long before the energy is minimal, yet the flesh stays within its stretch and
/// comes to rest: at its initial shape unless it was folded through itself, which is an equilibrium without
/// contact.
#[test]
fn ten_thousand_violent_steps_stay_finite_and_end_at_rest() {
    const PA: f64 = 5e3;
    for (name, law) in with_moduli(2.0 * PA, PA) {
        let flesh = Flesh { mesh: bar([4, 1, 1], 0.1), law };
        let rest = flesh.mesh.vertices();
        for reach in [0.1, 0.4] {
            let mut stepper = flesh.hung();
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            for step in 0..10_000 {
                let jump: [f64; 3] = std::array::from_fn(|_| rng.random_range(-reach..reach));
                let posed: Vec<_> = rest.iter().map(|v| [0, 1, 2].map(|c| v[c] + jump[c])).collect();
                stepper.step(&posed, &recovering(10), silent).unwrap();
                let thrown = longest(&stepper.displacement());
                assert!(thrown < 2.0, "{name}: {thrown} m off in step {step}");
            }
            let calm = SimulationParams { damping: 0.5, tolerance: 1e-10, ..recovering(100) };
            let mut before = stepper.displacement();
            for _ in 0..600 {
                before = stepper.displacement();
                stepper.step(rest, &calm, silent).unwrap();
            }
            let (u, positions) = (stepper.displacement(), stepper.positions());
            let moving = longest(&apart(&u, &before));
            assert!(moving < 1e-8, "{name}: {moving:e} m a step is no rest");
            assert!(name == "corotated" || flesh.inverted(&positions) == 0, "{name} stays inverted");
            assert!(reach > 0.1 || longest(&u) < 1e-5, "{name}: {:e} m from home", longest(&u));
        }
    }
}

/// A body whose rest shape follows its rig has no forces in a held pose; otherwise it has.
#[test]
fn held_poses_are_rest_shapes_as_far_as_pose_rest_says() {
    for (name, law) in laws() {
        let flesh = Flesh { mesh: bar([6, 2, 2], 0.1), law };
        let bend = |v: &[f64; 3]| {
            let turned = turn([0.0, 0.0, 1.0], 1.2 * v[0], [0.3, 0.1, 0.1], [0.1, 0.0, 0.0]);
            std::array::from_fn(|i| {
                let [p, q, r, s] = turned[i];
                1.1 * (p * v[0] + q * v[1] + r * v[2] + s)
            })
        };
        let posed: Vec<[f64; 3]> = flesh.mesh.vertices().iter().map(bend).collect();
        let held = |pose_rest: f64| {
            let mut stepper = flesh.hung();
            let settings = SimulationParams { pose_rest, ..recovering(200) };
            (0..3).map(|_| stepper.step(&posed, &settings, silent).unwrap().energy).last().unwrap()
        };
        let (none, half, whole) = (held(0.0), held(0.5), held(1.0));
        assert!(whole < 1e-9 * none && half < none, "{name}: {none} {half} {whole} J");
    }
}

/// Cells of a lattice that flesh fills in part have gradients and twists of their own: local-global
/// iterates again.
#[test]
fn cells_are_elements_of_their_own() {
    let mesh = solid_lattice(&sphere(2).surface(), 8, &Progress::default()).unwrap();
    assert!(!mesh.cells().is_empty());
    let n = mesh.vertices().len();
    let material =
        Material::new(Law::Arap, Field::Uniform(2e4), Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap();
    let laws = vec![PrincipalStretch::Corotated { mu: material.mu(0), lambda: 0.0 }; mesh.tets().len()];
    let (rig, leak) = (Rig::single(n).unwrap(), momentum_leak(&mesh).unwrap());
    let restraint = Restraint { rig: Some(&rig), leak: Some(&leak), pinned: None };
    let model = FullSpaceModel::new(&mesh, &material, &laws, &restraint, &Progress::default()).unwrap();
    let pose = |shift: f64| [turn([0.2, 0.5, 1.0], 0.3 * shift, [0.0; 3], [0.5 * shift, 0.0, 0.0])];
    let settings = ComplementarySolverParams { dt: 1.0 / 30.0, max_iterations: 6, tolerance: 0.0 };
    let mut truth = ComplementarySolver::new(&mesh, &material, &rig, &leak, &pose(0.0), settings).unwrap();
    truth.step(&pose(1.0)).unwrap();
    let mut own = FullSpaceStepper::new(model.into());
    let minimiser = Minimiser::QuasiNewton { pairs: 0 };
    let posed = |shift: f64| -> Vec<[f64; 3]> {
        let [bone] = pose(shift);
        let moved = |v: &[f64; 3]| bone.map(|[p, q, r, s]| p * v[0] + q * v[1] + r * v[2] + s);
        mesh.vertices().iter().map(moved).collect()
    };
    own.reset(&posed(0.0), &vec![[0.0; 3]; n]).unwrap();
    own.step(&posed(1.0), &SimulationParams { minimiser, tolerance: 0.0, ..recovering(6) }, silent).unwrap();
    let u = truth.displacement();
    let expected: Vec<[f64; 3]> = (0..n).map(|i| [0, 1, 2].map(|c| u[(i, c)])).collect();
    let error = longest(&apart(&own.displacement(), &expected));
    assert!(longest(&expected) > 1e-3 && error < 1e-12, "{error:e}");
}
