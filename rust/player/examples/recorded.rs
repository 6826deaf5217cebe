//! Plays a recorded character, writes its displacements, and prints the microseconds of a step and of them:
//!
//!     cargo x players
//!
//! The arguments are a folder with the files model, points, poses and settings of `tests/blender/players.py`,
//! the seconds of a frame, and the file to write.

use std::path::Path;
use std::time::Instant;

use jounce_player::{Player, Setting};

/// Settings in the order of the file.
const SETTINGS: [Setting; 10] = [
    Setting::Amount,
    Setting::Stiffness,
    Setting::Damping,
    Setting::Stretch,
    Setting::Limit,
    Setting::GravityX,
    Setting::GravityY,
    Setting::GravityZ,
    Setting::PoseRest,
    Setting::Substep,
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seconds, target] = &arguments[..] else {
        eprintln!("usage: recorded FOLDER SECONDS_A_FRAME DISPLACEMENTS");
        std::process::exit(2);
    };
    let seconds: f64 = seconds.parse().expect("a number of seconds");
    let read = |name: &str| std::fs::read(Path::new(folder).join(name)).expect("the file is read");
    let doubles = |name: &str| -> Vec<f64> {
        read(name).as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
    };
    let mut player = Player::load(&read("model")).expect("the model is read");
    let points = read("points");
    let points: Vec<f64> =
        points.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect();
    player.attach(points.as_chunks::<3>().0.to_vec()).expect("the points are places");
    for (setting, value) in SETTINGS.into_iter().zip(doubles("settings")) {
        player.set(setting, value).expect("the setting has such a value");
    }
    let poses = doubles("poses");
    let (mut steps, mut displaced, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let mut out = vec![0.0_f32; 3 * player.points()];
    for pose in poses.as_chunks::<4>().0.as_chunks::<3>().0.chunks_exact(player.bones()) {
        let start = Instant::now();
        player.step(pose, seconds).expect("the pose is one");
        steps.push(start.elapsed());
        let start = Instant::now();
        player.displace(&mut out).expect("there is room");
        displaced.push(start.elapsed());
        all.extend(out.iter().flat_map(|number| number.to_le_bytes()));
    }
    std::fs::write(target, all).expect("the file is written");
    let median = |mut times: Vec<std::time::Duration>| {
        times.sort();
        1e6 * times[times.len() / 2].as_secs_f64()
    };
    println!("{:.1} {:.1}", median(steps), median(displaced));
}
