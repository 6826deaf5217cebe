//! Everything of mesh size, reduced once to the coordinates of a basis.

use std::sync::Arc;

use faer::{Mat, MatRef};

use super::cubic::CubicForces;
use super::damping::Damping;
use super::parts::{Parts, Places};
use super::{Quadratic, ReducedData, ReducedExtras, ReducedModel};
use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::rig_rows::{RigRows, rig_rows};
use crate::material::{Material, PrincipalStretch};
use crate::math::columns::Columns;
use crate::math::dense::diagonal::{FREE, diagonalise};
use crate::math::dense::{inner, product};
use crate::math::{Sparse, multiply_columns};
use crate::mesh::TetMesh;
use crate::operators::{lumped_mass, stiffness_of, twisting_stiffness};
use crate::potentials::elastic::elements::{Element, ElementLaw};
use crate::potentials::elastic::mesh_elements::elements_of;
use crate::potentials::elastic::samples::{RigTerms, Samples};
use crate::rig::Rig;
use crate::sampling::cubature::{Cubature, seen_and_more};
use crate::subspace::Basis;
use crate::{Error, Progress, Result};

/// Factor on `k / c` for the kept share of the metric's stiffness outside of the samples, with c elements
/// and k coordinates.
///
/// The metric also resists rotation, unlike flesh. Without any of it, displacements invisible to the
/// elements would have no resistance.
const UNSEEN: f64 = 0.02;
/// Number of vertices that measure the motion of a body.
const PLACES: usize = 40;

/// A body before reduction.
pub(super) struct Body<'a> {
    mesh: &'a TetMesh,
    coordinates: Coordinates,
    bones: usize,
    mass: Vec<f64>,
    strength: Option<&'a [f64]>,
    rig: RigRows,
    /// One law a tet.
    pub(super) laws: Vec<PrincipalStretch>,
    energies: Vec<PrincipalStretch>,
    elements: Vec<Element>,
    /// Laplacian of the metric, with the springs.
    stiffness: Sparse,
    twisting: Option<Sparse>,
    springs: Option<Sparse>,
}

impl<'a> Body<'a> {
    pub(super) fn new(mesh: &'a TetMesh, material: &Material, extras: &ReducedExtras<'a>) -> Result<Self> {
        let energies = material.energies(mesh.tets().len());
        let conductivity: Vec<f64> = energies.iter().map(PrincipalStretch::slope).collect();
        let bending: Vec<f64> = energies.iter().map(PrincipalStretch::bending).collect();
        let place: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
        let coordinates = Coordinates::of_mesh(mesh);
        let (laws, elements) = elements_of(mesh, &energies, &place)?;
        let stitches = extras.stitches.filter(|stitches| !stitches.is_empty());
        let springs = stitches.map(|stitches| stitches.laplacian(1.0));
        let flesh = stiffness_of(mesh, &conductivity, &bending)?;
        Ok(Self {
            mesh,
            coordinates,
            bones: extras.rig.map_or(0, Rig::bone_count),
            mass: lumped_mass(mesh, material),
            strength: extras.strength,
            rig: rig_rows(&coordinates, mesh.vertices(), extras.rig),
            laws: energies,
            energies: laws,
            elements,
            stiffness: springs.iter().fold(flesh, |sum, more| &sum + more),
            twisting: twisting_stiffness(mesh, &bending),
            springs,
        })
    }

    /// Everything but the samples, and B = U Phi, 3n x k.
    pub(super) fn reduce(&self, known: &Basis, frequency: Option<f64>) -> Result<(ReducedData, Mat<f64>)> {
        let basis = &known.columns;
        let of_basis = self.weighted(basis.as_ref(), |v| self.mass[v]);
        let mass = inner(basis.as_ref(), of_basis.as_ref());
        let stiffness = inner(basis.as_ref(), applied(&self.stiffness, basis.as_ref()).as_ref());
        let (turn, spectrum) = diagonalise(&mass, &stiffness)?;
        let fields = product(basis.as_ref(), turn.as_ref());
        let largest = spectrum.iter().copied().fold(0.0, f64::max);
        let lowest = spectrum.iter().copied().filter(|&value| value > FREE * largest).fold(largest, f64::min);
        let hertz = frequency.unwrap_or(lowest.sqrt() / std::f64::consts::TAU);
        let strength = |v: usize| self.mass[v] * self.strength.map_or(1.0, |strength| strength[v]);
        let data = ReducedData {
            mesh: self.mesh.clone(),
            mass: self.mass.clone(),
            reduction: product(turn.transpose(), mass.as_ref()),
            twisting: self.twisting.as_ref().map(|twisting| self.quadratic(twisting, fields.as_ref())),
            stitches: self.springs.as_ref().map(|springs| self.quadratic(springs, fields.as_ref())),
            rig_mass: self.with_rig(self.weighted(fields.as_ref(), strength).as_ref()),
            uniform: [0, 1, 2].map(|axis| {
                let sum =
                    |k: usize| self.mass.iter().enumerate().map(|(v, m)| m * fields[(3 * v + axis, k)]).sum();
                (0..fields.ncols()).map(sum).collect()
            }),
            across: self.across(fields.as_ref()),
            places: self.places(fields.as_ref()),
            parts: Parts::new(self.mesh, &self.mass, &self.rig, fields.as_ref())?,
            rig: self.rig.clone(),
            energies: self.energies.clone(),
            yielding: self.energies.iter().map(PrincipalStretch::yielding).fold(1.0, f64::max),
            coordinates: self.coordinates,
            bones: self.bones,
            damping: Damping::by_laplacian(&spectrum, hertz),
            frequency: hertz,
            total_mass: self.mass.iter().sum(),
            tet_shares: self.tet_shares(),
            basis: known.clone(),
            turn,
            spectrum,
        };
        Ok((data, fields))
    }

    /// All elements, with weight 1.
    pub(super) fn samples(&self, fields: &Mat<f64>) -> Samples {
        let elastic = |law: &PrincipalStretch| ElementLaw::Elastic(law.clone());
        samples_of(&self.elements, elastic, &self.rig, fields)
    }

    /// Polynomial forces of all samples.
    pub(super) fn cubic(&self, samples: &Samples, progress: &Progress) -> Result<CubicForces> {
        let laws: Vec<_> = self.elements.iter().map(|element| element.energy.lame()).collect();
        CubicForces::new(samples, &laws, progress)
    }

    /// Fields with a weight for each vertex.
    fn weighted(&self, fields: MatRef<'_, f64>, weight: impl Fn(usize) -> f64) -> Mat<f64> {
        Mat::from_fn(fields.nrows(), fields.ncols(), |i, k| weight(i / 3) * fields[(i, k)])
    }

    /// Products of forces, a column each, with J: columns of 12 numbers a handle.
    fn with_rig(&self, forces: MatRef<'_, f64>) -> Columns {
        let mut sums = Mat::<f64>::zeros(12 * self.bones.max(1), forces.ncols());
        for (k, mut sum) in sums.col_iter_mut().enumerate() {
            let force = forces.col(k);
            for (v, rows) in self.rig.iter().enumerate() {
                for (handle, entries) in rows {
                    for (d, entry) in entries.iter().enumerate() {
                        let first = 3 * (4 * *handle as usize + d);
                        (0..3).for_each(|c| sum[first + c] += entry * force[3 * v + c]);
                    }
                }
            }
        }
        Columns::new(sums.nrows(), sums.ncols(), |i, k| sums[(i, k)])
    }

    fn quadratic(&self, matrix: &Sparse, fields: MatRef<'_, f64>) -> Quadratic {
        let forces = applied(matrix, fields);
        let own = inner(fields, forces.as_ref());
        let n = self.rig.len();
        let mut rows = Mat::zeros(n, 4 * self.bones.max(1));
        for (v, handles) in self.rig.iter().enumerate() {
            for (handle, entries) in handles {
                entries.iter().enumerate().for_each(|(d, x)| rows[(v, 4 * *handle as usize + d)] = *x);
            }
        }
        let images = multiply_columns(matrix, rows.as_ref());
        Quadratic {
            own: square(&own),
            rig: self.with_rig(forces.as_ref()),
            alone: inner(rows.as_ref(), images.as_ref()),
        }
    }

    fn across(&self, fields: MatRef<'_, f64>) -> Vec<Mat<f64>> {
        let n = self.mass.len();
        let along = |axis: usize, weigh: bool| {
            let weight = |v: usize| if weigh { self.mass[v] } else { 1.0 };
            Mat::from_fn(n, fields.ncols(), |v, k| weight(v) * fields[(3 * v + axis, k)])
        };
        let (left, right) =
            ([0, 1, 2].map(|axis| along(axis, false)), [0, 1, 2].map(|axis| along(axis, true)));
        (0..9).map(|e| inner(left[e / 3].as_ref(), right[e % 3].as_ref())).collect()
    }

    fn places(&self, fields: MatRef<'_, f64>) -> Places {
        let n = self.mass.len();
        let count = PLACES.min(n);
        let vertices: Vec<usize> = (0..count).map(|i| i * n / count).collect();
        Places {
            basis: Columns::new(3 * count, fields.ncols(), |i, k| fields[(3 * vertices[i / 3] + i % 3, k)]),
            rig: vertices.iter().map(|&v| self.rig[v].clone()).collect(),
        }
    }

    fn tet_shares(&self) -> Vec<f64> {
        let each = if self.mesh.cells().is_empty() { 1 } else { self.mesh.tets_per_cell() };
        let share = |(t, volume): (usize, &f64)| volume / self.elements[t / each].volume;
        self.mesh.volumes().iter().enumerate().map(share).collect()
    }
}

impl ReducedModel {
    /// Prepares a body in the span of a basis.
    ///
    /// Linear properties shared by all basis fields, such as pins and complementarity to a rig, hold for
    /// all motion.
    ///
    /// # Errors
    /// [`Error::Shape`] for lengths that do not match, [`Error::Range`] or [`Error::NotFinite`] for the
    /// strength and for a frequency that is not positive, [`Error::Numerical`] for a basis without motion;
    /// those of the cubature and the operators; [`Error::Unsupported`] for forces that are no polynomials;
    /// [`Error::Cancelled`].
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        basis: &Basis,
        extras: &ReducedExtras<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        let n = mesh.vertices().len();
        material.check_tet_count(mesh.tets().len())?;
        extras.check(n)?;
        if extras.cubic {
            extras.check_cubic(material.law(), basis.count())?;
        }
        extras.cubature.map_or(Ok(()), |cubature| cubature.check(mesh))?;
        if basis.columns.nrows() != 3 * n {
            let (expected, got) = (format!("(r, {n}, 3)"), format!("(r, {}, 3)", basis.columns.nrows() / 3));
            return Err(Error::Shape { what: "basis", expected, got });
        }
        progress.report(0.0)?;
        let body = Body::new(mesh, material, extras)?;
        let (data, fields) = body.reduce(basis, extras.frequency)?;
        progress.report(0.5)?;
        let samples = body.samples(&fields);
        let cubic = extras.cubic.then(|| body.cubic(&samples, progress)).transpose()?.map(Arc::new);
        let unseen = Columns::new(samples.rank(), samples.rank(), |_, _| 0.0);
        let mut model = Self { data: Arc::new(data), samples, cubic, cubature: None, limits: None, unseen };
        model.set_local_damping(&body, &fields)?;
        progress.report(1.0)?;
        match extras.cubature {
            Some(cubature) => model.sampled(cubature),
            None => Ok(model),
        }
    }

    /// The same body with elastic forces evaluated at a cubature.
    ///
    /// A share of the metric's stiffness outside of the samples is kept, to give every displacement some
    /// resistance. In a static pose with rest shapes that follow, nothing moves, whatever the weights.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Shape`], [`Error::Index`], [`Error::Range`] or [`Error::NotFinite`] for
    /// tets and weights, [`Error::Unsupported`] for a body with a cubature; [`Error::Numerical`].
    pub fn sampled(&self, cubature: &Cubature) -> Result<Self> {
        let mesh = &self.data.mesh;
        cubature.check(mesh)?;
        self.check_whole()?;
        let each = self.tets_each();
        let volume = |(&tet, weight): (&u32, &f64)| {
            let element = tet as usize / each;
            (element, weight * self.data.tet_shares[tet as usize] * self.samples.volume(element))
        };
        let chosen: Vec<(usize, f64)> = cubature.tets.iter().zip(&cubature.weights).map(volume).collect();
        let samples = self.samples.select(&chosen);
        let unseen = self.data.unseen(&samples)?;
        let limits = self.limits.clone();
        Ok(Self {
            data: self.data.clone(),
            samples,
            cubic: None,
            cubature: Some(cubature.clone()),
            limits,
            unseen,
        })
    }
}

impl ReducedData {
    /// Kept share of the metric's stiffness outside of the samples, k x k.
    pub(super) fn unseen(&self, samples: &Samples) -> Result<Columns> {
        let rank = self.rank();
        let share = (UNSEEN * rank as f64 / samples.count() as f64).min(1.0);
        let stiff = Mat::from_fn(9 * samples.count(), rank, |i, k| {
            samples.weight(i / 9).sqrt() * samples.gradient(i / 9, i % 9, k)
        });
        let whole =
            Mat::from_fn(rank, rank, |i, j| self.quadratics().map(|quadratic| quadratic.own.at(i, j)).sum());
        let whole = self.quadratics().next().map(|_| whole.as_ref());
        let kept = |seen: f64| share * (1.0 - seen).max(0.0);
        Ok(square(&seen_and_more(&self.spectrum, whole, stiff.as_ref(), kept)?))
    }
}

/// Elements with a law in the coordinates of some fields, 3n x k; without fields, for elements whose
/// gradients are changed directly.
pub(super) fn samples_of(
    elements: &[Element],
    law: impl Fn(&PrincipalStretch) -> ElementLaw,
    rig: &RigRows,
    fields: &Mat<f64>,
) -> Samples {
    let terms = elements.iter().map(|element| rig_terms(rig, element)).collect();
    Samples::new(elements, law, terms, fields.ncols(), |element, entry, coordinate| {
        let Element { corners, gradients, .. } = &elements[element];
        let field = fields.col_as_slice(coordinate);
        let of = |(&v, g): (&u32, &[f64; 3])| field[3 * v as usize + entry / 3] * g[entry % 3];
        corners.iter().zip(gradients).map(of).sum()
    })
}

/// Linear map from handles to the deformation gradient of an element.
fn rig_terms(rig: &RigRows, element: &Element) -> RigTerms {
    let mut terms: RigTerms = Vec::new();
    for (&vertex, gradient) in element.corners.iter().zip(&element.gradients) {
        for (handle, row) in &rig[vertex as usize] {
            let place = terms.iter().position(|(known, _)| known == handle).unwrap_or_else(|| {
                terms.push((*handle, [[0.0; 3]; 4]));
                terms.len() - 1
            });
            for (sum, entry) in terms[place].1.iter_mut().zip(row) {
                (0..3).for_each(|j| sum[j] += entry * gradient[j]);
            }
        }
    }
    terms
}

pub(super) fn square(matrix: &Mat<f64>) -> Columns {
    Columns::new(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)])
}

/// Product of a symmetric matrix, the same for each axis, with displacement fields, 3n x k.
pub(super) fn applied(matrix: &Sparse, fields: MatRef<'_, f64>) -> Mat<f64> {
    let columns = Mat::from_fn(matrix.nrows(), 3 * fields.ncols(), |v, j| fields[(3 * v + j % 3, j / 3)]);
    let images = multiply_columns(matrix, columns.as_ref());
    Mat::from_fn(fields.nrows(), fields.ncols(), |i, k| images[(i / 3, 3 * k + i % 3)])
}
