//! Principal displacements of a shot in the mass norm `[MOR sec. 3.3]`.

use faer::{Mat, MatRef};

use crate::material::Material;
use crate::math::dense::{leading_singular, left_singular};
use crate::mesh::TetMesh;
use crate::operators::lumped_mass;
use crate::{Error, Progress, Result, check};

/// Share of the largest singular value below which a direction is rounding noise.
const DEPENDENT: f64 = 1e-10;

/// Displacement basis of a body, `u = U q`.
///
/// ```
/// use jounce::subspace::Basis;
///
/// // Two displacements of two vertices: all along x, and a stretch along y.
/// let shapes = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0];
/// let basis = Basis::from_shapes(&shapes, 2)?;
/// assert_eq!((basis.columns.nrows(), basis.columns.ncols()), (6, 2));
/// assert!(basis.singular_values.is_empty());
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    /// U, 3n x r: a displacement of all vertices per column, with interleaved rows.
    pub columns: Mat<f64>,
    /// Singular values of the snapshots in all their directions, descending; empty for a basis from
    /// elsewhere.
    pub singular_values: Vec<f64>,
}

/// Truncation of the principal displacements: the stricter of both limits applies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Maximum number; fewer if the snapshots span fewer.
    pub count: usize,
    /// Share of the sum of squared singular values to be reached with the fewest displacements, in (0, 1].
    pub energy: f64,
}

impl Basis {
    /// Takes external displacements, r x n x 3 in C order, metres or any unit of length.
    ///
    /// They need be neither orthonormal nor linearly independent.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Shape`] unless there are r shapes of n vertices, [`Error::NotFinite`].
    pub fn from_shapes(shapes: &[f64], count: usize) -> Result<Self> {
        let what = "shapes";
        check_frames(what, shapes, count)?;
        let rows = shapes.len() / count;
        let columns = Mat::from_fn(rows, count, |i, j| shapes[j * rows + i]);
        Ok(Self { columns, singular_values: Vec::new() })
    }

    /// Number of displacements r.
    pub fn count(&self) -> usize {
        self.columns.ncols()
    }

    /// Displacements, r x n x 3 in C order.
    pub fn shapes(&self) -> Vec<f64> {
        (0..self.count()).flat_map(|j| self.columns.col_as_slice(j).iter().copied()).collect()
    }
}

/// The mass-orthonormal displacements that best approximate a shot: mass-PCA `[MOR eq. 12]`.
///
/// With snapshots as columns of A and the lumped mass M, `M^1/2 A = U~ S V'` and `U = M^-1/2 U~`, so that
/// `U'MU = I`. The mass norm of the error after the first r displacements is the root of the sum of the
/// other squared singular values. Snapshots are f x n x 3 in C order, metres, relative to the rig. The mean
/// is not subtracted, so that zero coordinates are the rig's pose. U is zero, pinned or complementary to a
/// rig wherever all snapshots are. Singular values are in m sqrt(kg). The result is bit-identical for any
/// number of threads.
///
/// # Errors
/// [`Error::Empty`], [`Error::Shape`] or [`Error::NotFinite`] for the snapshots, [`Error::Range`] for the
/// share, [`Error::Unsupported`] if no snapshot moves; [`Error::Cancelled`].
pub fn mass_pca(
    mesh: &TetMesh,
    material: &Material,
    snapshots: &[f64],
    share: Share,
    progress: &Progress,
) -> Result<Basis> {
    principal(mesh, material, snapshots, share, left_singular, progress)
}

/// As [`mass_pca`], of the first `count` displacements alone, ignoring those below a millionth of the
/// largest: much faster.
pub(super) fn leading_pca(
    mesh: &TetMesh,
    material: &Material,
    snapshots: &[f64],
    count: usize,
    progress: &Progress,
) -> Result<Basis> {
    let share = Share { count, ..Share::default() };
    principal(mesh, material, snapshots, share, |matrix| leading_singular(matrix, count), progress)
}

fn principal(
    mesh: &TetMesh,
    material: &Material,
    snapshots: &[f64],
    share: Share,
    decompose: impl FnOnce(MatRef<'_, f64>) -> Result<(Mat<f64>, Vec<f64>)>,
    progress: &Progress,
) -> Result<Basis> {
    let (what, n) = ("snapshots", mesh.vertices().len());
    share.check()?;
    material.check_tet_count(mesh.tets().len())?;
    if !snapshots.len().is_multiple_of(3 * n) {
        let (expected, got) = (format!("(f, {n}, 3)"), format!("{} numbers", snapshots.len()));
        return Err(Error::Shape { what, expected, got });
    }
    let frames = snapshots.len() / (3 * n);
    check_frames(what, snapshots, frames)?;
    progress.report(0.0)?;
    let root: Vec<f64> = lumped_mass(mesh, material).iter().map(|mass| mass.sqrt()).collect();
    let weighted = Mat::from_fn(3 * n, frames, |i, f| root[i / 3] * snapshots[f * 3 * n + i]);
    let (directions, singular_values) = decompose(weighted.as_ref())?;
    progress.report(1.0)?;
    let least = DEPENDENT * singular_values[0];
    let moving = singular_values.iter().filter(|&&value| value > least).count();
    if moving == 0 {
        let why = "nothing moves in them; take frames in which the flesh sways";
        return Err(Error::Unsupported { what, why });
    }
    let kept = share.of(&singular_values).min(moving).min(directions.ncols());
    // Coordinates that never move stay exactly in place.
    let moves: Vec<bool> = (0..3 * n).map(|i| (0..frames).any(|f| snapshots[f * 3 * n + i] != 0.0)).collect();
    let columns =
        Mat::from_fn(3 * n, kept, |i, j| if moves[i] { directions[(i, j)] / root[i / 3] } else { 0.0 });
    Ok(Basis { columns, singular_values })
}

impl Default for Share {
    fn default() -> Self {
        Self { count: usize::MAX, energy: 1.0 }
    }
}

impl Share {
    fn check(self) -> Result<()> {
        check::range("count", "at least one displacement", 0.0, self.count != 0)?;
        if self.energy > 0.0 && self.energy <= 1.0 {
            return Ok(());
        }
        Err(Error::Range { what: "energy", expected: "a share in (0, 1]", got: self.energy })
    }

    /// Number of singular values to keep.
    fn of(self, singular_values: &[f64]) -> usize {
        let whole: f64 = singular_values.iter().map(|value| value * value).sum();
        let mut left = whole;
        let enough = |value: &f64| {
            left -= value * value;
            left <= (1.0 - self.energy) * whole
        };
        let energy = singular_values.iter().position(enough).map_or(singular_values.len(), |last| last + 1);
        energy.min(self.count)
    }
}

/// Checks that there are `count` frames of vertices, all finite.
fn check_frames(what: &'static str, numbers: &[f64], count: usize) -> Result<()> {
    if numbers.is_empty() || count == 0 {
        return Err(Error::Empty { what });
    }
    if !numbers.len().is_multiple_of(3 * count) {
        let (expected, got) = (format!("({count}, n, 3)"), format!("{} numbers", numbers.len()));
        return Err(Error::Shape { what, expected, got });
    }
    check::finite(what, numbers, numbers.len() / count)
}
