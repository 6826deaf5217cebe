//! Reduction to fewer modes of a reduced body, without the mesh.

use faer::Mat;

use super::damping::shared_by_copies;
use super::stitches::{ReducedSprings, ReducedStitches};
use super::stretch_places::StretchPlaces;
use super::{SkinningData, SkinningModel};
use crate::Result;
use crate::math::dense::diagonal::diagonalise;
use crate::math::dense::product;
use crate::subspace::check_truncation;

impl SkinningModel {
    /// The same body, rig and clusters with the lowest `count` of its modes.
    ///
    /// With `R = Phi' B'MB` all products follow from the reduced ones: `B'MB = R'R`, and
    /// `B'LB = R' diag(spectrum) R`, `G B = (G B Phi) R`. Their leading parts are diagonalised again;
    /// nothing of mesh size is computed. Up to rounding, the result equals a reduction to `count` modes
    /// from the start, but for the damping, which stays that of the body with all modes.
    ///
    /// # Errors
    /// [`Error::Range`](crate::Error::Range) for a count above the number of modes.
    pub fn truncated(&self, count: usize) -> Result<Self> {
        let data = &self.data;
        check_truncation(count, self.mode_count())?;
        let kept = data.reduction.subcols(0, 4 * count).to_owned();
        let stiff = Mat::from_fn(kept.nrows(), kept.ncols(), |i, j| data.spectrum[i] * kept[(i, j)]);
        let mass = product(kept.transpose(), kept.as_ref());
        let (basis, spectrum) = diagonalise(&mass, &product(kept.transpose(), stiff.as_ref()))?;
        // From the new reduced coordinates to the old ones.
        let back = product(kept.as_ref(), basis.as_ref());
        let rows = |m: &Mat<f64>| product(back.transpose(), m.as_ref());
        let columns = |m: &Mat<f64>| product(m.as_ref(), back.as_ref());
        let uniform = Mat::from_fn(data.uniform.len(), 1, |i, _| data.uniform[i]);
        let damping = |column: usize| {
            back.col_as_slice(column)
                .iter()
                .zip(&data.damping)
                .map(|(back, damping)| back * back * damping)
                .sum()
        };
        let modes = self.mode_count();
        Self::from_data(SkinningData {
            mesh: data.mesh.clone(),
            weights: data.weights.chunks_exact(modes).flat_map(|row| row[..count].to_vec()).collect(),
            eigenvalues: data.eigenvalues[..count].to_vec(),
            bones: data.bones,
            mass: data.mass,
            reduction: rows(&kept),
            uniform: rows(&uniform).col_as_slice(0).to_vec(),
            rig_mass: rows(&data.rig_mass),
            rig_stiffness: rows(&data.rig_stiffness),
            cluster_basis: columns(&data.cluster_basis),
            center_basis: columns(&data.center_basis),
            rig_spread: data.rig_spread.clone(),
            cluster_weights: data.cluster_weights.clone(),
            cluster_volumes: data.cluster_volumes.clone(),
            cluster_masses: data.cluster_masses.clone(),
            cubature_tets: data.cubature_tets.clone(),
            center_masses: data.center_masses.clone(),
            cluster_rig: data.cluster_rig.clone(),
            center_rig: data.center_rig.clone(),
            stretch: StretchPlaces { basis: columns(&data.stretch.basis), ..data.stretch.clone() },
            stitches: data.stitches.as_ref().map(|stitches| ReducedStitches {
                rig: rows(&stitches.rig),
                spread: stitches.spread.clone(),
                springs: stitches
                    .springs
                    .as_ref()
                    .map(|springs| ReducedSprings { modes: columns(&springs.modes), ..springs.clone() }),
            }),
            damping: shared_by_copies(&spectrum, &(0..spectrum.len()).map(damping).collect::<Vec<f64>>()),
            basis,
            spectrum,
        })
    }
}
