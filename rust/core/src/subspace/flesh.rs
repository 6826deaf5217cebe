//! Linear modes of a body, and static responses of the body at the time of factorisation.

use faer::Mat;
use nalgebra::Matrix3;

use super::cut_mesh::Cut;
use super::eigenpairs::Eigenproblem;
use super::modes::shift;
use super::openings::Openings;
use crate::material::{Energy, Hessian, Material, PrincipalStretch};
use crate::math::dense::{add_product, inner};
use crate::math::{Selection, Sparse, SparseCholesky, add_diagonal, multiply_columns};
use crate::mesh::TetMesh;
use crate::operators::{BlockMatrix, Stitches, Strains, lumped_mass, twisting_stiffness};
use crate::{Error, Progress, Result};

/// Relative change of a derivative at which the refinement has converged.
const FOUND: f64 = 1e-10;
/// Maximum number of refinements of a static solution.
const MOST_ROUNDS: usize = 200;

/// Linear modes: small vibrations of a body.
///
/// ```
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::operators::Stitches;
/// use jounce::subspace::{LinearProblem, Restraint};
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([1.0, 0.2, 0.2])?, 8, &progress)?;
/// let rubber = Material::new(Law::Arap, Field::Uniform(1e5), Field::Uniform(0.0), Field::Uniform(1e3))?;
/// let none = Stitches::none(&mesh);
/// let free = LinearProblem::new(&mesh, &rubber, &Restraint::default(), &none, &progress)?;
/// let modes = free.lowest(7, &progress)?;
/// assert_eq!(modes.shapes.nrows(), 3 * mesh.vertices().len());
/// // A free body has six rigid motions, and then the first deforming mode.
/// assert!(modes.eigenvalues[5].abs() < 1e-3 * modes.eigenvalues[6]);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModes {
    /// Psi, 3n x k: a displacement of all vertices per column, with interleaved rows and `Psi'M Psi = I`,
    /// in kg^(-1/2).
    pub shapes: Mat<f64>,
    /// `lambda = omega^2`, ascending, k, in 1/s^2; about zero for rigid motions.
    pub eigenvalues: Vec<f64>,
}

/// The body at the time of factorisation.
pub(super) struct Flesh {
    pub(super) mesh: TetMesh,
    pub(super) material: Material,
    pub(super) energies: Vec<PrincipalStretch>,
    pub(super) swings: Eigenproblem,
    /// The stitches in the factor.
    pub(super) stitches: Stitches,
    /// Constraint on each coordinate at the free vertices.
    pub(super) constraint: Option<Sparse>,
}

/// Pairs `i <= j < k`: (0, 0), (0, 1) and so on.
pub(super) fn pairs(k: usize) -> Vec<[usize; 2]> {
    (0..k).flat_map(|i| (i..k).map(move |j| [i, j])).collect()
}

impl Flesh {
    /// Assembles and factors `K + shift M` at the free vertices, bordered by a constraint on each
    /// coordinate. `like` is a factor of the same sparsity, whose order of elimination is taken over.
    pub(super) fn new(
        (mesh, material): (TetMesh, Material),
        (vertices, constraint): (&Selection, Option<Sparse>),
        stitches: Stitches,
        like: Option<&SparseCholesky>,
        progress: &Progress,
    ) -> Result<Self> {
        let lumped = lumped_mass(&mesh, &material);
        let energies = material.energies(mesh.tets().len());
        let conductivity: Vec<f64> = energies.iter().map(PrincipalStretch::slope).collect();
        let matrix = hessian_at_rest(&mesh, &energies, (vertices, &stitches));
        let (shift, border) = (shift(&mesh, &lumped, &conductivity), (constraint.as_ref(), like));
        let swings = Eigenproblem::of_swings(matrix, (vertices, &lumped), shift, border, progress)?;
        Ok(Self { mesh, material, energies, swings, stitches, constraint })
    }

    /// The free vertices, of a cut body or of the body as factored.
    pub(super) fn vertices(&self, cut: Option<&Cut>) -> Selection {
        let free = &self.swings.free;
        match cut {
            None => Selection::new(free.total() / 3, |vertex| free.contains(3 * vertex)),
            Some(cut) => Selection::new(cut.origin.len(), |new| free.contains(3 * cut.origin[new] as usize)),
        }
    }

    /// K at the free vertices, with the stitches in the factor, for other energies or a cut body.
    pub(super) fn matrix(&self, energies: &[PrincipalStretch], cut: Option<&Cut>) -> Result<BlockMatrix> {
        let vertices = self.vertices(cut);
        Ok(match cut {
            None => hessian_at_rest(&self.mesh, energies, (&vertices, &self.stitches)),
            Some(cut) => {
                let stitches = cut.stitches(&self.stitches)?;
                hessian_at_rest(&cut.mesh, energies, (&vertices, &stitches))
            }
        })
    }

    /// The eigenproblem of the cut body: the factor with a border.
    pub(super) fn opened(&self, cut: &Cut) -> Result<Eigenproblem> {
        let (vertices, swings) = (self.vertices(Some(cut)), &self.swings);
        let hessian = self.matrix(&self.energies, Some(cut))?.whole();
        let mass = vertices.values(&lumped_mass(&cut.mesh, &self.material));
        let mass: Vec<f64> = mass.iter().flat_map(|&mass| [mass; 3]).collect();
        let new = vertices.rows().iter().filter(|&&vertex| vertex as usize >= cut.before);
        let old = |&vertex: &u32| (0..3).map(move |c| 3 * cut.origin[vertex as usize] + c);
        let place = |row: u32| swings.free.place(row).expect("a doubled vertex moves with its origin");
        let origin = new.flat_map(old).map(place).collect();
        let openings = Some(Openings::new(&add_diagonal(&hessian, &mass, swings.shift), origin));
        let free = Selection::new(3 * cut.origin.len(), |row| vertices.contains(row / 3));
        let (shift, factor) = (swings.shift, swings.factor.clone());
        Ok(Eigenproblem { free, hessian, mass, constraints: 0, shift, factor, openings })
    }

    /// `K^-1` of loads at the free coordinates, without their part along rigid motions.
    ///
    /// The result is nearly known along the modes. For the rest of the space the shift is small, and a few
    /// refinements with the factor converge.
    pub(super) fn static_response(
        &self,
        modes: &LinearModes,
        loads: Mat<f64>,
        progress: &Progress,
    ) -> Result<Mat<f64>> {
        let shapes = self.swings.free.rows_of_dense(modes.shapes.as_ref());
        let heavy = self.swings.heavy(shapes.as_ref());
        let give = |i: usize| {
            let value = modes.eigenvalues[i];
            if self.swings.deforms(value) { value.recip() } else { 0.0 }
        };
        let (mut found, mut rest) = (Mat::<f64>::zeros(loads.nrows(), loads.ncols()), loads);
        for _ in 0..MOST_ROUNDS {
            progress.proceed()?;
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
            rest -= multiply_columns(&self.swings.hessian, change.as_ref());
        }
        let why = "more motions than the modes given do not deform the body, or shapes of `attached` are \
                   among these; take more modes, and join such shapes to the basis afterwards";
        let why = why.into();
        Err(Error::Numerical { what: "modal derivatives", why })
    }
}

/// Number of tets per element: all tets of a cell of flesh, or one.
pub(super) fn tets_each(mesh: &TetMesh) -> usize {
    if mesh.cells().is_empty() { 1 } else { mesh.tets_per_cell() }
}

/// K at the free vertices, with stitches.
fn hessian_at_rest(
    mesh: &TetMesh,
    energies: &[PrincipalStretch],
    (vertices, stitches): (&Selection, &Stitches),
) -> BlockMatrix {
    let free = vertices.rows().len();
    // Vertices past the last row are pinned.
    let mut place = vec![free as u32; mesh.vertices().len()];
    (0..).zip(vertices.rows()).for_each(|(row, &vertex)| place[vertex as usize] = row);
    let strains = Strains::new(mesh);
    let firsts = || (0..mesh.tets().len()).step_by(tets_each(mesh));
    let corners: Vec<Vec<u32>> =
        firsts().map(|t| strains.of(t).map(|(vertex, _)| place[vertex as usize]).collect()).collect();
    let seams: Vec<Vec<u32>> = (stitches.stitches().iter())
        .map(|stitch| stitch.entries().map(|(vertex, _)| place[vertex]).collect())
        .collect();
    let mut matrix = BlockMatrix::new(free, corners.iter().chain(&seams).map(Vec::as_slice));
    for (first, corners) in firsts().zip(&corners) {
        let gradients: Vec<[f64; 3]> = strains.of(first).map(|(_, gradient)| gradient).collect();
        let of_tet = |t: usize| mesh.volumes()[t] * energies[t].hessian(&Matrix3::identity());
        let hessian: Hessian = (first..first + tets_each(mesh)).map(of_tet).sum();
        matrix.add_element(corners, &gradients, &hessian);
    }
    for stitch in stitches.stitches() {
        for ((v, a), (w, b)) in
            stitch.entries().flat_map(|one| stitch.entries().map(move |other| (one, other)))
        {
            let (row, column) = (place[v] as usize, place[w] as usize);
            if row < free && column < free {
                matrix.add(row, column, &(stitch.stiffness * a * b * Matrix3::identity()));
            }
        }
    }
    let bending: Vec<f64> = energies.iter().map(PrincipalStretch::bending).collect();
    if let Some(twisting) = twisting_stiffness(mesh, &bending) {
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
