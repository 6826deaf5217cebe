//! Deformation of bodies stitched after their factorisation: modal derivatives, bases and cubature.

use faer::{Mat, Side};
use jounce::Progress;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::reduced::{ReducedExtras, ReducedModel, Shot};
use jounce::operators::{Stitches, lumped_mass};
use jounce::simulation::Simulation;
use jounce::subspace::{Basis, EditedModes, LinearModes, Restraint, Share, mass_pca};
use jounce_tests::dense::bending_load;
use jounce_tests::limits::assert_limit;
use jounce_tests::sewn::Bars;
use nalgebra::Vector3;

fn silent() -> Progress {
    Progress::default()
}

/// Residual of `(K + A k A') Phi` against the loads of deforming modes, relative to these; for pairs that
/// hardly interact, relative to the loads of each mode with itself.
fn missed(bars: &Bars, stitches: &Stitches, modes: &LinearModes, derivatives: &Mat<f64>) -> f64 {
    let (met, k) = (bars.stiffness(stitches) * derivatives, modes.eigenvalues.len());
    let free = bars.free();
    let norm = |of: &dyn Fn(usize) -> f64| free.iter().map(|&i| of(i).powi(2)).sum::<f64>().sqrt();
    let load = |pair| bending_load(&bars.mesh, &bars.material, &modes.shapes, pair);
    let size = |load: &[Vector3<f64>]| norm(&|i| load[i / 3][i % 3]);
    let alone: Vec<f64> = (0..k).map(|i| size(&load([i, i]))).collect();
    let pairs = (0..k).flat_map(|i| (i..k).map(move |j| [i, j])).enumerate();
    let apart = pairs.filter(|(_, pair)| pair.iter().all(|&mode| modes.eigenvalues[mode] > 1e-3));
    let apart = apart.map(|(column, [i, j])| {
        let load = load([i, j]);
        norm(&|i| met[(i, column)] + load[i / 3][i % 3]) / size(&load).max(alone[i].min(alone[j]))
    });
    apart.fold(0.0, f64::max)
}

/// Components that are fixed, and one held by the stitches alone, whose rigid motions are no longer free.
#[test]
fn derivatives_balance_forces_without_another_factor() {
    for both in [true, false] {
        let bars = Bars::new([5, 2, 2], both);
        let problem = bars.problem(&bars.none());
        let old = problem.lowest(14, &silent()).unwrap();
        let before = problem.derivatives(&old, &silent()).unwrap();
        for (count, stiffness) in [(4, 1e2), (10, 1e4), (40, 1e6)] {
            let stitches = bars.stitches(count, stiffness);
            let EditedModes { problem, modes, .. } = problem.stitched(&old, &stitches, 6).unwrap();
            let new = missed(&bars, &stitches, &modes, &problem.derivatives(&modes, &silent()).unwrap());
            let carried = problem.carried_derivatives(before.as_ref(), &silent()).unwrap();
            let carried = missed(&bars, &stitches, &old, &carried);
            println!("{both}, {count} of {stiffness:e}: {new:e} of new ones, {carried:e} of old ones");
            assert!(new < 1e-9 && carried < 1e-9, "{new:e} {carried:e}");
        }
    }
}

/// Inertia balances the loads along free rigid motions, and the derivatives do not displace the whole.
#[test]
fn derivatives_of_a_body_that_nothing_holds_do_not_move_it_as_a_whole() {
    let mut bars = Bars::new([5, 2, 2], false);
    bars.pinned.fill(false);
    let stitches = bars.stitches(10, 1e4);
    let EditedModes { problem, modes, .. } = bars.stitched(&stitches, 9);
    let derivatives = problem.derivatives(&modes, &silent()).unwrap();
    let mass = lumped_mass(&bars.mesh, &bars.material);
    let heavy = Mat::from_fn(derivatives.nrows(), 6, |i, k| mass[i / 3] * modes.shapes[(i, k)]);
    let along = heavy.transpose() * &derivatives;
    assert!(along.norm_max() < 1e-8 * derivatives.norm_max() * heavy.norm_max(), "{:e}", along.norm_max());
    // The last pair, of the last mode with itself, is balanced except for the inertia.
    let load = bending_load(&bars.mesh, &bars.material, &modes.shapes, [8, 8]);
    let load = Mat::from_fn(derivatives.nrows(), 1, |i, _| load[i / 3][i % 3]);
    let met = bars.stiffness(&stitches) * derivatives.subcols(derivatives.ncols() - 1, 1) + &load;
    let inertia = &heavy * (modes.shapes.subcols(0, 6).transpose() * &load);
    assert!((met - inertia).norm_l2() < 1e-8 * load.norm_l2());
}

/// `u(p) + u(-p) = p^2 Phi` up to fourth order in the stitched full space, of three magnitudes of p.
#[test]
fn derivatives_are_how_a_stitched_body_bends() {
    let bars = Bars::apart([4, 1, 1], true, 0.0);
    let stitches = bars.seam(1e3);
    let EditedModes { problem, modes, .. } = bars.stitched(&stitches, 3);
    let derivatives = problem.derivatives(&modes, &silent()).unwrap();
    let shape = modes.shapes.subcols(0, 1);
    let force = bars.stiffness(&stitches) * shape;
    let seen = [0.04, 0.02, 0.01].map(|share| {
        let p = share * bars.mesh.diagonal() / shape.norm_max();
        let [there, back] = [p, -p].map(|p| moved(&bars, &stitches, &force, (p, 1e-13)));
        there.iter().zip(&back).map(|(there, back)| (there + back) / (p * p)).collect()
    });
    assert_limit(&seen, derivatives.col_as_slice(0));
}

/// Equilibrium displacement of the stitched body under a multiple of a force in the full space, to a
/// tolerance.
fn moved(bars: &Bars, stitches: &Stitches, force: &Mat<f64>, (p, tolerance): (f64, f64)) -> Vec<f64> {
    let load: Vec<f64> =
        (0..force.nrows()).map(|i| if bars.pinned[i / 3] { 0.0 } else { p * force[(i, 0)] }).collect();
    let restraint = Restraint { pinned: Some(&bars.pinned), ..Restraint::default() };
    let extras = FullSpaceExtras { stitches: Some(stitches), ..FullSpaceExtras::default() };
    let model = FullSpaceModel::of(&bars.mesh, &bars.material, &restraint, &extras, &silent()).unwrap();
    let params = SimulationParams { tolerance, ..SimulationParams::default() };
    let mut sim = Simulation::new(Model::FullSpace(model.into()), params).unwrap();
    sim.settle(&StepInput { force: Some(&load), ..StepInput::default() }, 8000, &silent()).unwrap();
    sim.coefficients().to_vec()
}

/// Sine of the largest angle between the spans of mass-orthonormal columns.
fn sine(bars: &Bars, one: &Mat<f64>, other: &Mat<f64>) -> f64 {
    let mass = lumped_mass(&bars.mesh, &bars.material);
    let heavy = Mat::from_fn(one.nrows(), one.ncols(), |i, k| mass[i / 3] * one[(i, k)]);
    let rest = other - one * (heavy.transpose() * other);
    let weighed = Mat::from_fn(rest.nrows(), rest.ncols(), |i, k| mass[i / 3].sqrt() * rest[(i, k)]);
    weighed.singular_values().unwrap()[0]
}

/// The basis of a stitched body equals that of the exact decomposition of modes and derivatives, weighted
/// towards low frequencies; with old derivatives in place of most of the new ones it is nearly the same.
#[test]
fn a_basis_is_that_of_the_exact_decomposition() {
    let bars = Bars::new([8, 2, 2], false);
    let problem = bars.problem(&bars.none());
    let old = problem.lowest(22, &silent()).unwrap();
    let before = problem.derivatives(&old, &silent()).unwrap();
    let EditedModes { problem, modes, .. } = problem.stitched(&old, &bars.stitches(16, 1e4), 10).unwrap();
    let basis = problem.bent_basis(&modes, 20, &silent()).unwrap();
    let derivatives = problem.derivatives(&modes, &silent()).unwrap();
    let longest = modes.shapes.col_as_slice(0).as_chunks::<3>().0.iter();
    let longest = longest.map(|u| u.iter().map(|x| x * x).sum::<f64>().sqrt()).fold(0.0, f64::max);
    let share =
        |k: usize| 0.25 * bars.mesh.diagonal() / longest * modes.eigenvalues[0] / modes.eigenvalues[k];
    let mut snapshots = Vec::new();
    (0..10).for_each(|k| snapshots.extend(modes.shapes.col_as_slice(k).iter().map(|x| share(k) * x)));
    let pairs = (0..10).flat_map(|i| (i..10).map(move |j| [i, j]));
    for (column, [i, j]) in pairs.enumerate() {
        let weight = 0.5 * share(i) * share(j);
        snapshots.extend(derivatives.col_as_slice(column).iter().map(|x| weight * x));
    }
    let exact = Share { count: 20, ..Share::default() };
    let exact = mass_pca(&bars.mesh, &bars.material, &snapshots, exact, &silent()).unwrap();
    let apart = sine(&bars, &exact.columns, &basis.columns);
    assert!(apart < 1e-8, "{apart:e}");
    for (found, exact) in basis.singular_values.iter().zip(&exact.singular_values).take(20) {
        assert!((found / exact - 1.0).abs() < 1e-8, "{found}, not {exact}");
    }
    let mass = lumped_mass(&bars.mesh, &bars.material);
    let heavy = Mat::from_fn(basis.columns.nrows(), 20, |i, k| mass[i / 3] * basis.columns[(i, k)]);
    assert!((basis.columns.transpose() * heavy - Mat::<f64>::identity(20, 20)).norm_max() < 1e-12);
    // Part of each modal derivative outside the basis, weighted like the derivatives.
    let missed = |basis: &Basis| {
        let heavy = Mat::from_fn(basis.columns.nrows(), 20, |i, k| mass[i / 3] * basis.columns[(i, k)]);
        let all = Mat::from_fn(basis.columns.nrows(), 65, |i, k| snapshots[k * basis.columns.nrows() + i]);
        let rest = &all - &basis.columns * (heavy.transpose() * &all);
        let weigh =
            |x: &Mat<f64>| Mat::from_fn(x.nrows(), 65, |i, k| mass[i / 3].sqrt() * x[(i, k)]).norm_l2();
        weigh(&rest) / weigh(&all)
    };
    let carried = problem.carried_basis(&modes, before.as_ref(), 20, &silent()).unwrap();
    println!("missed: {:e} with new derivatives, {:e} with old ones", missed(&basis), missed(&carried));
    assert!(missed(&carried) < 0.02);
}

/// Weights per mass along several directions, m/s^2.
const WEIGHTS: [[f64; 3]; 4] = [[0.0, 0.0, -12.0], [0.0, 9.0, 9.0], [6.0, -10.0, 3.0], [-7.0, 4.0, -9.0]];

/// Equilibrium coefficients of bent poses of a reduced body under weights along several directions.
fn hangs(bars: &Bars, model: ReducedModel) -> Vec<Vec<f64>> {
    let mass = lumped_mass(&bars.mesh, &bars.material);
    let params = SimulationParams { tolerance: 1e-9, ..SimulationParams::default() };
    let columns = model.basis().columns.clone();
    let mut sim = Simulation::new(Model::Reduced(model.into()), params).unwrap();
    let hang = |weight: [f64; 3]| {
        let force = Mat::from_fn(columns.nrows(), 1, |i, _| mass[i / 3] * weight[i % 3]);
        let force = columns.transpose() * force;
        let input = StepInput { force: Some(force.col_as_slice(0)), ..StepInput::default() };
        sim.settle(&input, 4000, &silent()).unwrap();
        sim.coefficients().to_vec()
    };
    WEIGHTS.into_iter().map(hang).collect()
}

/// Distance between the shapes that hang in the full space and in a basis, relative to the former.
fn missed_hangs(bars: &Bars, stitches: &Stitches, basis: &Basis, exact: &[Vec<f64>]) -> f64 {
    let mass = lumped_mass(&bars.mesh, &bars.material);
    let square = |u: &[f64]| (0..u.len()).map(|i| mass[i / 3] * u[i] * u[i]).sum::<f64>();
    let missed = |(weight, exact): (&[f64; 3], &Vec<f64>)| {
        let rows = basis.columns.nrows();
        let force = Mat::from_fn(rows, 1, |i, _| mass[i / 3] * weight[i % 3]);
        let full = moved(bars, stitches, &force, (1.0, 1e-7));
        let along = |i: usize| (0..exact.len()).map(|k| basis.columns[(i, k)] * exact[k]).sum::<f64>();
        let apart: Vec<f64> = full.iter().enumerate().map(|(i, full)| full - along(i)).collect();
        square(&apart) / square(&full)
    };
    root_mean(WEIGHTS.iter().zip(exact).map(missed))
}

fn root_mean(squares: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = squares.len() as f64;
    (squares.sum::<f64>() / count).sqrt()
}

/// Tets and weights trained before there were stitches, with new bases after, keep the body at rest. The more
/// tets, the more it hangs as with all of them; with 15 for each displacement they err about as much as the
/// basis does.
fn check_cubature(cells: [usize; 3], sizes: &[usize], counts: &[usize]) {
    let bars = Bars::apart(cells, true, 0.0);
    let problem = bars.problem(&bars.none());
    let old = problem.lowest(24, &silent()).unwrap();
    let before = problem.derivatives(&old, &silent()).unwrap();
    let reduced = |basis: &Basis, extras: &ReducedExtras<'_>| {
        ReducedModel::new(&bars.mesh, &bars.material, basis, extras, &silent()).unwrap()
    };
    let basis = problem.bent_basis(&old, 30, &silent()).unwrap();
    let unstitched = reduced(&basis, &ReducedExtras::default());
    let coefficients = mixtures(&basis.singular_values);
    let shot = Shot { poses: &[], coefficients: &coefficients };
    // The choice of tets depends on rounding, and some choices fit a seam better than others.
    let trained = |tets| [0, 1, 2].map(|seed| unstitched.train(&shot, (tets, seed), &silent()).unwrap());
    let found: Vec<_> = sizes.iter().map(|&tets| trained(tets)).collect();
    for &count in counts {
        let stitches = bars.some_of_seam(1e5 / count as f64, count);
        let made = problem.stitched(&old, &stitches, 12).unwrap();
        let basis = made.problem.carried_basis(&made.modes, before.as_ref(), 30, &silent()).unwrap();
        let extras = ReducedExtras { stitches: Some(&stitches), ..ReducedExtras::default() };
        let all = reduced(&basis, &extras);
        let exact = hangs(&bars, reduced(&basis, &extras));
        let missed = missed_hangs(&bars, &stitches, &basis, &exact);
        let square = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
        let errors: Vec<f64> = found
            .iter()
            .map(|found| {
                let squares = found.iter().flat_map(|cubature| {
                    let few = all.sampled(cubature).unwrap();
                    assert!(stiffness_at_rest(&few) > 0.0);
                    let hangs = hangs(&bars, few);
                    let pairs = exact.iter().zip(&hangs);
                    pairs.map(|(x, y)| square(x, y) / square(x, &vec![0.0; x.len()])).collect::<Vec<_>>()
                });
                root_mean(squares.collect::<Vec<_>>().into_iter())
            })
            .collect();
        println!("{count} stitches: off by {errors:.4?} with {sizes:?} tets; the basis misses {missed:.4}");
        assert!(errors.is_sorted_by(|few, more| few > more), "{count} stitches: {errors:?}");
        assert!(errors[sizes.len() - 1] < 1.25 * missed, "{count} stitches: {errors:?}, {missed}");
    }
}

/// The hardest case is a single stitch, where nothing was strained before.
#[test]
fn a_cubature_outlives_a_stitch() {
    check_cubature([8, 5, 5], &[60, 150], &[1]);
}

#[test]
#[ignore = "long: bodies of more tets, and up to a stitch for each of the 100 vertices of a seam"]
fn a_cubature_outlives_stitches() {
    check_cubature([12, 9, 9], &[60, 120, 225, 450], &[1, 10, 100]);
}

/// Sixty states that mix all displacements.
fn mixtures(values: &[f64]) -> Vec<f64> {
    let share = |f: usize, k: usize| (0.7 * (f + 1) as f64 * (k as f64 + 1.3).sqrt() + k as f64).sin();
    (0..60).flat_map(|f| (0..30).map(move |k| 0.15 * values[k] * share(f, k))).collect()
}

/// The lowest eigenvalue of the stiffness at rest, by differences of forces.
fn stiffness_at_rest(model: &ReducedModel) -> f64 {
    let r = model.displacement_count();
    let step = 1e-6;
    let force = |k: usize, by: f64| {
        let q: Vec<f64> = (0..r).map(|j| if j == k { by } else { 0.0 }).collect();
        model.elastic_energy(&q, None, 0.0).unwrap().1
    };
    let columns: Vec<[Vec<f64>; 2]> = (0..r).map(|k| [force(k, step), force(k, -step)]).collect();
    let slope = |i: usize, k: usize| (columns[k][0][i] - columns[k][1][i]) / (2.0 * step);
    let hessian = Mat::from_fn(r, r, |i, k| 0.5 * (slope(i, k) + slope(k, i)));
    hessian.self_adjoint_eigenvalues(Side::Lower).unwrap()[0]
}

/// In a complete basis a reduced body with stitches hangs as in the full space.
#[test]
fn a_reduced_body_has_stitches_exactly() {
    let bars = Bars::apart([3, 1, 1], true, 0.0);
    let stitches = bars.seam(2e2);
    let free = bars.free();
    let shapes: Vec<f64> = free
        .iter()
        .flat_map(|&row| (0..3 * bars.pinned.len()).map(move |i| f64::from(u8::from(i == row))))
        .collect();
    let basis = Basis::from_shapes(&shapes, free.len()).unwrap();
    let extras = ReducedExtras { stitches: Some(&stitches), ..ReducedExtras::default() };
    let model = ReducedModel::new(&bars.mesh, &bars.material, &basis, &extras, &silent()).unwrap();
    let weight = Mat::from_fn(3 * bars.pinned.len(), 1, |i, _| if i % 3 == 2 { -1.5 } else { 0.4 });
    let exact = moved(&bars, &stitches, &weight, (1.0, 1e-13));
    let force: Vec<f64> = free.iter().map(|&row| weight[(row, 0)]).collect();
    let params = SimulationParams { tolerance: 1e-12, ..SimulationParams::default() };
    let mut sim = Simulation::new(Model::Reduced(model.into()), params).unwrap();
    sim.settle(&StepInput { force: Some(&force), ..StepInput::default() }, 8000, &silent()).unwrap();
    let most = exact.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
    assert!(most > 0.02, "{most}");
    for (found, &row) in sim.coefficients().iter().zip(&free) {
        assert!((found - exact[row]).abs() < 1e-4 * most, "{found}, not {} of {most}", exact[row]);
    }
}
