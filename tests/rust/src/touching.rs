//! Bodies of the full space that touch what is around them.

use std::sync::Arc;

use jounce::Progress;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{Embedding, TetMesh, lattice};
use jounce::method::loads::contact::{Collider, ContactSkin, Shape};
use jounce::method::quasi_newton::{FullSpaceExtras, FullSpaceModel};
use jounce::method::{Model, Simulation, SimulationParams};
use jounce::operators::lumped_mass;
use jounce::subspace::Restraint;
use nalgebra::Vector3;

use crate::bodies::{Transform, bar, turn};
use crate::surfaces::sphere;

/// Gravity, m/s^2.
pub const G: f64 = 9.81;

/// Flesh of 20 kPa, with what of it touches.
pub struct Body {
    /// What is simulated.
    pub mesh: TetMesh,
    /// The points that touch; the boundary of the mesh without any.
    pub skin: Option<Arc<Embedding>>,
    /// At the vertices, kg.
    pub mass: Vec<f64>,
    /// In the full space.
    pub model: Model,
}

impl Body {
    /// A body that nothing restrains, and the points of its skin.
    pub fn new(mesh: TetMesh, skin: Option<Vec<[f64; 3]>>) -> Self {
        let skin = skin.map(|points| Arc::new(Embedding::new(&mesh, points).expect("a valid body")));
        Self { skin, ..Self::restrained(mesh, &Restraint::default()) }
    }

    /// A body without a skin.
    pub fn restrained(mesh: TetMesh, restraint: &Restraint<'_>) -> Self {
        let material =
            Material::new(Law::NeoHookean, Field::Uniform(2e4), Field::Uniform(0.3), Field::Uniform(1000.0))
                .expect("a valid body");
        let extras = FullSpaceExtras::default();
        let model = FullSpaceModel::of(&mesh, &material, restraint, &extras, &Progress::default())
            .expect("a valid body");
        let mass = lumped_mass(&mesh, &material);
        Self { mass, skin: None, model: Model::FullSpace(model.into()), mesh }
    }

    /// A ball of radius 0.1 whose lowest point is at the height z = 0, in a lattice that its surface does not fill.
    pub fn ball() -> Self {
        let surface = sphere(3).placed([0.1; 3], [0.0, 0.0, 0.1]).surface();
        Self::new(
            lattice(&surface, 10, &Progress::default()).expect("a valid body"),
            Some(surface.points().to_vec()),
        )
    }

    /// A block of 4 x 4 x 2 cells of 5 cm on the plane z = 0.
    pub fn block() -> Self {
        Self::new(bar([4, 4, 2], 0.05), None)
    }

    /// A simulation among colliders.
    pub fn among(&self, params: SimulationParams, colliders: &[Collider]) -> Simulation {
        let skin = self.skin.clone().map(|points| ContactSkin { points, rig: None });
        Simulation::among(self.model.clone(), params, colliders, skin).expect("a valid body")
    }

    /// Displacements of the vertices, metres.
    pub fn u(&self, sim: &Simulation) -> Vec<[f64; 3]> {
        sim.coefficients().as_chunks::<3>().0.to_vec()
    }

    /// Mean displacement over the mass.
    pub fn mean(&self, sim: &Simulation) -> Vector3<f64> {
        let terms = self.mass.iter().zip(self.u(sim));
        terms.map(|(m, u)| *m * Vector3::from(u)).sum::<Vector3<f64>>() / self.mass.iter().sum::<f64>()
    }

    /// Where the points that touch are.
    pub fn points(&self, sim: &Simulation) -> Vec<[f64; 3]> {
        let places: Vec<f64> =
            self.mesh.vertices().as_flattened().iter().zip(sim.coefficients()).map(|(x, u)| x + u).collect();
        match &self.skin {
            Some(skin) => {
                skin.interpolate(&self.mesh, &places, 3).expect("a valid body").as_chunks::<3>().0.to_vec()
            }
            None => places.as_chunks::<3>().0.to_vec(),
        }
    }

    /// Volumes of the tets as they are.
    pub fn volumes(&self, sim: &Simulation) -> Vec<f64> {
        let u = self.u(sim);
        let place = |v: u32| Vector3::from(self.mesh.vertices()[v as usize]) + Vector3::from(u[v as usize]);
        let volume = |tet: &[u32; 4]| {
            let [a, b, c, d] = tet.map(place);
            (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
        };
        self.mesh.tets().iter().map(volume).collect()
    }

    /// How deep the deepest point is in a shape that has been moved, as a share of the diagonal.
    pub fn depth(&self, sim: &Simulation, shape: &Shape) -> f64 {
        let points = self.points(sim);
        points.iter().map(|point| -shape.distance(*point).0).fold(0.0, f64::max) / self.mesh.diagonal()
    }
}

/// Settings with gravity.
pub fn params() -> SimulationParams {
    SimulationParams { gravity: [0.0, 0.0, -G], ..SimulationParams::default() }
}

/// A plane at some height.
pub fn ground(height: f64, friction: f64) -> Collider {
    Collider::new(Shape::plane([0.0, 0.0, height], [0.0, 0.0, 1.0]).expect("a valid body"), friction)
        .expect("a valid body")
}

/// Turned about z, then shifted.
pub fn moved(shift: [f64; 3], angle: f64) -> Transform {
    turn([0.0, 0.0, 1.0], angle, [0.0; 3], shift)
}

/// A block on slopes: below the angle of friction it goes no further than `still`, m, in a second, above it speeds up as Coulomb says, to a share
/// `off`. `places` of settings and a slope are its places along that in 48 frames.
pub fn check_slopes(places: impl Fn(SimulationParams, &Collider) -> Vec<f64>, still: f64, off: f64) {
    // In the last 24 frames: how far it goes, and how much faster it then is.
    let slid = |degrees: f64, friction: f64| {
        // Gravity is turned instead of the ground.
        let gravity = [G * degrees.to_radians().sin(), 0.0, -G * degrees.to_radians().cos()];
        let params = SimulationParams { gravity, substeps: 4, damping: 0.3, ..params() };
        let places = places(params, &ground(0.0, friction));
        let speed = |frame: usize| 24.0 * (places[frame] - places[frame - 1]);
        (places[47] - places[23], speed(47) - speed(23))
    };
    for (degrees, friction) in [(20.0, 0.5), (26.0, 0.5)] {
        let (way, _) = slid(degrees, friction);
        assert!(way.abs() < still, "{degrees}: {way}");
    }
    for (degrees, friction) in [(27.5, 0.5), (35.0, 0.5), (20.0, 0.0)] {
        let (_, acceleration) = slid(degrees, friction);
        let angle: f64 = f64::to_radians(degrees);
        let coulomb = G * (angle.sin() - friction * angle.cos());
        assert!((acceleration / coulomb - 1.0).abs() < off, "{degrees}: {acceleration}, {coulomb}");
    }
}
