//! Linear modes of bodies that were cut after their factorisation, against the cut mesh on its own.

use std::time::Instant;

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{SurfaceMesh, TetMesh, solid_lattice};
use jounce::operators::{Stitches, lumped_mass};
use jounce::rig::Rig;
use jounce::subspace::{LinearModes, LinearProblem, Restraint};
use jounce::{Error, Progress};
use jounce_tests::bodies::bar;
use jounce_tests::boxes::weights_along_x;

const COUNT: usize = 12;
/// Number of further modes to start from.
const SPARE: usize = 12;
/// Accepted excess over a bound: rounding of eigenvalues.
const DIGITS: f64 = 1e-7;

fn silent() -> Progress {
    Progress::default()
}

fn material(poisson: f64) -> Material {
    let [young, poisson, density] = [2e4, poisson, 1000.0].map(Field::Uniform);
    Material::new(Law::Corotated, young, poisson, density).unwrap()
}

fn problem(mesh: &TetMesh, poisson: f64, stitches: &Stitches) -> LinearProblem {
    let pinned: Vec<bool> = mesh.vertices().iter().map(|v| v[0] < 1e-9).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    LinearProblem::new(mesh, &material(poisson), &restraint, stitches, &silent()).unwrap()
}

fn lowest(problem: &LinearProblem, count: usize) -> LinearModes {
    problem.lowest(count, &silent()).unwrap()
}

fn centre(mesh: &TetMesh, t: usize) -> [f64; 3] {
    std::array::from_fn(|c| mesh.corners(t).iter().map(|v| v[c]).sum::<f64>() / 4.0)
}

/// Opens a mesh across x, below a height.
fn slit(mesh: &TetMesh, x: f64, height: f64) -> TetMesh {
    let side = |t: usize| match centre(mesh, t) {
        [_, _, z] if z > height => 0,
        [at, ..] if at < x => -1,
        _ => 1,
    };
    mesh.cut(&(0..mesh.tets().len()).map(side).collect::<Vec<i32>>()).unwrap()
}

/// Springs that close a cut.
fn seam(whole: &TetMesh, cut: &TetMesh, stiffness: f64) -> Stitches {
    let mut pairs: Vec<[u32; 2]> = (whole.tets().as_flattened().iter())
        .zip(cut.tets().as_flattened())
        .filter(|(old, new)| old != new)
        .map(|(&old, &new)| [old, new])
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    Stitches::between_vertices(cut, &pairs, &vec![stiffness; pairs.len()], &vec![0.0; pairs.len()]).unwrap()
}

fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().map(f64::abs).fold(0.0, f64::max)
}

/// Checks eigenvalues against exact ones and their bounds; returns the largest error and bound.
fn check(found: &LinearModes, exact: &LinearModes, bounds: &[f64]) -> [f64; 2] {
    let slowest = exact.eigenvalues.iter().copied().find(|value| *value > 1e-3).unwrap();
    let pairs = found.eigenvalues.iter().zip(&exact.eigenvalues);
    let errors: Vec<f64> = pairs.map(|(found, exact)| (found - exact) / exact.max(slowest)).collect();
    for (error, bound) in errors.iter().zip(bounds) {
        assert!(*error > -DIGITS && *error <= bound + DIGITS, "{error:e} is not within {bound:e}");
    }
    [largest(errors), largest(bounds.iter().copied())]
}

#[test]
fn a_cut_doubles_the_vertices_that_it_parts() {
    let mesh = bar([6, 2, 3], 0.1);
    let half = slit(&mesh, 0.3, 0.15);
    // Of a section of 3 x 4 vertices, the row at the end of the slit stays.
    assert_eq!(half.vertices().len(), mesh.vertices().len() + 2 * 3 - 3);
    let through = slit(&mesh, 0.3, 1.0);
    assert_eq!(through.vertices().len(), mesh.vertices().len() + 3 * 4);
    for cut in [&half, &through] {
        assert_eq!(cut.volumes(), mesh.volumes());
        let (opened, mass) = (cut.boundary().len() - mesh.boundary().len(), |mesh: &TetMesh| {
            lumped_mass(mesh, &material(0.3)).iter().sum::<f64>()
        });
        assert!(opened > 0 && opened.is_multiple_of(2));
        assert!((mass(cut) / mass(&mesh) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn modes_are_those_of_the_cut_mesh() {
    for poisson in [0.0, 0.45, 0.49] {
        for cells in [[8, 3, 3], [12, 4, 4]] {
            let side = 0.3 / f64::from(cells[1] as u32);
            let mesh = bar(cells, side);
            let base = problem(&mesh, poisson, &Stitches::none(&mesh));
            let old = lowest(&base, COUNT + SPARE);
            for (share, height) in [(0.25, 0.12), (0.5, 0.22), (0.5, 1.0)] {
                let cut = slit(&mesh, (share * cells[0] as f64).round() * side, height);
                let made = base.cut(&old, &cut, COUNT, &silent()).unwrap();
                let exact = lowest(&problem(&cut, poisson, &Stitches::none(&cut)), COUNT);
                let [error, bound] = check(&made.modes, &exact, &made.residuals);
                let before = (old.eigenvalues[0] / exact.eigenvalues[0].max(1e-9) - 1.0).min(99.0);
                println!(
                    "nu {poisson}, {cells:?}, cut at {share} below {height}, {} vertices: error {error:.1e}, \
                     bound {bound:.1e}, before {before:.2}, anew {}",
                    cut.vertices().len() - mesh.vertices().len(),
                    made.refactored,
                );
                assert!(bound <= 5e-3);
                let mass = lumped_mass(&cut, &material(poisson));
                let heavy =
                    Mat::from_fn(3 * mass.len(), COUNT, |i, k| mass[i / 3] * made.modes.shapes[(i, k)]);
                let gram = made.modes.shapes.transpose() * heavy;
                assert!((gram - Mat::<f64>::identity(COUNT, COUNT)).norm_max() < 1e-8);
            }
        }
    }
}

#[test]
fn a_cut_is_undone_by_its_mesh_and_by_its_seam() {
    let mesh = bar([8, 3, 3], 0.1);
    let base = problem(&mesh, 0.3, &Stitches::none(&mesh));
    let old = lowest(&base, COUNT + SPARE);
    let cut = slit(&mesh, 0.4, 0.22);
    let made = base.cut(&old, &cut, COUNT, &silent()).unwrap();
    let back = made.problem.cut(&made.modes, &mesh, COUNT, &silent()).unwrap();
    assert_eq!(back.modes.eigenvalues, old.eigenvalues[..COUNT]);
    assert_eq!(back.modes.shapes, old.shapes.subcols(0, COUNT));
    // A soft seam is a body of its own; a stiff one closes the cut.
    let mut off = Vec::new();
    for stiffness in [1e2, 1e4, 1e6, 1e8] {
        let seam = seam(&mesh, &cut, stiffness);
        let sewn = made.problem.stitched(&made.modes, &seam, COUNT).unwrap();
        let exact = lowest(&problem(&cut, 0.3, &seam), COUNT);
        let [error, bound] = check(&sewn.modes, &exact, &sewn.residuals);
        let pairs = sewn.modes.eigenvalues.iter().zip(&old.eigenvalues);
        off.push(largest(pairs.map(|(sewn, whole)| sewn / whole - 1.0)));
        println!(
            "{stiffness:e}: error {error:.1e}, bound {bound:.1e}, from the whole {:.1e}",
            off[off.len() - 1]
        );
    }
    assert!(off[0] > 0.1 && off[0] > off[1] && off[1] > off[2] && off[3] < 1e-4);
    // Cut, sewn, and unpicked.
    let sewn = made.problem.stitched(&made.modes, &seam(&mesh, &cut, 1e4), COUNT).unwrap();
    let unpicked = sewn.problem.stitched(&sewn.modes, &Stitches::none(&cut), COUNT).unwrap();
    assert_eq!(unpicked.modes, made.modes);
}

#[test]
fn cuts_of_lattices_run_between_cells() {
    let mesh = solid_lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5]).unwrap(), 12, &silent()).unwrap();
    assert!(!mesh.cells().is_empty());
    let each = mesh.tets_per_cell();
    let middle = mesh.vertices().iter().map(|v| v[0]).sum::<f64>() / mesh.vertices().len() as f64;
    let sides = |t: usize| if centre(&mesh, t - t % each)[0] < middle { -1 } else { 1 };
    let cut = mesh.cut(&(0..mesh.tets().len()).map(sides).collect::<Vec<i32>>()).unwrap();
    let base = problem(&mesh, 0.3, &Stitches::none(&mesh));
    let made = base.cut(&lowest(&base, COUNT + SPARE), &cut, COUNT, &silent()).unwrap();
    check(&made.modes, &lowest(&problem(&cut, 0.3, &Stitches::none(&cut)), COUNT), &made.residuals);
    let through: Vec<i32> = (0..mesh.tets().len()).map(|t| if t % each == 0 { -1 } else { 1 }).collect();
    assert!(matches!(mesh.cut(&through), Err(Error::Unsupported { what: "sides", .. })));
}

#[test]
fn derivatives_and_stiffness_are_those_of_the_cut_body() {
    let mesh = bar([8, 3, 3], 0.1);
    let none = Stitches::none(&mesh);
    let base = problem(&mesh, 0.3, &none);
    let old = lowest(&base, COUNT + SPARE);
    let cut = slit(&mesh, 0.4, 0.22);
    let made = base.cut(&old, &cut, 4, &silent()).unwrap();
    let whole = problem(&cut, 0.3, &Stitches::none(&cut));
    let expected = whole.derivatives(&made.modes, &silent()).unwrap();
    let found = made.problem.derivatives(&made.modes, &silent()).unwrap();
    assert!((&found - &expected).norm_max() < 1e-8 * expected.norm_max());
    // The bar's outer half twice as stiff, before or after the cut.
    let factors: Vec<f64> =
        (0..mesh.tets().len()).map(|t| if centre(&mesh, t)[0] > 0.4 { 2.0 } else { 1.0 }).collect();
    let one = made.problem.stiffened(&made.modes, &factors, 4, &silent()).unwrap();
    let stiff = base.stiffened(&old, &factors, 4, &silent()).unwrap();
    let other = stiff.problem.cut(&stiff.modes, &cut, 4, &silent()).unwrap();
    assert_eq!(one.modes, other.modes);
    let young = Field::PerTet(factors.iter().map(|factor| factor * 2e4).collect());
    let [poisson, density] = [0.3, 1000.0].map(Field::Uniform);
    let stiffer = Material::new(Law::Corotated, young, poisson, density).unwrap();
    let pinned: Vec<bool> = cut.vertices().iter().map(|v| v[0] < 1e-9).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let exact = LinearProblem::new(&cut, &stiffer, &restraint, &Stitches::none(&cut), &silent()).unwrap();
    check(&one.modes, &lowest(&exact, 4), &one.residuals);
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let mesh = bar([4, 2, 2], 0.1);
    let tets = mesh.tets().len();
    assert!(matches!(mesh.cut(&vec![0; tets + 1]), Err(Error::Shape { what: "sides", .. })));
    for side in [2, i32::MIN] {
        assert!(matches!(mesh.cut(&vec![side; tets]), Err(Error::Range { what: "sides", .. })));
    }
    assert!(matches!(mesh.cut(&vec![1; tets]), Err(Error::Unsupported { what: "sides", .. })));
    let base = problem(&mesh, 0.3, &Stitches::none(&mesh));
    let old = lowest(&base, 8);
    for other in [bar([5, 2, 2], 0.1), bar([4, 2, 2], 0.2)] {
        let error = base.cut(&old, &other, 4, &silent()).err().unwrap();
        assert!(matches!(error, Error::Unsupported { what: "mesh", .. }), "{error}");
    }
    let rig = Rig::new(mesh.vertices().len(), 2, &weights_along_x(&mesh, 2)).unwrap();
    let restraint = Restraint { rig: Some(&rig), pinned: None, leak: None };
    let none = Stitches::none(&mesh);
    let rigged = LinearProblem::new(&mesh, &material(0.3), &restraint, &none, &silent()).unwrap();
    let error = rigged.cut(&lowest(&rigged, 8), &slit(&mesh, 0.2, 0.1), 4, &silent()).err().unwrap();
    assert!(matches!(error, Error::Unsupported { what: "cut", .. }), "{error}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mesh = bar([8, 3, 3], 0.1);
    let cut = slit(&mesh, 0.4, 0.22);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let base = problem(&mesh, 0.4, &Stitches::none(&mesh));
            let made = base.cut(&lowest(&base, COUNT + SPARE), &cut, COUNT, &silent()).unwrap();
            (made.modes, made.residuals, made.refactored)
        })
    };
    assert!(on(1) == on(2));
}

/// Seconds of an update and of a build, in turn.
#[test]
#[ignore = "long: a table of seconds for the docs"]
fn seconds_of_update_and_rebuild() {
    for cells in [[21, 8, 8], [24, 14, 14], [30, 20, 20]] {
        let side = 0.3 / f64::from(cells[1] as u32);
        let mesh = bar(cells, side);
        let base = problem(&mesh, 0.45, &Stitches::none(&mesh));
        let old = lowest(&base, 32);
        println!("{} tets", mesh.tets().len());
        for height in [1.5, 2.5, 4.5] {
            let cut = slit(&mesh, 10.0 * side, height * side);
            let [mut update, mut rebuild] = [f64::INFINITY; 2];
            let mut last = None;
            for _ in 0..3 {
                let started = Instant::now();
                last = Some(base.cut(&old, &cut, 20, &silent()).unwrap());
                update = update.min(started.elapsed().as_secs_f64());
                let started = Instant::now();
                lowest(&problem(&cut, 0.45, &Stitches::none(&cut)), 20);
                rebuild = rebuild.min(started.elapsed().as_secs_f64());
            }
            let made = last.unwrap();
            println!(
                "{} vertices: update {update:.3}, rebuild {rebuild:.3}, {:.2} times, bound {:.1e}, anew {}",
                cut.vertices().len() - mesh.vertices().len(),
                rebuild / update,
                largest(made.residuals),
                made.refactored,
            );
        }
    }
}
