//! Solid lattices: cells cut by the surface count in part, and the elastic energy of a lattice's cells.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{FleshCell, SurfaceMesh, TetMesh, lattice, solid_lattice};
use jounce::operators::{Strains, laplacian, lumped_mass, stiffness, vertex_volumes};
use jounce::subspace::{Restraint, restrained_modes};
use jounce::{Error, Progress};
use jounce_tests::surfaces::{Soup, cube, sphere, square};
use nalgebra::{Matrix3, Rotation3, Vector3};

fn solid(soup: &Soup, resolution: usize) -> TetMesh {
    solid_lattice(&soup.surface(), resolution, &Progress::default()).expect("a lattice")
}

fn volume(mesh: &TetMesh) -> f64 {
    mesh.volumes().iter().sum()
}

/// Volume enclosed by closed, outward-facing triangles.
fn enclosed(surface: &SurfaceMesh) -> f64 {
    let corner = |v: u32| Vector3::from(surface.points()[v as usize]);
    let cone = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))) / 6.0;
    surface.triangles().iter().map(cone).sum()
}

fn unit() -> Material {
    let [one, zero] = [1.0, 0.0].map(Field::Uniform);
    Material::new(Law::Arap, one.clone(), zero, one).expect("a material")
}

/// A beam of length 8 and side 1, centred at the origin.
fn beam(turn: &Rotation3<f64>) -> Soup {
    cube(1).placed([4.0, 0.5, 0.5], [0.0; 3]).mapped(|p| (turn * Vector3::from(p)).into())
}

/// Squared angular frequencies of small vibrations about rest, ascending, with the free vertices given.
fn swings(mesh: &TetMesh, free: impl Fn([f64; 3]) -> bool) -> Vec<f64> {
    let material = unit();
    let mass = lumped_mass(mesh, &material);
    let free: Vec<usize> = (0..mass.len()).filter(|&v| free(mesh.vertices()[v])).collect();
    let mut slot = vec![usize::MAX; mass.len()];
    free.iter().enumerate().for_each(|(i, &v)| slot[v] = i);
    let mut k = Mat::<f64>::zeros(3 * free.len(), 3 * free.len());
    let quadratic = stiffness(mesh, &material).expect("a stiffness");
    for &v in &free {
        for (&row, value) in quadratic.row_idx_of_col_raw(v).iter().zip(quadratic.val_of_col(v)) {
            let row = slot[row as usize];
            (0..3).filter(|_| row != usize::MAX).for_each(|c| k[(3 * row + c, 3 * slot[v] + c)] += value);
        }
    }
    // Rotations cost nothing: `|sym G|^2 = |G|^2 - |skew G|^2`.
    let strains = Strains::new(mesh);
    for (t, volume) in mesh.volumes().iter().enumerate() {
        let weight = 2.0 * material.mu(t) * volume;
        let entries: Vec<(usize, [f64; 3])> = strains.of(t).map(|(v, g)| (slot[v as usize], g)).collect();
        for (a, ga) in entries.iter().filter(|(a, _)| *a != usize::MAX) {
            for (b, gb) in entries.iter().filter(|(b, _)| *b != usize::MAX) {
                let dot: f64 = (0..3).map(|c| ga[c] * gb[c]).sum();
                for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                    let skew = 0.5 * (if i == j { dot } else { 0.0 } - ga[j] * gb[i]);
                    k[(3 * a + i, 3 * b + j)] -= weight * skew;
                }
            }
        }
    }
    let root = |i: usize| mass[free[i / 3]].sqrt();
    let scaled = Mat::from_fn(k.nrows(), k.ncols(), |i, j| k[(i, j)] / (root(i) * root(j)));
    scaled.self_adjoint_eigenvalues(Side::Lower).expect("eigenvalues")
}

#[test]
fn closed_surfaces_have_the_volume_that_they_enclose() {
    let pebble = sphere(4).mapped(|[x, y, z]| [x + 0.2 * y * y, 0.7 * y + 0.1 * z, 0.9 * z + 0.3 * x * y]);
    let horn = sphere(4).placed([1.0, 0.08, 0.1], [0.3, 0.9, 0.2]);
    for soup in [&pebble, &pebble.clone().and(horn.clone())] {
        let exact = if soup.points.len() == pebble.points.len() {
            enclosed(&soup.surface())
        } else {
            enclosed(&pebble.surface()) + enclosed(&horn.surface())
        };
        for resolution in [24, 32, 48, 64, 96] {
            let ratio = volume(&solid(soup, resolution)) / exact;
            assert!((ratio - 1.0).abs() < 0.03, "{resolution}: {ratio}");
        }
    }
}

#[test]
fn the_tets_are_those_of_the_lattice_and_what_is_inside_is_full() {
    let soup = sphere(4);
    let (whole, solid) = (lattice(&soup.surface(), 20, &Progress::default()).unwrap(), solid(&soup, 20));
    assert_eq!((whole.vertices(), whole.tets()), (solid.vertices(), solid.tets()));
    assert!(whole.cells().is_empty() && whole.solid().iter().all(|&share| share == 1.0));
    for (t, &share) in solid.solid().iter().enumerate() {
        let corners = solid.corners(t).map(|p| Vector3::from(p).norm());
        let (near, far) = corners.iter().fold((f64::MAX, 0.0_f64), |(n, f), r| (n.min(*r), f.max(*r)));
        if far < 0.99 {
            assert_eq!(share, 1.0, "tet {t} inside");
        }
        // A tet can come closer to the middle than its corners do.
        if near > 1.02 {
            assert_eq!(share, 0.01, "tet {t} outside");
        }
        assert_eq!(solid.volumes()[t], whole.volumes()[t] * share);
    }
}

#[test]
fn holes_do_not_empty_a_body_and_sheets_keep_a_little() {
    let whole = sphere(4);
    let open = whole.clone().kept(|[_, _, z]| z < 0.9);
    let [open, whole] = [&open, &whole].map(|soup| volume(&solid(soup, 24)));
    assert!((open / whole - 1.0).abs() < 0.05, "{open} of {whole}");
    let sheet = solid(&square(8), 24);
    assert!(sheet.solid().iter().all(|&share| share >= 0.01));
    let swings = swings(&solid(&square(4).placed([1.0, 1.0, 1.0], [0.0; 3]), 6), |p| p[0] > -0.9);
    assert!(swings[0] > 1e-6, "{}", swings[0]);
}

#[test]
fn orientation_and_units_do_not_matter() {
    let soup = sphere(3).mapped(|[x, y, z]| [x, 0.6 * y + 0.2 * x, z * (1.0 + 0.3 * x)]);
    let mesh = solid(&soup, 20);
    let random = solid(&soup.clone().flipped(|i| i % 3 == 0), 20);
    assert_eq!(mesh.solid(), random.solid());
    let large = solid(&soup.placed([1024.0; 3], [0.0; 3]), 20);
    assert_eq!(mesh.solid(), large.solid());
}

#[test]
fn a_beam_of_two_cells_swings_as_a_beam_does() {
    let mesh = solid(&beam(&Rotation3::identity()), 16);
    assert_eq!(mesh.cells().len(), 16 * 2 * 2);
    let lowest = swings(&mesh, |p| p[0] > -4.0 + 1e-3)[0].sqrt();
    // Euler-Bernoulli beam; shear makes it slower by 1 percent.
    let exact = 1.875_104_f64.powi(2) * (1.0_f64 / 12.0).sqrt() / 64.0;
    assert!((lowest / exact - 0.99).abs() < 0.03, "{}", lowest / exact);
    let locked =
        swings(&lattice(&beam(&Rotation3::identity()).surface(), 16, &Progress::default()).unwrap(), |p| {
            p[0] > -4.0 + 1e-3
        });
    assert!(locked[0].sqrt() > 1.2 * exact, "tets lock: {}", locked[0].sqrt() / exact);
}

#[test]
fn a_beam_swings_the_same_however_it_lies_in_the_lattice() {
    let lowest = |turn: Rotation3<f64>, resolution| {
        let swings = swings(&solid(&beam(&turn), resolution), |_| true);
        assert!(swings[5] < 1e-6 * swings[6], "six rigid motions: {:?}", &swings[..7]);
        swings[6].sqrt()
    };
    let exact = lowest(Rotation3::identity(), 24);
    for [x, y, z] in [[0.0, 0.0, 0.29], [0.2, -0.4, 0.3], [0.5, 0.3, -0.6]] {
        let turn = Rotation3::from_euler_angles(x, y, z);
        let longest = beam(&turn).points.iter().flatten().fold(0.0_f64, |a, x| a.max(x.abs()));
        let ratio = lowest(turn, (4.0 * longest).round() as usize) / exact;
        assert!((ratio - 1.0).abs() < 0.07, "{ratio}");
    }
}

#[test]
fn affine_fields_are_exact_in_cells_that_are_cut() {
    let mesh = solid(&sphere(3), 10);
    let f = Matrix3::new(1.1, 0.2, -0.1, 0.0, 0.9, 0.3, 0.2, -0.2, 1.3);
    let strains = Strains::new(&mesh);
    for t in 0..mesh.tets().len() {
        let gradient: Matrix3<f64> = strains
            .of(t)
            .map(|(v, g)| f * Vector3::from(mesh.vertices()[v as usize]) * Vector3::from(g).transpose())
            .sum();
        assert!((gradient - f).norm() < 1e-12, "tet {t}: {gradient}");
    }
    let quadratic = stiffness(&mesh, &unit()).unwrap();
    let x: Vec<f64> = mesh.vertices().iter().map(|p| p[0] - 0.5 * p[1] + 2.0).collect();
    let energy: f64 = (0..x.len())
        .flat_map(|j| {
            quadratic.row_idx_of_col_raw(j).iter().zip(quadratic.val_of_col(j)).map(move |e| (j, e))
        })
        .map(|(j, (&i, value))| x[i as usize] * value * x[j])
        .sum();
    let exact = volume(&mesh) * (1.0 + 0.25);
    assert!((energy / exact - 1.0).abs() < 1e-12, "{}", energy / exact);
}

#[test]
fn corners_that_flesh_hardly_reaches_do_not_swing_by_themselves() {
    let cell = |centre, spread| FleshCell { corners: [0; 8], side: 0.3, centre, spread };
    let resistance = |cell: &FleshCell, corner: usize| {
        let straight: f64 = cell.gradients()[corner].iter().map(|g| g * g).sum();
        straight + cell.twists().iter().map(|(r, s)| r * s[corner] * s[corner]).sum::<f64>()
    };
    let full = cell([0.0; 3], [1.0 / 3.0; 3]);
    let places =
        [0usize, 3, 7].map(|near| std::array::from_fn(|a| if near >> a & 1 == 1 { 0.9 } else { -0.9 }));
    for few in places.map(|centre| cell(centre, [0.003; 3])) {
        for corner in 0..8 {
            assert!(resistance(&few, corner) > 0.15 * resistance(&full, corner), "{corner} of {few:?}");
        }
    }
}

#[test]
fn flesh_weighs_where_it_is() {
    let mesh = solid(&sphere(4).placed([1.0, 0.6, 0.4], [0.03, 0.02, 0.01]), 12);
    let volumes = vertex_volumes(&mesh);
    let ratio = volumes.iter().sum::<f64>() / volume(&mesh);
    assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    for (c, cell) in mesh.cells().iter().enumerate() {
        let volume: f64 = mesh.volumes()[5 * c..5 * c + 5].iter().sum();
        let shares = cell.mass_shares(volume);
        let even = 0.01 * cell.side.powi(3) / volume;
        assert!(
            shares.iter().all(|share| *share >= 0.99 * even / 8.0),
            "no corner of cell {c} is weightless"
        );
        let low = Vector3::from(mesh.vertices()[cell.corners[0] as usize]);
        for axis in 0..3 {
            let place = |corner: u32| mesh.vertices()[corner as usize][axis] - low[axis];
            let mean: f64 =
                cell.corners.iter().zip(shares).map(|(&corner, share)| share * place(corner)).sum();
            let exact = cell.side * (1.0 + (1.0 - even) * cell.centre[axis]) / 2.0;
            assert!((mean - exact).abs() < 1e-12 * cell.side, "cell {c}, axis {axis}: {mean}, not {exact}");
        }
    }
}

#[test]
fn a_layer_that_ends_within_a_cell_swings_as_in_finer_cells() {
    let held = 0.125 + 1e-6;
    // With equal shares the lowest frequency is at .78 and .79 of its exact value.
    for top in [0.275, 0.3] {
        let slab = cube(1).placed([0.5, 0.125, top], [0.0; 3]);
        let [coarse, fine] =
            [8, 24].map(|resolution| swings(&solid(&slab, resolution), |p| p[2] > held)[0].sqrt());
        assert!((coarse / fine - 1.0).abs() < 0.15, "{top}: {}", coarse / fine);
    }
}

#[test]
fn modes_of_cells_give_way_to_a_load_nearly_as_cells_do() {
    let mesh =
        solid_lattice(&sphere(3).placed([1.0, 0.6, 0.4], [0.0; 3]).surface(), 16, &Progress::default())
            .unwrap();
    let n = mesh.vertices().len();
    let pinned: Vec<bool> =
        mesh.vertices().iter().map(|p| p[0].abs() < 0.7 && p[1].hypot(p[2]) < 0.15).collect();
    let (material, mass) = (unit(), lumped_mass(&mesh, &unit()));
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let modes = restrained_modes(&mesh, &material, 16, &restraint, &Progress::default()).unwrap().weights;
    let free: Vec<usize> = (0..n).filter(|&i| !pinned[i]).collect();
    let whole = stiffness(&mesh, &material).unwrap().to_dense();
    let whole = Mat::from_fn(free.len(), free.len(), |i, j| whole[(free[i], free[j])]);
    let load = Mat::from_fn(free.len(), 1, |i, _| mass[free[i]]);
    // Each mode contributes affine transforms.
    let place = |i: usize, d: usize| if d < 3 { mesh.vertices()[free[i]][d] } else { 1.0 };
    let basis = Mat::from_fn(free.len(), 64, |i, column| modes[(free[i], column / 4)] * place(i, column % 4));
    let reduced = basis.transpose() * &whole * &basis;
    let gives_way = |stiffness: &Mat<f64>, load: &Mat<f64>| {
        let moved = stiffness.as_ref().llt(Side::Lower).unwrap().solve(load);
        (load.transpose() * moved)[(0, 0)]
    };
    let share = gives_way(&reduced, &(basis.transpose() * &load)) / gives_way(&whole, &load);
    assert!((0.9..1.0).contains(&share), "{share}");
}

#[test]
fn tets_keep_the_energy_that_they_had() {
    let mesh = lattice(&sphere(2).surface(), 8, &Progress::default()).unwrap();
    let [of_tets, of_body] =
        [laplacian(&mesh, &vec![1.0; mesh.tets().len()]), stiffness(&mesh, &unit())].map(|l| l.unwrap());
    assert_eq!(of_tets.val(), of_body.val());
}

#[test]
fn shares_that_are_none_are_refused() {
    let mesh = lattice(&sphere(2).surface(), 4, &Progress::default()).unwrap();
    let count = mesh.tets().len();
    let refused = |shares: Vec<f64>| mesh.clone().with_solid(&shares).err();
    assert!(matches!(refused(vec![1.0; count - 1]), Some(Error::Shape { what: "solid", .. })));
    assert!(matches!(refused(vec![f64::NAN; count]), Some(Error::NotFinite { what: "solid", .. })));
    for wrong in [0.0, -0.5, 1.5] {
        assert!(matches!(refused(vec![wrong; count]), Some(Error::Range { what: "solid", .. })), "{wrong}");
    }
}
