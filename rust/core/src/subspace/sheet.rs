//! Small vibrations of a surface without volume, such as a leaf, an ear or a blade `[MOR eq. 26, 27]`.

use faer::Mat;

use super::eigenpairs::Eigenproblem;
use super::flesh::LinearModes;
use super::modes::{Restraint, SHIFT};
use super::warping::Warping;
use crate::material::Material;
use crate::math::dense::dot;
use crate::math::multiply_columns;
use crate::mesh::SurfaceMesh;
use crate::operators::{Membrane, sheet_stiffness};
use crate::{Error, Progress, Result, check};

/// The factored eigenproblem of a surface's small vibrations, `K psi = lambda M psi`, with K the Hessian at
/// rest of its [`Membrane`] energy plus a bending energy.
///
/// A triangle of area A has the curvature `S = sum_e j_e |e| / 2A n_e n_e'` of the angle changes j at its
/// hinges, the edges that it shares with one other triangle, with n_e their normals in its plane. It stores
/// `D A / 2 ((1 - n) |S|^2 + n tr^2 S)`, with n Poisson's ratio and `D = E t^3 / 12 (1 - n^2)`, the plate
/// stiffness times a factor. A boundary edge carries no moment: the angle there minimises the energy.
/// Within a regular mesh any constant curvature is exact; with vertices displaced irregularly by a fifth of a
/// cell, frequencies are 5% too high.
pub struct SheetProblem {
    surface: SurfaceMesh,
    masses: Vec<f64>,
    swings: Eigenproblem,
}

impl SheetProblem {
    /// The problem of a surface of a given thickness in metres, `bending` times as stiff as a plate of that
    /// thickness, fixed at its pins.
    ///
    /// # Errors
    /// As [`Membrane::new`]; [`Error::Unsupported`] beside a rig; [`Error::Range`] or [`Error::NotFinite`]
    /// for a bending factor that is not positive, and if all points are pinned; [`Error::Shape`] for the
    /// pins, [`Error::Massless`] for a point without a triangle of positive area; [`Error::Numerical`],
    /// [`Error::Cancelled`].
    pub fn new(
        surface: &SurfaceMesh,
        material: &Material,
        (thickness, bending): (f64, f64),
        restraint: &Restraint<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        if restraint.rig.is_some() {
            let why = "modes of a surface without volume are held by pins; leave it out";
            return Err(Error::Unsupported { what: "rig", why });
        }
        let membrane = Membrane::new(surface, material, thickness)?;
        if !bending.is_finite() {
            return Err(Error::NotFinite { what: "bending", element: 0, value: bending });
        }
        if bending <= 0.0 {
            return Err(Error::Range { what: "bending", expected: "a positive number", got: bending });
        }
        let mass = membrane.lumped_mass();
        if let Some(vertex) = mass.iter().position(|mass| *mass <= 0.0) {
            return Err(Error::Massless { vertex });
        }
        let vertices = restraint.free_vertices(mass.len())?;
        if vertices.rows().is_empty() {
            let got = mass.len() as f64;
            return Err(Error::Range { what: "pinned", expected: "a vertex that moves", got });
        }
        progress.report(0.1)?;
        let plate = bending * thickness.powi(3) / 12.0;
        let matrix = sheet_stiffness(surface, &membrane, plate, &vertices);
        // A hundredth of the eigenvalue of a plate of that area.
        let (area, compliance) = membrane.area_and_compliance();
        let wave_number = std::f64::consts::PI / area.sqrt();
        let stiffness = plate * area / compliance * wave_number.powi(4);
        let shift = SHIFT * stiffness / (mass.iter().sum::<f64>() / area);
        let swings = Eigenproblem::of_swings(matrix, (&vertices, &mass), shift, (None, None), progress)?;
        Ok(Self { surface: surface.clone(), masses: mass, swings })
    }

    /// The vibrating surface.
    pub fn surface(&self) -> &SurfaceMesh {
        &self.surface
    }

    /// Lumped masses of the points, n, kg.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The `count` lowest modes; rigid motions come first where nothing holds the surface.
    ///
    /// # Errors
    /// As [`LinearProblem::lowest`](super::LinearProblem::lowest).
    pub fn lowest(&self, count: usize, progress: &Progress) -> Result<LinearModes> {
        self.swings.lowest_swings(count, progress)
    }

    /// `1/2 u'Ku` of a displacement, n x 3, J, with pinned vertices at rest.
    ///
    /// # Errors
    /// [`Error::Shape`] for another surface.
    pub fn elastic_energy(&self, displacement: &[f64]) -> Result<f64> {
        let rows = 3 * self.surface.points().len();
        check::shape("displacement", &[rows / 3, 3], displacement.len())?;
        let moved = self.swings.free.rows_of_dense(Mat::from_fn(rows, 1, |i, _| displacement[i]).as_ref());
        let forces = multiply_columns(&self.swings.hessian, moved.as_ref());
        Ok(0.5 * dot(moved.col_as_slice(0), forces.col_as_slice(0)))
    }

    /// Modal warping, which turns modal amplitudes into large bends and twists.
    ///
    /// # Errors
    /// [`Error::Shape`] for modes of another surface.
    pub fn warping(&self, modes: &LinearModes) -> Result<Warping> {
        Warping::of_surface(&self.surface, modes.shapes.as_ref())
    }
}
