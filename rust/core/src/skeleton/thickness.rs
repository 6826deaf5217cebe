//! How deep each vertex of a tet mesh lies inside of a body, and how thick the body is there.

use std::collections::HashMap;

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::Result;
use crate::mesh::{SurfaceMesh, TetMesh, WindingNumber, closest_points};
use crate::rig::Rig;

/// Tets that make up a cell of a lattice.
const TETS_A_CELL: f64 = 5.0;
/// Half of the diagonal of a cell of length 1: a ball is known to reach this much further than where it was looked for.
const HALF_DIAGONAL: f64 = 0.866;
/// Edges of a thick part are no thin parts: a ball counts where it comes as near as this, as a share of the radius from
/// which parts are thick at most.
const EDGE: f64 = 0.4;
/// Vertices on the outside are no more than this many tets from one inside.
const RINGS: usize = 2;
/// A ball that stands out of another by less than this share of a cell lies in it.
const INSIDE: f64 = 0.25;

/// Winding number from which a place is inside.
const WITHIN: f64 = 0.5;
/// How far beside a triangle is looked for the outside, as a share of a cell.
const BESIDE: f64 = 0.1;

/// Lengths in metres at the vertices of a tet mesh.
pub(super) struct Thickness {
    /// Distance to what of the surface bounds the body, n; 0 on the boundary of the mesh.
    pub(super) depth: Vec<f64>,
    /// Radius of the largest ball inside of the body that comes near the vertex, or near those inside that one on the
    /// outside hangs on, n.
    pub(super) radius: Vec<f64>,
    /// Radius of the largest ball inside of the body that reaches the vertex itself, n.
    reached: Vec<f64>,
    /// Edge of a cell that has as many tets as one of a lattice.
    pub(super) cell: f64,
}

/// How thick the flesh of a bone is, metres.
#[derive(Debug, Clone, Copy)]
pub(super) struct Radii {
    pub(super) median: f64,
    pub(super) largest: f64,
}

impl Thickness {
    /// thick: the radius from which parts are thick at most, metres.
    pub(super) fn new(mesh: &TetMesh, surface: &SurfaceMesh, thick: f64) -> Result<Self> {
        let count = mesh.vertices().len();
        let mut outer = vec![false; count];
        mesh.boundary_vertices().into_iter().for_each(|vertex| outer[vertex as usize] = true);
        // Balls are looked for at the vertices inside, and in the middle of tets with one of them.
        let inner: Vec<usize> = (0..count).filter(|&vertex| !outer[vertex]).collect();
        let tets = (0..mesh.tets().len()).filter(|&t| mesh.tets()[t].iter().any(|&v| !outer[v as usize]));
        let middle = |tet: usize| {
            let corners = mesh.corners(tet);
            std::array::from_fn(|axis| corners.iter().map(|corner| corner[axis]).sum::<f64>() / 4.0)
        };
        let mut centres: Vec<[f64; 3]> = inner.iter().map(|&vertex| mesh.vertices()[vertex]).collect();
        centres.extend(tets.map(middle));
        // The whole tets, whatever share of them is flesh.
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

    /// Where the body is thinner than this, n.
    pub(super) fn below(&self, limit: f64) -> Vec<bool> {
        self.radius.iter().map(|&radius| radius < limit).collect()
    }

    /// The median radius that reaches, and the largest that comes near, where a bone weighs more than a half, b; else 0.
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

/// The triangles with the outside on one of their sides: not skin below clothes, nor teeth. All where there are none.
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

/// The radius of the first ball, largest first, that comes as near to each point; 0 where none does.
fn covered(points: &[[f64; 3]], balls: &[(f64, [f64; 3])], (near, cell): (f64, f64)) -> Vec<f64> {
    let box_of = |place: [f64; 3]| place.map(|x| (x / cell).floor() as i64);
    let mut waiting: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    for (point, &place) in (0..).zip(points) {
        waiting.entry(box_of(place)).or_default().push(point);
    }
    let mut radii = vec![0.0; points.len()];
    let mut taken: Vec<(f64, [f64; 3])> = Vec::new();
    for &(radius, centre) in balls {
        // Most balls lie in one that touches the surface where they do.
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

/// What no ball reaches for sure, such as outer corners of cells, is as thick as what it shares a tet with.
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
