//! Stitches that open during the motion, against bodies built with the remaining stiffness.

use jounce::file;
use jounce::inputs::{Shares, SimulationParams, StepInput};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::Stitches;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, swing};

const GROUPS: [u32; 3] = [0, 1, 1];
const STIFFNESS: [f64; 3] = [3e3, 1e4, 2e2];
const GAPS: [f64; 3] = [0.0, 1.0, 0.4];

/// Springs across the bar, which the motion opens, with shares of their stiffness; springs with a share of
/// zero are left out.
fn stitches(body: &Body, shares: [f64; 2], gaps: [f64; 3]) -> Stitches {
    let pairs = [[2, 29], [15, 113], [44, 141]];
    let kept: Vec<usize> = (0..3).filter(|&s| shares[GROUPS[s] as usize] > 0.0).collect();
    let of = |numbers: &dyn Fn(usize) -> f64| kept.iter().map(|&s| numbers(s)).collect::<Vec<_>>();
    let stiffness = of(&|s| STIFFNESS[s] * shares[GROUPS[s] as usize]);
    let pairs: Vec<[u32; 2]> = kept.iter().map(|&s| pairs[s]).collect();
    let groups: Vec<u32> = kept.iter().map(|&s| GROUPS[s]).collect();
    let made = Stitches::between_vertices(&body.mesh, &pairs, &stiffness, &of(&|s| gaps[s])).unwrap();
    made.in_groups(&groups).unwrap()
}

fn draft(body: &Body, shares: [f64; 2]) -> Model {
    let stitches = stitches(body, shares, GAPS);
    let extras = Extras { stitches: Some(&stitches), ..Extras::default() };
    let (modes, labels) = (&body.modes, &body.labels);
    let rig = Some(&body.rig);
    Model::Skinning(
        SkinningModel::with_extras(&body.mesh, &body.material, modes, labels, rig, &extras).unwrap().into(),
    )
}

/// The full space, attached to its rig or free.
fn full_space(body: &Body, shares: [f64; 2], gaps: [f64; 3], hung: bool) -> Model {
    let stitches = stitches(body, shares, gaps);
    let rig = hung.then_some(&body.rig);
    let restraint = Restraint { rig, ..Restraint::default() };
    let extras = FullSpaceExtras { rig, stitches: Some(&stitches), ..FullSpaceExtras::default() };
    let model = FullSpaceModel::of(&body.mesh, &body.material, &restraint, &extras, &Progress::default());
    Model::FullSpace(model.unwrap().into())
}

fn shares(each: [f64; 2]) -> Shares {
    Shares::of_each("stitching", &each).unwrap()
}

/// Coefficients and energies of all frames, given the shares of each frame.
fn motion(
    model: Model,
    params: SimulationParams,
    frames: usize,
    stitching: impl Fn(usize) -> Shares,
) -> Vec<(Vec<f64>, f64)> {
    let posed = model.bone_count() > 0;
    let mut sim = Simulation::new(model, params).unwrap();
    let play = |frame: usize| {
        sim.set_params(SimulationParams { stitching: stitching(frame), ..params }).unwrap();
        let pose = swing(0.25 * (frame as f64 / 4.0).sin());
        let input = StepInput { pose: posed.then_some(&pose[..]), ..StepInput::default() };
        let report = sim.step_with(&input, &Progress::default()).unwrap();
        (sim.coefficients().to_vec(), report.energy)
    };
    (0..frames).map(play).collect()
}

fn apart(one: &[(Vec<f64>, f64)], other: &[(Vec<f64>, f64)]) -> f64 {
    let size = one.iter().flat_map(|frame| &frame.0).fold(0.0, |a: f64, x| a.max(x.abs()));
    let pairs = one.iter().zip(other).flat_map(|(a, b)| a.0.iter().zip(&b.0));
    pairs.fold(0.0, |a: f64, (x, y)| a.max((x - y).abs())) / size
}

fn settings() -> [SimulationParams; 4] {
    let params =
        SimulationParams { damping: 0.2, tolerance: 1e-10, max_iterations: 400, ..Default::default() };
    [
        params,
        SimulationParams { substeps: 3, stiffness: 0.3, pose_rest: 0.4, ..params },
        SimulationParams { gravity: [0.0, -9.8, 1.0], damping: 0.0, ..params },
        SimulationParams { integrator: jounce::inputs::Integrator::Bdf2, ..params },
    ]
}

#[test]
fn open_stitches_move_as_those_that_are_built_so() {
    for body in Body::bars() {
        // One built without any stitch is damped at its local frequencies.
        for (left, params) in [[0.3, 0.6], [0.0, 1.0], [1e-3, 0.0], [1e-9, 0.0]]
            .into_iter()
            .flat_map(|left| settings().map(|p| (left, p)))
        {
            let opened = motion(draft(&body, [1.0; 2]), params, 16, |_| shares(left));
            let built = motion(draft(&body, left), params, 16, |_| 1.0.into());
            let closed = motion(draft(&body, [1.0; 2]), params, 16, |_| 1.0.into());
            assert!(apart(&closed, &opened) > 1e-3, "{left:?}");
            assert!(apart(&built, &opened) < 1e-6, "{left:?} {params:?}: {}", apart(&built, &opened));
            for (one, other) in built.iter().zip(&opened).skip(2) {
                assert!((one.1 - other.1).abs() < 1e-5 * one.1.abs().max(1.0), "{} {}", one.1, other.1);
            }
        }
    }
}

#[test]
fn every_vertex_feels_them_too() {
    let body = Body::bar();
    for (left, hung) in [([0.3, 0.6], true), ([0.0, 1.0], true), ([0.0, 1e-3], false)] {
        let model = |shares| full_space(&body, shares, GAPS, hung);
        let params = SimulationParams {
            tolerance: 1e-9,
            max_iterations: 2000,
            gravity: if hung { [0.0, -9.8, 0.0] } else { [0.0; 3] },
            ..Default::default()
        };
        // Damping by the metric's stiffness refers to the frequency of the body as built.
        let frequency = |shares| match model(shares) {
            Model::FullSpace(model) => model.frequency(),
            _ => unreachable!(),
        };
        let damping = if hung { 0.0 } else { 0.1 };
        let other = damping * frequency(left) / frequency([1.0; 2]);
        let moved = |model: Model, damping: f64, shares: Shares| {
            let mut sim = Simulation::new(model, SimulationParams { damping, ..params }).unwrap();
            // Free flesh starts bent by a force that then ends.
            let force: Vec<f64> =
                (0..3 * body.mesh.vertices().len()).map(|i| 0.3 * (i as f64).sin()).collect();
            let play = |frame: usize| {
                sim.set_params(SimulationParams { damping, stitching: shares, ..params }).unwrap();
                let pose = swing(0.25 * (frame as f64 / 4.0).sin());
                let input = StepInput {
                    pose: hung.then_some(&pose[..]),
                    force: (!hung && frame < 4).then_some(&force[..]),
                    ..StepInput::default()
                };
                let energy = sim.step_with(&input, &Progress::default()).unwrap().energy;
                (sim.coefficients().to_vec(), energy)
            };
            (0..10).map(play).collect::<Vec<_>>()
        };
        let opened = moved(model([1.0; 2]), damping, shares(left));
        let built = moved(model(left), other, 1.0.into());
        let closed = moved(model([1.0; 2]), damping, 1.0.into());
        assert!(apart(&closed, &opened) > 1e-3, "{left:?}: {}", apart(&closed, &opened));
        assert!(apart(&built, &opened) < 2e-5, "{left:?}: {}", apart(&built, &opened));
    }
}

/// Shares over time: closed, opening over some frames in mid-swing, open, and closed again.
fn zipper(frame: usize) -> Shares {
    let share = (1.0 - (frame as f64 - 6.0) / 5.0).clamp(0.0, 1.0);
    if frame > 14 { 1.0.into() } else { shares([share, 1.0]) }
}

#[test]
fn shares_of_one_change_no_bit() {
    let body = Body::bar();
    for model in [draft(&body, [1.0; 2]), full_space(&body, [1.0; 2], GAPS, true)] {
        let plain = motion(model.clone(), settings()[0], 8, |_| 1.0.into());
        assert_eq!(plain, motion(model, settings()[0], 8, |_| shares([1.0; 2])));
    }
}

#[test]
fn what_was_open_is_replayed_bit_for_bit_from_any_frame() {
    let body = Body::bar();
    for model in [draft(&body, [1.0; 2]), full_space(&body, [1.0; 2], GAPS, true)] {
        let params = SimulationParams { tolerance: 1e-6, max_iterations: 50, ..settings()[0] };
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let step = |sim: &mut Simulation, frame: usize| {
            sim.set_params(SimulationParams { stitching: zipper(frame), ..params }).unwrap();
            let pose = swing(0.25 * (frame as f64 / 4.0).sin());
            sim.step_with(&StepInput { pose: Some(&pose), ..StepInput::default() }, &Progress::default())
                .unwrap();
            sim.coefficients().to_vec()
        };
        let mut states = Vec::new();
        let whole: Vec<Vec<f64>> = (0..20)
            .map(|frame| {
                states.push(sim.save_state());
                step(&mut sim, frame)
            })
            .collect();
        // Backwards, so that each frame follows one with other shares.
        for frame in (0..20).rev() {
            sim.restore_state(&states[frame]).unwrap();
            assert_eq!(step(&mut sim, frame), whole[frame], "{frame}");
            let mut fresh = Simulation::new(model.clone(), params).unwrap();
            fresh.restore_state(&states[frame]).unwrap();
            assert_eq!(step(&mut fresh, frame), whole[frame], "{frame}");
        }
    }
}

#[test]
fn tearing_in_mid_swing_is_continuous() {
    let body = Body::bar();
    for model in [draft(&body, [1.0; 2]), full_space(&body, [1.0; 2], [0.0; 3], true)] {
        let params = settings()[0];
        // The sixth frame after a small loss of stiffness, and after half that loss.
        let torn = |left: f64| {
            let open = |frame: usize| if frame < 6 { 1.0.into() } else { shares([left, left]) };
            motion(model.clone(), params, 7, open)[6].0.clone()
        };
        let whole = torn(1.0);
        let moved = |left: f64| {
            let pairs = torn(left).into_iter().zip(&whole);
            pairs.fold(0.0, |a: f64, (x, y)| a.max((x - y).abs()))
        };
        let ratio = moved(1.0 - 1e-3) / moved(1.0 - 5e-4);
        assert!((ratio - 2.0).abs() < 0.02, "{ratio}");
        // The effect of opening per frame vanishes in proportion to the share opened in the frame.
        let at =
            |frame: usize, frames: f64| shares([(1.0 - (frame as f64 - 5.0) / frames).clamp(0.0, 1.0); 2]);
        let jump = |frames: f64| {
            let mut sim = Simulation::new(model.clone(), params).unwrap();
            let step = |sim: &mut Simulation, stitching: Shares, frame: usize| {
                sim.set_params(SimulationParams { stitching, ..params }).unwrap();
                let pose = swing(0.25 * (frame as f64 / 4.0).sin());
                sim.step_with(&StepInput { pose: Some(&pose), ..StepInput::default() }, &Progress::default())
                    .unwrap();
            };
            let mut most = 0.0_f64;
            for frame in 0..7 + frames as usize {
                // The same frame twice: with the shares of the previous frame, and with its own.
                let before = sim.save_state();
                let found = [frame.max(1) - 1, frame].map(|felt| {
                    sim.restore_state(&before).unwrap();
                    step(&mut sim, at(felt, frames), frame);
                    sim.coefficients().to_vec()
                });
                most = found[0].iter().zip(&found[1]).fold(most, |a, (x, y)| a.max((x - y).abs()));
            }
            most
        };
        let jumps = [1.0, 160.0, 640.0, 1280.0].map(jump);
        assert!(jumps.is_sorted_by(|a, b| a > b) && jumps[3] < 0.1 * jumps[0], "{jumps:?}");
        assert!(jumps[2] > 1.8 * jumps[3], "{jumps:?}");
    }
}

#[test]
fn files_keep_groups_and_open_those_from_before() {
    let body = Body::bar();
    for model in [draft(&body, [1.0; 2]), full_space(&body, [1.0; 2], GAPS, true)] {
        let loaded = file::decode(&file::encode(&model).unwrap()).unwrap();
        assert_eq!(loaded.stitch_group_count(), 2);
        let play = |model| motion(model, settings()[0], 18, zipper);
        assert_eq!(play(model), play(loaded));
    }
    let (rank, handles) = match draft(&body, [1.0; 2]) {
        Model::Skinning(model) => (model.rank(), 8),
        _ => unreachable!(),
    };
    let springs = (16 + 8 * 3 * rank) + (16 + 8 * 3 * handles) + (8 + 8 * 3) + (8 + 4 * 3);
    let bytes = file::encode(&draft(&body, [1.0; 2])).unwrap();
    let mut old = bytes[..bytes.len() - 8 - springs].to_vec();
    let length = old.len() as u64 - 24;
    old[16..24].copy_from_slice(&length.to_le_bytes());
    let hash = old.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    old.extend(hash.to_le_bytes());
    let old = file::decode(&old).unwrap();
    assert_eq!(old.stitch_group_count(), 0);
    let play = |model| motion(model, settings()[0], 8, |_| 1.0.into());
    assert_eq!(play(draft(&body, [1.0; 2])), play(old.clone()));
    let open = SimulationParams { stitching: 0.5.into(), ..SimulationParams::default() };
    assert!(refused(Simulation::new(old, open)).contains("built with stitches"));
}

fn refused<T>(made: Result<T, Error>) -> String {
    made.err().unwrap().to_string()
}

#[test]
fn what_makes_no_sense_is_refused() {
    let body = Body::bar();
    let model = draft(&body, [1.0; 2]);
    let with = |stitching: Shares| {
        Simulation::new(model.clone(), SimulationParams { stitching, ..Default::default() })
    };
    assert!(refused(with(1.5.into())).contains("stitching: expected a number in [0, 1]"));
    assert!(refused(with(f64::NAN.into())).contains("stitching"));
    assert!(refused(with(Shares::of_each("stitching", &[0.5; 3]).unwrap())).contains("(2,)"));
    assert!(refused(Shares::of_each("stitching", &[])).contains("stitching"));
    let made = stitches(&body, [1.0; 2], [0.0; 3]);
    assert!(refused(made.clone().in_groups(&[0, 1])).contains("(3,)"));
    assert!(refused(made.in_groups(&[0, 1, 32])).contains("below 32"));
    let open = SimulationParams { stitching: 0.5.into(), ..Default::default() };
    assert!(refused(Simulation::new(body.model(), open)).contains("built with stitches"));
}
