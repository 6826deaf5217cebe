//! Elements of a mesh for elastic energies and stretch limits.

use super::elements::{Element, ElementLaw};
use crate::material::PrincipalStretch;
use crate::mesh::{FleshCell, TetMesh};
use crate::operators::gradients;
use crate::{Error, Result};

/// Stiffness of the limit relative to the metric's. A larger one hardly improves the limit, at many more
/// iterations.
const STIFFNESS: f64 = 0.25;

/// Tets or cells of a mesh with their laws; vertex i is row `place[i]`.
pub(crate) fn elements_of(
    mesh: &TetMesh,
    energies: &[PrincipalStretch],
    place: &[u32],
) -> Result<(Vec<PrincipalStretch>, Vec<Element>)> {
    let rows = |corners: &[u32]| corners.iter().map(|&vertex| place[vertex as usize]).collect();
    if mesh.cells().is_empty() {
        let hats = gradients(mesh);
        let element = |t: usize| Element {
            corners: rows(&mesh.tets()[t]),
            gradients: hats[t].to_vec(),
            volume: mesh.volumes()[t],
            energy: energies[t].clone(),
        };
        return Ok((energies.to_vec(), (0..mesh.tets().len()).map(element).collect()));
    }
    let split = mesh.tets_per_cell();
    let law = |c: usize| {
        let tets = split * c..split * (c + 1);
        let laws = tets.map(|t| (&energies[t], mesh.volumes()[t]));
        let expected = "one law in each cell of the mesh";
        PrincipalStretch::mean(laws).ok_or(Error::Range { what: "energies", expected, got: c as f64 })
    };
    let laws: Vec<PrincipalStretch> = (0..mesh.cells().len()).map(law).collect::<Result<_>>()?;
    let element = |(c, cell): (usize, &FleshCell)| Element {
        corners: rows(&cell.corners),
        gradients: cell.gradients().to_vec(),
        volume: mesh.volumes()[split * c..split * (c + 1)].iter().sum(),
        energy: laws[c].clone(),
    };
    let elements = mesh.cells().iter().enumerate().map(element).collect();
    Ok((laws, elements))
}

/// Limit law for flesh of a given elastic law.
pub(crate) fn limit_law(law: &PrincipalStretch) -> ElementLaw {
    ElementLaw::Limit(STIFFNESS * law.slope())
}

/// Some tets of a mesh, with the laws of their elements; vertex i is row `place[i]`.
pub(crate) fn tet_elements(
    mesh: &TetMesh,
    energies: &[PrincipalStretch],
    tets: &[u32],
    place: &[u32],
) -> Vec<Element> {
    let hats = gradients(mesh);
    let split = if mesh.cells().is_empty() { 1 } else { mesh.tets_per_cell() };
    let element = |&tet: &u32| {
        let t = tet as usize;
        Element {
            corners: mesh.tets()[t].iter().map(|&vertex| place[vertex as usize]).collect(),
            gradients: hats[t].to_vec(),
            volume: mesh.volumes()[t],
            energy: energies[t / split].clone(),
        }
    };
    tets.iter().map(element).collect()
}
