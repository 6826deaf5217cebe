//! Boxes with exact symmetry, alone and in rows, and bones along them.

use jounce::mesh::TetMesh;

/// A box of cubic cells of side `cell` metres, six tets each, mirrored from cell to cell: for even numbers
/// of cells the mesh has every symmetry of the box.
pub fn box_mesh(cells: [usize; 3], cell: f64) -> TetMesh {
    let points = cells.map(|c| c + 1);
    let index = |p: [usize; 3]| ((p[0] * points[1] + p[1]) * points[2] + p[2]) as u32;
    let grid = |size: [usize; 3]| {
        (0..size[0] * size[1] * size[2])
            .map(move |i| [i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]])
    };
    let vertices = grid(points).map(|p| p.map(|x| x as f64 * cell)).collect();
    let tets = grid(cells).flat_map(|at| {
        let corner =
            |c: [bool; 3]| index(std::array::from_fn(|d| at[d] + usize::from(c[d] != (at[d] % 2 == 1))));
        AXIS_ORDERS.map(|[a, b, _]| {
            let (mut one, mut two) = ([false; 3], [false; 3]);
            one[a] = true;
            two[a] = true;
            two[b] = true;
            [corner([false; 3]), corner(one), corner(two), corner([true; 3])]
        })
    });
    oriented(vertices, tets.collect())
}

const AXIS_ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Copies of a mesh as one mesh of separate components, each `gap` metres further along x.
pub fn row_of(mesh: &TetMesh, count: usize, gap: f64) -> TetMesh {
    let n = mesh.vertices().len() as u32;
    let vertices =
        (0..count).flat_map(|i| mesh.vertices().iter().map(move |v| [v[0] + i as f64 * gap, v[1], v[2]]));
    let tets = (0..count as u32).flat_map(|i| mesh.tets().iter().map(move |t| t.map(|v| v + i * n)));
    TetMesh::new(vertices.collect(), tets.collect()).unwrap()
}

/// Overlapping weights of bones side by side along x: n x `bones` in C order.
pub fn weights_along_x(mesh: &TetMesh, bones: usize) -> Vec<f64> {
    let length = mesh.vertices().iter().map(|v| v[0]).fold(0.0, f64::max);
    let mut weights = Vec::new();
    for vertex in mesh.vertices() {
        let place = vertex[0] / length * (bones - 1) as f64;
        weights.extend((0..bones).map(|bone| (1.0 - (place - bone as f64).abs()).max(0.0)));
    }
    weights
}

fn oriented(vertices: Vec<[f64; 3]>, mut tets: Vec<[u32; 4]>) -> TetMesh {
    for tet in &mut tets {
        let [a, b, c, d] = tet.map(|v| nalgebra::Vector3::from(vertices[v as usize]));
        if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 {
            tet.swap(2, 3);
        }
    }
    TetMesh::new(vertices, tets).unwrap()
}
