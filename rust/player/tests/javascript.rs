//! The player in WebAssembly, by its JavaScript class under Node, moves as natively: 300 frames within 1e-6.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{apart, influences, largest, model_file, points, pose};
use jounce_player::colliding::{JounceCollider, JounceSkin};
use jounce_player::interface::{jounce_collide, jounce_move};
use jounce_player::{Player, Setting};

/// Frames, and how often the level of detail changes.
const FRAMES: usize = 300;
const EACH: usize = 100;

/// Program or file that the test lacks; `None` if it can run.
fn missing(module: &Path) -> Option<String> {
    let node = Command::new("node").arg("--version").output().is_ok_and(|found| found.status.success());
    match (node, module.exists()) {
        (false, _) => Some("there is no Node here, so the player is not run in WebAssembly".to_owned()),
        (true, false) => Some(format!(
            "{} is not there, so the player is not run in WebAssembly; `cargo x wasm` makes it",
            module.display()
        )),
        (true, true) => None,
    }
}

fn bytes_of<T, const N: usize>(numbers: &[T], bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(bytes).collect()
}

/// Largest difference of 300 frames in WebAssembly from those of the native player, and largest displacement,
/// metres; `None` without what that takes. `frame` changes the player before a frame.
fn agreement(what: &str, mut frame: impl FnMut(&mut Player, usize)) -> Option<[f64; 2]> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let module = root.join("out/wasm/jounce_player.wasm");
    if let Some(sentence) = missing(&module) {
        println!("{sentence}");
        return None;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(what);
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    let (model, places) = (model_file(24), points());
    write("model", &model);
    let single: Vec<f32> = places.as_flattened().iter().map(|x| *x as f32).collect();
    write("points", &bytes_of(&single, |x| x.to_le_bytes()));
    write("bones", &bytes_of(&influences().0, |x| x.to_le_bytes()));
    write("weights", &bytes_of(&influences().1, |x| x.to_le_bytes()));
    let poses: Vec<_> = (0..FRAMES).map(|frame| pose(frame as f64 / 60.0)).collect();
    let numbers: Vec<f64> = poses.iter().flatten().flatten().flatten().copied().collect();
    write("poses", &bytes_of(&numbers, |x| x.to_le_bytes()));

    let mut player = Player::load(&model).unwrap();
    player.attach(single.as_chunks::<3>().0.iter().map(|place| place.map(f64::from)).collect()).unwrap();
    let mut own = vec![0.0; 3 * player.points() * FRAMES];
    for (index, out) in own.chunks_exact_mut(3 * places.len()).enumerate() {
        frame(&mut player, index);
        player.step(&poses[index], 1.0 / 60.0).unwrap();
        player.displace(out).unwrap();
    }

    let script = root.join("rust/player/js/agreement.mjs");
    let node = Command::new("node").arg(script).args([&module, &folder]).arg(what).output().unwrap();
    assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stderr));
    let theirs = std::fs::read(folder.join("displacements")).unwrap();
    let theirs: Vec<f32> = theirs.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
    assert_eq!(theirs.len(), own.len());
    println!("{what}: {} m apart, of {} m", apart(&own, &theirs), largest(&own));
    Some([apart(&own, &theirs), largest(&own)])
}

#[test]
fn three_hundred_frames_in_webassembly_are_those_of_the_native_player() {
    let found = agreement("levels", |player, frame| {
        if frame % EACH == 0 {
            player.set(Setting::Modes, [24.0, 8.0, 24.0][frame / EACH]).unwrap();
        }
    });
    if let Some([apart, most]) = found {
        assert!(most > 0.01 && apart <= 1e-6, "{apart} m of {most} m");
    }
}

#[test]
fn contact_in_webassembly_is_that_of_the_native_player() {
    let found = agreement("contact", |player, frame| {
        if frame == 0 {
            let (bones, weights) = influences();
            let skin = JounceSkin {
                bones: bones.as_ptr(),
                weights: weights.as_ptr(),
                triangles: std::ptr::null(),
                triangle_count: 0,
            };
            let plane = JounceCollider {
                shape: 0,
                bone: -1,
                start: [0.0, -0.3, 0.0],
                end: [0.0, 1.0, 0.0],
                radius: 0.0,
                friction: 0.5,
            };
            let (start, end) = ([1.6, 0.9, -1.0], [1.6, 0.9, 1.5]);
            let capsule = JounceCollider { shape: 1, bone: 0, start, end, radius: 0.2, friction: 0.5 };
            let lifted = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.05, 0.0, 0.0, 1.0, 0.0];
            // SAFETY: the pointers are to as many numbers as the counts say.
            unsafe {
                assert_eq!(jounce_collide(player, [plane, capsule].as_ptr(), 2, &skin), 1);
                assert_eq!(jounce_move(player, 0, lifted.as_ptr()), 1);
            }
        }
    });
    if let Some([apart, most]) = found {
        assert!(most > 0.01 && apart <= 1e-6, "{apart} m of {most} m");
    }
}

#[test]
fn files_are_read_and_written_in_javascript() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/files.mjs");
    match Command::new("node").arg(script).output() {
        Err(_) => println!("there is no Node here, so the JavaScript that reads files is not tested"),
        Ok(node) => assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stderr)),
    }
}
