//! Definition data of a full-space body.

use crate::kinematics::rig_rows::check_strength;
use crate::material::{Fibres, Material, PrincipalStretch};
use crate::math::{Selection, Sparse};
use crate::mesh::TetMesh;
use crate::operators::{Stitches, displacement_constraint, lumped_mass};
use crate::rig::Rig;
use crate::subspace::Restraint;
use crate::{Error, Result, check};

/// Optional inputs of a full-space body; none by default.
#[derive(Clone, Copy, Default)]
pub struct FullSpaceExtras<'a> {
    /// Rig of the body; without a rig the body stays at its rest place.
    pub rig: Option<&'a Rig>,
    /// Factor on the rig's acceleration at each vertex, n, >= 0; `None` is one everywhere.
    pub strength: Option<&'a [f64]>,
    /// Springs between points of the body.
    pub stitches: Option<&'a Stitches>,
    /// Contractile fibres.
    pub fibres: Option<&'a Fibres>,
}

/// Definition data of a full-space body, the complete contents of its file: n vertices, t tets, c columns
/// of the constraint.
///
/// Matrices and factors are recomputed by the same operations, with the same bits. They are several times
/// as large, and a file without them cannot be inconsistent.
pub(crate) struct FullSpaceData {
    pub(crate) mesh: TetMesh,
    /// Vertex masses, n, kg.
    pub(crate) mass: Vec<f64>,
    /// One law a tet.
    pub(crate) laws: Vec<PrincipalStretch>,
    /// Moving vertices; the others are pinned.
    pub(crate) moving: Selection,
    /// Columns of the constraint, on the moving vertices.
    pub(crate) constraint: Option<Sparse>,
    /// Rig of the body.
    pub(crate) rig: Option<Rig>,
    /// Factor on the rig's acceleration at each vertex, n.
    pub(crate) strength: Option<Vec<f64>>,
    /// Stitches; never empty.
    pub(crate) stitches: Option<Stitches>,
    pub(crate) fibres: Option<Fibres>,
}

impl FullSpaceData {
    /// Data from the inputs of a body.
    pub(super) fn new(
        mesh: &TetMesh,
        material: &Material,
        laws: &[PrincipalStretch],
        restraint: &Restraint<'_>,
        extras: &FullSpaceExtras<'_>,
    ) -> Result<Self> {
        material.check_tet_count(mesh.tets().len())?;
        check::length("energies", mesh.tets().len(), laws.len())?;
        extras.check(mesh.vertices().len(), mesh.tets().len())?;
        let moving = restraint.free_vertices(mesh.vertices().len())?;
        check_moving(&moving)?;
        let mass = lumped_mass(mesh, material);
        let constraint = restraint.columns(mesh, &mass, &moving, displacement_constraint)?;
        Ok(Self {
            mesh: mesh.clone(),
            mass,
            laws: laws.to_vec(),
            moving,
            constraint,
            rig: extras.rig.cloned(),
            strength: extras.strength.map(<[f64]>::to_vec),
            stitches: extras.stitches.filter(|stitches| !stitches.is_empty()).cloned(),
            fibres: extras.fibres.cloned(),
        })
    }

    /// Checks that all parts fit together, as [`FullSpaceData::new`] guarantees; each part has been checked
    /// before.
    pub(super) fn check(&self) -> Result<()> {
        let (n, tets) = (self.mesh.vertices().len(), self.mesh.tets().len());
        check::length("mass", n, self.mass.len())?;
        check::length("laws", tets, self.laws.len())?;
        check::all("mass", "positive numbers of kg", &self.mass, check::is_positive)?;
        check::length("moving", n, self.moving.total())?;
        check_moving(&self.moving)?;
        if let Some(constraint) = &self.constraint {
            check::length("constraint", self.moving.rows().len(), constraint.nrows())?;
        }
        let extras = FullSpaceExtras {
            rig: self.rig.as_ref(),
            strength: self.strength.as_deref(),
            stitches: self.stitches.as_ref(),
            fibres: self.fibres.as_ref(),
        };
        extras.check(n, tets)
    }
}

fn check_moving(moving: &Selection) -> Result<()> {
    if !moving.rows().is_empty() {
        return Ok(());
    }
    let (expected, got) = ("a vertex that moves", moving.total() as f64);
    Err(Error::Range { what: "pinned", expected, got })
}

impl FullSpaceExtras<'_> {
    /// Checks all extras against a mesh with n vertices and some tets.
    pub(super) fn check(&self, n: usize, tet_count: usize) -> Result<()> {
        self.fibres.map_or(Ok(()), |fibres| fibres.check_tet_count(tet_count))?;
        if let Some(rig) = self.rig {
            check::length("rig", n, rig.vertex_count())?;
        }
        if let Some(stitches) = self.stitches {
            stitches.check_vertices(n)?;
        }
        check_strength(n, self.strength)
    }
}
