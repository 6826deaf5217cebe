//! Bodies with handles, and measurements on them.

use jounce::Progress;
use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::{Field, Law, Material, StrainLimit};
use jounce::mesh::{SurfaceMesh, TetMesh, bounds};
use jounce::model::Model;
use jounce::model::projective::{ProjectiveModel, Skin};
use jounce::potentials::elastic::Fabric;
use jounce::simulation::Simulation;
use jounce::subspace::{Handles, cluster_tets_by_place};
use nalgebra::Vector3;

use crate::bodies::bar;
use crate::boxes::{box_mesh, row_of};
use crate::surfaces::{Soup, sphere, square};

/// Progress without a listener.
pub fn silent() -> Progress {
    Progress::default()
}

/// A material as soft as jelly.
pub fn jelly(law: Law) -> Material {
    Material::new(law, Field::Uniform(3e3), Field::Uniform(0.0), Field::Uniform(1000.0))
        .expect("a valid body")
}

/// A free body of jelly with clusters.
pub fn model(mesh: &TetMesh, handles: usize, labels: &[i32]) -> Model {
    let handles = Handles::spread(mesh, handles, 0, &silent()).expect("a valid body");
    Model::Projective(
        ProjectiveModel::new(mesh, &jelly(Law::Arap), &handles, labels, &silent())
            .expect("a valid body")
            .into(),
    )
}

/// The same with clusters by position.
pub fn clustered(mesh: &TetMesh, handles: usize, clusters: usize) -> Model {
    model(mesh, handles, &cluster_tets_by_place(mesh, clusters, 0, &silent()).expect("a valid body"))
}

/// The same with a rotation for each tet.
pub fn exact(mesh: &TetMesh, handles: usize) -> Model {
    model(mesh, handles, &(0..mesh.tets().len() as i32).collect::<Vec<_>>())
}

/// Models of tet bodies and of surfaces without volume.
pub fn models() -> Vec<Model> {
    solids().into_iter().chain(surfaces()).chain([covered()]).collect()
}

/// A bar with a skin on most of its surface, a limit of strain, and a spring between its ends.
pub fn covered() -> Model {
    let mesh = bar([8, 2, 2], 0.1);
    let (places, labels) = (mesh.vertices(), cluster_tets_by_place(&mesh, 16, 0, &silent()));
    let within = |triangle: &[u32; 3]| triangle.iter().any(|&v| places[v as usize][0] < 0.7);
    let triangles = mesh.boundary().iter().copied().filter(within).collect();
    let surface = SurfaceMesh::new(places.to_vec(), triangles).expect("a valid body");
    let fabric = Fabric { thickness: 2e-3, bending: 1.0 };
    let skin = Skin { surface: &surface, material: &cloth(), fabric };
    let handles = Handles::spread(&mesh, 16, 0, &silent()).expect("a valid body");
    let labels = labels.expect("a valid body");
    let body = ProjectiveModel::covered(&mesh, &jelly(Law::Arap), &skin, &handles, &labels, &silent());
    let ends = [0, places.len() as u32 - 1];
    let limit = StrainLimit { least: 0.95, most: 1.05, firmness: 2.0 };
    let limited = body.expect("a valid body").limited(limit).expect("a valid body");
    let sprung = limited.sprung(&[ends], &[30.0], None);
    Model::Projective(sprung.expect("a valid body").into())
}

/// A bar, a sheet one cell thick, separate components, and more handles than are linearly independent.
fn solids() -> [Model; 4] {
    let bar = bar([8, 2, 2], 0.1);
    let parts = row_of(&box_mesh([2, 2, 2], 0.1), 3, 0.4);
    let sheet = box_mesh([6, 6, 1], 0.05);
    [clustered(&bar, 10, 16), clustered(&sheet, 12, 20), clustered(&parts, 7, 9), clustered(&bar, 60, 40)]
}

/// A sheet, a stiff dome, and a folded sheet beside another with triangles of zero area.
fn surfaces() -> [Model; 3] {
    let thin = Fabric { thickness: 2e-3, bending: 1.0 };
    [
        surface(&sheet(), thin, 16),
        surface(&dome().surface(), Fabric { thickness: 4e-3, ..thin }, 12),
        surface(&parts(), Fabric { bending: 20.0, ..thin }, 14),
    ]
}

/// Cloth of 200 kPa with a Poisson's ratio of 0.
pub fn cloth() -> Material {
    cloth_of(0.0)
}

/// Cloth of 200 kPa with the given Poisson's ratio.
pub fn cloth_of(poisson: f64) -> Material {
    Material::new(Law::Arap, Field::Uniform(2e5), Field::Uniform(poisson), Field::Uniform(300.0))
        .expect("a valid body")
}

/// A free surface of cloth.
pub fn surface(surface: &SurfaceMesh, fabric: Fabric, handles: usize) -> Model {
    let handles = Handles::over(surface, handles, 0, &silent()).expect("a valid body");
    let model = ProjectiveModel::surface(surface, &cloth(), fabric, &handles, &silent());
    Model::Projective(model.expect("a valid body").into())
}

/// A sheet of 60 x 40 cm.
pub fn sheet() -> SurfaceMesh {
    square(10).placed([0.3, 0.2, 0.0], [0.3, 0.2, 0.0]).surface()
}

/// The upper half of a sphere of 20 cm.
pub fn dome() -> Soup {
    let dome = sphere(3).kept(|center| center[2] > 0.0).placed([0.2; 3], [0.2, 0.2, 0.0]);
    let mut kept: Vec<u32> = dome.triangles.as_flattened().to_vec();
    kept.sort_unstable();
    kept.dedup();
    let number = |v: u32| kept.binary_search(&v).map_or(0, |at| at as u32);
    let triangles = dome.triangles.iter().map(|triangle| triangle.map(number)).collect();
    Soup { points: kept.iter().map(|&v| dome.points[v as usize]).collect(), triangles }
}

/// A folded sheet and another one, with a needle-shaped triangle and triangles that use a point twice.
fn parts() -> SurfaceMesh {
    let folded = square(6).mapped(|[x, y, _]| [0.2 * x + 0.2, 0.2 * y, 0.1 * x.abs()]);
    let mut both = folded.and(square(4).placed([0.1; 3], [0.5, 0.0, 0.3]));
    both.triangles.extend([[0, 1, 1], [0, 1, 2], [3, 3, 3]]);
    both.surface()
}

/// The projective-dynamics model inside a model.
pub fn projective(model: &Model) -> &ProjectiveModel {
    match model {
        Model::Projective(model) => model,
        _ => panic!("a body of handles"),
    }
}

/// Diagonal of a body's bounding box, metres.
pub fn diagonal(model: &Model) -> f64 {
    let (low, high) = bounds(model.vertices());
    (Vector3::from(high) - Vector3::from(low)).norm()
}

/// A simulation before its first step.
pub fn simulation(model: &Model, params: SimulationParams) -> Simulation {
    Simulation::new(model.clone(), params).expect("a valid body")
}

/// Settings with different integrators, damping, gravity and substeps.
pub fn settings() -> [SimulationParams; 4] {
    let base = SimulationParams { tolerance: 1e-9, max_iterations: 200, ..SimulationParams::default() };
    let gravity = [0.3, 0.0, -9.81];
    [
        base,
        SimulationParams { damping: 0.2, gravity, substeps: 3, ..base },
        SimulationParams { integrator: Integrator::Bdf2, gravity, ..base },
        SimulationParams { integrator: Integrator::Bdf2, damping: 0.5, stiffness: 2.0, dt: 0.01, ..base },
    ]
}

/// Displacements of the vertices by the definition.
pub fn displacements(sim: &Simulation) -> Vec<Vector3<f64>> {
    let model = projective(sim.model());
    let (handles, transforms) = (model.handles(), sim.coefficients().as_chunks::<12>().0);
    let at = |(vertex, place): (usize, &[f64; 3])| {
        let mut sum = Vector3::zeros();
        for &(handle, weight) in handles.of_vertex(vertex) {
            let z = nalgebra::Matrix3x4::from_row_slice(&transforms[handle as usize]);
            let arm = Vector3::from(*place) - Vector3::from(handles.centers()[handle as usize]);
            sum += weight * z * arm.push(1.0);
        }
        sum
    };
    model.vertices().iter().enumerate().map(at).collect()
}

/// Positions of the vertices.
pub fn places(sim: &Simulation) -> Vec<Vector3<f64>> {
    let rest = sim.model().vertices();
    displacements(sim).into_iter().zip(rest).map(|(u, x)| u + Vector3::from(*x)).collect()
}

/// Largest distance between corresponding points.
pub fn furthest(a: &[Vector3<f64>], b: &[Vector3<f64>]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).norm()))
}

/// Mass of the vertices, kg.
pub fn mass(model: &Model) -> Vec<f64> {
    projective(model).vertex_mass().to_vec()
}

/// Kinetic energy and angular momentum about the centre of mass, from positions h seconds apart.
pub fn momentum(mass: &[f64], before: &[Vector3<f64>], now: &[Vector3<f64>], h: f64) -> (f64, Vector3<f64>) {
    let total: f64 = mass.iter().sum();
    let center = mass.iter().zip(now).map(|(m, x)| *m * x).sum::<Vector3<f64>>() / total;
    let each = || mass.iter().zip(before.iter().zip(now).map(|(a, b)| (b - a) / h)).zip(now);
    let kinetic = each().map(|((m, v), _)| 0.5 * m * v.norm_squared()).sum();
    (kinetic, each().map(|((m, v), x)| *m * (x - center).cross(&v)).sum())
}

/// Bends a body to rest by forces at its ends and its middle.
pub fn bent(sim: &mut Simulation) {
    let vertices = sim.model().vertices();
    let (length, mass) = (vertices.iter().fold(0.0, |l: f64, v| l.max(v[0])), mass(sim.model()));
    let along = |v: &[f64; 3]| (std::f64::consts::PI * v[0] / length).sin() - 2.0 / std::f64::consts::PI;
    let forces: Vec<f64> =
        vertices.iter().zip(&mass).flat_map(|(v, m)| [0.0, 0.0, -30.0 * m * along(v)]).collect();
    let force =
        sim.model().projector(None).expect("a valid body").reduce_forces(&forces).expect("a valid body");
    sim.settle(&StepInput { force: Some(&force), ..StepInput::default() }, 2000, &silent())
        .expect("a valid body");
}

/// Makes steps; returns the elastic energy.
pub fn step(sim: &mut Simulation) -> f64 {
    let report = sim.step(None).expect("a valid body");
    assert!(report.residual.is_finite());
    report.energy
}

/// Elastic and kinetic energy of an undriven body after 120 steps of `h`, J; checks that it never rises.
pub fn energy_left(sim: &mut Simulation, h: f64) -> f64 {
    let (mass, mut before, mut last) = (mass(sim.model()), places(sim), f64::INFINITY);
    for _ in 0..120 {
        let elastic = step(sim);
        let now = places(sim);
        let whole = elastic + momentum(&mass, &before, &now, h).0;
        assert!(whole <= last * (1.0 + 1e-9), "{last} to {whole}");
        (last, before) = (whole, now);
    }
    last
}
