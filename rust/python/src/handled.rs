//! Arguments of `Model.projective`, and `ProjectiveJob`.

use std::sync::Arc;

use jounce::model::projective::ProjectiveModel;
use jounce::potentials::elastic::Fabric;
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce::{Error, Progress, material, model, rig};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Axis};
use crate::errors::refused;
use crate::job::{Job, Making};
use crate::material::Material;
use crate::mesh::{AnyMesh, Shape, SurfaceMesh, TetMesh};
use crate::model::Model;
use crate::recipe::Recipe;
use crate::rig::Rig;

/// Numbers of handles and clusters, and the seed.
#[derive(Clone, Copy)]
pub struct Counts {
    handles: usize,
    clusters: usize,
    seed: u64,
}

impl Counts {
    pub fn given(handles: i64, clusters: i64, seed: i64) -> PyResult<Self> {
        Ok(Self {
            handles: arrays::count(handles, "handles")?,
            clusters: arrays::count(clusters, "clusters")?,
            seed: arrays::count(seed, "seed")?,
        })
    }
}

/// Rig of an attached body, attachment weight per vertex, and attachment frequency in Hz.
pub struct Hung {
    rig: Arc<rig::Rig>,
    weights: Vec<f64>,
    frequency: f64,
}

impl Hung {
    /// The attachment of n vertices; `None` for a loose body.
    pub fn given(
        n: usize,
        rig: Option<&Rig>,
        attached: Option<&Bound<'_, PyAny>>,
        frequency: f64,
    ) -> PyResult<Option<Self>> {
        let why = match (rig, attached) {
            (None, None) => return Ok(None),
            (Some(rig), Some(attached)) => {
                let weights = match arrays::array::<bool>(attached, "attached", &[Axis::Is(n)]) {
                    Ok(mask) => mask.slice().iter().map(|&held| f64::from(held)).collect(),
                    Err(_) => arrays::array::<f64>(attached, "attached", &[Axis::Is(n)])?.slice().to_vec(),
                };
                return Ok(Some(Self { rig: rig.0.clone(), weights, frequency }));
            }
            (Some(_), None) => "say which vertices follow the rig, or leave it out",
            (None, Some(_)) => "there is no rig that vertices could follow; give one",
        };
        Err(refused(Error::Unsupported { what: "attached", why }))
    }
}

/// Checked arguments of `Model.projective`.
pub struct Handled {
    shape: Shape,
    /// Bending stiffness factor of a surface.
    bending: f64,
    material: Arc<material::Material>,
    counts: Counts,
    hung: Option<Hung>,
}

impl Handled {
    /// Arguments for a mesh; thickness and bending apply to a surface.
    pub fn given(
        mesh: &AnyMesh<'_>,
        material: &Material,
        counts: Counts,
        (thickness, bending): (Option<f64>, f64),
        hung: Option<Hung>,
    ) -> PyResult<Self> {
        let shape = mesh.shape(thickness)?;
        Ok(Self { shape, bending, material: material.0.clone(), counts, hung })
    }

    /// The call of `Model.projective` with these arguments.
    pub fn recipe(&self, py: Python<'_>) -> PyResult<Recipe> {
        let settings = PyDict::new(py);
        let Counts { handles, clusters, seed } = self.counts;
        settings.set_item("handles", handles)?;
        settings.set_item("clusters", clusters)?;
        settings.set_item("seed", seed)?;
        settings.set_item("bending", self.bending)?;
        if let Some(Hung { rig, weights, frequency }) = &self.hung {
            settings.set_item("rig", Rig(rig.clone()))?;
            settings.set_item("attached", arrays::owned(py, weights.clone(), &[weights.len()])?)?;
            settings.set_item("attachment", frequency)?;
        }
        let mesh = match &self.shape {
            Shape::Tets(mesh) => TetMesh(mesh.clone()).into_pyobject(py)?.into_any(),
            Shape::Surface(surface, thickness) => {
                settings.set_item("thickness", thickness)?;
                SurfaceMesh(surface.clone()).into_pyobject(py)?.into_any()
            }
        };
        let parts = (mesh, Material(self.material.clone()));
        Recipe::new(py.get_type::<Model>().as_any(), "projective", parts, Some(settings))
    }

    pub fn make(&self, progress: &Progress) -> jounce::Result<model::Model> {
        let Self { material, counts: Counts { handles, clusters, seed }, .. } = self;
        let made = match &self.shape {
            Shape::Tets(mesh) => {
                let handles = Handles::spread(mesh, *handles, *seed, progress)?;
                let labels = cluster_tets_by_place(mesh, *clusters, *seed, progress)?;
                ProjectiveModel::new(mesh, material, &handles, &labels, progress)?
            }
            Shape::Surface(surface, thickness) => {
                let handles = Handles::over(surface, *handles, *seed, progress)?;
                let fabric = Fabric { thickness: *thickness, bending: self.bending };
                ProjectiveModel::surface(surface, material, fabric, &handles, progress)?
            }
        };
        let hung = match &self.hung {
            Some(Hung { rig, weights, frequency }) => made.attached(rig, weights, *frequency)?,
            None => made,
        };
        Ok(model::Model::Projective(Arc::new(hung)))
    }
}

/// Background job for `Model.projective`, with the same arguments; the thread never touches Python.
///
/// The only stage is "handles"; `result()` gives the Model, or raises the error.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> job = jounce.ProjectiveJob(mesh, jounce.Material(), handles=8, clusters=20)
/// >>> job.result().bone_count
/// 0
#[pyclass(frozen, extends = Job, module = "jounce", name = "ProjectiveJob")]
pub struct ProjectiveJob(Making<model::Model>, Recipe, Arc<material::Material>);

#[pymethods]
impl ProjectiveJob {
    #[new]
    #[pyo3(signature = (mesh, material, handles=60, clusters=120, seed=0, *, thickness=None, bending=1.0, rig=None,
                        attached=None, attachment=30.0))]
    fn new(
        py: Python<'_>,
        mesh: AnyMesh<'_>,
        material: &Material,
        handles: i64,
        clusters: i64,
        seed: i64,
        thickness: Option<f64>,
        bending: f64,
        rig: Option<&Rig>,
        attached: Option<&Bound<'_, PyAny>>,
        attachment: f64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let counts = Counts::given(handles, clusters, seed)?;
        let hung = Hung::given(mesh.vertex_count(), rig, attached, attachment)?;
        let making = Handled::given(&mesh, material, counts, (thickness, bending), hung)?;
        let (recipe, known) = (making.recipe(py)?, material.0.clone());
        let model = Making::start(move |progress| {
            progress.enter("handles", 0.0, 1.0)?;
            making.make(progress)
        })?;
        Ok(model.job().add_subclass(Self(model, recipe, known)))
    }

    /// Waits for the Model, or raises the error of the job.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    fn result(&self, py: Python<'_>) -> PyResult<Model> {
        let model = (*self.0.result(py)?).clone();
        Ok(Model::wrap(model, Some(self.2.clone())).made_by(self.1.again(py)))
    }
}
