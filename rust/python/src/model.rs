//! `Model`: everything that can be precomputed, and the map from coefficients to displacements.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jounce::kinematics::Projector;
use jounce::material::StrainLimit;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::{file, material, mesh, model};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::arrays::{self, Axis, optional};
use crate::basis::Basis;
use crate::cubature::Cubature;
use crate::errors::{refused, run};
use crate::fibres::Fibres;
use crate::forces::ForceSamples;
use crate::handled::{Counts, Handled, Hung, Springs};
use crate::job::made;
use crate::limit_samples::LimitSamples;
use crate::material::Material;
use crate::mesh::{AnyMesh, Embedding, SurfaceMesh, TetMesh};
use crate::recipe::{Recipe, made_by};
use crate::rig::Rig;
use crate::stitches::Stitches;
use crate::subspace::{Restraint, SkinningModes};

/// Cached projectors by embedding.
type Projectors = Vec<(Weak<mesh::Embedding>, Arc<Projector>)>;

/// A precomputed, immutable model; made by `Model.skinning`, `Model.full_space`, `Model.reduced`,
/// `Model.projective` or `Model.load`.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> model = jounce.Model.full_space(mesh, jounce.Material(young=1e5), pinned=held)
/// >>> model.coefficient_shape == (len(mesh.vertices), 3)
/// True
/// >>> model.material
/// Material(arap, young=1e5)
#[pyclass(frozen, module = "jounce", name = "Model")]
pub struct Model {
    pub inner: model::Model,
    /// The material that the model was made of; unknown of a file.
    material: Option<Arc<material::Material>>,
    vertices: Mutex<Option<Arc<Projector>>>,
    points: Mutex<Projectors>,
    /// The call that makes a model without a file anew.
    recipe: Option<Recipe>,
}

impl Model {
    /// A model of a material, if it is known.
    pub fn wrap(inner: model::Model, material: Option<Arc<material::Material>>) -> Self {
        Self { inner, material, vertices: Mutex::default(), points: Mutex::default(), recipe: None }
    }

    /// The same model, which a call makes anew.
    pub fn made_by(self, recipe: Recipe) -> Self {
        Self { recipe: Some(recipe), ..self }
    }

    /// Shape of the coefficients, in words.
    pub fn size(&self) -> String {
        match &self.inner {
            model::Model::Skinning(model) => format!("{} modes", model.mode_count()),
            model::Model::FullSpace(model) => format!("{} vertices", model.mesh().vertices().len()),
            model::Model::Reduced(model) => format!("{} displacements", model.displacement_count()),
            model::Model::Projective(model) => format!("{} handles", model.handles().count()),
        }
    }

    /// The reduced model, or an error for any other kind.
    pub fn reduced_model(&self, what: &'static str) -> PyResult<&Arc<ReducedModel>> {
        match &self.inner {
            model::Model::Reduced(model) => Ok(model),
            _ => {
                let why = "only a reduced model has displacements of its own; make one with Model.reduced";
                Err(refused(jounce::Error::Unsupported { what, why }))
            }
        }
    }

    /// The map from coefficients to displacements, at the points of an embedding or at the vertices.
    pub fn projector(&self, embedding: Option<&Embedding>) -> jounce::Result<Arc<Projector>> {
        let Some(embedding) = embedding else {
            let mut kept = self.vertices.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(projector) = kept.as_ref() {
                return Ok(projector.clone());
            }
            let projector = Arc::new(self.inner.projector(None)?);
            return Ok(kept.insert(projector).clone());
        };
        let mut kept = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(owner, _)| owner.strong_count() > 0);
        let same = |(owner, _): &&(Weak<_>, _)| std::ptr::eq(owner.as_ptr(), Arc::as_ptr(&embedding.inner));
        if let Some((_, projector)) = kept.iter().find(same) {
            return Ok(projector.clone());
        }
        let projector = Arc::new(self.inner.projector(Some(&embedding.inner))?);
        kept.push((Arc::downgrade(&embedding.inner), projector.clone()));
        Ok(projector)
    }
}

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
    /// Coefficients are q, (r,). Limits need `limited`. There are no force samples, offsets, colliders or
    /// file; drag is at the vertices.
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
    ///     Reference frequency of the damping ratio, Hz, for example the full space's; None is the lowest
    ///     of the basis.
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
    /// thickness : float, optional
    ///     Thickness of a surface or a skin, metres, for its mass and stiffness; None for tets alone.
    /// bending : float, default 1.0
    ///     Bending stiffness of a surface or a skin, relative to a plate of this thickness.
    /// skin : SurfaceMesh, optional
    ///     Triangles between the vertices of a body of tets, on its surface or inside; its points are these
    ///     vertices. Energy and mass add to those of the tets. None for no triangles.
    /// skin_material : Material, optional
    ///     Material of the skin, uniform or per triangle; None for the material of the tets.
    /// springs : (s, 2) array of integers, optional
    ///     Pairs of vertices joined by springs, each pair on one loose part; None for no springs.
    /// spring_stiffness : float or (s,) array, optional
    ///     Stiffness of each spring, N/m; `stiffness` of a Simulation scales it.
    /// spring_length : (s,) array, optional
    ///     Length of each spring without force, metres; None for the distance at rest.
    /// strain_limit : (float, float), optional
    ///     Smallest and largest principal stretch of clusters and triangles, around 1; None for no limit.
    /// limit_firmness : float, default 10.0
    ///     Stiffness of the limit relative to the flesh: a stretch that would exceed it by e does so by `e /
    ///     (1 + limit_firmness)`. More takes more iterations.
    /// rig : Rig, optional
    ///     Rig of an attached body; None for a loose one.
    /// attached : (n,) array, optional
    ///     Attachment of each vertex to its bones, bool or in [0, 1], by a spring of stiffness `attached m
    ///     (2 pi attachment)^2`; None for a loose body. Vertices with half or more touch nothing.
    /// attachment : float, default 30.0
    ///     Frequency of the attachment, Hz.
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
    #[staticmethod]
    #[pyo3(signature = (mesh, material, handles=60, clusters=120, seed=0, *, thickness=None, bending=1.0,
                        skin=None, skin_material=None, springs=None, spring_stiffness=None,
                        spring_length=None, strain_limit=None, limit_firmness=10.0, rig=None,
                        attached=None, attachment=30.0))]
    fn projective(
        py: Python<'_>,
        mesh: AnyMesh<'_>,
        material: &Material,
        handles: i64,
        clusters: i64,
        seed: i64,
        thickness: Option<f64>,
        bending: f64,
        skin: Option<&SurfaceMesh>,
        skin_material: Option<&Material>,
        springs: Option<&Bound<'_, PyAny>>,
        spring_stiffness: Option<&Bound<'_, PyAny>>,
        spring_length: Option<&Bound<'_, PyAny>>,
        strain_limit: Option<(f64, f64)>,
        limit_firmness: f64,
        rig: Option<&Rig>,
        attached: Option<&Bound<'_, PyAny>>,
        attachment: f64,
    ) -> PyResult<Self> {
        let counts = Counts::given(handles, clusters, seed)?;
        let hung = Hung::given(mesh.vertex_count(), rig, attached, attachment)?;
        let skin = (skin, skin_material);
        let springs = Springs::given(mesh.vertex_count(), springs, spring_stiffness, spring_length)?;
        let limit = strain_limit.map(|(least, most)| StrainLimit { least, most, firmness: limit_firmness });
        let making =
            Handled::given(&mesh, material, counts, (thickness, bending), skin, (springs, limit), hung)?;
        let (recipe, known) = (making.recipe(py)?, material.0.clone());
        let made = made(py, move |progress| making.make(progress))?;
        Ok(Self::wrap((*made).clone(), Some(known)).made_by(recipe))
    }

    /// The same reduced model with elastic forces evaluated at a cubature.
    ///
    /// Parameters
    /// ----------
    /// cubature : Cubature
    ///     Sample tets and their weights.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model with the cubature.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other models and for a model with a cubature.
    fn sampled(slf: &Bound<'_, Self>, cubature: &Cubature) -> PyResult<Self> {
        let model = slf.get().reduced_model("sampled")?;
        let made = run(slf.py(), || model.sampled(&cubature.0))?;
        let recipe = Recipe::new(slf.as_any(), "sampled", (Cubature(cubature.0.clone()),), None)?;
        let known = slf.get().material.clone();
        Ok(Self::wrap(model::Model::Reduced(Arc::new(made)), known).made_by(recipe))
    }

    /// The same reduced model with limits, evaluated at sample tets and vertices.
    ///
    /// Parameters
    /// ----------
    /// limits : LimitSamples
    ///     Samples of the limits.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model with limits.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other models and for indices out of range.
    fn limited(slf: &Bound<'_, Self>, limits: &LimitSamples) -> PyResult<Self> {
        let model = slf.get().reduced_model("limited")?;
        let made = run(slf.py(), || model.limited(&limits.0))?;
        let recipe = Recipe::new(slf.as_any(), "limited", (LimitSamples(limits.0.clone()),), None)?;
        let known = slf.get().material.clone();
        Ok(Self::wrap(model::Model::Reduced(Arc::new(made)), known).made_by(recipe))
    }

    /// Least-squares coefficients, (f, r) float64, of given displacements in a reduced model, in the mass
    /// norm.
    ///
    /// Parameters
    /// ----------
    /// displacements : (f, n, 3) array
    ///     Displacements in each frame, metres.
    ///
    /// Returns
    /// -------
    /// (f, r) array
    ///     Nearest coefficients of each frame.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other models and for displacements of another mesh.
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        displacements: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let model = self.reduced_model("nearest")?;
        let axes = [Axis::Any("f"), Axis::Is(model.mesh().vertices().len()), Axis::Is(3)];
        let displacements = arrays::array::<f64>(displacements, "displacements", &axes)?;
        let (numbers, frames) = (displacements.slice(), displacements.len(0));
        let found = run(py, || model.nearest(numbers))?;
        arrays::owned(py, found, &[frames, model.displacement_count()])
    }

    /// Writes a model of skinning modes or of the full space to a Jounce model file.
    ///
    /// Symbolic links are followed; an existing file keeps its mode, owner and hard links.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     Path of the file.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other models, for a folder, a pipe or a device, and for disk errors; the file is then
    ///     unchanged.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        run(py, || file::save(&self.inner, &path))
    }

    /// The bytes of a model file, as `save` writes it.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     Bytes of the file, for a `Player` or inside a file of another format.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For models that `save` does not write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &run(py, || file::encode(&self.inner))?))
    }

    /// Reads a model written by `save`; its motion is bit-identical.
    ///
    /// A full-space file holds the inputs, not the precomputed products: loading takes as long as building.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     Path of the file.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a file that is missing, of another version, truncated or damaged.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        run(py, || file::load(&path)).map(|model| Self::wrap(model, None))
    }

    /// Secondary displacement `u = sum_k W_k(X) Z_k [X; 1]` for coefficients Z, metres; the vertex
    /// displacements in the full space; `sum_j shapes_j q_j` of a reduced model.
    ///
    /// Parameters
    /// ----------
    /// coefficients : array
    ///     Coefficients of `coefficient_shape`.
    /// emb : Embedding, optional
    ///     Points in the model's mesh; None for its vertices.
    /// out : array, optional
    ///     Array (p, 3) of float32 to write into; None makes a new one.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Displacements, metres; `out` itself if it is given.
    #[pyo3(signature = (coefficients, emb=None, out=None))]
    fn displacement<'py>(
        &self,
        py: Python<'py>,
        coefficients: &Bound<'py, PyAny>,
        emb: Option<&Embedding>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let axes: Vec<Axis> = self.inner.coefficient_shape().into_iter().map(Axis::Is).collect();
        let coefficients = arrays::array::<f64>(coefficients, "coefficients", &axes)?;
        let coefficients = coefficients.slice();
        let projector = run(py, || self.projector(emb))?;
        arrays::filled(py, out, [projector.point_count(), 3], |u| {
            run(py, || projector.displacement(coefficients, u))
        })
    }

    /// Generalised force, float64 of `coefficient_shape`, of forces on points, newtons: `sum_i W_k(X_i) f_i
    /// [X_i; 1]'`; the forces on the vertices in the full space.
    ///
    /// The exact transpose of `displacement`: equal work on coefficients and on displacements.
    ///
    /// Parameters
    /// ----------
    /// forces : (p, 3) array
    ///     Forces on the points, newtons.
    /// emb : Embedding, optional
    ///     Points in the mesh; None for its vertices.
    ///
    /// Returns
    /// -------
    /// array
    ///     Generalised force of `coefficient_shape`.
    #[pyo3(signature = (forces, emb=None))]
    fn reduce_forces<'py>(
        &self,
        py: Python<'py>,
        forces: &Bound<'py, PyAny>,
        emb: Option<&Embedding>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let projector = run(py, || self.projector(emb))?;
        let axes = [Axis::Is(projector.point_count()), Axis::Is(3)];
        let forces = arrays::array::<f64>(forces, "forces", &axes)?;
        let forces = forces.slice();
        let reduced = run(py, || projector.reduce_forces(forces))?;
        arrays::owned(py, reduced, &self.inner.coefficient_shape())
    }

    /// Sample points for force fields, at a cost independent of the mesh: about `count` parts of the body,
    /// at most one a cluster.
    ///
    /// Parameters
    /// ----------
    /// count : int
    ///     Number of samples.
    ///
    /// Returns
    /// -------
    /// ForceSamples
    ///     The samples.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a count below 1.
    fn force_samples(slf: &Bound<'_, Self>, count: i64) -> PyResult<ForceSamples> {
        let recipe = Recipe::new(slf.as_any(), "force_samples", (count,), None)?;
        let (model, count) = (slf.get(), arrays::count(count, "count")?);
        let inner = run(slf.py(), || model.inner.force_samples(count))?;
        Ok(ForceSamples { inner: inner.into(), model: slf.clone().unbind(), recipe })
    }

    /// Material of the model; None for a model from `load`, whose file does not hold it.
    #[getter]
    fn material(&self) -> Option<Material> {
        self.material.clone().map(Material)
    }

    /// Frequency of the lowest mode, `sqrt(lambda_1) / (2 pi)`, Hz.
    #[getter]
    pub fn frequency(&self) -> f64 {
        self.inner.frequency()
    }

    /// The basis of a reduced model; None for other models.
    #[getter]
    pub fn basis(&self) -> Option<Basis> {
        let model::Model::Reduced(model) = &self.inner else { return None };
        Some(Basis(Arc::new(model.basis().clone())))
    }

    /// The cubature of a reduced model; None for other models, and without a cubature.
    #[getter]
    pub fn cubature(&self) -> Option<Cubature> {
        let model::Model::Reduced(model) = &self.inner else { return None };
        model.cubature().cloned().map(Cubature)
    }

    /// The limit samples of a reduced model; None for other models, and without limits.
    #[getter]
    pub fn limit_samples(&self) -> Option<LimitSamples> {
        let model::Model::Reduced(model) = &self.inner else { return None };
        model.limit_samples().cloned().map(LimitSamples)
    }

    /// Centres of the handles of a projective model, (k, 3) float64, metres; None for other models.
    #[getter]
    fn handle_centers<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let model::Model::Projective(model) = &self.inner else { return Ok(None) };
        let centers = model.handles().centers();
        arrays::owned(py, flat(centers), &[centers.len(), 3]).map(Some)
    }

    /// Vertex masses of a projective model, (n,) float64, kg; None for other models.
    #[getter]
    fn vertex_mass<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let model::Model::Projective(model) = &self.inner else { return Ok(None) };
        let mass = model.vertex_mass();
        arrays::owned(py, mass.to_vec(), &[mass.len()]).map(Some)
    }

    /// Shape of the coefficients: (m, 3, 4), (n, 3) in the full space, (r,) in a reduced model, or (k, 3,
    /// 4) for handles.
    #[getter]
    fn coefficient_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.coefficient_shape())
    }

    /// Number of degenerate triangles of a surface, which are left out; 0 for other models.
    #[getter]
    fn skipped_count(&self) -> usize {
        let model::Model::Projective(model) = &self.inner else { return 0 };
        model.skipped_count()
    }

    /// Number of skinning modes m; 0 for other models.
    #[getter]
    fn mode_count(&self) -> usize {
        self.inner.mode_count()
    }

    /// Number of bones b; 0 without a rig.
    #[getter]
    fn bone_count(&self) -> usize {
        self.inner.bone_count()
    }

    /// Number of clusters with a tet, or of force samples; 0 in the full space.
    #[getter]
    fn cluster_count(&self) -> usize {
        self.inner.cluster_count()
    }

    #[staticmethod]
    fn _decoded(py: Python<'_>, data: &[u8], material: Option<&Material>) -> PyResult<Self> {
        let model = run(py, || file::decode(data))?;
        Ok(Self::wrap(model, material.map(|material| material.0.clone())))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.recipe {
            Some(recipe) => recipe.reduced(py),
            None => {
                let bytes = run(py, || file::encode(&self.inner))?;
                made_by::<Self>(py, "_decoded", (PyBytes::new(py, &bytes), self.material()), None)
            }
        }
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (_memo))]
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let material = self.material().map(|material| format!(", {}", material.__repr__()));
        let (size, bones) = (self.size(), self.inner.bone_count());
        format!("Model({size}, {bones} bones{})", material.unwrap_or_default())
    }
}

/// Rows of three in C order.
pub fn flat(rows: &[[f64; 3]]) -> Vec<f64> {
    rows.as_flattened().to_vec()
}
