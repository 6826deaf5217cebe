//! Hyperelastic flesh in the full space: every vertex moves, by quasi-Newton descent in a constant metric
//! `[QN]`.
//!
//! `FullSpaceModel` holds all constant data. A step (`FullSpaceStepper`) minimises the incremental energy
//! (`objective`), with an elastic part summed over packed elements (`elements`) and over `fibres`.

pub(crate) mod conduction;
pub(crate) mod data;
pub(crate) mod free;
pub(crate) mod minimise;
pub(crate) mod newton;
pub(crate) mod objective;
pub(crate) mod opening;
pub(crate) mod parts;
mod predict;
pub(crate) mod skin;
pub(crate) mod step;
pub(crate) mod stepper;
pub(crate) mod stretch;
mod swings;

use data::FullSpaceData;
pub use data::FullSpaceExtras;
use parts::Parts;
pub use stepper::{FullSpaceReport, FullSpaceStepper};

use std::sync::Arc;

use crate::kinematics::complement::Complement;
use crate::kinematics::posing::Posing;
use crate::potentials::elastic::elements::{ElementLaw, Elements, deformation};
use crate::potentials::elastic::fibres::{FibreTet, fibre_tets};
use crate::potentials::elastic::mesh_elements::elements_of;
use crate::potentials::quadratic::Quadratic;
use crate::potentials::stitch_gaps::Gaps;
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Mat, MatMut};
use nalgebra::Matrix3;

use crate::material::{Fibres, Material, PrincipalStretch};
use crate::math::polar::nearest_rotation;
use crate::math::rows::Rows;
use crate::math::{
    Scratch, Selection, Sparse, SparseCholesky, Structure, add_diagonal, largest_eigenvectors,
    multiply_columns,
};
use crate::mesh::TetMesh;
use crate::operators::{fibre_stiffness, out_of_reach, stiffness_of, twisting_stiffness};
use crate::subspace::{Restraint, shift};
use crate::{Progress, Result, check};

/// Number of eigenvectors computed to find the lowest deforming one.
const CANDIDATES: usize = 4;
/// Eigenvalue of rigid motion, relative to the shift of the factor.
const RIGID: f64 = 1e-6;

/// A full-space body, in which every vertex moves: all constant data of a step.
///
/// Rows are vertices in the elimination order of the factor, pinned ones last. Arrays of the interface are
/// in mesh order.
///
/// ```
/// use jounce::inputs::SimulationParams;
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::model::Model;
/// use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
/// use jounce::simulation::Simulation;
/// use jounce::subspace::Restraint;
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 8, &progress)?;
/// let [young, poisson, density] = [1e5, 0.3, 1000.0].map(Field::Uniform);
/// let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
/// let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < 0.1).collect();
/// let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
/// let model = FullSpaceModel::of(&mesh, &rubber, &restraint, &FullSpaceExtras::default(), &progress)?;
///
/// let settings = SimulationParams { gravity: [0.0, 0.0, -9.81], ..SimulationParams::default() };
/// let mut bar = Simulation::new(Model::FullSpace(model.into()), settings)?;
/// bar.step(None)?;
/// let [.., sag] = bar.coefficients() else { unreachable!() };
/// assert!(*sag < 0.0);
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct FullSpaceModel {
    data: FullSpaceData,
    /// Vertex of each row, and row of each vertex.
    vertices: Vec<u32>,
    rows: Vec<u32>,
    /// Number of moving rows; the others are pinned.
    free: usize,
    /// Masses of the moving rows, kg.
    mass: Vec<f64>,
    total_mass: f64,
    /// `sum_t V_t k_t`, J: magnitude of the terms that cancel in the elastic energy.
    rounding: f64,
    /// One law an element.
    energies: Vec<PrincipalStretch>,
    /// Stiffness of each element in the metric, Pa.
    slopes: Vec<f64>,
    /// Largest ratio of the metric's stiffness to that of shear, against the one without volume stiffness.
    yielding: f64,
    elements: Elements,
    fibres: Option<Arc<[FibreTet]>>,
    /// Laplacian of the metric, with the mass, on the moving vertices in mesh order.
    stiffness: Sparse,
    vertex_mass: Vec<f64>,
    /// The constraint on the moving rows.
    complement: Option<Complement>,
    /// The Laplacian on the moving rows.
    laplacian: Quadratic,
    /// Cell energy outside of the mean gradients, on all rows.
    twisting: Option<Quadratic>,
    /// Springs between vertices, on all rows, and their gaps.
    stitches: Option<Quadratic>,
    gaps: Option<Gaps>,
    /// Factor on the rig's acceleration at each moving row.
    strength: Vec<f64>,
    /// Parts of a free body; `None` for a held body.
    parts: Option<Parts>,
    /// `true` for each moving row of a part without pins or constraint.
    loose: Vec<bool>,
    posing: Posing,
    /// Shift that makes the Laplacian of a loose part definite, 1/s^2.
    shift: f64,
    frequency: f64,
    /// Damping of a held body by local frequencies.
    local_damping: Option<LocalDamping>,
    /// Sparsity structure of the metric's factors.
    structure: Structure,
}

/// Damping by local frequencies, for a ratio and a scale of stiffness of 1.
struct LocalDamping {
    /// The damping matrix on the moving rows.
    matrix: Quadratic,
    /// Factors of mass and Laplacian in the metric.
    mean: [f64; 2],
}

impl FullSpaceModel {
    /// Prepares a body without a rig of its own: `energies` has one law a tet, `material` gives the
    /// density.
    ///
    /// The displacement u relative to the rig is zero at vertices pinned by `restraint`, and complementary
    /// to the rig of `restraint` if any: `J'M D u = 0` `[FastCD eq. 3]`.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for lengths that do not match,
    /// [`Error::Range`](crate::Error::Range) for a cell of the mesh with more than one law or a completely
    /// pinned body, [`Error::Numerical`](crate::Error::Numerical),
    /// [`Error::Cancelled`](crate::Error::Cancelled), and those of the operators.
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        energies: &[PrincipalStretch],
        restraint: &Restraint<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        Self::with_extras(mesh, material, energies, restraint, &FullSpaceExtras::default(), progress)
    }

    /// A body with the law of its material in each tet.
    ///
    /// # Errors
    /// As [`FullSpaceModel::with_extras`].
    pub fn of(
        mesh: &TetMesh,
        material: &Material,
        restraint: &Restraint<'_>,
        extras: &FullSpaceExtras<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        material.check_tet_count(mesh.tets().len())?;
        let energies = material.energies(mesh.tets().len());
        Self::with_extras(mesh, material, &energies, restraint, extras, progress)
    }

    /// As [`FullSpaceModel::new`], with optional inputs.
    ///
    /// # Errors
    /// As [`FullSpaceModel::new`]; [`Error::Shape`](crate::Error::Shape),
    /// [`Error::NotFinite`](crate::Error::NotFinite), [`Error::Range`](crate::Error::Range) or
    /// [`Error::Unsupported`](crate::Error::Unsupported) for the extras.
    pub fn with_extras(
        mesh: &TetMesh,
        material: &Material,
        energies: &[PrincipalStretch],
        restraint: &Restraint<'_>,
        extras: &FullSpaceExtras<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        Self::from_data(FullSpaceData::new(mesh, material, energies, restraint, extras)?, progress)
    }

    /// Checks that the parts fit together, and prepares the constant data of a step.
    pub(crate) fn from_data(data: FullSpaceData, progress: &Progress) -> Result<Self> {
        data.check()?;
        let FullSpaceData { mesh, mass, moving, constraint, .. } = &data;
        progress.report(0.2)?;
        let conductivity: Vec<f64> = data.laws.iter().map(PrincipalStretch::slope).collect();
        check::all("energies", "laws that resist strain", &conductivity, check::is_positive)?;
        let springs = data.stitches.as_ref().map(|stitches| stitches.laplacian(1.0));
        let bending: Vec<f64> = data.laws.iter().map(PrincipalStretch::bending).collect();
        let flesh = stiffness_of(mesh, &conductivity, &bending)?;
        let pulled = data.fibres.as_ref().map(|fibres| fibre_stiffness(mesh, fibres));
        let whole = springs.iter().chain(&pulled).fold(flesh, |sum, more| &sum + more);
        let stiffness = if moving.is_whole() { whole } else { moving.square(&whole) };
        let vertex_mass = moving.values(mass);
        let shift = shift(mesh, mass, &conductivity);
        let factor = factor(&add_diagonal(&stiffness, &vertex_mass, shift), constraint.as_ref())?;
        progress.report(0.6)?;
        let frequency = frequency(&stiffness, &vertex_mass, &factor, shift, progress)?;
        let vertices = rows_to_vertices(mass.len(), moving, factor.order());
        let mut place = vec![0; mass.len()];
        (0..).zip(&vertices).for_each(|(row, &vertex)| place[vertex as usize] = row);
        let free_place: Vec<u32> = moving.rows().iter().map(|&vertex| place[vertex as usize]).collect();
        let (energies, elements) = elements_of(mesh, &data.laws, &place)?;
        let loose = loose(mesh, moving, constraint.as_ref());
        let strength = |vertex: &u32| data.strength.as_ref().map_or(1.0, |all| all[*vertex as usize]);
        let rows = &vertices[..vertex_mass.len()];
        let posing = Posing::new(mesh, data.rig.as_ref(), &vertices);
        let mut model = Self {
            parts: None,
            fibres: data.fibres.as_ref().map(|fibres| fibre_tets(mesh, fibres, &place).into()),
            stitches: springs.map(|springs| Quadratic::new(&springs, &place)),
            strength: rows.iter().map(strength).collect(),
            loose: rows.iter().map(|&vertex| loose[vertex as usize]).collect(),
            gaps: data.stitches.as_ref().and_then(|stitches| Gaps::new(mesh, stitches, &posing, &place)),
            posing,
            complement: match constraint {
                Some(constraint) => Some(Complement::new(permuted(constraint, &free_place))?),
                None => None,
            },
            shift,
            elements: Elements::new(&elements, |law| ElementLaw::Elastic(law.clone())),
            mass: rows.iter().map(|&vertex| mass[vertex as usize]).collect(),
            total_mass: mass.iter().sum(),
            rounding: mesh.volumes().iter().zip(&conductivity).map(|(volume, k)| volume * k).sum(),
            laplacian: Quadratic::new(&stiffness, &free_place),
            twisting: twisting_stiffness(mesh, &bending).map(|twist| Quadratic::new(&twist, &place)),
            free: vertex_mass.len(),
            data,
            vertices,
            rows: place,
            slopes: energies.iter().map(PrincipalStretch::slope).collect(),
            yielding: energies.iter().map(PrincipalStretch::yielding).fold(1.0, f64::max),
            energies,
            stiffness,
            vertex_mass,
            frequency,
            local_damping: None,
            structure: factor.structure(),
        };
        model.parts = model.find_parts();
        model.local_damping = model.find_local_damping(progress)?;
        Ok(model)
    }

    /// The contents of a model file.
    pub(crate) fn data(&self) -> &FullSpaceData {
        &self.data
    }

    /// The simulated mesh.
    pub fn mesh(&self) -> &TetMesh {
        &self.data.mesh
    }

    /// Number of bones b of a pose, 0 without a rig.
    pub fn bone_count(&self) -> usize {
        self.posing.bones
    }

    /// Frequency of the lowest deforming mode in the metric, Hz.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// Number of muscles with separate contraction.
    pub fn muscle_count(&self) -> usize {
        self.data.fibres.as_ref().map_or(0, Fibres::muscle_count)
    }

    /// Checks that numbers are n x 3.
    fn check_vertex_rows(&self, what: &'static str, numbers: &[f64]) -> Result<()> {
        check::shape(what, &[self.vertices.len(), 3], numbers.len())
    }

    /// Sets the first rows from n x 3 numbers in mesh order.
    fn enter(&self, numbers: &[f64], rows: &mut Rows) {
        let numbers = numbers.as_chunks::<3>().0;
        rows.iter_mut().zip(&self.vertices).for_each(|(row, &vertex)| *row = numbers[vertex as usize]);
    }

    /// Writes the first rows in mesh order; the others are zero.
    fn leave(&self, rows: &Rows, out: &mut Rows) {
        for (&vertex, row) in self.vertices.iter().zip(rows) {
            out[vertex as usize] = *row;
        }
    }

    /// Parts of a free body; `None` for a held body.
    fn find_parts(&self) -> Option<Parts> {
        let rest: Vec<[f64; 3]> = (0..self.free).map(|row| self.rest(row)).collect();
        (!self.is_held()).then(|| Parts::find(&self.laplacian, &self.mass, &rest))
    }

    /// Rest position of a row.
    fn rest(&self, row: usize) -> [f64; 3] {
        self.mesh().vertices()[self.vertices[row] as usize]
    }

    /// `true` if pins or a constraint hold the body.
    fn is_held(&self) -> bool {
        self.data.constraint.is_some() || self.free < self.vertices.len()
    }

    /// The rig's overall rotation from one pose to another.
    fn turn(&self, from: &Rows, to: &Rows) -> Matrix3<f64> {
        let posed = |pose: &Rows| {
            let mut places = vec![[0.0; 3]; self.vertices.len()];
            self.posing.apply(pose, &self.posing.translation(pose), &mut places);
            places
        };
        let (from, to) = (posed(from), posed(to));
        let mut moved = Matrix3::zeros();
        for chunk in self.elements.chunks() {
            for slot in 0..chunk.elements.len() {
                let (corners, gradients) = chunk.element(slot);
                let before = deformation(&from, &corners, &gradients);
                moved += chunk.volumes[slot] * deformation(&to, &corners, &gradients) * before.transpose();
            }
        }
        nearest_rotation(&moved)
    }

    /// Divisor from a mass-norm length to a root mean square over the body, as a share of the diagonal.
    fn unit(&self) -> f64 {
        self.total_mass.sqrt() * self.mesh().diagonal()
    }

    /// Mass norm of displacements of the moving vertices.
    fn mass_norm(&self, rows: &Rows) -> f64 {
        let weighted = |(row, mass): (&[f64; 3], &f64)| mass * row.iter().map(|x| x * x).sum::<f64>();
        rows.iter().zip(&self.mass).map(weighted).sum::<f64>().sqrt()
    }
}

/// `true` for each of n vertices in a part without pins or constraint.
fn loose(mesh: &TetMesh, free: &Selection, constraint: Option<&Sparse>) -> Vec<bool> {
    let mut held: Vec<bool> = (0..mesh.vertices().len()).map(|vertex| !free.contains(vertex)).collect();
    let entries = constraint.iter().flat_map(|constraint| constraint.row_idx());
    entries.for_each(|&row| held[free.rows()[row as usize] as usize] = true);
    out_of_reach(mesh, &held)
}

/// Permuted matrix: row i becomes row `place[i]`.
fn permuted(matrix: &Sparse, place: &[u32]) -> Sparse {
    let (mut ends, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..matrix.ncols() {
        let own = matrix.row_idx_of_col_raw(column).iter().map(|&row| place[row as usize]);
        let mut entries: Vec<(u32, f64)> = own.zip(matrix.val_of_col(column).iter().copied()).collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        rows.extend(entries.iter().map(|entry| entry.0));
        values.extend(entries.iter().map(|entry| entry.1));
        ends.push(rows.len() as u32);
    }
    let shape = SymbolicSparseColMat::new_checked(matrix.nrows(), matrix.ncols(), ends, None, rows);
    SparseColMat::new(shape, values)
}

fn factor(matrix: &Sparse, constraint: Option<&Sparse>) -> Result<SparseCholesky> {
    match constraint {
        Some(constraint) => SparseCholesky::constrained(matrix, constraint),
        None => SparseCholesky::new(matrix),
    }
}

/// Frequency of the lowest deforming mode of `L x = lambda M x`, Hz; the factor is that of `L + shift M`.
fn frequency(
    stiffness: &Sparse,
    mass: &[f64],
    factor: &SparseCholesky,
    shift: f64,
    progress: &Progress,
) -> Result<f64> {
    let order = factor.order();
    let root: Vec<f64> = order.iter().map(|&vertex| mass[vertex as usize].sqrt()).collect();
    let mut scratch = Scratch::default();
    let apply = |x: MatMut<'_, f64>| factor.solve_ordered(&mut scratch, |row| root[row], x);
    let count = CANDIDATES.min(mass.len());
    let vectors = largest_eigenvectors(mass.len(), count, apply, |_| progress.report(0.8))?;
    let mut modes = Mat::zeros(mass.len(), count);
    for (mut mode, vector) in modes.col_iter_mut().zip(vectors.col_iter()) {
        for ((&vertex, x), root) in order.iter().zip(vector.iter()).zip(&root) {
            mode[vertex as usize] = x / root;
        }
    }
    let images = multiply_columns(stiffness, modes.as_ref());
    let quotient = |k: usize| {
        let sum = |f: &dyn Fn(usize) -> f64| (0..mass.len()).map(f).sum::<f64>();
        sum(&|i| modes[(i, k)] * images[(i, k)]) / sum(&|i| mass[i] * modes[(i, k)].powi(2))
    };
    let squares = (0..count).map(quotient).filter(|&square| square > RIGID * shift);
    Ok(squares.fold(f64::INFINITY, f64::min).sqrt() / std::f64::consts::TAU)
}

/// Vertex of each row: moving ones in the order of the factor, then the pinned ones.
fn rows_to_vertices(n: usize, free: &Selection, order: &[u32]) -> Vec<u32> {
    let moving = order.iter().map(|&place| free.rows()[place as usize]);
    moving.chain((0..n as u32).filter(|&vertex| !free.contains(vertex as usize))).collect()
}
