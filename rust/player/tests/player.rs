//! A player moves as a simulation does, at any frame time, and changes its level of detail without a jump.

mod common;

use common::{Pose, apart, largest, model_file, points, pose};
use jounce::Progress;
use jounce::body::standard;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::mesh::Embedding;
use jounce::potentials::contact::{Collider, Shape};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce_player::{Obstacle, Player, Setting, Skin};

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

/// A plane at a height, facing up.
fn floor(height: f64) -> Obstacle {
    let shape = Shape::plane([0.0, height, 0.0], [0.0, 1.0, 0.0]).unwrap();
    Obstacle { collider: Collider::new(shape, 0.5).unwrap(), bone: None }
}

/// A capsule along z.
fn roller(center: [f64; 2], radius: f64, bone: Option<usize>) -> Obstacle {
    let [start, end] = [-1.0, 1.5].map(|z| [center[0], center[1], z]);
    Obstacle { collider: Collider::new(Shape::capsule(start, end, radius).unwrap(), 0.5).unwrap(), bone }
}

/// Weights of the points of the bar.
fn skin() -> Skin {
    let weights: Vec<f64> = points().iter().flat_map(|p| [1.0 - p[0] / 2.0, p[0] / 2.0]).collect();
    Skin { rig: Some(Rig::new(points().len(), 2, &weights).unwrap()), triangles: Vec::new() }
}

/// Places of the points in a pose with their displacements.
fn places(player: &mut Player, pose: &Pose) -> Vec<[f64; 3]> {
    let posed = skin().rig.unwrap().posed(&points(), pose).unwrap();
    let moved = shown(player);
    let place =
        |(place, moved): ([f64; 3], &[f32; 3])| std::array::from_fn(|c| place[c] + f64::from(moved[c]));
    posed.into_iter().zip(moved.as_chunks::<3>().0).map(place).collect()
}

/// Deepest of some places in a collider at its initial place, metres; 0 outside.
fn depth(obstacle: &Obstacle, places: &[[f64; 3]]) -> f64 {
    places.iter().map(|place| -obstacle.collider.shape().distance(*place).0).fold(0.0, f64::max)
}

/// Deepest place in a collider over some frames.
fn deepest(player: &mut Player, obstacle: &Obstacle, pose: impl Fn(f64) -> Pose) -> f64 {
    (0..120).fold(0.0, |deep, frame| {
        let pose = pose(f64::from(frame) * FRAME);
        player.step(&pose, FRAME).unwrap();
        deep.max(depth(obstacle, &places(player, &pose)))
    })
}

#[test]
fn flesh_stays_out_of_planes_and_capsules_at_each_level_of_detail() {
    // Without contact the bar goes .05 to .26 m deep into each.
    let rollers = [([1.0, -0.25], 0.2), ([1.6, -0.2], 0.1), ([0.4, -0.16], 0.05)];
    let rollers = rollers.map(|(center, radius)| roller(center, radius, None));
    for obstacle in [-0.2, -0.3, -0.4].map(floor).iter().chain(&rollers) {
        for modes in [12.0, 8.0] {
            let [mut alone, mut among] = [player(12), player(12)];
            among.collide(std::slice::from_ref(obstacle), &skin()).unwrap();
            let [through, deep] = [&mut alone, &mut among].map(|player| {
                player.set(Setting::Modes, modes).unwrap();
                deepest(player, obstacle, pose)
            });
            println!("{modes} modes: {through} m deep without contact, {deep} m with");
            assert!(through > 0.03 && deep < 0.008, "{modes} modes: {through} m, {deep} m");
        }
    }
}

#[test]
fn a_skin_of_triangles_is_dented() {
    let (mut plain, mut dented) = (player(12), player(12));
    let model = jounce::file::decode(&model_file(12)).unwrap();
    let (places, faces) = (model.mesh().unwrap().vertices().to_vec(), model.mesh().unwrap().boundary());
    let weights: Vec<f64> = places.iter().flat_map(|p| [1.0 - p[0] / 2.0, p[0] / 2.0]).collect();
    let rig = || Some(Rig::new(places.len(), 2, &weights).unwrap());
    let obstacle = roller([1.6, -0.2], 0.1, None);
    let deepest = |player: &mut Player, triangles: Vec<[u32; 3]>| {
        player.attach(places.clone()).unwrap();
        player.collide(std::slice::from_ref(&obstacle), &Skin { rig: rig(), triangles }).unwrap();
        (0..60).fold(0.0_f64, |deep, frame| {
            let pose = pose(f64::from(frame) * FRAME);
            player.step(&pose, FRAME).unwrap();
            let mut shown = rig().unwrap().posed(&places, &pose).unwrap();
            let moved = self::shown(player);
            for (place, moved) in shown.iter_mut().zip(moved.as_chunks::<3>().0) {
                (0..3).for_each(|c| place[c] += f64::from(moved[c]));
            }
            deep.max(depth(&obstacle, &shown))
        })
    };
    let (through, deep) = (deepest(&mut plain, Vec::new()), deepest(&mut dented, faces));
    println!("{through} m deep by the modes alone, {deep} m with dents");
    assert!(through > 1e-3 && deep < 0.05 * through, "{through} m, {deep} m");
}

#[test]
fn far_colliders_change_no_bit_and_removed_ones_leave_none() {
    let mut far = player(12);
    far.collide(&[floor(-9.0), roller([1.0, -7.0], 0.2, Some(1))], &skin()).unwrap();
    let free = moved(&mut player(12), 30, FRAME);
    assert_eq!(moved(&mut far, 30, FRAME), free);
    let mut without = player(12);
    without.collide(&[floor(-0.1)], &skin()).unwrap();
    without.collide(&[], &skin()).unwrap();
    assert_eq!(moved(&mut without, 30, FRAME), free);
    let mut attached = player(12);
    attached.collide(&[floor(-0.1)], &skin()).unwrap();
    attached.attach(points()).unwrap();
    assert_eq!(moved(&mut attached, 30, FRAME), free);
}

#[test]
fn a_collider_that_comes_wakes_the_flesh_and_pushes_it_away() {
    let lifted = |height: f64| [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, height], [0.0, 0.0, 1.0, 0.0]];
    let still = pose(0.0);
    // The last ones come from below the bar by .36 m a frame: as far as it is wide.
    for (frames, radius) in [60, 6, 1].into_iter().flat_map(|frames| [(frames, 0.2), (frames, 0.05)]) {
        let mut player = player(12);
        let place = |height| roller([1.5, height - radius], radius, None);
        player.collide(&[place(-0.3)], &skin()).unwrap();
        (0..200).for_each(|_| player.step(&still, FRAME).unwrap());
        assert!(player.is_asleep());
        for frame in 1..=frames {
            player.move_collider(0, &lifted(0.36 * f64::from(frame) / f64::from(frames))).unwrap();
            player.step(&still, FRAME).unwrap();
        }
        assert!(!player.is_asleep());
        let deep = depth(&place(0.06), &places(&mut player, &still));
        println!("{frames} frames, radius {radius}: {deep} m deep");
        assert!(deep < 0.008 && largest(&shown(&mut player)) > 0.03, "{frames}, {radius}: {deep} m deep");
    }
}

/// A pose: all goes along x, and the second bone upwards.
fn carried_pose(shift: f64, lift: f64) -> Pose {
    [0.0, lift].map(|y| [[1.0, 0.0, 0.0, shift], [0.0, 1.0, 0.0, y], [0.0, 0.0, 1.0, 0.0]]).to_vec()
}

#[test]
fn a_collider_on_a_bone_goes_along_and_meets_the_other_bones_flesh() {
    let mut player = player(12);
    player.collide(&[roller([1.7, 0.8], 0.2, Some(0))], &skin()).unwrap();
    for frame in 0..=60 {
        let done = f64::from(frame) / 60.0;
        player.step(&carried_pose(3.0 * done, 0.2 * done), FRAME).unwrap();
    }
    let end = carried_pose(3.0, 0.2);
    let now = roller([4.7, 0.8], 0.2, None);
    let through = depth(&now, &skin().rig.unwrap().posed(&points(), &end).unwrap());
    let deep = depth(&now, &places(&mut player, &end));
    assert!(through > 0.05 && deep < 0.004, "posed {through} m, {deep} m with flesh");
}

#[test]
fn a_collider_on_a_bone_spares_the_flesh_of_the_bone_and_keeps_its_size() {
    let mut player = player(12);
    player.collide(&[roller([1.9, 0.25], 0.3, Some(1))], &skin()).unwrap();
    player.step(&carried_pose(0.0, 0.0), FRAME).unwrap();
    (0..30).for_each(|_| player.step(&carried_pose(0.0, 0.0), FRAME).unwrap());
    assert!(largest(&shown(&mut player)) < 1e-9);
    // A bone may grow and be mirrored, a collider is rigid.
    let mut grown = carried_pose(0.0, 0.0);
    grown[1] = [[-1.5, 0.0, 0.0, 3.0], [0.0, 1.5, 0.0, 0.0], [0.0, 0.0, 1.5, 0.0]];
    player.step(&grown, FRAME).unwrap();
}

/// Lowers the second bone, and waits in this pose.
fn lowered(player: &mut Player) -> Pose {
    (0..60).for_each(|frame| player.step(&carried_pose(0.0, -0.4 * f64::from(frame) / 60.0), FRAME).unwrap());
    let low = carried_pose(0.0, -0.4);
    (0..60).for_each(|_| player.step(&low, FRAME).unwrap());
    low
}

#[test]
fn the_level_of_detail_changes_in_contact_without_a_jump() {
    let mut player = player(12);
    player.collide(&[floor(-0.25)], &skin()).unwrap();
    let low = lowered(&mut player);
    for modes in [8.0, 12.0] {
        let before = shown(&mut player);
        player.set(Setting::Modes, modes).unwrap();
        player.step(&low, FRAME).unwrap();
        let jump = apart(&before, &shown(&mut player));
        (0..60).for_each(|_| player.step(&low, FRAME).unwrap());
        let change = apart(&before, &shown(&mut player));
        assert!(jump < 0.5 * change, "the first frame changes {jump} m, all of them {change} m");
        let deep = depth(&floor(-0.25), &places(&mut player, &low));
        assert!(deep < 0.008, "{deep} m deep with {modes} modes");
    }
}

#[test]
fn wrong_colliders_and_skins_are_refused_and_change_nothing() {
    let sentence = |outcome: jounce_player::Result<()>| outcome.unwrap_err().to_string();
    let mut player = player(12);
    player.collide(&[floor(-0.25)], &skin()).unwrap();
    let unknown = sentence(player.collide(&[roller([0.0, -1.0], 0.1, Some(2))], &skin()));
    assert_eq!(unknown, "bone of a collider: element 0 refers to index 2, but there are only 2");
    let none = Skin { rig: None, triangles: Vec::new() };
    let bare = sentence(player.collide(&[floor(-1.0)], &none));
    assert!(bare.starts_with("weights: a body with bones needs the skinning weights"), "{bare}");
    let few = Skin { rig: Some(Rig::new(1, 2, &[0.5, 0.5]).unwrap()), triangles: Vec::new() };
    let other = "weights: expected shape (200, 2), got (1, 2)";
    assert_eq!(sentence(player.collide(&[floor(-1.0)], &few)), other);
    let holed = Skin { triangles: vec![[0, 1, 200]], ..skin() };
    let beyond = "triangles: element 0 refers to index 200, but there are only 200";
    assert_eq!(sentence(player.collide(&[floor(-1.0)], &holed)), beyond);
    let still = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let missing = "collider: element 0 refers to index 1, but there are only 1";
    assert_eq!(sentence(player.move_collider(1, &still)), missing);
    assert!(sentence(player.move_collider(0, &[[0.0; 4]; 3])).starts_with("collider: expected a rotation"));
    let low = lowered(&mut player);
    let deep = depth(&floor(-0.25), &places(&mut player, &low));
    assert!(deep < 0.008, "the floor of before keeps the bar out: {deep} m");
    player.collide(&[roller([0.0, -1.0], 0.1, Some(1))], &skin()).unwrap();
    assert!(sentence(player.move_collider(0, &still)).starts_with("collider: its bone carries it"));
}
