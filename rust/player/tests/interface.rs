//! The C interface: the header's example compiles as C99 and plays as Rust does; misuse gets sentences.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};

use common::{influences, model_file, points, pose};
use jounce::potentials::contact::{Collider, Shape};
use jounce::rig::Rig;
use jounce_player::colliding::{JounceCollider, JounceSkin};
use jounce_player::interface::*;
use jounce_player::{Obstacle, Player, Skin};

fn last_error() -> String {
    // SAFETY: the pointer is to a string of this thread, which nothing changes meanwhile.
    unsafe { std::ffi::CStr::from_ptr(jounce_error()) }.to_string_lossy().into_owned()
}

#[test]
fn misuse_gets_one_sentence_and_changes_nothing() {
    // SAFETY: pointers are null, or to as many numbers as the counts say.
    unsafe {
        assert!(jounce_load(null(), 0).is_null());
        assert_eq!(last_error(), "file: this is not a Jounce model");
        let bytes = model_file(6);
        let player = jounce_load(bytes.as_ptr(), bytes.len());
        assert!(!player.is_null());
        let pose = pose(0.0);
        let numbers = pose.as_flattened().as_flattened().as_ptr();
        let refused = [
            (jounce_step(player, numbers, 1, 0.01), "pose: expected shape (2, 3, 4), got (1, 3, 4)"),
            (jounce_step(player, null(), 2, 0.01), "pose: is empty; at least one is needed"),
            (jounce_step(player, numbers, 2, -1.0), "seconds: expected a number of seconds >= 0, got -1"),
            (jounce_set(player, 99, 1.0), "setting: element 0 refers to index 99, but there are only 12"),
            (jounce_set(player, 1, -1.0), "stiffness: expected a positive number, got -1"),
            (jounce_attach(player, null(), 3), "points: is empty; at least one is needed"),
            (jounce_displacements(player, null_mut(), 3), "displacements: is empty; at least one is needed"),
            (jounce_grab(player, 0, null()), "displacement: is empty; at least one is needed"),
            (jounce_step(null_mut(), numbers, 2, 0.01), "player: is empty; at least one is needed"),
        ];
        for (answer, sentence) in refused {
            assert_eq!(answer, 0, "{sentence}");
        }
        // The sentences belong to the calls, in order.
        jounce_step(player, numbers, 1, 0.01);
        assert_eq!(last_error(), refused[0].1);
        jounce_set(player, 1, -1.0);
        assert_eq!(last_error(), refused[4].1);
        jounce_step(null_mut(), numbers, 2, 0.01);
        assert_eq!(last_error(), refused[8].1);
        assert_eq!(jounce_step(player, numbers, 2, 0.01), 1);
        jounce_free(player);
        jounce_free(null_mut());
    }
}

fn collider(shape: u32, bone: i32, end: [f64; 3], radius: f64) -> JounceCollider {
    JounceCollider { shape, bone, start: [0.0, -0.2, 0.0], end, radius, friction: 0.5 }
}

#[test]
fn colliders_of_c_are_those_of_rust_and_wrong_ones_get_a_sentence() {
    let bytes = model_file(6);
    let (bones, weights) = influences();
    let mut unknown = bones.clone();
    unknown[4] = 2;
    let skin = |bones: &[u32]| JounceSkin {
        bones: bones.as_ptr(),
        weights: weights.as_ptr(),
        triangles: null(),
        triangle_count: 0,
    };
    let places: Vec<f32> = points().as_flattened().iter().map(|x| *x as f32).collect();
    let mut own = Player::load(&bytes).unwrap();
    own.attach(places.as_chunks::<3>().0.iter().map(|place| place.map(f64::from)).collect()).unwrap();
    let plane = Shape::plane([0.0, -0.2, 0.0], [0.0, 1.0, 0.0]).unwrap();
    let obstacle = Obstacle { collider: Collider::new(plane, 0.5).unwrap(), bone: None };
    let two = |weights: &[f32; 4]| [weights[0], weights[1]].map(f64::from);
    let dense: Vec<f64> = weights.as_chunks::<4>().0.iter().flat_map(two).collect();
    let rig = Some(Rig::new(points().len(), 2, &dense).unwrap());
    own.collide(&[obstacle], &Skin { rig, triangles: Vec::new() }).unwrap();
    // SAFETY: pointers are null, or to as many numbers as the counts say.
    unsafe {
        let player = jounce_load(bytes.as_ptr(), bytes.len());
        assert_eq!(jounce_attach(player, places.as_ptr(), points().len()), 1);
        let counts = [0, 1, 2, 3].map(|what| jounce_count(player, what));
        assert_eq!(counts, [2, 6, 200, 0]);
        let floor = collider(0, -1, [0.0, 1.0, 0.0], 0.0);
        assert_eq!(jounce_collide(player, &floor, 1, &skin(&bones)), 1);
        let refused = [
            (collider(2, -1, [0.0; 3], 0.1), skin(&bones), "shape: element 0 refers to index 2"),
            (collider(1, 7, [0.0; 3], 0.1), skin(&bones), "bone of a collider: element 0 refers to index 7"),
            (collider(1, 0, [0.0; 3], -0.1), skin(&bones), "radius: expected"),
            (floor, skin(&unknown), "bones: element 1 refers to index 2, but there are only 2"),
            (floor, JounceSkin { weights: null(), ..skin(&bones) }, "weights: is empty; at least one"),
        ];
        for (wrong, skin, sentence) in refused {
            assert_eq!(jounce_collide(player, &wrong, 1, &skin), 0);
            assert!(last_error().starts_with(sentence), "{}", last_error());
        }
        assert_eq!(jounce_collide(player, null(), 1, &skin(&bones)), 0);
        assert_eq!(jounce_move(player, 0, null()), 0);
        let [mut theirs, mut expected] = [(); 2].map(|()| vec![0.0; places.len()]);
        for frame in 0..120 {
            let pose = pose(f64::from(frame) / 60.0);
            assert_eq!(jounce_step(player, pose.as_flattened().as_flattened().as_ptr(), 2, 1.0 / 60.0), 1);
            own.step(&pose, 1.0 / 60.0).unwrap();
        }
        assert_eq!(jounce_displacements(player, theirs.as_mut_ptr(), theirs.len()), 1);
        own.displace(&mut expected).unwrap();
        assert!(common::apart(&theirs, &expected) < 1e-6);
        assert_eq!(jounce_collide(player, null(), 0, null()), 1);
        jounce_free(player);
    }
}

#[test]
fn hostile_files_are_refused_and_never_crash() {
    let bytes = model_file(6);
    let mut cut = 0;
    for length in (0..bytes.len()).step_by(bytes.len() / 60) {
        cut += usize::from(Player::load(&bytes[..length]).is_err());
    }
    assert!(cut >= 60);
    for place in (0..bytes.len()).step_by(bytes.len() / 400) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        assert!(Player::load(&damaged).is_err(), "byte {place}");
    }
    // With a hash that is right the contents must speak for themselves.
    let (mut refused, mut played) = (0, 0);
    for place in (24..bytes.len() - 8).step_by(bytes.len() / 400) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        let end = damaged.len() - 8;
        let hash = damaged[..end].iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        damaged[end..].copy_from_slice(&hash.to_le_bytes());
        match Player::load(&damaged) {
            Err(_) => refused += 1,
            Ok(mut player) => {
                played += 1;
                let bones = player.bones();
                let still = vec![pose(0.0)[0]; bones];
                let _ = player.step(&still, 0.01).and_then(|()| player.step(&still, 0.01));
            }
        }
    }
    assert!(refused > 0 && played > 0, "{refused} refused, {played} played");
}

/// A program in C, compiled as strict C99 with the library, or `None` without gcc. Files are named from the
/// package.
fn compiled(name: &str, files: &[&str]) -> Option<Command> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    if Command::new("gcc").arg("--version").output().is_err() {
        println!("there is no gcc here, so {name} is not compiled");
        return None;
    }
    let program = folder.join(name);
    let compiled = Command::new("gcc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .args(files.iter().map(|file| here.join(file)))
        .args(["include", "godot/src"].map(|folder| format!("-I{}", here.join(folder).display())))
        .arg(format!("-L{}", libraries.display()))
        .args(["-ljounce_player", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut command = Command::new(program);
    command.current_dir(folder).env("LD_LIBRARY_PATH", libraries);
    Some(command)
}

/// Output of a program; fails with what it says of errors.
fn said(program: &mut Command) -> String {
    let made = program.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap()
}

/// A model file for programs, beside the test's other files.
fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let model = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&model, bytes).unwrap();
    model
}

#[test]
fn the_example_in_c_plays_as_rust_does() {
    let Some(mut program) = compiled("play", &["examples/play.c"]) else { return };
    let bytes = model_file(12);
    let text = said(program.arg(written("bar.jounce", &bytes)).arg("300"));
    let theirs: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    let mut player = Player::load(&bytes).unwrap();
    let mut out = vec![0.0; 3 * player.points()];
    let own: Vec<f64> = (0..300)
        .map(|frame| {
            let lift = 0.05 * (0.3 * f64::from(frame)).sin();
            let bone = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, lift]];
            player.step(&[bone; 2], 1.0 / 60.0).unwrap();
            player.displace(&mut out).unwrap();
            common::largest(&out)
        })
        .collect();
    assert_eq!(theirs.len(), 300);
    let apart = own.iter().zip(&theirs).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(apart <= 1e-8 && own[299] > 1e-4, "{apart} m apart");
    let mut program = compiled("play", &["examples/play.c"]).unwrap();
    let refused = program.arg(written("no.jounce", b"[package]")).arg("1").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&refused.stderr), "file: this is not a Jounce model\n");
}

#[test]
fn rest_places_are_such_that_the_skin_carries_them_to_the_displaced_ones() {
    let Some(mut program) = compiled("flesh", &["tests/flesh.c", "godot/src/flesh.c"]) else { return };
    let text = said(program.arg(written("flesh.jounce", &model_file(12))));
    let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert!(numbers[0] <= 1e-6 && numbers[1] > 1e-3, "{numbers:?}");
}

#[test]
fn the_header_declares_what_is_exported() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap();
    let names = |text: &str, after: &str| {
        let parts = text.split(after).skip(1).map(|rest| rest.split('(').next().unwrap().to_owned());
        parts.collect::<std::collections::BTreeSet<String>>()
    };
    let source = read("src/interface.rs");
    // Memory for JavaScript is not part of C.
    let own = names(source.split("/// Memory for arguments").next().unwrap(), "extern \"C\" fn ");
    let header = read("include/jounce_player.h");
    let declared: std::collections::BTreeSet<String> = header
        .lines()
        .filter(|line| line.ends_with(");"))
        .map(|line| line[line.find("jounce_").unwrap()..].split('(').next().unwrap().to_owned())
        .collect();
    assert_eq!(own, declared);
    assert!(declared.len() <= 15, "{} functions", declared.len());
}
