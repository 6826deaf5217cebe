//! Precomputation on the mesh: products with the basis, cluster gradients, diagonalisation.

use faer::Mat;

use super::body::{Body, Products};
use super::clusters::{ClusterMeans, Clusters};
use super::cubature;
use super::data::{Extras, SkinningData};
use super::stitches::StitchRows;
use super::stretch_places::StretchPlaces;
use crate::Result;
use crate::material::Material;
use crate::math::dense::diagonal::turned;
use crate::math::dense::product;
use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::rig::Rig;
use crate::subspace::SkinningModes;

/// Reduces a body.
pub(super) fn reduce(
    mesh: &TetMesh,
    material: &Material,
    modes: &SkinningModes,
    labels: &[i32],
    rig: Option<&Rig>,
    extras: &Extras<'_>,
) -> Result<SkinningData> {
    material.check_reducible()?;
    let clusters = Clusters::new(mesh, labels)?;
    let body = Body::checked(mesh, material, modes, rig, extras.strength)?;
    extras.cubature.map_or(Ok(()), |cubature| cubature.check(mesh))?;
    let sampled = extras.cubature.map(Clusters::of_cubature);
    let gradients = sampled.as_ref().unwrap_or(&clusters).gradients(&body, material);
    let centers = clusters.centers(&body, material);
    let mut products = body.products();
    let stitches = stitch_rows(&body, extras.stitches)?;
    let pull = stitches.as_ref().map(StitchRows::quadratic);
    let (basis, spectrum) = match &sampled {
        None => {
            pull.iter().for_each(|pull| products.stiffness += pull);
            body.diagonalise(material, &products.mass, &products.stiffness)?
        }
        Some(_) => {
            let twists = cubature::elements::twists(&body, material);
            let exact = body.diagonalise(material, &products.mass, &products.stiffness)?;
            products.diagonalise_sampled(exact, &gradients, twists.as_ref(), pull.as_ref())?
        }
    };
    let rig_spread = products.rig_energy_outside(&gradients, sampled.is_some());
    let reduction = product(basis.transpose(), products.mass.as_ref());
    let mut data = SkinningData {
        mesh: mesh.clone(),
        bones: rig.map_or(0, Rig::bone_count),
        mass: body.mass.iter().sum(),
        reduction,
        uniform: product(basis.transpose(), products.uniform.as_ref()).col_as_slice(0).to_vec(),
        rig_mass: product(basis.transpose(), products.rig_mass.as_ref()),
        rig_stiffness: product(basis.transpose(), products.rig_stiffness.as_ref()),
        rig_spread,
        cluster_basis: product(gradients.modes.as_ref(), basis.as_ref()),
        cluster_rig: gradients.rig,
        center_basis: product(centers.modes.as_ref(), basis.as_ref()),
        center_rig: centers.rig,
        cluster_masses: match &sampled {
            None => centers.weights.clone(),
            Some(sampled) => sampled.masses(mesh, material),
        },
        cluster_weights: gradients.weights,
        cluster_volumes: sampled.as_ref().unwrap_or(&clusters).volumes(mesh, material),
        cubature_tets: extras.cubature.map_or_else(Vec::new, |cubature| cubature.tets.clone()),
        center_masses: centers.weights,
        stretch: StretchPlaces::new(&body, &basis, &spectrum),
        weights: body.weights.clone(),
        eigenvalues: modes.eigenvalues.clone(),
        stitches: stitches.map(|stitches| stitches.reduce(&basis)),
        basis,
        spectrum,
        damping: Vec::new(),
    };
    data.damping = body.damping(material, &data)?;
    Ok(data)
}

fn stitch_rows(body: &Body<'_>, stitches: Option<&Stitches>) -> Result<Option<StitchRows>> {
    let Some(stitches) = stitches.filter(|stitches| !stitches.is_empty()) else { return Ok(None) };
    stitches.check_vertices(body.points.len())?;
    Ok(Some(StitchRows::new(body, stitches)))
}

impl Products {
    /// Phi and the spectrum of a body with sampled forces, from the exact ones, with the quadratic part of
    /// stitches; `B'LJ` is reduced to its sampled part.
    fn diagonalise_sampled(
        &mut self,
        (exact, spectrum): (Mat<f64>, Vec<f64>),
        gradients: &ClusterMeans,
        twists: Option<&Mat<f64>>,
        pull: Option<&Mat<f64>>,
    ) -> Result<(Mat<f64>, Vec<f64>)> {
        let seen = product(gradients.modes.as_ref(), exact.as_ref());
        let reduced =
            |form: &Mat<f64>| product(exact.transpose(), product(form.as_ref(), exact.as_ref()).as_ref());
        let twists = twists.map(reduced);
        let twists = twists.as_ref().map(Mat::as_ref);
        let mut stiffness = cubature::quadratic(&spectrum, twists, seen.as_ref(), &gradients.weights)?;
        if let Some(pull) = pull {
            stiffness += reduced(pull);
        }
        self.rig_stiffness = product(gradients.modes.transpose(), gradients.stiff_rig().as_ref());
        turned(&exact, &stiffness)
    }

    /// Elastic energy of the rig outside of the gradients; zero with samples.
    fn rig_energy_outside(&self, gradients: &ClusterMeans, sampled: bool) -> Mat<f64> {
        if sampled {
            return Mat::zeros(self.rig_energy.nrows(), self.rig_energy.ncols());
        }
        &self.rig_energy - product(gradients.rig.transpose(), gradients.stiff_rig().as_ref())
    }
}
