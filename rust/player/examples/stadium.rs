//! A stadium: a thousand characters, each with a clip of its own, on some threads; one table.
//!
//!     cargo x stadium [BODIES [THREADS]]

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{Pose, chain_file};
use jounce_player::{Player, Setting};

/// Modes and bones of a body.
const MODES: usize = 16;
const BONES: usize = 30;
/// Frames of a run, and their length in seconds: thirty a second.
const FRAMES: usize = 60;
const FRAME: f64 = 1.0 / 30.0;
/// Frames before the measurement, in which the audience sits down and levels fade.
const BEFORE: usize = 120;
/// Seats of a row, and metres between seats and rows.
const SEATS: usize = 50;
const APART: [f64; 2] = [0.6, 0.9];
/// Metres from the camera up to which a body has all modes, and up to which it has eight.
const NEAR: [f64; 2] = [7.0, 13.0];
const STILL: [[f64; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// A body and its clip: a wave along its bones, with a rate and a phase of its own.
struct Character {
    player: Player,
    pose: Pose,
    rate: f64,
    phase: f64,
    /// Largest coefficient since the start of the measurement, for a check that what should move does.
    largest: f64,
}

impl Character {
    fn new(player: Player, index: usize) -> Self {
        let (rate, phase) = (5.0 + 0.004 * index as f64, 0.37 * index as f64);
        Self { player, pose: vec![STILL; BONES], rate, phase, largest: 0.0 }
    }

    fn step(&mut self, seconds: f64, sits: bool) {
        for (bone, transform) in self.pose.iter_mut().enumerate() {
            let angle = self.rate * seconds + self.phase - 0.1 * bone as f64;
            transform[1][3] = if sits { 0.0 } else { 0.1 * angle.sin() };
        }
        self.player.step(&self.pose, FRAME).expect("the pose is one");
        let moved = self.player.transforms().iter().fold(0.0, |most: f64, z| most.max(z.abs()));
        self.largest = self.largest.max(moved);
    }
}

/// A way to play a crowd: name, substeps, modes of a character, and `true` for one that sits.
type Way = (&'static str, f64, fn(usize) -> f64, fn(usize) -> bool);

const WAYS: [Way; 5] = [
    ("16 modes each, four substeps", 4.0, |_| 16.0, |_| false),
    ("16 modes each, one substep", 1.0, |_| 16.0, |_| false),
    ("8 modes each, one substep", 1.0, |_| 8.0, |_| false),
    ("16, 8 or 0 modes by distance, one substep", 1.0, by_distance, |_| false),
    ("the same, half of them sit", 1.0, by_distance, |index| index % 2 == 0),
];

/// Modes of a character by the distance of its seat from a camera before the middle of the first row.
fn by_distance(index: usize) -> f64 {
    let (row, seat) = (index / SEATS, index % SEATS);
    let aside = APART[0] * (seat as f64 - 0.5 * SEATS as f64);
    match aside.hypot(APART[1] * (row as f64 + 1.0)) {
        near if near <= NEAR[0] => 16.0,
        near if near <= NEAR[1] => 8.0,
        _ => 0.0,
    }
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<usize>().expect("a number"));
    let (bodies, threads) = (numbers.next().unwrap_or(1000), numbers.next().unwrap_or(2));
    let bytes = chain_file(BONES, MODES);
    let model = Arc::new(jounce::file::decode_skinning(&bytes).expect("the model is read"));
    let first = Player::new(model).expect("the model plays");
    let crowd =
        || -> Vec<Character> { (0..bodies).map(|index| Character::new(first.another(), index)).collect() };
    let digests: Vec<u64> = [1, 2, 3].map(|threads| digest(&mut crowd(), threads)).into();
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
    let before = resident();
    let mut crowd = crowd();
    play(&mut crowd, threads, 0..2, |_| false);
    let each = (resident() - before) / bodies as f64 / 1000.0;
    println!(
        "{bodies} characters of {MODES} modes and {BONES} bones on {threads} threads: {} kB the model, \
         {each:.0} kB a character; the same bits on 1, 2 and 3 threads.\n",
        bytes.len() / 1000
    );
    println!("| crowd | with 16, 8, 0 modes | asleep | us of a processor each | ms a frame, alone | here |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for way in &WAYS {
        println!("{}", row(&mut crowd, threads, way));
    }
}

/// Measures a way to play a crowd.
fn row(crowd: &mut [Character], threads: usize, (name, substeps, modes, sits): &Way) -> String {
    for (index, character) in crowd.iter_mut().enumerate() {
        character.player.set(Setting::Modes, modes(index)).expect("it has levels");
        character.player.set(Setting::Substep, FRAME / substeps).expect("it has substeps");
    }
    play(crowd, threads, 0..BEFORE, *sits);
    crowd.iter_mut().for_each(|character| character.largest = 0.0);
    let (start, processor) = (Instant::now(), processor_seconds());
    play(crowd, threads, BEFORE..BEFORE + FRAMES, *sits);
    let seconds = start.elapsed().as_secs_f64() / FRAMES as f64;
    let processor = (processor_seconds() - processor) / FRAMES as f64;
    for (index, character) in crowd.iter().enumerate() {
        let moves = modes(index) > 0.0 && !sits(index);
        assert!(!moves || character.largest > 1e-4, "{name}: character {index} does not move");
    }
    let asleep = crowd.iter().filter(|character| character.player.is_asleep()).count();
    let levels = [16.0, 8.0, 0.0].map(|level| (0..crowd.len()).filter(|it| modes(*it) == level).count());
    let [near, middle, far] = levels;
    let each = 1e6 * processor / crowd.len() as f64;
    let (frame, both) = (1e3 * seconds, 1e3 * processor / threads as f64);
    format!("| {name} | {near}, {middle}, {far} | {asleep} | {each:.0} | {both:.1} | {frame:.1} |")
}

/// Digest of the motion of a crowd on some threads.
fn digest(crowd: &mut [Character], threads: usize) -> u64 {
    play(crowd, threads, 0..10, |_| false);
    let numbers = crowd.iter().flat_map(|character| character.player.transforms());
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, z| (hash ^ z.to_bits()).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Plays some frames, the crowd on some threads, each of which takes the next character when it is done.
fn play(crowd: &mut [Character], threads: usize, frames: std::ops::Range<usize>, sits: fn(usize) -> bool) {
    for frame in frames {
        let next = std::sync::Mutex::new(crowd.iter_mut().enumerate());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let taken = next.lock().expect("no panic").next();
                        let Some((index, character)) = taken else { break };
                        character.step(frame as f64 * FRAME, sits(index));
                    }
                });
            }
        });
    }
}

/// Time of the processor on this program so far, of all threads, by the clock of Linux; 0 elsewhere.
fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = told.rsplit(')').next().unwrap_or_default();
    let ticks = after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Resident memory of this program, bytes; 0 where the system does not tell.
fn resident() -> f64 {
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    told.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0
}
