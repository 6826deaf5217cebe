//! Bodies moved by affine handles, by hyper-reduced projective dynamics `[HRPD]`: `x = X + U z`.
//!
//! A body consists of tets (`clusters`), with or without a skin of triangles, or is a surface without
//! volume (`sheet`), loose or attached to a rig (`attachment`). `ProjectiveModel` holds all constant data
//! (`coordinates`, `body`). A step (`step`) minimises the incremental energy (`objective`) by local
//! projections, then a solve with a constant matrix (`system`). Deformation gradients of clusters are
//! projected to rotations, those of triangles to isometries, both also to a limit of strain, and curvatures
//! to their rest values. Further files: tether of a loose body (`holding`), springs between vertices
//! (`springs`) and to points (`grip`), drag (`medium`), contact points (`skin`), and common steps of bodies
//! in contact (`joint`).

pub(crate) mod attachment;
pub(crate) mod drag;
pub(crate) mod frequency;
pub(crate) mod grip;
pub(crate) mod holding;
pub(crate) mod joint;
pub(crate) mod objective;
pub(crate) mod placing;
pub(crate) mod skin;
pub(crate) mod springs;
pub(crate) mod step;
pub(crate) mod system;

use crate::inputs::settings::SimulationParams;
use crate::kinematics::handles::HandleCoordinates;
use crate::kinematics::projector::Projector;
use crate::kinematics::rigid::RigidMotions;
use crate::math::rows::Rows;
use crate::potentials::elastic::body::{Body, Mesh};
use crate::potentials::elastic::clusters::Clusters;
use crate::potentials::elastic::sheet::{Fabric, Layers, Sheet};
use crate::potentials::inertia::rayleigh;
use attachment::Attachment;
use faer::Mat;
use frequency::lowest_frequency;

use crate::kinematics::coordinates::Coordinates;
use crate::material::{Law, Material, StrainLimit};
use crate::math::Sparse;
use crate::math::symmetric::Symmetric;
use crate::mesh::{Embedding, SurfaceMesh, TetMesh, extent};
use crate::operators::{lumped_mass, stiffness};
use crate::rig::Rig;
use crate::subspace::{Handles, tets_of_labels};
use crate::{Error, Progress, Result};

/// A body moved by handles: all constant data of a step.
///
/// The energy of tets is that of `[FastCD]`: as rigid as possible, `sum_t mu_t V_t |F_t - R_c(t)|^2`, with
/// one rotation for all tets of a cluster. The energy of a surface is a
/// [`Membrane`](crate::operators::Membrane) with [`Bending`](crate::operators::Bending); tets with a skin
/// have both.
///
/// ```
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::model::projective::ProjectiveModel;
/// use jounce::subspace::{Handles, cluster_tets_by_place};
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([1.0; 3])?, 6, &progress)?;
/// let [young, poisson, density] = [2e4, 0.0, 1000.0].map(Field::Uniform);
/// let jelly = Material::new(Law::Arap, young, poisson, density)?;
/// let handles = Handles::spread(&mesh, 8, 0, &progress)?;
/// let clusters = cluster_tets_by_place(&mesh, 20, 0, &progress)?;
/// let model = ProjectiveModel::new(&mesh, &jelly, &handles, &clusters, &progress)?;
/// assert!(model.frequency() > 1.0);
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct ProjectiveModel {
    body: Body,
    handles: Handles,
    coordinates: HandleCoordinates,
    attachment: Option<Attachment>,
    vertex_mass: Vec<f64>,
    /// `U'MU`, r x r, kg.
    mass: Mat<f64>,
    packed_mass: Symmetric,
    /// `U'KU` along one axis, r x r, N/m.
    stiffness: Mat<f64>,
    /// Part of the stiffness that the clusters' mean gradients do not represent.
    unseen: Mat<f64>,
    packed_unseen: Symmetric,
    /// Share of a strain limit in the metric, relative to the stiffness; 0 without a limit.
    firmness: f64,
    frequency: f64,
    total_mass: f64,
    diagonal: f64,
    /// Coordinates of poses.
    pose_coordinates: Coordinates,
}

/// Triangles between vertices of a body of tets, with a material of their own.
#[derive(Debug, Clone, Copy)]
pub struct Skin<'a> {
    /// Triangles; the points are the vertices of the tets.
    pub surface: &'a SurfaceMesh,
    /// Material, uniform or one value a triangle.
    pub material: &'a Material,
    /// Thickness and bending stiffness.
    pub fabric: Fabric,
}

/// Potentials before the reduction: tets with their clusters, and triangles.
struct Matter<'a> {
    tets: Option<(&'a TetMesh, &'a Material, Vec<Vec<u32>>)>,
    layers: Option<Layers>,
}

impl ProjectiveModel {
    /// Prepares a loose body of tets, with one rotation a cluster label.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a law other than as rigid as possible; [`Error::Shape`] or
    /// [`Error::Index`] for handles, material and labels of another mesh, [`Error::Numerical`];
    /// [`Error::Cancelled`].
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        handles: &Handles,
        labels: &[i32],
        progress: &Progress,
    ) -> Result<Self> {
        Self::solid((mesh, material, labels), None, handles, progress)
    }

    /// Prepares a loose body of tets, with one rotation a cluster label, and of triangles between its
    /// vertices: a skin on some or all of its surface, or sheets within. The energy is the sum of both, and
    /// so are mass and stiffness.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a skin with points other than the mesh's vertices, or across loose parts;
    /// as [`ProjectiveModel::new`] and [`ProjectiveModel::surface`].
    pub fn covered(
        mesh: &TetMesh,
        material: &Material,
        skin: &Skin<'_>,
        handles: &Handles,
        labels: &[i32],
        progress: &Progress,
    ) -> Result<Self> {
        Self::solid((mesh, material, labels), Some(skin), handles, progress)
    }

    fn solid(
        (mesh, material, labels): (&TetMesh, &Material, &[i32]),
        skin: Option<&Skin<'_>>,
        handles: &Handles,
        progress: &Progress,
    ) -> Result<Self> {
        if material.law() != Law::Arap {
            let why =
                "projective dynamics projects on rotations, which is as rigid as possible alone; take arap";
            return Err(Error::Unsupported { what: "law", why });
        }
        material.check_tet_count(mesh.tets().len())?;
        handles.check_vertex_count(mesh.vertices().len())?;
        let tets = tets_of_labels(mesh, labels)?;
        let mut mass = lumped_mass(mesh, material);
        let layers = skin.map(|skin| skin.layers(mesh, handles)).transpose()?;
        layers.iter().for_each(|layers| layers.add_mass(&mut mass));
        let matter = Matter { tets: Some((mesh, material, tets)), layers };
        Self::reduce(handles, mass, Mesh::Tets(mesh.clone()), matter, progress)
    }

    /// Prepares a loose surface without volume, of a material that is uniform or has a value a triangle.
    ///
    /// Triangles without area have neither mass nor energy; [`ProjectiveModel::skipped_count`] counts them.
    ///
    /// # Errors
    /// [`Error::Range`] or [`Error::NotFinite`] for the fabric, [`Error::Massless`] for a point connected
    /// to no triangle with area; as [`ProjectiveModel::new`].
    pub fn surface(
        surface: &SurfaceMesh,
        material: &Material,
        fabric: Fabric,
        handles: &Handles,
        progress: &Progress,
    ) -> Result<Self> {
        let n = surface.points().len();
        handles.check_vertex_count(n)?;
        let layers = Layers::new(surface, material, fabric)?;
        let mut mass = vec![0.0; n];
        layers.add_mass(&mut mass);
        handles.check_mass(&mass)?;
        let matter = Matter { tets: None, layers: Some(layers) };
        Self::reduce(handles, mass, Mesh::Surface(surface.clone()), matter, progress)
    }

    /// Model of vertices with given mass and potentials.
    fn reduce(
        handles: &Handles,
        vertex_mass: Vec<f64>,
        mesh: Mesh,
        matter: Matter<'_>,
        progress: &Progress,
    ) -> Result<Self> {
        progress.report(0.0)?;
        let gram = handles.gram(&diagonal(&vertex_mass)?);
        progress.report(0.2)?;
        let coordinates = HandleCoordinates::new(&vertex_mass, handles, &gram);
        progress.report(0.4)?;
        let mass = coordinates.reduce(&gram);
        let (body, [stiffness, unseen]) = matter.reduce(mesh, handles, &coordinates)?;
        progress.report(0.7)?;
        let frequency = lowest_frequency(&coordinates, &mass, &stiffness)?;
        progress.report(1.0)?;
        Ok(Self {
            packed_mass: coordinates.packed(&mass),
            packed_unseen: coordinates.packed(&unseen),
            body,
            handles: handles.clone(),
            coordinates,
            attachment: None,
            mass,
            stiffness,
            unseen,
            firmness: 0.0,
            frequency,
            total_mass: vertex_mass.iter().sum(),
            diagonal: extent(handles.places()),
            pose_coordinates: Coordinates::of(handles.places()),
            vertex_mass,
        })
    }

    /// The same body attached to a rig: a vertex of weight a in [0, 1] is drawn to its posed position by
    /// the energy `a m (2 pi f)^2 / 2 |x - J p|^2`, f in Hz.
    ///
    /// Vertices with a weight of half or more have no contact. The body starts in the pose of its attached
    /// part, rotated but not strained.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`] or [`Error::Range`] for weights, rig and frequency;
    /// [`Error::Unsupported`] without an attached vertex.
    pub fn attached(self, rig: &Rig, weights: &[f64], frequency: f64) -> Result<Self> {
        let of = (&self.handles, &self.coordinates, &self.vertex_mass[..]);
        let attachment = Attachment::new(of, rig, weights, frequency)?;
        Ok(Self { attachment: Some(attachment), ..self })
    }

    /// The same body with a limit of principal stretches, of the mean deformation gradient of a cluster and
    /// of the gradient of a triangle. With inflation, the interval of clusters is scaled.
    ///
    /// A firm limit takes more iterations, since it is part of the constant metric.
    ///
    /// # Errors
    /// [`Error::Range`] for values of the limit.
    pub fn limited(mut self, limit: StrainLimit) -> Result<Self> {
        limit.check()?;
        self.body.limit(limit);
        Ok(Self { firmness: limit.firmness, ..self })
    }

    /// The simulated tets; `None` for a surface without volume.
    pub fn mesh(&self) -> Option<&TetMesh> {
        match &self.body.mesh {
            Mesh::Tets(mesh) => Some(mesh),
            Mesh::Surface(_) => None,
        }
    }

    /// Tets of the points of an embedding.
    fn tets_of(&self, embedding: &Embedding) -> Result<&[[u32; 4]]> {
        let Some(mesh) = self.mesh() else {
            let why = "points hang in tets; a surface without volume has none, and shows its own points";
            return Err(Error::Unsupported { what: "embedding", why });
        };
        embedding.check_mesh(mesh)?;
        Ok(mesh.tets())
    }

    /// Projector to displacements of the vertices, or of the points of an embedding.
    pub(crate) fn projector(&self, embedding: Option<&Embedding>) -> Result<Projector> {
        let embedding = embedding.map(|embedding| Ok((embedding, self.tets_of(embedding)?))).transpose()?;
        Ok(Projector::of_handles(&self.handles, self.vertices(), embedding))
    }

    /// Rest positions of the vertices, n, metres.
    pub fn vertices(&self) -> &[[f64; 3]] {
        self.handles.places()
    }

    /// Mass lumped to the vertices, n, kg.
    pub fn vertex_mass(&self) -> &[f64] {
        &self.vertex_mass
    }

    /// The handles.
    pub fn handles(&self) -> &Handles {
        &self.handles
    }

    /// Number of bones of an attached body; 0 for a loose body.
    pub fn bone_count(&self) -> usize {
        self.attachment.as_ref().map_or(0, |attachment| attachment.bones)
    }

    /// `true` if the body has volume and can be inflated.
    pub(crate) fn is_solid(&self) -> bool {
        self.mesh().is_some()
    }

    /// Number of clusters with a shared rotation, and of triangles.
    pub fn cluster_count(&self) -> usize {
        self.body.element_count()
    }

    /// Number of degenerate triangles, which are left out.
    pub fn skipped_count(&self) -> usize {
        self.body.skipped_count()
    }

    /// Frequency of the lowest deforming mode, Hz, the reference of the damping ratio.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// Damping by mass, 1/s, and by stiffness, s times the scale of stiffness: of a loose body with volume
    /// that of the full space, of others by mass alone, which hardly resists folds.
    fn damping(&self, params: &SimulationParams) -> [f64; 2] {
        if self.is_solid() && self.attachment.is_none() {
            return rayleigh(self.frequency, true, params);
        }
        let omega = std::f64::consts::TAU * self.frequency * params.stiffness.sqrt();
        [2.0 * params.damping * omega, 0.0]
    }

    /// Rigid motions of the loose parts.
    fn rigid_motions(&self) -> RigidMotions {
        let coordinates = &self.coordinates;
        let part = |&part: &u32| (!self.hangs(part as usize)).then_some(part);
        let parts = coordinates.parts_of_columns.iter().map(part).collect();
        let is_shift = |row: usize| row < coordinates.affine_count() && row % 4 == 3;
        let translation = (0..self.rank()).map(|row| if is_shift(row) { 1.0 } else { 0.0 }).collect();
        let of = |row: usize| 4 * coordinates.parts_of_columns[row] as usize + 3;
        let momentum = (0..self.rank()).map(|row| self.mass[(row, of(row))]).collect();
        RigidMotions::new(parts, translation, momentum)
    }

    /// From coordinates of displacements to those of places about the modelled centre of each part.
    fn place(&self, rows: &mut Rows) {
        for (number, part) in self.coordinates.parts.iter().enumerate() {
            (0..3).for_each(|axis| rows[4 * number + axis][axis] += part.size);
        }
    }

    /// Number of coordinates r along each axis.
    fn rank(&self) -> usize {
        self.coordinates.count()
    }

    /// Mass norm of a displacement of the whole body by one diagonal.
    fn unit(&self) -> f64 {
        self.total_mass.sqrt() * self.diagonal
    }
}

impl Skin<'_> {
    /// Layers on the vertices of tets.
    fn layers(&self, mesh: &TetMesh, handles: &Handles) -> Result<Layers> {
        let refused = |why| Error::Unsupported { what: "skin", why };
        if self.surface.points() != mesh.vertices() {
            return Err(refused("its points are not the vertices of the tets; give it these points"));
        }
        let part = |v: u32| handles.parts_of_vertices()[v as usize];
        if self.surface.triangles().iter().any(|&[a, b, c]| part(a) != part(b) || part(a) != part(c)) {
            return Err(refused("a triangle joins loose parts of the tets; leave it out"));
        }
        Layers::new(self.surface, self.material, self.fabric)
    }
}

impl Matter<'_> {
    /// The body in its coordinates, its stiffness, and the part of the stiffness missing in its energy.
    fn reduce(
        self,
        mesh: Mesh,
        handles: &Handles,
        coordinates: &HandleCoordinates,
    ) -> Result<(Body, [Mat<f64>; 2])> {
        let reduced = |own: &Sparse| coordinates.stiffness(&handles.gram(own));
        let rank = coordinates.count();
        let (mut whole, mut unseen) = (Mat::zeros(rank, rank), Mat::zeros(rank, rank));
        let mut body = Body { mesh, clusters: None, sheet: None, springs: Vec::new() };
        if let Some((mesh, material, tets)) = self.tets {
            let own = reduced(&stiffness(mesh, material)?);
            let (clusters, rest) = Clusters::new(mesh, material, handles, coordinates, &tets, &own);
            (body.clusters, unseen) = (Some(clusters), rest);
            whole += own;
        }
        if let Some(layers) = self.layers {
            whole += reduced(&layers.stiffness(handles.places().len())?);
            body.sheet = Some(Sheet::new(layers, handles, coordinates));
        }
        Ok((body, [whole, unseen]))
    }
}

impl HandleCoordinates {
    /// Stiffness matrix of the coordinates; exactly zero for a translation.
    fn stiffness(&self, gram: &Mat<f64>) -> Mat<f64> {
        let stiffness = self.reduce(gram);
        let still = |i: usize| i < self.affine_count() && i % 4 == 3;
        Mat::from_fn(self.count(), self.count(), |i, j| {
            if still(i) || still(j) { 0.0 } else { 0.5 * (stiffness[(i, j)] + stiffness[(j, i)]) }
        })
    }
}

fn diagonal(values: &[f64]) -> Result<Sparse> {
    let entries: Vec<_> =
        (0..).zip(values).map(|(i, &value)| faer::sparse::Triplet::new(i, i, value)).collect();
    Sparse::try_new_from_triplets(values.len(), values.len(), &entries)
        .map_err(|error| Error::Numerical { what: "mass", why: format!("{error:?}") })
}
