//! The step of skinning modes: against dense formulas, finite differences and symmetries.

use faer::Mat;
use jounce::Error;
use jounce::inputs::{Integrator, SimulationParams, StepReport};
use jounce::material::Law;
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::operators::{gradients, laplacian, lumped_mass, momentum_leak};
use jounce::simulation::Simulation;
use jounce::subspace::skinning_modes;
use jounce_tests::bodies::{
    Body, REST, Transform, bar, compose, displacement, largest, some_coefficients, swing, turn,
};
use jounce_tests::rotations::rotation;
use nalgebra::{Matrix3, Vector3};

fn params() -> SimulationParams {
    SimulationParams { max_iterations: 3000, tolerance: 1e-14, ..Default::default() }
}

fn posed(body: &Body, pose: &[Transform]) -> Vec<[f64; 3]> {
    let mut out = vec![[0.0; 3]; body.mesh.vertices().len()];
    for (bone, t) in pose.iter().enumerate() {
        for &(v, w) in body.rig.bone(bone) {
            let x = body.mesh.vertices()[v as usize];
            for c in 0..3 {
                out[v as usize][c] += w * (t[c][3] + (0..3).map(|d| t[c][d] * x[d]).sum::<f64>());
            }
        }
    }
    out
}

/// The clustered energy by the definition, tet by tet, with rotations from singular values.
fn dense_energy(body: &Body, z: &[f64], pose: &[Transform], pose_rest: f64) -> f64 {
    let (u, rig) = (displacement(body, z), posed(body, pose));
    let hats = gradients(&body.mesh);
    let gradient = |t: usize, values: &[[f64; 3]]| {
        let tet = body.mesh.tets()[t];
        (0..4).fold(Matrix3::zeros(), |f, c| {
            f + Vector3::from(values[tet[c] as usize]) * Vector3::from(hats[t][c]).transpose()
        })
    };
    let clusters = body.labels.iter().max().unwrap() + 1;
    let mut energy = 0.0;
    for cluster in 0..clusters {
        let tets: Vec<usize> = (0..body.labels.len()).filter(|&t| body.labels[t] == cluster).collect();
        let weight = |t: usize| 2.0 * body.material.mu(t) * body.mesh.volumes()[t];
        let total: f64 = tets.iter().map(|&t| weight(t)).sum();
        let mean =
            |values| tets.iter().fold(Matrix3::zeros(), |f, &t| f + gradient(t, values) * weight(t) / total);
        let (f_u, f_rig) = (mean(&u), mean(&rig));
        let s_rig = rotation(&f_rig).transpose() * f_rig;
        let s = Matrix3::identity() * (1.0 - pose_rest) + s_rig * pose_rest;
        let target = rotation(&((f_u + f_rig) * s)) * s;
        if body.material.law() == Law::Corotated {
            let volume: f64 = tets.iter().map(|&t| body.material.lambda(t) * body.mesh.volumes()[t]).sum();
            energy += 0.5 * volume * ((f_u + f_rig).dot(&target) - (s * s).trace()).powi(2);
        }
        energy += 0.5 * total * (f_rig - target).norm_squared() - total * f_u.dot(&target);
        energy += pose_rest * total * f_u.dot(&f_rig);
        energy -= 0.5 * (1.0 - pose_rest) * total * f_rig.norm_squared();
        for &t in &tets {
            let (f_u, f_rig) = (gradient(t, &u), gradient(t, &rig));
            energy += 0.5 * weight(t) * f_u.norm_squared();
            energy += (1.0 - pose_rest) * weight(t) * (f_u.dot(&f_rig) + 0.5 * f_rig.norm_squared());
        }
    }
    energy
}

#[test]
fn energy_is_its_definition() {
    for body in Body::bars() {
        let model = body.reduced();
        for pose_rest in [0.0, 0.4, 1.0] {
            for size in [0.0, 0.3, 3.0] {
                let (z, pose) = (some_coefficients(48, size), swing(0.2));
                let (energy, _) = model.elastic_energy(&z, Some(&pose), pose_rest).unwrap();
                let expected = dense_energy(&body, &z, &pose, pose_rest);
                let scale = expected.abs().max(body.reduced().mass());
                assert!((energy - expected).abs() < 1e-11 * scale, "{energy} {expected} rest {pose_rest}");
            }
        }
    }
}

#[test]
fn gradient_is_the_derivative_of_the_energy() {
    for model in Body::bars().map(|body| body.reduced()) {
        for pose_rest in [0.0, 0.4, 1.0] {
            for (time, size) in [(0.0, 0.2), (0.2, 0.2), (0.25, 1.5), (0.2, 0.0)] {
                gradient_is_right(&model, &some_coefficients(48, size), &swing(time), pose_rest);
            }
        }
    }
}

fn gradient_is_right(model: &SkinningModel, z: &[f64], pose: &[Transform], pose_rest: f64) {
    let (_, gradient) = model.elastic_energy(z, Some(pose), pose_rest).unwrap();
    let norm = gradient.iter().fold(1.0, |a: f64, g| a.max(g.abs()));
    for i in 0..z.len() {
        let h = 1e-5;
        let at = |step: f64| {
            let mut z = z.to_vec();
            z[i] += step;
            model.elastic_energy(&z, Some(pose), pose_rest).unwrap().0
        };
        let difference = (at(-2.0 * h) - 8.0 * at(-h) + 8.0 * at(h) - at(2.0 * h)) / (12.0 * h);
        assert!((difference - gradient[i]).abs() < 1e-6 * norm, "{i}: {difference} {}", gradient[i]);
    }
}

/// `|a_0 d_0 + a_1 d_1 + ...|^2_M / (2 a_0 h^2)` + elastic energy - work of gravity, at the last of some
/// frames: `d` are the differences from frame to frame, newest first, of displacement and `strength` times
/// the rig.
fn objective(body: &Body, z: &[Vec<f64>], poses: &[Vec<Transform>], p: &SimulationParams) -> f64 {
    let mass = lumped_mass(&body.mesh, &body.material);
    let factors: &[f64] = match p.integrator {
        Integrator::BackwardEuler => &[1.0, -1.0],
        _ => &[9.0 / 4.0, -15.0 / 4.0, 7.0 / 4.0, -1.0 / 4.0],
    };
    let places: Vec<Vec<[f64; 3]>> = (0..=factors.len())
        .map(|back| {
            let frame = (z.len() - 1).saturating_sub(back);
            let (u, rig) = (displacement(body, &z[frame]), posed(body, &poses[frame]));
            u.iter().zip(&rig).map(|(u, r)| std::array::from_fn(|c| u[c] + p.strength * r[c])).collect()
        })
        .collect();
    let u = displacement(body, &z[z.len() - 1]);
    let mut sum = 0.0;
    for i in 0..mass.len() {
        for c in 0..3 {
            let terms = factors.iter().enumerate().map(|(j, a)| a * (places[j][i][c] - places[j + 1][i][c]));
            let away: f64 = terms.sum();
            sum += mass[i] * (0.5 * away * away / (factors[0] * p.dt * p.dt) - p.gravity[c] * u[i][c]);
        }
    }
    let (z, pose) = (&z[z.len() - 1], &poses[poses.len() - 1]);
    sum + p.stiffness * body.reduced().elastic_energy(z, Some(pose), p.pose_rest).unwrap().0
}

fn laws_and_integrators() -> impl Iterator<Item = (Body, Integrator)> {
    let integrators = [Integrator::BackwardEuler, Integrator::Bdf2];
    integrators.into_iter().flat_map(|integrator| Body::bars().map(|body| (body, integrator)))
}

#[test]
fn every_iteration_lowers_the_objective() {
    for (body, integrator) in laws_and_integrators() {
        for pose_rest in [0.0, 0.5, 1.0] {
            let p = SimulationParams {
                integrator,
                pose_rest,
                gravity: [0.0, 0.0, -9.81],
                stiffness: 1.7,
                strength: 1.3,
                tolerance: 0.0,
                ..Default::default()
            };
            let poses: Vec<_> = (0..5).map(|f| swing(f64::from(f) * p.dt).to_vec()).collect();
            let mut sim = Simulation::new(body.model(), p).unwrap();
            sim.reset(Some(&poses[0])).unwrap();
            let mut z = vec![vec![0.0; 48]];
            for pose in &poses[1..4] {
                sim.step(Some(pose)).unwrap();
                z.push(sim.coefficients().to_vec());
            }
            let state = sim.save_state();
            z.push(z[3].clone());
            let mut last = objective(&body, &z, &poses, &p);
            for iterations in 1..25 {
                sim.set_params(SimulationParams { max_iterations: iterations, ..p }).unwrap();
                sim.restore_state(&state).unwrap();
                sim.step(Some(&poses[4])).unwrap();
                z[4] = sim.coefficients().to_vec();
                let value = objective(&body, &z, &poses, &p);
                assert!(value <= last + 1e-12 * last.abs(), "iteration {iterations}: {value} after {last}");
                last = value;
            }
        }
    }
}

#[test]
fn a_converged_step_is_a_minimum() {
    for (body, integrator) in laws_and_integrators() {
        let p = SimulationParams { integrator, pose_rest: 0.3, gravity: [1.0, 0.0, -9.81], ..params() };
        let mut sim = Simulation::new(body.model(), p).unwrap();
        let poses: Vec<_> = (0..3).map(|f| swing(f64::from(f) * p.dt).to_vec()).collect();
        sim.reset(Some(&poses[0])).unwrap();
        let mut z = vec![vec![0.0; 48]];
        for pose in &poses[1..] {
            sim.step(Some(pose)).unwrap();
            z.push(sim.coefficients().to_vec());
        }
        let at = |sign: f64| {
            let mut moved = z.clone();
            moved[2].iter_mut().zip(some_coefficients(48, 1e-4)).for_each(|(z, s)| *z += sign * s);
            objective(&body, &moved, &poses, &p)
        };
        let (below, value, above) = (at(-1.0), at(0.0), at(1.0));
        let (slope, curvature) = ((above - below) / 2.0, (above + below - 2.0 * value) / 2.0);
        assert!(curvature > 0.0 && slope.abs() < 1e-4 * curvature, "slope {slope} curvature {curvature}");
    }
}

#[test]
fn the_reduced_products_are_exact() {
    let body = Body::bar();
    let model = body.reduced();
    let conductivity: Vec<f64> = (0..body.mesh.tets().len()).map(|t| 2.0 * body.material.mu(t)).collect();
    let stiffness = laplacian(&body.mesh, &conductivity).unwrap().to_dense();
    let z = some_coefficients(48, 0.1);
    let u = displacement(&body, &z);
    let u = Mat::from_fn(u.len(), 3, |i, c| u[i][c]);
    let quadratic = 0.5 * (u.transpose() * &stiffness * &u).diagonal().column_vector().iter().sum::<f64>();
    // At large distances the cluster terms are linear in z: their even part is the exact quadratic one up
    // to a constant.
    let collapsed = [[[0.0; 4]; 3]; 2];
    let even = |scale: f64| {
        let scaled: Vec<f64> = z.iter().map(|z| scale * z).collect();
        let negative: Vec<f64> = scaled.iter().map(|z| -z).collect();
        model.elastic_energy(&scaled, Some(&collapsed), 1.0).unwrap().0
            + model.elastic_energy(&negative, Some(&collapsed), 1.0).unwrap().0
    };
    assert!((even(1.0) / 2.0 - quadratic).abs() < 1e-11 * quadratic);
}

fn run(model: &Model, p: SimulationParams, poses: &[Vec<Transform>]) -> (Vec<Vec<f64>>, Vec<StepReport>) {
    let mut sim = Simulation::new(model.clone(), p).unwrap();
    sim.reset(Some(&poses[0])).unwrap();
    let mut reports = Vec::new();
    let frames = poses[1..]
        .iter()
        .map(|pose| {
            reports.push(sim.step(Some(pose)).unwrap());
            sim.coefficients().to_vec()
        })
        .collect();
    (frames, reports)
}

fn swinging(frames: usize) -> Vec<Vec<Transform>> {
    (0..frames).map(|f| swing(f as f64 / 24.0).to_vec()).collect()
}

#[test]
fn a_turned_problem_gives_the_turned_answer() {
    for ((body, integrator), pose_rest) in laws_and_integrators().zip([0.0, 0.5, 1.0, 0.5]) {
        let model = body.model();
        let p =
            SimulationParams { integrator, pose_rest, gravity: [0.0, 0.0, -9.81], substeps: 2, ..params() };
        let world = turn([0.3, -1.0, 0.5], 2.1, [0.0; 3], [3.0, -2.0, 5.0]);
        let rotate =
            |v: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| (0..3).map(|j| world[i][j] * v[j]).sum()) };
        let poses = swinging(30);
        let turned: Vec<Vec<Transform>> =
            poses.iter().map(|pose| pose.iter().map(|t| compose(&world, t)).collect()).collect();
        let (plain, _) = run(&model, p, &poses);
        let (other, _) = run(&model, SimulationParams { gravity: rotate(p.gravity), ..p }, &turned);
        for (a, b) in plain.iter().zip(&other) {
            let (a, b) = (displacement(&body, a), displacement(&body, b));
            let error: Vec<_> =
                a.iter().zip(&b).map(|(a, b)| std::array::from_fn(|c| rotate(*a)[c] - b[c])).collect();
            assert!(largest(&error) < 1e-9 * largest(&a).max(1e-3), "{} {}", largest(&error), largest(&a));
        }
        assert!(largest(&displacement(&body, plain.last().unwrap())) > 1e-3);
    }
}

#[test]
fn size_does_not_matter() {
    let (small, big) = (Body::new(bar([8, 3, 3], 0.1), 4, 2), Body::new(bar([8, 3, 3], 10.0), 4, 2));
    // Frequencies scale as 1 / length at the same modulus, so time scales with length.
    let p = SimulationParams { max_iterations: 7, pose_rest: 0.5, damping: 0.05, ..Default::default() };
    let scale = |pose: &[Transform]| -> Vec<Transform> {
        pose.iter().map(|t| t.map(|row| [row[0], row[1], row[2], 100.0 * row[3]])).collect()
    };
    let poses = swinging(12);
    let scaled: Vec<_> = poses.iter().map(|pose| scale(pose)).collect();
    let (a, reports_a) = run(&small.model(), p, &poses);
    let (b, reports_b) = run(&big.model(), SimulationParams { dt: 100.0 * p.dt, ..p }, &scaled);
    for (a, b) in a.iter().zip(&b) {
        let (a, b) = (displacement(&small, a), displacement(&big, b));
        for (a, b) in a.as_flattened().iter().zip(b.as_flattened()) {
            assert!((100.0 * a - b).abs() < 1e-10);
        }
    }
    for (a, b) in reports_a.iter().zip(&reports_b) {
        assert_eq!(a.iterations, b.iterations);
        assert!((a.residual - b.residual).abs() < 1e-14);
    }
}

/// The bar with modes computed for its rig and a leak.
fn complementary(leak: &[f64]) -> Body {
    let mut body = Body::bar();
    let progress = jounce::Progress::default();
    body.modes =
        skinning_modes(&body.mesh, &body.material, 4, Some(&body.rig), Some(leak), &progress).unwrap();
    body
}

#[test]
fn uniform_leak_lets_no_motion_of_the_rig_in() {
    let body = complementary(&vec![0.5; Body::bar().mesh.vertices().len()]);
    let poses: Vec<_> = (0..10)
        .map(|f| vec![turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.1 * f64::from(f * f), 0.0, 0.0]); 2])
        .collect();
    let (frames, _) = run(&body.model(), params(), &poses);
    for z in &frames {
        assert!(largest(&displacement(&body, z)) < 1e-10);
    }
    let leak = momentum_leak(&body.mesh).unwrap();
    let body = complementary(&leak);
    let (frames, _) = run(&body.model(), params(), &poses);
    assert!(
        largest(&displacement(&body, frames.last().unwrap())) > 1e-3,
        "where momentum leaks, flesh moves"
    );
}

#[test]
fn every_frame_is_complementary_to_the_rig() {
    let leak = momentum_leak(&Body::bar().mesh).unwrap();
    let body = complementary(&leak);
    let mass = lumped_mass(&body.mesh, &body.material);
    let p = SimulationParams { gravity: [0.0, 0.0, -9.81], substeps: 2, ..Default::default() };
    let (frames, _) = run(&body.model(), p, &swinging(30));
    for z in &frames {
        let u = displacement(&body, z);
        for bone in 0..2 {
            for (axis, column) in (0..12).map(|i| (i / 4, i % 4)) {
                let (mut work, mut size) = (0.0, 0.0);
                for &(v, w) in body.rig.bone(bone) {
                    let v = v as usize;
                    let point = if column < 3 { body.mesh.vertices()[v][column] } else { 1.0 };
                    let term = w * point * (1.0 - leak[v]).max(1e-6) * mass[v] * u[v][axis];
                    work += term;
                    size += term.abs();
                }
                assert!(work.abs() < 1e-8 * size.max(1e-12), "bone {bone}: {work} of {size}");
            }
        }
    }
}

#[test]
fn falls_freely_without_a_rig() {
    let mesh = bar([4, 2, 2], 0.1);
    let n = mesh.vertices().len();
    let mut body = Body::new(mesh, 2, 2);
    body.modes.weights = Mat::from_fn(n, 1, |_, _| 1.0);
    body.modes.eigenvalues = vec![0.0];
    let model = Model::Skinning(body.reduce(None).into());
    let p = SimulationParams { gravity: [0.0, 0.0, -10.0], dt: 0.01, ..params() };
    let mut sim = Simulation::new(model, p).unwrap();
    let steps = 20;
    for _ in 0..steps {
        sim.step(None).unwrap();
    }
    // Implicit Euler from rest: h^2 g k (k + 1) / 2.
    let expected = -10.0 * 1e-4 * f64::from(steps * (steps + 1)) / 2.0;
    for u in displacement(&body, sim.coefficients()) {
        assert!(u[0].abs() < 1e-12 && u[1].abs() < 1e-12 && (u[2] - expected).abs() < 1e-12, "{u:?}");
    }
}

#[test]
fn gravity_sags_along_itself() {
    let body = Body::bar();
    let p = SimulationParams { gravity: [0.0, 0.0, -9.81], damping: 0.5, ..params() };
    let (frames, _) = run(&body.model(), p, &vec![vec![REST; 2]; 200]);
    let u = displacement(&body, frames.last().unwrap());
    let mean: f64 = u.iter().map(|u| u[2]).sum::<f64>() / u.len() as f64;
    assert!(mean < -1e-3, "{mean}");
    let before = displacement(&body, &frames[frames.len() - 2]);
    let still: Vec<_> = u.iter().zip(&before).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect();
    assert!(largest(&still) < 1e-7);
}

#[test]
fn damping_ends_a_swing() {
    let body = Body::bar();
    let left = |damping: f64, count: usize| {
        let p = SimulationParams { damping, substeps: 32, dt: 1.0 / 60.0, ..params() };
        let mut poses = swinging(4);
        poses.extend(vec![poses[3].clone(); count]);
        let (frames, _) = run(&body.model(), p, &poses);
        largest(&displacement(&body, frames.last().unwrap()))
    };
    assert!(left(1.0, 60) < 0.1 * left(0.0, 60), "{} {}", left(1.0, 60), left(0.0, 60));
    assert!(left(0.1, 25) < 0.8 * left(0.0, 25), "{} {}", left(0.1, 25), left(0.0, 25));
}

#[test]
fn no_jolt_at_frames_with_substeps() {
    // Constant acceleration of the whole body: on the quadratic path every substep is equal.
    let body = Body::bar();
    let pose = |time: f64| vec![turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [2.0 * time * time, 0.0, 0.0]); 2];
    let poses: Vec<_> = (0..200).map(|f| pose(f as f64 / 24.0)).collect();
    let motion = |substeps: u32| {
        let p = SimulationParams { substeps, damping: 1.0, ..params() };
        let (frames, _) = run(&body.model(), p, &poses);
        displacement(&body, frames.last().unwrap())
    };
    let (one, four) = (motion(1), motion(4));
    let difference: Vec<_> =
        one.iter().zip(&four).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect();
    assert!(largest(&one) > 1e-3);
    assert!(largest(&difference) < 1e-6 * largest(&one), "{} {}", largest(&difference), largest(&one));
}

#[test]
fn dependent_modes_are_dropped() {
    let mut body = Body::bar();
    let rank = body.reduced().rank();
    let p = SimulationParams { pose_rest: 0.0, ..params() };
    let (plain, _) = run(&body.model(), p, &swinging(10));
    let (n, m) = body.modes.weights.shape();
    let weights = body.modes.weights.clone();
    body.modes.weights = Mat::from_fn(n, m + 2, |i, k| weights[(i, k % m)] * if k < m { 1.0 } else { -2.0 });
    body.modes.eigenvalues.extend([1e6, 1e6]);
    assert_eq!(body.reduced().rank(), rank);
    let (doubled, _) = run(&body.model(), p, &swinging(10));
    for (a, b) in plain.iter().zip(&doubled) {
        let (a, b) = (displacement(&body_without(&body, m), a), displacement(&body, b));
        let error: Vec<_> = a.iter().zip(&b).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect();
        assert!(largest(&error) < 1e-8 * largest(&a), "{}", largest(&error));
    }
}

fn body_without(body: &Body, m: usize) -> Body {
    let mut fewer = Body::bar();
    fewer.modes.weights = body.modes.weights.subcols(0, m).to_owned();
    fewer
}

#[test]
fn the_frequency_is_that_of_the_lowest_mode() {
    let body = Body::bar();
    assert!((body.model().frequency() - 30.0 / std::f64::consts::TAU).abs() < 1e-12);
}

#[test]
fn stiffness_scales_the_square_of_frequency() {
    // In units of time 1 / sqrt(s), a body s times as stiff moves in the same way.
    let body = Body::bar();
    let p = SimulationParams { damping: 0.1, max_iterations: 20, tolerance: 0.0, ..Default::default() };
    let (soft, _) = run(&body.model(), p, &swinging(10));
    let (stiff, _) =
        run(&body.model(), SimulationParams { stiffness: 4.0, dt: p.dt / 2.0, ..p }, &swinging(10));
    for (a, b) in soft.iter().flatten().zip(stiff.iter().flatten()) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn bodies_that_do_not_fit_are_refused() {
    let body = Body::bar();
    let build = |modes: &_, labels: &[i32], rig| {
        jounce::model::skinning_modes::SkinningModel::new(&body.mesh, &body.material, modes, labels, rig)
            .err()
    };
    let other = jounce::rig::Rig::single(5).unwrap();
    let mut labels = body.labels.clone();
    assert!(matches!(build(&body.modes, &labels[1..], None), Some(Error::Shape { .. })));
    assert!(matches!(build(&body.modes, &labels, Some(&other)), Some(Error::Shape { .. })));
    labels[3] = -1;
    assert!(matches!(build(&body.modes, &labels, None), Some(Error::Index { element: 3, index: -1, .. })));
    let mut modes = body.modes.clone();
    modes.weights[(2, 1)] = f64::NAN;
    assert!(matches!(build(&modes, &body.labels, None), Some(Error::NotFinite { .. })));
    modes.weights = Mat::zeros(body.mesh.vertices().len(), 4);
    assert!(matches!(build(&modes, &body.labels, None), Some(Error::Numerical { .. })));
    modes.weights = Mat::zeros(7, 4);
    assert!(matches!(build(&modes, &body.labels, None), Some(Error::Shape { .. })));
}

#[test]
fn clusters_of_single_tets_make_the_energy_exact() {
    let mut body = Body::new(TetMesh::clone(&bar([3, 2, 2], 0.1)), 2, 1);
    body.labels = (0..body.mesh.tets().len() as i32).collect();
    let model = body.reduced();
    let (z, pose) = (some_coefficients(24, 0.5), swing(0.2));
    let (energy, _) = model.elastic_energy(&z, Some(&pose), 0.0).unwrap();
    assert!(energy > 0.0);
    let zero = model.elastic_energy(&[0.0; 24], Some(&pose), 1.0).unwrap();
    assert!(zero.0.abs() < 1e-12 * energy && zero.1.iter().all(|g| g.abs() < 1e-11 * energy));
}
