//! Helper bones: additional rigid bones with which plain skinning follows the simulated motion in game
//! engines.
//!
//! Smooth skinning decomposition with rigid bones [SSDR], in which the artist's bones keep their motion:
//! find weights and the motion of B more bones such that `sum_k w_ik T_k(f) [X_i; 1]` is close to x_i(f),
//! with few non-zero weights per point, all positive and with a sum of one. Weights and bones are improved
//! in turn; neither step can increase the sum of squared distances.

mod bones;
mod skin;
mod weights;

pub use skin::HelperSettings;
use skin::{Motion, Transform};

use crate::rig::Pose;
use crate::{Error, Progress, Result, check};

/// Tolerance for the sum of a row of the given weights.
const SUM_TOLERANCE: f64 = 1e-6;

/// The fitted skinning.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct HelperBones {
    /// Weights, p x (b + B) in C order; given bones come first.
    pub weights: Vec<f64>,
    /// Motion of the helper bones from the rest shape, f x B.
    pub transforms: Vec<Transform>,
    /// Root mean square distance over points and frames, metres.
    pub rms: f64,
    /// Largest distance, metres.
    pub error: f64,
}

/// Finds helper bones for a motion.
///
/// `points`: p rest positions, metres. `frames`: f x p x 3, posed positions. `given`: f x b transforms from
/// the rest shape. `weights`: p x b, the given skinning, with rows of sum one. [SSDR sec. 4, 5]
///
/// ```
/// use jounce::bake::{HelperSettings, helper_bones};
/// use jounce::Progress;
///
/// // Two points on one still bone; the second one rises by 1 m.
/// let points = [[0.0; 3], [1.0, 0.0, 0.0]];
/// let frames = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0];
/// let still = [[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]; 2];
/// let settings = HelperSettings { count: 1, influences: 2, passes: 10 };
/// let bones = helper_bones(&points, &frames, &still, &[1.0, 1.0], settings, &Progress::default())?;
/// assert!(bones.error < 1e-6);
/// # Ok::<(), jounce::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`], [`Error::Shape`], [`Error::NotFinite`], [`Error::WeightSum`], [`Error::Range`];
/// [`Error::Cancelled`].
pub fn helper_bones(
    points: &[[f64; 3]],
    frames: &[f32],
    given: &Pose,
    weights: &[f64],
    settings: HelperSettings,
    progress: &Progress,
) -> Result<HelperBones> {
    let motion = checked(points, frames, given, weights, settings)?;
    progress.enter("helper bones", 0.0, 1.0)?;
    let mut skin = bones::first(&motion, weights, settings);
    for pass in 0..settings.passes {
        progress.report((1 + pass) as f32 / (2 + settings.passes) as f32)?;
        weights::improve(&motion, weights, settings.influences, &mut skin);
        bones::improve(&motion, &mut skin);
    }
    weights::improve(&motion, weights, settings.influences, &mut skin);
    let (rms, error) = bones::distances(&motion, &skin);
    let width = motion.bone_count + settings.count;
    let mut dense = vec![0.0; points.len() * width];
    for (row, entries) in dense.chunks_mut(width).zip(&skin.weights) {
        entries.iter().for_each(|&(bone, weight)| row[bone as usize] = weight);
    }
    Ok(HelperBones { weights: dense, transforms: skin.helpers, rms, error })
}

fn checked<'a>(
    points: &'a [[f64; 3]],
    frames: &'a [f32],
    given: &'a Pose,
    weights: &[f64],
    settings: HelperSettings,
) -> Result<Motion<'a>> {
    if points.is_empty() || frames.is_empty() {
        return Err(Error::Empty { what: if points.is_empty() { "points" } else { "frames" } });
    }
    let frame_count = frames.len() / (3 * points.len());
    let bone_count = given.len() / frame_count.max(1);
    let wrong =
        |what, expected: String, got: usize| Error::Shape { what, expected, got: format!("{got} numbers") };
    if frames.len() != frame_count * 3 * points.len() {
        return Err(wrong("frames", format!("(f, {}, 3)", points.len()), frames.len()));
    }
    if bone_count == 0 || given.len() != frame_count * bone_count {
        return Err(wrong("transforms", format!("({frame_count}, b, 3, 4)"), 12 * given.len()));
    }
    if weights.len() != points.len() * bone_count {
        return Err(wrong("weights", format!("({}, {bone_count})", points.len()), weights.len()));
    }
    for (what, got, most) in
        [("count", settings.count, points.len()), ("influences", settings.influences, usize::MAX)]
    {
        if got == 0 || got > most {
            return Err(Error::Range { what, expected: "at least 1, at most the points", got: got as f64 });
        }
    }
    check::finite("points", points.as_flattened(), 1)?;
    check::finite("frames", frames, 1)?;
    check::finite("transforms", given.as_flattened().as_flattened(), 1)?;
    check::finite("weights", weights, 1)?;
    for (vertex, row) in weights.chunks(bone_count).enumerate() {
        let sum = row.iter().sum::<f64>();
        if (sum - 1.0).abs() > SUM_TOLERANCE || row.iter().any(|&w| w < 0.0) {
            return Err(Error::WeightSum { vertex, sum });
        }
    }
    Ok(Motion { points, frames: frames.as_chunks().0, given, frame_count, bone_count })
}
