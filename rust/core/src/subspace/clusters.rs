//! Clusters of tets with similar deformation.

use faer::Mat;

use super::SkinningModes;
use super::kmeans::cluster;
use super::parts::connected_parts;
use crate::mesh::TetMesh;
use crate::{Error, Progress, Result, check};

/// Share of the highest eigenvalue below which a mode counts as rigid.
const ZERO: f64 = 1e-9;

/// A label in `0..c` for each tet; tets that the modes move alike share a label.
///
/// Volume-weighted k-means++ on `f_t = mean over the corners of (w_k / lambda_k^2)_k` `[FastCD eq. 27]`;
/// rigid modes are weighted like the lowest other mode. Clusters are then split into face-connected parts,
/// and the smallest parts are merged into a neighbour until c is at most `count`. c is smaller if the modes
/// distinguish fewer regions, and larger only if the mesh has more components. The result depends on the
/// seed alone.
///
/// # Errors
/// [`Error::Range`] if `count` is 0, [`Error::Shape`] if the modes are not of this mesh,
/// [`Error::Cancelled`].
pub fn cluster_tets(
    mesh: &TetMesh,
    modes: &SkinningModes,
    count: usize,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<i32>> {
    check::range("count", "at least one cluster", 0.0, count != 0)?;
    let (n, rows) = (mesh.vertices().len(), modes.weights.nrows());
    if rows != n || modes.eigenvalues.len() != modes.weights.ncols() || modes.eigenvalues.is_empty() {
        let got = format!("({rows}, {})", modes.weights.ncols());
        return Err(Error::Shape { what: "modes", expected: format!("({n}, at least 1)"), got });
    }
    progress.report(0.0)?;
    let features = features(mesh, modes);
    let labels = cluster(&features, mesh.volumes(), count.min(mesh.tets().len()), seed, progress)?;
    progress.report(0.9)?;
    Ok(connected_parts(mesh, &labels, count))
}

/// Feature matrix: one row per tet, one column per mode, scaled to a largest entry of magnitude 1.
fn features(mesh: &TetMesh, modes: &SkinningModes) -> Mat<f64> {
    let highest = modes.eigenvalues.iter().copied().fold(0.0, f64::max);
    let is_zero = |value: f64| value <= ZERO * highest;
    let lowest = modes.eigenvalues.iter().copied().filter(|&v| !is_zero(v)).fold(highest, f64::min);
    let mut features = Mat::zeros(mesh.tets().len(), modes.eigenvalues.len());
    for (k, &value) in modes.eigenvalues.iter().enumerate() {
        let scale = 0.25 * (lowest / if is_zero(value) { lowest } else { value }).powi(2);
        let weights = modes.weights.col(k);
        for (out, tet) in features.col_mut(k).iter_mut().zip(mesh.tets()) {
            *out = scale * tet.iter().map(|&v| weights[v as usize]).sum::<f64>();
        }
    }
    let largest = features.norm_max();
    if largest > 0.0 { features * faer::Scale(1.0 / largest) } else { features }
}

/// A label in `0..c` for each tet; tets close to one another share a label.
///
/// Volume-weighted k-means++ on the tets' centres, split into face-connected parts as in [`cluster_tets`].
///
/// # Errors
/// [`Error::Range`] if `count` is 0, [`Error::Cancelled`].
pub fn cluster_tets_by_place(
    mesh: &TetMesh,
    count: usize,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<i32>> {
    check::range("clusters", "at least one cluster", 0.0, count != 0)?;
    let origin = mesh.vertices()[0];
    let size = mesh.diagonal();
    let center =
        |t: usize, c: usize| mesh.corners(t).iter().map(|p| p[c] - origin[c]).sum::<f64>() / (4.0 * size);
    let centers = Mat::from_fn(mesh.tets().len(), 3, center);
    let labels = cluster(&centers, mesh.volumes(), count.min(mesh.tets().len()), seed, progress)?;
    Ok(connected_parts(mesh, &labels, count))
}

/// The tets of each label in use, by ascending label.
pub(crate) fn tets_of_labels(mesh: &TetMesh, labels: &[i32]) -> Result<Vec<Vec<u32>>> {
    let count = mesh.tets().len();
    check::length("labels", count, labels.len())?;
    let mut tets = vec![Vec::new(); count];
    for (element, &label) in labels.iter().enumerate() {
        usize::try_from(label)
            .ok()
            .and_then(|label| tets.get_mut(label))
            .ok_or(Error::Index { what: "labels", element, index: label.into(), count })?
            .push(element as u32);
    }
    tets.retain(|tets| !tets.is_empty());
    Ok(tets)
}
