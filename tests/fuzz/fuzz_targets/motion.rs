//! Any settings, poses, forces and drag on a valid body, in modes and in the full space: either an error
//! message, or finite motion.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use jounce::Progress;
use jounce::inputs::Drag;
use jounce::inputs::StepInput;
use jounce::model::Model;
use jounce_fuzz::{REST, Settings, Transform, advance, cube, simulation};
use libfuzzer_sys::fuzz_target;

/// A cube in modes, and in the full space.
static CUBES: LazyLock<[Model; 2]> = LazyLock::new(|| {
    let cube = cube();
    let full = cube.full_space(None, None, &Progress::default()).expect("a cube has a full space");
    [cube.model, full]
});

/// Input of one frame.
#[derive(Debug, Arbitrary)]
enum Frame {
    Step { near: [i8; 12], force: Option<[f32; 3]> },
    Wild { pose: [Transform; 2], force: Option<Vec<f64>>, drag: Option<[f64; 3]> },
    Cut { near: [i8; 12] },
    Coast { near: [i8; 12] },
    Settle { near: [i8; 12] },
    Rewind,
}

/// A plausible transform of a rig.
fn plausible(near: [i8; 12]) -> Transform {
    let mut transform = REST;
    for (entry, small) in transform.as_flattened_mut().iter_mut().zip(near) {
        *entry += f64::from(small) / 32.0;
    }
    transform
}

fuzz_target!(|input: (Settings, bool, Vec<Frame>)| {
    let (settings, is_full, frames) = input;
    let model = &CUBES[usize::from(is_full)];
    let Ok(mut simulation) = simulation(model, &settings) else { return };
    let start = simulation.save_state();
    let count = simulation.coefficients().len();
    // Only models in modes take drag at samples.
    let samples = model.force_samples(4).ok().map(Arc::new);
    for frame in frames.into_iter().take(16) {
        let posed = |near| [REST, plausible(near)];
        match frame {
            Frame::Step { near, force } => {
                let force = force.map(|f| (0..count).map(|i| f64::from(f[i % 3])).collect::<Vec<_>>());
                let pose = posed(near);
                advance(
                    &mut simulation,
                    &StepInput { pose: Some(&pose), force: force.as_deref(), ..StepInput::default() },
                );
            }
            Frame::Wild { pose, force, drag } => {
                let drag = drag.zip(samples.clone()).and_then(|([linear, quadratic, velocity], samples)| {
                    let parts = samples.masses().len();
                    let (linear, quadratic) = (vec![linear; parts], vec![quadratic; parts]);
                    let velocity = vec![velocity; 3 * parts];
                    Drag::new(samples, &linear, Some(&quadratic), Some(&velocity)).ok()
                });
                advance(
                    &mut simulation,
                    &StepInput {
                        pose: Some(&pose),
                        force: force.as_deref(),
                        drag: drag.as_ref(),
                        ..StepInput::default()
                    },
                );
            }
            Frame::Cut { near } => {
                let _ = simulation.cut(&StepInput { pose: Some(&posed(near)), ..StepInput::default() });
            }
            Frame::Coast { near } => {
                let _ = simulation.coast(&StepInput { pose: Some(&posed(near)), ..StepInput::default() });
            }
            Frame::Settle { near } => {
                let pose = posed(near);
                let input = StepInput { pose: Some(&pose), ..StepInput::default() };
                let _ = simulation.settle(&input, 20, &Progress::default());
            }
            Frame::Rewind => simulation.restore_state(&start).expect("a state of this simulation"),
        }
        assert!(simulation.coefficients().iter().all(|z| z.is_finite()));
    }
});
