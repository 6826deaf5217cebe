//! Model files: bit-identical round trips, and rejection of everything else.

use std::path::PathBuf;

use jounce::file::{decode, decode_state, encode, encode_state, load, save};
use jounce::inputs::SimulationParams;
use jounce::material::{Fibres, Field, Law, Material, PrincipalStretch};
use jounce::mesh::{TetMesh, solid_lattice};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::Stitches;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce::{Error, Progress};
use jounce_tests::bodies::{Body, bar, swing};
use jounce_tests::laws::laws;
use jounce_tests::surfaces::sphere;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A folder for this test alone, removed at the end.
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

/// A small file of each kind.
fn both() -> [Vec<u8>; 2] {
    [small(), encode(&flesh(bar([2, 1, 1], 0.1), 1)).unwrap()]
}

/// Full-space flesh with every feature: laws that change every few tets, drawn laws of two kinds among
/// them, pins, a rig, a constraint, strength, stitches and two muscles.
fn flesh(mesh: TetMesh, each: usize) -> Model {
    let (n, tets) = (mesh.vertices().len(), mesh.tets().len());
    let [low, high] = [f64::min, f64::max].map(|pick| {
        let along = mesh.vertices().iter().map(|v| v[0]);
        along.reduce(pick).unwrap()
    });
    let along = |v: &[f64; 3]| (v[0] - low) / (high - low);
    let weights: Vec<f64> = mesh.vertices().iter().map(along).flat_map(|x| [1.0 - x * x, x * x]).collect();
    let rig = Rig::new(n, 2, &weights).unwrap();
    let pinned: Vec<bool> = (0..n).map(|vertex| vertex % 5 == 0).collect();
    let leak: Vec<f64> = (0..n).map(|vertex| 0.1 * (vertex % 4) as f64).collect();
    let known = [laws(), laws()].concat();
    let law = |t: usize| match &known[t / each % known.len()].1 {
        PrincipalStretch::Polynomial { mu } => PrincipalStretch::Polynomial { mu: 1e4 * mu },
        PrincipalStretch::Spline { curves, .. } => {
            PrincipalStretch::Spline { curves: curves.clone(), scale: 1e4 + t as f64 }
        }
        _ => PrincipalStretch::NeoHookean { mu: 1e4 / 3.0, lambda: 1e4 + t as f64 },
    };
    let laws: Vec<PrincipalStretch> = (0..tets).map(law).collect();
    let number = Field::Uniform;
    let material = Material::new(Law::Arap, number(1.0), number(0.0), number(990.0)).unwrap();
    let strength: Vec<f64> = (0..n).map(|vertex| 1.0 / (1 + vertex % 3) as f64).collect();
    let stitches = Stitches::between_vertices(&mesh, &[[1, 6], [2, 7]], &[30.0, 1e3], &[0.0, 0.7]).unwrap();
    let muscle = |share: f64| {
        let stiffness = (0..tets).map(|t| share * (t % 2) as f64).collect();
        Fibres::new(Field::PerTet(stiffness), &vec![[1.0, share, 0.3]; tets]).unwrap()
    };
    let fibres = Fibres::joined(&[muscle(7e3), muscle(3e3)]).unwrap();
    let restraint = Restraint { rig: Some(&rig), leak: Some(&leak), pinned: Some(&pinned) };
    let extras = FullSpaceExtras {
        rig: Some(&rig),
        strength: Some(&strength),
        stitches: Some(&stitches),
        fibres: Some(&fibres),
    };
    let progress = Progress::default();
    let made = FullSpaceModel::with_extras(&mesh, &material, &laws, &restraint, &extras, &progress);
    Model::FullSpace(made.unwrap().into())
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

/// The data of a full space are read back bit for bit, and data derived from them have equal bits.
#[test]
fn full_space_flesh_moves_on_with_the_same_bits() {
    let folder = Folder::new("full-space");
    let path = folder.0.join("flesh.jounce");
    let cells =
        solid_lattice(&sphere(2).placed([0.3, 0.2, 0.2], [0.0; 3]).surface(), 6, &Progress::default());
    for (mesh, each) in [(bar([8, 3, 3], 0.1), 1), (cells.unwrap(), 10)] {
        let cells = mesh.cells().len();
        let model = flesh(mesh, each);
        save(&model, &path).unwrap();
        let loaded = load(&path).unwrap();
        assert_eq!(encode(&loaded), encode(&model));
        assert_eq!(loaded.mesh().unwrap().cells().len(), cells);
        assert_eq!((loaded.bone_count(), loaded.muscle_count()), (2, 2));
        assert_eq!(loaded.frequency().to_bits(), model.frequency().to_bits());
        let params = SimulationParams {
            contraction: 0.3.into(),
            stretch: Some(0.4),
            limit: Some(0.2),
            substeps: 2,
            ..SimulationParams::default()
        };
        let mut sims = [&model, &loaded].map(|model| Simulation::new(model.clone(), params).unwrap());
        for frame in 0..12 {
            let reports = sims.each_mut().map(|sim| sim.step(Some(&swing(f64::from(frame) / 24.0))).unwrap());
            assert_eq!(reports[0].iterations, reports[1].iterations);
            assert_eq!(sims[0].coefficients(), sims[1].coefficients());
        }
        assert_eq!(encode_state(&sims[0].save_state()), encode_state(&sims[1].save_state()));
        assert!(sims[0].coefficients().iter().any(|u| u.abs() > 1e-3));
    }
}

/// The parts of a full space carry their names, and the error for a missing or wrong part names it.
#[test]
fn parts_are_told_by_name() {
    let bytes = &both()[1];
    let names = [
        "vertices",
        "tets",
        "solid",
        "cells",
        "flesh",
        "mass",
        "laws",
        "parameters",
        "curves",
        "knots",
        "pinned",
        "constraint",
        "ends",
        "rows",
        "values",
        "rig",
        "bones",
        "moved",
        "weights",
        "strength",
        "stitches",
        "between",
        "fibres",
        "fibre tets",
        "muscles",
        "directions",
        "groups",
        "gaps",
    ];
    for name in names {
        let written = [&(name.len() as u64).to_le_bytes(), name.as_bytes()].concat();
        let at = bytes.windows(written.len()).position(|some| some == written).unwrap();
        let mut hostile = bytes.clone();
        hostile[at + 8] = b'?';
        let expected = format!("file: the model's {name} are not what they should be; build it anew");
        assert_eq!(refusal(&with_hash(hostile)).unwrap().to_string(), expected);
    }
}

/// A factor has a dense block of all columns of the constraint: a file that only claims many columns
/// allocates no memory.
#[test]
fn a_constraint_of_more_columns_than_rows_or_of_empty_ones_is_refused() {
    let bytes = &both()[1];
    let name = [&4_u64.to_le_bytes()[..], b"ends"].concat();
    let at = name.len() + bytes.windows(name.len()).position(|some| some == name).unwrap();
    let count = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let end = at + 8 + 4 * count as usize;
    for more in [1_u64, 1 << 20] {
        let columns = bytes[end - 4..end].repeat(more as usize);
        let mut hostile = [&bytes[..end], &columns, &bytes[end..]].concat();
        hostile[at..at + 8].copy_from_slice(&(count + more).to_le_bytes());
        let length = (hostile.len() - 32) as u64;
        hostile[16..24].copy_from_slice(&length.to_le_bytes());
        let expected = "file: the model's constraint are not what they should be; build it anew";
        assert_eq!(refusal(&with_hash(hostile)).unwrap().to_string(), expected);
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
    for bytes in both() {
        for length in 0..bytes.len() {
            assert!(matches!(refusal(&bytes[..length]), Some(Error::File(_))), "cut at {length}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(matches!(refusal(&longer), Some(Error::File(_))));
    }
}

#[test]
fn every_flipped_byte_is_refused() {
    for bytes in both() {
        for place in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] ^= flip;
                assert!(matches!(refusal(&damaged), Some(Error::File(_))), "byte {place}");
            }
        }
    }
}

/// With a corrected hash, contents are either rejected with a message or harmless.
#[test]
fn contents_that_lie_are_refused_or_harmless() {
    both().iter().for_each(|bytes| lie_once(bytes));
}

fn lie_once(bytes: &[u8]) {
    let (mut refused, mut harmless) = (0, 0);
    for place in 8..bytes.len() - 8 {
        for flip in [0x01, 0x10, 0x7f, 0xff] {
            let mut hostile = bytes.to_vec();
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
    both().iter().for_each(|bytes| lie_again_and_again(bytes));
}

fn lie_again_and_again(bytes: &[u8]) {
    let words = (bytes.len() - 32) / 8;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut stepped = 0;
    for _ in 0..6000 {
        let mut hostile = bytes.to_vec();
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

/// Offsets of the sizes of a file's arrays and matrices, found by reading it by its specification.
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
    // The number of bones, which is no array, and the mass.
    at += 16;
    // The sixth array contains tets, present only with cubature.
    for width in [8, 8, 8, 8, 8, 4, 8, 8] {
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
    assert_eq!(places.len(), 15 + 2 * 11);
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
    other[8] = 7;
    assert!(sentence(&with_hash(other)).contains("version 7, this program reads version 8; build it anew"));
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
        // A state with a correct hash is rejected at the latest when a simulation restores it.
        if let Ok(state) = decode_state(&with_hash(hostile)) {
            let _ = sim.restore_state(&state);
        }
    }
    assert!(decode_state(&small()).unwrap_err().to_string().contains("of a kind that is not read here"));
    assert!(refusal(&bytes).unwrap().to_string().contains("of a kind that is not read here"));
}
