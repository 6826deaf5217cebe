//! Modes after a change of stiffness, updated from the previous ones.

use jounce::material::{Field, Law, Material};
use jounce::operators::{Stitches, momentum_leak};
use jounce::subspace::{ModesProblem, Restraint, SkinningModes};
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, bar};

const COUNT: usize = 8;

/// A bar pinned at one end, its problem, and a few spare modes.
struct Beam {
    body: Body,
    pinned: Vec<bool>,
    problem: ModesProblem,
    old: SkinningModes,
}

impl Beam {
    fn new() -> Self {
        let body = Body::new(bar([16, 3, 3], 0.1), 1, 2);
        let pinned: Vec<bool> = body.mesh.vertices().iter().map(|v| v[0] < 0.05).collect();
        let problem = problem(&body, &pinned, &body.material);
        let old = problem.lowest(COUNT + 8, &Progress::default()).unwrap();
        Self { body, pinned, problem, old }
    }

    /// Material with the outer part `factor` times as stiff.
    fn material(&self, factor: f64) -> Material {
        self.scaled(|x| if x > 0.8 { factor } else { 1.0 }, 800.0)
    }

    fn scaled(&self, factor: impl Fn(f64) -> f64, density: f64) -> Material {
        let mesh = &self.body.mesh;
        let centre = |t: usize| mesh.corners(t).iter().map(|corner| corner[0]).sum::<f64>() / 4.0;
        let young = (0..mesh.tets().len()).map(|t| factor(centre(t)) * 2.0 * self.body.material.mu(t));
        let young = Field::PerTet(young.collect());
        Material::new(Law::Arap, young, Field::Uniform(0.0), Field::Uniform(density)).unwrap()
    }

    fn none(&self) -> Stitches {
        Stitches::none(&self.body.mesh)
    }
}

fn problem(body: &Body, pinned: &[bool], material: &Material) -> ModesProblem {
    let leak = momentum_leak(&body.mesh).unwrap();
    let restraint = Restraint { rig: Some(&body.rig), leak: Some(&leak), pinned: Some(pinned) };
    let none = Stitches::none(&body.mesh);
    ModesProblem::new(&body.mesh, material, &restraint, &none, &Progress::default()).unwrap()
}

/// Largest relative error of an eigenvalue.
fn error(found: &SkinningModes, exact: &SkinningModes) -> f64 {
    let pairs = found.eigenvalues.iter().zip(&exact.eigenvalues);
    pairs.map(|(found, exact)| (found / exact - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn a_region_of_another_stiffness_takes_the_short_way() {
    let beam = Beam::new();
    for factor in [0.25, 0.5, 2.0, 5.0] {
        let material = beam.material(factor);
        let exact = problem(&beam.body, &beam.pinned, &material).lowest(COUNT, &Progress::default()).unwrap();
        let change = (&beam.body.mesh, &material);
        let found = beam.problem.update_stiffness(&beam.old, change, &beam.none(), COUNT).unwrap();
        let (before, after) = (error(&beam.old, &exact), error(&found.modes, &exact));
        println!(
            "{factor} times as stiff: {before:.3} before, {after:.5} after, residual {:.5}",
            found.worst()
        );
        assert!(after < 1e-2 && after < 0.02 * before, "{factor}: {before} {after}");
        assert!(after < 10.0 * found.worst() + 1e-8, "{factor}: {after} {}", found.worst());
    }
}

#[test]
fn a_stiffness_that_is_too_far_is_told_by_the_residual() {
    let beam = Beam::new();
    for factor in [1e-4, 30.0] {
        let material = beam.material(factor);
        let change = (&beam.body.mesh, &material);
        let found = beam.problem.update_stiffness(&beam.old, change, &beam.none(), COUNT).unwrap();
        assert!(found.worst() > 5e-2, "{factor}: {}", found.worst());
    }
}

#[test]
fn the_whole_scaled_keeps_its_modes() {
    let beam = Beam::new();
    let material = beam.scaled(|_| 7.0, 800.0);
    let change = (&beam.body.mesh, &material);
    let found = beam.problem.update_stiffness(&beam.old, change, &beam.none(), COUNT).unwrap();
    for k in 0..COUNT {
        assert!((found.modes.eigenvalues[k] / (7.0 * beam.old.eigenvalues[k]) - 1.0).abs() < 1e-6, "{k}");
    }
}

#[test]
fn another_mass_is_refused() {
    let beam = Beam::new();
    let material = beam.scaled(|_| 1.0, 900.0);
    let change = (&beam.body.mesh, &material);
    let found = beam.problem.update_stiffness(&beam.old, change, &beam.none(), COUNT);
    assert!(matches!(found, Err(Error::Range { .. })));
}
