//! Speed of sound synthesis for a struck body relative to real time, at 48 kHz on one thread.

use std::hint::black_box;
use std::time::Instant;

use jounce::Result;
use jounce::modal::{ModalOscillators, RayleighDamping};

const RATE: usize = 48_000;
const COUNTS: [usize; 3] = [50, 500, 5000];
const REPEATS: usize = 9;

fn main() -> Result<()> {
    println!("free swings of linear modes, a second at 48 kHz, one thread");
    println!("modes      ms   times real time");
    for count in COUNTS {
        let milliseconds = 1e3 * second(count)?;
        println!("{count:5} {milliseconds:7.2} {:17.0}", 1e3 / milliseconds);
    }
    Ok(())
}

/// Median time to compute one second of sound.
fn second(count: usize) -> Result<f64> {
    let eigenvalues: Vec<f64> = (1..=count).map(|k| (1e5 * k as f64 / count as f64).powi(2)).collect();
    let damping = RayleighDamping::of_ratios([[100.0, 2e-3], [5000.0, 5e-3]])?;
    let mut modes = ModalOscillators::new(&eigenvalues, &damping, 1.0 / RATE as f64)?;
    let ones = vec![1.0; count];
    let mut samples = vec![0.0; RATE];
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        modes.strike(&ones)?;
        let start = Instant::now();
        modes.ring(&ones, black_box(&mut samples))?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[REPEATS / 2])
}
