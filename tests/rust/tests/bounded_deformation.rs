//! Bounded deformation trees: spheres contain their vertices at any coordinates.

use jounce::Progress;
use jounce::material::Law;
use jounce::mesh::TetMesh;
use jounce::potentials::contact::Shape;
use jounce::subspace::{BoundedDeformationTree, LinearModes};
use jounce_tests::surfaces::torus;
use jounce_tests::trees::{problem, soft, stick};
use nalgebra::{Rotation3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A bar, its linear modes, and the tree of its boundary.
fn made() -> (TetMesh, LinearModes, BoundedDeformationTree) {
    let mesh = stick(9);
    let modes = problem(&mesh, &soft(Law::Corotated, 0.3), true).lowest(8, &Progress::default()).unwrap();
    let tree = BoundedDeformationTree::new(mesh.vertices(), modes.shapes.as_ref(), &mesh.boundary_vertices());
    (mesh, modes, tree)
}

/// Position of a vertex.
fn place(mesh: &TetMesh, modes: &LinearModes, vertex: u32, z: &[f64]) -> Vector3<f64> {
    let moved = |c: usize| {
        let terms = z.iter().enumerate().map(|(k, z)| z * modes.shapes[(3 * vertex as usize + c, k)]);
        terms.sum::<f64>()
    };
    Vector3::from(mesh.vertices()[vertex as usize]) + Vector3::from_fn(|c, _| moved(c))
}

/// Zero coordinates, single ones, and random ones of any size.
fn coordinates(rank: usize) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let single = |k: usize| (0..rank).map(|i| if i == k { -0.7 } else { 0.0 }).collect();
    let mut all: Vec<Vec<f64>> = (0..rank).map(single).collect();
    all.push(vec![0.0; rank]);
    for size in [1e-9, 1e-3, 1.0, 1e3, 1e9] {
        for _ in 0..40 {
            all.push((0..rank).map(|_| size * random.random_range(-1.0..1.0)).collect());
        }
    }
    all
}

#[test]
fn every_vertex_is_in_every_sphere_that_claims_it() {
    let (mesh, modes, tree) = made();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for z in coordinates(8) {
        let angles = Vector3::from_fn(|_, _| random.random_range(-3.0..3.0));
        let (turn, shift) =
            (Rotation3::from_scaled_axis(angles), Vector3::from_fn(|_, _| random.random_range(-9.0..9.0)));
        for part in 0..tree.part_count() {
            let sphere = tree.sphere(part, &z);
            let centre = turn * sphere.centre + shift;
            for &vertex in tree.vertices(part) {
                let vertex = turn * place(&mesh, &modes, vertex, &z) + shift;
                // Rounding error of rotating the points.
                let rounding = 1e-14 * (centre.norm() + vertex.norm());
                assert!((vertex - centre).norm() <= sphere.radius + rounding, "{part} at {z:?}");
            }
        }
    }
}

#[test]
fn parts_are_halves_of_parts_and_tight_at_rest() {
    let (mesh, modes, tree) = made();
    let mut all = tree.vertices(0).to_vec();
    all.sort_unstable();
    assert_eq!(all, mesh.boundary_vertices());
    let mut leaves = Vec::new();
    tree.search(|_| true, &mut leaves);
    assert_eq!(leaves, tree.vertices(0));
    let (zero, one) = (vec![0.0; 8], [0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    for part in 0..tree.part_count() {
        let own = tree.vertices(part);
        let mean = |z: &[f64]| {
            own.iter().map(|&v| place(&mesh, &modes, v, z)).sum::<Vector3<f64>>() / own.len() as f64
        };
        let rest = tree.sphere(part, &zero);
        let widest =
            own.iter().map(|&v| (place(&mesh, &modes, v, &zero) - mean(&zero)).norm()).fold(0.0, f64::max);
        assert!((rest.centre - mean(&zero)).norm() < 1e-14);
        assert!(rest.radius >= widest && rest.radius < widest + 1e-11, "{} {widest}", rest.radius);
        // Centres follow the motion; radii for a single mode grow at most by the relative motion of
        // vertices.
        let moved = tree.sphere(part, &one);
        let beside = own.iter().map(|&v| {
            let went = place(&mesh, &modes, v, &one) - place(&mesh, &modes, v, &zero);
            (went - (mean(&one) - mean(&zero))).norm()
        });
        let beside = beside.fold(0.0, f64::max);
        assert!((moved.centre - mean(&one)).norm() < 1e-13);
        assert!((moved.radius - rest.radius - beside).abs() < 1e-11);
    }
}

#[test]
fn what_is_near_is_found_as_by_looking_at_all_vertices() {
    let (mesh, modes, tree) = made();
    let ring = torus(0.3, 24, 12).placed([0.4; 3], [0.5, 0.1, 0.1]).surface();
    let shapes = [
        Shape::plane([0.0, 0.0, 0.02], [0.1, 0.2, 1.0]).unwrap(),
        Shape::sphere([0.5, 0.1, 0.4], 0.2).unwrap(),
        Shape::cuboid([1.0, 0.0, 0.0], [0.3, 0.2, 0.2]).unwrap(),
        Shape::mesh(&ring, 32).unwrap(),
    ];
    let (mut hits, mut looks, mut whole) = (0, 0, 0);
    for z in coordinates(8).iter().filter(|z| z[0].abs() < 2.0) {
        for shape in &shapes {
            for reach in [1e-3, 0.05] {
                let mut found = Vec::new();
                let near = |part: usize| {
                    looks += 1;
                    let sphere = tree.sphere(part, z);
                    shape.distance(sphere.centre.into()).0 - sphere.radius <= reach
                };
                tree.search(near, &mut found);
                found.sort_unstable();
                let within = |&v: &u32| shape.distance(place(&mesh, &modes, v, z).into()).0 <= reach;
                for vertex in mesh.boundary_vertices().iter().filter(|&v| within(v)) {
                    assert!(found.binary_search(vertex).is_ok(), "{vertex} at {z:?}");
                    hits += 1;
                }
                whole += mesh.boundary_vertices().len();
            }
        }
    }
    assert!(hits > 1000 && looks < whole / 3, "{hits} {looks} {whole}");
}

#[test]
fn what_is_far_takes_one_look_and_a_tree_of_nothing_none() {
    let (mesh, modes, tree) = made();
    let (mut looks, mut found) = (0, Vec::new());
    let far = |part: usize| {
        looks += 1;
        let sphere = tree.sphere(part, &[1e-3; 8]);
        sphere.centre.z - sphere.radius < -1.0
    };
    tree.search(far, &mut found);
    assert!(found.is_empty());
    assert_eq!(looks, 1);
    let none = BoundedDeformationTree::new(mesh.vertices(), modes.shapes.as_ref(), &[]);
    none.search(|_| true, &mut found);
    assert!(found.is_empty() && none.part_count() == 0);
}
