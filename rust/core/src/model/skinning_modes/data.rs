//! Numbers of a reduced body, the contents of its file.

use faer::Mat;

use super::stitches::{ReducedSprings, ReducedStitches};
use super::stretch_places::StretchPlaces;
use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::sampling::cubature::Cubature;
use crate::{Error, Result, check};

/// Numbers of a reduced body, the contents of its file. r reduced coordinates, h = max(b, 1) handles, c
/// clusters, or tets in their place with a cubature.
#[derive(Clone)]
pub(crate) struct SkinningData {
    /// The tet mesh: n vertices.
    pub(crate) mesh: TetMesh,
    /// Weights of the modes, n x m in C order.
    pub(crate) weights: Vec<f64>,
    /// Eigenvalues of the modes, m, 1/s^2.
    pub(crate) eigenvalues: Vec<f64>,
    /// Number of bones b, 0 without a rig.
    pub(crate) bones: usize,
    /// Mass of the body, kg.
    pub(crate) mass: f64,
    /// Phi, 4m x r: `Z = Phi Y` with `Phi' B'MB Phi = I`, `Phi' B'LB Phi = diag(spectrum)`.
    pub(crate) basis: Mat<f64>,
    /// `Phi' B'MB`, r x 4m: back from Z to Y.
    pub(crate) reduction: Mat<f64>,
    /// Elastic eigenvalues of the reduced body, r, 1/s^2.
    pub(crate) spectrum: Vec<f64>,
    /// Damping of each coordinate for a ratio and a scale of stiffness of 1, r, 1/s.
    pub(crate) damping: Vec<f64>,
    /// `Phi' B'M 1`, r: response to a uniform acceleration.
    pub(crate) uniform: Vec<f64>,
    /// `Phi' B'M diag(strength) J`, r x 4h.
    pub(crate) rig_mass: Mat<f64>,
    /// `Phi' B'LJ`, r x 4h.
    pub(crate) rig_stiffness: Mat<f64>,
    /// `J'LJ - G_J' w G_J`, 4h x 4h: elastic energy of the rig inside clusters.
    pub(crate) rig_spread: Mat<f64>,
    /// Weight of each cluster, c: the sum of `2 mu V`, J.
    pub(crate) cluster_weights: Vec<f64>,
    /// `G B Phi`, 3c x r: mean gradient in each cluster.
    pub(crate) cluster_basis: Mat<f64>,
    /// Resistance of each cluster to change of volume, c: the sum of `lambda V`, J; 0 for ARAP.
    pub(crate) cluster_volumes: Vec<f64>,
    /// `G J`, 3c x 4h.
    pub(crate) cluster_rig: Mat<f64>,
    /// Mass of each cluster, c, kg.
    pub(crate) cluster_masses: Vec<f64>,
    /// Tets in place of clusters, c, with a cubature; else empty.
    pub(crate) cubature_tets: Vec<u32>,
    /// Masses of the clusters with centres, k, kg: the clusters above, or with a cubature those kept for
    /// external forces.
    pub(crate) center_masses: Vec<f64>,
    /// The mass-weighted mean row of `B Phi` in each cluster, k x r.
    pub(crate) center_basis: Mat<f64>,
    /// The mass-weighted mean row of J in each cluster, k x 4h.
    pub(crate) center_rig: Mat<f64>,
    /// Places of the stretch limit.
    pub(crate) stretch: StretchPlaces,
    /// Stitch terms outside of the spectrum, which has their quadratic part.
    pub(crate) stitches: Option<ReducedStitches>,
}

/// Optional inputs of a body; none by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extras<'a> {
    /// Factor on the rig's acceleration at each vertex, n, >= 0. The inertial coupling is then
    /// `B'M diag(strength) J`. `None` is one everywhere.
    pub strength: Option<&'a [f64]>,
    /// Springs between points of the body. Compute the modes with the same stitches.
    pub stitches: Option<&'a Stitches>,
    /// Sample tets for elastic forces, in place of the clusters' means.
    pub cubature: Option<&'a Cubature>,
}

impl SkinningData {
    /// Checks all sizes, finite numbers, and positive masses and weights.
    pub(super) fn check(&self) -> Result<()> {
        let (n, m) = (self.mesh.vertices().len(), self.eigenvalues.len());
        let (r, h, c) = (self.spectrum.len(), self.bones.max(1), self.cluster_weights.len());
        let (k, w) = (self.center_masses.len(), self.stretch.tets.len());
        if [m, r, c, k, w].contains(&0) {
            return Err(Error::Empty { what: "model" });
        }
        let sizes = [
            ("weights", self.weights.len(), n.saturating_mul(m)),
            ("basis", self.basis.nrows(), 4 * m),
            ("basis", self.basis.ncols(), r),
            ("reduction", self.reduction.nrows(), r),
            ("reduction", self.reduction.ncols(), 4 * m),
            ("rig_mass", self.rig_mass.nrows(), r),
            ("rig_mass", self.rig_mass.ncols(), 4 * h),
            ("rig_stiffness", self.rig_stiffness.nrows(), r),
            ("rig_stiffness", self.rig_stiffness.ncols(), 4 * h),
            ("rig_spread", self.rig_spread.nrows(), 4 * h),
            ("rig_spread", self.rig_spread.ncols(), 4 * h),
            ("damping", self.damping.len(), r),
            ("cluster_volumes", self.cluster_volumes.len(), c),
            ("uniform", self.uniform.len(), r),
            ("cluster_masses", self.cluster_masses.len(), c),
            ("cubature_tets", self.cubature_tets.len(), if self.cubature_tets.is_empty() { 0 } else { c }),
            ("center_basis", self.center_basis.nrows(), k),
            ("center_basis", self.center_basis.ncols(), r),
            ("center_rig", self.center_rig.nrows(), k),
            ("center_rig", self.center_rig.ncols(), 4 * h),
            ("cluster_basis", self.cluster_basis.nrows(), 3 * c),
            ("cluster_basis", self.cluster_basis.ncols(), r),
            ("cluster_rig", self.cluster_rig.nrows(), 3 * c),
            ("cluster_rig", self.cluster_rig.ncols(), 4 * h),
            ("stretch", self.stretch.stiffness.len(), w),
            ("stretch", self.stretch.basis.nrows(), 3 * w),
            ("stretch", self.stretch.rig.nrows(), 3 * w),
            ("stretch", self.stretch.basis.ncols(), r),
            ("stretch", self.stretch.rig.ncols(), 4 * h),
        ];
        if let Some((what, got, expected)) = sizes.into_iter().find(|(_, got, expected)| got != expected) {
            return Err(Error::Shape { what, expected: format!("{expected}"), got: format!("{got}") });
        }
        self.stitches.as_ref().map_or(Ok(()), |stitches| stitches.check(r, 4 * h))?;
        self.check_numbers()
    }

    pub(super) fn springs(&self) -> Option<&ReducedSprings> {
        self.stitches.as_ref().and_then(|stitches| stitches.springs.as_ref())
    }

    fn check_numbers(&self) -> Result<()> {
        let slices = [
            ("weights", &self.weights),
            ("eigenvalues", &self.eigenvalues),
            ("spectrum", &self.spectrum),
            ("cluster_weights", &self.cluster_weights),
            ("damping", &self.damping),
            ("cluster_volumes", &self.cluster_volumes),
            ("uniform", &self.uniform),
        ];
        for (what, numbers) in slices {
            check::finite(what, numbers, 1)?;
        }
        let stretch = [("stretch", &self.stretch.basis), ("stretch", &self.stretch.rig)];
        for (what, matrix) in self.matrices().into_iter().chain(stretch) {
            let numbers = (0..matrix.ncols()).flat_map(|j| matrix.col_as_slice(j));
            if let Some((element, &value)) = numbers.enumerate().find(|(_, x)| !x.is_finite()) {
                return Err(Error::NotFinite { what, element, value });
            }
        }
        let positive: [(&'static str, &[f64]); 5] = [
            ("mass", std::slice::from_ref(&self.mass)),
            ("cluster_weights", &self.cluster_weights),
            ("cluster_masses", &self.cluster_masses),
            ("center_masses", &self.center_masses),
            ("stretch", &self.stretch.stiffness),
        ];
        for (what, numbers) in positive {
            check::all(what, "a positive number", numbers, check::is_positive)?;
        }
        let count = self.mesh.tets().len();
        for (what, tets) in [("cubature_tets", &self.cubature_tets), ("stretch", &self.stretch.tets)] {
            check::indices(what, tets, 1, count)?;
        }
        let fields = [
            ("spectrum", &self.spectrum),
            ("damping", &self.damping),
            ("cluster_volumes", &self.cluster_volumes),
        ];
        for (what, numbers) in fields {
            // Finite, as checked above.
            check::all(what, "numbers >= 0", numbers, |number| number >= 0.0)?;
        }
        Ok(())
    }

    /// Matrices by name.
    pub(crate) fn matrices(&self) -> [(&'static str, &Mat<f64>); 9] {
        [
            ("basis", &self.basis),
            ("reduction", &self.reduction),
            ("rig_mass", &self.rig_mass),
            ("rig_stiffness", &self.rig_stiffness),
            ("rig_spread", &self.rig_spread),
            ("cluster_basis", &self.cluster_basis),
            ("cluster_rig", &self.cluster_rig),
            ("center_basis", &self.center_basis),
            ("center_rig", &self.center_rig),
        ]
    }
}

/// An entry of the diagonal of `Phi' G'vG Phi`.
pub(super) fn volumetric(data: &SkinningData, i: usize) -> f64 {
    let gradients = data.cluster_basis.col_as_slice(i).as_chunks::<3>().0;
    let size2 = |g: &[f64; 3]| g.iter().map(|x| x * x).sum::<f64>();
    gradients.iter().zip(&data.cluster_volumes).map(|(g, v)| v * size2(g)).sum()
}
