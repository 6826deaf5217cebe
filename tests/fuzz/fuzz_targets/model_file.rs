//! Any bytes in a model file: either an error message, or a model that can be simulated.
#![no_main]

use std::sync::LazyLock;

use jounce::Progress;
use jounce::file::{decode, encode};
use jounce::inputs::{Drive, SimulationParams};
use jounce::simulation::Simulation;
use jounce_fuzz::{REST, advance, cube};
use libfuzzer_sys::fuzz_target;

/// Number of bytes before the length of the body, then length of the hash after it.
const HEAD: usize = 16;
const HASH: usize = 8;

/// A valid file of each kind.
static WHOLE: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let cube = cube();
    let full = cube.full_space(None, None, &Progress::default()).unwrap();
    [encode(&cube.model).unwrap(), encode(&full).unwrap()]
});

/// A file of the same kind with correct length and hash, so that its contents are read.
fn sealed(whole: &[u8], body: &[u8]) -> Vec<u8> {
    let mut file = whole[..HEAD].to_vec();
    file.extend((body.len() as u64).to_le_bytes());
    file.extend(body);
    let hash = file.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    file.extend(hash.to_le_bytes());
    file
}

/// The body of a valid model with some of its 8-byte words replaced: closer to a model than random bytes.
fn edited(whole: &[u8], data: &[u8]) -> Vec<u8> {
    let mut body = whole[HEAD + 8..whole.len() - HASH].to_vec();
    let words = body.len() / 8;
    for edit in data.chunks_exact(10) {
        let at = 8 * (usize::from(u16::from_le_bytes([edit[0], edit[1]])) % words);
        body[at..at + 8].copy_from_slice(&edit[2..]);
    }
    body
}

fuzz_target!(|data: &[u8]| {
    let [modes, full] = &*WHOLE;
    let made = [modes, full].map(|whole| [sealed(whole, data), sealed(whole, &edited(whole, data))]);
    for file in [data.to_vec()].into_iter().chain(made.into_iter().flatten()) {
        let Ok(model) = decode(&file) else { continue };
        assert_eq!(encode(&model).unwrap(), file);
        let Ok(mut simulation) = Simulation::new(model.clone(), SimulationParams::default()) else {
            continue;
        };
        let pose = vec![REST; model.bone_count().min(1 << 12)];
        for _ in 0..2 {
            advance(&mut simulation, &Drive { pose: Some(&pose), ..Drive::default() });
        }
    }
});
