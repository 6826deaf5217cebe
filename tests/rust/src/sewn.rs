//! Two bars stitched together.

use faer::Mat;
use jounce::Progress;
use jounce::material::{Field, Law, Material};
use jounce::mesh::{Embedding, TetMesh};
use jounce::operators::Stitches;
use jounce::subspace::{EditedModes, LinearModes, LinearProblem, Restraint};

use crate::bodies::bar;
use crate::boxes::row_of;
use crate::dense::hooke;

/// Gap between the bars, metres.
const GAP: f64 = 0.02;

fn silent() -> Progress {
    Progress::default()
}

/// Two bars end to end, 2 cm apart, the first fixed at its far end, the other free or fixed likewise.
pub struct Bars {
    /// Both bars as one mesh, the vertices of the first before those of the other.
    pub mesh: TetMesh,
    /// Material of both bars.
    pub material: Material,
    /// Pinned vertices.
    pub pinned: Vec<bool>,
}

impl Bars {
    /// Bars with this number of cells each, 20 cm thick; both fixed, or the first alone.
    pub fn new(cells: [usize; 3], both: bool) -> Self {
        Self::apart(cells, both, GAP)
    }

    /// As [`Bars::new`], with another gap.
    pub fn apart(cells: [usize; 3], both: bool, gap: f64) -> Self {
        let side = 0.2 / cells[1] as f64;
        let length = cells[0] as f64 * side;
        let mesh = row_of(&bar(cells, side), 2, length + gap);
        let end = 2.0 * length + gap;
        let held = |v: &[f64; 3]| v[0] < 1e-9 || (both && v[0] > end - 1e-9);
        let pinned = mesh.vertices().iter().map(held).collect();
        let number = Field::Uniform;
        let material = Material::new(Law::Corotated, number(2e4), number(0.3), number(1000.0)).unwrap();
        Self { mesh, material, pinned }
    }

    /// No stitches.
    pub fn none(&self) -> Stitches {
        Stitches::none(&self.mesh)
    }

    /// Springs between vertices that coincide in two bars without a gap; the springs have no gap either.
    pub fn seam(&self, stiffness: f64) -> Stitches {
        let (vertices, half) = (self.mesh.vertices(), self.mesh.vertices().len() / 2);
        let near = |a: usize, b: usize| (0..3).all(|c| (vertices[a][c] - vertices[b][c]).abs() < 1e-9);
        let pairs =
            (0..half).flat_map(|a| (half..2 * half).filter(move |&b| near(a, b)).map(move |b| [a, b]));
        let pairs: Vec<[u32; 2]> = pairs.map(|pair| pair.map(|v| v as u32)).collect();
        let (stiffness, gaps) = (vec![stiffness; pairs.len()], vec![0.0; pairs.len()]);
        Stitches::between_vertices(&self.mesh, &pairs, &stiffness, &gaps).unwrap()
    }

    /// Some of the seam's springs, spread evenly.
    pub fn some_of_seam(&self, stiffness: f64, count: usize) -> Stitches {
        let differences = self.seam(stiffness).differences();
        let ends = |s: usize| {
            let mut ends: Vec<u32> = differences.row_idx_of_col(s).map(|v| v as u32).collect();
            ends.sort_unstable();
            [ends[0], ends[1]]
        };
        let all = differences.ncols();
        let pairs: Vec<[u32; 2]> = (0..count).map(|s| ends((2 * s + 1) * all / (2 * count))).collect();
        Stitches::between_vertices(&self.mesh, &pairs, &vec![stiffness; count], &vec![0.0; count]).unwrap()
    }

    /// Springs across the gap between points of the faces.
    pub fn stitches(&self, count: usize, stiffness: f64) -> Stitches {
        let middle = 0.5 * self.mesh.vertices().iter().map(|v| v[0]).fold(0.0, f64::max);
        let place = |s: usize| [0.618, 0.755].map(|step| 0.01 + 0.18 * (0.37 + step * s as f64).fract());
        let points = (0..count).flat_map(|s| {
            [-0.5, 0.5].map(|side| {
                let [y, z] = place(s);
                [middle + side * GAP, y, z]
            })
        });
        let embedding = Embedding::new(&self.mesh, points.collect()).unwrap();
        let pairs: Vec<[u32; 2]> = (0..count as u32).map(|s| [2 * s, 2 * s + 1]).collect();
        let (stiffness, gaps) = (vec![stiffness; count], vec![1.0; count]);
        Stitches::between_points(&self.mesh, &embedding, &pairs, &stiffness, &gaps).unwrap()
    }

    /// The eigenproblem, factored with these stitches.
    pub fn problem(&self, stitches: &Stitches) -> LinearProblem {
        let restraint = Restraint { pinned: Some(&self.pinned), ..Restraint::default() };
        LinearProblem::new(&self.mesh, &self.material, &restraint, stitches, &silent()).unwrap()
    }

    /// The lowest modes, factored with these stitches.
    pub fn modes(&self, stitches: &Stitches, count: usize) -> LinearModes {
        self.problem(stitches).lowest(count, &silent()).unwrap()
    }

    /// Modes of the body stitched after its factorisation.
    pub fn stitched(&self, stitches: &Stitches, count: usize) -> EditedModes {
        let problem = self.problem(&self.none());
        problem.stitched(&problem.lowest(count + 12, &silent()).unwrap(), stitches, count).unwrap()
    }

    /// K of Hooke's law and these springs.
    pub fn stiffness(&self, stitches: &Stitches) -> Mat<f64> {
        dense(&hooke(&self.mesh, &self.material), stitches)
    }

    /// Rows of free coordinates.
    pub fn free(&self) -> Vec<usize> {
        (0..3 * self.pinned.len()).filter(|row| !self.pinned[row / 3]).collect()
    }
}

/// `K + A k A'`, with a spring equally stiff along each coordinate.
fn dense(stiffness: &Mat<f64>, stitches: &Stitches) -> Mat<f64> {
    let columns = stitches.differences().to_dense();
    let springs = Mat::from_fn(columns.ncols(), 1, |s, _| stitches.stiffness().nth(s).unwrap());
    let scaled = Mat::from_fn(columns.nrows(), columns.ncols(), |i, s| springs[(s, 0)] * columns[(i, s)]);
    let block = scaled * columns.transpose();
    Mat::from_fn(stiffness.nrows(), stiffness.ncols(), |i, j| {
        stiffness[(i, j)] + if i % 3 == j % 3 { block[(i / 3, j / 3)] } else { 0.0 }
    })
}
