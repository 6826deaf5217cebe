//! Small vibrations of surfaces without volume, against closed forms for plates and beams.

use std::f64::consts::{PI, TAU};

use jounce::material::{Field, Law, Material};
use jounce::mesh::SurfaceMesh;
use jounce::operators::Membrane;
use jounce::rig::Rig;
use jounce::subspace::{LinearModes, Restraint, SheetProblem, Warping, surface_rotations};
use jounce::{Error, Progress, Result};
use jounce_tests::bodies::some_coefficients;
use jounce_tests::handled::dome;
use jounce_tests::surfaces::sphere;
use nalgebra::{Rotation3, Vector3};

const YOUNG: f64 = 1e6;
const DENSITY: f64 = 500.0;
const THICKNESS: f64 = 5e-3;

fn silent() -> Progress {
    Progress::default()
}

fn material(poisson: f64) -> Material {
    Material::new(Law::Arap, Field::Uniform(YOUNG), Field::Uniform(poisson), Field::Uniform(DENSITY)).unwrap()
}

/// A rectangle of cells in the plane x y with a corner at the origin, its inner vertices displaced by a
/// share of a cell.
fn rectangle([nx, ny]: [u32; 2], [long, wide]: [f64; 2], moved: f64) -> SurfaceMesh {
    let noise = some_coefficients(2 * ((nx + 1) * (ny + 1)) as usize, moved);
    let point = |i: u32| {
        let (x, y) = (i % (nx + 1), i / (nx + 1));
        let inner = x % nx != 0 && y % ny != 0;
        let own = |c: u32, at: u32| f64::from(at) + if inner { noise[(2 * i + c) as usize] } else { 0.0 };
        [long * own(0, x) / f64::from(nx), wide * own(1, y) / f64::from(ny), 0.0]
    };
    let cell = |i: u32| {
        let a = i % nx + (nx + 1) * (i / nx);
        let (b, c, d) = (a + 1, a + nx + 1, a + nx + 2);
        [[a, b, d], [a, d, c]]
    };
    let points = (0..(nx + 1) * (ny + 1)).map(point).collect();
    SurfaceMesh::new(points, (0..nx * ny).flat_map(cell).collect()).unwrap()
}

fn free() -> Restraint<'static> {
    Restraint::default()
}

fn problem(surface: &SurfaceMesh, poisson: f64, pinned: Option<&[bool]>) -> SheetProblem {
    let restraint = Restraint { pinned, ..free() };
    SheetProblem::new(surface, &material(poisson), (THICKNESS, 1.0), &restraint, &silent()).unwrap()
}

fn modes(surface: &SurfaceMesh, pinned: Option<&[bool]>, count: usize) -> LinearModes {
    problem(surface, 0.0, pinned).lowest(count, &silent()).unwrap()
}

/// Share of a mode along an axis.
fn along(modes: &LinearModes, k: usize, axis: usize) -> f64 {
    let squares = modes.shapes.col_as_slice(k).chunks(3).map(|u| u[axis] * u[axis]).sum::<f64>();
    squares / modes.shapes.col_as_slice(k).iter().map(|u| u * u).sum::<f64>()
}

#[test]
fn a_strip_swings_as_a_beam_does() {
    [0.0, 0.3, 0.45].into_iter().for_each(strip_swings);
}

fn strip_swings(poisson: f64) {
    let ([nx, ny], [long, wide]) = ([48, 4], [1.0, 0.12]);
    let strip = rectangle([nx, ny], [long, wide], 0.0);
    let cell = long / f64::from(nx);
    let pinned: Vec<bool> = strip.points().iter().map(|x| x[0] < 1.5 * cell).collect();
    let modes = problem(&strip, poisson, Some(&pinned)).lowest(24, &silent()).unwrap();
    let frequencies = modes.frequencies();
    // Two pinned columns clamp it halfway between them.
    let free = long - 0.5 * cell;
    let up: Vec<f64> = (0..24)
        .filter(|&k| along(&modes, k, 2) > 0.99)
        .filter(|&k| {
            // Equal at both long sides: bending, not torsion.
            let shape = modes.shapes.col_as_slice(k);
            let [near, far] = [nx, ny * (nx + 1) + nx].map(|v| shape[3 * v as usize + 2]);
            near * far > 0.0
        })
        .map(|k| frequencies[k])
        .collect();
    let wave = (YOUNG * THICKNESS.powi(2) / (12.0 * DENSITY)).sqrt() / (TAU * free * free);
    for (found, root) in up.iter().zip([1.875_104_07_f64, 4.694_091_13, 7.854_757_44]) {
        let right = root * root * wave;
        // The clamp prevents bending across the strip near its end.
        let most = if poisson > 0.0 { 0.02 } else { 0.01 };
        assert!((found / right - 1.0).abs() < most, "{poisson}: {found} {right}");
    }
    // Torsion with `G J` of a thin strip.
    let twist = (0..24).find(|&k| {
        let shape = modes.shapes.col_as_slice(k);
        let [near, far] = [nx, ny * (nx + 1) + nx].map(|v| shape[3 * v as usize + 2]);
        along(&modes, k, 2) > 0.99 && near * far < 0.0
    });
    let right = (0.5 * YOUNG / (1.0 + poisson) / DENSITY).sqrt() * 2.0 * THICKNESS / wide / (4.0 * free);
    let found = frequencies[twist.unwrap()];
    assert!((found / right - 1.0).abs() < 0.04, "{found} {right}");
    // In its plane it is also a beam, as high as it is wide, for which constant-strain triangles are too
    // stiff.
    let flat = (0..24).find(|&k| along(&modes, k, 1) > 0.9).unwrap();
    let right =
        1.875_104_07_f64.powi(2) * (YOUNG * wide * wide / (12.0 * DENSITY)).sqrt() / (TAU * free * free);
    let most = if poisson > 0.4 { 0.12 } else { 0.1 };
    assert!((frequencies[flat] / right - 1.0).abs() < most, "{poisson}: {} {right}", frequencies[flat]);
}

#[test]
fn a_plate_that_is_held_at_its_rim_swings_as_the_formula_says() {
    let cases = [(0.0, 0.0, 0.01), (0.2, 0.0, 0.07), (0.0, 0.3, 0.015), (0.0, 0.45, 0.02)];
    for (moved, poisson, most) in cases {
        let plate = rectangle([24, 24], [1.0, 1.0], moved);
        let rim = |x: &[f64; 3]| (0..2).any(|c| x[c] < 1e-9 || x[c] > 1.0 - 1e-9);
        let pinned: Vec<bool> = plate.points().iter().map(rim).collect();
        let modes = problem(&plate, poisson, Some(&pinned)).lowest(4, &silent()).unwrap();
        let stiffness = YOUNG / (1.0 - poisson * poisson);
        let wave = (stiffness * THICKNESS.powi(2) / (12.0 * DENSITY)).sqrt() * PI * PI / TAU;
        for (found, waves) in modes.frequencies().iter().zip([2.0, 5.0, 5.0, 8.0]) {
            assert!((found / (waves * wave) - 1.0).abs() < most, "{moved} {found} {}", waves * wave);
        }
    }
}

#[test]
fn what_is_bent_to_one_curvature_stores_what_a_plate_does() {
    let plate = rectangle([12, 8], [1.0, 0.6], 0.0);
    for (poisson, [xx, yy]) in [0.0, 0.3].into_iter().flat_map(|n| [[0.3, 0.0], [0.0, -0.2]].map(|s| (n, s)))
    {
        let problem = problem(&plate, poisson, None);
        let d = YOUNG * THICKNESS.powi(3) / 12.0 / (1.0 - poisson * poisson);
        let bent: Vec<f64> = plate
            .points()
            .iter()
            .flat_map(|x| [0.0, 0.0, 0.5 * (xx * x[0] * x[0] + yy * x[1] * x[1])])
            .collect();
        // No moment acts on the boundary: half of the cells there do not bend across it, and are free in
        // lateral curvature.
        let aside = poisson * poisson;
        let inner = xx * xx * 11.0 / 12.0 * (1.0 - aside / 8.0) + yy * yy * 7.0 / 8.0 * (1.0 - aside / 12.0);
        let (found, right) = (problem.elastic_energy(&bent).unwrap(), 0.5 * d * inner * 0.6);
        assert!((found / right - 1.0).abs() < 1e-9, "{xx} {yy}: {found} {right}");
    }
}

#[test]
fn the_membrane_is_that_of_cloth_and_rigid_motion_stores_nothing() {
    let surfaces = || [dome().surface(), sphere(2).surface(), rectangle([5, 4], [1.0, 0.7], 0.2)];
    for (surface, poisson) in surfaces().into_iter().flat_map(|one| [0.0, 0.45].map(|n| (one.clone(), n))) {
        let n = surface.points().len();
        let scale = problem(&surface, poisson, None).elastic_energy(&some_coefficients(3 * n, 1.0)).unwrap();
        let rotation = Vector3::new(0.3, -0.5, 0.2);
        let rigid: Vec<f64> = surface
            .points()
            .iter()
            .flat_map(|x| <[f64; 3]>::from(rotation.cross(&Vector3::from(*x)) + Vector3::new(2.0, 1.0, -3.0)))
            .collect();
        let found = problem(&surface, poisson, None).elastic_energy(&rigid).unwrap();
        assert!(found.abs() < 1e-12 * scale, "{found} {scale}");
        // The energy minus its bending part is the membrane's second difference.
        let membrane = Membrane::new(&surface, &material(poisson), THICKNESS).unwrap();
        let way = some_coefficients(3 * n, 1.0);
        let at = |step: f64| {
            let along = |(x, w): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|c| x[c] + step * w[c]);
            let moved: Vec<[f64; 3]> =
                surface.points().iter().zip(way.as_chunks::<3>().0).map(along).collect();
            membrane.evaluate(&moved, &mut vec![[0.0; 3]; n])
        };
        let step = 1e-5;
        let [once, twice] = [1.0, 2.0].map(|bending| {
            let of =
                SheetProblem::new(&surface, &material(poisson), (THICKNESS, bending), &free(), &silent());
            of.unwrap().elastic_energy(&way).unwrap()
        });
        let (found, right) = ((at(step) + at(-step)) / (2.0 * step * step), 2.0 * once - twice);
        assert!((found / right - 1.0).abs() < 1e-4, "{found} {right}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let surface = rectangle([12, 9], [1.0, 0.7], 0.2);
            let modes = modes(&surface, None, 9);
            let rotations = surface_rotations(&surface, modes.shapes.as_ref());
            (modes.shapes, modes.eigenvalues, rotations)
        })
    };
    assert!(on(1) == on(3));
}

#[test]
fn a_free_surface_moves_as_a_whole_first() {
    for surface in [dome().surface(), rectangle([9, 6], [1.0, 0.7], 0.1)] {
        let values = modes(&surface, None, 7).eigenvalues;
        assert!(values[..6].iter().all(|value| value.abs() < 1e-4 * values[6]), "{values:?}");
    }
}

/// The gradient of a triangle, its normal included, rotates with the triangle: `[MOR eq. 26, 27]`.
#[test]
fn what_turns_rigidly_is_turned_by_its_rotation() {
    for surface in [dome().surface(), sphere(2).surface(), rectangle([5, 4], [1.0, 0.7], 0.2)] {
        let n = surface.points().len();
        let turn = Vector3::new(0.9, -1.3, 0.6);
        let spin: Vec<f64> =
            surface.points().iter().flat_map(|x| <[f64; 3]>::from(turn.cross(&Vector3::from(*x)))).collect();
        let field = faer::Mat::from_fn(3 * n, 1, |i, _| spin[i]);
        let rotations = surface_rotations(&surface, field.as_ref());
        for (i, found) in rotations.col_as_slice(0).iter().enumerate() {
            assert!((found - turn[i % 3]).abs() < 1e-12, "{i} {found}");
        }
        let warping = Warping::of_surface(&surface, field.as_ref()).unwrap();
        let moved = warping.displacement(&[1.0]).unwrap();
        for (x, u) in surface.points().iter().zip(moved.as_chunks::<3>().0) {
            let x = Vector3::from(*x);
            let right = Rotation3::new(turn) * x - x;
            assert!((right - Vector3::from(*u)).norm() < 1e-12 * (1.0 + x.norm()));
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let plate = rectangle([3, 3], [1.0, 1.0], 0.0);
    let made = |thickness, bending, pinned: Option<&[bool]>| -> Result<()> {
        SheetProblem::new(
            &plate,
            &material(0.0),
            (thickness, bending),
            &Restraint { pinned, ..free() },
            &silent(),
        )
        .map(drop)
    };
    assert!(matches!(made(0.0, 1.0, None), Err(Error::Range { what: "thickness", .. })));
    assert!(matches!(made(1e-3, 0.0, None), Err(Error::Range { what: "bending", .. })));
    assert!(matches!(made(1e-3, f64::NAN, None), Err(Error::NotFinite { what: "bending", .. })));
    assert!(matches!(made(1e-3, 1.0, Some(&[true; 16])), Err(Error::Range { what: "pinned", .. })));
    assert!(matches!(made(1e-3, 1.0, Some(&[true; 3])), Err(Error::Shape { .. })));
    let lonely =
        SurfaceMesh::new([plate.points(), &[[5.0; 3]]].concat(), plate.triangles().to_vec()).unwrap();
    let rig = Rig::new(16, 1, &[1.0; 16]).unwrap();
    let restraint = Restraint { rig: Some(&rig), ..free() };
    let posed = SheetProblem::new(&plate, &material(0.0), (1e-3, 1.0), &restraint, &silent()).map(drop);
    assert!(matches!(posed, Err(Error::Unsupported { what: "rig", .. })));
    let alone = SheetProblem::new(&lonely, &material(0.0), (1e-3, 1.0), &free(), &silent()).map(drop);
    assert!(matches!(alone, Err(Error::Massless { vertex: 16 })));
    let count = modes(&plate, None, 7);
    let problem = problem(&plate, 0.0, None);
    assert!(matches!(problem.lowest(49, &silent()), Err(Error::TooManyModes { .. })));
    assert!(matches!(problem.elastic_energy(&[0.0]), Err(Error::Shape { .. })));
    let dome = dome().surface();
    assert!(matches!(Warping::of_surface(&dome, count.shapes.as_ref()).map(drop), Err(Error::Shape { .. })));
}
