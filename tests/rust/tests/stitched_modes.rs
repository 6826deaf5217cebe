//! Linear modes of bodies stitched after their factorisation, against those factored with their stitches.

use faer::{Mat, Side};
use jounce::operators::{Stitches, displacement_constraint, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::subspace::{EditedModes, LinearModes, LinearProblem, Restraint};
use jounce::{Error, Progress};
use jounce_tests::bodies::bar;
use jounce_tests::boxes::weights_along_x;
use jounce_tests::sewn::Bars;

fn silent() -> Progress {
    Progress::default()
}

/// Relative errors of eigenvalues, ascending; those near zero are relative to the first that is not.
fn errors(found: &LinearModes, exact: &LinearModes) -> Vec<f64> {
    let slowest = exact.eigenvalues.iter().copied().find(|&value| value > 1e-3).unwrap();
    let pairs = found.eigenvalues.iter().zip(&exact.eigenvalues);
    let mut errors: Vec<f64> =
        pairs.map(|(found, exact)| (found - exact).abs() / exact.max(slowest)).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

#[test]
fn modes_with_stitches_are_those_of_the_dense_problem() {
    let bars = Bars::new([4, 2, 2], false);
    let stitches = bars.stitches(5, 3e3);
    let (mass, free) = (lumped_mass(&bars.mesh, &bars.material), bars.free());
    let stiffness = bars.stiffness(&stitches);
    let scaled = Mat::from_fn(free.len(), free.len(), |i, j| {
        stiffness[(free[i], free[j])] / (mass[free[i] / 3] * mass[free[j] / 3]).sqrt()
    });
    let expected = scaled.self_adjoint_eigenvalues(Side::Lower).unwrap();
    let modes = bars.modes(&stitches, 12);
    for (found, expected) in modes.eigenvalues.iter().zip(&expected) {
        assert!((found / expected - 1.0).abs() < 1e-7, "{found}, not {expected}");
    }
}

/// Stitches to a free component turn its six rigid motions into slow modes of the whole. Tested at three
/// resolutions, because the paper's update loses accuracy as the mesh is refined.
#[test]
fn updated_modes_are_those_of_a_body_factored_with_its_stitches() {
    for cells in [[6, 2, 2], [9, 3, 3], [18, 6, 6]] {
        for both in [false, true] {
            let bars = Bars::new(cells, both);
            let problem = bars.problem(&bars.none());
            let old = problem.lowest(32, &silent()).unwrap();
            for (count, stiffness) in [(1, 1e3), (10, 1e2), (10, 1e4), (100, 1e2), (100, 1e7)] {
                let stitches = bars.stitches(count, stiffness);
                let exact = bars.modes(&stitches, 20);
                let EditedModes { modes, residuals, .. } = problem.stitched(&old, &stitches, 20).unwrap();
                let found = errors(&modes, &exact);
                println!(
                    "{cells:?} {both} {count} of {stiffness:e}: median {:e}, worst {:e}",
                    found[10], found[19]
                );
                assert!(found[10] < 1e-3 && found[19] < 1e-2, "{count} of {stiffness}: {found:?}");
                let worst = residuals.iter().copied().fold(0.0, f64::max);
                assert!(found[19] < 10.0 * worst + 1e-8, "{found:?} {residuals:?}");
            }
        }
    }
}

#[test]
fn figure_7_no_zero_mode_is_left_of_a_free_part_that_is_sewn_on() {
    let bars = Bars::new([6, 2, 2], false);
    let zeros = |modes: &LinearModes| modes.eigenvalues.iter().filter(|&&value| value < 1e-3).count();
    assert_eq!(zeros(&bars.modes(&bars.none(), 20)), 6);
    // One point alone leaves three rotations, two leave one, about the line through both.
    for (count, left) in [(1, 3), (2, 1), (9, 0)] {
        let stitches = bars.stitches(count, 1e4);
        let modes = bars.stitched(&stitches, 12).modes;
        assert_eq!(zeros(&modes), left, "{count}: {:?}", modes.eigenvalues);
        assert_eq!(zeros(&bars.modes(&stitches, 12)), left);
    }
}

#[test]
fn an_update_keeps_to_mass_rig_and_pins() {
    let bars = Bars::new([6, 2, 2], false);
    let n = bars.mesh.vertices().len();
    let rig = Rig::new(n, 2, &weights_along_x(&bars.mesh, 2)).unwrap();
    let restraint = Restraint { rig: Some(&rig), pinned: Some(&bars.pinned), leak: None };
    let problem =
        LinearProblem::new(&bars.mesh, &bars.material, &restraint, &bars.none(), &silent()).unwrap();
    let old = problem.lowest(20, &silent()).unwrap();
    let shapes = problem.stitched(&old, &bars.stitches(10, 1e4), 10).unwrap().modes.shapes;
    let mass = lumped_mass(&bars.mesh, &bars.material);
    let heavy = Mat::from_fn(3 * n, 10, |i, k| mass[i / 3] * shapes[(i, k)]);
    assert!((shapes.transpose() * &heavy - Mat::<f64>::identity(10, 10)).norm_max() < 1e-10);
    let still = (0..3 * n).filter(|row| bars.pinned[row / 3]);
    still.for_each(|row| assert!((0..10).all(|k| shapes[(row, k)] == 0.0)));
    let leak = momentum_leak(&bars.mesh).unwrap();
    let columns = displacement_constraint(&bars.mesh, &mass, &rig, &leak).unwrap().to_dense();
    for c in 0..3 {
        let along = columns.transpose() * Mat::from_fn(n, 10, |v, k| shapes[(3 * v + c, k)]);
        assert!(along.norm_max() < 1e-9 * columns.norm_max() * shapes.norm_max(), "{:e}", along.norm_max());
    }
}

/// An edit starts from the factored body, so any order of edits, and their reversal, gives equal bits.
#[test]
fn edits_know_no_order_and_are_undone_bit_for_bit() {
    let bars = Bars::new([6, 2, 2], false);
    let problem = bars.problem(&bars.none());
    let old = problem.lowest(24, &silent()).unwrap();
    let [few, many] = [3, 12].map(|count| bars.stitches(count, 1e4));
    let at_once = problem.stitched(&old, &many, 12).unwrap();
    let first = problem.stitched(&old, &few, 12).unwrap();
    let then = first.problem.stitched(&first.modes, &many, 12).unwrap();
    assert_eq!(then.modes, at_once.modes);
    let back = then.problem.stitched(&then.modes, &bars.none(), 12).unwrap();
    assert_eq!(back.modes.eigenvalues, old.eigenvalues[..12]);
    assert_eq!(back.modes.shapes, old.shapes.subcols(0, 12));
    // The same from a body factored with stitches, others or none.
    let with = bars.problem(&few);
    let old = with.lowest(24, &silent()).unwrap();
    for stitches in [many, bars.none()] {
        let found = errors(&with.stitched(&old, &stitches, 12).unwrap().modes, &bars.modes(&stitches, 12));
        assert!(found[11] < 1e-2, "{found:?}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let bars = Bars::new([9, 3, 3], false);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let EditedModes { problem, modes, residuals, .. } = bars.stitched(&bars.stitches(20, 1e4), 8);
            let derivatives = problem.derivatives(&modes, &silent()).unwrap();
            (modes, residuals, derivatives)
        })
    };
    assert!(on(1) == on(2));
}

/// Two stitched halves, with a zero mode for each free motion of the second, vibrate like one bar.
#[test]
fn figure_1_two_bodies_sewn_together_are_one() {
    let halves = Bars::apart([8, 3, 3], false, 0.0);
    let sewn = halves.stitched(&halves.seam(1e6), 12).modes;
    let mesh = bar([16, 3, 3], 0.2 / 3.0);
    let pinned: Vec<bool> = mesh.vertices().iter().map(|v| v[0] < 1e-9).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let problem =
        LinearProblem::new(&mesh, &halves.material, &restraint, &Stitches::none(&mesh), &silent()).unwrap();
    let one = problem.lowest(12, &silent()).unwrap();
    let found = errors(&sewn, &one);
    println!("sewn against one: {found:?}");
    assert!(found[6] < 2e-3 && found[11] < 1e-2);
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let bars = Bars::new([4, 1, 1], false);
    let other = Bars::new([5, 1, 1], false);
    let problem = bars.problem(&bars.none());
    let old = problem.lowest(12, &silent()).unwrap();
    let stitches = bars.stitches(4, 1e4);
    let refused = |modes: &LinearModes, stitches: &Stitches, count| {
        problem.stitched(modes, stitches, count).err().unwrap()
    };
    assert!(matches!(refused(&old, &other.none(), 6), Error::Shape { what: "stitches", .. }));
    assert!(matches!(
        refused(&other.modes(&other.none(), 12), &stitches, 6),
        Error::Shape { what: "modes", .. }
    ));
    assert!(matches!(refused(&old, &stitches, 0), Error::Range { .. }));
    assert!(matches!(refused(&old, &stitches, 13), Error::Range { .. }));
    let before = problem.derivatives(&old, &silent()).unwrap();
    assert!(matches!(
        problem.carried_derivatives(before.as_ref(), &silent()),
        Err(Error::Unsupported { .. })
    ));
    let made = problem.stitched(&old, &stitches, 6).unwrap();
    let fewer = before.subcols(0, 3);
    assert!(matches!(made.problem.carried_derivatives(fewer, &silent()), Err(Error::Shape { .. })));
    assert!(matches!(made.problem.carried_basis(&made.modes, fewer, 5, &silent()), Err(Error::Shape { .. })));
    // The factor contains removed stitches that held the body.
    let with = bars.problem(&stitches);
    let loose = with.stitched(&with.lowest(14, &silent()).unwrap(), &bars.none(), 10).unwrap();
    assert!(matches!(loose.problem.derivatives(&loose.modes, &silent()), Err(Error::Unsupported { .. })));
}

#[test]
fn extreme_stitches_bring_no_nan() {
    let bars = Bars::new([4, 1, 1], false);
    let problem = bars.problem(&bars.none());
    let old = problem.lowest(16, &silent()).unwrap();
    for stiffness in [1e-300, 1e-12, 1e12, 1e15] {
        for count in [1, 30] {
            let Ok(made) = problem.stitched(&old, &bars.stitches(count, stiffness), 8) else { continue };
            assert!(made.modes.shapes.is_all_finite() && made.residuals.iter().all(|r| r.is_finite()));
            if let Ok(derivatives) = made.problem.derivatives(&made.modes, &silent()) {
                assert!(derivatives.is_all_finite());
            }
        }
    }
}
