//! Constraints on modes: pins and the counting bones; and localisation in soft flesh.

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::{displacement_constraint, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::subspace::{Restraint, SkinningModes, restrained_modes, skinning_modes};
use jounce::{Error, Progress};
use jounce_tests::boxes::{box_mesh, weights_along_x};

fn material(young: Field) -> Material {
    Material::new(Law::Arap, young, Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap()
}

fn rig(mesh: &TetMesh, bones: usize) -> Rig {
    Rig::new(mesh.vertices().len(), bones, &weights_along_x(mesh, bones)).unwrap()
}

fn modes(mesh: &TetMesh, count: usize, restraint: &Restraint<'_>) -> Result<SkinningModes, Error> {
    restrained_modes(mesh, &material(Field::Uniform(1e4)), count, restraint, &Progress::default())
}

/// Largest `|A'w| / (|A|'|w|)` over bones, pairs of `{x, y, z, 1}` and modes, from the definition.
fn incompleteness(mesh: &TetMesh, rig: &Rig, leak: &[f64], modes: &SkinningModes) -> f64 {
    let mass = lumped_mass(mesh, &material(Field::Uniform(1e4)));
    let mut worst: f64 = 0.0;
    for bone in 0..rig.bone_count() {
        for (p, q, k) in (0..16 * modes.weights.ncols()).map(|i| (i % 4, i / 4 % 4, i / 16)) {
            let (mut sum, mut size) = (0.0, 0.0);
            for &(v, w) in rig.bone(bone) {
                let v = v as usize;
                let x = |p: usize| if p < 3 { mesh.vertices()[v][p] } else { 1.0 };
                let term = (1.0 - leak[v]) * mass[v] * w * x(p) * x(q) * modes.weights[(v, k)];
                sum += term;
                size += f64::abs(term);
            }
            worst = worst.max(sum.abs() / f64::max(size, 1e-300));
        }
    }
    worst
}

#[test]
fn pinned_vertices_do_not_move_and_the_others_stay_complementary() {
    let mesh = box_mesh([12, 6, 6], 0.1);
    let rig = rig(&mesh, 3);
    let leak = momentum_leak(&mesh).unwrap();
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 0.25 || x[2] > 0.55).collect();
    let restraint = Restraint { rig: Some(&rig), leak: Some(&leak), pinned: Some(&pinned) };
    let held = modes(&mesh, 6, &restraint).unwrap();
    for (vertex, pinned) in pinned.iter().enumerate() {
        let moved = (0..6).any(|k| held.weights[(vertex, k)] != 0.0);
        assert_eq!(moved, !pinned, "vertex {vertex}");
    }
    assert!(incompleteness(&mesh, &rig, &leak, &held) < 1e-8);
    let free = modes(&mesh, 6, &Restraint { pinned: None, ..restraint }).unwrap();
    assert!((0..6).all(|k| held.eigenvalues[k] >= free.eigenvalues[k] * (1.0 - 1e-9)), "pins only stiffen");
}

#[test]
fn a_bar_pinned_at_its_end_has_the_modes_of_a_fixed_string() {
    // A thin bar without a rig: w'' = -lambda rho / (4 mu) w, w = 0 at x = 0 and w' = 0 at x = L.
    let mesh = box_mesh([64, 2, 2], 0.01);
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] == 0.0).collect();
    let held = modes(&mesh, 3, &Restraint { pinned: Some(&pinned), ..Restraint::default() }).unwrap();
    for (k, got) in held.eigenvalues.iter().enumerate() {
        let wave = (k as f64 + 0.5) * std::f64::consts::PI / 0.64;
        let expected = 4.0 * 5e3 / 1e3 * wave * wave;
        assert!((got / expected - 1.0).abs() < 2e-3, "mode {k}: {got} against {expected}");
    }
}

#[test]
fn nothing_pinned_changes_nothing() {
    let mesh = box_mesh([6, 4, 4], 0.1);
    let rig = rig(&mesh, 2);
    let none = vec![false; mesh.vertices().len()];
    let restraint = Restraint { rig: Some(&rig), leak: None, pinned: Some(&none) };
    let plain =
        skinning_modes(&mesh, &material(Field::Uniform(1e4)), 4, Some(&rig), None, &Progress::default());
    assert_eq!(modes(&mesh, 4, &restraint).unwrap().weights, plain.unwrap().weights);
}

#[test]
fn pins_that_do_not_fit_or_leave_nothing_are_refused() {
    let mesh = box_mesh([2, 2, 2], 0.1);
    let n = mesh.vertices().len();
    let ask = |pinned: &[bool]| {
        modes(&mesh, 1, &Restraint { pinned: Some(pinned), ..Restraint::default() }).unwrap_err()
    };
    assert!(matches!(ask(&[true]), Error::Shape { what: "pinned", .. }));
    assert!(matches!(ask(&vec![true; n]), Error::TooManyModes { available: 0, .. }));
}

#[test]
fn soft_parts_get_the_modes_and_stiff_parts_none() {
    let mesh = box_mesh([16, 4, 4], 0.1);
    let soft = |t: usize| mesh.corners(t).iter().map(|x| x[0]).sum::<f64>() / 4.0 > 0.8;
    let young = (0..mesh.tets().len()).map(|t| if soft(t) { 1e4 } else { 1e6 }).collect();
    let (rig, leak) = (rig(&mesh, 4), momentum_leak(&mesh).unwrap());
    let restraint = Restraint { rig: Some(&rig), leak: Some(&leak), pinned: None };
    let found = restrained_modes(&mesh, &material(Field::PerTet(young)), 4, &restraint, &Progress::default())
        .unwrap();
    let mass = lumped_mass(&mesh, &material(Field::Uniform(1e4)));
    for k in 0..4 {
        let share = |wanted: fn(f64) -> bool| -> f64 {
            let inside = (0..mass.len()).filter(|&v| wanted(mesh.vertices()[v][0]));
            inside.map(|v| mass[v] * found.weights[(v, k)].powi(2)).sum()
        };
        assert!(share(|x| x < 0.75) < 0.05 * share(|_| true), "mode {k} lives in the soft half");
    }
}

#[test]
fn modes_do_not_imitate_shapes_of_the_rig() {
    let mesh = box_mesh([12, 6, 6], 0.1);
    let bones = rig(&mesh, 3);
    let leak = momentum_leak(&mesh).unwrap();
    let n = mesh.vertices().len();
    // A bulge at one end, and a shear along y alone.
    let bulge = mesh.vertices().iter().flat_map(|x| {
        let size = (x[0] - 0.6).max(0.0) * (3.0 * x[1]).sin();
        [0.2 * size, size, x[2] * size]
    });
    let shear = mesh.vertices().iter().flat_map(|x| [0.0, x[0] * x[2] * x[2], 0.0]);
    let shapes: Vec<f64> = bulge.chain(shear).collect();
    let shaped = bones.clone().with_shapes(&shapes).unwrap();
    assert_eq!(shaped.shapes().len(), 2);
    let restraint = Restraint { rig: Some(&shaped), leak: Some(&leak), pinned: None };
    let held = modes(&mesh, 8, &restraint).unwrap();
    let free = modes(&mesh, 8, &Restraint { rig: Some(&bones), ..restraint }).unwrap();
    let mass = lumped_mass(&mesh, &material(Field::Uniform(1e4)));
    // B' D M times the Jacobian of a shape: the part of it that modes can imitate, relative to the sum of
    // magnitudes.
    let overlap = |modes: &SkinningModes| {
        let mut worst: f64 = 0.0;
        for (s, r, c, k) in (0..2 * 3 * 4 * 8).map(|i| (i / 96, i / 32 % 3, i / 8 % 4, i % 8)) {
            let (mut sum, mut size) = (0.0, 0.0);
            for (v, x) in mesh.vertices().iter().enumerate() {
                let place = [x[0], x[1], x[2], 1.0][c];
                let shape = shapes[3 * (s * n + v) + r];
                let term = (1.0 - leak[v]) * mass[v] * modes.weights[(v, k)] * place * shape;
                (sum, size) = (sum + term, size + f64::abs(term));
            }
            worst = worst.max(f64::abs(sum) / f64::max(size, 1e-300));
        }
        worst
    };
    assert!(overlap(&held) < 1e-8, "{}", overlap(&held));
    assert!(overlap(&free) > 1e-3);
    assert!(incompleteness(&mesh, &shaped, &leak, &held) < 1e-8, "bones stay complementary");
    assert!((0..8).all(|k| held.eigenvalues[k] >= free.eigenvalues[k] * (1.0 - 1e-9)));
    let scaled: Vec<f64> = shapes.iter().map(|x| 1e-3 * x).collect();
    let small = bones.clone().with_shapes(&scaled).unwrap();
    let again = modes(&mesh, 8, &Restraint { rig: Some(&small), ..restraint }).unwrap();
    assert!((0..8).all(|k| (again.eigenvalues[k] / held.eigenvalues[k] - 1.0).abs() < 1e-9));
    let refused = |shapes: &[f64]| bones.clone().with_shapes(shapes).unwrap_err();
    assert!(matches!(refused(&shapes[1..]), Error::Shape { what: "shapes", .. }));
    assert!(matches!(refused(&vec![f64::NAN; 3 * n]), Error::NotFinite { what: "shapes", element: 0, .. }));
}

#[test]
fn displacements_imitate_shapes_in_no_orientation() {
    let mesh = box_mesh([12, 6, 6], 0.1);
    let (bones, leak) = (rig(&mesh, 3), momentum_leak(&mesh).unwrap());
    let shape: Vec<f64> = mesh
        .vertices()
        .iter()
        .flat_map(|x| [0.0, (x[0] - 0.6).max(0.0) * (3.0 * x[1]).sin(), x[0] * x[2] * x[2]])
        .collect();
    let shaped = bones.clone().with_shapes(&shape).unwrap();
    let mass = lumped_mass(&mesh, &material(Field::Uniform(1e4)));
    let columns = |rig: &Rig| displacement_constraint(&mesh, &mass, rig, &leak).unwrap();
    let (free, held) = (columns(&bones), columns(&shaped));
    // One coordinate of the shape vanishes, and its column with it.
    assert_eq!(held.ncols(), free.ncols() + 2);
    // The span contains each momentum of the shape completely.
    let dense = held.to_dense();
    let basis = dense.qr();
    let span = basis.compute_thin_Q();
    for r in 0..3 {
        let momentum = Mat::from_fn(mass.len(), 1, |v, _| (1.0 - leak[v]) * mass[v] * shape[3 * v + r]);
        let outside = &momentum - &span * (span.transpose() * &momentum);
        assert!(outside.norm_l2() <= 1e-10 * momentum.norm_l2(), "coordinate {r}");
    }
}
