//! Trajectories of subspaces beside the full space, each test named after the figure or section of [FastCD]
//! that it reproduces, and bounded by the nearest trajectory in the span of the basis.

use faer::Mat;
use jounce::Progress;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::operators::{displacement_constraint, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{SkinningModes, cluster_tets, skinning_modes};
use jounce_tests::bodies::{Body, Transform, bar, swing, turn};
use jounce_tests::complementary::{ComplementarySolver, ComplementarySolverParams};
use jounce_tests::dense::{elastic_gradient, trajectory};
use jounce_tests::subspaces::{Weighed, complementary_part, for_all_coordinates, skinning_basis};

const DT: f64 = 1.0 / 60.0;
const STEPS: usize = 60;
const SEED: u64 = 0;

fn soft() -> Material {
    Material::new(Law::Arap, Field::Uniform(4e3), Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap()
}

fn body() -> Body {
    Body { material: soft(), ..Body::new(bar([12, 5, 5], 0.1), 1, 2) }
}

fn poses() -> Vec<Vec<Transform>> {
    (0..=STEPS).map(|step| swing(step as f64 * DT).to_vec()).collect()
}

/// Displacements of every step of the full-space solver, each 3n interleaved.
fn truth(body: &Body, leak: &[f64], poses: &[Vec<Transform>]) -> Vec<Vec<f64>> {
    let params = ComplementarySolverParams { dt: DT, max_iterations: 300, tolerance: 1e-9 };
    let mut solver =
        ComplementarySolver::new(&body.mesh, &body.material, &body.rig, leak, &poses[0], params).unwrap();
    let step = |pose: &Vec<Transform>| {
        solver.step(pose).unwrap();
        let u = solver.displacement();
        (0..3 * u.nrows()).map(|i| u[(i / 3, i % 3)]).collect()
    };
    poses[1..].iter().map(step).collect()
}

/// A body in a subspace.
struct Reduced<'a> {
    body: &'a Body,
    poses: &'a [Vec<Transform>],
    /// Vertex masses, n.
    mass: Vec<f64>,
    /// Columns of one coordinate, n x 4m.
    basis: Mat<f64>,
    modes: SkinningModes,
}

impl<'a> Reduced<'a> {
    fn new(body: &'a Body, poses: &'a [Vec<Transform>], seen: &Material, leak: &[f64], count: usize) -> Self {
        let modes =
            skinning_modes(&body.mesh, seen, count, Some(&body.rig), Some(leak), &Progress::default());
        let modes = modes.unwrap();
        let mass = lumped_mass(&body.mesh, &body.material);
        Self { body, poses, mass, basis: skinning_basis(&body.mesh, &modes.weights), modes }
    }

    /// The nearest motion in the basis.
    fn nearest(&self, truth: &[Vec<f64>]) -> Vec<Vec<f64>> {
        Weighed { mass: &self.mass }.nearest(&for_all_coordinates(&self.basis), truth)
    }

    fn apart(&self, a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
        Weighed { mass: &self.mass }.apart(a, b)
    }

    /// Labels of clusters.
    fn clustered(&self, count: usize) -> Vec<i32> {
        cluster_tets(&self.body.mesh, &self.modes, count, SEED, &Progress::default()).unwrap()
    }

    /// Labels of a cluster for each tet.
    fn each(&self) -> Vec<i32> {
        (0..self.body.mesh.tets().len() as i32).collect()
    }

    /// Displacements of every step under forces on the vertices, each 3n interleaved.
    fn moved(&self, labels: &[i32], forces: Option<&[Vec<f64>]>) -> Vec<Vec<f64>> {
        let body = self.body;
        let model =
            SkinningModel::new(&body.mesh, &body.material, &self.modes, labels, Some(&body.rig)).unwrap();
        let params = SimulationParams {
            dt: DT,
            max_iterations: 500,
            tolerance: 1e-10,
            pose_rest: 0.0,
            ..SimulationParams::default()
        };
        let mut simulation = Simulation::new(Model::Skinning(model.into()), params).unwrap();
        simulation.reset(Some(&self.poses[0])).unwrap();
        let (n, columns) = (self.basis.nrows(), self.basis.ncols());
        let step = |step: usize| {
            let force = forces.map(|forces| {
                let along = |k: usize, c: usize| {
                    (0..n).map(|i| self.basis[(i, k)] * forces[step - 1][3 * i + c]).sum::<f64>()
                };
                let entry = |i: usize| along(4 * (i / 12) + i % 4, i % 12 / 4);
                (0..3 * columns).map(entry).collect::<Vec<f64>>()
            });
            let pose = Some(self.poses[step].as_slice());
            let input = StepInput { pose, force: force.as_deref(), ..StepInput::default() };
            simulation.step_with(&input, &Progress::default()).unwrap();
            let z = simulation.coefficients();
            let coordinate = |i: usize| {
                let of = |k: usize| self.basis[(i / 3, k)] * z[12 * (k / 4) + 4 * (i % 3) + k % 4];
                (0..columns).map(of).sum()
            };
            (0..3 * n).map(coordinate).collect()
        };
        (1..self.poses.len()).map(step).collect()
    }
}

/// Error of a motion and of the nearest one in the same basis. The latter is the least of any solver, and
/// with four times the modes the step comes nearer than that of the fewer. With many clusters the motion is
/// that with a cluster for each tet.
#[test]
fn section_9_10_error_falls_as_modes_and_clusters_grow() {
    let (body, poses) = (body(), poses());
    let leak = momentum_leak(&body.mesh).unwrap();
    let truth = truth(&body, &leak, &poses);
    let reduced = |modes: usize| Reduced::new(&body, &poses, &body.material, &leak, modes);
    let by_modes = [2, 4, 8, 16, 32].map(|modes| {
        let reduced = reduced(modes);
        [reduced.nearest(&truth), reduced.moved(&reduced.each(), None)].map(|u| reduced.apart(&u, &truth))
    });
    println!("least error and error by modes 2, 4, 8, 16, 32: {by_modes:.3?}");
    for pair in by_modes.windows(2) {
        assert!((0..2).all(|error| pair[0][error] > pair[1][error]), "{by_modes:?}");
    }
    assert!(by_modes.iter().all(|[least, error]| least <= error), "{by_modes:?}");
    for [fewer, _, more] in by_modes.array_windows() {
        assert!(more[1] < fewer[0], "{by_modes:?}");
    }
    let reduced = reduced(32);
    let each = reduced.moved(&reduced.each(), None);
    let by_clusters = [4, 20, 100, 500].map(|clusters| {
        let moved = reduced.moved(&reduced.clustered(clusters), None);
        [&each, &truth].map(|other| reduced.apart(&moved, other))
    });
    println!("apart from a cluster for each tet, and error, by clusters 4, 20, 100, 500: {by_clusters:.3?}");
    for pair in by_clusters.windows(2) {
        assert!((0..2).all(|error| pair[0][error] > pair[1][error]), "{by_clusters:?}");
    }
    assert!(by_clusters.iter().all(|found| found[1] >= by_modes[4][0]), "{by_clusters:?}");
}

/// All that keeps a motion from the nearest one in its basis is the difference of the elastic forces of the
/// two shapes: with it as an outer force, the motion is the nearest one, to the tolerance of the full space.
#[test]
fn the_error_of_a_subspace_is_that_of_its_forces() {
    let (body, poses) = (body(), poses());
    let leak = momentum_leak(&body.mesh).unwrap();
    let truth = truth(&body, &leak, &poses);
    for modes in [2, 4, 8, 16] {
        let reduced = Reduced::new(&body, &poses, &body.material, &leak, modes);
        let nearest = reduced.nearest(&truth);
        let force = |step: usize| -> Vec<f64> {
            let [near, exact] =
                [&nearest, &truth].map(|u| elastic_gradient(&body, &poses[step + 1], &u[step]));
            near.iter().zip(&exact).map(|(near, exact)| near - exact).collect()
        };
        let forces: Vec<Vec<f64>> = (0..truth.len()).map(force).collect();
        let apart = reduced.apart(&reduced.moved(&reduced.each(), Some(&forces)), &nearest);
        println!("{modes} modes: {apart:e} from the nearest motion");
        assert!(apart < 1e-6, "{modes} modes: {apart:e}");
    }
}

/// Twelve modes that see no material follow it worse than two that do, and no better than none at all.
#[test]
fn figure_10_modes_that_see_the_material_follow_it_better() {
    let (uniform, poses) = (body(), poses());
    let soft_end = |t: usize| if uniform.mesh.corners(t)[0][0] > 0.8 { 1e3 } else { 2e5 };
    let young = Field::PerTet((0..uniform.mesh.tets().len()).map(soft_end).collect());
    let material = Material::new(Law::Arap, young, Field::Uniform(0.0), Field::Uniform(1000.0)).unwrap();
    let mixed = Body { material, ..body() };
    let leak = momentum_leak(&mixed.mesh).unwrap();
    let truth = truth(&mixed, &leak, &poses);
    let errors = |seen: &Material| {
        [2, 4, 6, 8, 12].map(|count| {
            let reduced = Reduced::new(&mixed, &poses, seen, &leak, count);
            [reduced.nearest(&truth), reduced.moved(&reduced.clustered(200), None)]
                .map(|u| reduced.apart(&u, &truth))
        })
    };
    let [aware, blind] = [errors(&mixed.material), errors(&uniform.material)];
    println!("least error and error, with modes of the material {aware:.3?}, of a uniform one {blind:.3?}");
    for (aware, blind) in aware.iter().zip(&blind) {
        assert!(aware[0] < blind[0] && aware[0] <= aware[1], "{aware:?} {blind:?}");
    }
    let most = aware.iter().map(|found| found[1]).fold(0.0, f64::max);
    let least = blind.iter().map(|found| found[1]).fold(f64::INFINITY, f64::min);
    assert!(most < 1.0 && most < least, "{aware:?} {blind:?}");
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
    Body { rig, material: soft(), ..Body::new(mesh, 1, 2) }
}

#[test]
fn figure_18_a_constrained_subspace_moves_where_an_unconstrained_one_of_its_size_cannot() {
    let bones = 14;
    let body = chain(bones);
    // The leak varies within every bone's region, and vanishes nowhere inside.
    let leak: Vec<f64> = body.mesh.vertices().iter().map(|x| 0.95 * x[2] / 0.1).collect();
    let mass = lumped_mass(&body.mesh, &body.material);
    let weighed = Weighed { mass: &mass };
    let constraint = displacement_constraint(&body.mesh, &mass, &body.rig, &leak).unwrap().to_dense();
    let poses: Vec<Vec<Transform>> = (0..=STEPS)
        .map(|step| (0..bones).map(|j| wave(step as f64 * DT, j as f64 / bones as f64)).collect())
        .collect();
    let truth = truth(&body, &leak, &poses);
    let [constrained, unconstrained] = [Some(&body.rig), None].map(|rig| {
        let modes = skinning_modes(&body.mesh, &body.material, bones, rig, Some(&leak), &Progress::default());
        let basis = for_all_coordinates(&skinning_basis(&body.mesh, &modes.unwrap().weights));
        let left = complementary_part(&basis, &constraint);
        let (moved, nearest) = (trajectory(&body, &left, &poses, DT), weighed.nearest(&left, &truth));
        let of = |u: &[Vec<f64>]| [weighed.size(u) / weighed.size(&truth), weighed.apart(u, &truth)];
        (left.ncols(), of(&moved), of(&nearest))
    });
    println!(
        "motions left; motion and error, of the step and at best: constrained {constrained:.3?}, \
         unconstrained {unconstrained:.3?}"
    );
    assert_eq!(constrained.0, 12 * bones);
    // No solver could make the unconstrained subspace move as far or come as near.
    let ([motion, error], [most, least]) = (constrained.1, unconstrained.2);
    assert!(motion > most && error < least, "{constrained:?} {unconstrained:?}");
    assert!([&constrained, &unconstrained].iter().all(|found| found.1[1] >= found.2[1]));
}

/// A chain's bone that swings from side to side, with a phase lag to the previous one.
fn wave(time: f64, place: f64) -> Transform {
    turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], [0.0, 0.1 * (9.0 * time - 3.0 * place).sin(), 0.0])
}
