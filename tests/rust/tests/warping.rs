//! Warping, by both methods, against known rotations, and bars that bend and twist far.

use std::f64::consts::{FRAC_PI_2, TAU};

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, solid_lattice};
use jounce::operators::Stitches;
use jounce::subspace::{LinearModes, LinearProblem, Restraint, Warping, WarpingMethod, vertex_rotations};
use jounce::{Error, Progress};
use jounce_tests::bodies::bar;
use jounce_tests::surfaces::sphere;
use nalgebra::{Matrix3, Rotation3, Vector3};

use WarpingMethod::{Modal, RotationStrain};

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

/// The two lowest modes of a bar fixed at its left end.
fn cantilever() -> (TetMesh, LinearProblem, LinearModes) {
    let mesh = bar([40, 4, 2], 0.025);
    let number = Field::Uniform;
    let material = Material::new(Law::Corotated, number(2e4), number(0.3), number(1000.0)).unwrap();
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 1e-6).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let problem =
        LinearProblem::new(&mesh, &material, &restraint, &Stitches::none(&mesh), &Progress::default())
            .unwrap();
    let modes = problem.lowest(2, &Progress::default()).unwrap();
    (mesh, problem, modes)
}

/// Length of the line of vertices along the middle of the bar, and the rotation angle of its end.
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
    // Volumes of cut cells differ by factors of hundreds, which makes the condition number of L a hundred
    // times as large.
    for (mesh, share) in [(bar([4, 2, 1], 0.1), 1e-12), (round, 1e-10)] {
        let axis = Vector3::new(1.3, -2.1, 0.7);
        let strain = Matrix3::new(0.1, 0.03, 0.0, 0.03, -0.2, 0.05, 0.0, 0.05, 0.15);
        let slope = axis.cross_matrix() + strain;
        let columns = fields(&mesh, &[&|x| slope * x + Vector3::new(0.3, 0.0, -0.1)]);
        let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh), RotationStrain).unwrap();
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
    for method in [RotationStrain, Modal] {
        let warping = problem.warping(&modes, method).unwrap();
        let away = |z: f64| {
            let moved = warping.displacement(&[z, -0.7 * z]).unwrap();
            let linear = |row: usize| z * modes.shapes[(row, 0)] - 0.7 * z * modes.shapes[(row, 1)];
            let gap = |row: usize| (moved[row] - linear(row)).abs();
            (0..moved.len()).map(gap).fold(0.0, f64::max) / linear_size(&modes, z)
        };
        // The remainder is quadratic in the amplitude: at a tenth of the amplitude its relative size is a
        // tenth.
        let [small, smaller] = [1e-3, 1e-4].map(away);
        assert!(small < 1e-2 && smaller < 0.11 * small, "{method:?} {small} {smaller}");
        assert!(warping.displacement(&[0.0, 0.0]).unwrap().iter().all(|u| u.abs() < 1e-15 * mesh.diagonal()));
    }
}

fn linear_size(modes: &LinearModes, z: f64) -> f64 {
    z * modes.shapes.norm_max()
}

#[test]
fn a_bar_that_bends_by_a_right_angle_keeps_its_size_and_loses_an_eighth_where_vertices_are_alone() {
    let (mesh, problem, modes) = cantilever();
    let rest: Vec<Vector3<f64>> = mesh.vertices().iter().map(|x| Vector3::from(*x)).collect();
    let whole: f64 = mesh.volumes().iter().sum();
    let large = |places: &[Vector3<f64>]| volumes(&mesh, places).iter().sum::<f64>() / whole;
    let long = |places: &[Vector3<f64>]| line(&mesh, places).0 / line(&mesh, &rest).0;
    for (method, as_long, as_large) in
        [(RotationStrain, 0.99..1.01, 0.98..1.02), (Modal, 0.87..0.89, 0.87..0.89)]
    {
        let warping = problem.warping(&modes, method).unwrap();
        let bent = |z: f64| places(&mesh, &warping.displacement(&[z, 0.0]).unwrap());
        let (mut low, mut high) = (0.0, 3.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if line(&mesh, &bent(middle)).1 < FRAC_PI_2 { low = middle } else { high = middle }
        }
        let places = bent(low);
        let angle = line(&mesh, &places).1;
        assert!((angle - FRAC_PI_2).abs() < 1e-3, "{angle}");
        let linear: Vec<f64> = (0..3 * rest.len()).map(|row| low * modes.shapes[(row, 0)]).collect();
        let linear = self::places(&mesh, &linear);
        println!("bent by 90 degrees, {method:?}: length {:.4}, volume {:.4}", long(&places), large(&places));
        println!("linear: {:.4}, {:.4}", long(&linear), large(&linear));
        assert!(as_long.contains(&long(&places)) && as_large.contains(&large(&places)));
        assert!(long(&linear) > 1.2);
        assert!(volumes(&mesh, &places).iter().all(|volume| *volume > 0.0));
        for (place, x) in places.iter().zip(&rest).filter(|(_, x)| x.x < 1e-6) {
            assert_eq!(place, x);
        }
    }
}

#[test]
fn a_bar_may_be_twisted_twice_and_no_tet_turns_inside_out() {
    let mesh = bar([40, 4, 4], 0.025);
    let axis = |x: Vector3<f64>| Vector3::new(x.x, 0.05, 0.05);
    let columns = fields(&mesh, &[&|x| TAU * x.x * Vector3::x().cross(&(x - axis(x)))]);
    let held: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 1e-6).collect();
    for method in [RotationStrain, Modal] {
        let warping = Warping::new(&mesh, columns.as_ref(), &held, method).unwrap();
        for (turns, shortest, widest) in [(1.0, 0.97, 1.04), (2.0, 0.93, 1.06)] {
            let places = places(&mesh, &warping.displacement(&[turns]).unwrap());
            let ends = (0..places.len()).filter(|&v| mesh.vertices()[v][0] > 1.0 - 1e-6);
            let far: Vec<f64> = ends.map(|v| places[v].x).collect();
            let length = far.iter().sum::<f64>() / far.len() as f64;
            let out = |(place, x): (&Vector3<f64>, &[f64; 3])| {
                let x = Vector3::from(*x);
                (place - axis(*place)).norm() / (x - axis(x)).norm().max(0.01)
            };
            let wide = places.iter().zip(mesh.vertices()).map(out).fold(0.0, f64::max);
            let volume = volumes(&mesh, &places).iter().sum::<f64>() / mesh.volumes().iter().sum::<f64>();
            println!(
                "{method:?}, twisted {turns} times: length {length:.4}, wide {wide:.4}, volume {volume:.4}"
            );
            assert!(volumes(&mesh, &places).iter().all(|volume| *volume > 0.0));
            assert!(length > shortest && length < 1.01, "{length}");
            assert!(wide < widest, "{wide}");
        }
    }
}

#[test]
fn a_part_that_spins_about_a_point_is_turned_by_modal_warping_as_it_is() {
    let mesh = bar([6, 2, 1], 0.1);
    let [far, near] = [Vector3::new(0.7, 0.1, -0.3), Vector3::new(0.0, 0.1, 0.05)];
    let [spin, turn] = [Vector3::new(1.3, -2.1, 0.7), Vector3::new(0.0, 0.4, 3.0)];
    // One end of the bar rotates about one point, the other about another; the part between them stretches.
    let columns = fields(
        &mesh,
        &[&|x| match x.x {
            ..0.25 => turn.cross(&(x - near)),
            0.35.. => spin.cross(&(x - far)),
            _ => Vector3::zeros(),
        }],
    );
    let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh), Modal).unwrap();
    for z in [1e-9, 0.2, 1.0, -2.5, 6.0] {
        let places = places(&mesh, &warping.displacement(&[z]).unwrap());
        for (place, x) in places.iter().zip(mesh.vertices()) {
            let x = Vector3::from(*x);
            let (about, by) = match x.x {
                ..0.15 => (near, turn),
                0.45.. => (far, spin),
                _ => continue,
            };
            let wanted = about + Rotation3::from_scaled_axis(z * by) * (x - about);
            assert!((place - wanted).norm() < 1e-13, "{z}: {place} {wanted}");
        }
    }
}

#[test]
fn modal_warping_moves_on_by_the_rotation_reached() {
    // The mean of the rotations up to t, times t, has the rotation at t as its derivative, also where it is
    // a series.
    let (mesh, problem, modes) = cantilever();
    let warping = problem.warping(&modes, Modal).unwrap();
    let rotations = vertex_rotations(&mesh, modes.shapes.as_ref());
    let steepest = rotations.norm_max();
    for angle in [1e-6, 1e-3, 0.499, 0.501, 3.0, 12.0] {
        let (t, h) = (angle / steepest, 1e-4 / steepest);
        let [before, after] = [t - h, t + h].map(|t| warping.displacement(&[t, 0.0]).unwrap());
        for v in 0..mesh.vertices().len() {
            let of = |columns: &Mat<f64>| Vector3::from_fn(|c, _| columns[(3 * v + c, 0)]);
            let wanted = Rotation3::from_scaled_axis(t * of(&rotations)) * of(&modes.shapes);
            let found = Vector3::from_fn(|c, _| (after[3 * v + c] - before[3 * v + c]) / (2.0 * h));
            assert!((found - wanted).norm() < 1e-7 * modes.shapes.norm_max(), "{angle}: {found} {wanted}");
        }
    }
}

#[test]
fn rotations_at_vertices_are_half_the_curl() {
    let round = solid_lattice(&sphere(2).surface(), 6, &Progress::default()).unwrap();
    let spin = Vector3::new(0.3, -1.1, 2.0);
    let strain = Matrix3::new(0.4, 0.2, -0.1, 0.2, -0.3, 0.5, -0.1, 0.5, 0.1);
    let columns = fields(&round, &[&|x| spin.cross(&x) + strain * x, &|x| 2.0 * strain * x]);
    let rotations = vertex_rotations(&round, columns.as_ref());
    for row in 0..rotations.nrows() {
        assert!((rotations[(row, 0)] - spin[row % 3]).abs() < 1e-9);
        assert!(rotations[(row, 1)].abs() < 1e-9);
    }
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
    let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh), RotationStrain).unwrap();
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
    let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh), RotationStrain).unwrap();
    let places = places(&mesh, &warping.displacement(&[3.0]).unwrap());
    for (now, before) in volumes(&mesh, &places).iter().zip(mesh.volumes()) {
        assert!((now / before - 0.1).abs() < 1e-9, "{now} {before}");
    }
}

#[test]
fn it_is_the_same_for_any_number_of_threads() {
    let (_, problem, modes) = cantilever();
    for method in [RotationStrain, Modal] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| problem.warping(&modes, method).unwrap().displacement(&[3.0, 1.0]).unwrap())
        };
        assert_eq!(on(1), on(3));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mesh = bar([2, 1, 1], 0.1);
    let columns = fields(&mesh, &[&|x| x]);
    let short = Warping::new(&mesh, columns.as_ref(), &[false], RotationStrain);
    assert!(matches!(short, Err(Error::Shape { what: "held", .. })));
    let other = Warping::new(&mesh, columns.as_ref().subrows(0, 3), &nothing(&mesh), RotationStrain);
    assert!(matches!(other, Err(Error::Shape { what: "displacements", .. })));
    let warping = Warping::new(&mesh, columns.as_ref(), &nothing(&mesh), RotationStrain).unwrap();
    assert!(matches!(warping.displacement(&[1.0, 2.0]), Err(Error::Shape { what: "amplitudes", .. })));
    assert!(matches!(warping.displacement(&[f64::NAN]), Err(Error::NotFinite { what: "amplitudes", .. })));
}
