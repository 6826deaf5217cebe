//! What a shot moves by most: principal displacements in the norm of the mass `[MOR sec. 3.3]`.

use faer::{Mat, MatRef};

use crate::material::Material;
use crate::math::dense::{leading_singular, left_singular};
use crate::mesh::TetMesh;
use crate::operators::lumped_mass;
use crate::{Error, Progress, Result};

/// Share of the largest singular value below which a direction is rounding.
const DEPENDENT: f64 = 1e-10;

/// Displacements that span the motion of a body, `u = U q`.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    /// U, 3n x r: a displacement of all vertices a column, rows interleaved.
    pub columns: Mat<f64>,
    /// How much of the snapshots each direction has, of all directions they have, descending; none of a basis from elsewhere.
    pub singular_values: Vec<f64>,
}

/// How many of the principal displacements are kept: what is less of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// At most so many; fewer where the snapshots have no more.
    pub count: usize,
    /// The fewest whose squared singular values are this share of all, in (0, 1].
    pub energy: f64,
}

impl Basis {
    /// Takes displacements made elsewhere, r x n x 3 in C order, metres or any unit of length.
    ///
    /// They need be neither orthonormal nor independent.
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

    /// The displacements, r x n x 3 in C order.
    pub fn shapes(&self) -> Vec<f64> {
        (0..self.count()).flat_map(|j| self.columns.col_as_slice(j).iter().copied()).collect()
    }
}

/// The displacements of mass one that come closest to those of a shot: mass-PCA `[MOR eq. 12]`.
///
/// With snapshots as columns of A and the lumped mass M, `M^1/2 A = U~ S V'` and `U = M^-1/2 U~`, so that `U'MU = I` and
/// the mass norm of what the first r leave out of the shot is the root of the sum of the other squared singular values.
/// Snapshots are f x n x 3 in C order, metres, what is added to the rig: no mean is taken off, so that no coordinates
/// at all are the rig's pose. U is what the snapshots are where these are zero, pinned or complementary to a rig.
/// Singular values are in m sqrt(kg). The same bits for any number of threads.
///
/// # Errors
/// [`Error::Empty`], [`Error::Shape`] or [`Error::NotFinite`] for the snapshots, [`Error::Range`] for the share,
/// [`Error::Unsupported`] where no snapshot moves; [`Error::Cancelled`].
pub fn mass_pca(
    mesh: &TetMesh,
    material: &Material,
    snapshots: &[f64],
    share: Share,
    progress: &Progress,
) -> Result<Basis> {
    principal(mesh, material, snapshots, share, left_singular, progress)
}

/// The same of the first `count` alone, where what is below a millionth of the largest does not matter: much faster.
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
    // What never moves stays exactly where it is.
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
        if self.count == 0 {
            return Err(Error::Range { what: "count", expected: "at least one displacement", got: 0.0 });
        }
        if self.energy > 0.0 && self.energy <= 1.0 {
            return Ok(());
        }
        Err(Error::Range { what: "energy", expected: "a share in (0, 1]", got: self.energy })
    }

    /// How many of some singular values these are.
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

/// Errors unless there are `count` frames of vertices, of finite numbers.
fn check_frames(what: &'static str, numbers: &[f64], count: usize) -> Result<()> {
    if numbers.is_empty() || count == 0 {
        return Err(Error::Empty { what });
    }
    if !numbers.len().is_multiple_of(3 * count) {
        let (expected, got) = (format!("({count}, n, 3)"), format!("{} numbers", numbers.len()));
        return Err(Error::Shape { what, expected, got });
    }
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(Error::NotFinite { what, element: at / (numbers.len() / count), value: numbers[at] }),
        None => Ok(()),
    }
}
