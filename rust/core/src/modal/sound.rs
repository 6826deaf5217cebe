//! Sound of a struck or driven body: the sum of its audible modes.

use nalgebra::Vector3;

use super::swing::{MOST_RATE, within};
use super::{ModalForces, ModalOscillators, RayleighDamping};
use crate::math::dense::dot;
use crate::mesh::TetMesh;
use crate::subspace::LinearModes;
use crate::{Error, Result, check};

/// Audible range, Hz.
const AUDIBLE: [f64; 2] = [20.0, 20_000.0];
/// Longest sound, s.
const LONGEST: f64 = 3600.0;

/// A blow on a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strike {
    /// Time, s.
    pub time: f64,
    /// Struck vertex.
    pub vertex: u32,
    /// Impulse, N s.
    pub impulse: [f64; 3],
}

/// Settings of modal sound.
#[derive(Debug, Clone, Copy)]
pub struct SoundParams<'a> {
    /// Samples a second.
    pub rate: f64,
    /// Damping of the modes.
    pub damping: RayleighDamping,
    /// Weight of each mode in the sound, k; `None` is 1 `[MOR sec. 3.2]`.
    pub weights: Option<&'a [f64]>,
}

/// Air displaced by each mode: `omega^2 |integral of psi over the outward normals|`, k.
///
/// # Errors
/// [`Error::Shape`] for modes of another mesh.
pub fn radiation(mesh: &TetMesh, modes: &LinearModes) -> Result<Vec<f64>> {
    let (rows, expected) = (modes.shapes.nrows(), 3 * mesh.vertices().len());
    if rows != expected {
        let [expected, got] = [expected, rows].map(|rows| format!("({rows}, k)"));
        return Err(Error::Shape { what: "modes", expected, got });
    }
    let mut outward = vec![0.0; rows];
    for triangle in mesh.boundary() {
        let [a, b, c] = triangle.map(|v| Vector3::from(mesh.vertices()[v as usize]));
        let share = (b - a).cross(&(c - a)) / 6.0;
        for (v, c) in triangle.iter().flat_map(|&v| (0..3).map(move |c| (v as usize, c))) {
            outward[3 * v + c] += share[c];
        }
    }
    let volume = |k: usize| dot(modes.shapes.col_as_slice(k), &outward);
    Ok((0..).zip(&modes.eigenvalues).map(|(k, value)| value.max(0.0) * volume(k).abs()).collect())
}

/// `sum_i w_i z_i` of the deforming modes between 20 Hz and 20 kHz, and below half the rate, from rest.
///
/// A strike acts at the sample nearest to its time and is audible from the next sample on. Steps are those
/// of [`ModalOscillators`], exact.
///
/// # Errors
/// [`Error::Shape`], [`Error::NotFinite`], [`Error::Index`] and [`Error::Range`] for input that does not
/// fit the modes; [`Error::Unsupported`] without an audible mode.
pub fn sound(
    modes: &LinearModes,
    strikes: &[Strike],
    forces: Option<ModalForces<'_>>,
    params: &SoundParams<'_>,
    duration: f64,
) -> Result<Vec<f32>> {
    check(modes, strikes, forces, params, duration)?;
    let heard = audible(modes, params);
    if heard.is_empty() {
        let why = "none of them swings between 20 Hz and 20 kHz; take more, or a stiffer or smaller body";
        return Err(Error::Unsupported { what: "modes", why });
    }
    let mut ringing = Ringing::new(modes, heard, forces, params, duration)?;
    let at = |strike: &Strike| (strike.time * params.rate).round() as usize;
    let mut ordered: Vec<&Strike> = strikes.iter().collect();
    ordered.sort_by_key(|strike| at(strike));
    for strike in ordered {
        ringing.advance(at(strike))?;
        let v = 3 * strike.vertex as usize;
        let along = |&k: &usize| dot(&modes.shapes.col_as_slice(k)[v..v + 3], &strike.impulse);
        let impulses: Vec<f64> = ringing.heard.iter().map(along).collect();
        ringing.oscillators.strike(&impulses)?;
    }
    ringing.advance(usize::MAX)?;
    Ok(ringing.samples.iter().map(|&sample| sample as f32).collect())
}

/// Indices of the audible modes.
fn audible(modes: &LinearModes, params: &SoundParams<'_>) -> Vec<usize> {
    let highest = AUDIBLE[1].min(0.5 * params.rate);
    let swings = |value: f64| 0.25 * params.damping.rate(value).powi(2) < value;
    let frequencies = modes.frequencies();
    let heard = |&k: &usize| {
        (AUDIBLE[0]..=highest).contains(&frequencies[k])
            && frequencies[k] < 0.5 * params.rate
            && swings(modes.eigenvalues[k])
    };
    (0..frequencies.len()).filter(heard).collect()
}

struct Ringing<'a> {
    heard: Vec<usize>,
    oscillators: ModalOscillators,
    weights: Vec<f64>,
    /// Loads f x k, samples a frame, and the last sample with load.
    forces: Option<(&'a [f64], f64, usize)>,
    modes: usize,
    samples: Vec<f64>,
    /// Current sample of the oscillators.
    now: usize,
}

impl<'a> Ringing<'a> {
    fn new(
        modes: &LinearModes,
        heard: Vec<usize>,
        forces: Option<ModalForces<'a>>,
        params: &SoundParams<'_>,
        duration: f64,
    ) -> Result<Self> {
        let eigenvalues: Vec<f64> = heard.iter().map(|&k| modes.eigenvalues[k]).collect();
        let count = modes.eigenvalues.len();
        let forces = forces.map(|forces| {
            let (spacing, frames) = (params.rate / forces.fps, forces.rows.len() / count);
            (forces.rows, spacing, (frames.saturating_sub(1) as f64 * spacing).floor() as usize)
        });
        Ok(Self {
            oscillators: ModalOscillators::new(&eigenvalues, &params.damping, params.rate.recip())?,
            weights: heard.iter().map(|&k| params.weights.map_or(1.0, |weights| weights[k])).collect(),
            forces,
            heard,
            modes: count,
            samples: vec![0.0; ((duration * params.rate).round() as usize).max(1)],
            now: 0,
        })
    }

    /// Advances to a sample, or to the last one.
    fn advance(&mut self, to: usize) -> Result<()> {
        let to = to.min(self.samples.len() - 1);
        if let Some((rows, spacing, end)) = self.forces {
            let mut start = self.loads(rows, spacing, self.now);
            while self.now < to.min(end) {
                let next = self.loads(rows, spacing, self.now + 1);
                self.oscillators.step(&start, &next)?;
                self.now += 1;
                self.samples[self.now] = dot(&self.weights, self.oscillators.amplitudes());
                start = next;
            }
        }
        if self.now < to {
            self.oscillators.ring(&self.weights, &mut self.samples[self.now + 1..=to])?;
            self.now = to;
        }
        Ok(())
    }

    /// Loads of the audible modes at a sample.
    fn loads(&self, rows: &[f64], spacing: f64, sample: usize) -> Vec<f64> {
        let frame = sample as f64 / spacing;
        let last = rows.len() / self.modes - 1;
        let [before, after] = [frame.floor(), frame.floor() + 1.0].map(|at| (at as usize).min(last));
        let share = frame - frame.floor();
        let between = |&k: &usize| {
            let [a, b] = [before, after].map(|row| rows[row * self.modes + k]);
            a + share * (b - a)
        };
        self.heard.iter().map(between).collect()
    }
}

fn check(
    modes: &LinearModes,
    strikes: &[Strike],
    forces: Option<ModalForces<'_>>,
    params: &SoundParams<'_>,
    duration: f64,
) -> Result<()> {
    within("rate", "a positive number of samples a second, at most a million", params.rate, MOST_RATE)?;
    within("duration", "a positive number of seconds, at most 3600", duration, LONGEST)?;
    let (k, n) = (modes.eigenvalues.len(), modes.shapes.nrows() / 3);
    if let Some(weights) = params.weights {
        if weights.len() != k {
            let [expected, got] = [k, weights.len()].map(|count| format!("({count},)"));
            return Err(Error::Shape { what: "weights", expected, got });
        }
        check::finite("weights", weights, 1)?;
    }
    for (element, strike) in strikes.iter().enumerate() {
        if strike.vertex as usize >= n {
            let index = i64::from(strike.vertex);
            return Err(Error::Index { what: "vertices", element, index, count: n });
        }
        check::range(
            "times",
            "seconds from 0 to the duration",
            strike.time,
            (0.0..=duration).contains(&strike.time),
        )?;
        check::finite("impulses", &strike.impulse, 1)?;
    }
    forces.map_or(Ok(()), |forces| forces.check(k))
}
