//! Random numbers from a seeded generator.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Uniform number in [0, 1).
pub(crate) fn uniform(random: &mut ChaCha8Rng) -> f64 {
    random.next_u32() as f64 / (u32::MAX as f64 + 1.0)
}

/// Normally distributed number with mean 0 and variance 1, by the Box-Muller transform.
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (length, angle) = (1.0 - uniform(random), std::f64::consts::TAU * uniform(random));
    (-2.0 * length.ln()).sqrt() * angle.cos()
}

/// Sorted random sample of at most `wanted` indices below `total`.
pub(crate) fn sample(total: usize, wanted: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
    if wanted >= total {
        return (0..total).collect();
    }
    let mut chosen = Vec::with_capacity(wanted);
    for index in 0..total {
        if uniform(random) * ((total - index) as f64) < (wanted - chosen.len()) as f64 {
            chosen.push(index);
        }
    }
    chosen
}
