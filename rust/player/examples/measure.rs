//! Measures a player of 24 modes and 65 bones, natively and in WebAssembly, and prints one table:
//!
//!     cargo x wasm --measure

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use common::{apart, chain_file, chain_pose, largest};
use jounce_player::Player;

/// Modes and bones of the body, and points with displacements.
const MODES: usize = 24;
const BONES: usize = 65;
const POINTS: usize = 10_000;
/// Frames, and their length in seconds.
const FRAMES: usize = 300;
const FRAME: f64 = 1.0 / 60.0;

/// A row of the table: microseconds of a step and of the displacements.
struct Row {
    name: &'static str,
    file: std::path::PathBuf,
    step: f64,
    displace: f64,
    apart: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        eprintln!("usage: measure MODULE FOLDER");
        std::process::exit(2);
    };
    let (module, folder) = (Path::new(module), Path::new(folder));
    std::fs::create_dir_all(folder).expect("the folder can be made");
    let model = chain_file(BONES, MODES);
    let places: Vec<f32> = (0..POINTS)
        .flat_map(|i| {
            let share = i as f32 / POINTS as f32;
            [2.0 * share, 0.25 + 0.2 * (50.0 * share).sin(), 0.25 + 0.2 * (50.0 * share).cos()]
        })
        .collect();
    let poses: Vec<_> = (0..FRAMES).map(|frame| chain_pose(BONES, frame as f64 * FRAME)).collect();
    let (own, mut rows) = natively(&model, &places, &poses);
    write(folder, "model", &model);
    write(folder, "points", &places.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let numbers = poses.iter().flatten().flatten().flatten();
    write(folder, "poses", &numbers.flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    rows.extend(in_node(module, folder, &own));
    println!("| player | compiled, kB | step, us | {POINTS} displacements, us | apart, m |");
    println!("| --- | --- | --- | --- | --- |");
    for Row { name, file, step, displace, apart } in rows {
        let size = std::fs::metadata(&file).map_or(0, |file| file.len()) / 1000;
        println!("| {name} | {size} | {step:.0} | {displace:.0} | {apart:.1e} |");
    }
    println!(
        "\nA frame of {FRAME:.4} s, {MODES} modes, {BONES} bones; flesh moves up to {:.3} m.",
        largest(&own)
    );
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).expect("the folder can be written to");
}

fn natively(model: &[u8], places: &[f32], poses: &[common::Pose]) -> (Vec<f32>, Vec<Row>) {
    let mut player = Player::load(model).expect("the model is read");
    let places: Vec<[f64; 3]> = places.as_chunks::<3>().0.iter().map(|x| x.map(f64::from)).collect();
    player.attach(places).expect("the points are places");
    let mut own = vec![0.0; 3 * POINTS * poses.len()];
    let (mut step, mut displace) = (Vec::new(), Vec::new());
    for (pose, out) in poses.iter().zip(own.chunks_exact_mut(3 * POINTS)) {
        let start = Instant::now();
        player.step(pose, FRAME).expect("the pose is one");
        step.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        player.displace(out).expect("there is room");
        displace.push(start.elapsed().as_secs_f64());
    }
    let file = std::env::current_exe().unwrap_or_default();
    let file = stripped(&file.ancestors().nth(2).unwrap_or(Path::new("")).join("libjounce_player.so"));
    let name = "native, and by C";
    (own, vec![Row { name, file, step: micros(step), displace: micros(displace), apart: 0.0 }])
}

/// A copy of a library without what only a debugger reads, where there is `strip`; else the library.
fn stripped(library: &Path) -> std::path::PathBuf {
    let copy = library.with_extension("stripped");
    let made = Command::new("strip").arg(library).arg("-o").arg(&copy).status();
    if made.is_ok_and(|status| status.success()) { copy } else { library.to_path_buf() }
}

/// Median of some seconds, in microseconds: a busy machine interrupts single frames.
fn micros(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    1e6 * seconds[seconds.len() / 2]
}

fn in_node(module: &Path, folder: &Path, own: &[f32]) -> Option<Row> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/agreement.mjs");
    let node = Command::new("node").arg(script).args([module, folder]).output().ok()?;
    if !node.status.success() {
        println!("{}", String::from_utf8_lossy(&node.stderr));
        return None;
    }
    let said = String::from_utf8_lossy(&node.stdout);
    let mut numbers = said.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
    let bytes = std::fs::read(folder.join("displacements")).ok()?;
    let theirs: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
    Some(Row {
        name: "WebAssembly in Node",
        file: module.to_path_buf(),
        step: numbers.next()?,
        displace: numbers.next()?,
        apart: apart(own, &theirs),
    })
}
