//! The same bar in every method.

use jounce::Progress;
use jounce::material::{Field, Law, Material};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::model::projective::ProjectiveModel;
use jounce::model::reduced::{LimitSamples, ReducedExtras, ReducedModel, Shot};
use jounce::model::skinning_modes::{Extras, SkinningModel};
use jounce::operators::Stitches;
use jounce::sampling::Cubature;
use jounce::subspace::{Handles, Restraint};

use crate::bodies::{Body, Transform, some_coefficients, swing, waves};

/// Models of every method and law for the same bar, including stitches and cubature.
pub fn models() -> Vec<Model> {
    let laws = [Law::Corotated, Law::NeoHookean];
    of_modes().into_iter().chain(laws.map(full_space)).chain(laws.map(in_displacements)).collect()
}

/// Models in skinning modes.
pub fn of_modes() -> Vec<Model> {
    let plain = Body::bars().iter().map(Body::model).collect::<Vec<_>>();
    let others = Body::bars();
    plain.into_iter().chain(others.iter().map(stitched)).chain(others.iter().map(sampled)).collect()
}

/// The full space, complementary to the rig.
fn full_space(law: Law) -> Model {
    let (body, material) = (Body::bar(), flesh(law));
    let restraint = Restraint { rig: Some(&body.rig), ..Restraint::default() };
    let extras = FullSpaceExtras { rig: Some(&body.rig), ..FullSpaceExtras::default() };
    let model = FullSpaceModel::of(&body.mesh, &material, &restraint, &extras, &Progress::default());
    Model::FullSpace(model.expect("a valid body").into())
}

fn flesh(law: Law) -> Material {
    let number = Field::Uniform;
    Material::new(law, number(2e4), number(0.3), number(1000.0)).expect("a valid body")
}

/// A reduced model whose displacements vanish at the left end, with cubature at few tets and with limits
/// everywhere.
pub fn in_displacements(law: Law) -> Model {
    let (body, material) = (Body::bar(), flesh(law));
    let basis = waves(&body.mesh, 26);
    let extras = ReducedExtras { rig: Some(&body.rig), ..ReducedExtras::default() };
    let progress = Progress::default();
    let model = ReducedModel::new(&body.mesh, &material, &basis, &extras, &progress).expect("a valid body");
    let coefficients: Vec<f64> = (0..6).flat_map(|f| some_coefficients(26, 4e-3 * f as f64)).collect();
    let poses: Vec<Transform> = (0..6).flat_map(|f| swing(f64::from(f) / 12.0)).collect();
    let shot = Shot { poses: &poses, coefficients: &coefficients };
    let cubature = model.train(&shot, (60, 0), &progress).expect("a valid body");
    let limited = model.sampled(&cubature).and_then(|model| model.limited(&LimitSamples::all(&body.mesh)));
    Model::Reduced(limited.expect("a valid body").into())
}

/// The bar without its rig, as a free body of jelly.
pub fn of_handles() -> Model {
    Model::Projective(with_handles(&Body::bar()).into())
}

/// The bar as jelly that hangs on its rig at the left end.
pub fn hung() -> Model {
    let body = Body::bar();
    let held: Vec<f64> = body.mesh.vertices().iter().map(|x| f64::from(x[0] < 1e-9)).collect();
    let model = with_handles(&body).attached(&body.rig, &held, 30.0);
    Model::Projective(model.expect("a valid body").into())
}

fn with_handles(body: &Body) -> ProjectiveModel {
    let (material, progress) = (flesh(Law::Arap), Progress::default());
    let handles = Handles::spread(&body.mesh, 9, 0, &progress).expect("a valid body");
    ProjectiveModel::new(&body.mesh, &material, &handles, &body.labels, &progress).expect("a valid body")
}

/// A model with few cubature tets, so that most of the body is not sampled.
fn sampled(body: &Body) -> Model {
    let (mesh, material, modes) = (&body.mesh, &body.material, &body.modes);
    let found = Cubature::train(mesh, material, modes, Some(&body.rig), (24, 0), &Progress::default());
    let extras = Extras { cubature: Some(&found.expect("a valid body")), ..Extras::default() };
    let model = SkinningModel::with_extras(mesh, material, modes, &body.labels, Some(&body.rig), &extras);
    Model::Skinning(model.expect("a valid body").into())
}

/// Springs across the bar, between points that the rig moves alike, so that a held pose stays unchanged.
fn stitched(body: &Body) -> Model {
    let (pairs, stiffness, gaps) = ([[2, 29], [14, 113], [42, 141]], [3e3, 1e4, 2e2], [1.0; 3]);
    let stitches = Stitches::between_vertices(&body.mesh, &pairs, &stiffness, &gaps).expect("a valid body");
    let extras = Extras { stitches: Some(&stitches), ..Extras::default() };
    let (modes, labels, rig) = (&body.modes, &body.labels, Some(&body.rig));
    let model = SkinningModel::with_extras(&body.mesh, &body.material, modes, labels, rig, &extras);
    Model::Skinning(model.expect("a valid body").into())
}
