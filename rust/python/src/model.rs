//! `Model`: everything that can be precomputed, and the map from coefficients to displacements.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jounce::kinematics::Projector;
use jounce::model::reduced::ReducedModel;
use jounce::{file, material, mesh, model};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::{refused, run};
use crate::material::Material;
use crate::mesh::Embedding;
use crate::recipe::{Recipe, made_by};

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

    /// Material that the model was made of, if it is known.
    pub fn known_material(&self) -> Option<Arc<material::Material>> {
        self.material.clone()
    }

    /// Shape of the coefficients, in words.
    pub fn size(&self) -> String {
        self.inner.size()
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
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> from pathlib import Path
    /// >>> from tempfile import TemporaryDirectory
    /// >>> with TemporaryDirectory() as folder:
    /// ...     body.model.save(Path(folder) / "bar.jounce")
    /// ...     model = jounce.Model.load(Path(folder) / "bar.jounce")
    /// >>> model.mode_count
    /// 4
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
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> data = body.model.to_bytes()
    /// >>> jounce.Player(data, points).mode_count
    /// 4
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
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> from pathlib import Path
    /// >>> from tempfile import TemporaryDirectory
    /// >>> with TemporaryDirectory() as folder:
    /// ...     body.model.save(Path(folder) / "bar.jounce")
    /// ...     loaded = jounce.Model.load(Path(folder) / "bar.jounce")
    /// >>> pair = [jounce.Simulation(model, gravity=(0, 0, -9.81)) for model in (body.model, loaded)]
    /// >>> reports = [simulation.step(np.eye(3, 4)[None]) for simulation in pair]
    /// >>> np.array_equal(pair[0].coefficients, pair[1].coefficients)
    /// True
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
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
    /// >>> report = simulation.step(pose)
    /// >>> buffer = np.empty((8, 3), dtype=np.float32)
    /// >>> moved = body.model.displacement(simulation.coefficients, body.embedding, out=buffer)
    /// >>> moved is buffer, bool(np.allclose(body.posed(pose) + moved, body.deformed(simulation, pose)))
    /// (True, True)
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

    /// Generalised force, float64 of `coefficient_shape`, of forces on points, newtons:
    /// `sum_i W_k(X_i) f_i [X_i; 1]'`; the forces on the vertices in the full space.
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
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> push = np.zeros((8, 3))
    /// >>> push[0, 2] = 100.0
    /// >>> force = body.model.reduce_forces(push, body.embedding)
    /// >>> simulation = jounce.Simulation(body.model)
    /// >>> report = simulation.step(np.eye(3, 4)[None], force)
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
