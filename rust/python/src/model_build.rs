//! Models of each method, built from their parts.

use std::sync::Arc;

use jounce::model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::model::skinning_modes::{Extras, SkinningModel};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Axis, optional};
use crate::basis::Basis;
use crate::cubature::Cubature;
use crate::errors::run;
use crate::fibres::Fibres;
use crate::handled::{Counts, Handled};
use crate::job::made;
use crate::material::Material;
use crate::mesh::{AnyMesh, TetMesh};
use crate::model::Model;
use crate::recipe::Recipe;
use crate::rig::Rig;
use crate::stitches::Stitches;
use crate::subspace::{Restraint, SkinningModes};

#[pymethods]
impl Model {
    /// A model of rig-complementary skinning modes with clustered local steps [FastCD].
    ///
    /// Parameters
    /// ----------
    /// mesh : TetMesh
    ///     The mesh.
    /// material : Material
    ///     The material.
    /// modes : SkinningModes
    ///     The modes.
    /// labels : (t,) array of integers
    ///     Cluster of each tet, from `cluster_tets`.
    /// rig : Rig, optional
    ///     Rig of the body; None for a body without bones.
    /// strength : (n,) array, optional
    ///     Factor on the rig's acceleration felt at each vertex, >= 0; None is 1 everywhere.
    /// stitches : Stitches, optional
    ///     Springs between points of the body; compute the modes with the same stitches.
    /// cubature : Cubature, optional
    ///     Sample tets for elastic forces, in place of cluster means.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of another mesh.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> material, rig = jounce.Material(), jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    /// >>> modes = jounce.skinning_modes(mesh, material, 4, rig)
    /// >>> labels = jounce.cluster_tets(mesh, modes, 20)
    /// >>> jounce.Model.skinning(mesh, material, modes, labels, rig)
    /// Model(4 modes, 1 bones, Material(arap, young=1e5))
    #[staticmethod]
    #[pyo3(signature = (mesh, material, modes, labels, rig=None, strength=None, stitches=None,
                        cubature=None))]
    fn skinning(
        py: Python<'_>,
        mesh: &TetMesh,
        material: &Material,
        modes: &SkinningModes,
        labels: &Bound<'_, PyAny>,
        rig: Option<&Rig>,
        strength: Option<&Bound<'_, PyAny>>,
        stitches: Option<&Stitches>,
        cubature: Option<&Cubature>,
    ) -> PyResult<Self> {
        let n = mesh.0.vertices().len();
        let strength =
            strength.map(|map| arrays::array::<f64>(map, "strength", &[Axis::Is(n)])).transpose()?;
        let strength = strength.as_ref().map(arrays::Array::slice);
        let t = mesh.0.tets().len();
        let labels = arrays::labels(labels, "labels", &[Axis::Is(t)])?;
        let rig = rig.map(|rig| rig.0.as_ref());
        let extras = Extras {
            strength,
            stitches: stitches.map(|stitches| stitches.0.as_ref()),
            cubature: cubature.map(|cubature| &cubature.0),
        };
        let model =
            run(py, || SkinningModel::with_extras(&mesh.0, &material.0, &modes.0, &labels, rig, &extras))?;
        Ok(Self::wrap(model::Model::Skinning(Arc::new(model)), Some(material.0.clone())))
    }

    /// A full-space model of any law: every vertex moves [QN]. The reference for reduced models.
    ///
    /// The displacement is complementary to the rig, `J' M D u = 0` with D = 1 - leak, unless
    /// `complementary` is False: then only `pinned` ties the flesh to its bones.
    ///
    /// Coefficients are the displacements of the vertices, (n, 3). There are no force samples; drag is at
    /// the vertices.
    ///
    /// Parameters
    /// ----------
    /// mesh : TetMesh
    ///     The mesh.
    /// material : Material
    ///     The material.
    /// rig : Rig, optional
    ///     Rig of the body; None for a body without bones.
    /// leak : (n,) array, optional
    ///     Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
    /// pinned : (n,) array of bool, optional
    ///     Vertices that follow the rig exactly.
    /// stitches : Stitches, optional
    ///     Springs between points of the body.
    /// strength : (n,) array, optional
    ///     Factor on the rig's acceleration felt at each vertex, >= 0; None is 1 everywhere.
    /// complementary : bool, default True
    ///     False lets the flesh imitate the rig.
    /// fibres : Fibres, optional
    ///     Contractile fibres in the tets.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of another mesh, and for a body without free vertices.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> model = jounce.Model.full_space(mesh, jounce.Material(young=1e6), pinned=held)
    /// >>> simulation = jounce.Simulation(model, gravity=(9.81, 0.0, 0.0))
    /// >>> report = simulation.settle()
    /// >>> stretch, of_a_rod = simulation.displacement()[:, 0].max(), 1000 * 9.81 * 4.0**2 / (2 * 1e6)
    /// >>> bool(np.isclose(stretch, of_a_rod, rtol=0.01))
    /// True
    #[staticmethod]
    #[pyo3(signature = (mesh, material, rig=None, leak=None, pinned=None, stitches=None, strength=None,
                        complementary=true, fibres=None))]
    fn full_space(
        py: Python<'_>,
        mesh: &TetMesh,
        material: &Material,
        rig: Option<&Rig>,
        leak: Option<&Bound<'_, PyAny>>,
        pinned: Option<&Bound<'_, PyAny>>,
        stitches: Option<&Stitches>,
        strength: Option<&Bound<'_, PyAny>>,
        complementary: bool,
        fibres: Option<&Fibres>,
    ) -> PyResult<Self> {
        let n = mesh.0.vertices().len();
        let strength = optional(strength, "strength", &[Axis::Is(n)])?;
        let strength = strength.map(|map| map.slice().to_vec());
        let restraint = Restraint::new(mesh.0.vertices().len(), rig.filter(|_| complementary), leak, pinned)?;
        let (mesh, material) = (mesh.0.clone(), material.0.clone());
        let known = material.clone();
        let (rig, stitches) = (rig.map(|rig| rig.0.clone()), stitches.map(|stitches| stitches.0.clone()));
        let fibres = fibres.map(|fibres| fibres.0.clone());
        let made = made(py, move |progress| {
            let extras = FullSpaceExtras {
                rig: rig.as_deref(),
                strength: strength.as_deref(),
                stitches: stitches.as_deref(),
                fibres: fibres.as_deref(),
            };
            FullSpaceModel::of(&mesh, &material, &restraint.borrowed(), &extras, progress)
        })?;
        Ok(Self::wrap(model::Model::FullSpace(made), Some(known)))
    }

    /// A reduced model of any law in the displacements of a basis [MOR]: `x = rig + sum_j shapes_j q_j`.
    ///
    /// Minimises the energy of `Model.full_space` in few coordinates. Linear properties shared by all basis
    /// fields, such as pins and complementarity to the rig, hold for all motion.
    ///
    /// Coefficients are q, (r,). Limits need `limited`. There are no force samples, offsets or file; drag is
    /// at the vertices.
    ///
    /// Parameters
    /// ----------
    /// mesh : TetMesh
    ///     The mesh.
    /// material : Material
    ///     The material.
    /// basis : Basis
    ///     Displacement fields.
    /// rig : Rig, optional
    ///     Rig of the body; None for a body without bones.
    /// strength : (n,) array, optional
    ///     Factor on the rig's acceleration felt at each vertex, >= 0; None is 1 everywhere.
    /// cubature : Cubature, optional
    ///     Sample tets for elastic forces, from `Cubature.of_shot`; None is all tets, at a cost
    ///     proportional to the mesh.
    /// frequency : float, optional
    ///     Reference frequency of limits, and of the damping ratio of a free body, Hz, for example the
    ///     full space's; None is the lowest of the basis.
    /// stitches : Stitches, optional
    ///     Springs between points of the body, without gap, exact.
    /// cubic : bool, default False
    ///     Forces as cubic polynomials of the coefficients [MOR sec. 3.1], exact for all tets at a cost
    ///     independent of the mesh: law "stvk" without its barrier, no rig, at most 80 fields; 20 to 40 are
    ///     fastest.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments of another mesh, and for a basis without motion.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> firm, held = jounce.Material(young=1e6), mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, firm, 5, pinned=held)
    /// >>> model = jounce.Model.reduced(mesh, firm, modes.bent_basis(8))
    /// >>> reference = jounce.Model.full_space(mesh, firm, pinned=held)
    /// >>> pair = [jounce.Simulation(each, gravity=(0.0, 0.0, -9.81)) for each in (model, reference)]
    /// >>> reports = [simulation.settle() for simulation in pair]
    /// >>> [round(float(-simulation.displacement()[:, 2].min()), 1) for simulation in pair]
    /// [2.2, 2.2]
    /// >>> model.coefficient_shape, reference.coefficient_shape
    /// ((8,), (81, 3))
    #[staticmethod]
    #[pyo3(signature = (mesh, material, basis, rig=None, strength=None, cubature=None, frequency=None,
                        stitches=None, *, cubic=false))]
    fn reduced(
        py: Python<'_>,
        mesh: &TetMesh,
        material: &Material,
        basis: &Basis,
        rig: Option<&Rig>,
        strength: Option<&Bound<'_, PyAny>>,
        cubature: Option<&Cubature>,
        frequency: Option<f64>,
        stitches: Option<&Stitches>,
        cubic: bool,
    ) -> PyResult<Self> {
        let n = mesh.0.vertices().len();
        let strength = optional(strength, "strength", &[Axis::Is(n)])?;
        let strength = strength.map(|map| map.slice().to_vec());
        let (mesh, material, basis) = (mesh.0.clone(), material.0.clone(), basis.0.clone());
        let rig = rig.map(|rig| rig.0.clone());
        let cubature = cubature.map(|cubature| cubature.0.clone());
        let stitches = stitches.map(|stitches| stitches.0.clone());
        let settings = PyDict::new(py);
        settings.set_item("rig", rig.clone().map(Rig))?;
        settings.set_item(
            "strength",
            strength.clone().map(|strength| arrays::owned(py, strength, &[n])).transpose()?,
        )?;
        settings.set_item("cubature", cubature.clone().map(Cubature))?;
        settings.set_item("frequency", frequency)?;
        settings.set_item("stitches", stitches.clone().map(Stitches))?;
        settings.set_item("cubic", cubic)?;
        let parts = (TetMesh(mesh.clone()), Material(material.clone()), Basis(basis.clone()));
        let recipe = Recipe::new(py.get_type::<Self>().as_any(), "reduced", parts, Some(settings))?;
        let known = material.clone();
        let made = made(py, move |progress| {
            let extras = ReducedExtras {
                rig: rig.as_deref(),
                strength: strength.as_deref(),
                cubature: cubature.as_ref(),
                cubic,
                stitches: stitches.as_deref(),
                frequency,
            };
            ReducedModel::new(&mesh, &material, &basis, &extras, progress)
        })?;
        Ok(Self::wrap(model::Model::Reduced(made), Some(known)).made_by(recipe))
    }

    /// A body moved by affine handles, by hyper-reduced projective dynamics [HRPD]: jelly of tets, with or
    /// without a skin of triangles, or a surface without volume such as a cape, loose or attached to bones.
    ///
    /// Coefficients are the handles' transforms, (k, 3, 4): displacements from the modelled place are
    /// `sum_j w_j(X) Z_j [X - c_j; 1]`. The cost of a step depends on the handles, the clusters and the
    /// triangles of a surface, not on the size of a tet mesh.
    ///
    /// `Simulation.place` starts a loose body at a place with a velocity, and its poses are None; an
    /// attached body starts in the pose of its bones. Colliders act; there are no limits of displacement,
    /// force samples, offsets or file.
    ///
    /// Parameters
    /// ----------
    /// mesh : TetMesh or SurfaceMesh
    ///     Body of tets, or a surface with a thickness.
    /// material : Material
    ///     Material of law "arap", for a surface uniform or per triangle.
    /// handles : int, default 60
    ///     Number of handles, spread over the mesh, each with local influence.
    /// clusters : int, default 120
    ///     Number of groups of tets with a shared rotation; each triangle has its own rotation. Each loose
    ///     part has at least one handle and one cluster.
    /// seed : int, default 0
    ///     Seed of the random draws; the same seed gives the same model.
    /// settings : ProjectiveSettings
    ///     Keyword arguments: surface and skin, springs, limit of strain, and attachment to bones;
    ///     `ProjectiveSettings` has their meaning and defaults.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For another law, for counts of 0, and for arguments without meaning for the mesh.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
    /// >>> ground = jounce.Collider.plane((0.0, 0.0, -0.5))
    /// >>> simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81), colliders=[ground])
    /// >>> for frame in range(48):
    /// ...     report = simulation.step()
    /// >>> landed = mesh.vertices + simulation.displacement()
    /// >>> bool(abs(landed[:, 2].min() + 0.5) < 0.01)
    /// True
    #[staticmethod]
    #[pyo3(signature = (mesh, material, handles=60, clusters=120, seed=0, **settings))]
    fn projective(
        py: Python<'_>,
        mesh: AnyMesh<'_>,
        material: &Material,
        handles: i64,
        clusters: i64,
        seed: i64,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let making = Handled::given(&mesh, material, Counts::given(handles, clusters, seed)?, settings)?;
        let (recipe, known) = (making.recipe(py)?, material.0.clone());
        let made = made(py, move |progress| making.make(progress))?;
        Ok(Self::wrap((*made).clone(), Some(known)).made_by(recipe))
    }
}
