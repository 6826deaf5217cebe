//! Splitting of labelled tets into face-connected parts.

use nalgebra::Vector3;

use crate::math::Sets;
use crate::mesh::TetMesh;

/// Labels of face-connected parts, numbered from 0 by their first tet.
///
/// The largest part of each label stays. The smallest of the other parts are merged into the neighbour with
/// the largest shared area, until at most `count` parts are left or none of them has a neighbour.
pub(super) fn connected_parts(mesh: &TetMesh, labels: &[u32], count: usize) -> Vec<i32> {
    let faces = shared_faces(mesh);
    let mut sets = Sets::new(labels.len());
    for face in faces.iter().filter(|f| labels[f.tets[0] as usize] == labels[f.tets[1] as usize]) {
        sets.unite(face.tets[0], face.tets[1]);
    }
    merge_small(mesh, labels, count, &faces, &mut sets);
    let mut numbers = vec![-1; labels.len()];
    let mut next = 0;
    (0..labels.len() as u32)
        .map(|tet| {
            let number = &mut numbers[sets.root(tet) as usize];
            if *number < 0 {
                *number = next;
                next += 1;
            }
            *number
        })
        .collect()
}

/// A triangle shared by two tets.
struct Face {
    tets: [u32; 2],
    corners: [u32; 3],
}

fn shared_faces(mesh: &TetMesh) -> Vec<Face> {
    let sides = mesh.sides();
    let pairs = sides.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    pairs.map(|pair| Face { tets: [pair[0].1[0], pair[1].1[0]], corners: pair[0].0 }).collect()
}

fn merge_small(mesh: &TetMesh, labels: &[u32], count: usize, faces: &[Face], sets: &mut Sets) {
    let mut volume = vec![0.0; labels.len()];
    for (tet, v) in mesh.volumes().iter().enumerate() {
        volume[sets.root(tet as u32) as usize] += v;
    }
    let mut surplus = volume.iter().filter(|v| **v > 0.0).count().saturating_sub(count);
    let mut small = split_off(labels, &volume);
    small.sort_by(|&a, &b| volume[a as usize].total_cmp(&volume[b as usize]).then(a.cmp(&b)));
    let mut borders: Vec<(u32, u32, f64)> = Vec::new();
    for face in faces {
        let [a, b] = face.tets.map(|tet| sets.root(tet));
        if a != b {
            let area = area(mesh, face.corners);
            borders.extend([(a, b, area), (b, a, area)]);
        }
    }
    borders.sort_by_key(|border| (border.0, border.1));
    for part in small {
        if surplus == 0 {
            break;
        }
        let first = borders.partition_point(|border| border.0 < part);
        let own = borders[first..].iter().take_while(|border| border.0 == part);
        if let Some(neighbour) = widest(own, sets, part) {
            sets.unite(part, neighbour);
            surplus -= 1;
        }
    }
}

/// All parts except the largest of each label.
fn split_off(labels: &[u32], volume: &[f64]) -> Vec<u32> {
    let parts = || (0..labels.len()).filter(|&part| volume[part] > 0.0);
    let labels_end = labels.iter().max().map_or(0, |&l| l as usize + 1);
    let mut largest: Vec<Option<usize>> = vec![None; labels_end];
    for part in parts() {
        let best = &mut largest[labels[part] as usize];
        if best.is_none_or(|best| volume[part] > volume[best]) {
            *best = Some(part);
        }
    }
    parts().filter(|&part| largest[labels[part] as usize] != Some(part)).map(|part| part as u32).collect()
}

fn widest<'a>(borders: impl Iterator<Item = &'a (u32, u32, f64)>, sets: &mut Sets, part: u32) -> Option<u32> {
    let own = sets.root(part);
    let mut areas: Vec<(u32, f64)> = Vec::new();
    for &(_, neighbour, area) in borders {
        let neighbour = sets.root(neighbour);
        if neighbour != own {
            match areas.iter_mut().find(|(set, _)| *set == neighbour) {
                Some((_, sum)) => *sum += area,
                None => areas.push((neighbour, area)),
            }
        }
    }
    areas.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a }).map(|(set, _)| set)
}

fn area(mesh: &TetMesh, corners: [u32; 3]) -> f64 {
    let [a, b, c] = corners.map(|v| Vector3::from(mesh.vertices()[v as usize]));
    0.5 * (b - a).cross(&(c - a)).norm()
}
