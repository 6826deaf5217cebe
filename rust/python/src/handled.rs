//! Arguments of `Model.projective`, and `ProjectiveJob`.

use std::sync::Arc;

use jounce::material::StrainLimit;
use jounce::model::projective::{ProjectiveModel, Skin};
use jounce::potentials::elastic::Fabric;
use jounce::subspace::{Handles, cluster_tets_by_place};
use jounce::{Error, Progress, material, mesh, model, rig};
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
use crate::settings::Named;

/// Names of the settings of `ProjectiveSettings`.
const SETTINGS: [&str; 12] = [
    "thickness",
    "bending",
    "skin",
    "skin_material",
    "springs",
    "spring_stiffness",
    "spring_length",
    "strain_limit",
    "limit_firmness",
    "rig",
    "attached",
    "attachment",
];
/// Default bending stiffness relative to a plate.
const BENDING: f64 = 1.0;
/// Default stiffness of a limit of strain relative to the flesh.
const FIRMNESS: f64 = 10.0;
/// Default frequency of an attachment, Hz.
const ATTACHMENT: f64 = 30.0;

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
    fn given(n: usize, settings: &Named<'_, '_>) -> PyResult<Option<Self>> {
        let rig = settings.get::<Bound<'_, Rig>>("rig")?;
        let why = match (rig, settings.get::<Bound<'_, PyAny>>("attached")?) {
            (None, None) => return Ok(None),
            (Some(rig), Some(attached)) => {
                let weights = match arrays::array::<bool>(&attached, "attached", &[Axis::Is(n)]) {
                    Ok(mask) => mask.slice().iter().map(|&held| f64::from(held)).collect(),
                    Err(_) => arrays::array::<f64>(&attached, "attached", &[Axis::Is(n)])?.slice().to_vec(),
                };
                let frequency = settings.get("attachment")?.unwrap_or(ATTACHMENT);
                return Ok(Some(Self { rig: rig.get().0.clone(), weights, frequency }));
            }
            (Some(_), None) => "say which vertices follow the rig, or leave it out",
            (None, Some(_)) => "there is no rig that vertices could follow; give one",
        };
        Err(refused(Error::Unsupported { what: "attached", why }))
    }
}

/// Skin of a body of tets, its material, and its thickness in metres.
pub struct Cover {
    surface: Arc<mesh::SurfaceMesh>,
    material: Arc<material::Material>,
    thickness: f64,
}

impl Cover {
    /// The skin of a mesh, by default of the material of the tets; takes the thickness.
    fn given(
        mesh: &AnyMesh<'_>,
        settings: &Named<'_, '_>,
        of_tets: &Material,
        thickness: &mut Option<f64>,
    ) -> PyResult<Option<Self>> {
        let skin = settings.get::<Bound<'_, SurfaceMesh>>("skin")?;
        let material = settings.get::<Bound<'_, Material>>("skin_material")?;
        let why = match (skin, mesh, thickness.is_some()) {
            (None, ..) if material.is_none() => return Ok(None),
            (None, ..) => "there is none of this material; give its triangles",
            (_, AnyMesh::Surface(_), _) => "a surface is one itself; leave it out",
            (_, _, false) => "it has a thickness; give it in metres",
            (Some(skin), ..) => {
                let surface = skin.get().0.clone();
                let material = material.as_ref().map_or(of_tets, Bound::get).0.clone();
                return Ok(thickness.take().map(|thickness| Self { surface, material, thickness }));
            }
        };
        Err(refused(Error::Unsupported { what: "skin", why }))
    }
}

/// Springs between vertices: pairs, stiffness and lengths.
pub struct Springs {
    pairs: Vec<[u32; 2]>,
    stiffness: Vec<f64>,
    lengths: Option<Vec<f64>>,
}

impl Springs {
    /// Springs between n vertices; a single number of stiffness is that of all.
    fn given(n: usize, settings: &Named<'_, '_>) -> PyResult<Option<Self>> {
        let given = |name| settings.get::<Bound<'_, PyAny>>(name);
        let lengths = given("spring_length")?;
        let why = match (given("springs")?, given("spring_stiffness")?) {
            (None, None) if lengths.is_none() => return Ok(None),
            (None, _) => "there is none of this stiffness or length; give its two vertices",
            (_, None) => "they have a spring_stiffness; give it in N/m",
            (Some(pairs), Some(stiffness)) => {
                let pairs = arrays::indices::<2>(&pairs, "springs", &[Axis::Any("s"), Axis::Is(2)], n)?;
                let each = [Axis::Is(pairs.len())];
                let stiffness = match stiffness.extract::<f64>() {
                    Ok(stiffness) => vec![stiffness; pairs.len()],
                    Err(_) => arrays::array::<f64>(&stiffness, "spring_stiffness", &each)?.slice().to_vec(),
                };
                let lengths = arrays::optional(lengths.as_ref(), "spring_length", &each)?;
                let lengths = lengths.map(|lengths| lengths.slice().to_vec());
                return Ok(Some(Self { pairs, stiffness, lengths }));
            }
        };
        Err(refused(Error::Unsupported { what: "springs", why }))
    }

    /// Adds the springs to arguments of a call.
    fn enter(&self, py: Python<'_>, settings: &Bound<'_, PyDict>) -> PyResult<()> {
        let count = self.pairs.len();
        let pairs = arrays::signed(self.pairs.as_flattened());
        settings.set_item("springs", arrays::owned(py, pairs, &[count, 2])?)?;
        settings.set_item("spring_stiffness", arrays::owned(py, self.stiffness.clone(), &[count])?)?;
        if let Some(lengths) = &self.lengths {
            settings.set_item("spring_length", arrays::owned(py, lengths.clone(), &[count])?)?;
        }
        Ok(())
    }
}

/// Checked arguments of `Model.projective`.
pub struct Handled {
    shape: Shape,
    skin: Option<Cover>,
    springs: Option<Springs>,
    limit: Option<StrainLimit>,
    /// Bending stiffness factor of a surface or a skin.
    bending: f64,
    material: Arc<material::Material>,
    counts: Counts,
    hung: Option<Hung>,
}

impl Handled {
    /// Arguments for a mesh, with settings by name.
    pub fn given(
        mesh: &AnyMesh<'_>,
        material: &Material,
        counts: Counts,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (settings, n) = (Named::among(settings, &SETTINGS)?, mesh.vertex_count());
        let hung = Hung::given(n, &settings)?;
        let springs = Springs::given(n, &settings)?;
        let firmness = settings.get("limit_firmness")?.unwrap_or(FIRMNESS);
        let limit = settings.get("strain_limit")?;
        let limit = limit.map(|(least, most)| StrainLimit { least, most, firmness });
        let bending = settings.get("bending")?.unwrap_or(BENDING);
        let mut thickness = settings.get("thickness")?;
        let skin = Cover::given(mesh, &settings, material, &mut thickness)?;
        let shape = mesh.shape(thickness)?;
        Ok(Self { shape, skin, springs, limit, bending, material: material.0.clone(), counts, hung })
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
        if let Some(Cover { surface, material, thickness }) = &self.skin {
            settings.set_item("skin", SurfaceMesh(surface.clone()))?;
            settings.set_item("skin_material", Material(material.clone()))?;
            settings.set_item("thickness", thickness)?;
        }
        if let Some(StrainLimit { least, most, firmness }) = self.limit {
            settings.set_item("strain_limit", (least, most))?;
            settings.set_item("limit_firmness", firmness)?;
        }
        if let Some(springs) = &self.springs {
            springs.enter(py, &settings)?;
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
        let Self { material, bending, counts: Counts { handles, clusters, seed }, .. } = self;
        let made = match &self.shape {
            Shape::Tets(mesh) => {
                let handles = Handles::spread(mesh, *handles, *seed, progress)?;
                let labels = cluster_tets_by_place(mesh, *clusters, *seed, progress)?;
                match &self.skin {
                    Some(Cover { surface, material: own, thickness }) => {
                        let fabric = Fabric { thickness: *thickness, bending: *bending };
                        let skin = Skin { surface, material: own, fabric };
                        ProjectiveModel::covered(mesh, material, &skin, &handles, &labels, progress)?
                    }
                    None => ProjectiveModel::new(mesh, material, &handles, &labels, progress)?,
                }
            }
            Shape::Surface(surface, thickness) => {
                let handles = Handles::over(surface, *handles, *seed, progress)?;
                let fabric = Fabric { thickness: *thickness, bending: *bending };
                ProjectiveModel::surface(surface, material, fabric, &handles, progress)?
            }
        };
        let made = match self.limit {
            Some(limit) => made.limited(limit)?,
            None => made,
        };
        let made = match &self.springs {
            Some(Springs { pairs, stiffness, lengths }) => {
                made.sprung(pairs, stiffness, lengths.as_deref())?
            }
            None => made,
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
    #[pyo3(signature = (mesh, material, handles=60, clusters=120, seed=0, **settings))]
    fn new(
        py: Python<'_>,
        mesh: AnyMesh<'_>,
        material: &Material,
        handles: i64,
        clusters: i64,
        seed: i64,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let making = Handled::given(&mesh, material, Counts::given(handles, clusters, seed)?, settings)?;
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
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> job = jounce.ProjectiveJob(mesh, jounce.Material(), handles=8, clusters=20)
    /// >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
    /// >>> np.array_equal(job.result().handle_centers, model.handle_centers)
    /// True
    fn result(&self, py: Python<'_>) -> PyResult<Model> {
        let model = (*self.0.result(py)?).clone();
        Ok(Model::wrap(model, Some(self.2.clone())).made_by(self.1.again(py)))
    }
}
