//! The lattice encloses any surface; embeddings and closest points recover the given positions.

use std::collections::{BTreeSet, HashMap};

use jounce::{
    Error, Progress,
    mesh::{
        Embedding, SurfaceMesh, TetMesh, WindingNumber, bounds, closest_points, lattice,
        lattice_with_tet_count,
    },
};
use jounce_tests::surfaces::{Soup, cube, scattered, sphere, square};

fn enclose(soup: &Soup, resolution: usize) -> TetMesh {
    lattice(&soup.surface(), resolution, &Progress::default()).expect("a lattice")
}

fn volume(mesh: &TetMesh) -> f64 {
    mesh.volumes().iter().sum()
}

/// Number of components of tets connected through shared vertices.
fn components(mesh: &TetMesh) -> usize {
    let mut label: Vec<usize> = (0..mesh.vertices().len()).collect();
    loop {
        let before = label.clone();
        for tet in mesh.tets() {
            let least = tet.iter().map(|&v| label[v as usize]).min().unwrap_or_default();
            tet.iter().for_each(|&v| label[v as usize] = least);
        }
        if label == before {
            return label.into_iter().collect::<BTreeSet<_>>().len();
        }
    }
}

/// Tet centres in units of a small length, so that equal positions compare equal.
fn centres(mesh: &TetMesh, mirror: bool) -> Vec<[i64; 3]> {
    // An odd unit, so that no sum falls half way between two integers.
    let unit = 8.191e-6;
    let centre = |t: usize| -> [i64; 3] {
        let corners = mesh.corners(t);
        std::array::from_fn(|a| {
            let sum: f64 = corners.iter().map(|p| p[a]).sum();
            (if mirror && a == 0 { -sum } else { sum } / unit).round() as i64
        })
    };
    let mut all: Vec<_> = (0..mesh.tets().len()).map(centre).collect();
    all.sort_unstable();
    all
}

fn assert_encloses(mesh: &TetMesh, points: &[[f64; 3]]) {
    let embedding = Embedding::new(mesh, points.to_vec()).expect("an embedding");
    let size = mesh.diagonal();
    assert!(embedding.furthest() <= 1e-12 * size, "{} of {size} outside", embedding.furthest());
}

/// A closed, lopsided shape in general position.
fn pebble() -> Soup {
    sphere(4).mapped(|[x, y, z]| [x + 0.2 * y * y, 0.7 * y + 0.1 * z, 0.9 * z + 0.3 * x * y])
}

#[test]
fn volume_of_a_sphere_converges_from_above() {
    let sphere = sphere(5);
    let (exact, area) = (4.0 / 3.0 * std::f64::consts::PI, 4.0 * std::f64::consts::PI);
    for resolution in [8, 16, 32, 64] {
        let excess = volume(&enclose(&sphere, resolution)) - exact;
        let cell = 2.0 / resolution as f64;
        // The kept cells extend beyond the surface by less than a cell's diagonal.
        assert!(excess > 0.0 && excess < 1.8 * cell * area * (1.0 + cell), "{resolution}: {excess}");
    }
}

#[test]
fn lattice_faces_belong_to_at_most_two_tets() {
    let mesh = enclose(&pebble(), 14);
    let mut faces: HashMap<[u32; 3], u32> = HashMap::new();
    for &[a, b, c, d] in mesh.tets() {
        for mut face in [[b, c, d], [a, c, d], [a, b, d], [a, b, c]] {
            face.sort_unstable();
            *faces.entry(face).or_default() += 1;
        }
    }
    assert!(faces.values().all(|&count| count <= 2));
    // Cells match across all shared faces, so the rest is a closed boundary.
    let boundary = mesh.boundary();
    let flux: [f64; 3] = boundary.iter().fold([0.0; 3], |sum, face| {
        let [p, q, r] = face.map(|v| nalgebra::Vector3::from(mesh.vertices()[v as usize]));
        let normal = (q - p).cross(&(r - p));
        std::array::from_fn(|a| sum[a] + normal[a])
    });
    assert!(flux.iter().all(|x| x.abs() < 1e-9), "{flux:?}");
    assert_eq!(components(&mesh), 1);
}

/// Vertices of a triangle clipped to a box; empty if they do not intersect.
fn clipped(triangle: [[f64; 3]; 3], low: [f64; 3], high: [f64; 3]) -> Vec<[f64; 3]> {
    let mut polygon = triangle.to_vec();
    for (axis, sign, limit) in (0..3).flat_map(|a| [(a, 1.0, high[a]), (a, -1.0, -low[a])]) {
        let height = |p: &[f64; 3]| sign * p[axis] - limit;
        let mut next = Vec::new();
        for (i, p) in polygon.iter().enumerate() {
            let q = &polygon[(i + 1) % polygon.len()];
            if height(p) <= 0.0 {
                next.push(*p);
            }
            if (height(p) <= 0.0) != (height(q) <= 0.0) {
                let s = height(p) / (height(p) - height(q));
                next.push(std::array::from_fn(|a| p[a] + s * (q[a] - p[a])));
            }
        }
        polygon = next;
    }
    polygon
}

#[test]
fn kept_cells_are_exactly_those_a_triangle_meets() {
    let points = scattered(70);
    for i in 0..20 {
        let corners = [points[i], points[i + 20], points[i + 47]];
        let soup = Soup { points: corners.to_vec(), triangles: vec![[0, 1, 2]] };
        let resolution = 10;
        let mesh = enclose(&soup, resolution);
        let (low, high) = bounds(&corners);
        let side = (0..3).map(|a| high[a] - low[a]).fold(0.0, f64::max) * (1.0 + 1e-6) / resolution as f64;
        let counts: [i64; 3] = std::array::from_fn(|a| ((high[a] - low[a]) / 2.0 / side).ceil() as i64);
        let mut expected = 0;
        for i in -counts[0]..counts[0] {
            for j in -counts[1]..counts[1] {
                for k in -counts[2]..counts[2] {
                    let lower: [f64; 3] =
                        std::array::from_fn(|a| (low[a] + high[a]) / 2.0 + [i, j, k][a] as f64 * side);
                    // Touching counts; the margin makes it independent of rounding.
                    let margin = 1e-10;
                    let (lower, upper) = (lower.map(|x| x - margin), lower.map(|x| x + side + margin));
                    expected += usize::from(!clipped(corners, lower, upper).is_empty());
                }
            }
        }
        assert_eq!(mesh.tets().len(), 5 * expected);
        assert_encloses(&mesh, &corners);
    }
}

#[test]
fn points_embed_with_weights_that_reproduce_affine_functions() {
    let soup = pebble();
    let mesh = enclose(&soup, 12);
    let embedding = Embedding::new(&mesh, soup.points.clone()).expect("an embedding");
    let affine = |p: &[f64; 3]| [1.0 + 2.0 * p[0] - p[1], p[2] - 3.0 * p[0]];
    let values: Vec<f64> = mesh.vertices().iter().flat_map(affine).collect();
    let found = embedding.interpolate(&mesh, &values, 2).expect("values");
    let exact: Vec<f64> = soup.points.iter().flat_map(affine).collect();
    assert!(found.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-12));
    for weights in embedding.barycentric() {
        assert!(weights.iter().all(|&w| w >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    assert_eq!(embedding.furthest(), 0.0);
}

#[test]
fn a_point_outside_hangs_at_the_nearest_place() {
    let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mesh = TetMesh::new(vertices.clone(), vec![[0, 1, 2, 3]]).expect("a tet");
    let queries = vec![[0.2, 0.3, -2.0], [-1.0, -1.0, 0.4], [3.0, 0.1, 0.1], [1.0, 1.0, 1.0]];
    let embedding = Embedding::new(&mesh, queries).expect("an embedding");
    let nearest = embedding.interpolate(&mesh, vertices.as_flattened(), 3).expect("positions");
    let third = 1.0 / 3.0;
    let exact = [[0.2, 0.3, 0.0], [0.0, 0.0, 0.4], [1.0, 0.0, 0.0], [third; 3]];
    for (a, b) in nearest.iter().zip(exact.as_flattened()) {
        assert!((a - b).abs() < 1e-14, "{nearest:?}");
    }
    assert!((embedding.furthest() - (4.0_f64 + 0.02).sqrt()).abs() < 1e-14);
}

#[test]
fn embeddings_agree_with_a_search_through_all_tets() {
    let mesh = enclose(&sphere(2), 6);
    let queries: Vec<[f64; 3]> = scattered(200).iter().map(|p| p.map(|x| 1.5 * x)).collect();
    let embedding = Embedding::new(&mesh, queries.clone()).expect("an embedding");
    let positions = embedding.interpolate(&mesh, mesh.vertices().as_flattened(), 3).expect("positions");
    let distance =
        |p: &[f64], q: &[f64; 3]| -> f64 { (0..3).map(|a| (p[a] - q[a]).powi(2)).sum::<f64>().sqrt() };
    for (query, found) in queries.iter().zip(positions.chunks(3)) {
        let alone = |t: usize| {
            let single = TetMesh::new(mesh.corners(t).to_vec(), vec![[0, 1, 2, 3]]).expect("a tet");
            Embedding::new(&single, vec![*query]).expect("an embedding").furthest()
        };
        let least = (0..mesh.tets().len()).map(alone).fold(f64::INFINITY, f64::min);
        assert!((distance(found, query) - least).abs() < 1e-13);
    }
}

#[test]
fn a_mirror_image_gets_the_mirror_image_of_the_lattice() {
    for resolution in [9, 16] {
        let soup = pebble().placed([1.0; 3], [3.7, -0.2, 0.1]);
        let mirrored = soup.clone().placed([-1.0, 1.0, 1.0], [0.0; 3]);
        let (mesh, image) = (enclose(&soup, resolution), enclose(&mirrored, resolution));
        assert!(centres(&mesh, true) == centres(&image, false), "at resolution {resolution}");
    }
    let symmetric = sphere(4).placed([1.0, 0.5, 0.8], [0.0; 3]);
    let mesh = enclose(&symmetric, 20);
    assert!(centres(&mesh, true) == centres(&mesh, false));
}

#[test]
fn plates_stay_apart_when_a_face_of_cells_lies_between() {
    let plate = cube(4).placed([1.0, 1.0, 0.05], [0.0; 3]);
    // Cells of side 0.25 with planes at multiples of it; the second gap is a tenth of a cell across a
    // plane.
    for (low, high) in [(-0.2, 0.3), (-0.0625, 0.0625)] {
        let pair = plate
            .clone()
            .placed([1.0; 3], [0.0, 0.0, low])
            .and(plate.clone().placed([1.0; 3], [0.0, 0.0, high]));
        // Far corners fix the box, and thus the planes.
        let frame = Soup { points: vec![[-1.0; 3], [1.0; 3]], triangles: vec![] };
        let mesh = enclose(&pair.clone().and(frame), 8);
        // The two far corners form cells of their own.
        assert_eq!(components(&mesh), 2 + 2, "plates at {low} and {high}");
        assert_encloses(&mesh, &pair.points);
    }
}

#[test]
fn parts_that_meet_at_an_edge_of_cells_stay_apart() {
    let block = cube(3).placed([0.45, 1.0, 0.45], [0.0; 3]);
    let pair = block.clone().placed([1.0; 3], [-0.5, 0.0, -0.5]).and(block.placed([1.0; 3], [0.5, 0.0, 0.5]));
    assert_eq!(components(&enclose(&pair, 10)), 2);
}

#[test]
fn a_block_thicker_than_its_surface_holds_together() {
    // Two cells across: no cell in the middle is touched, but all of them are inside.
    assert_eq!(components(&enclose(&cube(1).placed([1.0, 1.0, 0.95], [0.0; 3]), 2)), 1);
    assert_eq!(enclose(&cube(1), 2).tets().len(), 5 * 8);
    let slab = enclose(&cube(1).placed([1.0, 1.0, 0.2], [0.0; 3]), 8);
    assert_eq!((slab.tets().len(), slab.vertices().len()), (5 * 8 * 8 * 2, 9 * 9 * 3));
}

#[test]
fn orientation_does_not_matter() {
    let good = pebble().and(sphere(3).placed([0.5; 3], [0.9, 0.0, 0.0]));
    let expected = centres(&enclose(&good, 16), false);
    let doubled = good.clone().and(good.clone().flipped(|_| true));
    let first_part = pebble().triangles.len();
    for (name, variant) in [
        ("inside out", good.clone().flipped(|_| true)),
        ("one part inside out", good.clone().flipped(|t| t < first_part)),
        ("at random", good.clone().flipped(|t| t * t % 7 < 3)),
        ("split", good.clone().split().flipped(|t| t % 3 == 0)),
        ("both sides", doubled),
    ] {
        assert!(centres(&enclose(&variant, 16), false) == expected, "{name}");
    }
}

#[test]
fn open_surfaces_are_filled() {
    let closed = volume(&enclose(&sphere(4), 24));
    let open = sphere(4).kept(|p| p[2] < 0.7);
    let opened = volume(&enclose(&open, 24));
    assert!(opened > 0.85 * closed && opened < closed, "{opened} of {closed}");
    assert_encloses(&enclose(&open, 24), &open.points);
}

#[test]
fn small_holes_are_filled_and_large_ones_kept() {
    // Six squares with inconsistent orientation enclose nothing, so only the cells they touch are kept.
    let gaps = cube(1).placed([0.97; 3], [0.0; 3]);
    let sides = (0..6).map(|side| {
        let triangles = gaps.triangles[2 * side..2 * side + 2].to_vec();
        let nudge = if side % 2 == 0 { 1.0 } else { 1.001 };
        Soup { points: gaps.points.clone(), triangles }
            .flipped(|_| side >= 3)
            .split()
            .placed([nudge; 3], [0.0; 3])
    });
    let shell = sides.fold(Soup::default(), Soup::and);
    assert_eq!(enclose(&shell, 4).tets().len(), 5 * 4 * 4 * 4);
    assert_eq!(enclose(&shell, 6).tets().len(), 5 * (6 * 6 * 6 - 4 * 4 * 4));
}

#[test]
fn thin_flat_and_single_things_get_a_lattice() {
    let rod = cube(2).placed([1.0, 1e-4, 1e-4], [0.03, 0.01, 0.02]);
    let line = Soup { points: vec![[0.0; 3], [0.3, 0.2, 0.9], [0.6, 0.4, 1.8]], triangles: vec![[0, 1, 2]] };
    let triangle =
        Soup { points: vec![[0.0; 3], [1.0, 0.1, 0.2], [0.3, 0.9, 0.5]], triangles: vec![[0, 1, 2]] };
    let doubled = Soup { points: vec![[0.0; 3], [0.0; 3], [1.0; 3]], triangles: vec![[0, 1, 2], [0, 0, 0]] };
    let loose = square(2).and(Soup { points: vec![[0.0, 0.0, 5.0]], triangles: vec![] });
    for soup in [square(5), rod, line, triangle, doubled, loose] {
        for resolution in [2, 7, 32] {
            let mesh = enclose(&soup, resolution);
            assert_encloses(&mesh, &soup.points);
            // Points inside the triangles as well.
            let triangles = soup.triangles.iter().map(|t| t.map(|v| soup.points[v as usize]));
            let middles: Vec<[f64; 3]> =
                triangles.map(|[p, q, r]| std::array::from_fn(|a| (p[a] + q[a] + r[a]) / 3.0)).collect();
            assert_encloses(&mesh, &middles);
        }
    }
}

#[test]
fn size_and_place_do_not_matter() {
    let count = enclose(&pebble(), 16).tets().len();
    for (scale, by) in [(1e-3, 0.0), (236.0, -500.0), (1.0, 1e4)] {
        let moved = pebble().placed([scale; 3], [by; 3]);
        let mesh = enclose(&moved, 16);
        assert_eq!(mesh.tets().len(), count, "scale {scale}, moved by {by}");
        assert_encloses(&mesh, &moved.points);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_mesh() {
    let soup = pebble().and(square(40).placed([1.3; 3], [0.0, 0.0, 0.2]));
    let queries = scattered(500);
    let run = || {
        let mesh = enclose(&soup, 20);
        let embedding = Embedding::new(&mesh, queries.clone()).expect("an embedding");
        let closest = closest_points(&soup.surface(), &queries).expect("closest points");
        (mesh.vertices().to_vec(), mesh.tets().to_vec(), embedding.tets().to_vec(), closest)
    };
    let with = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool").install(run)
    };
    let one = with(1);
    assert!(one == with(2) && one == with(5));
}

#[test]
fn winding_numbers_match_closed_forms() {
    let inside_out = pebble().flipped(|_| true).surface();
    let winding = WindingNumber::new(&inside_out);
    let inside = winding.at([0.1, 0.0, 0.0]);
    assert!((inside - 1.0).abs() < 5e-2, "{inside}");
    // Bent parts of different sizes, so that each term of the expansion counts.
    let parts = sphere(5)
        .and(sphere(3).placed([0.2; 3], [1.3, 0.1, 0.0]))
        .and(cube(6).placed([0.1; 3], [0.0, 1.2, 0.1]));
    let winding = WindingNumber::new(&parts.surface());
    let mut squares = Vec::new();
    for p in scattered(2000).iter().map(|p| p.map(|x| 1.2 * x)) {
        let from = |c: [f64; 3]| (0..3).map(|a| (p[a] - c[a]).powi(2)).sum::<f64>().sqrt();
        let (large, small) = (from([0.0; 3]) - 1.0, from([1.3, 0.1, 0.0]) - 0.2);
        let block =
            [0.0, 1.2, 0.1].iter().zip(p).map(|(c, x)| (x - c).abs() - 0.1).fold(f64::NEG_INFINITY, f64::max);
        let heights = [large, small, block];
        if heights.iter().all(|height| height.abs() > 1e-2) {
            let exact = heights.iter().filter(|&&height| height < 0.0).count() as f64;
            squares.push((winding.at(p) - exact).powi(2));
        }
    }
    let worst = squares.iter().copied().fold(0.0, f64::max).sqrt();
    let mean = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    assert!(worst < 5e-2 && mean < 1e-2, "worst {worst}, root mean square {mean}");
    // A square of half side a seen from height d on its axis.
    let plate = WindingNumber::new(&square(60).surface());
    for d in [0.05_f64, 0.5, 1.0, 3.0, 20.0] {
        let exact = (1.0_f64 / (1.0 + d * d)).asin() / std::f64::consts::PI;
        assert!((plate.at([0.0, 0.0, -d]) - exact).abs() < 2e-2, "at {d}");
        assert!((plate.at([0.0, 0.0, d]) + exact).abs() < 2e-2, "at {d}");
    }
}

#[test]
fn closest_points_lie_where_geometry_says() {
    let mut soup = cube(5);
    soup.triangles.extend([[0, 0, 1], [2, 2, 2]]);
    let queries: Vec<[f64; 3]> = scattered(300).iter().map(|p| p.map(|x| 3.0 * x)).collect();
    let found = closest_points(&soup.surface(), &queries).expect("closest points");
    for (query, closest) in queries.iter().zip(&found) {
        let outside: f64 = query.iter().map(|x| (x.abs() - 1.0).max(0.0).powi(2)).sum::<f64>().sqrt();
        let depth = query.iter().map(|x| 1.0 - x.abs()).fold(f64::INFINITY, f64::min);
        assert!((closest.distance - outside.max(depth)).abs() < 1e-13);
        let corners = soup.triangles[closest.triangle as usize].map(|v| soup.points[v as usize]);
        let place: [f64; 3] =
            std::array::from_fn(|a| (0..3).map(|c| closest.barycentric[c] * corners[c][a]).sum());
        let distance = (0..3).map(|a| (place[a] - query[a]).powi(2)).sum::<f64>().sqrt();
        assert!((distance - closest.distance).abs() < 1e-13);
        assert!(closest.barycentric.iter().all(|&w| w >= 0.0));
    }
}

#[test]
fn a_tet_count_is_met_from_below() {
    let surface = pebble().surface();
    for count in [2_000, 20_000, 100_000] {
        let mesh = lattice_with_tet_count(&surface, count, &Progress::default()).expect("a lattice");
        let tets = mesh.tets().len();
        assert!(tets <= count && tets > count / 2, "{tets} of {count}");
    }
    let coarsest = lattice_with_tet_count(&surface, 1, &Progress::default()).expect("a lattice");
    assert_eq!(coarsest.tets().len(), enclose(&pebble(), 2).tets().len());
}

#[test]
fn progress_rises_and_cancelling_stops() {
    let progress = Progress::default();
    lattice(&pebble().surface(), 12, &progress).expect("a lattice");
    assert_eq!(progress.fraction(), 1.0);
    progress.cancel();
    let cancelled = [
        lattice(&pebble().surface(), 12, &progress),
        lattice_with_tet_count(&pebble().surface(), 9, &progress),
    ];
    assert!(cancelled.into_iter().all(|result| result.err() == Some(Error::Cancelled)));
}

#[test]
fn bad_input_is_refused_in_a_sentence() {
    let triangle = vec![[0, 1, 2]];
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let refused = |points: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>, sentence: &str| {
        let result = SurfaceMesh::new(points, triangles).and_then(|s| lattice(&s, 8, &Progress::default()));
        let message = result.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message.contains(sentence), "{message}");
    };
    refused(vec![], vec![], "points: is empty");
    refused(points.clone(), vec![], "triangles: is empty");
    refused(vec![[0.0, f64::NAN, 0.0]], triangle.clone(), "points: element 0 is NaN");
    refused(points.clone(), vec![[0, 1, 2], [0, 1, 7]], "triangles: element 1 refers to index 7");
    refused(vec![[5.0; 3]], vec![[0, 0, 0]], "longest side of the surface's bounding box");
    refused(vec![[1e300; 3], [-1e300; 3], [0.0; 3]], triangle.clone(), "longest side");
    refused(vec![[1e12, 0.0, 0.0], [1e12, 1e-2, 0.0], [1e12, 0.0, 1.0]], triangle.clone(), "longest side");

    let surface = SurfaceMesh::new(points, triangle).expect("a triangle");
    for resolution in [0, 1, 513, usize::MAX] {
        let error = lattice(&surface, resolution, &Progress::default()).err();
        assert!(matches!(error, Some(Error::Range { what: "resolution", .. })));
    }
    let solid = lattice(&cube(1).surface(), 512, &Progress::default()).err();
    assert!(matches!(solid, Some(Error::Range { what: "resolution", .. })));
    assert!(matches!(
        closest_points(&surface, &[[0.0; 3], [f64::INFINITY, 0.0, 0.0]]),
        Err(Error::NotFinite { what: "queries", element: 1, .. })
    ));
    assert_eq!(closest_points(&surface, &[]), Ok(vec![]));
}

#[test]
fn embedding_refuses_what_does_not_fit() {
    let mesh = enclose(&cube(1), 2);
    assert!(matches!(Embedding::new(&mesh, vec![]), Err(Error::Empty { what: "points" })));
    assert!(matches!(
        Embedding::new(&mesh, vec![[f64::NAN; 3]]),
        Err(Error::NotFinite { what: "points", .. })
    ));
    let embedding = Embedding::new(&mesh, vec![[0.1; 3]]).expect("an embedding");
    assert!(matches!(embedding.interpolate(&mesh, &[1.0], 1), Err(Error::Shape { what: "values", .. })));
    assert!(matches!(
        embedding.interpolate(&mesh, &[1.0], usize::MAX),
        Err(Error::Shape { what: "values", .. })
    ));
    let other = enclose(&cube(1), 4);
    assert!(matches!(embedding.interpolate(&other, &[], 0), Err(Error::Shape { what: "mesh", .. })));
    assert_eq!(embedding.interpolate(&mesh, &[], 0), Ok(vec![]));
}
