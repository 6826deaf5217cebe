//! Linear modes against dense eigenproblems and formulas, and modal derivatives against the full space.

use faer::{Mat, Side};
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, solid_lattice};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::{Stitches, displacement_constraint, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{Basis, LinearModes, LinearProblem, Restraint};
use jounce::{Error, Progress, Result};
use jounce_tests::bodies::bar;
use jounce_tests::boxes::weights_along_x;
use jounce_tests::dense::{bending_load, hooke};
use jounce_tests::limits::assert_limit;
use jounce_tests::reports::{cancelling, counted};
use jounce_tests::surfaces::sphere;
use nalgebra::Vector3;

const YOUNG: f64 = 2e4;
const DENSITY: f64 = 1000.0;

fn silent() -> Progress {
    Progress::default()
}

fn material(law: Law, poisson: f64) -> Material {
    let number = Field::Uniform;
    Material::new(law, number(YOUNG), number(poisson), number(DENSITY)).unwrap()
}

/// The vertices at the left end.
fn left(mesh: &TetMesh) -> Vec<bool> {
    let least = mesh.vertices().iter().map(|x| x[0]).fold(f64::INFINITY, f64::min);
    mesh.vertices().iter().map(|x| x[0] < least + 0.05).collect()
}

fn problem(mesh: &TetMesh, material: &Material, pinned: Option<&[bool]>) -> Result<LinearProblem> {
    LinearProblem::new(
        mesh,
        material,
        &Restraint { pinned, ..Restraint::default() },
        &Stitches::none(mesh),
        &silent(),
    )
}

fn lowest(mesh: &TetMesh, material: &Material, pinned: Option<&[bool]>, count: usize) -> LinearModes {
    problem(mesh, material, pinned).unwrap().lowest(count, &silent()).unwrap()
}

/// All eigenvalues of Hooke's law for displacements `M^-1/2 Q y`, Q orthonormal.
fn dense_eigenvalues(mesh: &TetMesh, material: &Material, span: &Mat<f64>) -> Vec<f64> {
    let mass = lumped_mass(mesh, material);
    let stiffness = hooke(mesh, material);
    let scaled = Mat::from_fn(stiffness.nrows(), stiffness.ncols(), |i, j| {
        stiffness[(i, j)] / (mass[i / 3] * mass[j / 3]).sqrt()
    });
    let small = span.transpose() * scaled * span;
    small.self_adjoint_eigenvalues(Side::Lower).unwrap()
}

fn unit_columns(size: usize, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(size, rows.len(), |i, j| f64::from(u8::from(rows[j] == i)))
}

fn assert_close(found: &[f64], expected: &[f64], scale: f64, share: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < share * scale, "{found}, not {expected}");
    }
}

/// Largest entry of `Psi'M Psi - I`.
fn apart_from_orthonormal(mesh: &TetMesh, material: &Material, shapes: &Mat<f64>) -> f64 {
    let mass = lumped_mass(mesh, material);
    let heavy = Mat::from_fn(shapes.nrows(), shapes.ncols(), |i, j| mass[i / 3] * shapes[(i, j)]);
    let mut gram = shapes.transpose() * heavy;
    (0..gram.nrows()).for_each(|i| gram[(i, i)] -= 1.0);
    gram.norm_max()
}

#[test]
fn modes_of_a_free_body_are_those_of_a_dense_solver_rigid_motions_first() {
    for law in [Law::Corotated, Law::NeoHookean, Law::StVenantKirchhoff, Law::MooneyRivlin] {
        let (mesh, material) = (bar([4, 2, 1], 0.1), material(law, 0.3));
        let size = 3 * mesh.vertices().len();
        let expected = dense_eigenvalues(&mesh, &material, &Mat::identity(size, size));
        let modes = lowest(&mesh, &material, None, 20);
        assert_close(&modes.eigenvalues, &expected, expected[6], 1e-9);
        assert!(modes.eigenvalues[5].abs() < 1e-8 * modes.eigenvalues[6]);
        assert!(apart_from_orthonormal(&mesh, &material, &modes.shapes) < 1e-9);
    }
}

#[test]
fn pinned_vertices_stay_exactly_and_the_rest_swings_as_a_dense_solver_says() {
    let (mesh, material) = (bar([4, 2, 2], 0.1), material(Law::Corotated, 0.3));
    let pinned = left(&mesh);
    let modes = lowest(&mesh, &material, Some(&pinned), 12);
    let rows: Vec<usize> = (0..3 * pinned.len()).filter(|row| !pinned[row / 3]).collect();
    let expected = dense_eigenvalues(&mesh, &material, &unit_columns(3 * pinned.len(), &rows));
    assert_close(&modes.eigenvalues, &expected, expected[0], 1e-9);
    let moves = |row: usize| modes.shapes.row(row).iter().any(|&x| x != 0.0);
    assert!((0..3 * pinned.len()).all(|row| moves(row) != pinned[row / 3]));
}

#[test]
fn modes_beside_a_rig_do_not_move_as_it_does() {
    let (mesh, material) = (bar([5, 2, 2], 0.1), material(Law::Corotated, 0.3));
    let n = mesh.vertices().len();
    let rig = Rig::new(n, 2, &weights_along_x(&mesh, 2)).unwrap();
    let restraint = Restraint { rig: Some(&rig), ..Restraint::default() };
    let modes = LinearProblem::new(&mesh, &material, &restraint, &Stitches::none(&mesh), &silent())
        .unwrap()
        .lowest(8, &silent())
        .unwrap();
    let mass = lumped_mass(&mesh, &material);
    let constraint =
        displacement_constraint(&mesh, &mass, &rig, &momentum_leak(&mesh).unwrap()).unwrap().to_dense();
    for c in 0..3 {
        let moved = Mat::from_fn(n, 8, |v, j| modes.shapes[(3 * v + c, j)]);
        let along = constraint.transpose() * &moved;
        assert!(along.norm_max() < 1e-10 * constraint.norm_max() * moved.norm_max());
    }
    assert!(modes.eigenvalues[0] > 0.0);
}

/// `f = sqrt(E / rho) / 4 L` for axial vibration of a bar fixed at one end.
#[test]
fn a_held_bar_stretches_at_the_frequency_of_the_formula() {
    let mesh = bar([16, 1, 1], 0.05);
    let material = material(Law::Corotated, 0.0);
    let modes = lowest(&mesh, &material, Some(&left(&mesh)), 16);
    let length_share = |mode: usize| {
        let squares = |c: usize| -> f64 {
            modes.shapes.col_as_slice(mode).iter().skip(c).step_by(3).map(|x| x * x).sum()
        };
        squares(0) / (squares(0) + squares(1) + squares(2))
    };
    let axial = (0..16).find(|&mode| length_share(mode) > 0.9).unwrap();
    let expected = (YOUNG / DENSITY).sqrt() / (4.0 * 0.8);
    let found = modes.frequencies()[axial];
    assert!((found / expected - 1.0).abs() < 0.02, "{found} Hz, not {expected}");
}

#[test]
fn derivatives_are_those_of_the_closed_form() {
    let (mesh, material) = (bar([4, 1, 2], 0.1), material(Law::Corotated, 0.3));
    let pinned = left(&mesh);
    let problem = problem(&mesh, &material, Some(&pinned)).unwrap();
    let modes = problem.lowest(3, &silent()).unwrap();
    let derivatives = problem.derivatives(&modes, &silent()).unwrap();
    let met = hooke(&mesh, &material) * &derivatives;
    let pairs = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
    for (column, [i, j]) in pairs.into_iter().enumerate() {
        let load = bending_load(&mesh, &material, &modes.shapes, [i, j]);
        let most = load.iter().map(Vector3::norm).fold(0.0, f64::max);
        for (v, load) in load.iter().enumerate().filter(|(v, _)| !pinned[*v]) {
            let apart = (0..3).map(|c| (met[(3 * v + c, column)] + load[c]).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-8 * most, "pair {i}, {j}: {apart} of {most}");
        }
    }
}

/// Equilibrium displacement under a force `p M Psi Lambda` in the full space.
fn bent(mesh: &TetMesh, material: &Material, pinned: &[bool], force: &[f64]) -> Vec<f64> {
    let restraint = Restraint { pinned: Some(pinned), ..Restraint::default() };
    let model =
        FullSpaceModel::of(mesh, material, &restraint, &FullSpaceExtras::default(), &silent()).unwrap();
    let params = SimulationParams { tolerance: 1e-13, ..SimulationParams::default() };
    let mut sim = Simulation::new(Model::FullSpace(model.into()), params).unwrap();
    let input = StepInput { force: Some(force), ..StepInput::default() };
    sim.settle(&input, 4000, &silent()).unwrap();
    sim.coefficients().to_vec()
}

fn scaled(mesh: &TetMesh, material: &Material, modes: &LinearModes, mode: usize, factor: f64) -> Vec<f64> {
    let mass = lumped_mass(mesh, material);
    let shape = modes.shapes.col_as_slice(mode);
    (0..shape.len()).map(|i| factor * modes.eigenvalues[mode] * mass[i / 3] * shape[i]).collect()
}

/// `u(p) + u(-p) = p^2 Phi` up to fourth order, for tets and for cells of flesh, of three magnitudes of p.
#[test]
fn derivatives_are_how_a_body_bends() {
    let cells = solid_lattice(&sphere(2).placed([0.45, 0.2, 0.2], [0.0; 3]).surface(), 5, &silent()).unwrap();
    for mesh in [bar([5, 1, 1], 0.1), cells] {
        for law in [Law::Corotated, Law::NeoHookean] {
            let (material, pinned) = (material(law, 0.3), left(&mesh));
            let problem = problem(&mesh, &material, Some(&pinned)).unwrap();
            let modes = problem.lowest(2, &silent()).unwrap();
            let derivatives = problem.derivatives(&modes, &silent()).unwrap();
            let largest = modes.shapes.col_as_slice(0).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let seen = [0.04, 0.02, 0.01].map(|share| {
                let p = share * mesh.diagonal() / largest;
                let [there, back] =
                    [p, -p].map(|p| bent(&mesh, &material, &pinned, &scaled(&mesh, &material, &modes, 0, p)));
                there.iter().zip(&back).map(|(there, back)| (there + back) / (p * p)).collect()
            });
            assert_limit(&seen, derivatives.col_as_slice(0));
        }
    }
}

#[test]
fn derivatives_of_a_free_body_do_not_move_it_as_a_whole() {
    let (mesh, material) = (bar([4, 1, 1], 0.1), material(Law::Corotated, 0.3));
    let problem = problem(&mesh, &material, None).unwrap();
    let modes = problem.lowest(9, &silent()).unwrap();
    let derivatives = problem.derivatives(&modes, &silent()).unwrap();
    let mass = lumped_mass(&mesh, &material);
    let heavy = Mat::from_fn(derivatives.nrows(), 6, |i, j| mass[i / 3] * modes.shapes[(i, j)]);
    let along = heavy.transpose() * &derivatives;
    assert!(along.norm_max() < 1e-9 * derivatives.norm_max() * heavy.norm_max());
    assert!(derivatives.norm_max() > 0.0);
    // Without the rotations nothing balances the torque of two deforming modes.
    let kept = [0, 1, 2, 6, 7, 8];
    let few = LinearModes {
        shapes: Mat::from_fn(modes.shapes.nrows(), kept.len(), |i, j| modes.shapes[(i, kept[j])]),
        eigenvalues: kept.map(|mode| modes.eigenvalues[mode]).to_vec(),
    };
    assert!(matches!(problem.derivatives(&few, &silent()), Err(Error::Numerical { .. })));
}

/// Derivatives report before the loads of each mode and before each refinement.
#[test]
fn the_search_for_derivatives_can_be_stopped_throughout() {
    let (mesh, material) = (bar([4, 1, 1], 0.1), material(Law::Corotated, 0.3));
    let problem = problem(&mesh, &material, None).unwrap();
    let modes = problem.lowest(9, &silent()).unwrap();
    let find = |progress: &Progress| problem.derivatives(&modes, progress);
    let (found, reports) = counted(find);
    assert!(found.is_ok() && reports > 9, "{reports}");
    for at in 0..reports {
        assert_eq!(find(&cancelling(at)).err(), Some(Error::Cancelled), "at {at} of {reports}");
    }
}

/// Share of a displacement outside the span of a mass-orthonormal basis.
fn missed(mesh: &TetMesh, material: &Material, basis: &Basis, u: &[f64]) -> f64 {
    let mass = lumped_mass(mesh, material);
    let dot = |a: &[f64], b: &[f64]| -> f64 { (0..a.len()).map(|i| mass[i / 3] * a[i] * b[i]).sum() };
    let mut rest = u.to_vec();
    for j in 0..basis.count() {
        let column = basis.columns.col_as_slice(j);
        let along = dot(column, u);
        rest.iter_mut().zip(column).for_each(|(rest, x)| *rest -= along * x);
    }
    (dot(&rest, &rest) / dot(u, u)).sqrt()
}

/// A beam bends by a third of its length: six modes with derivatives span the shape, as many linear modes
/// do not.
#[test]
fn a_basis_with_derivatives_bends_far() {
    let mesh = bar([16, 2, 2], 0.1);
    let (material, pinned) = (material(Law::Corotated, 0.3), left(&mesh));
    let problem = problem(&mesh, &material, Some(&pinned)).unwrap();
    let modes = problem.lowest(15, &silent()).unwrap();
    let few = LinearModes {
        shapes: modes.shapes.subcols(0, 6).to_owned(),
        eigenvalues: modes.eigenvalues[..6].to_vec(),
    };
    let basis = problem.bent_basis(&few, 15, &silent()).unwrap();
    assert_eq!(basis.count(), 15);
    assert!(apart_from_orthonormal(&mesh, &material, &basis.columns) < 1e-9);
    let mass = lumped_mass(&mesh, &material);
    let weight: Vec<f64> = mass.iter().flat_map(|m| [0.0, 0.0, -0.35 * m]).collect();
    let u = bent(&mesh, &material, &pinned, &weight);
    let deepest = u.iter().skip(2).step_by(3).copied().fold(0.0, f64::min);
    assert!(deepest < -0.3, "{deepest}");
    let [bent, straight] = [&basis, &modes.basis()].map(|basis| missed(&mesh, &material, basis, &u));
    assert!(bent < 0.01 && bent < 0.2 * straight, "{bent} with derivatives, {straight} without");
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let (mesh, material) = (bar([2, 1, 1], 0.1), material(Law::Corotated, 0.3));
    let n = mesh.vertices().len();
    assert!(matches!(problem(&mesh, &material, Some(&vec![true; n])), Err(Error::Range { .. })));
    assert!(matches!(problem(&mesh, &material, Some(&[true])), Err(Error::Shape { .. })));
    let whole = problem(&mesh, &material, None).unwrap();
    assert!(matches!(whole.lowest(0, &silent()), Err(Error::Range { .. })));
    assert!(matches!(whole.lowest(3 * n + 1, &silent()), Err(Error::TooManyModes { .. })));
    let rigid = whole.lowest(6, &silent()).unwrap();
    assert!(matches!(whole.bent_basis(&rigid, 3, &silent()), Err(Error::Unsupported { .. })));
    let other = bar([3, 1, 1], 0.1);
    let modes = lowest(&other, &material, None, 7);
    assert!(matches!(whole.derivatives(&modes, &silent()), Err(Error::Shape { .. })));
}
