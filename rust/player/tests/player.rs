//! A player moves as a simulation does, at any frame time, and changes its level of detail without a jump.

mod common;

use common::{Pose, apart, largest, model_file, points, pose};
use jounce::Progress;
use jounce::body::standard;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::mesh::Embedding;
use jounce::simulation::Simulation;
use jounce_player::{Player, Setting};

const FRAME: f64 = 1.0 / 60.0;

fn player(modes: usize) -> Player {
    let mut player = Player::load(&model_file(modes)).unwrap();
    player.attach(points()).unwrap();
    player
}

/// Displacements after some frames of a length.
fn moved(player: &mut Player, frames: usize, seconds: f64) -> Vec<f32> {
    let mut out = vec![0.0; 3 * player.points()];
    (0..=frames).for_each(|frame| player.step(&pose(frame as f64 * seconds), seconds).unwrap());
    player.displace(&mut out).unwrap();
    out
}

fn shown(player: &mut Player) -> Vec<f32> {
    let mut out = vec![0.0; 3 * player.points()];
    player.displace(&mut out).unwrap();
    out
}

/// Displacements in 300 frames of a simulation with the settings of a player, but for the limit of stretch.
fn simulated(stretch: Option<f64>, pose: impl Fn(f64) -> Pose) -> Vec<Vec<f32>> {
    let model = jounce::file::decode(&model_file(12)).unwrap();
    let embedding = Embedding::new(model.mesh().unwrap(), points()).unwrap();
    let projector = model.projector(Some(&embedding)).unwrap();
    let params = SimulationParams { dt: FRAME, substeps: 2, stretch, ..standard::motion() };
    let mut simulation = Simulation::new(model, params).unwrap();
    let (start, next) = (pose(0.0), pose(FRAME));
    let [start, next] = [&start, &next].map(|pose| StepInput { pose: Some(pose), ..StepInput::default() });
    simulation.settle(&start, 100, &Progress::default()).unwrap();
    simulation.coast(&next).unwrap();
    let frame = |frame: u32| {
        simulation.step(Some(&pose(f64::from(frame) * FRAME))).unwrap();
        let mut out = vec![0.0; 3 * points().len()];
        projector.displacement(simulation.coefficients(), &mut out).unwrap();
        out
    };
    (1..=300).map(frame).collect()
}

/// The same of a player.
fn played(stretch: f64, pose: impl Fn(f64) -> Pose) -> Vec<Vec<f32>> {
    let mut player = player(12);
    player.set(Setting::Stretch, stretch).unwrap();
    player.step(&pose(0.0), FRAME).unwrap();
    let frame = |frame: u32| {
        player.step(&pose(f64::from(frame) * FRAME), FRAME).unwrap();
        shown(&mut player)
    };
    (1..=300).map(frame).collect()
}

/// Largest difference of two motions.
fn farthest(a: &[Vec<f32>], b: &[Vec<f32>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
}

#[test]
fn a_player_moves_as_a_simulation_does_for_300_frames() {
    let theirs = simulated(Some(standard::STRETCH), pose);
    let most = theirs.iter().map(|frame| largest(frame)).fold(0.0, f64::max);
    let worst = farthest(&theirs, &played(standard::STRETCH, pose));
    assert!(most > 0.01, "the bar moves by {most} m");
    assert!(worst <= 1e-6, "the player is {worst} m from the simulation");
}

/// Files of characters have poses in 32 bits: a place at its limit moves with them as without the rounding.
#[test]
fn a_player_of_rounded_poses_moves_as_a_simulation_does_at_the_limit_of_stretch() {
    let violent = |seconds: f64| -> Pose {
        let mut pose = pose(seconds);
        pose.iter_mut().for_each(|bone| bone[2][3] += 0.4 * (17.0 * seconds).sin());
        pose
    };
    let rounded = |seconds: f64| -> Pose {
        violent(seconds).into_iter().map(|bone| bone.map(|row| row.map(|x| f64::from(x as f32)))).collect()
    };
    let free = simulated(None, violent);
    for limit in [0.2, 0.1, 0.05] {
        let theirs = simulated(Some(limit), violent);
        let (acts, worst) = (farthest(&theirs, &free), farthest(&theirs, &played(limit, rounded)));
        println!("limit {limit}: acts {acts} m, apart {worst:e} m");
        assert!(acts > 0.01, "a limit of {limit} changes {acts} m");
        // The bar is 2.1 m across.
        assert!(worst <= 2e-5, "the player is {worst} m from the simulation at a limit of {limit}");
    }
}

#[test]
fn another_player_of_a_body_moves_as_the_first_and_on_its_own() {
    let mut first = player(12);
    let mut second = first.another();
    let alone = moved(&mut first, 30, FRAME);
    assert!(largest(&alone) > 1e-3 && shown(&mut second).iter().all(|u| *u == 0.0));
    assert_eq!(moved(&mut second, 30, FRAME), alone);
    second.set(Setting::Modes, 8.0).unwrap();
    assert_eq!((first.moving_modes(), second.moving_modes()), (12, 8));
}

#[test]
fn frames_of_any_length_show_nearly_the_same_motion() {
    let fine = moved(&mut player(12), 240, 1.0 / 240.0);
    let size = largest(&fine);
    assert!(size > 0.01);
    for rate in [30.0, 60.0, 96.0, 144.0] {
        let other = moved(&mut player(12), rate as usize, 1.0 / rate);
        assert!(apart(&fine, &other) < 0.25 * size, "at {rate} frames a second {}", apart(&fine, &other));
    }
    // Frames of changing length: nothing is kicked by the change.
    let mut uneven = player(12);
    let (mut time, mut frame) = (0.0, 0);
    uneven.step(&pose(0.0), 0.01).unwrap();
    while time < 1.0 - 1e-9 {
        let seconds = f64::min([0.005, 0.021, 0.012, 0.034][frame % 4], 1.0 - time);
        (time, frame) = (time + seconds, frame + 1);
        uneven.step(&pose(time), seconds).unwrap();
    }
    let other = shown(&mut uneven);
    assert!(apart(&fine, &other) < 0.25 * size, "{} of {size}", apart(&fine, &other));
}

#[test]
fn a_level_of_detail_changes_without_a_jump() {
    let mut player = player(24);
    let mut before = moved(&mut player, 30, FRAME);
    let mut usual = 0.0_f64;
    let mut largest_jump = 0.0_f64;
    for frame in 31..=330 {
        if frame % 30 == 15 {
            let modes = [24.0, 8.0, 0.0, 24.0, 8.0][frame / 30 % 5];
            player.set(Setting::Modes, modes).unwrap();
            let kept = shown(&mut player);
            assert!(apart(&kept, &before) < 1e-6, "the change itself moves nothing");
            assert_eq!(player.moving_modes(), modes as usize);
        }
        player.step(&pose(frame as f64 * FRAME), FRAME).unwrap();
        let now = shown(&mut player);
        let jump = apart(&now, &before);
        if frame % 30 >= 15 && frame % 30 < 18 {
            largest_jump = largest_jump.max(jump);
        } else {
            usual = usual.max(jump);
        }
        before = now;
    }
    assert!(usual > 1e-3, "the bar moves by {usual} m a frame");
    assert!(largest_jump < 1.5 * usual, "a change moves {largest_jump} m in a frame, motion {usual}");
}

#[test]
fn a_still_body_sleeps_and_wakes_with_its_bones() {
    let mut player = player(12);
    moved(&mut player, 30, FRAME);
    let held = pose(30.0 * FRAME);
    let asleep = (0..6000).position(|_| {
        player.step(&held, FRAME).unwrap();
        player.is_asleep()
    });
    assert!(asleep.is_some(), "the body falls asleep");
    let before = shown(&mut player);
    player.step(&held, FRAME).unwrap();
    assert_eq!(before, shown(&mut player));
    for frame in 31..60 {
        player.step(&pose(f64::from(frame) * FRAME), FRAME).unwrap();
    }
    assert!(!player.is_asleep());
    assert!(apart(&before, &shown(&mut player)) > 1e-3, "the body wakes");
}

#[test]
fn a_teleport_kicks_nothing() {
    let far = |seconds: f64| {
        let mut pose = pose(seconds);
        pose.iter_mut().for_each(|bone| bone[0][3] += 50.0);
        pose
    };
    let (mut stayed, mut stepped, mut player) = (player(12), player(12), player(12));
    let before = moved(&mut player, 60, FRAME);
    moved(&mut stayed, 60, FRAME);
    moved(&mut stepped, 60, FRAME);
    player.teleport(&far(1.0)).unwrap();
    assert!(apart(&before, &shown(&mut player)) < 1e-4);
    player.step(&far(1.0 + FRAME), FRAME).unwrap();
    stepped.step(&far(1.0 + FRAME), FRAME).unwrap();
    stayed.step(&pose(1.0 + FRAME), FRAME).unwrap();
    let expected = shown(&mut stayed);
    let (landed, kicked) = (apart(&expected, &shown(&mut player)), apart(&expected, &shown(&mut stepped)));
    assert!(kicked > 10.0 * landed, "{landed} m off one that stayed, and {kicked} m by a step over the way");
    // A pause of the program is a teleport too.
    player.step(&pose(2.0), 10.0).unwrap();
    assert!(largest(&shown(&mut player)) < 0.3);
}

#[test]
fn a_start_in_motion_kicks_nothing() {
    let mut player = player(12);
    let moved = |seconds: f64| {
        let mut still = pose(0.0);
        still.iter_mut().for_each(|bone| bone[0][3] += 3.0 * seconds);
        still
    };
    // After a start as after a teleport, a steady motion goes on as it is.
    for start in [0.0, 100.0] {
        player.teleport(&moved(start)).unwrap();
        for frame in 1..=30 {
            player.step(&moved(start + f64::from(frame) * FRAME), FRAME).unwrap();
            assert!(largest(&shown(&mut player)) < 1e-4, "{} m", largest(&shown(&mut player)));
        }
    }
}

#[test]
fn a_body_starts_as_it_hangs() {
    let mut player = player(12);
    player.set(Setting::GravityZ, -3.0).unwrap();
    player.step(&pose(0.0), FRAME).unwrap();
    let start = shown(&mut player);
    assert!(largest(&start) > 1e-3, "{} m", largest(&start));
    (0..200).for_each(|_| player.step(&pose(0.0), FRAME).unwrap());
    assert!(apart(&start, &shown(&mut player)) < 0.01 * largest(&start));
}

#[test]
fn a_grabbed_point_goes_where_it_is_pulled_and_comes_back() {
    let mut player = player(24);
    let rest = pose(0.0);
    let at = |player: &mut Player| shown(player)[3 * 100 + 1];
    player.step(&rest, FRAME).unwrap();
    player.grab(100, [0.0, 0.1, 0.0]).unwrap();
    (0..120).for_each(|_| player.step(&rest, FRAME).unwrap());
    let pulled = at(&mut player);
    assert!((0.06..=0.105).contains(&pulled), "{pulled}");
    player.release();
    (0..600).for_each(|_| player.step(&rest, FRAME).unwrap());
    assert!(at(&mut player).abs() < 0.002, "{}", at(&mut player));
    assert_eq!(
        player.grab(5000, [0.0; 3]).unwrap_err().to_string(),
        "point: element 0 refers to index 5000, but there are only 200"
    );
}
