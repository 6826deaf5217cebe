//! Stitches: their effect on modes, on the reduced body and in files, against the full space.

use faer::{Mat, Side};
use jounce::inputs::{SimulationParams, StepInput};
use jounce::mesh::Embedding;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::{Stitches, constraint, laplacian, lumped_mass, momentum_leak};
use jounce::simulation::Simulation;
use jounce::subspace::{ModesProblem, ModesUpdate, Restraint, SkinningModes};
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, Transform, bar, displacement, largest, some_coefficients, swing, turn};
use jounce_tests::low_rank::low_rank_update;

/// Springs across the bar between points inside tets, with and without the gap at rest.
fn stitches(body: &Body, stiffness: f64) -> (Stitches, Embedding, Vec<[u32; 2]>, Vec<f64>, Vec<f64>) {
    let points = vec![[0.11, 0.03, 0.07], [0.52, 0.28, 0.21], [0.33, 0.11, 0.29], [0.71, 0.22, 0.04]];
    let embedding = Embedding::new(&body.mesh, points).unwrap();
    let pairs = vec![[0, 1], [2, 3], [1, 2]];
    let (stiffness, gaps) = (vec![stiffness, 3.0 * stiffness, 0.5 * stiffness], vec![0.0, 1.0, 0.4]);
    let made = Stitches::between_points(&body.mesh, &embedding, &pairs, &stiffness, &gaps).unwrap();
    (made, embedding, pairs, stiffness, gaps)
}

fn stitched(body: &Body, stitches: &Stitches) -> SkinningModel {
    let extras = Extras { stitches: Some(stitches), ..Extras::default() };
    let (modes, labels) = (&body.modes, &body.labels);
    SkinningModel::with_extras(&body.mesh, &body.material, modes, labels, Some(&body.rig), &extras).unwrap()
}

/// `sum_j w_j T_j [x; 1]` with the weights of a vertex, or a blend of several.
fn skinned(body: &Body, shares: &[(usize, f64)], pose: &[Transform], x: [f64; 3], w: f64) -> [f64; 3] {
    let mut out = [0.0; 3];
    for (bone, transform) in pose.iter().enumerate() {
        let weight = |vertex: usize| {
            let entry = body.rig.bone(bone).iter().find(|(v, _)| *v as usize == vertex);
            entry.map_or(0.0, |&(_, weight)| weight)
        };
        let weight: f64 = shares.iter().map(|&(vertex, share)| share * weight(vertex)).sum();
        for (out, row) in out.iter_mut().zip(transform) {
            *out += weight * (row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * w);
        }
    }
    out
}

/// The springs' energy by the definition, on all vertices.
fn spring_energy(
    body: &Body,
    (embedding, pairs, stiffness, gaps): (&Embedding, &[[u32; 2]], &[f64], &[f64]),
    pose: &[Transform],
    u: &[[f64; 3]],
) -> f64 {
    let posed = |vertex: usize| -> [f64; 3] {
        let rigged = skinned(body, &[(vertex, 1.0)], pose, body.mesh.vertices()[vertex], 1.0);
        std::array::from_fn(|c| rigged[c] + u[vertex][c])
    };
    let shares = |point: u32| -> Vec<(usize, f64)> {
        let corners = body.mesh.tets()[embedding.tets()[point as usize] as usize];
        corners.map(|v| v as usize).into_iter().zip(embedding.barycentric()[point as usize]).collect()
    };
    let at = |point: u32, of: &dyn Fn(usize) -> [f64; 3]| -> [f64; 3] {
        shares(point).iter().fold([0.0; 3], |sum, &(vertex, share)| {
            let x = of(vertex);
            std::array::from_fn(|c| sum[c] + share * x[c])
        })
    };
    let rest = |point| at(point, &|vertex| body.mesh.vertices()[vertex]);
    let energy = |(s, &[a, b]): (usize, &[u32; 2])| {
        let (x, y) = (at(a, &posed), at(b, &posed));
        let apart: [f64; 3] = std::array::from_fn(|c| rest(a)[c] - rest(b)[c]);
        let halves: Vec<(usize, f64)> =
            shares(a).into_iter().chain(shares(b)).map(|(vertex, share)| (vertex, 0.5 * share)).collect();
        let gap = skinned(body, &halves, pose, apart, 0.0);
        let stretch2: f64 = (0..3).map(|c| (x[c] - y[c] - gaps[s] * gap[c]).powi(2)).sum();
        0.5 * stiffness[s] * stretch2
    };
    pairs.iter().enumerate().map(energy).sum()
}

#[test]
fn the_reduced_energy_is_that_of_the_full_space() {
    for body in Body::bars() {
        let (made, embedding, pairs, stiffness, gaps) = stitches(&body, 4e3);
        let (model, plain) = (stitched(&body, &made), body.reduced());
        let z = some_coefficients(12 * model.mode_count(), 0.05);
        for (pose, pose_rest) in [(swing(0.1), 1.0), (swing(0.2), 0.0), (swing(0.3), 0.4)] {
            let energy = |model: &SkinningModel| model.elastic_energy(&z, Some(&pose), pose_rest).unwrap().0;
            let u = displacement(&body, &z);
            let exact = spring_energy(&body, (&embedding, &pairs, &stiffness, &gaps), &pose, &u);
            let got = energy(&model) - energy(&plain);
            assert!((got - exact).abs() < 1e-9 * exact, "{got} {exact}");
        }
    }
}

/// At equilibrium with stitches, flesh without them is in equilibrium under their forces.
#[test]
fn every_vertex_feels_stitches_that_keep_a_distance() {
    let body = Body::bar();
    let (made, embedding, pairs, stiffness, gaps) = stitches(&body, 100.0);
    let pose = swing(0.3);
    let settled = |stitches: Option<&Stitches>, force: Option<&[f64]>| {
        let rig = Some(&body.rig);
        let extras = FullSpaceExtras { rig, stitches, ..FullSpaceExtras::default() };
        let restraint = Restraint { rig, ..Restraint::default() };
        let model = FullSpaceModel::of(&body.mesh, &body.material, &restraint, &extras, &Progress::default());
        let params = SimulationParams { tolerance: 1e-12, ..SimulationParams::default() };
        let mut sim = Simulation::new(Model::FullSpace(model.unwrap().into()), params).unwrap();
        let input = StepInput { pose: Some(&pose), force, ..StepInput::default() };
        let energy = sim.settle(&input, 5000, &Progress::default()).unwrap().energy;
        (sim.coefficients().to_vec(), energy)
    };
    let springs = |u: &[f64]| {
        spring_energy(&body, (&embedding, &pairs, &stiffness, &gaps), &pose, u.as_chunks::<3>().0)
    };
    let (u, energy) = settled(Some(&made), None);
    assert!(springs(&u) < 0.9 * springs(&vec![0.0; u.len()]), "they give way to each other");
    let pull = |i: usize| {
        let moved = |by: f64| {
            let mut u = u.clone();
            u[i] += by;
            springs(&u)
        };
        (moved(-1e-2) - moved(1e-2)) / 2e-2
    };
    let force: Vec<f64> = (0..u.len()).map(pull).collect();
    let (pulled, plain) = settled(None, Some(&force));
    let size = u.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let apart = u.iter().zip(&pulled).fold(0.0_f64, |a, (x, y)| a.max((x - y).abs()));
    assert!(apart < 1e-6 * size, "{apart} of {size}");
    assert!((energy - plain - springs(&u)).abs() < 1e-6 * energy, "{energy} {plain}");
}

#[test]
fn the_energy_does_not_feel_rigid_motion() {
    let body = Body::bar();
    let model = stitched(&body, &stitches(&body, 4e3).0);
    let moved = turn([0.3, 1.0, -0.2], 2.0, [0.1, 0.2, 0.0], [2e3, -3e3, 1e3]);
    let pose = swing(0.2);
    let whole = pose.map(|bone| jounce_tests::bodies::compose(&moved, &bone));
    let none = vec![0.0; 12 * model.mode_count()];
    let energy = |pose: &[Transform]| model.elastic_energy(&none, Some(pose), 1.0).unwrap().0;
    assert!(energy(&pose) > 1.0);
    assert!((energy(&whole) / energy(&pose) - 1.0).abs() < 1e-8);
}

#[test]
fn the_gradient_matches_finite_differences() {
    for body in Body::bars() {
        let model = stitched(&body, &stitches(&body, 4e3).0);
        let z = some_coefficients(12 * model.mode_count(), 0.03);
        for pose_rest in [0.0, 0.7, 1.0] {
            let pose = swing(0.15);
            let at = |z: &[f64]| model.elastic_energy(z, Some(&pose), pose_rest).unwrap();
            let gradient = at(&z).1;
            let size = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
            for i in 0..z.len() {
                let moved = |by: f64| {
                    let mut z = z.clone();
                    z[i] += by;
                    at(&z).0
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[i] - difference).abs() < 1e-6 * size, "{i}: {} {difference}", gradient[i]);
            }
        }
    }
}

#[test]
fn fewer_modes_keep_the_springs() {
    let body = Body::bar();
    let (made, ..) = stitches(&body, 4e3);
    let cut = stitched(&body, &made).truncated(2).unwrap();
    let few = stitched(&Body { modes: body.modes.truncated(2).unwrap(), ..Body::bar() }, &made);
    let z = some_coefficients(24, 0.05);
    let energy = |model: &SkinningModel| model.elastic_energy(&z, Some(&swing(0.2)), 0.5).unwrap().0;
    assert!((energy(&cut) / energy(&few) - 1.0).abs() < 1e-9);
}

#[test]
fn a_spring_pulls_shut_what_the_rig_opens() {
    let body = Body::bar();
    // Both ends coincide at rest, and are driven by different bones: as close as a connected mesh can have
    // them.
    let vertices = body.mesh.vertices();
    let at = |x: f64| vertices.iter().position(|v| (v[0] - x).abs() + v[1] + v[2] < 1e-9).unwrap() as u32;
    let pair = [[at(0.3), at(0.5)]];
    let distance = |stiffness: Option<f64>| {
        let model = match stiffness {
            Some(k) => stitched(&body, &Stitches::between_vertices(&body.mesh, &pair, &[k], &[0.0]).unwrap()),
            None => body.reduced(),
        };
        let model = Model::Skinning(model.into());
        let mut sim = Simulation::new(model, SimulationParams::default()).unwrap();
        let pose = swing(0.25);
        sim.settle(&StepInput { pose: Some(&pose), ..StepInput::default() }, 2000, &Progress::default())
            .unwrap();
        let u = displacement(&body, sim.coefficients());
        let place = |v: u32| {
            let rigged = skinned(&body, &[(v as usize, 1.0)], &pose, vertices[v as usize], 1.0);
            std::array::from_fn(|c| rigged[c] + u[v as usize][c])
        };
        let (a, b): ([f64; 3], [f64; 3]) = (place(pair[0][0]), place(pair[0][1]));
        (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()
    };
    let distances = [None, Some(1e3), Some(1e5)].map(distance);
    assert!(distances.is_sorted_by(|a, b| a > b), "{distances:?}");
    assert!(distances[2] < 0.1 * distances[0], "{distances:?}");
}

/// A bar cut in two across its length: its problem before stitching, with a few spare modes.
struct Cut {
    body: Body,
    leak: Vec<f64>,
    pinned: Vec<bool>,
}

impl Cut {
    fn new() -> Self {
        let half = bar([7, 3, 3], 0.1);
        let mesh = jounce_tests::boxes::row_of(&half, 2, 0.71);
        let body = Body::new(mesh, 1, 2);
        let leak = momentum_leak(&body.mesh).unwrap();
        let pinned = body.mesh.vertices().iter().map(|v| v[0] < 0.05).collect();
        Self { body, leak, pinned }
    }

    fn problem(&self, stitches: &Stitches) -> ModesProblem {
        let restraint =
            Restraint { rig: Some(&self.body.rig), leak: Some(&self.leak), pinned: Some(&self.pinned) };
        let progress = Progress::default();
        ModesProblem::new(&self.body.mesh, &self.body.material, &restraint, stitches, &progress).unwrap()
    }

    fn modes(&self, stitches: &Stitches, count: usize) -> SkinningModes {
        self.problem(stitches).lowest(count, &Progress::default()).unwrap()
    }

    /// Stitches across the cut at the first `count` of its vertices.
    fn stitches(&self, count: usize, stiffness: f64) -> Stitches {
        let vertices = self.body.mesh.vertices();
        let half = vertices.len() / 2;
        let near = |x: f64| (0..vertices.len()).filter(move |&v| (vertices[v][0] - x).abs() < 1e-9);
        let left: Vec<usize> = near(0.7).filter(|&v| v < half).collect();
        let right: Vec<usize> = near(0.71).filter(|&v| v >= half).collect();
        let pairs: Vec<[u32; 2]> =
            left.iter().zip(&right).map(|(&a, &b)| [a as u32, b as u32]).take(count).collect();
        let (stiffness, gaps) = (vec![stiffness; pairs.len()], vec![1.0; pairs.len()]);
        Stitches::between_vertices(&self.body.mesh, &pairs, &stiffness, &gaps).unwrap()
    }

    fn none(&self) -> Stitches {
        Stitches::none(&self.body.mesh)
    }
}

fn errors(found: &SkinningModes, exact: &SkinningModes) -> Vec<f64> {
    let pairs = found.eigenvalues.iter().zip(&exact.eigenvalues);
    let mut errors: Vec<f64> = pairs.map(|(found, exact)| (found / exact - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

#[test]
fn stitched_modes_are_those_of_the_dense_problem() {
    let cut = Cut::new();
    let stitches = cut.stitches(5, 2e3);
    let body = &cut.body;
    let conductivity: Vec<f64> =
        (0..body.mesh.tets().len()).map(|t| 4.0 * body.material.mu(t) + body.material.lambda(t)).collect();
    let mut hessian = laplacian(&body.mesh, &conductivity).unwrap().to_dense();
    let columns = stitches.differences().to_dense();
    hessian += faer::Scale(3.0 * 2e3) * (&columns * columns.transpose());
    let mass = lumped_mass(&body.mesh, &body.material);
    let n = mass.len();
    let scaled = Mat::from_fn(n, n, |i, j| hessian[(i, j)] / (mass[i] * mass[j]).sqrt());
    let values = scaled.self_adjoint_eigenvalues(Side::Lower).unwrap();
    let free = Restraint::default();
    let problem =
        ModesProblem::new(&body.mesh, &body.material, &free, &stitches, &Progress::default()).unwrap();
    let modes = problem.lowest(6, &Progress::default()).unwrap();
    for k in 0..6 {
        assert!((modes.eigenvalues[k] - values[k]).abs() < 1e-7 * values[5], "{k}");
    }
}

#[test]
fn updated_modes_are_near_the_rebuilt_ones_and_tell_how_near() {
    let cut = Cut::new();
    let problem = cut.problem(&cut.none());
    let old = problem.lowest(12, &Progress::default()).unwrap();
    let mass = lumped_mass(&cut.body.mesh, &cut.body.material);
    let border = constraint(&cut.body.mesh, &mass, &cut.body.rig, &cut.leak).unwrap().to_dense();
    let of = (&mass[..], &border);
    for (count, stiffness) in [(1, 1e3), (5, 1e2), (16, 1e3), (16, 1e5)] {
        let stitches = cut.stitches(count, stiffness);
        let exact = cut.modes(&stitches, 8);
        let ModesUpdate { modes, residuals, apart, .. } = problem.update(&old, &stitches, 8).unwrap();
        let found = errors(&modes, &exact);
        assert!(found[4] < 5e-3 && found[7] < 2e-2, "{count} of {stiffness}: {found:?}");
        let worst = residuals.iter().copied().fold(0.0, f64::max);
        assert!(found[7] < 10.0 * worst + 1e-8 && worst < 10.0 * found[7] + 1e-8, "{found:?} {residuals:?}");
        let lacking = lacking(&modes, &exact);
        let most = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
        assert!(most(&apart) < 30.0 * most(&lacking) + 1e-6, "{} {}", most(&apart), most(&lacking));
        assert!(most(&lacking) < 30.0 * most(&apart) + 1e-6, "{} {}", most(&apart), most(&lacking));
        let paper = low_rank_update(of, |v| !cut.pinned[v], &old, &stitches, 8);
        assert!(errors(&paper, &exact)[4] > 3.0 * found[4]);
    }
}

/// Root mean square over modes of the error at each vertex, relative to each mode's largest weight.
fn lacking(found: &SkinningModes, exact: &SkinningModes) -> Vec<f64> {
    let count = exact.eigenvalues.len();
    let mut squares = vec![0.0; exact.weights.nrows()];
    for k in 0..count {
        let (one, other) = (found.weights.col(k), exact.weights.col(k));
        let sign = (one.transpose() * other).signum();
        let largest = other.norm_max();
        for (i, square) in squares.iter_mut().enumerate() {
            *square += ((one[i] - sign * other[i]) / largest).powi(2) / count as f64;
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

#[test]
fn an_update_keeps_to_mass_rig_and_pins() {
    let cut = Cut::new();
    let problem = cut.problem(&cut.none());
    let old = problem.lowest(12, &Progress::default()).unwrap();
    let modes = problem.update(&old, &cut.stitches(16, 1e4), 8).unwrap().modes;
    let mass = lumped_mass(&cut.body.mesh, &cut.body.material);
    let heavy = Mat::from_fn(mass.len(), 8, |i, k| mass[i] * modes.weights[(i, k)]);
    let gram = modes.weights.transpose() * &heavy;
    assert!((gram - Mat::<f64>::identity(8, 8)).norm_max() < 1e-10);
    for (i, _) in cut.pinned.iter().enumerate().filter(|(_, pinned)| **pinned) {
        assert!((0..8).all(|k| modes.weights[(i, k)] == 0.0));
    }
    let columns = constraint(&cut.body.mesh, &mass, &cut.body.rig, &cut.leak).unwrap().to_dense();
    let (broken, size) = (columns.transpose() * &modes.weights, modes.weights.norm_max());
    assert!(broken.norm_max() < 1e-9 * size, "{:e}", broken.norm_max());
}

#[test]
fn stitches_can_be_taken_away_and_changed_without_a_rebuild() {
    let cut = Cut::new();
    let stitches = cut.stitches(6, 1e3);
    let problem = cut.problem(&stitches);
    let old = problem.lowest(16, &Progress::default()).unwrap();
    for wanted in [cut.none(), cut.stitches(3, 1e3), cut.stitches(6, 5e3), cut.stitches(9, 2e2)] {
        let exact = cut.modes(&wanted, 8);
        let found = problem.update(&old, &wanted, 8).unwrap();
        // Tests of the eigenvalues near zero would only measure rounding errors.
        assert!(errors(&found.modes, &exact)[4] < 1e-2, "{:?}", errors(&found.modes, &exact));
    }
    let same = problem.update(&old, &stitches, 8).unwrap();
    assert!(same.modes.eigenvalues == old.eigenvalues[..8] && same.worst() < 1e-9);
}

#[test]
fn the_residual_tells_of_modes_that_are_no_good() {
    let cut = Cut::new();
    let problem = cut.problem(&cut.none());
    let few = problem.lowest(4, &Progress::default()).unwrap();
    let good = problem.update(&few, &cut.stitches(2, 10.0), 4).unwrap().worst();
    let bad = problem.update(&few, &cut.stitches(16, 1e6), 4).unwrap().worst();
    // Without extra modes the bound is the square root of that with some.
    assert!(good < 5e-3 && bad > 10.0 * good, "{good} {bad}");
    let more = problem.lowest(6, &Progress::default()).unwrap();
    let better = problem.update(&more, &cut.stitches(2, 10.0), 4).unwrap().worst();
    assert!(better < 0.5 * good, "{good} {better}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let cut = Cut::new();
            let problem = cut.problem(&cut.none());
            let old = problem.lowest(12, &Progress::default()).unwrap();
            let update = problem.update(&old, &cut.stitches(9, 1e3), 8).unwrap();
            let body = Body::bar();
            let model = Model::Skinning(stitched(&body, &stitches(&body, 4e3).0).into());
            (update.modes.rows(), update.residuals, jounce::file::encode(&model))
        })
    };
    assert!(on(1) == on(2));
}

#[test]
fn a_file_keeps_the_stitches() {
    let body = Body::bar();
    let model = Model::Skinning(stitched(&body, &stitches(&body, 4e3).0).into());
    let bytes = jounce::file::encode(&model).unwrap();
    let loaded = jounce::file::decode(&bytes).unwrap();
    assert!(jounce::file::encode(&loaded).unwrap() == bytes);
    assert!(bytes.len() > jounce::file::encode(&body.model()).unwrap().len());
    let move_both = |model: &Model| {
        let mut sim = Simulation::new(model.clone(), SimulationParams::default()).unwrap();
        for frame in 0..10 {
            sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
        }
        sim.coefficients().to_vec()
    };
    assert_eq!(move_both(&loaded), move_both(&model));
}

#[test]
fn bad_stitches_are_refused() {
    let body = Body::bar();
    let n = body.mesh.vertices().len() as u32;
    let make =
        |pairs: &[[u32; 2]], k: &[f64], gap: &[f64]| Stitches::between_vertices(&body.mesh, pairs, k, gap);
    assert!(matches!(make(&[[0, 1], [0, n]], &[1.0; 2], &[0.0; 2]), Err(Error::Index { element: 1, .. })));
    assert!(matches!(make(&[[0, 1]], &[1.0; 2], &[0.0]), Err(Error::Shape { what: "stiffness", .. })));
    assert!(matches!(make(&[[0, 1]], &[1.0], &[]), Err(Error::Shape { what: "gap", .. })));
    for k in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert!(matches!(make(&[[0, 1]], &[k], &[0.0]), Err(Error::Range { what: "stiffness", .. })));
    }
    for gap in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(make(&[[0, 1]], &[1.0], &[gap]), Err(Error::Range { what: "gap", .. })));
    }
    let other = bar([2, 1, 1], 0.1);
    let foreign = Stitches::between_vertices(&other, &[[0, 1]], &[1.0], &[0.0]).unwrap();
    let extras = Extras { stitches: Some(&foreign), ..Extras::default() };
    let (modes, labels) = (&body.modes, &body.labels);
    let model =
        SkinningModel::with_extras(&body.mesh, &body.material, modes, labels, Some(&body.rig), &extras);
    assert!(matches!(model, Err(Error::Shape { what: "stitches", .. })));
    let cut = Cut::new();
    let problem = cut.problem(&cut.none());
    let old = problem.lowest(2, &Progress::default()).unwrap();
    assert!(matches!(problem.update(&old, &foreign, 2), Err(Error::Shape { .. })));
    assert!(matches!(problem.update(&old, &cut.none(), 3), Err(Error::Range { .. })));
    assert!(matches!(problem.update(&body.modes, &cut.none(), 2), Err(Error::Shape { .. })));
    let points = Embedding::new(&other, vec![[0.05; 3]; 2]).unwrap();
    let made = Stitches::between_points(&body.mesh, &points, &[[0, 1]], &[1.0], &[0.0]);
    assert!(matches!(made, Err(Error::Shape { what: "mesh", .. })));
    let made = Stitches::between_points(&other, &points, &[[0, 2]], &[1.0], &[0.0]);
    assert!(matches!(made, Err(Error::Index { .. })));
}

/// Extreme stiffness, and a spring from a point to itself: no NaN, and rest stays rest.
#[test]
fn extreme_stitches_bring_no_nan() {
    let body = Body::bar();
    for (pairs, k) in
        [(vec![[0, 40]], 1e15), (vec![[7, 7]], 1.0), (vec![[3, 90]; 5], 1e9), (vec![[3, 90]], 1e-300)]
    {
        let (k, gap) = (vec![k; pairs.len()], vec![1.0; pairs.len()]);
        let made = Stitches::between_vertices(&body.mesh, &pairs, &k, &gap).unwrap();
        let model = Model::Skinning(stitched(&body, &made).into());
        let mut sim = Simulation::new(model, SimulationParams::default()).unwrap();
        for frame in 0..10 {
            sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
            assert!(largest(&displacement(&body, sim.coefficients())) < 1.0);
        }
        let cut = Cut::new();
        let problem = cut.problem(&cut.none());
        let old = problem.lowest(4, &Progress::default()).unwrap();
        let found =
            problem.update(&old, &Stitches::between_vertices(&cut.body.mesh, &pairs, &k, &gap).unwrap(), 4);
        assert!(found.is_err() || found.unwrap().modes.rows().iter().all(|w| w.is_finite()));
    }
}
