//! Free bodies with handles: rest, momentum and energy, comparison with the full space, and properties of
//! every method.

use jounce::Error;
use jounce::file::{decode_state, encode_state};
use jounce::inputs::Start;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::Law;
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::projective::ProjectiveModel;
use jounce::operators::{gradients, lumped_mass};
use jounce::simulation::Simulation;
use jounce::subspace::Handles;
use jounce_tests::bodies::{bar, turn};
use jounce_tests::boxes::{box_mesh, row_of};
use jounce_tests::handled::{
    bent, clustered, diagonal, displacements, energy_left, exact, furthest, jelly, mass, models, momentum,
    places, settings, silent, simulation, step,
};
use jounce_tests::reports::{cancelling, counted};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

#[test]
fn a_free_body_at_rest_stays_where_it_is() {
    for model in models() {
        let size = diagonal(&model);
        for place in [
            Start::default().place,
            turn([1.0, 2.0, -0.5], 2.3, [0.1, 0.0, 0.3], [0.1, 0.2, -0.3]),
            turn([0.3, -1.0, 0.7], 1.1, [0.0; 3], [100.0 * size, -30.0 * size, 70.0 * size]),
        ] {
            let mut sim = simulation(&model, SimulationParams::default());
            sim.place(&Start { place, ..Start::default() }).unwrap();
            let start = places(&sim);
            for (x, was) in start.iter().zip(model.vertices()) {
                let want = Vector3::from(place.map(|r| r[0] * was[0] + r[1] * was[1] + r[2] * was[2] + r[3]));
                assert!((x - want).norm() < 1e-12 * (size + want.norm()));
            }
            (0..1000).for_each(|_| assert!(step(&mut sim) < 1e-18));
            let drift = furthest(&places(&sim), &start);
            assert!(drift < 1e-10 * size, "{drift:e}");
        }
    }
}

#[test]
fn without_strain_a_body_falls_as_a_stone_does() {
    for model in models() {
        let params =
            SimulationParams { gravity: [0.0, 1.0, -9.81], damping: 0.5, ..SimulationParams::default() };
        let mut sim = simulation(&model, params);
        sim.place(&Start { velocity: [2.0, 0.0, 3.0], ..Start::default() }).unwrap();
        run(&mut sim, 24);
        // Backward Euler falls by h^2 g (1 + 2 + ... + 24).
        let fall = 300.0 / 24.0_f64.powi(2);
        let want = Vector3::new(2.0, fall, 3.0 - 9.81 * fall);
        assert!(displacements(&sim).iter().all(|u| (u - want).norm() < 1e-10));
    }
}

#[test]
fn released_it_never_gains_energy() {
    for model in models() {
        let params =
            SimulationParams { dt: 1.0 / 60.0, tolerance: 1e-10, max_iterations: 500, ..Default::default() };
        let mut sim = simulation(&model, params);
        bent(&mut sim);
        assert!(energy_left(&mut sim, params.dt) > 0.0);
    }
}

#[test]
fn iterations_never_raise_the_energy() {
    // More iterations of the same substep lower its incremental energy, kinetic part included.
    let model = clustered(&bar([8, 2, 2], 0.1), 20, 16);
    let (h, mass) = (1.0 / 24.0, mass(&model));
    let mut sim = simulation(&model, SimulationParams::default());
    bent(&mut sim);
    let (state, start) = (sim.save_state(), places(&sim));
    let mut last = f64::INFINITY;
    for iterations in 1..20 {
        sim.set_params(SimulationParams { max_iterations: iterations, tolerance: 0.0, ..Default::default() })
            .unwrap();
        sim.restore_state(&state).unwrap();
        let elastic = step(&mut sim);
        let whole = elastic + momentum(&mass, &start, &places(&sim), h).0;
        assert!(whole <= last * (1.0 + 1e-12), "{iterations}: {last} to {whole}");
        last = whole;
    }
}

fn run(sim: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        step(sim);
    }
}

/// Largest angular momentum of a released bend, which should have none.
fn spurious(model: &Model) -> f64 {
    let params = SimulationParams { dt: 1.0 / 60.0, ..SimulationParams::default() };
    let mut sim = simulation(model, params);
    bent(&mut sim);
    let (mass, mut before, mut most) = (mass(model), places(&sim), 0.0_f64);
    for _ in 0..120 {
        step(&mut sim);
        let now = places(&sim);
        most = most.max(momentum(&mass, &before, &now, params.dt).1.norm());
        before = now;
    }
    most
}

#[test]
fn clusters_keep_angular_momentum_as_exact_tets_do() {
    let mesh = bar([10, 2, 2], 0.1);
    let (clusters, tets) = (spurious(&clustered(&mesh, 12, 20)), spurious(&exact(&mesh, 12)));
    assert!(clusters <= 3.0 * tets, "{clusters} {tets}");
}

#[test]
fn damping_leaves_spin_and_velocity() {
    let model = clustered(&row_of(&box_mesh([2, 2, 2], 0.1), 2, 0.4), 12, 12);
    let lost = |damping: f64| {
        let params =
            SimulationParams { dt: 1.0 / 240.0, damping, tolerance: 1e-10, ..SimulationParams::default() };
        let mut sim = simulation(&model, params);
        sim.place(&Start { velocity: [1.0, 0.0, 0.0], spin: [0.0, 0.5, 2.0], ..Start::default() }).unwrap();
        let mut momenta = Vec::new();
        for _ in 0..60 {
            let before = places(&sim);
            step(&mut sim);
            momenta.push(momentum(&mass(&model), &before, &places(&sim), params.dt).1);
        }
        (momenta[59] - momenta[0]).norm() / momenta[0].norm()
    };
    let (free, damped) = (lost(0.0), lost(1.0));
    assert!(free < 0.01 && damped <= free, "{free} {damped}");
}

#[test]
fn damping_calms_a_bend() {
    let model = clustered(&bar([8, 2, 2], 0.1), 12, 16);
    let swing = |damping: f64| {
        let mut sim = simulation(&model, SimulationParams { dt: 1.0 / 120.0, damping, ..Default::default() });
        bent(&mut sim);
        (0..240).map(|_| step(&mut sim)).last().unwrap()
    };
    assert!(swing(0.3) < 1e-2 * swing(0.0));
}

/// Full-space local-global steps of a free body, `[PD]`, with every vertex and a rotation for each tet.
struct Reference {
    mesh: TetMesh,
    gradients: Vec<[[f64; 3]; 4]>,
    stiff: Vec<f64>,
    mass: Vec<f64>,
}

impl Reference {
    fn new(mesh: &TetMesh) -> Self {
        let material = jelly(Law::Arap);
        let stiff = (0..mesh.tets().len()).map(|t| 2.0 * material.mu(t) * mesh.volumes()[t]).collect();
        Self { gradients: gradients(mesh), stiff, mass: lumped_mass(mesh, &material), mesh: mesh.clone() }
    }

    fn matrix(&self, h: f64) -> DMatrix<f64> {
        let n = self.mass.len();
        let mut matrix = DMatrix::from_diagonal(&DVector::from_fn(n, |i, _| self.mass[i] / (h * h)));
        for ((tet, g), stiff) in self.mesh.tets().iter().zip(&self.gradients).zip(&self.stiff) {
            for (a, &i) in tet.iter().enumerate() {
                for (b, &j) in tet.iter().enumerate() {
                    let product: f64 = (0..3).map(|c| g[a][c] * g[b][c]).sum();
                    matrix[(i as usize, j as usize)] += stiff * product;
                }
            }
        }
        matrix
    }

    fn step(
        &self,
        x: &[Vector3<f64>],
        wanted: &[Vector3<f64>],
        h: f64,
        solver: &nalgebra::Cholesky<f64, nalgebra::Dyn>,
    ) -> Vec<Vector3<f64>> {
        let mut side = DMatrix::from_fn(x.len(), 3, |i, c| self.mass[i] / (h * h) * wanted[i][c]);
        for ((tet, g), stiff) in self.mesh.tets().iter().zip(&self.gradients).zip(&self.stiff) {
            let columns = || tet.iter().zip(g);
            let f: Matrix3<f64> =
                columns().map(|(&v, g)| x[v as usize] * Vector3::from(*g).transpose()).sum();
            let svd = f.svd(true, true);
            let (u, v) = (svd.u.unwrap(), svd.v_t.unwrap());
            let rotation = u * v;
            assert!(rotation.determinant() > 0.0);
            for (&vertex, g) in columns() {
                let pull = *stiff * rotation * Vector3::from(*g);
                (0..3).for_each(|c| side[(vertex as usize, c)] += pull[c]);
            }
        }
        let solved = solver.solve(&side);
        (0..x.len()).map(|i| Vector3::new(solved[(i, 0)], solved[(i, 1)], solved[(i, 2)])).collect()
    }
}

#[test]
fn with_a_handle_at_every_vertex_it_is_the_full_space() {
    let mesh = bar([4, 1, 1], 0.1);
    let model = exact(&mesh, mesh.vertices().len());
    let h = 1.0 / 60.0;
    let params = SimulationParams { dt: h, tolerance: 1e-12, max_iterations: 1000, ..Default::default() };
    let mut sim = simulation(&model, params);
    bent(&mut sim);
    let reference = Reference::new(&mesh);
    let solver = reference.matrix(h).cholesky().unwrap();
    let (mut before, mut now) = (places(&sim), places(&sim));
    for _ in 0..20 {
        step(&mut sim);
        let wanted: Vec<_> = now.iter().zip(&before).map(|(x, old)| 2.0 * x - old).collect();
        let mut x = wanted.clone();
        (0..4000).for_each(|_| x = reference.step(&x, &wanted, h, &solver));
        (before, now) = (now, x);
        let missed = furthest(&places(&sim), &now);
        assert!(missed < 1e-8, "{missed:e}");
    }
    assert!(furthest(&now, &mesh.vertices().iter().map(|v| Vector3::from(*v)).collect::<Vec<_>>()) > 1e-3);
}

#[test]
fn more_handles_come_closer_to_the_full_space() {
    let mesh = bar([8, 2, 2], 0.1);
    let run = |handles: usize| {
        let mut sim =
            simulation(&exact(&mesh, handles), SimulationParams { dt: 1.0 / 60.0, ..Default::default() });
        bent(&mut sim);
        run(&mut sim, 12);
        places(&sim)
    };
    let full = run(mesh.vertices().len());
    let missed: Vec<f64> = [2, 8, 30].map(|handles| furthest(&run(handles), &full)).to_vec();
    assert!(missed[1] < missed[0] && missed[2] < 0.5 * missed[1], "{missed:?}");
}

#[test]
fn stiffness_may_change_at_any_time_and_the_shape_comes_back() {
    let model = clustered(&box_mesh([4, 4, 4], 0.1), 20, 24);
    let soft =
        |stiffness: f64| SimulationParams { stiffness, damping: 0.4, tolerance: 1e-9, ..Default::default() };
    let mut sim = simulation(&model, soft(0.01));
    let press: Vec<f64> = model
        .vertices()
        .iter()
        .zip(mass(&model))
        .flat_map(|(v, m)| [0.0, 0.0, -40.0 * m * (v[2] - 0.2) / 0.2])
        .collect();
    let force = model.projector(None).unwrap().reduce_forces(&press).unwrap();
    let input = StepInput { force: Some(&force), ..StepInput::default() };
    sim.settle(&input, 2000, &silent()).unwrap();
    assert!(displacements(&sim).iter().any(|u| u.norm() > 0.1));
    for stiffness in [0.1, 1.0] {
        sim.set_params(soft(stiffness)).unwrap();
        run(&mut sim, 200);
    }
    // The remaining spin stretches the body a little.
    sim.cut(&StepInput::default()).unwrap();
    run(&mut sim, 100);
    let (rest, now) = (model.vertices(), places(&sim));
    for (x, was) in now.iter().zip(rest) {
        let length = (Vector3::from(*was) - Vector3::from(rest[0])).norm();
        let change = ((x - now[0]).norm() - length).abs();
        assert!(change < 1e-6 * diagonal(&model), "{change:e}");
    }
}

fn motion(sim: &mut Simulation, steps: usize) -> Vec<Vec<f64>> {
    (0..steps)
        .map(|_| {
            step(sim);
            sim.coefficients().to_vec()
        })
        .collect()
}

#[test]
fn a_restored_state_replays_bit_for_bit() {
    for model in models() {
        for params in settings() {
            let mut sim = simulation(&model, params);
            bent(&mut sim);
            motion(&mut sim, 4);
            let state = sim.save_state();
            let first = motion(&mut sim, 6);
            sim.restore_state(&state).unwrap();
            assert_eq!(motion(&mut sim, 6), first);
            let mut other = simulation(&model, params);
            other.restore_state(&decode_state(&encode_state(&state)).unwrap()).unwrap();
            assert_eq!(motion(&mut other.duplicate().unwrap(), 6), first);
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut sim = simulation(&models()[0], settings()[1]);
            bent(&mut sim);
            motion(&mut sim, 10)
        })
    };
    assert!(on(1) == on(2));
}

#[test]
fn reset_starts_anew() {
    for (number, model) in models().into_iter().enumerate() {
        let mut sim = simulation(&model, SimulationParams::default());
        bent(&mut sim);
        motion(&mut sim, 3);
        sim.reset(None).unwrap();
        assert!(sim.coefficients().iter().all(|&z| z == 0.0));
        // Triangles at rest are isometries up to rounding.
        let most = if number < 4 { 0.0 } else { 1e-12 };
        assert!(motion(&mut sim, 3).concat().iter().all(|&z| z.abs() <= most));
    }
}

#[test]
fn what_is_cancelled_leaves_the_state() {
    for model in models() {
        let mut sim = simulation(&model, settings()[1]);
        bent(&mut sim);
        let state = sim.save_state();
        let (report, reports) = counted(|progress| sim.step_with(&StepInput::default(), progress).unwrap());
        assert!(reports >= report.iterations as usize);
        for at in 0..reports {
            sim.restore_state(&state).unwrap();
            assert_eq!(sim.step_with(&StepInput::default(), &cancelling(at)).err(), Some(Error::Cancelled));
            assert!(sim.save_state() == state);
        }
    }
}

#[test]
fn forces_do_the_same_work_on_handles() {
    for model in models() {
        let projector = model.projector(None).unwrap();
        let count: usize = model.coefficient_shape().iter().product();
        let z = jounce_tests::bodies::some_coefficients(count, 0.1);
        let forces = jounce_tests::bodies::some_coefficients(3 * projector.point_count(), 5.0);
        let mut u = vec![0.0; forces.len()];
        projector.displacement(&z, &mut u).unwrap();
        let work: f64 = forces.iter().zip(&u).map(|(f, u)| f * f64::from(*u)).sum();
        let reduced = projector.reduce_forces(&forces).unwrap();
        let same: f64 = reduced.iter().zip(&z).map(|(f, z)| f * z).sum();
        assert!((work - same).abs() < 1e-5 * forces.len() as f64);
        assert!(work.abs() > 1e-2);
    }
}

#[test]
fn what_it_has_no_part_for_is_refused() {
    let mesh = bar([3, 1, 1], 0.1);
    let handles = Handles::spread(&mesh, 4, 0, &silent()).unwrap();
    let labels = vec![0; mesh.tets().len()];
    let made = |law, handles: &Handles, labels: &[i32]| {
        ProjectiveModel::new(&mesh, &jelly(law), handles, labels, &silent()).err()
    };
    assert!(matches!(made(Law::Corotated, &handles, &labels), Some(Error::Unsupported { what: "law", .. })));
    assert!(matches!(made(Law::Arap, &handles, &labels[1..]), Some(Error::Shape { what: "labels", .. })));
    let others = Handles::spread(&bar([4, 1, 1], 0.1), 4, 0, &silent()).unwrap();
    assert!(matches!(made(Law::Arap, &others, &labels), Some(Error::Shape { what: "handles", .. })));
    let model = clustered(&mesh, 4, 3);
    let limited = SimulationParams { limit: Some(0.1), ..SimulationParams::default() };
    assert!(matches!(Simulation::new(model.clone(), limited), Err(Error::Unsupported { what: "limit", .. })));
    let mut sim = simulation(&model, SimulationParams::default());
    let pose = [Start::default().place];
    assert!(matches!(sim.step(Some(&[pose[0]; 2])), Err(Error::Shape { what: "pose", .. })));
    let force = vec![0.0; 5];
    let input = StepInput { force: Some(&force), ..StepInput::default() };
    assert!(matches!(sim.step_with(&input, &silent()), Err(Error::Shape { what: "force", .. })));
    let scaled = Start { place: pose[0].map(|row| row.map(|x| 2.0 * x)), ..Start::default() };
    let before = sim.save_state();
    assert!(matches!(sim.place(&scaled), Err(Error::Range { what: "place", .. })));
    assert!(sim.save_state() == before);
    let rigged = jounce_tests::bodies::Body::bar().model();
    let placed = simulation(&rigged, SimulationParams::default()).place(&Start::default());
    assert!(matches!(placed, Err(Error::Unsupported { what: "place", .. })));
}
