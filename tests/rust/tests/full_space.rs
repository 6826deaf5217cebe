//! The quasi-Newton solver of the full space against its definition: local-global iterations, dense BFGS,
//! laws tet by tet, momentum, and energies that never rise.

use faer::prelude::Solve;
use faer::{Mat, Side};
use jounce::Progress;
use jounce::inputs::{Minimiser, SimulationParams};
use jounce::material::PrincipalStretch;
use jounce::model::full_space::{FullSpaceModel, FullSpaceStepper};
use jounce::operators::{displacement_constraint, laplacian, lumped_mass, momentum_leak};
use jounce::subspace::Restraint;
use jounce_tests::bodies::{Body, Transform, bar, swing};
use jounce_tests::complementary::{ComplementarySolver, ComplementarySolverParams};
use jounce_tests::hyperelastic::{Flesh, H, apart, longest, params, params_of, silent, start};
use jounce_tests::laws::laws;
use nalgebra::Vector3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A listed law with a stiffness of some kPa.
fn stiff(law: PrincipalStretch) -> PrincipalStretch {
    const PA: f64 = 5e3;
    match law {
        PrincipalStretch::Corotated { mu, lambda } => {
            PrincipalStretch::Corotated { mu: PA * mu, lambda: PA * lambda }
        }
        PrincipalStretch::StVenantKirchhoff { mu, lambda } => {
            PrincipalStretch::StVenantKirchhoff { mu: PA * mu, lambda: PA * lambda }
        }
        PrincipalStretch::NeoHookean { mu, lambda } => {
            PrincipalStretch::NeoHookean { mu: PA * mu, lambda: PA * lambda }
        }
        PrincipalStretch::MooneyRivlin { c1, c2, lambda } => {
            PrincipalStretch::MooneyRivlin { c1: PA * c1, c2: PA * c2, lambda: PA * lambda }
        }
        PrincipalStretch::Polynomial { mu } => PrincipalStretch::Polynomial { mu: PA * mu },
        PrincipalStretch::Spline { curves, scale } => PrincipalStretch::Spline { curves, scale: PA * scale },
    }
}

fn fleshes(cells: [usize; 3]) -> Vec<(&'static str, Flesh)> {
    laws().into_iter().map(|(name, law)| (name, Flesh { mesh: bar(cells, 0.1), law: stiff(law) })).collect()
}

fn neo_hookean(cells: [usize; 3]) -> Flesh {
    Flesh { mesh: bar(cells, 0.1), law: PrincipalStretch::NeoHookean { mu: 6e3, lambda: 1e4 } }
}

/// Random positions of the vertices in the mesh's box.
fn scattered(flesh: &Flesh, seed: u64) -> Vec<[f64; 3]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let last = flesh.mesh.vertices()[flesh.mesh.vertices().len() - 1];
    flesh.mesh.vertices().iter().map(|_| last.map(|side| side * rng.random_range(0.0..1.0))).collect()
}

fn skinned(body: &Body, pose: &[Transform]) -> Vec<[f64; 3]> {
    let mut x = vec![[0.0; 3]; body.mesh.vertices().len()];
    for (bone, transform) in pose.iter().enumerate() {
        for &(v, w) in body.rig.bone(bone) {
            let [a, b, c] = body.mesh.vertices()[v as usize];
            (0..3).for_each(|i| {
                let [p, q, r, s] = transform[i];
                x[v as usize][i] += w * (p * a + q * b + r * c + s);
            });
        }
    }
    x
}

/// Without curvature pairs the method is projective dynamics, iterate for iterate [QN eqs. 1 to 8].
#[test]
fn without_pairs_iterates_are_those_of_local_and_global_steps() {
    let body = Body::bar();
    let leak = momentum_leak(&body.mesh).unwrap();
    let tets = 0..body.mesh.tets().len();
    let laws: Vec<_> =
        tets.map(|t| PrincipalStretch::Corotated { mu: body.material.mu(t), lambda: 0.0 }).collect();
    let restraint = Restraint { rig: Some(&body.rig), leak: Some(&leak), pinned: None };
    let progress = Progress::default();
    let model = FullSpaceModel::new(&body.mesh, &body.material, &laws, &restraint, &progress).unwrap();
    let model = std::sync::Arc::new(model);
    for iterations in [1, 2, 5, 20] {
        let settings = ComplementarySolverParams { dt: H, max_iterations: iterations, tolerance: 0.0 };
        let mut truth =
            ComplementarySolver::new(&body.mesh, &body.material, &body.rig, &leak, &swing(0.0), settings)
                .unwrap();
        let mut own = FullSpaceStepper::new(model.clone());
        own.reset(&skinned(&body, &swing(0.0)), &vec![[0.0; 3]; body.mesh.vertices().len()]).unwrap();
        truth.step(&swing(H)).unwrap();
        let report = own
            .step(
                &skinned(&body, &swing(H)),
                &params_of(Minimiser::QuasiNewton { pairs: 0 }, iterations),
                silent,
            )
            .unwrap();
        let u = truth.displacement();
        let expected: Vec<[f64; 3]> = (0..u.nrows()).map(|i| [0, 1, 2].map(|c| u[(i, c)])).collect();
        let error = longest(&apart(&own.displacement(), &expected));
        assert!(longest(&expected) > 1e-3 && error < 1e-12, "{iterations} iterations: {error:e}");
        assert_eq!(
            (report.iterations, report.trials),
            (iterations, iterations),
            "the full step always leads down"
        );
    }
}

/// With as many pairs as iterations, L-BFGS equals BFGS with a dense inverse that starts from the metric's.
#[test]
fn many_pairs_are_dense_bfgs() {
    let flesh = neo_hookean([3, 1, 1]);
    let n = flesh.mesh.vertices().len();
    let y = flesh.twisted(2.5);
    let conductivity = vec![flesh.law.slope(); flesh.mesh.tets().len()];
    let laplacian = laplacian(&flesh.mesh, &conductivity).unwrap().to_dense();
    let mass = lumped_mass(&flesh.mesh, &flesh.material());
    let metric = Mat::from_fn(3 * n, 3 * n, |i, j| {
        let inertia = if i == j { mass[i / 3] / (H * H) } else { 0.0 };
        inertia + if i % 3 == j % 3 { laplacian[(i / 3, j / 3)] } else { 0.0 }
    });
    let mut inverse = metric.llt(Side::Lower).unwrap().solve(Mat::<f64>::identity(3 * n, 3 * n));
    let column = |rows: &[[f64; 3]]| Mat::from_fn(3 * n, 1, |i, _| rows[i / 3][i % 3]);
    let mut x = y.clone();
    for _ in 0..8 {
        let (energy, gradient) = flesh.incremental(&x, &y, H);
        let g = column(&gradient);
        let d = -&inverse * &g;
        let slope = (g.transpose() * &d)[(0, 0)];
        let mut share = 1.0;
        let (next, after) = loop {
            let at = |v: usize, c: usize| x[v][c] + share * d[(3 * v + c, 0)];
            let next: Vec<[f64; 3]> = (0..n).map(|v| [0, 1, 2].map(|c| at(v, c))).collect();
            let (lower, after) = flesh.incremental(&next, &y, H);
            if lower <= energy + 0.3 * share * slope {
                break (next, after);
            }
            share *= 0.5;
        };
        let (s, t) = (share * &d, column(&after) - &g);
        let curvature = (s.transpose() * &t)[(0, 0)];
        let left = Mat::<f64>::identity(3 * n, 3 * n) - &s * t.transpose() / faer::Scale(curvature);
        inverse = &left * &inverse * left.transpose() + &s * s.transpose() / faer::Scale(curvature);
        x = next;
    }
    let mut stepper = flesh.free();
    start(&mut stepper, &flesh, &y);
    stepper.step(flesh.mesh.vertices(), &params_of(Minimiser::QuasiNewton { pairs: 8 }, 8), silent).unwrap();
    let moved = longest(&apart(&x, &y));
    let error = longest(&apart(&stepper.positions(), &x));
    assert!(moved > 1e-2 && error < 1e-9 * moved, "{error:e} of {moved}");
}

/// The SIMD sums equal the sums of the laws, tet by tet, at any positions; and the step's minimum is
/// stationary.
#[test]
fn the_energy_is_that_of_the_laws_and_its_gradient_vanishes_at_the_end() {
    for (name, flesh) in fleshes([4, 2, 2]) {
        for (seed, y) in [(0, flesh.twisted(2.0)), (1, scattered(&flesh, 1))] {
            let mut stepper = flesh.free();
            start(&mut stepper, &flesh, &y);
            let few = stepper.step(flesh.mesh.vertices(), &params(3, 0.0), silent).unwrap();
            let (energy, _) = flesh.elastic(&stepper.positions());
            assert!((few.energy - energy).abs() < 1e-11 * energy, "{name} {seed}: {} {energy}", few.energy);
        }
        let y = flesh.twisted(2.0);
        let mut stepper = flesh.free();
        start(&mut stepper, &flesh, &y);
        stepper.step(flesh.mesh.vertices(), &params(400, 1e-11), silent).unwrap();
        let (_, gradient) = flesh.incremental(&stepper.positions(), &y, H);
        let (_, first) = flesh.incremental(&y, &y, H);
        let left = longest(&gradient) / longest(&first);
        assert!(left < 1e-6, "{name}: {left:e} of the gradient is left");
    }
}

#[test]
fn energies_never_rise_in_a_search() {
    for (name, flesh) in fleshes([4, 2, 2]) {
        for x in [flesh.twisted(3.0), scattered(&flesh, 2), flattened(&flesh)] {
            let mut stepper = flesh.free();
            start(&mut stepper, &flesh, &x);
            for _ in 0..5 {
                let mut before = f64::INFINITY;
                let on_iteration = |_, energy: f64| {
                    assert!(energy <= before, "{name}: from {before} to {energy}");
                    before = energy;
                    Ok(())
                };
                stepper.step(flesh.mesh.vertices(), &params(30, 1e-8), on_iteration).unwrap();
            }
        }
    }
}

fn flattened(flesh: &Flesh) -> Vec<[f64; 3]> {
    flesh.mesh.vertices().iter().map(|v| [v[0], v[1], 0.0]).collect()
}

/// There are no ghost forces: a free body keeps its momentum, and its centre moves uniformly [QN fig. 9].
#[test]
fn a_free_body_keeps_its_momentum() {
    for (name, flesh) in fleshes([4, 2, 2]) {
        let mass = lumped_mass(&flesh.mesh, &flesh.material());
        let total: f64 = mass.iter().sum();
        let centre = |x: &[[f64; 3]]| {
            x.iter().zip(&mass).map(|(x, m)| Vector3::from(*x) * *m).sum::<Vector3<f64>>() / total
        };
        for damping in [0.0, 0.2] {
            let mut stepper = flesh.free();
            start(&mut stepper, &flesh, &flesh.twisted(2.0));
            let before = centre(&stepper.positions());
            let settings = SimulationParams { damping, ..params(10, 0.0) };
            let drift = (0..50)
                .map(|_| {
                    stepper.step(flesh.mesh.vertices(), &settings, silent).unwrap();
                    (centre(&stepper.positions()) - before).norm()
                })
                .fold(0.0, f64::max);
            assert!(drift < 1e-10, "{name}, damping {damping}: {drift:e} m");
        }
    }
}

/// Pinned vertices follow the rig exactly, and the motion stays complementary throughout.
#[test]
fn restraints_hold_exactly() {
    let body = Body::bar();
    let n = body.mesh.vertices().len();
    let laws: Vec<_> = (0..body.mesh.tets().len())
        .map(|t| PrincipalStretch::NeoHookean { mu: body.material.mu(t), lambda: body.material.mu(t) })
        .collect();
    let leak = momentum_leak(&body.mesh).unwrap();
    let pinned: Vec<bool> = (0..n).map(|v| body.mesh.vertices()[v][0] == 0.0).collect();
    let mass = lumped_mass(&body.mesh, &body.material);
    for (rig, pins) in
        [(Some(&body.rig), None), (None, Some(&pinned[..])), (Some(&body.rig), Some(&pinned[..]))]
    {
        let restraint = Restraint { rig, leak: Some(&leak), pinned: pins };
        let progress = Progress::default();
        let model = FullSpaceModel::new(&body.mesh, &body.material, &laws, &restraint, &progress).unwrap();
        let mut stepper = FullSpaceStepper::new(model.into());
        // Long descents, in which rounding errors could enter the pairs.
        let settings = SimulationParams { gravity: [0.0, 0.0, -1.0], ..params(300, 1e-12) };
        for frame in 0..12 {
            stepper.step(&skinned(&body, &swing(H * f64::from(frame))), &settings, silent).unwrap();
        }
        let u = stepper.displacement();
        assert!(longest(&u) > 1e-3, "nothing moves");
        for (u, _) in u.iter().zip(&pinned).filter(|(_, pinned)| pins.is_some() && **pinned) {
            assert_eq!(*u, [0.0; 3]);
        }
        if let (Some(rig), None) = (rig, pins) {
            let columns = displacement_constraint(&body.mesh, &mass, rig, &leak).unwrap();
            for column in 0..columns.ncols() {
                for c in 0..3 {
                    let entries = columns.row_idx_of_col_raw(column).iter().zip(columns.val_of_col(column));
                    let product: f64 = entries.map(|(&i, value)| value * u[i as usize][c]).sum();
                    assert!(product.abs() < 1e-10 * longest(&u), "column {column}: {product:e}");
                }
            }
        }
    }
}

/// The error [QN eq. 11] of ten iterations is below that of one Newton iteration, which costs many times
/// more.
#[test]
fn ten_iterations_come_closer_than_one_of_newtons() {
    for (name, flesh) in fleshes([8, 2, 2]) {
        let x = flesh.twisted(1.5);
        let value = |minimiser: Minimiser, iterations: u32| {
            let mut stepper = flesh.hung();
            start(&mut stepper, &flesh, &x);
            stepper.step(flesh.mesh.vertices(), &params_of(minimiser, iterations), silent).unwrap();
            flesh.incremental(&stepper.positions(), &x, H).0
        };
        let (first, least) = (flesh.incremental(&x, &x, H).0, value(Minimiser::Newton, 30));
        let error = |value: f64| (value - least) / (first - least);
        let own = error(value(Minimiser::default(), 10));
        let plain = error(value(Minimiser::QuasiNewton { pairs: 0 }, 10));
        let newton = error(value(Minimiser::Newton, 1));
        println!("{name}: {own:.1e} with pairs, {plain:.1e} without, Newton {newton:.1e}");
        let allowed = if name == "polynomial" { 2.0 * newton } else { newton };
        assert!(own < allowed && own < plain && own > -1e-12, "{name}: {own:e} {plain:e} {newton:e}");
    }
}

/// Several chunks are shared among the threads.
#[test]
fn threads_do_not_change_a_bit() {
    let flesh = neo_hookean([12, 6, 6]);
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut stepper = flesh.hung();
            start(&mut stepper, &flesh, &flesh.twisted(1.0));
            for _ in 0..3 {
                stepper.step(flesh.mesh.vertices(), &params(10, 0.0), silent).unwrap();
            }
            stepper.positions()
        })
    };
    let alone = run(1);
    assert_eq!(alone, run(2));
    assert_eq!(alone, run(5));
}

/// Curvature from one step helps the next; it does not depend on the inertial target.
#[test]
fn pairs_of_the_last_step_help_the_next() {
    let flesh = neo_hookean([8, 2, 2]);
    let error = |angle: f64, forget: bool| {
        let x = flesh.twisted(angle);
        let mut stepper = flesh.hung();
        start(&mut stepper, &flesh, &x);
        stepper.step(flesh.mesh.vertices(), &params(10, 0.0), silent).unwrap();
        let now = stepper.positions();
        let y: Vec<[f64; 3]> =
            now.iter().zip(&x).map(|(b, a)| [0, 1, 2].map(|c| 2.0 * b[c] - a[c])).collect();
        if forget {
            stepper.forget();
        }
        stepper.step(flesh.mesh.vertices(), &params(5, 0.0), silent).unwrap();
        flesh.incremental(&stepper.positions(), &y, H).0
    };
    let total =
        |forget: bool| [0.6, 1.0, 1.5, 2.0, 2.6].map(|angle| error(angle, forget)).iter().sum::<f64>();
    let (warm, cold) = (total(false), total(true));
    assert!(warm < cold, "{warm} J with what was learnt, {cold} J without");
}

/// Held flesh in motion starts a step nearer to its end than where inertia alone would take it.
#[test]
fn flesh_in_motion_goes_on() {
    let flesh = neo_hookean([8, 2, 2]);
    let settings = SimulationParams { dt: 0.25 * H, ..params(500, 1e-9) };
    let mut stepper = flesh.hung();
    let mut places = [flesh.twisted(0.6), flesh.twisted(0.6)];
    start(&mut stepper, &flesh, &places[1]);
    let mut beyond = [0.0; 2];
    for step in 0..20 {
        let pairs = places[1].iter().zip(&places[0]);
        let y: Vec<[f64; 3]> = pairs.map(|(b, a)| [0, 1, 2].map(|c| 2.0 * b[c] - a[c])).collect();
        let mut first = None;
        let on_iteration = |_, energy| {
            first.get_or_insert(energy);
            Ok(())
        };
        stepper.step(flesh.mesh.vertices(), &settings, on_iteration).unwrap();
        let [_, last] = places;
        places = [last, stepper.positions()];
        let energy = |x: &[[f64; 3]]| flesh.incremental(x, &y, settings.dt).0;
        let end = energy(&places[1]);
        if step > 1 {
            beyond[0] += first.unwrap() - end;
            beyond[1] += energy(&y) - end;
        }
    }
    assert!(beyond[0] < 0.5 * beyond[1], "{} J beyond the minimum, {} J at y", beyond[0], beyond[1]);
}

/// A pose is held however far the rig stretches the flesh, because the rest shape follows.
#[test]
fn a_rig_that_stretches_far_holds_its_pose() {
    let flesh = neo_hookean([6, 2, 2]);
    for times in [2.0, 8.0] {
        let posed: Vec<[f64; 3]> =
            flesh.mesh.vertices().iter().map(|v| [times * v[0], 0.5 * v[1], 0.7 * v[2]]).collect();
        let mut stepper = flesh.hung();
        for _ in 0..30 {
            let settings = SimulationParams { pose_rest: 1.0, ..params(30, 1e-10) };
            stepper.step(&posed, &settings, silent).unwrap();
        }
        let moved = longest(&stepper.displacement());
        assert!(moved < 1e-9, "{times} times as long: {moved:e} m");
    }
}
