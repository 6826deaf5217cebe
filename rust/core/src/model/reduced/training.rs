//! Training of a cubature on a shot `[MOR sec. 3.2]`: weighted elements, fitted by non-negative least
//! squares.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::ReducedModel;
use crate::kinematics::rig_rows::set_pose;
use crate::math::dense::dot;
use crate::math::random::{normal, sample, uniform};
use crate::parallel::*;
use crate::potentials::elastic::samples::{SampleScratch, Samples, place};
use crate::rig::Pose;
use crate::sampling::cubature::{Cubature, Works, fit};
use crate::{Error, Progress, Result, check};

/// Error for a shot without forces.
const STILL: &str = "nothing moves in the shot; take frames in which the flesh sways";
/// Candidate elements for each requested one; and the smallest number of candidates.
const CANDIDATES: (usize, usize) = (8, 1000);
/// Smallest volume of a candidate, relative to the mean, to exclude cells with almost no flesh.
const LEAST: f64 = 1e-2;
/// Smallest mean square of gradients of a candidate, relative to the mean: below, an element is not
/// strained.
const FAINT: f64 = 1e-8;
/// Most frames of the shot in the training.
const FRAMES: usize = 48;
/// Number of test directions for the force of a state.
pub(super) const DIRECTIONS: usize = 16;
/// Range of amplitudes of the random states relative to the shot.
const AMPLITUDES: (f64, f64) = (0.3, 1.5);

/// A shot: coefficients of a body in a sequence of poses.
#[derive(Clone, Copy)]
pub struct Shot<'a> {
    /// b transforms a frame, frame by frame; empty without a rig.
    pub poses: &'a Pose,
    /// r numbers a frame, frame by frame.
    pub coefficients: &'a [f64],
}

/// A training state: the frame of its pose, and its coordinates.
pub(super) struct Draw {
    pub(super) frame: usize,
    pub(super) y: Vec<f64>,
    /// Test directions, k x [`DIRECTIONS`].
    pub(super) directions: Mat<f64>,
}

impl ReducedModel {
    /// Trains at most `count` tets to represent the elastic forces of a shot.
    ///
    /// Minimises `sum over states y and directions d of (d . (sum_s c_s f_s(y) - sum_t f_t(y)))^2` over
    /// nonnegative c, with the forces f_t of elements in rest shapes that follow the pose. States are those
    /// of the shot, and as many random combinations of them, in the shot's poses. Directions are weighted by
    /// the compliance along them. One tet represents a whole cell. The same seed gives the same tets.
    /// # Errors
    /// [`Error::Range`] for a count of 0, [`Error::Empty`], [`Error::Shape`], [`Error::NotFinite`] or
    /// [`Error::Pose`] for the shot, [`Error::Unsupported`] for a body with a cubature or a shot without
    /// motion, [`Error::Cancelled`].
    pub fn train(
        &self,
        shot: &Shot<'_>,
        (count, seed): (usize, u64),
        progress: &Progress,
    ) -> Result<Cubature> {
        let what = "cubature";
        check::range(what, "at least one tet", 0.0, count != 0)?;
        self.check_whole()?;
        let each = self.tets_each();
        let frames = self.frames(shot)?;
        if frames.iter().all(|frame| frame.y.iter().all(|&y| y == 0.0)) {
            return Err(Error::Unsupported { what, why: STILL });
        }
        if self.data.mesh.tets().len() <= count {
            let tets = 0..self.data.mesh.tets().len() as u32;
            return Ok(Cubature { weights: vec![1.0; tets.len()], tets: tets.collect() });
        }
        progress.report(0.0)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let draws = self.draws(&frames, &mut random, |_, mixed| mixed);
        let straining = self.straining();
        let drawn = sample(straining.len(), CANDIDATES.1.max(CANDIDATES.0 * count), &mut random);
        let candidates: Vec<usize> = drawn.into_iter().map(|place| straining[place]).collect();
        let states = self.works_of_states(&frames, &draws, &candidates, progress)?;
        progress.report(0.6)?;
        let found = fit(&states, count);
        if found.is_empty() {
            return Err(Error::Unsupported { what, why: STILL });
        }
        progress.report(1.0)?;
        // The tet with the largest share, because other tets of a cell may contain almost no flesh.
        let tet = |place: usize| {
            let tets = candidates[place] * each..(candidates[place] + 1) * each;
            let shares = &self.data.tet_shares;
            tets.max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(candidates[place] * each)
        };
        Ok(Cubature {
            tets: found.iter().map(|&(place, _)| tet(place) as u32).collect(),
            weights: found.iter().map(|&(place, x)| x / self.data.tet_shares[tet(place)]).collect(),
        })
    }

    /// Checks that forces are evaluated at all tets.
    pub(super) fn check_whole(&self) -> Result<()> {
        if self.tets_each() * self.samples.count() == self.data.mesh.tets().len() {
            return Ok(());
        }
        let why = "its forces are found at some tets already; take the body with all of them";
        Err(Error::Unsupported { what: "cubature", why })
    }

    /// Elements strained by the basis, without those with almost no flesh.
    fn straining(&self) -> Vec<usize> {
        let (samples, count) = (&self.samples, self.samples.count());
        let square = |e: usize| -> f64 {
            let entries = (0..9).flat_map(|entry| (0..samples.rank()).map(move |k| (entry, k)));
            entries.map(|(entry, k)| samples.gradient(e, entry, k).powi(2)).sum()
        };
        let squares: Vec<f64> = (0..count).map(square).collect();
        let strain = FAINT * squares.iter().sum::<f64>() / count as f64;
        let volume = LEAST * (0..count).map(|e| samples.volume(e)).sum::<f64>() / count as f64;
        (0..count).filter(|&e| samples.volume(e) > volume && squares[e] > strain).collect()
    }

    /// Number of tets an element.
    pub(super) fn tets_each(&self) -> usize {
        let mesh = &self.data.mesh;
        if mesh.cells().is_empty() { 1 } else { mesh.tets_per_cell() }
    }

    /// Pose rows and coordinates of the frames of a shot.
    pub(super) fn frames(&self, shot: &Shot<'_>) -> Result<Vec<Frame>> {
        let (r, bones) = (self.displacement_count(), self.data.bones);
        let count = shot.coefficients.len() / r;
        let wrong = |what, expected: String, got: usize| Error::Shape {
            what,
            expected,
            got: format!("{got} numbers"),
        };
        if shot.coefficients.is_empty() {
            return Err(Error::Empty { what: "coefficients" });
        }
        if !shot.coefficients.len().is_multiple_of(r) {
            return Err(wrong("coefficients", format!("(f, {r})"), shot.coefficients.len()));
        }
        if shot.poses.len() != count * bones {
            return Err(wrong("poses", format!("({count}, {bones}, 3, 4)"), 12 * shot.poses.len()));
        }
        let frame = |f: usize| {
            let coefficients = &shot.coefficients[f * r..][..r];
            self.data.check_coefficients("coefficients", coefficients)?;
            let mut pose = vec![[0.0; 3]; self.data.handle_rows()];
            let given = (bones > 0).then(|| &shot.poses[f * bones..][..bones]);
            set_pose(&self.data.coordinates, bones, given, &mut pose)?;
            Ok(Frame { pose, y: self.data.enter(coefficients) })
        };
        (0..count).map(frame).collect()
    }

    /// Stiffness of the mean motion, `sum of y' Lambda y / sum of y'y`, 1/s^2.
    fn stiffness_of(&self, frames: &[Frame]) -> f64 {
        let squares = |weight: &dyn Fn(usize) -> f64| -> f64 {
            let of_frame =
                |frame: &Frame| -> f64 { frame.y.iter().enumerate().map(|(k, y)| weight(k) * y * y).sum() };
            frames.iter().map(of_frame).sum()
        };
        squares(&|k| self.data.spectrum[k]) / squares(&|_| 1.0)
    }

    /// Signs that follow those of the coordinates, which depend on rounding: the resulting states do not.
    fn signs(&self, frames: &[Frame]) -> Vec<f64> {
        let later = |k: usize| -> f64 { (1..).zip(frames).map(|(f, frame)| f64::from(f) * frame.y[k]).sum() };
        (0..self.data.rank()).map(|k| later(k).signum()).collect()
    }

    /// States of the shot, each with a partner made from it and a random combination of all frames.
    pub(super) fn draws(
        &self,
        frames: &[Frame],
        random: &mut ChaCha8Rng,
        other: impl Fn(&[f64], Vec<f64>) -> Vec<f64>,
    ) -> Vec<Draw> {
        let rank = self.data.rank();
        let mean = self.stiffness_of(frames);
        let signs = self.signs(frames);
        let looked = looked_at(frames);
        let mut draws = Vec::with_capacity(2 * looked.len());
        for frame in looked {
            let mut between = vec![0.0; rank];
            let size = AMPLITUDES.0 + (AMPLITUDES.1 - AMPLITUDES.0) * uniform(random);
            for frame in frames {
                let share = size * normal(random) / (frames.len() as f64).sqrt();
                between.iter_mut().zip(&frame.y).for_each(|(sum, y)| *sum += share * y);
            }
            let own = &frames[frame].y;
            for y in [own.clone(), other(own, between)] {
                let directions = Mat::from_fn(rank, DIRECTIONS, |k, _| {
                    signs[k] * normal(random) * mean / (mean + self.data.spectrum[k])
                });
                draws.push(Draw { frame, y, directions });
            }
        }
        draws
    }

    /// Works of each candidate's force and of the total force in all states.
    fn works_of_states(
        &self,
        frames: &[Frame],
        draws: &[Draw],
        candidates: &[usize],
        progress: &Progress,
    ) -> Result<Vec<Works>> {
        let gradients = Mat::from_fn(9 * candidates.len(), self.data.rank(), |i, k| {
            self.samples.gradient(candidates[i / 9], i % 9, k)
        });
        let mut blocks: Vec<Works> = Vec::with_capacity(draws.len());
        for (part, some) in draws.chunks(16).enumerate() {
            progress.report(0.6 * (16 * part) as f32 / draws.len() as f32)?;
            let works = |scratch: &mut SampleScratch, draw: &Draw| {
                let pose = &frames[draw.frame].pose;
                works(&self.samples, scratch, pose, draw, (candidates, &gradients))
            };
            blocks.par_extend(some.par_iter().map_init(|| self.samples.scratch(), works));
        }
        Ok(blocks)
    }
}

/// Rows of a pose, and coordinates in this pose.
pub(super) struct Frame {
    pub(super) pose: Vec<[f64; 3]>,
    pub(super) y: Vec<f64>,
}

/// Indices of at most [`FRAMES`] frames, half by motion and half by time: evenly spaced in the sum of each
/// frame's motion plus the mean motion.
fn looked_at(frames: &[Frame]) -> Vec<usize> {
    if frames.len() <= FRAMES {
        return (0..frames.len()).collect();
    }
    let sizes: Vec<f64> = frames.iter().map(|frame| dot(&frame.y, &frame.y).sqrt()).collect();
    let total: f64 = sizes.iter().sum();
    let mean = total / frames.len() as f64;
    let (mut sum, mut looked) = (0.0, Vec::with_capacity(FRAMES));
    for (frame, size) in sizes.into_iter().enumerate() {
        sum += size + mean;
        while looked.len() < FRAMES && sum * FRAMES as f64 > (looked.len() as f64 + 0.5) * 2.0 * total {
            looked.push(frame);
        }
    }
    looked
}

/// Work of the candidates' forces and of the total force along the directions of a state, normalised by the
/// total.
fn works(
    samples: &Samples,
    scratch: &mut SampleScratch,
    pose: &[[f64; 3]],
    draw: &Draw,
    (candidates, gradients): (&[usize], &Mat<f64>),
) -> Works {
    samples.set_pose(scratch, pose, (1.0, f64::INFINITY));
    let mut force = vec![0.0; draw.y.len()];
    samples.evaluate(scratch, &draw.y, &mut force);
    let along = |k: usize| -> f64 {
        force.iter().enumerate().map(|(j, force)| force * draw.directions[(j, k)]).sum()
    };
    let target: Vec<f64> = (0..DIRECTIONS).map(along).collect();
    let length = target.iter().map(|work| work * work).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    let mut strained = Mat::zeros(gradients.nrows(), DIRECTIONS);
    matmul(strained.as_mut(), Accum::Replace, gradients, &draw.directions, scale, Par::Seq);
    let works = Mat::from_fn(DIRECTIONS, candidates.len(), |k, s| {
        (0..9).map(|e| scratch.stress[place(candidates[s], e)] * strained[(9 * s + e, k)]).sum()
    });
    (works, target.iter().map(|work| scale * work).collect())
}
