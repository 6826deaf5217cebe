//! Banks of oscillators, stored as one array a quantity.

use std::f64::consts::TAU;

use pulp::{Arch, Simd, WithSimd};

use super::propagator::Propagator;
use crate::{Error, Result, check};

/// SIMD registers of modes advanced together, enough to hide the latency of a multiplication.
const TOGETHER: usize = 4;
/// The longest register, in numbers.
const MOST_LANES: usize = 8;
/// Samples between loads of the modes from memory.
const TILE: usize = 256;
/// Largest eigenvalue in units of a step, against overflow.
const LARGEST: f64 = 1e100;
/// Amplitude that counts as zero: arithmetic with numbers below 1e-308 is slow.
const SILENT: f64 = 1e-100;

/// Damping `alpha M + beta K`, of ratio `xi = (alpha / omega + beta omega) / 2` `[MOR eq. 3]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayleighDamping {
    alpha: f64,
    beta: f64,
}

impl RayleighDamping {
    /// Damping with alpha in 1/s and beta in s.
    ///
    /// # Errors
    /// [`Error::Range`] for a negative value or one that is not finite.
    pub fn new(alpha: f64, beta: f64) -> Result<Self> {
        for (what, got) in [("alpha", alpha), ("beta", beta)] {
            check::range(what, "a number >= 0", got, got.is_finite() && got >= 0.0)?;
        }
        Ok(Self { alpha, beta })
    }

    /// Damping with given ratios at two frequencies in Hz, each a pair of frequency and ratio.
    ///
    /// # Errors
    /// [`Error::Range`] for a frequency that is not positive, for equal frequencies, for a negative ratio,
    /// and for a quotient of the ratios above that of the frequencies, which would make damping negative at
    /// other frequencies.
    pub fn of_ratios([first, second]: [[f64; 2]; 2]) -> Result<Self> {
        for [frequency, ratio] in [first, second] {
            check::range("damping", "positive frequencies in Hz", frequency, check::is_positive(frequency))?;
            check::range("damping", "ratios >= 0", ratio, ratio.is_finite() && ratio >= 0.0)?;
        }
        if first[0] == second[0] {
            let expected = "two different frequencies";
            return Err(Error::Range { what: "damping", expected, got: first[0] });
        }
        let [[a, x], [b, y]] = [first, second].map(|[frequency, ratio]| [TAU * frequency, ratio]);
        // Scaled by the larger of both terms, to avoid underflow if one of them is 0.
        let [alpha, beta] = [a * b * (x * b - y * a), y * b - x * a].map(|term| 2.0 * term / (b * b - a * a));
        // Rounding errors of an extreme pair of ratios count as 0.
        let none = 1e-12 * x.max(y);
        let clear = |term: f64, share: f64| if (share * term).abs() <= none { 0.0 } else { term };
        let [alpha, beta] = [clear(alpha, 0.5 / a.min(b)), clear(beta, 0.5 * a.max(b))];
        if alpha < 0.0 || beta < 0.0 {
            let expected = "ratios no further apart than their frequencies";
            return Err(Error::Range { what: "damping", expected, got: x.max(y) / x.min(y) });
        }
        Ok(Self { alpha, beta })
    }

    /// alpha, 1/s.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// beta, s.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// `alpha + beta l`, 1/s.
    pub fn rate(&self, eigenvalue: f64) -> f64 {
        self.alpha + self.beta * eigenvalue
    }
}

/// Independent modes `z'' + (alpha + beta l) z' + l z = f` with steps that are exact for loads linear in
/// time, at any step length `[MOR eq. 2, 3]`.
///
/// ```
/// use std::f64::consts::TAU;
///
/// use jounce::modal::{ModalOscillators, RayleighDamping};
///
/// // A mode of 1 Hz without damping; a quarter of a period after a blow it stands still, far out.
/// let damping = RayleighDamping::new(0.0, 0.0)?;
/// let mut mode = ModalOscillators::new(&[TAU * TAU], &damping, 0.25)?;
/// mode.strike(&[1.0])?;
/// mode.step(&[0.0], &[0.0])?;
/// assert!((mode.amplitudes()[0] - 1.0 / TAU).abs() < 1e-12);
/// assert!(mode.velocities()[0].abs() < 1e-12);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModalOscillators {
    count: usize,
    /// z, then z'; zeros pad the last group of registers, here and in all arrays below.
    state: [Vec<f64>; 2],
    motion: [[Vec<f64>; 2]; 2],
    loads: [[Vec<f64>; 2]; 2],
}

impl ModalOscillators {
    /// Modes at rest. eigenvalues: 1/s^2, negative rounding errors count as 0. dt: step length, s.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for an eigenvalue, [`Error::Range`] for dt.
    pub fn new(eigenvalues: &[f64], damping: &RayleighDamping, dt: f64) -> Result<Self> {
        check::finite("eigenvalues", eigenvalues, 1)?;
        check::range("dt", "a positive number of seconds", dt, check::is_positive(dt))?;
        let fastest = eigenvalues.iter().fold(0.0, |most: f64, value| most.max(*value));
        if fastest.max(1.0) * dt * dt > LARGEST || damping.rate(fastest) * dt > LARGEST {
            let expected = "a step in which no mode turns or dies more than 1e50-fold";
            return Err(Error::Range { what: "dt", expected, got: dt });
        }
        let steps: Vec<Propagator> = eigenvalues
            .iter()
            .map(|value| value.max(0.0))
            .map(|value| Propagator::new(value, damping.rate(value), dt))
            .collect();
        let padded = steps.len().next_multiple_of(TOGETHER * MOST_LANES);
        let all = |number: &dyn Fn(&Propagator) -> f64| {
            let mut numbers: Vec<f64> = steps.iter().map(number).collect();
            numbers.resize(padded, 0.0);
            numbers
        };
        let table = |of: &dyn Fn(&Propagator) -> [[f64; 2]; 2]| {
            [0, 1].map(|row| [0, 1].map(|column| all(&|step| of(step)[row][column])))
        };
        let [motion, loads] = [table(&|step| step.motion), table(&|step| step.loads)];
        Ok(Self { count: steps.len(), state: [vec![0.0; padded], vec![0.0; padded]], motion, loads })
    }

    /// z, k, kg^(1/2) m.
    pub fn amplitudes(&self) -> &[f64] {
        &self.state[0][..self.count]
    }

    /// z', k, kg^(1/2) m/s.
    pub fn velocities(&self) -> &[f64] {
        &self.state[1][..self.count]
    }

    /// Adds `psi' J` of impulses J to the velocities, k.
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn strike(&mut self, impulses: &[f64]) -> Result<()> {
        self.check("impulses", impulses)?;
        self.state[1].iter_mut().zip(impulses).for_each(|(velocity, impulse)| *velocity += impulse);
        Ok(())
    }

    /// One step under loads `psi' f`, k, linear in time from `start` to `end`.
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn step(&mut self, start: &[f64], end: &[f64]) -> Result<()> {
        self.check("loads", start)?;
        self.check("loads", end)?;
        let [amplitudes, velocities] = &mut self.state;
        let [[a, b], [c, d]] = &self.motion;
        let [[p, q], [r, s]] = &self.loads;
        for k in 0..self.count {
            let [z, v] = [amplitudes[k], velocities[k]];
            amplitudes[k] = a[k] * z + b[k] * v + p[k] * start[k] + q[k] * end[k];
            velocities[k] = c[k] * z + d[k] * v + r[k] * start[k] + s[k] * end[k];
        }
        Ok(())
    }

    /// Steps without load: adds `sum_i w_i z_i` after each step to one sample. Amplitudes below 1e-100
    /// become 0.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is a weight a mode.
    pub fn ring(&mut self, weights: &[f64], samples: &mut [f64]) -> Result<()> {
        self.check("weights", weights)?;
        let mut weights = weights.to_vec();
        weights.resize(self.state[0].len(), 0.0);
        let Self { state, motion, .. } = self;
        Arch::new().dispatch(Ringing { state, motion, weights: &weights, samples });
        Ok(())
    }

    fn check(&self, what: &'static str, numbers: &[f64]) -> Result<()> {
        if numbers.len() == self.count {
            return Ok(());
        }
        let [expected, got] = [self.count, numbers.len()].map(|count| format!("({count},)"));
        Err(Error::Shape { what, expected, got })
    }
}

struct Ringing<'a> {
    state: &'a mut [Vec<f64>; 2],
    motion: &'a [[Vec<f64>; 2]; 2],
    weights: &'a [f64],
    samples: &'a mut [f64],
}

impl WithSimd for Ringing<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let [amplitudes, velocities] = self.state.each_mut().map(|x| S::as_mut_simd_f64s(x).0);
        let rows = self.motion.each_ref().map(|row| row.each_ref().map(|x| S::as_simd_f64s(x).0));
        let weights = S::as_simd_f64s(self.weights).0;
        let mut sums = [simd.splat_f64s(0.0); TILE];
        for tile in self.samples.chunks_mut(TILE) {
            let sums = &mut sums[..tile.len()];
            sums.fill(simd.splat_f64s(0.0));
            for first in (0..weights.len()).step_by(TOGETHER) {
                let of = |x: &[S::f64s]| -> [S::f64s; TOGETHER] { std::array::from_fn(|i| x[first + i]) };
                let [mut z, mut v] = [of(amplitudes), of(velocities)];
                let [[a, b], [c, d]] = rows.map(|row| row.map(of));
                let w = of(weights);
                for sum in &mut *sums {
                    for i in 0..TOGETHER {
                        let moved = simd.mul_add_e_f64s(a[i], z[i], simd.mul_f64s(b[i], v[i]));
                        v[i] = simd.mul_add_e_f64s(c[i], z[i], simd.mul_f64s(d[i], v[i]));
                        z[i] = moved;
                        *sum = simd.mul_add_e_f64s(w[i], moved, *sum);
                    }
                }
                amplitudes[first..first + TOGETHER].copy_from_slice(&z);
                velocities[first..first + TOGETHER].copy_from_slice(&v);
            }
            tile.iter_mut().zip(sums).for_each(|(sample, sum)| *sample += simd.reduce_sum_f64s(*sum));
            for number in pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(amplitudes)
                .iter_mut()
                .chain(pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(velocities))
            {
                *number = if number.abs() < SILENT { 0.0 } else { *number };
            }
        }
    }
}
