//! Any bytes in a model file of the player: either an error message, or flesh that moves with finite numbers.
#![no_main]

use std::sync::LazyLock;

use jounce::file::encode;
use jounce_fuzz::{REST, cube, edited, sealed};
use jounce_player::{Player, Setting};
use libfuzzer_sys::fuzz_target;

/// Bytes that choose settings and motion, before those of the file.
const CHOICES: usize = 8;

/// A valid file.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| encode(&cube().model).unwrap());

/// Plays some frames with a chosen setting and motion.
fn play(player: &mut Player, choices: &[u8]) {
    let (_, setting) = Setting::ALL[usize::from(choices[0]) % Setting::ALL.len()];
    let value = f64::from(f32::from_le_bytes([0, choices[1], choices[2], choices[3]]));
    let _ = player.set(setting, value);
    let seconds = f64::from(choices[4]) / 512.0;
    let mut pose = vec![REST; player.bones().min(1 << 12)];
    let mut out = vec![0.0; 3 * player.points().min(1 << 16)];
    for frame in 0..4 {
        pose.iter_mut().for_each(|bone| bone[0][3] = 0.01 * f64::from(frame) * f64::from(choices[5]));
        if player.step(&pose, seconds).is_err() {
            return;
        }
        let _ = player.displace(&mut out);
        if frame == 1 && choices[6] % 2 == 1 {
            let _ = player.grab(usize::from(choices[7]), [0.1, 0.0, 0.0]);
        }
    }
    player.release();
    let _ = player.teleport(&pose);
}

fuzz_target!(|data: &[u8]| {
    let Some((choices, data)) = data.split_at_checked(CHOICES) else { return };
    for file in [data.to_vec(), sealed(&WHOLE, data), sealed(&WHOLE, &edited(&WHOLE, data))] {
        if let Ok(mut player) = Player::load(&file) {
            play(&mut player, choices);
        }
    }
});
