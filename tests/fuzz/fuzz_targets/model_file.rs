//! Any bytes in a model file: either an error message, or a model that can be simulated.
#![no_main]

use std::sync::LazyLock;

use jounce::Progress;
use jounce::file::{decode, encode};
use jounce::inputs::{StepInput, SimulationParams};
use jounce::simulation::Simulation;
use jounce_fuzz::{REST, advance, cube, edited, sealed};
use libfuzzer_sys::fuzz_target;

/// A valid file of each kind.
static WHOLE: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let cube = cube();
    let full = cube.full_space(None, None, &Progress::default()).unwrap();
    [encode(&cube.model).unwrap(), encode(&full).unwrap()]
});

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
            advance(&mut simulation, &StepInput { pose: Some(&pose), ..StepInput::default() });
        }
    }
});
