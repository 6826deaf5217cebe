//! Flesh on two bones, pinned at its left end, in the full space and in a reduced basis.

use jounce::Progress;
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::operators::lumped_mass;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{Basis, Restraint, Share, mass_pca};

use crate::bodies::Transform;
use crate::boxes::weights_along_x;

/// A mesh on two bones, pinned at its left end.
pub struct Limb {
    /// Mesh of the limb.
    pub mesh: TetMesh,
    /// Material of all tets.
    pub material: Material,
    /// Two bones.
    pub rig: Rig,
    /// Pinned vertices, n.
    pub pinned: Vec<bool>,
    /// Vertex masses, kg.
    pub mass: Vec<f64>,
}

impl Limb {
    /// A limb with the given law and Young's modulus, Pa.
    pub fn new(mesh: TetMesh, law: Law, young: f64) -> Self {
        Self::bulging(mesh, law, young, 0.3)
    }

    /// As [`Limb::new`], with the given Poisson's ratio.
    pub fn bulging(mesh: TetMesh, law: Law, young: f64, poisson: f64) -> Self {
        let number = Field::Uniform;
        let material = Material::new(law, number(young), number(poisson), number(1000.0)).unwrap();
        let left = mesh.vertices().iter().map(|x| x[0]).fold(f64::INFINITY, f64::min);
        let pinned = mesh.vertices().iter().map(|x| x[0] < left + 0.05).collect();
        let shifted = mesh.vertices().iter().map(|x| [x[0] - left, x[1], x[2]]).collect();
        let shifted = TetMesh::new(shifted, mesh.tets().to_vec()).unwrap();
        let rig = Rig::new(mesh.vertices().len(), 2, &weights_along_x(&shifted, 2)).unwrap();
        Self { mass: lumped_mass(&mesh, &material), mesh, material, rig, pinned }
    }

    /// The limb in the full space.
    pub fn full(&self) -> FullSpaceModel {
        let restraint = Restraint { pinned: Some(&self.pinned), ..Restraint::default() };
        let extras = FullSpaceExtras { rig: Some(&self.rig), ..FullSpaceExtras::default() };
        FullSpaceModel::of(&self.mesh, &self.material, &restraint, &extras, &Progress::default()).unwrap()
    }

    /// The limb in the displacements of a basis.
    pub fn reduced(&self, basis: &Basis, frequency: Option<f64>) -> ReducedModel {
        let extras = ReducedExtras { rig: Some(&self.rig), frequency, ..ReducedExtras::default() };
        ReducedModel::new(&self.mesh, &self.material, basis, &extras, &Progress::default()).unwrap()
    }

    /// Basis of all coordinates of all free vertices.
    pub fn everything(&self) -> Basis {
        let free: Vec<usize> = (0..3 * self.pinned.len()).filter(|i| !self.pinned[i / 3]).collect();
        let shapes: Vec<f64> = free
            .iter()
            .flat_map(|&own| (0..3 * self.pinned.len()).map(move |i| if i == own { 1.0 } else { 0.0 }))
            .collect();
        Basis::from_shapes(&shapes, free.len()).unwrap()
    }

    /// Displacements of a full-space shot, the model learnt from it, and the shot's coefficients.
    pub fn learnt(
        &self,
        count: usize,
        params: SimulationParams,
        poses: &[[Transform; 2]],
    ) -> (Vec<f64>, ReducedModel, Vec<f64>) {
        let full = self.full();
        let frequency = full.frequency();
        let [snapshots, _] = played(Model::FullSpace(full.into()), params, poses);
        let share = Share { count, ..Share::default() };
        let basis = mass_pca(&self.mesh, &self.material, &snapshots, share, &Progress::default()).unwrap();
        let model = self.reduced(&basis, Some(frequency));
        let coefficients = model.nearest(&snapshots).unwrap();
        (snapshots, model, coefficients)
    }

    /// Distance between displacements in the mass norm, relative to the second.
    pub fn error(&self, found: &[f64], right: &[f64]) -> f64 {
        let norm = |u: &dyn Fn(usize) -> f64| -> f64 {
            (0..right.len()).map(|i| self.mass[i / 3 % self.mass.len()] * u(i) * u(i)).sum::<f64>().sqrt()
        };
        norm(&|i| found[i] - right[i]) / norm(&|i| right[i])
    }
}

/// Displacements of all vertices.
pub fn displacement(sim: &Simulation) -> Vec<f64> {
    let projector = sim.model().projector(None).unwrap();
    let mut out = vec![0.0; 3 * projector.point_count()];
    projector.displacement(sim.coefficients(), &mut out).unwrap();
    out.into_iter().map(f64::from).collect()
}

/// Displacements of a shot, and its coefficients.
pub fn played(model: Model, params: SimulationParams, poses: &[[Transform; 2]]) -> [Vec<f64>; 2] {
    let mut sim = Simulation::new(model, params).unwrap();
    let mut found = [Vec::new(), Vec::new()];
    for pose in poses {
        sim.step(Some(pose)).unwrap();
        found[0].extend(displacement(&sim));
        found[1].extend_from_slice(sim.coefficients());
    }
    found
}
