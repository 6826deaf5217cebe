//! Linear modes of bodies with regions of another stiffness, against bodies built with it.

use std::time::Instant;

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::{Stitches, lumped_mass};
use jounce::subspace::{EditedModes, LinearModes, LinearProblem, Restraint};
use jounce::{Error, Progress};
use jounce_tests::bodies::bar;
use jounce_tests::sewn::Bars;

const COUNT: usize = 20;
/// Number of further modes to start from.
const SPARE: usize = 12;
/// Accepted excess over a bound: rounding of eigenvalues.
const DIGITS: f64 = 1e-7;
const FACTORS: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

fn silent() -> Progress {
    Progress::default()
}

/// A bar held at one end.
struct Beam {
    mesh: TetMesh,
    poisson: f64,
    pinned: Vec<bool>,
}

impl Beam {
    fn new(cells: [usize; 3], poisson: f64) -> Self {
        let mesh = bar(cells, 0.3 / cells[1] as f64);
        let pinned = mesh.vertices().iter().map(|v| v[0] < 1e-9).collect();
        Self { mesh, poisson, pinned }
    }

    /// A factor within a ball around a point on the surface that takes this share of the tets, 1 elsewhere.
    fn factors(&self, share: f64, factor: f64) -> Vec<f64> {
        let length = self.mesh.vertices().iter().map(|v| v[0]).fold(0.0, f64::max);
        let middle = [0.6 * length, 0.3, 0.11];
        let far = |t: usize| -> f64 {
            let corners = self.mesh.corners(t);
            let centre: [f64; 3] = std::array::from_fn(|c| corners.iter().map(|v| v[c]).sum::<f64>() / 4.0);
            (0..3).map(|c| (centre[c] - middle[c]).powi(2)).sum()
        };
        let distances: Vec<f64> = (0..self.mesh.tets().len()).map(far).collect();
        let mut sorted = distances.clone();
        sorted.sort_by(f64::total_cmp);
        let most = sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)];
        distances.iter().map(|&distance| if distance < most { factor } else { 1.0 }).collect()
    }

    fn material(&self, factors: &[f64]) -> Material {
        let young = Field::PerTet(factors.iter().map(|factor| factor * 2e4).collect());
        let [poisson, density] = [self.poisson, 1000.0].map(Field::Uniform);
        Material::new(Law::Corotated, young, poisson, density).unwrap()
    }

    fn problem(&self, factors: &[f64]) -> LinearProblem {
        let restraint = Restraint { pinned: Some(&self.pinned), ..Restraint::default() };
        let none = Stitches::none(&self.mesh);
        LinearProblem::new(&self.mesh, &self.material(factors), &restraint, &none, &silent()).unwrap()
    }

    fn built(&self) -> (LinearProblem, LinearModes) {
        let problem = self.problem(&vec![1.0; self.mesh.tets().len()]);
        let modes = problem.lowest(COUNT + SPARE, &silent()).unwrap();
        (problem, modes)
    }

    /// Largest sine of an angle between the spans of some modes, in the mass metric.
    fn apart(&self, found: &LinearModes, exact: &LinearModes, count: usize) -> f64 {
        let mass = lumped_mass(&self.mesh, &self.material(&vec![1.0; self.mesh.tets().len()]));
        let heavy = Mat::from_fn(3 * mass.len(), count, |i, k| mass[i / 3] * exact.shapes[(i, k)]);
        let along = heavy.transpose() * found.shapes.subcols(0, count);
        let cosines = along.singular_values().unwrap();
        (1.0 - cosines[count - 1].powi(2)).max(0.0).sqrt()
    }

    /// Displacement under gravity along z in the span of modes.
    fn hanging(&self, modes: &LinearModes) -> Vec<f64> {
        let mass = lumped_mass(&self.mesh, &self.material(&vec![1.0; self.mesh.tets().len()]));
        let mut moved = vec![0.0; 3 * mass.len()];
        for (k, value) in modes.eigenvalues.iter().enumerate() {
            let shape = modes.shapes.col_as_slice(k);
            let load: f64 = mass.iter().enumerate().map(|(v, m)| -9.81 * m * shape[3 * v + 2]).sum();
            moved.iter_mut().zip(shape).for_each(|(u, x)| *u += load / value * x);
        }
        moved
    }
}

fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().map(f64::abs).fold(0.0, f64::max)
}

/// Relative errors of eigenvalues.
fn errors(found: &LinearModes, exact: &LinearModes) -> Vec<f64> {
    found.eigenvalues.iter().zip(&exact.eigenvalues).map(|(found, exact)| found / exact - 1.0).collect()
}

/// Number of modes, at most all but one, before the widest gap between eigenvalues.
fn before_gap(modes: &LinearModes) -> usize {
    let wide = |k: &usize| modes.eigenvalues[*k] / modes.eigenvalues[*k - 1];
    (COUNT / 2..COUNT).max_by(|a, b| wide(a).total_cmp(&wide(b))).unwrap()
}

#[test]
fn modes_are_those_of_a_body_built_with_the_stiffness() {
    for poisson in [0.0, 0.45, 0.49] {
        let beam = Beam::new([12, 4, 4], poisson);
        let (problem, old) = beam.built();
        for share in [0.01, 0.05, 0.2, 0.5] {
            for factor in FACTORS {
                let factors = beam.factors(share, factor);
                let made = problem.stiffened(&old, &factors, COUNT, &silent()).unwrap();
                let exact = beam.problem(&factors).lowest(COUNT, &silent()).unwrap();
                let errors = errors(&made.modes, &exact);
                let worst = largest(made.residuals.iter().copied());
                let count = before_gap(&exact);
                let apart = beam.apart(&made.modes, &exact, count);
                let (hangs, should) = (beam.hanging(&made.modes), beam.hanging(&exact));
                let off = largest(hangs.iter().zip(&should).map(|(a, b)| a - b)) / largest(should);
                println!(
                    "nu {poisson}, {share} of it times {factor}: error {:.1e}, bound {worst:.1e}, span of \
                     {count} apart {apart:.1e}, hanging {off:.1e}, anew {}",
                    largest(errors.iter().copied()),
                    made.refactored,
                );
                for (error, bound) in errors.iter().zip(&made.residuals) {
                    assert!(*error > -DIGITS && *error <= bound + DIGITS, "{error:e}, bound {bound:e}");
                }
                assert!(worst <= 5e-3 && apart < 0.1 && off < 5e-3);
                assert_eq!(made.refactored, made.modes == exact);
            }
        }
    }
}

#[test]
fn factor_1_and_edits_undone_are_the_start_bit_for_bit() {
    let beam = Beam::new([8, 3, 3], 0.45);
    let (problem, old) = beam.built();
    let none = vec![1.0; beam.mesh.tets().len()];
    for factor in [0.01, 5.0] {
        let made = problem.stiffened(&old, &beam.factors(0.3, factor), COUNT, &silent()).unwrap();
        let back = made.problem.stiffened(&made.modes, &none, COUNT, &silent()).unwrap();
        assert_eq!(back.modes.eigenvalues, old.eigenvalues[..COUNT]);
        assert_eq!(back.modes.shapes, old.shapes.subcols(0, COUNT));
        assert!(!back.refactored && back.residuals.iter().all(|bound| *bound == 0.0));
    }
}

#[test]
fn the_whole_scaled_keeps_its_shapes() {
    for poisson in [0.0, 0.45, 0.49] {
        let beam = Beam::new([8, 3, 3], poisson);
        let (problem, old) = beam.built();
        for factor in FACTORS {
            let all = vec![factor; beam.mesh.tets().len()];
            let made = problem.stiffened(&old, &all, COUNT, &silent()).unwrap();
            assert!(!made.refactored);
            let pairs = made.modes.eigenvalues.iter().zip(&old.eigenvalues);
            let off = largest(pairs.map(|(new, old)| new / (factor * old) - 1.0));
            assert!(off < 1e-10, "{factor}: {off:e}");
            assert!(beam.apart(&made.modes, &old, before_gap(&old)) < 1e-6);
        }
    }
}

/// Two bars without a connection: the shapes of either stay, and modes that were beyond those known come in.
#[test]
fn a_part_scaled_as_a_whole_scales_its_frequencies() {
    let bars = Bars::new([6, 2, 2], true);
    let problem = bars.problem(&bars.none());
    let old = problem.lowest(COUNT + SPARE, &silent()).unwrap();
    let middle = 0.5 * bars.mesh.vertices().iter().map(|v| v[0]).fold(0.0, f64::max);
    for factor in FACTORS {
        let outer = |t: usize| bars.mesh.corners(t)[0][0] > middle;
        let factors: Vec<f64> =
            (0..bars.mesh.tets().len()).map(|t| if outer(t) { factor } else { 1.0 }).collect();
        for count in [6, COUNT] {
            let made = problem.stiffened(&old, &factors, count, &silent()).unwrap();
            let young = Field::PerTet(factors.iter().map(|factor| factor * 2e4).collect());
            let [poisson, density] = [0.3, 1000.0].map(Field::Uniform);
            let material = Material::new(Law::Corotated, young, poisson, density).unwrap();
            let restraint = Restraint { pinned: Some(&bars.pinned), ..Restraint::default() };
            let exact = LinearProblem::new(&bars.mesh, &material, &restraint, &bars.none(), &silent());
            let exact = exact.unwrap().lowest(count, &silent()).unwrap();
            let (worst, bound) =
                (largest(errors(&made.modes, &exact)), largest(made.residuals.iter().copied()));
            println!("{factor}, {count}: error {worst:.1e}, bound {bound:.1e}, anew {}", made.refactored);
            assert!(worst <= bound + DIGITS, "{factor}, {count}: {worst:e}, {bound:e}");
            // Of either bar, the sixth mode is among the old.
            assert!(count > 6 || bound < 1e-7 && !made.refactored);
        }
    }
}

#[test]
fn stiffness_and_stitches_know_no_order() {
    let bars = Bars::new([6, 2, 2], false);
    let problem = bars.problem(&bars.none());
    let old = problem.lowest(COUNT + SPARE, &silent()).unwrap();
    let stitches = bars.stitches(8, 1e4);
    let middle = 0.3;
    let factors: Vec<f64> = (0..bars.mesh.tets().len())
        .map(|t| if bars.mesh.corners(t)[0][0] > middle { 4.0 } else { 1.0 })
        .collect();
    let sewn = problem.stitched(&old, &stitches, 12).unwrap();
    let one = sewn.problem.stiffened(&sewn.modes, &factors, 12, &silent()).unwrap();
    let stiff = problem.stiffened(&old, &factors, 12, &silent()).unwrap();
    let other = stiff.problem.stitched(&stiff.modes, &stitches, 12).unwrap();
    assert_eq!(one.modes, other.modes);
    let young = Field::PerTet(factors.iter().map(|factor| factor * 2e4).collect());
    let [poisson, density] = [0.3, 1000.0].map(Field::Uniform);
    let material = Material::new(Law::Corotated, young, poisson, density).unwrap();
    let restraint = Restraint { pinned: Some(&bars.pinned), ..Restraint::default() };
    let whole = LinearProblem::new(&bars.mesh, &material, &restraint, &stitches, &silent()).unwrap();
    let exact = whole.lowest(12, &silent()).unwrap();
    let (worst, bound) = (largest(errors(&one.modes, &exact)), largest(one.residuals.iter().copied()));
    assert!(worst <= bound + DIGITS && worst < 5e-3, "{worst:e}, {bound:e}");
    // Derivatives have the stiffness of the edited body.
    let found = one.problem.derivatives(&exact, &silent()).unwrap();
    let expected = whole.derivatives(&exact, &silent()).unwrap();
    assert!((&found - &expected).norm_max() < 1e-7 * expected.norm_max());
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let beam = Beam::new([4, 2, 2], 0.3);
    let (problem, old) = beam.built();
    let tets = beam.mesh.tets().len();
    let refused = |factors: &[f64], count| {
        let error = problem.stiffened(&old, factors, count, &silent()).err().unwrap();
        println!("{error}");
        error
    };
    assert!(matches!(refused(&vec![1.0; tets + 1], 4), Error::Shape { what: "factor", .. }));
    assert!(matches!(refused(&vec![0.0; tets], 4), Error::Range { what: "factor", .. }));
    assert!(matches!(refused(&vec![-2.0; tets], 4), Error::Range { what: "factor", .. }));
    assert!(matches!(refused(&vec![f64::NAN; tets], 4), Error::NotFinite { what: "factor", .. }));
    assert!(matches!(refused(&vec![f64::INFINITY; tets], 4), Error::NotFinite { .. }));
    assert!(matches!(refused(&vec![2.0; tets], 0), Error::Range { .. }));
    assert!(matches!(refused(&vec![2.0; tets], COUNT + SPARE + 1), Error::Range { .. }));
    let stiff = problem.stiffened(&old, &beam.factors(0.2, 2.0), 4, &silent()).unwrap();
    let before = problem.derivatives(&stiff.modes, &silent()).unwrap();
    let carried = stiff.problem.carried_derivatives(before.as_ref(), &silent());
    assert!(matches!(carried, Err(Error::Unsupported { what: "derivatives", .. })));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let beam = Beam::new([8, 3, 3], 0.4);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (problem, old) = beam.built();
            [0.5, 100.0].map(|factor| {
                let made = problem.stiffened(&old, &beam.factors(0.2, factor), 12, &silent()).unwrap();
                (made.modes, made.residuals, made.refactored)
            })
        })
    };
    assert!(on(1) == on(2));
}

/// Seconds of an update and of a build, in turn.
#[test]
#[ignore = "long: a table of seconds for the docs"]
fn seconds_of_update_and_rebuild() {
    for cells in [[21, 8, 8], [24, 14, 14], [30, 20, 20]] {
        let beam = Beam::new(cells, 0.45);
        let (problem, old) = beam.built();
        let started = Instant::now();
        let whole = beam.problem(&vec![1.0; beam.mesh.tets().len()]);
        let built = started.elapsed().as_secs_f64();
        whole.lowest(COUNT, &silent()).unwrap();
        let found = started.elapsed().as_secs_f64() - built;
        println!("{} tets: factor {built:.3}, modes {found:.3}", beam.mesh.tets().len());
        for share in [0.01, 0.1, 0.5] {
            for factor in [0.01, 0.1, 0.5, 2.0, 10.0, 100.0] {
                let factors = beam.factors(share, factor);
                let [mut update, mut rebuild] = [f64::INFINITY; 2];
                let mut last = None;
                for _ in 0..3 {
                    let started = Instant::now();
                    last = Some(problem.stiffened(&old, &factors, COUNT, &silent()).unwrap());
                    update = update.min(started.elapsed().as_secs_f64());
                    let started = Instant::now();
                    beam.problem(&factors).lowest(COUNT, &silent()).unwrap();
                    rebuild = rebuild.min(started.elapsed().as_secs_f64());
                }
                let EditedModes { residuals, refactored, .. } = last.unwrap();
                println!(
                    "{share:>6} times {factor:>6}: update {update:.3}, rebuild {rebuild:.3}, {:.2} times, \
                     bound {:.1e}, anew {refactored}",
                    rebuild / update,
                    largest(residuals),
                );
            }
        }
    }
}
