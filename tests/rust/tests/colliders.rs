//! Collider shapes against brute force and finite differences, and rejected input.

use jounce::Error;
use jounce::mesh::{SurfaceMesh, closest_points};
use jounce::potentials::contact::{Collider, Shape, Touch};
use jounce_tests::surfaces::{cube, scattered, sphere, square, torus};
use nalgebra::Vector3;

fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("plane", Shape::plane([0.1, 0.2, -0.1], [1.0, -2.0, 3.0]).unwrap()),
        ("sphere", Shape::sphere([0.1, 0.0, -0.2], 0.6).unwrap()),
        ("capsule", Shape::capsule([-0.4, 0.0, 0.1], [0.3, 0.2, -0.2], 0.3).unwrap()),
        ("box", Shape::cuboid([0.1, 0.0, 0.05], [0.9, 0.6, 1.3]).unwrap()),
    ]
}

/// Points on the surface of each shape, from its parameters.
fn surface_points(name: &str) -> Vec<[f64; 3]> {
    let on_sphere = |center: Vector3<f64>, radius: f64| {
        let points = sphere(5).points.into_iter();
        points.map(move |p| (center + radius * Vector3::from(p)).into()).collect::<Vec<[f64; 3]>>()
    };
    match name {
        "sphere" => on_sphere(Vector3::new(0.1, 0.0, -0.2), 0.6),
        "capsule" => {
            let (a, b) = (Vector3::new(-0.4, 0.0, 0.1), Vector3::new(0.3, 0.2, -0.2));
            (0..=80).flat_map(|i| on_sphere(a + f64::from(i) / 80.0 * (b - a), 0.3)).collect()
        }
        _ => cube(60).placed([0.45, 0.3, 0.65], [0.1, 0.0, 0.05]).points,
    }
}

#[test]
fn distances_are_those_to_the_nearest_of_many_points_of_the_surface() {
    for (name, shape) in shapes().into_iter().skip(1) {
        let surface = surface_points(name);
        for point in scattered(60) {
            let (distance, _) = shape.distance(point);
            if distance < 0.0 && name == "capsule" {
                // Points inside belong to other balls of the capsule.
                continue;
            }
            let apart = |p: &[f64; 3]| (Vector3::from(*p) - Vector3::from(point)).norm();
            let nearest = surface.iter().map(apart).fold(f64::INFINITY, f64::min);
            assert!((distance.abs() - nearest).abs() < 0.02, "{name} at {point:?}: {distance}, {nearest}");
        }
    }
    let (distance, normal) = shapes()[0].1.distance([0.1, 0.2, 0.9]);
    assert!((distance - 3.0 / 14f64.sqrt()).abs() < 1e-15);
    assert!((normal[2] - 3.0 / 14f64.sqrt()).abs() < 1e-15);
}

#[test]
fn normals_are_gradients_of_distances() {
    const STEP: f64 = 1e-6;
    for (name, shape) in shapes() {
        for point in scattered(80) {
            let (_, normal) = shape.distance(point);
            for c in 0..3 {
                let at = |by: f64| {
                    let mut moved = point;
                    moved[c] += by;
                    shape.distance(moved).0
                };
                let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                assert!((slope - normal[c]).abs() < 1e-8, "{name} at {point:?}: {slope}, {}", normal[c]);
            }
            assert!((Vector3::from(normal).norm() - 1.0).abs() < 1e-14, "{name}");
        }
    }
}

#[test]
fn distances_to_a_mesh_are_those_to_its_triangles_and_its_normals_their_gradients() {
    let surface = torus(0.4, 64, 32).flipped(|i| i % 2 == 0).surface();
    let shape = Shape::mesh(&surface, 64).unwrap();
    let cell = 2.8 / 64.0;
    let points: Vec<_> =
        scattered(400).into_iter().map(|p| [1.45 * p[0], 1.45 * p[1], 0.45 * p[2]]).collect();
    let nearest = closest_points(&surface, &points).unwrap();
    for (point, nearest) in points.iter().zip(nearest) {
        let ring = point[0].hypot(point[1]) - 1.0;
        let inside = ring.hypot(point[2]) < 0.4;
        let (distance, normal) = shape.distance(*point);
        let truth = if inside { -nearest.distance } else { nearest.distance };
        assert!((distance - truth).abs() < 0.25 * cell, "{point:?}: {distance}, {truth}");
        // Only points away from the middle of the tube, where a torus's normals change quickly, and from
        // the grid's rim.
        if nearest.distance < 0.15 {
            let outward =
                Vector3::new(ring * point[0] / (1.0 + ring), ring * point[1] / (1.0 + ring), point[2]);
            assert!(Vector3::from(normal).dot(&outward.normalize()) > 0.98, "{point:?}: {normal:?}");
        }
    }
    let (far, normal) = shape.distance([9.0, 0.0, 0.0]);
    assert!((7.0..=7.6).contains(&far) && normal[0] > 0.99, "{far} {normal:?}");
}

/// Patches of a ball and of a torus, by octants and by a turn.
fn patched() -> [(SurfaceMesh, Vec<Vec<u32>>); 2] {
    [sphere(4), torus(0.4, 24, 12)].map(|soup| {
        let surface = soup.surface();
        let mut patches = vec![Vec::new(); 8];
        for (triangle, corners) in surface.triangles().iter().enumerate() {
            let middle: Vector3<f64> =
                corners.map(|corner| Vector3::from(surface.points()[corner as usize])).iter().sum();
            let octant = (0..3).map(|c| usize::from(middle[c] > 0.0) << c).sum::<usize>();
            patches[octant].push(triangle as u32);
        }
        (surface, patches)
    })
}

/// Below the surface the solids behind all patches together are the whole; outside of it each is as far as
/// its triangles; and no distance reaches further than to a place inside.
#[test]
fn the_solids_behind_patches_make_up_the_whole() {
    for (surface, patches) in patched() {
        let whole = Shape::mesh(&surface, 48).unwrap();
        let solids = Shape::patches(&surface, &patches, 48).unwrap();
        let (mut inside, mut outside) = (0, 0);
        let places = scattered(400);
        for (place, nearest) in places.iter().zip(closest_points(&surface, &places).unwrap()) {
            let is_inside = whole.distance(*place).0 < 0.0;
            let exact = if is_inside { -nearest.distance } else { nearest.distance };
            if (0.03..0.15).contains(&nearest.distance) {
                let found = solids.iter().map(|solid| solid.distance(*place).0);
                let found = found.fold(f64::INFINITY, f64::min);
                assert!((found - exact).abs() < 0.03, "{place:?}: {found}, not {exact}");
                *(if is_inside { &mut inside } else { &mut outside }) += 1;
            }
        }
        assert!(inside > 5 && outside > 5, "{inside} {outside}");
        let places = scattered(150);
        for solid in &solids {
            let found: Vec<f64> = places.iter().map(|&place| solid.distance(place).0).collect();
            for (from, away) in places.iter().zip(&found).filter(|(_, away)| **away > 0.0) {
                for (to, _) in places.iter().zip(&found).filter(|(_, away)| **away < 0.0) {
                    let apart = (Vector3::from(*from) - Vector3::from(*to)).norm();
                    assert!(*away < apart + 0.05, "{from:?} {to:?}: {away}, not {apart}");
                }
            }
        }
    }
}

#[test]
fn the_force_of_a_touch_is_minus_the_gradient_of_its_energy() {
    const STEP: f64 = 1e-6;
    let normal = Vector3::new(1.0, 2.0, -2.0) / 3.0;
    let place = Vector3::new(0.1, 0.0, 0.2);
    let touch = Touch {
        point: 0,
        collider: 0,
        normal,
        place,
        anchor: place + Vector3::new(0.02, 0.0, 0.01),
        stiffness: 300.0,
        bound: 4.0,
    };
    let mut sticks = 0;
    for offset in scattered(50) {
        let point = place + 0.03 * Vector3::from(offset);
        sticks += usize::from(touch.stiffness * touch.slip(&point).norm() < touch.bound);
        let (_, force) = touch.evaluate(&point);
        for c in 0..3 {
            let at = |by: f64| touch.evaluate(&(point + by * Vector3::ith(c, 1.0))).0;
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!((slope + force[c]).abs() < 1e-4, "{offset:?}: {slope}, {}", force[c]);
        }
        // A dragged anchor holds the point with the same force.
        let dragged = Touch { anchor: touch.dragged(&point), ..touch };
        assert!((dragged.evaluate(&point).1 - force).norm() < 1e-12 * touch.bound);
        assert!(touch.stiffness * dragged.slip(&point).norm() <= touch.bound * (1.0 + 1e-12));
    }
    assert!((5..45).contains(&sticks), "{sticks}");
}

#[test]
fn what_is_no_collider_is_refused_in_a_sentence() {
    let flat = square(4).surface();
    let far = SurfaceMesh::new(vec![[0.0; 3], [1e12, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]).unwrap();
    let nan = f64::NAN;
    let refused: Vec<(Error, &str)> = vec![
        (Shape::plane([0.0; 3], [0.0; 3]).unwrap_err(), "normal: expected a direction, got 0"),
        (
            Shape::plane([0.0, nan, 0.0], [0.0, 0.0, 1.0]).unwrap_err(),
            "point: element 1 is NaN; every number must be finite",
        ),
        (
            Shape::sphere([0.0; 3], -1.0).unwrap_err(),
            "radius: expected a positive number of metres, at most 1e9, got -1",
        ),
        (
            Shape::sphere([1e300, 0.0, 0.0], 1.0).unwrap_err(),
            "start: expected numbers of at most 1e9, got 1e300",
        ),
        (
            Shape::capsule([0.0; 3], [0.0; 3], nan).unwrap_err(),
            "radius: expected a positive number of metres, at most 1e9, got NaN",
        ),
        (
            Shape::cuboid([0.0; 3], [1.0, 0.0, 1.0]).unwrap_err(),
            "size: expected a positive number of metres, at most 1e9, got 0",
        ),
        (
            Shape::mesh(&flat, 32).unwrap_err(),
            "mesh: expected a surface that encloses more than a cell of the grid, got 0",
        ),
        (Shape::mesh(&far, 32).unwrap_err(), "points: expected numbers of at most 1e9, got 1e12"),
        (
            Shape::mesh(&cube(2).surface(), 4096).unwrap_err(),
            "resolution: expected a whole number from 8 to 128, got 4096",
        ),
        (
            Collider::new(Shape::sphere([0.0; 3], 1.0).unwrap(), -0.5).unwrap_err(),
            "friction: expected a coefficient >= 0, got -0.5",
        ),
    ];
    for (error, sentence) in refused {
        assert_eq!(error.to_string(), sentence);
    }
}
