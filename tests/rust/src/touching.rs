//! Full-space bodies in contact with their surroundings.

use std::sync::Arc;

use jounce::Progress;
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{Embedding, TetMesh, lattice};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::lumped_mass;
use jounce::potentials::contact::{Collider, ContactSkin, Shape};
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use nalgebra::Vector3;

use crate::bodies::{Transform, bar, turn};
use crate::surfaces::sphere;

/// Gravity, m/s^2.
pub const G: f64 = 9.81;

/// Flesh of 20 kPa with contact points.
pub struct Body {
    /// Mesh that is simulated.
    pub mesh: TetMesh,
    /// The contact points; the boundary of the mesh if there are none.
    pub skin: Option<Arc<Embedding>>,
    /// Vertex masses, kg.
    pub mass: Vec<f64>,
    /// Model in the full space.
    pub model: Model,
}

impl Body {
    /// A free body and the points of its skin.
    pub fn new(mesh: TetMesh, skin: Option<Vec<[f64; 3]>>) -> Self {
        let skin = skin.map(|points| Arc::new(Embedding::new(&mesh, points).expect("a valid body")));
        Self { skin, ..Self::restrained(mesh, &Restraint::default()) }
    }

    /// A body without a skin.
    pub fn restrained(mesh: TetMesh, restraint: &Restraint<'_>) -> Self {
        Self::with_poisson(mesh, restraint, 0.3)
    }

    /// A body without a skin, with a Poisson's ratio.
    pub fn with_poisson(mesh: TetMesh, restraint: &Restraint<'_>, poisson: f64) -> Self {
        let [young, poisson, density] = [2e4, poisson, 1000.0].map(Field::Uniform);
        let material = Material::new(Law::NeoHookean, young, poisson, density).expect("a valid body");
        let extras = FullSpaceExtras::default();
        let model = FullSpaceModel::of(&mesh, &material, restraint, &extras, &Progress::default())
            .expect("a valid body");
        let mass = lumped_mass(&mesh, &material);
        Self { mass, skin: None, model: Model::FullSpace(model.into()), mesh }
    }

    /// A ball of radius 0.1 with its lowest point at z = 0, in a lattice that its surface does not fill.
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

    /// A simulation with colliders.
    pub fn among(&self, params: SimulationParams, colliders: &[Collider]) -> Simulation {
        let skin = self.skin.clone().map(|points| ContactSkin {
            points,
            triangles: Vec::new().into(),
            rig: None,
            self_collision: false,
        });
        Simulation::among(self.model.clone(), params, colliders, skin).expect("a valid body")
    }

    /// Displacements of the vertices, metres.
    pub fn u(&self, sim: &Simulation) -> Vec<[f64; 3]> {
        sim.coefficients().as_chunks::<3>().0.to_vec()
    }

    /// Mean displacement, weighted by mass.
    pub fn mean(&self, sim: &Simulation) -> Vector3<f64> {
        let terms = self.mass.iter().zip(self.u(sim));
        terms.map(|(m, u)| *m * Vector3::from(u)).sum::<Vector3<f64>>() / self.mass.iter().sum::<f64>()
    }

    /// Positions of the contact points.
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

    /// Current volumes of the tets.
    pub fn volumes(&self, sim: &Simulation) -> Vec<f64> {
        let u = self.u(sim);
        let place = |v: u32| Vector3::from(self.mesh.vertices()[v as usize]) + Vector3::from(u[v as usize]);
        let volume = |tet: &[u32; 4]| {
            let [a, b, c, d] = tet.map(place);
            (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
        };
        self.mesh.tets().iter().map(volume).collect()
    }

    /// Largest penetration into a moved shape, as a share of the diagonal.
    pub fn depth(&self, sim: &Simulation, shape: &Shape) -> f64 {
        let points = self.points(sim);
        points.iter().map(|point| -shape.distance(*point).0).fold(0.0, f64::max) / self.mesh.diagonal()
    }
}

/// Settings with gravity.
pub fn params() -> SimulationParams {
    SimulationParams { gravity: [0.0, 0.0, -G], ..SimulationParams::default() }
}

/// A horizontal plane at some height.
pub fn ground(height: f64, friction: f64) -> Collider {
    Collider::new(Shape::plane([0.0, 0.0, height], [0.0, 0.0, 1.0]).expect("a valid body"), friction)
        .expect("a valid body")
}

/// A rotation about z, followed by a translation.
pub fn moved(shift: [f64; 3], angle: f64) -> Transform {
    turn([0.0, 0.0, 1.0], angle, [0.0; 3], shift)
}

/// Checks a block on slopes. Below the angle of friction it slides less than `still`, m, in a second; above
/// it, it accelerates by Coulomb's law within a share `off`. `places`, for settings and a slope, is its
/// position along the slope in 72 frames, the first 48 of which it takes to come to rest.
pub fn check_slopes(places: impl Fn(SimulationParams, &Collider) -> Vec<f64>, still: f64, off: f64) {
    // Distance of sliding in the last 24 frames, and the gain of speed in the 24 before.
    let slid = |degrees: f64, friction: f64| {
        // Gravity is rotated instead of the ground.
        let gravity = [G * degrees.to_radians().sin(), 0.0, -G * degrees.to_radians().cos()];
        let params = SimulationParams { gravity, substeps: 4, damping: 0.3, ..params() };
        let places = places(params, &ground(0.0, friction));
        let speed = |frame: usize| 24.0 * (places[frame] - places[frame - 1]);
        (places[71] - places[47], speed(47) - speed(23))
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
