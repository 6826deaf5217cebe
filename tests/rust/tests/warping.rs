//! Rotation-strain warping against rotations that are known, and bars that bend and twist far.

use std::f64::consts::{FRAC_PI_2, TAU};

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, solid_lattice};
use jounce::subspace::{LinearModes, LinearProblem, Restraint, Warping};
use jounce::{Error, Progress};
use jounce_tests::bodies::bar;
use jounce_tests::surfaces::sphere;
use nalgebra::{Matrix3, Rotation3, Vector3};

fn fields(mesh: &TetMesh, fields: &[&dyn Fn(Vector3<f64>) -> Vector3<f64>]) -> Mat<f64> {
    Mat::from_fn(3 * mesh.vertices().len(), fields.len(), |row, k| {
        fields[k](Vector3::from(mesh.vertices()[row / 3]))[row % 3]
    })
}

fn nothing(mesh: &TetMesh) -> Vec<bool> {
    vec![false; mesh.vertices().len()]
}

fn places(mesh: &TetMesh, moved: &[f64]) -> Vec<Vector3<f64>> {
    let displaced = mesh.vertices().iter().zip(moved.as_chunks::<3>().0);
    displaced.map(|(x, u)| Vector3::from(*x) + Vector3::from(*u)).collect()
}

fn volumes(mesh: &TetMesh, places: &[Vector3<f64>]) -> Vec<f64> {
    let volume = |tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(|v| places[v as usize]);
        (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
    };
    mesh.tets().iter().map(volume).collect()
}

/// The two lowest modes of a bar that is held at its left end.
fn cantilever() -> (TetMesh, LinearProblem, LinearModes) {
    let mesh = bar([40, 4, 2], 0.025);
    let number = Field::Uniform;
    let material = Material::new(Law::Corotated, number(2e4), number(0.3), number(1000.0)).unwrap();
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 1e-6).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let problem = LinearProblem::new(&mesh, &material, &restraint, &Progress::default()).unwrap();
    let modes = problem.lowest(2, &Progress::default()).unwrap();
    (mesh, problem, modes)
}

/// Length of the line of vertices along the middle of the bar, and the angle by which its end turns.
fn line(mesh: &TetMesh, places: &[Vector3<f64>]) -> (f64, f64) {
    let on_it = |v: &usize| {
        let x = mesh.vertices()[*v];
        (x[1] - 0.05).abs() < 1e-6 && (x[2] - 0.025).abs() < 1e-6
    };
    let mut along: Vec<usize> = (0..places.len()).filter(on_it).collect();
    along.sort_by(|&a, &b| mesh.vertices()[a][0].total_cmp(&mesh.vertices()[b][0]));
    let steps: Vec<Vector3<f64>> = along.windows(2).map(|pair| places[pair[1]] - places[pair[0]]).collect();
    let last = steps[steps.len() - 1];
    (steps.iter().map(Vector3::norm).sum(), last.angle(&Vector3::x()))
}

#[test]
fn a_field_with_one_gradient_is_its_rotation_and_strain() {
    let round = solid_lattice(&sphere(2).surface(), 6, &Progress::default()).unwrap();
    // Volumes of cut cells differ by hundreds, which makes the condition of L a hundred times as large.
    for (mesh, share) in [(bar([4, 2, 1], 0.1), 1e-12), (round, 1e-10)] {
        let axis = Vector3::new(1.3, -2.1, 0.7);
        let strain = Matrix3::new(0.1, 0.03, 0.0, 0.03, -0.2, 0.05, 0.0, 0.05, 0.15);
        let slope = axis.cross_matrix() + strain;
        let columns = fields(&mesh, &[&|x| slope * x + Vector3::new(0.3, 0.0, -0.1)]);
        let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh)).unwrap();
        for z in [1.0, -0.5] {
            let found = places(&mesh, &warping.displacement(&[z]).unwrap());
            let wanted = Rotation3::from_scaled_axis(z * axis).matrix() * (Matrix3::identity() + z * strain);
            let x: Vec<Vector3<f64>> = mesh.vertices().iter().map(|x| Vector3::from(*x)).collect();
            for v in 1..x.len() {
                let difference = (found[v] - found[0]) - wanted * (x[v] - x[0]);
                assert!(difference.norm() < share * mesh.diagonal(), "{difference}");
            }
        }
    }
}

#[test]
fn small_amplitudes_are_those_of_the_modes() {
    let (mesh, problem, modes) = cantilever();
    let warping = problem.warping(&modes).unwrap();
    let away = |z: f64| {
        let moved = warping.displacement(&[z, -0.7 * z]).unwrap();
        let linear = |row: usize| z * modes.shapes[(row, 0)] - 0.7 * z * modes.shapes[(row, 1)];
        let gap = |row: usize| (moved[row] - linear(row)).abs();
        (0..moved.len()).map(gap).fold(0.0, f64::max) / linear_size(&modes, z)
    };
    // What is left is quadratic in the amplitude: a tenth of it, relatively, is a tenth of the amplitude.
    let [small, smaller] = [1e-3, 1e-4].map(away);
    assert!(small < 1e-2 && smaller < 0.11 * small, "{small} {smaller}");
    assert!(warping.displacement(&[0.0, 0.0]).unwrap().iter().all(|u| u.abs() < 1e-15 * mesh.diagonal()));
}

fn linear_size(modes: &LinearModes, z: f64) -> f64 {
    z * modes.shapes.norm_max()
}

#[test]
fn a_bar_that_bends_by_a_right_angle_keeps_its_length_and_its_volume() {
    let (mesh, problem, modes) = cantilever();
    let warping = problem.warping(&modes).unwrap();
    let rest: Vec<Vector3<f64>> = mesh.vertices().iter().map(|x| Vector3::from(*x)).collect();
    let whole: f64 = mesh.volumes().iter().sum();
    let bent = |z: f64| places(&mesh, &warping.displacement(&[z, 0.0]).unwrap());
    let (mut low, mut high) = (0.0, 3.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if line(&mesh, &bent(middle)).1 < FRAC_PI_2 { low = middle } else { high = middle }
    }
    let places = bent(low);
    let (length, angle) = line(&mesh, &places);
    assert!((angle - FRAC_PI_2).abs() < 1e-3, "{angle}");
    let [long, large] = [length / line(&mesh, &rest).0, volumes(&mesh, &places).iter().sum::<f64>() / whole];
    let linear: Vec<f64> = (0..3 * rest.len()).map(|row| low * modes.shapes[(row, 0)]).collect();
    let linear = self::places(&mesh, &linear);
    let [grown, swollen] =
        [line(&mesh, &linear).0 / line(&mesh, &rest).0, volumes(&mesh, &linear).iter().sum::<f64>() / whole];
    println!("bent by 90 degrees: length {long:.4}, volume {large:.4}; linear: {grown:.4}, {swollen:.4}");
    assert!((long - 1.0).abs() < 0.01 && (large - 1.0).abs() < 0.02);
    assert!(grown > 1.2);
    assert!(volumes(&mesh, &places).iter().all(|volume| *volume > 0.0));
    for (place, x) in places.iter().zip(&rest).filter(|(_, x)| x.x < 1e-6) {
        assert_eq!(place, x);
    }
}

#[test]
fn a_bar_may_be_twisted_twice_and_no_tet_turns_inside_out() {
    let mesh = bar([40, 4, 4], 0.025);
    let columns = fields(&mesh, &[&|x| TAU * x.x * Vector3::x().cross(&(x - Vector3::new(0.0, 0.05, 0.05)))]);
    let held: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 1e-6).collect();
    let warping = Warping::new(&mesh, columns.as_ref(), &held).unwrap();
    let mut lengths = Vec::new();
    for turns in [1.0, 2.0] {
        let places = places(&mesh, &warping.displacement(&[turns]).unwrap());
        let ends = (0..places.len()).filter(|&v| mesh.vertices()[v][0] > 1.0 - 1e-6);
        let far: Vec<f64> = ends.map(|v| places[v].x).collect();
        lengths.push(far.iter().sum::<f64>() / far.len() as f64);
        assert!(volumes(&mesh, &places).iter().all(|volume| *volume > 0.0));
    }
    println!("twisted once and twice: length {lengths:.4?}");
    assert!(lengths[0] > 0.97 && lengths[0] < 1.01 && lengths[1] > 0.93 && lengths[1] < 1.01);
}

#[test]
fn each_part_that_nothing_holds_turns_about_its_own_centre() {
    let one = bar([2, 1, 1], 0.1);
    let count = one.vertices().len() as u32;
    let moved = one.vertices().iter().map(|x| [x[0] + 1.0, x[1], x[2]]);
    let vertices = one.vertices().iter().copied().chain(moved).collect();
    let others = one.tets().iter().map(|tet| tet.map(|v| v + count));
    let mesh = TetMesh::new(vertices, one.tets().iter().copied().chain(others).collect()).unwrap();
    let columns = fields(&mesh, &[&|x| Vector3::z().cross(&x)]);
    let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh)).unwrap();
    let places = places(&mesh, &warping.displacement(&[FRAC_PI_2]).unwrap());
    for part in [0..count as usize, count as usize..2 * count as usize] {
        let middle = |of: &dyn Fn(usize) -> Vector3<f64>| {
            let share = |v: usize| {
                let at = mesh.tets().iter().zip(mesh.volumes()).filter(|(tet, _)| tet.contains(&(v as u32)));
                at.map(|(_, volume)| volume).sum::<f64>()
            };
            part.clone().map(|v| share(v) * of(v)).sum::<Vector3<f64>>()
                / part.clone().map(share).sum::<f64>()
        };
        let x = middle(&|v| Vector3::from(mesh.vertices()[v]));
        let wanted = x + FRAC_PI_2 * Vector3::z().cross(&x);
        assert!((middle(&|v| places[v]) - wanted).norm() < 1e-12);
        let edge = places[part.start + 1] - places[part.start];
        assert!((edge - Vector3::new(0.0, 0.1, 0.0)).norm() < 1e-12, "{edge}");
    }
}

#[test]
fn what_is_pressed_flat_does_not_turn_inside_out() {
    let mesh = bar([4, 2, 2], 0.1);
    let columns = fields(&mesh, &[&|x| Vector3::new(-x.x, 0.0, 0.0)]);
    let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh)).unwrap();
    let places = places(&mesh, &warping.displacement(&[3.0]).unwrap());
    for (now, before) in volumes(&mesh, &places).iter().zip(mesh.volumes()) {
        assert!((now / before - 0.1).abs() < 1e-9, "{now} {before}");
    }
}

#[test]
fn it_is_the_same_for_any_number_of_threads() {
    let (_, problem, modes) = cantilever();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| problem.warping(&modes).unwrap().displacement(&[3.0, 1.0]).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mesh = bar([2, 1, 1], 0.1);
    let columns = fields(&mesh, &[&|x| x]);
    let short = Warping::new(&mesh, columns.as_ref(), &[false]);
    assert!(matches!(short, Err(Error::Shape { what: "held", .. })));
    let other = Warping::new(&mesh, columns.as_ref().subrows(0, 3), &nothing(&mesh));
    assert!(matches!(other, Err(Error::Shape { what: "displacements", .. })));
    let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh)).unwrap();
    assert!(matches!(warping.displacement(&[1.0, 2.0]), Err(Error::Shape { what: "amplitudes", .. })));
    assert!(matches!(warping.displacement(&[f64::NAN]), Err(Error::NotFinite { what: "amplitudes", .. })));
}
