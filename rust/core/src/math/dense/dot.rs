//! Inner products of vectors.

use pulp::{Arch, Simd, WithSimd};

/// Number of running sums, as many as the longest register has lanes.
const SUMS: usize = 8;

/// Inner product with eight running sums: the same bits with registers of any length.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    let sums = Arch::new().dispatch(Dot { a: a.as_flattened(), b: b.as_flattened() });
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl WithSimd for Dot<'_> {
    type Output = [f64; SUMS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; SUMS] {
        let (a, _) = S::as_simd_f64s(self.a);
        let (b, _) = S::as_simd_f64s(self.b);
        let registers = SUMS / S::F64_LANES;
        let mut sums = [simd.splat_f64s(0.0); SUMS];
        for (a, b) in a.chunks_exact(registers).zip(b.chunks_exact(registers)) {
            for register in 0..registers {
                // Not fused, which would change bits.
                let product = simd.mul_f64s(a[register], b[register]);
                sums[register] = simd.add_f64s(sums[register], product);
            }
        }
        *pulp::bytemuck::cast_slice::<S::f64s, f64>(&sums).first_chunk().expect("eight sums")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers give the bits of eight sums in a plain loop, in vectors of any length.
    #[test]
    fn bits_are_those_of_eight_sums() {
        let number = |seed: usize| (12.9898 * seed as f64 + 4.1).sin() * 43758.5453;
        for length in [0, 1, 7, 8, 9, 64, 287, 1000] {
            let [a, b]: [Vec<f64>; 2] = [0, 1].map(|k| (0..length).map(|i| number(2 * i + k)).collect());
            let mut sums = [0.0; SUMS];
            let whole = length / SUMS * SUMS;
            (0..whole).for_each(|i| sums[i % SUMS] += a[i] * b[i]);
            let rest: f64 = (whole..length).map(|i| a[i] * b[i]).sum();
            let expected = sums.iter().sum::<f64>() + rest;
            assert_eq!(dot(&a, &b).to_bits(), expected.to_bits(), "{length}");
        }
    }
}
