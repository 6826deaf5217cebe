//! Error bounds of updated modes against newly factored bodies, over random cases.

use jounce::Progress;
use jounce::material::{Field, Law, Material};
use jounce::operators::{Stitches, lumped_mass, momentum_leak};
use jounce::subspace::{ModesProblem, Restraint, SkinningModes};
use jounce_tests::bodies::{Body, bar};
use jounce_tests::sewn::Bars;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Tolerance for rounding.
const DIGITS: f64 = 1e-7;

/// Springs between random vertices, of random stiffness.
fn random_stitches(mesh: &jounce::mesh::TetMesh, random: &mut ChaCha8Rng) -> Stitches {
    let n = mesh.vertices().len() as u32;
    let count = random.random_range(1..30);
    let pairs: Vec<[u32; 2]> =
        (0..count).map(|_| [random.random_range(0..n / 2), random.random_range(n / 2..n)]).collect();
    let stiffness: Vec<f64> = (0..count).map(|_| 10.0_f64.powf(random.random_range(1.0..5.0))).collect();
    Stitches::between_vertices(mesh, &pairs, &stiffness, &vec![0.0; count]).unwrap()
}

/// Checks errors of eigenvalues against their bounds; returns the largest error, and the ratio of its bound
/// to it.
fn check(case: &str, found: &[f64], exact: &[f64], bounds: &[f64]) -> [f64; 2] {
    let slowest = exact.iter().copied().find(|&value| value > 1e-3).unwrap();
    let (mut worst, mut loose) = (0.0_f64, 0.0);
    for (k, ((found, exact), bound)) in found.iter().zip(exact).zip(bounds).enumerate() {
        let error = (found - exact) / exact.max(slowest);
        assert!(error > -DIGITS && error < bound + DIGITS, "{case}, {k}: {error:e} is not within {bound:e}");
        if error > worst {
            (worst, loose) = (error, bound / error);
        }
    }
    [worst, loose]
}

#[test]
fn eigenvalues_of_stitched_bodies_are_within_their_bounds() {
    for seed in 0..24 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let bars = Bars::new([random.random_range(4..9), 2, 2], random.random_range(0..2) == 1);
        let problem = bars.problem(&bars.none());
        let more = [2, 6, 12][seed as usize % 3];
        let old = problem.lowest(20 + more, &Progress::default()).unwrap();
        let stitches = random_stitches(&bars.mesh, &mut random);
        let exact = bars.modes(&stitches, 20);
        let made = problem.stitched(&old, &stitches, 20).unwrap();
        let [worst, loose] =
            check(&format!("{seed}"), &made.modes.eigenvalues, &exact.eigenvalues, &made.residuals);
        println!(
            "{seed}, {more} more: {worst:.2e}, bound {loose:.1} times, worst {:.2e}",
            made.residuals.iter().copied().fold(0.0, f64::max)
        );
    }
}

/// A bar fixed at one end, for modes in weight space.
struct Beam {
    body: Body,
    pinned: Vec<bool>,
}

impl Beam {
    fn new(cells: [usize; 3]) -> Self {
        let body = Body::new(bar(cells, 0.1), 1, 2);
        let pinned = body.mesh.vertices().iter().map(|v| v[0] < 0.05).collect();
        Self { body, pinned }
    }

    fn problem(&self, material: &Material, stitches: &Stitches) -> ModesProblem {
        let leak = momentum_leak(&self.body.mesh).unwrap();
        let restraint =
            Restraint { rig: Some(&self.body.rig), leak: Some(&leak), pinned: Some(&self.pinned) };
        ModesProblem::new(&self.body.mesh, material, &restraint, stitches, &Progress::default()).unwrap()
    }

    /// Material with a random region made stiffer or softer by a random factor.
    fn painted(&self, random: &mut ChaCha8Rng) -> Material {
        let mesh = &self.body.mesh;
        let (from, factor) = (random.random_range(0.1..1.2), 2.0_f64.powf(random.random_range(-2.0..2.0)));
        let centre = |t: usize| mesh.corners(t).iter().map(|corner| corner[0]).sum::<f64>() / 4.0;
        let young = |t: usize| 2.0 * self.body.material.mu(t) * if centre(t) > from { factor } else { 1.0 };
        let young = Field::PerTet((0..mesh.tets().len()).map(young).collect());
        Material::new(Law::Arap, young, Field::Uniform(0.0), Field::Uniform(800.0)).unwrap()
    }
}

fn lowest(problem: &ModesProblem, count: usize) -> SkinningModes {
    problem.lowest(count, &Progress::default()).unwrap()
}

#[test]
fn eigenvalues_of_weights_are_within_their_bounds() {
    for seed in 0..24 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let beam = Beam::new([random.random_range(9..17), 3, 3]);
        let (mesh, none) = (&beam.body.mesh, Stitches::none(&beam.body.mesh));
        let problem = beam.problem(&beam.body.material, &none);
        let old = lowest(&problem, 16);
        let (case, found, exact) = if seed % 2 == 0 {
            let stitches = random_stitches(mesh, &mut random);
            let exact = lowest(&beam.problem(&beam.body.material, &stitches), 8);
            ("stitched", problem.update(&old, &stitches, 8).unwrap(), exact)
        } else {
            let material = beam.painted(&mut random);
            let exact = lowest(&beam.problem(&material, &none), 8);
            ("painted", problem.update_stiffness(&old, (mesh, &material), &none, 8).unwrap(), exact)
        };
        let name = format!("{case} {seed}");
        let [worst, loose] = check(&name, &found.modes.eigenvalues, &exact.eigenvalues, &found.residuals);
        println!("{name}: {worst:.2e}, bound {loose:.1} times, worst {:.2e}", found.worst());
    }
}

/// Largest share of the last mode that may lie beyond the cut, and bound from which on such a share is told.
const MIXED: f64 = 0.1;
const TOLD: f64 = 0.05;

#[test]
fn the_last_mode_before_a_close_one_is_no_mixture_of_both() {
    let (mut cases, mut told) = (0, 0);
    for seed in 0..24 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let bars = Bars::new([random.random_range(4..9), 2, 2], random.random_range(0..2) == 1);
        let problem = bars.problem(&bars.none());
        let stitches = random_stitches(&bars.mesh, &mut random);
        let exact = bars.modes(&stitches, 30);
        let mass = lumped_mass(&bars.mesh, &bars.material);
        for cut in 7..21 {
            let [low, high] = [exact.eigenvalues[cut - 1], exact.eigenvalues[cut]];
            if !(1e-4..0.05).contains(&((high - low) / high.max(1e-3))) {
                continue;
            }
            let old = problem.lowest(cut + [2, 6, 12][seed as usize % 3], &Progress::default()).unwrap();
            let made = problem.stitched(&old, &stitches, cut).unwrap();
            let along = |k: usize| -> f64 {
                let pair = made.modes.shapes.col(cut - 1).iter().zip(exact.shapes.col(k).iter());
                pair.enumerate().map(|(row, (a, b))| a * mass[row / 3] * b).sum()
            };
            let beyond = (1.0 - (0..cut).map(|k| along(k).powi(2)).sum::<f64>()).max(0.0).sqrt();
            let bound = made.residuals[cut - 1];
            println!("{seed}, {cut}: gap {:.4}, beyond {beyond:.3}, bound {bound:.1e}", (high - low) / high);
            cases += 1;
            told += usize::from(bound >= TOLD);
            assert!(
                beyond < MIXED || bound >= TOLD,
                "{seed}, {cut}: {beyond} of the last mode is beyond the cut"
            );
        }
    }
    assert!(cases > 20 && 10 * told < cases, "{told} of {cases} are told");
}
