//! Hyperelastic flesh in the full space: every vertex moves, by quasi-Newton descent in a constant metric
//! `[QN]`.
//!
//! What does not change is made once (`FullSpaceModel`); a step (`FullSpaceStepper`) minimises the
//! incremental energy (`objective`), whose elastic part is summed over packed elements (`elements`).

mod elements;
mod newton;
mod objective;
mod quadratic;
mod rest_shape;
mod step;

pub use step::{FullSpaceReport, FullSpaceStepper, Minimiser};

use elements::{Element, Elements};
use faer::{Mat, MatMut};
use quadratic::Quadratic;

use crate::material::{Material, PrincipalStretch};
use crate::math::{
    Room, Selection, Sparse, SparseCholesky, add_diagonal, largest_eigenvectors, multiply_columns,
};
use crate::mesh::{FleshCell, TetMesh};
use crate::method::SimulationParams;
use crate::operators::{displacement_constraint, gradients, lumped_mass, stiffness_of, twisting_stiffness};
use crate::subspace::{Restraint, shift};
use crate::{Error, Progress, Result};

/// Eigenvectors among which the lowest that deforms is looked for.
const CANDIDATES: usize = 4;
/// Eigenvalue below which nothing deforms, as a share of the shift of the factor.
const RIGID: f64 = 1e-6;

/// A body whose every vertex moves: all that a step needs and does not change.
///
/// Rows are vertices in the order in which the factor eliminates them, the pinned ones last; arrays that come
/// from outside or go there have vertices in the order of the mesh.
pub struct FullSpaceModel {
    mesh: TetMesh,
    /// The vertex of each row.
    vertices: Vec<u32>,
    /// Rows that move: the others are pinned.
    free: usize,
    /// Of the rows that move, kg.
    mass: Vec<f64>,
    total_mass: f64,
    /// `sum_t V_t k_t`, J: the size of what cancels in the elastic energy.
    rounding: f64,
    /// One an element.
    energies: Vec<PrincipalStretch>,
    elements: Elements,
    /// The metric's Laplacian and the mass on the vertices that move, in the order of the mesh.
    stiffness: Sparse,
    vertex_mass: Vec<f64>,
    constraint: Option<Sparse>,
    /// The Laplacian again, on the rows that move.
    viscosity: Quadratic,
    /// What of cells the gradients do not see, on all rows.
    twisting: Option<Quadratic>,
    frequency: f64,
}

impl FullSpaceModel {
    /// Prepares a body: `energies` has one law a tet, `material` gives the density.
    ///
    /// The displacement u that is added to the rig is zero where `restraint` pins it, and complementary to
    /// its rig if it has one: `J'M D u = 0` `[FastCD eq. 3]`.
    ///
    /// # Errors
    /// [`Error::Shape`] for numbers that do not fit, [`Error::Range`] for a cell of the mesh with more than
    /// one law or a body whose every vertex is pinned, [`Error::Numerical`], [`Error::Cancelled`], and those
    /// of the operators.
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        energies: &[PrincipalStretch],
        restraint: &Restraint<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        material.check_tet_count(mesh.tets().len())?;
        check_length("energies", mesh.tets().len(), energies.len())?;
        let n = mesh.vertices().len();
        let free = restraint.free_vertices(n)?;
        if free.rows().is_empty() {
            return Err(Error::Range { what: "pinned", expected: "a vertex that moves", got: n as f64 });
        }
        let mass = lumped_mass(mesh, material);
        let conductivity: Vec<f64> = energies.iter().map(PrincipalStretch::slope).collect();
        let whole = stiffness_of(mesh, &conductivity)?;
        let constraint = restraint.columns(mesh, &mass, &free, displacement_constraint)?;
        progress.report(0.2)?;
        let stiffness = if free.is_whole() { whole } else { free.square(&whole) };
        let vertex_mass = free.values(&mass);
        let shift = shift(mesh, &mass, &conductivity);
        let factor = factor(&add_diagonal(&stiffness, &vertex_mass, shift), constraint.as_ref())?;
        progress.report(0.6)?;
        let frequency = frequency(&stiffness, &vertex_mass, &factor, shift, progress)?;
        let vertices = rows_to_vertices(n, &free, factor.order());
        let mut place = vec![0; n];
        (0..).zip(&vertices).for_each(|(row, &vertex)| place[vertex as usize] = row);
        let free_place: Vec<u32> = free.rows().iter().map(|&vertex| place[vertex as usize]).collect();
        let (energies, elements) = elements_of(mesh, energies, &place)?;
        Ok(Self {
            elements: Elements::new(&elements),
            mass: vertices[..vertex_mass.len()].iter().map(|&vertex| mass[vertex as usize]).collect(),
            total_mass: mass.iter().sum(),
            rounding: mesh.volumes().iter().zip(&conductivity).map(|(volume, k)| volume * k).sum(),
            viscosity: Quadratic::new(&stiffness, &free_place),
            twisting: twisting_stiffness(mesh, &conductivity).map(|twist| Quadratic::new(&twist, &place)),
            free: vertex_mass.len(),
            mesh: mesh.clone(),
            vertices,
            energies,
            stiffness,
            vertex_mass,
            constraint,
            frequency,
        })
    }

    /// The mesh that is simulated.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// Frequency of the lowest mode that deforms in the metric, Hz.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// The mass that makes a root mean square over the body of the length of a displacement, and a share of
    /// its diagonal of that.
    fn unit(&self) -> f64 {
        self.total_mass.sqrt() * self.mesh.diagonal()
    }

    /// Damping by mass, 1/s, and by the metric's stiffness, s times the scale of stiffness.
    ///
    /// Drag on the mass would slow a body down that nothing restrains.
    fn damping(&self, params: &SimulationParams) -> [f64; 2] {
        let omega = std::f64::consts::TAU * self.frequency * params.stiffness.sqrt();
        if params.damping == 0.0 {
            [0.0; 2]
        } else if self.constraint.is_some() || self.free < self.vertices.len() {
            // alpha / w + beta w is twice the ratio at omega and at three times it.
            [1.5 * params.damping * omega, 0.5 * params.damping / omega * params.stiffness]
        } else {
            [0.0, 2.0 * params.damping / omega * params.stiffness]
        }
    }

    /// The factor of `inertia M + stiffness L`, bordered by the constraint.
    fn metric(&self, inertia: f64, stiffness: f64) -> Result<SparseCholesky> {
        let mut matrix = self.stiffness.clone();
        matrix.val_mut().iter_mut().for_each(|value| *value *= stiffness);
        factor(&add_diagonal(&matrix, &self.vertex_mass, inertia), self.constraint.as_ref())
    }
}

fn check_length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(Error::Shape { what, expected: format!("({expected},)"), got: format!("({got},)") })
}

fn factor(matrix: &Sparse, constraint: Option<&Sparse>) -> Result<SparseCholesky> {
    match constraint {
        Some(constraint) => SparseCholesky::constrained(matrix, constraint),
        None => SparseCholesky::new(matrix),
    }
}

/// Frequency of the lowest mode of `L x = lambda M x` that deforms, Hz; the factor is that of `L + shift M`.
fn frequency(
    stiffness: &Sparse,
    mass: &[f64],
    factor: &SparseCholesky,
    shift: f64,
    progress: &Progress,
) -> Result<f64> {
    let order = factor.order();
    let root: Vec<f64> = order.iter().map(|&vertex| mass[vertex as usize].sqrt()).collect();
    let mut room = Room::default();
    let apply = |x: MatMut<'_, f64>| factor.solve_ordered(&mut room, |row| root[row], x);
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

/// The vertex of each row: those that move in the order of the factor, then the pinned ones.
fn rows_to_vertices(n: usize, free: &Selection, order: &[u32]) -> Vec<u32> {
    let moving = order.iter().map(|&place| free.rows()[place as usize]);
    moving.chain((0..n as u32).filter(|&vertex| !free.contains(vertex as usize))).collect()
}

/// Tets or cells of a mesh, with the law of each.
fn elements_of(
    mesh: &TetMesh,
    energies: &[PrincipalStretch],
    place: &[u32],
) -> Result<(Vec<PrincipalStretch>, Vec<Element>)> {
    let rows = |corners: &[u32]| corners.iter().map(|&vertex| place[vertex as usize]).collect();
    if mesh.cells().is_empty() {
        let hats = gradients(mesh);
        let element = |t: usize| Element {
            corners: rows(&mesh.tets()[t]),
            gradients: hats[t].to_vec(),
            volume: mesh.volumes()[t],
            energy: energies[t].clone(),
        };
        return Ok((energies.to_vec(), (0..mesh.tets().len()).map(element).collect()));
    }
    let split = mesh.tets_per_cell();
    let element = |(c, cell): (usize, &FleshCell)| {
        let tets = split * c..split * (c + 1);
        let volume = mesh.volumes()[tets.clone()].iter().sum();
        let laws = tets.map(|t| (&energies[t], mesh.volumes()[t]));
        let expected = "one law in each cell of the mesh";
        let energy =
            PrincipalStretch::mean(laws).ok_or(Error::Range { what: "energies", expected, got: c as f64 })?;
        Ok(Element { corners: rows(&cell.corners), gradients: cell.gradients().to_vec(), volume, energy })
    };
    let elements: Vec<Element> = mesh.cells().iter().enumerate().map(element).collect::<Result<_>>()?;
    Ok((elements.iter().map(|element| element.energy.clone()).collect(), elements))
}
