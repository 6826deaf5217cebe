//! Depth of each vertex of a tet mesh inside of a body, and local thickness of the body.

use std::collections::HashMap;

use nalgebra::Vector3;

use crate::Result;
use crate::mesh::{SurfaceMesh, TetMesh, WindingNumber, closest_points};
use crate::parallel::*;
use crate::rig::Rig;

/// Number of tets in a cell of a lattice.
const TETS_A_CELL: f64 = 5.0;
/// Half of the diagonal of a unit cell: guaranteed extra reach of a ball around its sample point.
const HALF_DIAGONAL: f64 = 0.866;
/// Reach of a ball as a share of the smallest thick radius; keeps edges of thick parts from counting as
/// thin.
const EDGE: f64 = 0.4;
/// Largest distance in tets from an outer vertex to an inner one.
const RINGS: usize = 2;
/// Protrusion of a ball out of another, as a share of a cell, below which it counts as contained.
const INSIDE: f64 = 0.25;

/// Winding number from which on a place is inside.
const WITHIN: f64 = 0.5;
/// Distance from a triangle at which the outside is tested, as a share of a cell.
const BESIDE: f64 = 0.1;

/// Lengths in metres at the vertices of a tet mesh.
pub(super) struct Thickness {
    /// Distance to the bounding part of the surface, n; 0 on the boundary of the mesh.
    pub(super) depth: Vec<f64>,
    /// Radius of the largest inner ball near the vertex, or for an outer vertex near its inner neighbours,
    /// n.
    pub(super) radius: Vec<f64>,
    /// Radius of the largest inner ball that reaches the vertex itself, n.
    pub(super) reached: Vec<f64>,
    /// Edge of a cell with as many tets as a lattice cell.
    pub(super) cell: f64,
}

/// Thickness of the flesh of a bone, metres.
#[derive(Debug, Clone, Copy)]
pub(super) struct Radii {
    pub(super) median: f64,
    pub(super) largest: f64,
}

impl Thickness {
    /// thick: smallest radius that always counts as thick, metres.
    pub(super) fn new(mesh: &TetMesh, surface: &SurfaceMesh, thick: f64) -> Result<Self> {
        let count = mesh.vertices().len();
        let mut outer = vec![false; count];
        mesh.boundary_vertices().into_iter().for_each(|vertex| outer[vertex as usize] = true);
        // Balls are centred at inner vertices, and at the centroids of tets with an inner vertex.
        let inner: Vec<usize> = (0..count).filter(|&vertex| !outer[vertex]).collect();
        let tets = (0..mesh.tets().len()).filter(|&t| mesh.tets()[t].iter().any(|&v| !outer[v as usize]));
        let middle = |tet: usize| {
            let corners = mesh.corners(tet);
            std::array::from_fn(|axis| corners.iter().map(|corner| corner[axis]).sum::<f64>() / 4.0)
        };
        let mut centres: Vec<[f64; 3]> = inner.iter().map(|&vertex| mesh.vertices()[vertex]).collect();
        centres.extend(tets.map(middle));
        // Volume of whole tets, independent of their flesh share.
        let whole: f64 = mesh.volumes().iter().zip(mesh.solid()).map(|(volume, solid)| volume / solid).sum();
        let cell = (TETS_A_CELL * whole / mesh.tets().len() as f64).cbrt();
        let skin = skin(surface, cell)?;
        let mut balls: Vec<(f64, [f64; 3])> =
            closest_points(&skin, &centres)?.iter().map(|closest| closest.distance).zip(centres).collect();
        let mut depth = vec![0.0; count];
        inner.iter().zip(&balls).for_each(|(&vertex, ball)| depth[vertex] = ball.0);
        balls.sort_by(|a, b| b.0.total_cmp(&a.0));
        let largest = balls.first().map_or(0.0, |ball| ball.0);
        let near = (HALF_DIAGONAL * cell).max(EDGE * largest.min(thick));
        let mut radius = vec![0.0; count];
        let places: Vec<[f64; 3]> = inner.iter().map(|&vertex| mesh.vertices()[vertex]).collect();
        let found = covered(&places, &balls, (near, cell));
        inner.iter().zip(found).for_each(|(&vertex, found)| radius[vertex] = found);
        let radius = (0..RINGS).fold(radius, |radius, _| completed(mesh, radius));
        let reached = completed(mesh, covered(mesh.vertices(), &balls, (HALF_DIAGONAL * cell, cell)));
        Ok(Self { depth, radius, reached, cell })
    }

    /// `true` for vertices in parts thinner than a limit, n.
    pub(super) fn below(&self, limit: f64) -> Vec<bool> {
        self.radius.iter().map(|&radius| radius < limit).collect()
    }

    /// Median reaching radius and largest near radius over the vertices with more than half of their weight
    /// on a bone, b; else 0.
    pub(super) fn of_bones(&self, rig: &Rig) -> Vec<Radii> {
        let of_bone = |bone: usize| {
            let own = rig.bone(bone).iter().filter(|(_, weight)| *weight > 0.5);
            let largest = own.clone().map(|&(v, _)| self.radius[v as usize]).fold(0.0, f64::max);
            let mut reached: Vec<f64> = own.map(|&(vertex, _)| self.reached[vertex as usize]).collect();
            reached.sort_by(f64::total_cmp);
            Radii { median: reached.get(reached.len() / 2).copied().unwrap_or(0.0), largest }
        };
        (0..rig.bone_count()).map(of_bone).collect()
    }
}

/// Triangles with the outside on one of their sides: no skin below clothes, and no teeth. All triangles if
/// there are none.
fn skin(surface: &SurfaceMesh, cell: f64) -> Result<SurfaceMesh> {
    let winding = WindingNumber::new(surface);
    let is_skin = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|point| Vector3::from(surface.points()[point as usize]));
        let aside =
            (b - a).cross(&(c - a)).try_normalize(0.0).map_or(Vector3::zeros(), |n| n * (BESIDE * cell));
        let middle = (a + b + c) / 3.0;
        [middle + aside, middle - aside].iter().any(|&place| winding.at(place.into()) < WITHIN)
    };
    let skin: Vec<[u32; 3]> = surface.triangles().par_iter().filter(|t| is_skin(t)).copied().collect();
    if skin.is_empty() {
        return Ok(surface.clone());
    }
    SurfaceMesh::new(surface.points().to_vec(), skin)
}

/// Radius of the first ball, largest first, within reach of each point; 0 without one.
fn covered(points: &[[f64; 3]], balls: &[(f64, [f64; 3])], (near, cell): (f64, f64)) -> Vec<f64> {
    let box_of = |place: [f64; 3]| place.map(|x| (x / cell).floor() as i64);
    let mut waiting: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    for (point, &place) in (0..).zip(points) {
        waiting.entry(box_of(place)).or_default().push(point);
    }
    let mut radii = vec![0.0; points.len()];
    let mut taken: Vec<(f64, [f64; 3])> = Vec::new();
    for &(radius, centre) in balls {
        // Most balls are contained in a larger ball that touches the surface at the same place.
        let lies_in = |larger: &(f64, [f64; 3])| {
            let room = larger.0 + INSIDE * cell - radius;
            squared_distance(larger.1, centre) <= room * room
        };
        if taken.iter().any(lies_in) {
            continue;
        }
        taken.push((radius, centre));
        let reach = radius + near;
        let (low, high) = (box_of(centre.map(|x| x - reach)), box_of(centre.map(|x| x + reach)));
        for (i, j) in (low[0]..=high[0]).flat_map(|i| (low[1]..=high[1]).map(move |j| (i, j))) {
            for k in low[2]..=high[2] {
                let Some(points_here) = waiting.get_mut(&[i, j, k]) else { continue };
                points_here.retain(|&point| {
                    let reached = squared_distance(points[point as usize], centre) <= reach * reach;
                    if reached {
                        radii[point as usize] = radius;
                    }
                    !reached
                });
            }
        }
    }
    radii
}

/// Vertices out of guaranteed reach, such as outer corners of cells, get the largest radius among their
/// tets.
fn completed(mesh: &TetMesh, radii: Vec<f64>) -> Vec<f64> {
    let mut complete = radii.clone();
    for tet in mesh.tets() {
        let most = tet.iter().map(|&vertex| radii[vertex as usize]).fold(0.0, f64::max);
        for &vertex in tet.iter().filter(|&&vertex| radii[vertex as usize] == 0.0) {
            let radius = &mut complete[vertex as usize];
            *radius = radius.max(most);
        }
    }
    complete
}

fn squared_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum()
}
