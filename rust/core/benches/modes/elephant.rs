//! Tet meshes of one shape in any size, and rigs with any number of bones for them.

use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::path::Path;

use jounce::mesh::TetMesh;
use jounce::rig::Rig;
use jounce::{Error, Result};

/// Number of bones per vertex.
const INFLUENCES: usize = 4;

/// Reads a binary Gmsh 2.2 file with one tet mesh; `None` if the file is missing or of another kind.
pub fn read(path: &Path) -> Option<TetMesh> {
    let bytes = std::fs::read(path).ok()?;
    let mut at = 0;
    let count = section(&bytes, &mut at, "$Nodes")?;
    let (nodes, rest) = bytes[at..].split_at_checked(28 * count)?;
    let real = |bytes: &[u8]| bytes.try_into().ok().map(f64::from_le_bytes);
    let point = |node: &[u8]| Some([real(&node[4..12])?, real(&node[12..20])?, real(&node[20..28])?]);
    let vertices = nodes.chunks_exact(28).map(point).collect::<Option<Vec<_>>>()?;
    let mut at = 0;
    let count = section(rest, &mut at, "$Elements")?;
    let whole = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_le_bytes);
    let mut tets = Vec::with_capacity(count);
    while tets.len() < count {
        let header = rest.get(at..at + 12)?;
        let [_, many, tags] = [0, 1, 2].map(|k| whole(&header[4 * k..][..4]));
        let (many, size) = (many? as usize, 4 * (1 + tags? as usize + 4));
        at += 12;
        for element in rest.get(at..at + many * size)?.chunks_exact(size) {
            let corners = [4, 3, 2, 1].map(|k| whole(&element[size - 4 * k..][..4]));
            tets.push([corners[0]? - 1, corners[1]? - 1, corners[2]? - 1, corners[3]? - 1]);
        }
        at += many * size;
    }
    TetMesh::new(vertices, tets).ok()
}

/// Moves past the next line equal to `title`, and returns the number on the line after it.
fn section(bytes: &[u8], at: &mut usize, title: &str) -> Option<usize> {
    *at = bytes.windows(title.len()).position(|window| window == title.as_bytes())?;
    *at += bytes[*at..].iter().position(|&byte| byte == b'\n')? + 1;
    let length = bytes[*at..].iter().position(|&byte| byte == b'\n')?;
    let count = std::str::from_utf8(&bytes[*at..*at + length]).ok()?.trim().parse().ok()?;
    *at += length + 1;
    Some(count)
}

/// Bisects the longest edge and all tets around it until there are `count` vertices.
pub fn refine(mesh: &TetMesh, count: usize) -> Result<TetMesh> {
    let (mut vertices, mut tets) = (mesh.vertices().to_vec(), mesh.tets().to_vec());
    let mut around: HashMap<[u32; 2], BTreeSet<usize>> = HashMap::new();
    let mut longest = BinaryHeap::new();
    let edges = |tet: [u32; 4]| {
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|(a, b)| {
            let (a, b): (u32, u32) = (tet[a], tet[b]);
            [a.min(b), a.max(b)]
        })
    };
    let length = |vertices: &[[f64; 3]], [a, b]: [u32; 2]| {
        let (a, b) = (vertices[a as usize], vertices[b as usize]);
        // Positive floating-point numbers sort like their bits.
        (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().to_bits()
    };
    let mut fresh: Vec<usize> = (0..tets.len()).collect();
    loop {
        for index in fresh.drain(..) {
            for edge in edges(tets[index]) {
                let tets = around.entry(edge).or_default();
                if tets.is_empty() {
                    longest.push((length(&vertices, edge), edge));
                }
                tets.insert(index);
            }
        }
        if vertices.len() >= count {
            return TetMesh::new(vertices, tets);
        }
        let Some((_, [a, b])) = longest.pop() else { return Err(Error::Empty { what: "tets" }) };
        let halved = around.remove(&[a, b]).unwrap_or_default();
        if halved.is_empty() {
            continue;
        }
        let middle = vertices.len() as u32;
        let (p, q) = (vertices[a as usize], vertices[b as usize]);
        vertices.push([0, 1, 2].map(|k| 0.5 * (p[k] + q[k])));
        for index in halved {
            for edge in edges(tets[index]) {
                around.get_mut(&edge).map(|tets| tets.remove(&index));
            }
            let swap = |from| tets[index].map(|v| if v == from { middle } else { v });
            let halves = [swap(a), swap(b)];
            tets[index] = halves[0];
            tets.push(halves[1]);
            fresh.extend([index, tets.len() - 1]);
        }
    }
}

/// Weights for bones spread evenly over the body, with each vertex bound to the nearest ones; n x bones in
/// C order.
pub fn weights(mesh: &TetMesh, bones: usize) -> Vec<f64> {
    let square = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>();
    let vertices = mesh.vertices();
    let mut centres = vec![vertices[0]];
    let mut nearest: Vec<f64> = vertices.iter().map(|&v| square(v, centres[0])).collect();
    while centres.len() < bones {
        let far = (0..nearest.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b])).unwrap_or(0);
        centres.push(vertices[far]);
        nearest.iter_mut().zip(vertices).for_each(|(d, &v)| *d = d.min(square(v, vertices[far])));
    }
    let mut weights = vec![0.0; vertices.len() * bones];
    for (row, &vertex) in weights.chunks_exact_mut(bones).zip(vertices) {
        let mut distances: Vec<(f64, usize)> =
            centres.iter().enumerate().map(|(bone, &centre)| (square(vertex, centre).sqrt(), bone)).collect();
        distances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let reach = distances.get(INFLUENCES).map_or(f64::INFINITY, |d| d.0);
        let share = |d: f64| if reach.is_finite() { (1.0 - d / reach).powi(2) } else { 1.0 / (1.0 + d) };
        let total: f64 = distances.iter().take(INFLUENCES).map(|d| share(d.0)).sum();
        for &(distance, bone) in distances.iter().take(INFLUENCES) {
            row[bone] = share(distance) / total;
        }
    }
    weights
}

/// Rig with [`weights`].
pub fn rig(mesh: &TetMesh, bones: usize) -> Result<Rig> {
    Rig::new(mesh.vertices().len(), bones, &weights(mesh, bones))
}
