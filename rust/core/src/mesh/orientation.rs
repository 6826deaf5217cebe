//! Consistent orientation of an artist's triangles, for winding numbers over all parts.

use std::collections::{HashMap, HashSet};

use nalgebra::Vector3;

use super::SurfaceMesh;

/// Ratio of the summed normals to the area below which a part encloses a volume; other parts are sheets.
const SHEET: f64 = 0.5;

/// Distinct triangles of a surface, with every part facing outwards as far as an outside exists.
///
/// Coincident points are merged, to ignore seams of a render mesh. Orientations are made consistent across
/// each edge of exactly two triangles. The resulting connected part is oriented by the sign of its volume
/// if it encloses one; a sheet keeps the orientation of most of its area. Sheets are flipped if most of the
/// enclosing parts had to be flipped. A cavity with a surface of its own is therefore filled.
pub(super) fn oriented_triangles(surface: &SurfaceMesh) -> Vec<[Vector3<f64>; 3]> {
    let welded = weld(surface.points());
    let mut seen = HashSet::with_capacity(surface.triangles().len());
    let mut corners: Vec<[u32; 3]> = Vec::with_capacity(surface.triangles().len());
    for triangle in surface.triangles() {
        let [a, b, c] = triangle.map(|v| welded[v as usize]);
        let mut key = [a, b, c];
        key.sort_unstable();
        if a != b && b != c && c != a && seen.insert(key) {
            corners.push([a, b, c]);
        }
    }
    let parts = parts(&corners, &neighbours(&corners), surface.points());
    let turn_sheets = most_shells_turn(&parts);
    let mut triangles = Vec::with_capacity(corners.len());
    for part in &parts {
        let turn = if part.is_sheet() { (part.kept < 0.0) != turn_sheets } else { part.volume < 0.0 };
        triangles.extend(part.triangles.iter().map(|&(t, flipped)| {
            let [a, b, c] = corners[t as usize].map(|v| surface.points()[v as usize].into());
            if flipped != turn { [a, c, b] } else { [a, b, c] }
        }));
    }
    triangles
}

/// For each point the first coincident point.
fn weld(points: &[[f64; 3]]) -> Vec<u32> {
    let mut first = HashMap::with_capacity(points.len());
    // Adding zero makes -0 and 0 the same bits.
    let key = |p: &[f64; 3]| p.map(|x| (x + 0.0).to_bits());
    points.iter().zip(0..).map(|(p, i)| *first.entry(key(p)).or_insert(i)).collect()
}

/// For each edge the neighbouring triangle, if the edge has exactly two, and `true` if their orientations
/// disagree.
fn neighbours(corners: &[[u32; 3]]) -> Vec<[Option<(u32, bool)>; 3]> {
    let mut edges: Vec<([u32; 2], u32, u8, bool)> = Vec::with_capacity(3 * corners.len());
    for (t, triangle) in corners.iter().enumerate() {
        for side in 0..3 {
            let (a, b) = (triangle[side], triangle[(side + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], t as u32, side as u8, a < b));
        }
    }
    edges.sort_unstable();
    let mut across = vec![[None; 3]; corners.len()];
    for pair in edges.chunk_by(|x, y| x.0 == y.0) {
        if let [(_, t, side, forward), (_, other, other_side, other_forward)] = *pair {
            let disagree = forward == other_forward;
            across[t as usize][side as usize] = Some((other, disagree));
            across[other as usize][other_side as usize] = Some((t, disagree));
        }
    }
    across
}

/// A component of triangles connected by edges; each has a flag for flipping to a consistent orientation.
struct Part {
    triangles: Vec<(u32, bool)>,
    area: f64,
    /// Area with unchanged orientation minus flipped area.
    kept: f64,
    vector_area: Vector3<f64>,
    /// Volume of the cones from the part's centroid.
    volume: f64,
}

impl Part {
    fn new(triangles: Vec<(u32, bool)>, corners: &[[u32; 3]], points: &[[f64; 3]]) -> Self {
        let measured = |&(t, flipped): &(u32, bool)| {
            let [a, b, c]: [Vector3<f64>; 3] = corners[t as usize].map(|v| points[v as usize].into());
            let vector_area = (b - a).cross(&(c - a)) * if flipped { -0.5 } else { 0.5 };
            ((a + b + c) / 3.0, vector_area, flipped)
        };
        let (mut area, mut kept) = (0.0, 0.0);
        let (mut vector_area, mut moment) = (Vector3::zeros(), Vector3::zeros());
        for (centre, normal, flipped) in triangles.iter().map(measured) {
            area += normal.norm();
            kept += if flipped { -normal.norm() } else { normal.norm() };
            vector_area += normal;
            moment += centre * normal.norm();
        }
        let centroid = if area > 0.0 { moment / area } else { moment };
        let volume = triangles.iter().map(measured).map(|(c, n, _)| (c - centroid).dot(&n) / 3.0).sum();
        Self { triangles, area, kept, vector_area, volume }
    }

    fn is_sheet(&self) -> bool {
        self.vector_area.norm() >= SHEET * self.area
    }
}

fn parts(corners: &[[u32; 3]], across: &[[Option<(u32, bool)>; 3]], points: &[[f64; 3]]) -> Vec<Part> {
    let mut reached = vec![false; corners.len()];
    let mut parts = Vec::new();
    for seed in 0..corners.len() {
        if reached[seed] {
            continue;
        }
        reached[seed] = true;
        let mut triangles = vec![(seed as u32, false)];
        let mut next = 0;
        while let Some(&(t, flipped)) = triangles.get(next) {
            next += 1;
            for (other, disagree) in across[t as usize].into_iter().flatten() {
                if !std::mem::replace(&mut reached[other as usize], true) {
                    triangles.push((other, flipped != disagree));
                }
            }
        }
        parts.push(Part::new(triangles, corners, points));
    }
    parts
}

/// `true` if most of the enclosing parts' area faces inwards in the artist's orientation.
fn most_shells_turn(parts: &[Part]) -> bool {
    let outwards = |part: &Part| if part.volume < 0.0 { -part.kept } else { part.kept };
    parts.iter().filter(|part| !part.is_sheet()).map(outwards).sum::<f64>() < 0.0
}
