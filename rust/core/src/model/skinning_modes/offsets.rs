//! Offsets of rigs beyond linear skinning, given at the points of the surface and reduced to the rows of a
//! step.
//!
//! Offsets d, p x 3, are the differences from linear skinning at the points. They are carried to the tet
//! mesh like skinning weights: c = C d is interpolated at the closest surface point of each boundary
//! vertex, and extended harmonically inside. The extension alone would not move lattice vertices, which lie
//! outside of the surface, in the way of a bone. Therefore bones take over their share of c: T minimises
//! `|c - C J_s T|`, with J_s the rig at the points, among directions well visible on the surface, and only
//! the residual is extended. A linear rig given as offsets then equals the same rig given as a pose.

use faer::{Mat, MatRef};

use super::body::Body;
use super::clusters::Clusters;
use super::{SkinningData, SkinningModel};
use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::rig_rows::{RigRows, check_offsets, handles_of_vertices, rig_rows};
use crate::material::Material;
use crate::math::dense::diagonal::diagonalise;
use crate::math::dense::product;
use crate::math::lanes::{Packed, multiply_add};
use crate::mesh::{BoundarySamples, SurfaceMesh, TetMesh};
use crate::operators::HarmonicExtension;
use crate::rig::Rig;
use crate::subspace::SkinningModes;
use crate::{Error, Result, check};

/// Largest amplification of a bone motion from surface to mesh; motions above it are not inferred from the
/// surface.
const AMPLIFICATION: f64 = 10.0;
/// Functionals whose adjoints are formed at once.
const BLOCK: usize = 64;

/// Inputs of a model's reduction, and the embedded surface.
pub struct OffsetSource<'a> {
    /// Material of the tets.
    pub material: &'a Material,
    /// Modes of the model.
    pub modes: &'a SkinningModes,
    /// Cluster of each tet, t.
    pub labels: &'a [i32],
    /// Weights at the tet vertices.
    pub rig: &'a Rig,
    /// Map of strength at the tet vertices, n.
    pub strength: Option<&'a [f64]>,
    /// Surface of the offset points, p.
    pub surface: &'a SurfaceMesh,
    /// Weights at the surface points.
    pub surface_rig: &'a Rig,
}

/// Reduction of offsets from linear skinning, p x 3, to the rows of a step of one model.
///
/// Rows: 4h of the bones' share, and of the residual `Phi'B'M` (r), `Phi'B'L` (r), mean gradients (3c) of
/// the clusters or cubature tets, centres of mass (k) of the clusters, and gradients (3w) at the places of
/// the stretch limit. The operators are fixed: a reduction costs `(2r + 3c + k + 3w)` products a boundary
/// vertex of the lattice, for any number of points.
pub struct OffsetReduction {
    carrier: OffsetCarrier,
    /// 2r + 3c + k + 3w rows, one column a boundary vertex.
    functionals: Packed<1>,
}

/// Transfer of offsets to the boundary of the tet mesh, with the bones' share split off.
pub(crate) struct OffsetCarrier {
    points: usize,
    samples: BoundarySamples,
    carried: CarriedRig,
    /// Pseudo-inverse of `(C J_s)'(C J_s)` on the directions visible on the surface, 4h x 4h.
    fit: Packed<1>,
}

impl OffsetCarrier {
    /// Transfer to a mesh with weights at its vertices, from a surface with weights at its points.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    pub(crate) fn new(mesh: &TetMesh, rig: &Rig, surface: &SurfaceMesh, surface_rig: &Rig) -> Result<Self> {
        let samples = BoundarySamples::new(surface, mesh)?;
        let coordinates = Coordinates::of_mesh(mesh);
        let carried = CarriedRig::new(&coordinates, surface, surface_rig, &samples);
        let fit = carried
            .pseudo_inverse(&rig_rows(&coordinates, mesh.vertices(), Some(rig)), 4 * rig.bone_count())?;
        Ok(Self { points: surface.points().len(), samples, carried, fit: Packed::of(fit.as_ref()) })
    }

    /// The bones' share, 4h rows, and the residual at the boundary vertices, s x 3.
    fn split(&self, offsets: &[f64]) -> Result<(Vec<[f64; 3]>, Vec<f64>)> {
        check::shape("offsets", &[self.points, 3], offsets.len())?;
        check::finite("offsets", offsets, 3)?;
        let mut carried = self.samples.sample(offsets, 3);
        let values = carried.as_chunks_mut::<3>().0;
        let mut bones = vec![[0.0; 3]; self.fit.items()];
        multiply_add(&self.fit, &self.carried.adjoint(values, bones.len()), &mut bones);
        self.carried.subtract(&bones, values);
        Ok((bones, carried))
    }
}

/// Transfer of offsets to all vertices of the tet mesh.
pub(crate) struct OffsetExtension {
    carrier: OffsetCarrier,
    harmonic: HarmonicExtension,
    /// Bones and their four entries at each vertex.
    rows: RigRows,
}

impl OffsetExtension {
    /// Transfer to a mesh with weights at its vertices, from a surface with weights at its points.
    ///
    /// # Errors
    /// [`Error::Numerical`].
    pub(crate) fn new(mesh: &TetMesh, rig: &Rig, surface: &SurfaceMesh, surface_rig: &Rig) -> Result<Self> {
        let carrier = OffsetCarrier::new(mesh, rig, surface, surface_rig)?;
        Ok(Self {
            harmonic: HarmonicExtension::new(mesh, carrier.samples.vertices())?,
            rows: rig_rows(&Coordinates::of_mesh(mesh), mesh.vertices(), Some(rig)),
            carrier,
        })
    }

    /// Offsets at the tet vertices, n x 3 in C order, from offsets at the points, p x 3.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for the offsets.
    pub(crate) fn extend(&self, offsets: &[f64]) -> Result<Vec<f64>> {
        let (bones, residual) = self.carrier.split(offsets)?;
        let mut values = self.harmonic.extend(&residual, 3);
        for (row, value) in self.rows.iter().zip(values.as_chunks_mut::<3>().0) {
            for (bone, entries) in row {
                for (moved, entry) in bones[4 * *bone as usize..][..4].iter().zip(entries) {
                    (0..3).for_each(|c| value[c] += entry * moved[c]);
                }
            }
        }
        Ok(values)
    }
}

impl OffsetReduction {
    /// Prepares the reduction for a model with a rig.
    ///
    /// # Errors
    /// [`Error::Shape`] for inputs of another model; [`Error::Numerical`].
    pub fn new(model: &SkinningModel, source: &OffsetSource<'_>) -> Result<Self> {
        let points = source.surface.points();
        check_rig("surface_rig", source.surface_rig, points.len(), model.bone_count())?;
        check_rig("rig", source.rig, model.mesh().vertices().len(), model.bone_count())?;
        let body = Body::new(model.mesh(), source.material, source.modes, Some(source.rig), source.strength)?;
        let carrier = OffsetCarrier::new(model.mesh(), source.rig, source.surface, source.surface_rig)?;
        let functionals = functionals(model, source, &body, carrier.samples.vertices())?;
        Ok(Self { carrier, functionals: Packed::of(functionals.transpose()) })
    }

    /// Number of points p.
    pub fn point_count(&self) -> usize {
        self.carrier.points
    }

    /// Rows, k x 3, of offsets in world space, p x 3, metres.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for the offsets.
    pub fn reduce(&self, offsets: &[f64]) -> Result<Vec<f64>> {
        let (mut rows, residual) = self.carrier.split(offsets)?;
        let handles = rows.len();
        rows.resize(handles + self.functionals.items(), [0.0; 3]);
        multiply_add(&self.functionals, residual.as_chunks::<3>().0, &mut rows[handles..]);
        Ok(rows.as_flattened().to_vec())
    }
}

fn check_rig(what: &'static str, rig: &Rig, vertices: usize, bones: usize) -> Result<()> {
    if (rig.vertex_count(), rig.bone_count()) == (vertices, bones) {
        return Ok(());
    }
    let (expected, got) =
        (format!("({vertices}, {bones})"), format!("({}, {})", rig.vertex_count(), rig.bone_count()));
    Err(Error::Shape { what, expected, got })
}

/// `C J_s`: effect of each bone on the value carried to each boundary vertex.
struct CarriedRig {
    /// Start of each vertex's entries.
    starts: Vec<usize>,
    /// Bones and their four entries, `w [X^; 1]`.
    entries: Vec<(u32, [f64; 4])>,
}

impl CarriedRig {
    fn new(
        coordinates: &Coordinates,
        surface: &SurfaceMesh,
        surface_rig: &Rig,
        samples: &BoundarySamples,
    ) -> Self {
        let points = surface.points();
        let (firsts, weights) = handles_of_vertices(points.len(), Some(surface_rig));
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for (corners, shares) in samples.places() {
            let mut own: Vec<(u32, [f64; 4])> = Vec::new();
            for (&point, share) in corners.iter().zip(shares) {
                let place = coordinates.homogeneous(&points[point as usize]);
                for &(bone, weight) in &weights[firsts[point as usize]..firsts[point as usize + 1]] {
                    own.push((bone, place.map(|x| share * weight * x)));
                }
            }
            // A stable sort: sums run in the order of the corners.
            own.sort_by_key(|&(bone, _)| bone);
            own.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    (0..4).for_each(|d| kept.1[d] += next.1[d]);
                }
                same
            });
            entries.extend(own);
            starts.push(entries.len());
        }
        Self { starts, entries }
    }

    /// The entries of each boundary vertex.
    fn rows(&self) -> impl Iterator<Item = &[(u32, [f64; 4])]> {
        self.starts.windows(2).map(|ends| &self.entries[ends[0]..ends[1]])
    }

    /// `(C J_s)' c`, 4h rows.
    fn adjoint(&self, carried: &[[f64; 3]], handles: usize) -> Vec<[f64; 3]> {
        let mut sum = vec![[0.0; 3]; handles];
        for (row, value) in self.rows().zip(carried) {
            for (bone, entries) in row {
                for (sum, entry) in sum[4 * *bone as usize..][..4].iter_mut().zip(entries) {
                    (0..3).for_each(|c| sum[c] += entry * value[c]);
                }
            }
        }
        sum
    }

    /// `c -= C J_s T`.
    fn subtract(&self, bones: &[[f64; 3]], carried: &mut [[f64; 3]]) {
        for (row, value) in self.rows().zip(carried) {
            for (bone, entries) in row {
                for (moved, entry) in bones[4 * *bone as usize..][..4].iter().zip(entries) {
                    (0..3).for_each(|c| value[c] -= entry * moved[c]);
                }
            }
        }
    }

    /// The inverse of `(C J_s)'(C J_s)` on the directions with limited amplification from surface to mesh,
    /// root mean square over vertices.
    ///
    /// vertices: the rows of J at the tet vertices.
    fn pseudo_inverse(&self, vertices: &[Vec<(u32, [f64; 4])>], handles: usize) -> Result<Mat<f64>> {
        let seen = gram(self.rows(), handles);
        let share = (self.starts.len() - 1) as f64 / vertices.len() as f64;
        let whole = &seen + faer::Scale(share) * gram(vertices.iter().map(Vec::as_slice), handles);
        let (directions, shares) = diagonalise(&whole, &seen)?;
        let least = 1.0 / (1.0 + AMPLIFICATION * AMPLIFICATION);
        let kept: Vec<usize> = (0..shares.len()).filter(|&i| shares[i] >= least).collect();
        let directions = Mat::from_fn(handles, kept.len(), |i, j| directions[(i, kept[j])]);
        let scaled = Mat::from_fn(handles, kept.len(), |i, j| directions[(i, j)] / shares[kept[j]]);
        Ok(product(scaled.as_ref(), directions.transpose()))
    }
}

/// The inner products of the columns of sparse rows.
fn gram<'a>(rows: impl Iterator<Item = &'a [(u32, [f64; 4])]>, columns: usize) -> Mat<f64> {
    let mut gram = Mat::zeros(columns, columns);
    for row in rows {
        for (a, left) in row {
            for (b, right) in row {
                for i in 0..4 {
                    for j in 0..4 {
                        gram[(4 * *a as usize + i, 4 * *b as usize + j)] += left[i] * right[j];
                    }
                }
            }
        }
    }
    gram
}

/// Functionals of the residual on the boundary vertices, for a step: one column each.
fn functionals(
    model: &SkinningModel,
    source: &OffsetSource<'_>,
    body: &Body<'_>,
    boundary: &[u32],
) -> Result<Mat<f64>> {
    let extension = HarmonicExtension::new(model.mesh(), boundary)?;
    let clusters = Clusters::new(model.mesh(), source.labels)?;
    let count = model.offset_rows();
    let mut all = Mat::zeros(boundary.len(), count);
    let mut next = 0;
    let mut append = |block: MatRef<'_, f64>| {
        let block = extension.adjoint(block);
        all.subcols_mut(next, block.ncols()).copy_from(&block);
        next += block.ncols();
    };
    let basis = model.data().basis.as_ref();
    append(product(body.heavy_rows().as_ref(), basis).as_ref());
    let tets = model.cubature_tets();
    let sampled = (!tets.is_empty()).then(|| Clusters::of_single_tets(tets, vec![1.0; tets.len()]));
    let gradients = sampled.as_ref().unwrap_or(&clusters).gradient_functionals(model.mesh(), source.material);
    match sampled {
        None => append(product(body.stiff_rows().as_ref(), basis).as_ref()),
        Some(_) => append(sampled_stiff_rows(model.data(), &gradients).as_ref()),
    }
    let centers = clusters.center_functionals(model.mesh(), source.material);
    let stretch = model.data().stretch.gradient_functionals(model.mesh());
    let shares: Vec<Vec<(u32, f64)>> = gradients.into_iter().chain(centers).chain(stretch).collect();
    for first in (0..shares.len()).step_by(BLOCK) {
        let shares = &shares[first..shares.len().min(first + BLOCK)];
        let mut block = Mat::zeros(body.vertex_count(), shares.len());
        for (column, shares) in shares.iter().enumerate() {
            shares.iter().for_each(|&(vertex, share)| block[(vertex as usize, column)] = share);
        }
        append(block.as_ref());
    }
    Ok(all)
}

/// `L B Phi` in the samples, n x r: `sum of w g' (G B Phi)`, from the contribution of each vertex to their
/// gradients, 3c.
fn sampled_stiff_rows(data: &SkinningData, gradients: &[Vec<(u32, f64)>]) -> Mat<f64> {
    let mut rows = Mat::zeros(data.mesh.vertices().len(), data.spectrum.len());
    for (row, shares) in gradients.iter().enumerate() {
        for j in 0..rows.ncols() {
            let stiff = data.cluster_weights[row / 3] * data.cluster_basis[(row, j)];
            let column = rows.col_as_slice_mut(j);
            shares.iter().for_each(|&(vertex, share)| column[vertex as usize] += stiff * share);
        }
    }
    rows
}

/// Rows of offsets without the bones' share; all empty without offsets.
pub(super) struct OffsetParts<'a> {
    /// `Phi'B'L`, r.
    pub(super) stiffness: &'a [[f64; 3]],
    /// Mean gradients at the force elements, 3c.
    pub(super) gradients: &'a [[f64; 3]],
    /// Centres of mass of the clusters, k.
    pub(super) centers: &'a [[f64; 3]],
    /// Gradients at the places of the stretch limit, 3w.
    pub(super) stretch: &'a [[f64; 3]],
}

impl SkinningModel {
    /// Number of rows of reduced offsets without the bones' share: 2r + 3c + k + 3w.
    pub(super) fn offset_rows(&self) -> usize {
        2 * self.rank() + 3 * self.cluster_count() + self.center_count() + 3 * self.data.stretch.tets.len()
    }

    /// Parts of these rows after the r of inertia.
    pub(super) fn offset_parts<'a>(&self, rows: &'a [[f64; 3]]) -> OffsetParts<'a> {
        if rows.is_empty() {
            return OffsetParts { stiffness: &[], gradients: &[], centers: &[], stretch: &[] };
        }
        let (stiffness, rest) = rows[self.rank()..].split_at(self.rank());
        let (gradients, rest) = rest.split_at(3 * self.cluster_count());
        let (centers, stretch) = rest.split_at(self.center_count());
        OffsetParts { stiffness, gradients, centers, stretch }
    }

    /// Adds the bones' share of reduced offsets to a pose, and copies the other rows.
    pub(super) fn set_offsets(
        &self,
        offsets: &[f64],
        pose: &mut [[f64; 3]],
        rows: &mut [[f64; 3]],
    ) -> Result<()> {
        if offsets.len() != 3 * (pose.len() + rows.len()) {
            return Err(Error::Shape {
                what: "offsets",
                expected: format!("({}, 3), as reduced for this model", pose.len() + rows.len()),
                got: format!("{} numbers", offsets.len()),
            });
        }
        check_offsets(&self.coordinates, offsets)?;
        let (bones, rest) = offsets.as_chunks::<3>().0.split_at(pose.len());
        pose.as_flattened_mut().iter_mut().zip(bones.as_flattened()).for_each(|(x, more)| *x += more);
        rows.copy_from_slice(rest);
        Ok(())
    }
}
