//! A bar on two bones with hand-made modes: small enough for dense checks.

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::skinning_modes::SkinningModel;
use jounce::rig::Rig;
use jounce::subspace::{Basis, SkinningModes};
use nalgebra::{Rotation3, Vector3};

/// A 3x4 transform, row-major.
pub type Transform = [[f64; 4]; 3];

/// The identity transform.
pub const REST: Transform = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// A box of `cells` cells of the given size, six tets per cell.
pub fn bar(cells: [usize; 3], cell: f64) -> TetMesh {
    let [nx, ny, nz] = cells;
    let index = |i: usize, j: usize, k: usize| (i + (nx + 1) * (j + (ny + 1) * k)) as u32;
    let mut vertices = Vec::new();
    for k in 0..=nz {
        for j in 0..=ny {
            vertices.extend((0..=nx).map(|i| [i, j, k].map(|x| x as f64 * cell)));
        }
    }
    let mut tets = Vec::new();
    for (i, j, k) in (0..nx * ny * nz).map(|c| (c % nx, c / nx % ny, c / nx / ny)) {
        let corner = |bits: usize| index(i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2));
        for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
            tets.push([corner(0), corner(a), corner(b), corner(7)]);
        }
    }
    TetMesh::new(vertices, tets).expect("a box is a valid mesh")
}

/// A bar with its rig, modes and clusters.
pub struct Body {
    /// The bar.
    pub mesh: TetMesh,
    /// Material of the bar.
    pub material: Material,
    /// Rig of two bones that blend along x.
    pub rig: Rig,
    /// Hand-made modes.
    pub modes: SkinningModes,
    /// Cluster label of each tet.
    pub labels: Vec<i32>,
}

impl Body {
    /// A bar of 8 x 3 x 3 cells, 0.8 m long, bent by two bones; its modes vanish at both ends.
    pub fn bar() -> Self {
        Self::new(bar([8, 3, 3], 0.1), 4, 2)
    }

    /// Any box, with products of sines as modes and clusters with the length of `slab` cells.
    pub fn new(mesh: TetMesh, mode_count: usize, slab: usize) -> Self {
        let vertices = mesh.vertices();
        let n = vertices.len();
        let length = vertices.iter().fold(0.0, |l: f64, v| l.max(v[0]));
        let width = vertices.iter().fold(0.0, |l: f64, v| l.max(v[1]));
        let blend = |x: f64| (3.0 - 2.0 * x / length) * (x / length).powi(2);
        let weights: Vec<f64> = vertices.iter().flat_map(|v| [1.0 - blend(v[0]), blend(v[0])]).collect();
        let wave = |k: usize, v: &[f64; 3]| {
            let along = (std::f64::consts::PI * (k / 2 + 1) as f64 * v[0] / length).sin();
            along * if k.is_multiple_of(2) { 1.0 } else { v[1] / width - 0.4 }
        };
        let modes = SkinningModes {
            weights: Mat::from_fn(n, mode_count, |i, k| wave(k, &vertices[i])),
            eigenvalues: (0..mode_count).map(|k| 900.0 * ((k + 1) * (k + 1)) as f64).collect(),
        };
        let cell = vertices[1][0] - vertices[0][0];
        let labels = (0..mesh.tets().len())
            .map(|t| {
                let center: [f64; 3] =
                    std::array::from_fn(|c| mesh.corners(t).iter().map(|p| p[c] / 4.0).sum());
                let slab = (center[0] / (cell * slab as f64)) as i32;
                2 * slab + i32::from(center[2] > 0.5 * width)
            })
            .collect();
        let rig = Rig::new(n, 2, &weights).expect("weights sum to one");
        let stiff = (0..mesh.tets().len()).map(|t| 2e3 + 1e3 * (t % 3) as f64).collect();
        let material =
            Material::new(Law::Arap, Field::PerTet(stiff), Field::Uniform(0.0), Field::Uniform(800.0))
                .expect("a valid material");
        Self { material, rig, modes, labels, mesh }
    }

    /// The same body with another law and a Poisson ratio.
    pub fn with_law(self, law: Law, poisson: f64) -> Self {
        let tets = 0..self.mesh.tets().len();
        // Young's modulus for the same mu.
        let stiff = tets.map(|t| 2.0 * self.material.mu(t) * (1.0 + poisson)).collect();
        let density = Field::Uniform(self.material.density(0));
        let material = Material::new(law, Field::PerTet(stiff), Field::Uniform(poisson), density)
            .expect("a valid material");
        Self { material, ..self }
    }

    /// The bar as rigid as possible, and corotated with a Poisson ratio of 0.4.
    pub fn bars() -> [Self; 2] {
        [Self::bar(), Self::bar().with_law(Law::Corotated, 0.4)]
    }

    /// The reduced body with its rig.
    pub fn reduced(&self) -> SkinningModel {
        self.reduce(Some(&self.rig))
    }

    /// The reduced body, with or without a rig.
    pub fn reduce(&self, rig: Option<&Rig>) -> SkinningModel {
        SkinningModel::new(&self.mesh, &self.material, &self.modes, &self.labels, rig).expect("a valid body")
    }

    /// The model with its rig.
    pub fn model(&self) -> Model {
        Model::Skinning(self.reduced().into())
    }
}

/// Displacements along all axes that vanish at x = 0, `count` of them: waves along and across a box.
pub fn waves(mesh: &TetMesh, count: usize) -> Basis {
    let end = mesh.vertices().iter().fold([0.0; 3], |end, v| [0, 1, 2].map(|c| f64::max(end[c], v[c])));
    let wave = |k: usize, v: &[f64; 3]| {
        let along = (std::f64::consts::FRAC_PI_2 * (1 + k / 6) as f64 * v[0] / end[0]).sin();
        along * if (k / 3).is_multiple_of(2) { 1.0 } else { v[2 - k / 6 % 2] / end[1] - 0.4 }
    };
    let at = |k: usize, v: &[f64; 3]| [0, 1, 2].map(|c| if c == k % 3 { wave(k, v) } else { 0.0 });
    let shapes: Vec<f64> =
        (0..count).flat_map(|k| mesh.vertices().iter().flat_map(move |v| at(k, v))).collect();
    Basis::from_shapes(&shapes, count).expect("finite displacements")
}

/// A rotation about an axis through a point, followed by a translation.
pub fn turn(axis: [f64; 3], angle: f64, center: [f64; 3], shift: [f64; 3]) -> Transform {
    let rotation = Rotation3::from_scaled_axis(Vector3::from(axis).normalize() * angle);
    let center = Vector3::from(center);
    let offset = center - rotation * center + Vector3::from(shift);
    std::array::from_fn(|i| {
        std::array::from_fn(|j| if j < 3 { rotation.matrix()[(i, j)] } else { offset[i] })
    })
}

/// The bar's second bone swings up and down; the first follows a little.
pub fn swing(time: f64) -> [Transform; 2] {
    let angle = 0.9 * (6.0 * time).sin();
    [
        turn([0.0, 1.0, 0.3], 0.2 * angle, [0.0; 3], [0.1 * (5.0 * time).sin(), 0.0, 0.02 * time]),
        turn([0.1, 0.0, 1.0], angle, [0.4, 0.1, 0.1], [0.0, 0.05 * (9.0 * time).sin(), 0.0]),
    ]
}

/// The composition `a` after `b`.
pub fn compose(a: &Transform, b: &Transform) -> Transform {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let sum: f64 = (0..3).map(|k| a[i][k] * b[k][j]).sum();
            if j == 3 { sum + a[i][3] } else { sum }
        })
    })
}

/// Displacement of the vertices by the definition, from coefficients m x 3 x 4.
pub fn displacement(body: &Body, z: &[f64]) -> Vec<[f64; 3]> {
    let m = body.modes.eigenvalues.len();
    let move_vertex = |i: usize| {
        let [x, y, zz] = body.mesh.vertices()[i];
        std::array::from_fn(|c| {
            (0..m)
                .map(|k| {
                    let row = &z[12 * k + 4 * c..][..4];
                    body.modes.weights[(i, k)] * (row[0] * x + row[1] * y + row[2] * zz + row[3])
                })
                .sum()
        })
    };
    (0..body.mesh.vertices().len()).map(move_vertex).collect()
}

/// Largest magnitude of a coordinate.
pub fn largest(u: &[[f64; 3]]) -> f64 {
    u.as_flattened().iter().fold(0.0, |a, x| a.max(x.abs()))
}

/// Numbers without a pattern, of magnitude at most `size`.
pub fn some_coefficients(count: usize, size: f64) -> Vec<f64> {
    (0..count).map(|i| size * ((i * i) as f64 * 0.7 + 1.3 * i as f64).sin()).collect()
}
