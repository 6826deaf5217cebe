//! Clusters: guarantees of the labels.

use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::subspace::{SkinningModes, cluster_tets, skinning_modes};
use jounce::{Error, Progress};
use jounce_tests::boxes::{box_mesh, row_of};

fn modes(mesh: &TetMesh) -> SkinningModes {
    let material =
        Material::new(Law::Arap, Field::Uniform(1.0), Field::Uniform(0.0), Field::Uniform(1.0)).unwrap();
    skinning_modes(mesh, &material, 8, None, None, &Progress::default()).unwrap()
}

fn labels(mesh: &TetMesh, modes: &SkinningModes, count: usize, seed: u64) -> Vec<i32> {
    cluster_tets(mesh, modes, count, seed, &Progress::default()).unwrap()
}

/// Number of face-connected parts of equal label.
fn connected_parts(mesh: &TetMesh, labels: &[i32]) -> usize {
    let shared = |a: &[u32; 4], b: &[u32; 4]| a.iter().filter(|v| b.contains(v)).count() == 3;
    let mut part: Vec<usize> = (0..labels.len()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for a in 0..labels.len() {
            for b in 0..a {
                if labels[a] == labels[b] && part[a] != part[b] && shared(&mesh.tets()[a], &mesh.tets()[b]) {
                    let (low, high) = (part[a].min(part[b]), part[a].max(part[b]));
                    part.iter_mut().filter(|p| **p == high).for_each(|p| *p = low);
                    changed = true;
                }
            }
        }
    }
    part.sort_unstable();
    part.dedup();
    part.len()
}

#[test]
fn labels_are_contiguous_and_each_cluster_hangs_together() {
    let mesh = box_mesh([8, 4, 2], 0.1);
    let labels = labels(&mesh, &modes(&mesh), 20, 0);
    let count = *labels.iter().max().unwrap() as usize + 1;
    assert!((10..=20).contains(&count), "{count}");
    assert!((0..count as i32).all(|label| labels.contains(&label)));
    assert_eq!(connected_parts(&mesh, &labels), count);
}

#[test]
fn separate_parts_never_share_a_cluster() {
    let mesh = row_of(&box_mesh([2, 2, 2], 0.1), 5, 1.0);
    let modes = modes(&mesh);
    for count in [1, 12] {
        let labels = labels(&mesh, &modes, count, 0);
        let found = *labels.iter().max().unwrap() as usize + 1;
        assert!((5..=12).contains(&found), "{found} clusters, {count} asked for");
        assert_eq!(connected_parts(&mesh, &labels), found);
    }
}

#[test]
fn the_same_seed_gives_the_same_labels_on_any_number_of_threads() {
    let mesh = box_mesh([16, 8, 8], 0.1);
    let modes = modes(&mesh);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| labels(&mesh, &modes, 10, 3))
    };
    assert_eq!(run(1), run(4));
    assert_ne!(run(1), labels(&mesh, &modes, 10, 4));
}

#[test]
fn more_clusters_than_tets_are_as_many_as_can_be() {
    let mesh = box_mesh([1, 1, 1], 1.0);
    let found = labels(&mesh, &modes(&mesh), 100, 0);
    assert!(found.iter().all(|label| (0..6).contains(label)));
}

#[test]
fn bad_input_is_refused() {
    let mesh = box_mesh([2, 2, 2], 1.0);
    let modes = modes(&mesh);
    let ask = |mesh, count| cluster_tets(mesh, &modes, count, 0, &Progress::default()).unwrap_err();
    assert!(matches!(ask(&mesh, 0), Error::Range { what: "count", .. }));
    assert!(matches!(ask(&box_mesh([1, 1, 1], 1.0), 3), Error::Shape { what: "modes", .. }));
}
