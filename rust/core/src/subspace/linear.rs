//! Linear modes, the small swings of a body, and modal derivatives, how they bend `[MOR sec. 3.1, 3.4]`.

use faer::Mat;
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;

use super::modes::{Restraint, shift};
use super::principal::{Basis, Share, mass_pca};
use super::swings::Swings;
use super::warping::{Warping, WarpingMethod};
use crate::material::{Energy, Hessian, Material, PrincipalStretch};
use crate::math::dense::{add_product, inner};
use crate::math::{Selection, multiply_columns, on_pool};
use crate::mesh::TetMesh;
use crate::operators::{BlockMatrix, Strains, displacement_constraint, lumped_mass, twisting_stiffness};
use crate::{Error, Progress, Result};

/// Modes whose eigenvalue is a smaller share of the shift do not deform the body.
const RIGID: f64 = 1e-6;
/// Strain of the steps by which stress is differentiated.
const STEP: f64 = 3e-3;
/// Change of a derivative by which it counts as found, relatively.
const FOUND: f64 = 1e-10;
/// How often a solution is refined at most.
const MOST_ROUNDS: usize = 200;
/// Amplitude of the slowest mode for which a basis is made, as a share of the body's diagonal.
const AMPLITUDE: f64 = 0.25;

/// Small swings of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModes {
    /// Psi, 3n x k: a displacement of all vertices a column, rows interleaved, `Psi'M Psi = I`, in kg^(-1/2).
    pub shapes: Mat<f64>,
    /// `lambda = omega^2`, ascending, k, in 1/s^2; about zero for what moves without deforming.
    pub eigenvalues: Vec<f64>,
}

impl LinearModes {
    /// The frequencies `sqrt(lambda) / 2 pi`, k, Hz.
    pub fn frequencies(&self) -> Vec<f64> {
        self.eigenvalues.iter().map(|value| value.max(0.0).sqrt() / std::f64::consts::TAU).collect()
    }

    /// The modes as a basis to move in.
    pub fn basis(&self) -> Basis {
        Basis { columns: self.shapes.clone(), singular_values: Vec::new() }
    }
}

/// The eigenproblem of small swings, `K psi = lambda M psi` with K the Hessian of the elastic energy at rest, factored.
pub struct LinearProblem {
    mesh: TetMesh,
    material: Material,
    energies: Vec<PrincipalStretch>,
    swings: Swings,
}

impl LinearProblem {
    /// Assembles and factors the problem, without the coordinates of pinned vertices, bordered by the complementarity to
    /// a rig `B'(1 - leak) M psi = 0` where there is one.
    ///
    /// # Errors
    /// [`Error::Shape`] and the like for inputs that do not fit the mesh, [`Error::Range`] where all is pinned,
    /// [`Error::Numerical`], [`Error::Cancelled`].
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        restraint: &Restraint<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        material.check_tet_count(mesh.tets().len())?;
        let n = mesh.vertices().len();
        let vertices = restraint.free_vertices(n)?;
        if vertices.rows().is_empty() {
            return Err(Error::Range { what: "pinned", expected: "a vertex that moves", got: n as f64 });
        }
        let lumped = lumped_mass(mesh, material);
        let energies = material.energies(mesh.tets().len());
        let conductivity: Vec<f64> = energies.iter().map(PrincipalStretch::slope).collect();
        let constraint = restraint.columns(mesh, &lumped, &vertices, displacement_constraint)?;
        progress.report(0.1)?;
        let matrix = hessian_at_rest(mesh, &energies, &conductivity, &vertices);
        let shift = shift(mesh, &lumped, &conductivity);
        let border = (constraint.as_ref(), progress);
        let swings = Swings::new(matrix, (&vertices, &lumped), shift, border)?;
        Ok(Self { mesh: mesh.clone(), material: material.clone(), energies, swings })
    }

    /// The body that swings.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// What turns amplitudes of modes into large bends and twists; pinned vertices stay.
    ///
    /// # Errors
    /// As [`Warping::new`].
    pub fn warping(&self, modes: &LinearModes, method: WarpingMethod) -> Result<Warping> {
        let pinned: Vec<bool> =
            (0..self.mesh.vertices().len()).map(|vertex| !self.swings.free.contains(3 * vertex)).collect();
        Warping::new(&self.mesh, modes.shapes.as_ref(), &pinned, method)
    }

    /// The `count` lowest modes: rigid motions first where nothing holds the body.
    ///
    /// Signs and copies of repeated eigenvalues are as [`restrained_modes`](super::restrained_modes) has them.
    ///
    /// # Errors
    /// [`Error::TooManyModes`], [`Error::Range`] for none, [`Error::Numerical`], [`Error::Cancelled`].
    pub fn lowest(&self, count: usize, progress: &Progress) -> Result<LinearModes> {
        self.swings.lowest(count, progress)
    }

    /// How the body bends beyond its modes: `K Phi^ij = -(H : psi_j) psi_i` with H the second derivative of the elastic forces
    /// at rest, so that `p -> Psi p + 1/2 sum_ij p_i p_j Phi^ij` is what it does under `M Psi Lambda p`, up to
    /// third order. 3n x k (k + 1) / 2, a column for each i <= j, (0, 0), (0, 1) and so on, m/kg. `[MOR eq. 13-16]`
    ///
    /// Forces that would move the body as a whole are met by its inertia.
    ///
    /// # Errors
    /// [`Error::Shape`] for modes of another mesh; [`Error::Numerical`] where more motions than the modes given do not
    /// deform the body.
    pub fn derivatives(&self, modes: &LinearModes) -> Result<Mat<f64>> {
        let rows = 3 * self.mesh.vertices().len();
        if modes.shapes.nrows() != rows {
            let (expected, got) = (format!("({rows}, k)"), format!("({}, k)", modes.shapes.nrows()));
            return Err(Error::Shape { what: "modes", expected, got });
        }
        let k = modes.eigenvalues.len();
        let pairs: Vec<[usize; 2]> = (0..k).flat_map(|i| (i..k).map(move |j| [i, j])).collect();
        let strains = Strains::new(&self.mesh);
        let elements: Vec<Element> = self.elements(&strains, modes);
        let loads: Vec<Vec<f64>> = pairs.par_iter().map(|&pair| bending(&elements, pair, rows)).collect();
        let loads = Mat::from_fn(rows, pairs.len(), |row, pair| -loads[pair][row]);
        let solved = on_pool(|| self.static_response(modes, self.swings.free.rows_of_dense(loads.as_ref())))?;
        Ok(self.swings.free.spread(solved.as_ref()))
    }

    /// The `count` displacements that say most of what a body does slowly, large bends included: mass-PCA of modes and
    /// derivatives, the slower the heavier, `p l_1 / l_j psi_j` and `p^2 / 2 l_1^2 / (l_i l_j) Phi^ij`, p such that
    /// the slowest that deforms moves by a quarter of the diagonal. `[MOR eq. 17, 18]`
    ///
    /// # Errors
    /// As [`derivatives`](Self::derivatives) and [`mass_pca`]; [`Error::Unsupported`] where no mode deforms the body.
    pub fn bent_basis(&self, modes: &LinearModes, count: usize, progress: &Progress) -> Result<Basis> {
        let derivatives = self.derivatives(modes)?;
        let k = modes.eigenvalues.len();
        let Some(first) = (0..k).find(|&mode| self.deforms(modes, mode)) else {
            let why = "none of them deforms the body; take more, or pin a part of it";
            return Err(Error::Unsupported { what: "modes", why });
        };
        let [slowest, lengths] = [modes.eigenvalues[first], longest(modes.shapes.col_as_slice(first))];
        let p = AMPLITUDE * self.mesh.diagonal() / lengths;
        let share = |mode: usize| if mode < first { 0.0 } else { p * slowest / modes.eigenvalues[mode] };
        let mut snapshots = Vec::new();
        for mode in first..k {
            snapshots.extend(modes.shapes.col_as_slice(mode).iter().map(|x| share(mode) * x));
        }
        for (pair, [i, j]) in (0..k).flat_map(|i| (i..k).map(move |j| [i, j])).enumerate() {
            let weight = 0.5 * share(i) * share(j);
            if weight > 0.0 {
                snapshots.extend(derivatives.col_as_slice(pair).iter().map(|x| weight * x));
            }
        }
        mass_pca(&self.mesh, &self.material, &snapshots, Share { count, ..Share::default() }, progress)
    }

    fn deforms(&self, modes: &LinearModes, mode: usize) -> bool {
        modes.eigenvalues[mode] > RIGID * self.swings.shift
    }

    /// Each tet, or each cell of flesh, with the gradients of the modes there.
    fn elements(&self, strains: &Strains<'_>, modes: &LinearModes) -> Vec<Element> {
        let element = |first: usize| {
            let corners: Vec<(u32, Vector3<f64>)> =
                strains.of(first).map(|(vertex, g)| (vertex, Vector3::from(g))).collect();
            let gradient = |mode: usize| {
                let moved = modes.shapes.col_as_slice(mode).as_chunks::<3>().0;
                let term = |&(vertex, g): &(u32, Vector3<f64>)| {
                    Vector3::from(moved[vertex as usize]) * g.transpose()
                };
                corners.iter().map(term).sum()
            };
            let gradients = (0..modes.eigenvalues.len()).map(gradient).collect();
            let tets = first..first + tets_each(&self.mesh);
            let mut law = NearRest::default();
            tets.for_each(|t| law.add(&NearRest::of(&self.energies[t], self.mesh.volumes()[t])));
            Element { corners, gradients, law }
        };
        (0..self.mesh.tets().len()).into_par_iter().step_by(tets_each(&self.mesh)).map(element).collect()
    }

    /// `K^-1` of loads at the free coordinates, those of the body as a whole taken out.
    ///
    /// Of the modes it is nearly known; for what is left of the body the shift is small, and a few rounds with the factor do.
    fn static_response(&self, modes: &LinearModes, loads: Mat<f64>) -> Result<Mat<f64>> {
        let shapes = self.swings.free.rows_of_dense(modes.shapes.as_ref());
        let heavy =
            Mat::from_fn(shapes.nrows(), shapes.ncols(), |row, j| self.swings.mass[row] * shapes[(row, j)]);
        let give = |i: usize| if self.deforms(modes, i) { modes.eigenvalues[i].recip() } else { 0.0 };
        let (mut found, mut rest) = (Mat::<f64>::zeros(loads.nrows(), loads.ncols()), loads);
        for _ in 0..MOST_ROUNDS {
            let along = inner(shapes.as_ref(), rest.as_ref());
            let mut change = rest.clone();
            add_product(change.as_mut(), -1.0, heavy.as_ref(), along.as_ref());
            self.swings.factor.solve_in_place(change.as_mut());
            let stray = inner(heavy.as_ref(), change.as_ref());
            let known =
                Mat::from_fn(along.nrows(), along.ncols(), |i, j| give(i) * along[(i, j)] - stray[(i, j)]);
            add_product(change.as_mut(), 1.0, shapes.as_ref(), known.as_ref());
            found += &change;
            if change.norm_l2() <= FOUND * found.norm_l2() {
                return Ok(found);
            }
            rest -= multiply_columns(&self.swings.stiffness, change.as_ref());
        }
        let why = "more motions than the modes given do not deform the body; take more modes".into();
        Err(Error::Numerical { what: "modal derivatives", why })
    }
}

/// One tet or cell: the corners with the gradients of their functions, those of the modes, and its law.
struct Element {
    corners: Vec<(u32, Vector3<f64>)>,
    gradients: Vec<Matrix3<f64>>,
    law: NearRest,
}

fn tets_each(mesh: &TetMesh) -> usize {
    if mesh.cells().is_empty() { 1 } else { mesh.tets_per_cell() }
}

/// K of the free vertices.
fn hessian_at_rest(
    mesh: &TetMesh,
    energies: &[PrincipalStretch],
    conductivity: &[f64],
    vertices: &Selection,
) -> BlockMatrix {
    let free = vertices.rows().len();
    // Vertices beyond the rows do not move.
    let mut place = vec![free as u32; mesh.vertices().len()];
    (0..).zip(vertices.rows()).for_each(|(row, &vertex)| place[vertex as usize] = row);
    let strains = Strains::new(mesh);
    let firsts = || (0..mesh.tets().len()).step_by(tets_each(mesh));
    let corners: Vec<Vec<u32>> =
        firsts().map(|t| strains.of(t).map(|(vertex, _)| place[vertex as usize]).collect()).collect();
    let mut matrix = BlockMatrix::new(free, corners.iter().map(Vec::as_slice));
    for (first, corners) in firsts().zip(&corners) {
        let gradients: Vec<[f64; 3]> = strains.of(first).map(|(_, gradient)| gradient).collect();
        let of_tet = |t: usize| mesh.volumes()[t] * energies[t].hessian(&Matrix3::identity());
        let hessian: Hessian = (first..first + tets_each(mesh)).map(of_tet).sum();
        matrix.add_element(corners, &gradients, &hessian);
    }
    if let Some(twisting) = twisting_stiffness(mesh, conductivity) {
        for (row, &column) in vertices.rows().iter().enumerate() {
            let column = column as usize;
            for (&other, value) in twisting.row_idx_of_col_raw(column).iter().zip(twisting.val_of_col(column))
            {
                let other = place[other as usize] as usize;
                if other < free {
                    matrix.add(row, other, &(*value * Matrix3::identity()));
                }
            }
        }
    }
    matrix
}

/// `(H : psi_j) psi_i` at all coordinates, N per kg.
fn bending(elements: &[Element], [i, j]: [usize; 2], rows: usize) -> Vec<f64> {
    let mut load = vec![0.0; rows];
    for element in elements {
        let stress = element.law.bend(&element.gradients[i], &element.gradients[j]);
        for (vertex, gradient) in &element.corners {
            let force = stress * gradient;
            (0..3).for_each(|c| load[3 * *vertex as usize + c] += force[c]);
        }
    }
    load
}

/// An isotropic law near rest, in the strain `e = sqrt(F'F) - I`, J:
/// `W = l/2 tr^2 e + m tr e^2 + c_0 tr^3 e + c_1 tr e tr e^2 + c_2 tr e^3`, with the volume in it.
#[derive(Default)]
struct NearRest {
    lambda: f64,
    mu: f64,
    cubic: [f64; 3],
}

impl NearRest {
    fn of(law: &PrincipalStretch, volume: f64) -> Self {
        let (lambda, mu) = law.lame();
        let quadratic = |strain: [f64; 3]| {
            let stress =
                |h: f64| law.stress(&Matrix3::from_diagonal(&(h * Vector3::from(strain)).add_scalar(1.0)));
            let difference = |h: f64| (stress(h) + stress(-h)) / (2.0 * h * h);
            volume * (4.0 * difference(STEP) - difference(2.0 * STEP)) / 3.0
        };
        let (along, across) = (quadratic([1.0, 0.0, 0.0]), quadratic([1.0, -1.0, 0.0]));
        let second = across[(2, 2)] / 2.0;
        let first = (along[(1, 1)] - second) / 3.0;
        let cubic = [first, second, (along[(0, 0)] - 3.0 * (first + second)) / 3.0];
        Self { lambda: volume * lambda, mu: volume * mu, cubic }
    }

    fn add(&mut self, other: &Self) {
        self.lambda += other.lambda;
        self.mu += other.mu;
        (0..3).for_each(|i| self.cubic[i] += other.cubic[i]);
    }

    /// `D^2 P(I) [A, B]`: `e = sym A + (A'A - sym^2 A) / 2` up to third order.
    fn bend(&self, a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix3<f64> {
        let [e, d] = [a, b].map(|x| 0.5 * (x + x.transpose()));
        let (product, squares) = (e * d, a.transpose() * b);
        let (strains, turns) = (product + product.transpose(), squares + squares.transpose());
        let [of_e, of_d, of_both] = [e.trace(), d.trace(), product.trace()];
        let [first, second, third] = self.cubic;
        let pressure =
            self.lambda * (squares.trace() - of_both) + 6.0 * first * of_e * of_d + 2.0 * second * of_both;
        self.mu * (turns + 2.0 * (a * d + b * e)) - 3.0 * (self.mu - third) * strains
            + self.lambda * (of_e * (b - d) + of_d * (a - e))
            + 2.0 * second * (of_e * d + of_d * e)
            + pressure * Matrix3::identity()
    }
}

fn longest(shape: &[f64]) -> f64 {
    shape.as_chunks::<3>().0.iter().map(|u| Vector3::from(*u).norm()).fold(0.0, f64::max)
}
