//! Model files: the same bits come back, and nothing else is let in.

use std::path::PathBuf;

use jounce::Error;
use jounce::file::{decode, decode_state, encode, encode_state, load, save};
use jounce::method::{Simulation, SimulationParams};
use jounce_tests::bodies::{Body, bar, swing};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A folder of this test's own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("jounce-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn files(&self) -> Vec<String> {
        std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn small() -> Vec<u8> {
    encode(&Body::new(bar([2, 1, 1], 0.1), 2, 1).model()).unwrap()
}

fn with_hash(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let hash = bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

fn refusal(bytes: &[u8]) -> Option<Error> {
    decode(bytes).err()
}

#[test]
fn the_same_bits_come_back_and_simulate_the_same() {
    let folder = Folder::new("round-trip");
    let path = folder.0.join("bar.jounce");
    let model = Body::bar().model();
    save(&model, &path).unwrap();
    assert_eq!(folder.files(), ["bar.jounce"]);
    let loaded = load(&path).unwrap();
    assert_eq!(encode(&loaded), encode(&model));
    let mut sims =
        [&model, &loaded].map(|model| Simulation::new(model.clone(), SimulationParams::default()).unwrap());
    for frame in 0..20 {
        for sim in &mut sims {
            sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap();
        }
        assert_eq!(sims[0].coefficients(), sims[1].coefficients());
    }
}

#[test]
fn saving_replaces_a_file_and_leaves_nothing_else() {
    let folder = Folder::new("replace");
    let path = folder.0.join("bar.jounce");
    std::fs::write(&path, "something older").unwrap();
    save(&Body::bar().model(), &path).unwrap();
    load(&path).unwrap();
    assert_eq!(folder.files(), ["bar.jounce"]);
}

#[test]
fn a_disk_that_refuses_is_told_and_nothing_is_left() {
    let folder = Folder::new("refuse");
    let missing = folder.0.join("no such folder").join("bar.jounce");
    let model = Body::bar().model();
    assert!(matches!(save(&model, &missing), Err(Error::File(_))));
    assert!(matches!(load(&missing), Err(Error::File(_))));
    let taken = folder.0.join("taken");
    std::fs::create_dir(&taken).unwrap();
    assert!(matches!(save(&model, &taken), Err(Error::File(_))));
    assert_eq!(folder.files(), ["taken"]);
    assert!(matches!(save(&model, std::path::Path::new("/")), Err(Error::File(_))));
}

#[test]
fn every_truncation_is_refused() {
    let bytes = small();
    for length in 0..bytes.len() {
        assert!(matches!(refusal(&bytes[..length]), Some(Error::File(_))), "cut at {length}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(refusal(&longer), Some(Error::File(_))));
}

#[test]
fn every_flipped_byte_is_refused() {
    let bytes = small();
    for place in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[place] ^= flip;
            assert!(matches!(refusal(&damaged), Some(Error::File(_))), "byte {place}");
        }
    }
}

/// With the hash made right again, contents are either refused with a sentence or harmless.
#[test]
fn contents_that_lie_are_refused_or_harmless() {
    let bytes = small();
    let (mut refused, mut harmless) = (0, 0);
    for place in 8..bytes.len() - 8 {
        for flip in [0x01, 0x10, 0x7f, 0xff] {
            let mut hostile = bytes.clone();
            hostile[place] ^= flip;
            match decode(&with_hash(hostile)) {
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
                Ok(model) => {
                    harmless += 1;
                    let mut sim = Simulation::new(model, SimulationParams::default()).unwrap();
                    for frame in 0..2 {
                        if sim.step(Some(&swing(f64::from(frame)))).is_ok() {
                            assert!(sim.coefficients().iter().all(|z| z.is_finite()));
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 100 && harmless > 100, "{refused} {harmless}");
}

#[test]
fn several_lies_at_once_are_refused_or_harmless() {
    let bytes = small();
    let words = (bytes.len() - 32) / 8;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut stepped = 0;
    for _ in 0..4000 {
        let mut hostile = bytes.clone();
        for _ in 0..random.random_range(2..6) {
            let place = 24 + 8 * random.random_range(0..words);
            let number = 10_f64.powf(random.random_range(-300.0..300.0));
            hostile[place..place + 8].copy_from_slice(&number.to_le_bytes());
        }
        let Ok(model) = decode(&with_hash(hostile)) else { continue };
        let mut sim = Simulation::new(model, SimulationParams::default()).unwrap();
        for frame in 0..3 {
            let _ = sim.step(Some(&swing(f64::from(frame))));
            assert!(sim.coefficients().iter().all(|z| z.is_finite()));
            stepped += 1;
        }
    }
    assert!(stepped > 100, "{stepped}");
}

/// Where the sizes of a file's arrays and matrices stand, found by reading it as its description says.
fn sizes(bytes: &[u8]) -> Vec<usize> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (mut at, mut places) = (24, Vec::new());
    let mut array = |at: &mut usize, dimensions: usize, width: usize| {
        let count: usize = (0..dimensions).map(|d| word(*at + 8 * d)).product();
        places.extend((0..dimensions).map(|d| *at + 8 * d));
        *at += 8 * dimensions + width * count;
    };
    for width in [8, 4, 8, 8, 8] {
        array(&mut at, 1, width);
    }
    // Bones, which are no array, and the mass.
    at += 16;
    // The fifth names tets, which only a cubature has.
    for width in [8, 8, 8, 8, 4, 8, 8] {
        array(&mut at, 1, width);
    }
    (0..9).for_each(|_| array(&mut at, 2, 8));
    for (dimensions, width) in [(1, 4), (1, 8), (2, 8), (2, 8)] {
        array(&mut at, dimensions, width);
    }
    assert_eq!((word(at), at + 16), (0, bytes.len()), "no stitches, then the hash");
    places
}

#[test]
fn sizes_beyond_memory_are_refused() {
    let bytes = small();
    let places = sizes(&bytes);
    assert_eq!(places.len(), 14 + 2 * 11);
    for place in places {
        for size in [u64::MAX, u64::MAX / 8, 1 << 61, 1 << 40] {
            let mut hostile = bytes.clone();
            hostile[place..place + 8].copy_from_slice(&size.to_le_bytes());
            let sentence = refusal(&with_hash(hostile)).map(|error| error.to_string());
            let expected = "file: the model's contents do not match their sizes; build it anew";
            assert_eq!(sentence.as_deref(), Some(expected), "{size} at {place}");
        }
    }
}

#[test]
fn other_files_and_versions_are_named() {
    let sentence = |bytes: &[u8]| refusal(bytes).unwrap().to_string();
    assert!(sentence(b"").contains("not a Jounce model"));
    assert!(sentence(b"PK\x03\x04 some zip file of some length").contains("not a Jounce model"));
    let mut other = small();
    other[8] = 77;
    assert!(sentence(&with_hash(other)).contains("version 77"));
    let mut other = small();
    other[8] = 5;
    assert!(sentence(&with_hash(other)).contains("version 5, this program reads version 6; build it anew"));
    let mut other = small();
    other[12] = 9;
    assert!(sentence(&with_hash(other)).contains("of a kind that is not read here"));
}

#[test]
fn bytes_of_states_are_refused_when_anything_is_off() {
    let body = Body::new(bar([2, 1, 1], 0.1), 2, 1);
    let mut sim = Simulation::new(body.model(), SimulationParams::default()).unwrap();
    sim.step(Some(&swing(0.3))).unwrap();
    let bytes = encode_state(&sim.save_state());
    assert_eq!(encode_state(&decode_state(&bytes).unwrap()), bytes);
    for at in 0..bytes.len() {
        assert!(decode_state(&bytes[..at]).is_err(), "{at}");
        let mut hostile = bytes.clone();
        hostile[at] ^= 0x40;
        assert!(decode_state(&hostile).is_err(), "{at}");
        // What has the right hash is refused at the latest where a simulation is to go on from it.
        if let Ok(state) = decode_state(&with_hash(hostile)) {
            let _ = sim.restore_state(&state);
        }
    }
    assert!(decode_state(&small()).unwrap_err().to_string().contains("of a kind that is not read here"));
    assert!(refusal(&bytes).unwrap().to_string().contains("of a kind that is not read here"));
}
