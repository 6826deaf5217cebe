//! Results of the papers, each test named after the figure or section it reproduces.

use faer::{Mat, Side};
use jounce::Progress;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Energy, Field, Law, Material, PrincipalStretch};
use jounce::mesh::{TetMesh, lattice};
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::operators::{displacement_constraint, gradients, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{cluster_tets, skinning_modes};
use jounce_tests::bodies::{Body, Transform, bar, compose, swing, turn};
use jounce_tests::complementary::{ComplementarySolver, ComplementarySolverParams};
use jounce_tests::dense::trajectory;
use jounce_tests::surfaces;
use nalgebra::{Matrix3, Rotation3, Vector3};

const DT: f64 = 1.0 / 60.0;
const STEPS: usize = 60;
const SEED: u64 = 0;

fn body() -> Body {
    let soft =
        Material::new(Law::Arap, Field::Uniform(4e3), Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap();
    Body { material: soft, ..Body::new(bar([12, 5, 5], 0.1), 1, 2) }
}

/// Displacements of every step of the full-space solver, each n x 3 interleaved.
fn truth(body: &Body, leak: &[f64]) -> Vec<Vec<f64>> {
    let params = ComplementarySolverParams { dt: DT, max_iterations: 200, tolerance: 1e-7 };
    let mut solver =
        ComplementarySolver::new(&body.mesh, &body.material, &body.rig, leak, &swing(0.0), params).unwrap();
    (1..=STEPS)
        .map(|step| {
            solver.step(&swing(step as f64 * DT)).unwrap();
            let u = solver.displacement();
            (0..u.nrows()).flat_map(|i| (0..3).map(move |c| u[(i, c)])).collect()
        })
        .collect()
}

/// Root mean square distance of the reduced trajectory from the full-space one, relative to the latter.
fn error(
    body: &Body,
    modes_see: &Material,
    leak: &[f64],
    modes: usize,
    clusters: usize,
    truth: &[Vec<f64>],
) -> f64 {
    let progress = Progress::default();
    let modes = skinning_modes(&body.mesh, modes_see, modes, Some(&body.rig), Some(leak), &progress).unwrap();
    let labels = cluster_tets(&body.mesh, &modes, clusters, SEED, &progress).unwrap();
    let model = SkinningModel::new(&body.mesh, &body.material, &modes, &labels, Some(&body.rig)).unwrap();
    let model = Model::Skinning(model.into());
    let projector = model.projector(None).unwrap();
    let params = SimulationParams {
        dt: DT,
        max_iterations: 200,
        tolerance: 1e-8,
        pose_rest: 0.0,
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(model, params).unwrap();
    simulation.reset(Some(&swing(0.0))).unwrap();
    let mut displacement = vec![0.0; 3 * body.mesh.vertices().len()];
    let (mut squared_error, mut squared_size) = (0.0, 0.0);
    for (step, exact) in truth.iter().enumerate() {
        simulation.step(Some(&swing((step + 1) as f64 * DT))).unwrap();
        projector.displacement(simulation.coefficients(), &mut displacement).unwrap();
        for (u, exact) in displacement.iter().zip(exact) {
            squared_error += (f64::from(*u) - exact).powi(2);
            squared_size += exact.powi(2);
        }
    }
    (squared_error / squared_size).sqrt()
}

#[test]
fn section_9_10_error_falls_as_modes_and_clusters_grow() {
    let body = body();
    let leak = momentum_leak(&body.mesh).unwrap();
    let truth = truth(&body, &leak);
    let by_modes = [2, 8, 32].map(|modes| error(&body, &body.material, &leak, modes, 200, &truth));
    let by_clusters = [4, 20, 100].map(|clusters| error(&body, &body.material, &leak, 32, clusters, &truth));
    println!("error by modes 2, 8, 32: {by_modes:.3?}; by clusters 4, 20, 100: {by_clusters:.3?}");
    assert!(by_modes.is_sorted_by(|a, b| a > b), "modes 2, 8, 32: {by_modes:?}");
    assert!(by_clusters.is_sorted_by(|a, b| a > b), "clusters 4, 20, 100: {by_clusters:?}");
    assert!(by_modes[2] < 0.5 * by_modes[0], "modes 2, 8, 32: {by_modes:?}");
}

/// Relative change of volume, by rig and flesh together, of a sphere compressed between two bones at its
/// top and bottom, at equilibrium.
fn squash(mesh: &TetMesh, law: Law, poisson: f64) -> f64 {
    let progress = Progress::default();
    // The same mu for all laws.
    let young = Field::Uniform(2e4 * (1.0 + poisson));
    let material = Material::new(law, young, Field::Uniform(poisson), Field::Uniform(1000.0)).unwrap();
    let top = |x: &[f64; 3]| 0.5 * (1.0 + x[2].clamp(-1.0, 1.0));
    let weights: Vec<f64> = mesh.vertices().iter().flat_map(|x| [1.0 - top(x), top(x)]).collect();
    let rig = Rig::new(mesh.vertices().len(), 2, &weights).unwrap();
    // Only the caps are held; the part between is free to bulge.
    let leak: Vec<f64> = mesh.vertices().iter().map(|x| if x[2].abs() > 0.7 { 0.0 } else { 1.0 }).collect();
    let modes = skinning_modes(mesh, &material, 10, Some(&rig), Some(&leak), &progress).unwrap();
    let labels = cluster_tets(mesh, &modes, 50, SEED, &progress).unwrap();
    let model = SkinningModel::new(mesh, &material, &modes, &labels, Some(&rig)).unwrap();
    let model = Model::Skinning(model.into());
    let projector = model.projector(None).unwrap();
    let p = SimulationParams { pose_rest: 0.0, tolerance: 1e-7, ..SimulationParams::default() };
    let mut simulation = Simulation::new(model, p).unwrap();
    let press = 0.3;
    let shifted = |z: f64| turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.0, 0.0, z]);
    let report = simulation
        .settle(
            &StepInput { pose: Some(&[shifted(press), shifted(-press)]), ..StepInput::default() },
            2000,
            &Progress::default(),
        )
        .unwrap();
    assert!(report.residual <= p.tolerance, "{report:?}");
    let mut u = vec![0.0; 3 * mesh.vertices().len()];
    projector.displacement(simulation.coefficients(), &mut u).unwrap();
    let moved = mesh.vertices().iter().zip(u.as_chunks::<3>().0).map(|(x, u)| {
        let u = u.map(f64::from);
        [x[0] + u[0], x[1] + u[1], x[2] + u[2] + press * (1.0 - 2.0 * top(x))]
    });
    let moved = TetMesh::new(moved.collect(), mesh.tets().to_vec()).unwrap();
    moved.volumes().iter().sum::<f64>() / mesh.volumes().iter().sum::<f64>() - 1.0
}

#[test]
fn figure_19_corotated_flesh_keeps_its_volume() {
    let sphere = surfaces::sphere(3).surface();
    let mesh = lattice(&sphere, 12, &Progress::default()).unwrap();
    let arap = squash(&mesh, Law::Arap, 0.0);
    let corotated = [0.2, 0.4, 0.45].map(|poisson| squash(&mesh, Law::Corotated, poisson));
    println!(
        "change of volume: as rigid as possible {arap:.3}, Poisson ratio 0.2, 0.4, 0.45 {corotated:.3?}"
    );
    assert!(arap < -0.1, "{arap}");
    assert!(corotated.is_sorted() && corotated[0] > arap, "{corotated:?}");
    assert!(corotated[2].abs() < 0.5 * arap.abs(), "{corotated:?} {arap}");
    // Without a Poisson ratio both laws are the same.
    assert_eq!(squash(&mesh, Law::Corotated, 0.0), arap);
}

/// Columns `w_ik [X_i; 1]` of one coordinate's skinning subspace, n x 4m.
fn skinning_basis(mesh: &TetMesh, weights: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(weights.nrows(), 4 * weights.ncols(), |i, column| {
        let extended = if column % 4 < 3 { mesh.vertices()[i][column % 4] } else { 1.0 };
        weights[(i, column / 4)] * extended
    })
}

/// Classical modes: the lowest eigenvectors of the full Hessian at rest, with unit mass per vertex, 3n x
/// count.
fn displacement_modes(mesh: &TetMesh, count: usize) -> Mat<f64> {
    let hessian = PrincipalStretch::Corotated { mu: 1.0, lambda: 0.5 }.hessian(&Matrix3::identity());
    let mut stiffness = Mat::<f64>::zeros(3 * mesh.vertices().len(), 3 * mesh.vertices().len());
    for ((tet, hats), volume) in mesh.tets().iter().zip(gradients(mesh)).zip(mesh.volumes()) {
        for ((a, i), (b, j)) in (0..12).flat_map(|r| (0..12).map(move |c| ((r / 3, r % 3), (c / 3, c % 3)))) {
            let products =
                (0..9).map(|k| hessian[(i + 3 * (k / 3), j + 3 * (k % 3))] * hats[a][k / 3] * hats[b][k % 3]);
            stiffness[(3 * tet[a] as usize + i, 3 * tet[b] as usize + j)] += volume * products.sum::<f64>();
        }
    }
    let vectors = stiffness.self_adjoint_eigen(Side::Lower).unwrap().U().to_owned();
    vectors.subcols(0, count).to_owned()
}

/// Part of the columns of `targets` outside the span of a basis, relative to their size.
fn missed(basis: &Mat<f64>, targets: &Mat<f64>) -> f64 {
    let svd = basis.thin_svd().unwrap();
    let largest = svd.S()[0];
    let rank = (0..basis.ncols()).take_while(|&i| svd.S()[i] > 1e-10 * largest).count();
    let span = svd.U().subcols(0, rank);
    (targets - span * (span.transpose() * targets)).norm_l2() / targets.norm_l2()
}

/// Displacements of a deformation of the rest shape, n x 3.
fn displacements(mesh: &TetMesh, deform: impl Fn(Vector3<f64>) -> Vector3<f64>) -> Mat<f64> {
    let vertices = mesh.vertices();
    Mat::from_fn(vertices.len(), 3, |i, c| {
        let rest = Vector3::from(vertices[i]);
        (deform(rest) - rest)[c]
    })
}

fn interleaved(u: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(3 * u.nrows(), 1, |row, _| u[(row / 3, row % 3)])
}

fn free_weights(body: &Body, count: usize) -> Mat<f64> {
    skinning_modes(&body.mesh, &body.material, count, None, None, &Progress::default()).unwrap().weights
}

#[test]
fn figure_13_skinning_modes_span_rotations_and_displacement_modes_do_not() {
    let body = Body::new(bar([4, 3, 3], 0.1), 1, 2);
    let turn = Rotation3::from_euler_angles(0.4, 1.2, -0.7);
    let rotated = displacements(&body.mesh, |x| turn * x);
    let skinning = missed(&skinning_basis(&body.mesh, &free_weights(&body, 1)), &rotated);
    let displacement = missed(&displacement_modes(&body.mesh, 60), &interleaved(&rotated));
    assert!(skinning < 1e-10, "one skinning mode misses {skinning:e}");
    assert!(displacement > 1e-3, "sixty displacement modes miss only {displacement:e}");
}

#[test]
fn figure_13_skinning_modes_are_closed_under_rotations_and_displacement_modes_are_not() {
    let body = Body::new(bar([4, 3, 3], 0.1), 1, 2);
    let turn = Rotation3::from_euler_angles(-0.9, 0.3, 1.6);
    let rotate =
        |u: &Mat<f64>| Mat::from_fn(u.nrows(), 3, |i, c| (0..3).map(|k| turn[(c, k)] * u[(i, k)]).sum());
    let basis = skinning_basis(&body.mesh, &free_weights(&body, 4));
    let coefficients = Mat::from_fn(basis.ncols(), 3, |i, c| (1.0 + (i * 3 + c) as f64).sin());
    let skinning = missed(&basis, &rotate(&(&basis * coefficients)));
    let modes = displacement_modes(&body.mesh, 48);
    let mode = Mat::from_fn(modes.nrows() / 3, 3, |i, c| modes[(3 * i + c, 20)]);
    let displacement = missed(&modes, &interleaved(&rotate(&mode)));
    assert!(skinning < 1e-10, "a rotated skinning deformation is missed by {skinning:e}");
    assert!(displacement > 1e-2, "a rotated displacement mode is missed by only {displacement:e}");
}

#[test]
fn figure_5_a_rotated_problem_has_the_rotated_trajectory_and_with_displacement_modes_it_has_not() {
    let body = Body { material: body().material, ..Body::new(bar([6, 3, 3], 0.1), 1, 2) };
    let leak = momentum_leak(&body.mesh).unwrap();
    let world = turn([0.3, -1.0, 0.5], 2.1, [0.0; 3], [3.0, -2.0, 5.0]);
    let poses: Vec<Vec<Transform>> = (0..=30).map(|f| swing(f64::from(f) * DT).to_vec()).collect();
    let rotated_poses: Vec<Vec<Transform>> =
        poses.iter().map(|pose| pose.iter().map(|bone| compose(&world, bone)).collect()).collect();
    let rotate = |u: &Vec<f64>| -> Vec<f64> {
        let coordinate = |i: usize| (0..3).map(|k| world[i % 3][k] * u[i - i % 3 + k]).sum();
        (0..u.len()).map(coordinate).collect()
    };
    let broken = |run: Run<'_>| {
        let plain: Vec<Vec<f64>> = run(&poses).iter().map(rotate).collect();
        assert!(plain.concat().iter().fold(0.0, |a: f64, u| a.max(u.abs())) > 1e-2, "nothing moves");
        apart(&run(&rotated_poses), &plain)
    };
    let modes =
        skinning_modes(&body.mesh, &body.material, 4, Some(&body.rig), Some(&leak), &Progress::default())
            .unwrap();
    for law in [Law::Arap, Law::Corotated] {
        let body = Body { modes: modes.clone(), ..Body::new(bar([6, 3, 3], 0.1), 1, 2) };
        let body = Body { material: body.material.clone(), ..body }
            .with_law(law, if law == Law::Arap { 0.0 } else { 0.4 });
        let product = broken(&|poses| simulated(&body, poses));
        assert!(product < 1e-6, "{law:?}: the rotated trajectory is off by {product:e}");
    }
    let skinning = for_all_coordinates(&skinning_basis(&body.mesh, &modes.weights));
    let mass = lumped_mass(&body.mesh, &body.material);
    let constraint = displacement_constraint(&body.mesh, &mass, &body.rig, &leak).unwrap().to_dense();
    let displacement =
        complementary_part(&displacement_modes(&body.mesh, 48 + 3 * constraint.ncols()), &constraint);
    assert_eq!(displacement.ncols(), skinning.ncols());
    let skinning = broken(&|poses| trajectory(&body, &skinning, poses, DT));
    let displacement = broken(&|poses| trajectory(&body, &displacement, poses, DT));
    println!(
        "a rotated problem is answered differently by {skinning:e} with skinning modes, \
         by {displacement:.3} with displacement modes"
    );
    assert!(skinning < 1e-6, "{skinning:e}");
    assert!(displacement > 0.05, "{displacement}");
}

/// A function from a sequence of poses to a trajectory.
type Run<'a> = &'a dyn Fn(&[Vec<Transform>]) -> Vec<Vec<f64>>;

/// Displacements of each step of the reduced simulation, 3n interleaved.
fn simulated(body: &Body, poses: &[Vec<Transform>]) -> Vec<Vec<f64>> {
    let model = body.model();
    let projector = model.projector(None).unwrap();
    let params = SimulationParams {
        dt: DT,
        max_iterations: 500,
        tolerance: 1e-12,
        pose_rest: 0.0,
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(model, params).unwrap();
    simulation.reset(Some(&poses[0])).unwrap();
    let mut u = vec![0.0; 3 * body.mesh.vertices().len()];
    let step = |pose: &Vec<Transform>| {
        simulation.step(Some(pose)).unwrap();
        projector.displacement(simulation.coefficients(), &mut u).unwrap();
        u.iter().map(|&u| f64::from(u)).collect()
    };
    poses[1..].iter().map(step).collect()
}

#[test]
fn figure_15_skinning_modes_twist_better_than_as_many_displacement_modes() {
    let body = Body::new(bar([9, 2, 2], 0.1), 1, 2);
    let twisted = displacements(&body.mesh, |x| {
        let centre = Vector3::new(x.x, 0.1, 0.1);
        centre + Rotation3::from_axis_angle(&Vector3::x_axis(), 2.5 * x.x / 0.9) * (x - centre)
    });
    let modes = 6;
    let skinning = missed(&skinning_basis(&body.mesh, &free_weights(&body, modes)), &twisted);
    let displacement = missed(&displacement_modes(&body.mesh, 12 * modes), &interleaved(&twisted));
    println!(
        "twist missed by {modes} skinning modes {skinning:.4}, by {} displacement modes {displacement:.4}",
        12 * modes
    );
    assert!(skinning < 0.5 * displacement, "skinning {skinning}, displacement {displacement}");
}

#[test]
fn figure_10_modes_that_see_the_material_follow_it_better() {
    let uniform = body();
    let soft_end = |t: usize| if uniform.mesh.corners(t)[0][0] > 0.8 { 1e3 } else { 2e5 };
    let young = Field::PerTet((0..uniform.mesh.tets().len()).map(soft_end).collect());
    let material = Material::new(Law::Arap, young, Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap();
    let mixed = Body { material: material.clone(), ..body() };
    let leak = momentum_leak(&mixed.mesh).unwrap();
    let truth = truth(&mixed, &leak);
    let aware = error(&mixed, &mixed.material, &leak, 6, 200, &truth);
    let blind = error(&mixed, &uniform.material, &leak, 6, 200, &truth);
    println!("error with modes of the material {aware:.3}, of a uniform one {blind:.3}");
    assert!(aware < 0.7 * blind, "aware {aware}, blind {blind}");
}

/// A thin bar on a chain of bones.
fn chain(bones: usize) -> Body {
    let mesh = bar([28, 2, 2], 0.05);
    let place = |x: &[f64; 3]| x[0] / 1.4 * (bones - 1) as f64;
    let weights: Vec<f64> = mesh
        .vertices()
        .iter()
        .flat_map(|x| (0..bones).map(move |j| (1.0 - (place(x) - j as f64).abs()).max(0.0)))
        .collect();
    let rig = Rig::new(mesh.vertices().len(), bones, &weights).unwrap();
    Body { rig, material: body().material, ..Body::new(mesh, 1, 2) }
}

#[test]
fn figure_18_a_constrained_subspace_moves_where_an_unconstrained_one_of_its_size_cannot() {
    let bones = 14;
    let body = chain(bones);
    // The leak varies within every bone's region, and vanishes nowhere inside.
    let leak: Vec<f64> = body.mesh.vertices().iter().map(|x| 0.95 * x[2] / 0.1).collect();
    let mass = lumped_mass(&body.mesh, &body.material);
    let constraint = displacement_constraint(&body.mesh, &mass, &body.rig, &leak).unwrap().to_dense();
    let poses: Vec<Vec<Transform>> = (0..=STEPS)
        .map(|step| (0..bones).map(|j| wave(step as f64 * DT, j as f64 / bones as f64)).collect())
        .collect();
    let params = ComplementarySolverParams { dt: DT, max_iterations: 300, tolerance: 1e-9 };
    let mut full =
        ComplementarySolver::new(&body.mesh, &body.material, &body.rig, &leak, &poses[0], params).unwrap();
    let truth: Vec<Vec<f64>> = poses[1..]
        .iter()
        .map(|pose| {
            full.step(pose).unwrap();
            let u = full.displacement();
            (0..3 * u.nrows()).map(|i| u[(i / 3, i % 3)]).collect()
        })
        .collect();
    let [constrained, unconstrained] = [Some(&body.rig), None].map(|rig| {
        let modes = skinning_modes(&body.mesh, &body.material, bones, rig, Some(&leak), &Progress::default())
            .unwrap();
        let basis = for_all_coordinates(&skinning_basis(&body.mesh, &modes.weights));
        let left = complementary_part(&basis, &constraint);
        let moved = trajectory(&body, &left, &poses, DT);
        (left.ncols(), size(&moved) / size(&truth), apart(&moved, &truth))
    });
    println!("motions left, motion, error: constrained {constrained:.2?}, unconstrained {unconstrained:.2?}");
    assert_eq!(constrained.0, 12 * bones);
    assert!(5 * unconstrained.0 < constrained.0, "{unconstrained:?}");
    assert!(constrained.1 > 2.0 * unconstrained.1, "{constrained:?} {unconstrained:?}");
    assert!(constrained.2 < 0.8 * unconstrained.2, "{constrained:?} {unconstrained:?}");
}

/// A chain's bone that swings from side to side, with a phase lag to the previous one.
fn wave(time: f64, place: f64) -> Transform {
    turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.0, 0.1 * (9.0 * time - 3.0 * place).sin(), 0.0])
}

/// The part of a basis, 3n x r, that satisfies the constraint, n x c, in every coordinate.
fn complementary_part(basis: &Mat<f64>, constraint: &Mat<f64>) -> Mat<f64> {
    let rows = Mat::from_fn(3 * constraint.ncols(), basis.ncols(), |row, j| {
        (0..constraint.nrows()).map(|i| constraint[(i, row / 3)] * basis[(3 * i + row % 3, j)]).sum::<f64>()
    });
    let svd = rows.svd().unwrap();
    let least = 1e-8 * basis.norm_l2() * constraint.norm_l2();
    let rank = (0..rows.nrows().min(rows.ncols())).take_while(|&i| svd.S()[i] > least).count();
    basis * svd.V().subcols(rank, basis.ncols() - rank)
}

/// One coordinate's basis repeated for all three, 3n x 3r.
fn for_all_coordinates(basis: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(3 * basis.nrows(), 3 * basis.ncols(), |row, j| {
        if row % 3 == j % 3 { basis[(row / 3, j / 3)] } else { 0.0 }
    })
}

/// Distance between two trajectories, relative to the size of the second.
fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let difference = a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect());
    size(&difference.collect::<Vec<_>>()) / size(b)
}

/// Norm of all displacements of a trajectory.
fn size(trajectory: &[Vec<f64>]) -> f64 {
    trajectory.iter().flatten().map(|u| u * u).sum::<f64>().sqrt()
}
