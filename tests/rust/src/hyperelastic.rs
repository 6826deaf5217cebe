//! Bars of hyperelastic flesh, and their incremental energy summed tet by tet with the scalar form of the
//! laws.

use jounce::Progress;
use jounce::inputs::{Minimiser, SimulationParams};
use jounce::material::{Energy, Field, Law, Material, PrincipalStretch};
use jounce::mesh::TetMesh;
use jounce::model::full_space::{FullSpaceModel, FullSpaceStepper};
use jounce::operators::{gradients, lumped_mass};
use jounce::subspace::Restraint;
use nalgebra::{Matrix3, Rotation3, Vector3};

/// Density, kg/m^3.
pub const DENSITY: f64 = 1000.0;
/// Duration of a step, seconds.
pub const H: f64 = 1.0 / 30.0;

/// Settings of a step that ends after some iterations or below a tolerance; the rest shape is the bind
/// shape.
pub fn params(iterations: u32, tolerance: f64) -> SimulationParams {
    SimulationParams {
        dt: H,
        max_iterations: iterations,
        tolerance,
        pose_rest: 0.0,
        ..SimulationParams::default()
    }
}

/// Settings of a step of exactly so many iterations by a minimiser.
pub fn params_of(minimiser: Minimiser, iterations: u32) -> SimulationParams {
    SimulationParams { minimiser, ..params(iterations, 0.0) }
}

/// Ignores the progress of a step.
pub fn silent(_: u32, _: f64) -> jounce::Result<()> {
    Ok(())
}

/// Starts a body at rest in given positions.
pub fn start(stepper: &mut FullSpaceStepper, flesh: &Flesh, x: &[[f64; 3]]) {
    stepper.reset(flesh.mesh.vertices(), &apart(x, flesh.mesh.vertices())).expect("places that are allowed");
}

/// A mesh with one law.
pub struct Flesh {
    /// The mesh.
    pub mesh: TetMesh,
    /// The law.
    pub law: PrincipalStretch,
}

impl Flesh {
    /// The material, of which only the density matters.
    pub fn material(&self) -> Material {
        Material::new(Law::Arap, Field::Uniform(1.0), Field::Uniform(0.0), Field::Uniform(DENSITY))
            .expect("a valid material")
    }

    /// The model, restrained or free.
    pub fn model(&self, restraint: &Restraint<'_>) -> FullSpaceModel {
        let laws = vec![self.law.clone(); self.mesh.tets().len()];
        FullSpaceModel::new(&self.mesh, &self.material(), &laws, restraint, &Progress::default())
            .expect("a valid body")
    }

    /// A stepper of a free body.
    pub fn free(&self) -> FullSpaceStepper {
        FullSpaceStepper::new(self.model(&Restraint::default()).into())
    }

    /// A stepper of a body pinned at the vertices with the smallest x.
    pub fn hung(&self) -> FullSpaceStepper {
        let pinned = self.pinned();
        let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
        FullSpaceStepper::new(self.model(&restraint).into())
    }

    /// The vertices with the smallest x.
    pub fn pinned(&self) -> Vec<bool> {
        let least = self.mesh.vertices().iter().map(|v| v[0]).fold(f64::INFINITY, f64::min);
        self.mesh.vertices().iter().map(|v| v[0] == least).collect()
    }

    /// Positions with the mesh twisted about x, up to `angle` at its far end.
    pub fn twisted(&self, angle: f64) -> Vec<[f64; 3]> {
        let length = self.mesh.vertices().iter().map(|v| v[0]).fold(0.0, f64::max);
        let turn = |v: &[f64; 3]| {
            let about = Vector3::new(0.0, 0.1, 0.1);
            let rotation = Rotation3::from_axis_angle(&Vector3::x_axis(), angle * v[0] / length);
            (rotation * (Vector3::from(*v) - about) + about).into()
        };
        self.mesh.vertices().iter().map(turn).collect()
    }

    /// Deformation gradient of each tet.
    pub fn deformations(&self, x: &[[f64; 3]]) -> Vec<Matrix3<f64>> {
        let of = |(tet, hats): (&[u32; 4], [[f64; 3]; 4])| {
            let terms = tet.iter().zip(hats);
            terms.map(|(&v, hat)| Vector3::from(x[v as usize]) * Vector3::from(hat).transpose()).sum()
        };
        self.mesh.tets().iter().zip(gradients(&self.mesh)).map(of).collect()
    }

    /// Number of inverted tets.
    pub fn inverted(&self, x: &[[f64; 3]]) -> usize {
        self.deformations(x).iter().filter(|f| f.determinant() <= 0.0).count()
    }

    /// Elastic energy, J, and its gradient, N.
    pub fn elastic(&self, x: &[[f64; 3]]) -> (f64, Vec<[f64; 3]>) {
        let mut forces = vec![[0.0; 3]; x.len()];
        let mut energy = 0.0;
        let hats = gradients(&self.mesh);
        for (t, f) in self.deformations(x).iter().enumerate() {
            energy += self.mesh.volumes()[t] * self.law.density(f);
            let stress = self.mesh.volumes()[t] * self.law.stress(f);
            for (&v, hat) in self.mesh.tets()[t].iter().zip(hats[t]) {
                let force = stress * Vector3::from(hat);
                (0..3).for_each(|c| forces[v as usize][c] += force[c]);
            }
        }
        (energy, forces)
    }

    /// `|x - y|_M^2 / (2 h^2) + E(x)`, J, and its gradient, N.
    pub fn incremental(&self, x: &[[f64; 3]], y: &[[f64; 3]], h: f64) -> (f64, Vec<[f64; 3]>) {
        let (mut energy, mut gradient) = self.elastic(x);
        for (v, mass) in lumped_mass(&self.mesh, &self.material()).into_iter().enumerate() {
            for c in 0..3 {
                let apart = x[v][c] - y[v][c];
                energy += 0.5 * mass / (h * h) * apart * apart;
                gradient[v][c] += mass / (h * h) * apart;
            }
        }
        (energy, gradient)
    }
}

/// Largest length of a row.
pub fn longest(rows: &[[f64; 3]]) -> f64 {
    rows.iter().map(|row| Vector3::from(*row).norm()).fold(0.0, f64::max)
}

/// `a - b`.
pub fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> Vec<[f64; 3]> {
    a.iter().zip(b).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect()
}
