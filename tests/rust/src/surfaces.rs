//! Small procedural surfaces: closed, open, in components, wrongly oriented.

use std::collections::HashMap;

use jounce::mesh::SurfaceMesh;

/// Unchecked points and triangles.
#[derive(Debug, Clone, Default)]
pub struct Soup {
    /// Positions, p x 3.
    pub points: Vec<[f64; 3]>,
    /// Point indices, q x 3.
    pub triangles: Vec<[u32; 3]>,
}

impl Soup {
    /// The checked surface.
    pub fn surface(&self) -> SurfaceMesh {
        SurfaceMesh::new(self.points.clone(), self.triangles.clone()).expect("a valid surface")
    }

    /// This soup and another beside it, without shared points.
    pub fn and(mut self, other: Self) -> Self {
        let offset = self.points.len() as u32;
        self.points.extend(other.points);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + offset)));
        self
    }

    /// The same soup with each point moved by a function.
    pub fn mapped(mut self, f: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        self.points.iter_mut().for_each(|p| *p = f(*p));
        self
    }

    /// The same soup scaled, then translated.
    pub fn placed(self, scale: [f64; 3], by: [f64; 3]) -> Self {
        self.mapped(|p| std::array::from_fn(|a| p[a] * scale[a] + by[a]))
    }

    /// The same soup with the triangles flipped for whose index the condition holds.
    pub fn flipped(mut self, condition: impl Fn(usize) -> bool) -> Self {
        let chosen = self.triangles.iter_mut().enumerate().filter(|(i, _)| condition(*i));
        chosen.for_each(|(_, t)| t.swap(1, 2));
        self
    }

    /// The triangles whose centre satisfies the condition; all points stay.
    pub fn kept(mut self, condition: impl Fn([f64; 3]) -> bool) -> Self {
        let points = &self.points;
        self.triangles.retain(|t| {
            condition(std::array::from_fn(|a| t.iter().map(|&v| points[v as usize][a]).sum::<f64>() / 3.0))
        });
        self
    }

    /// The same soup with separate points for each triangle, as file formats with split normals store them.
    pub fn split(self) -> Self {
        let points = self.triangles.as_flattened().iter().map(|&v| self.points[v as usize]).collect();
        let triangles = (0..self.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Self { points, triangles }
    }
}

/// The square of side 2 about the origin in the plane z = 0, facing up, with n x n cells.
pub fn square(n: u32) -> Soup {
    let at = |i: u32| 2.0 * f64::from(i) / f64::from(n) - 1.0;
    let points = (0..=n).flat_map(|i| (0..=n).map(move |j| [at(i), at(j), 0.0])).collect();
    let cell = |i: u32, j: u32| {
        let a = i * (n + 1) + j;
        let (b, c, d) = (a + n + 1, a + n + 2, a + 1);
        [[a, b, c], [a, c, d]]
    };
    let triangles = (0..n).flat_map(|i| (0..n).flat_map(move |j| cell(i, j))).collect();
    Soup { points, triangles }
}

/// The cube of side 2 about the origin as six squares without shared points.
pub fn cube(n: u32) -> Soup {
    let up = square(n).placed([1.0; 3], [0.0, 0.0, 1.0]);
    let sides = (0..3).flat_map(|turn| {
        let turned = up.clone().mapped(|p| std::array::from_fn(|a| p[(a + turn) % 3]));
        let opposite = turned.clone().placed([-1.0; 3], [0.0; 3]).flipped(|_| true);
        [turned, opposite]
    });
    sides.fold(Soup::default(), Soup::and)
}

/// The unit sphere about the origin: a repeatedly refined octahedron.
pub fn sphere(refinements: u32) -> Soup {
    let mut points = vec![
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    for _ in 0..refinements {
        let mut middles = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let sum: [f64; 3] = std::array::from_fn(|c| points[a as usize][c] + points[b as usize][c]);
                let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
                points.push(sum.map(|x| x / length));
                points.len() as u32 - 1
            })
        };
        let refine = |[a, b, c]: [u32; 3]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        triangles = triangles.into_iter().flat_map(refine).collect();
    }
    Soup { points, triangles }
}

/// A torus about z with ring radius 1 and tube radius `tube`.
pub fn torus(tube: f64, around: u32, across: u32) -> Soup {
    let turn = |i: u32, n: u32| std::f64::consts::TAU * f64::from(i) / f64::from(n);
    let point = |i: u32, j: u32| {
        let (a, b) = (turn(i, around), turn(j, across));
        let ring = 1.0 + tube * b.cos();
        [ring * a.cos(), ring * a.sin(), tube * b.sin()]
    };
    let points = (0..around).flat_map(|i| (0..across).map(move |j| point(i, j))).collect();
    let index = |i: u32, j: u32| (i % around) * across + j % across;
    let cell = |i: u32, j: u32| {
        let [a, b, c, d] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    let triangles = (0..around).flat_map(|i| (0..across).flat_map(move |j| cell(i, j))).collect();
    Soup { points, triangles }
}

/// Points spread evenly over the cube [-1, 1]^3, the same each time (additive recurrence of the plastic
/// constant).
pub fn scattered(count: usize) -> Vec<[f64; 3]> {
    let ratio = 1.220_744_084_605_759_5_f64;
    let steps = [1.0 / ratio, ratio.powi(-2), ratio.powi(-3)];
    (1..=count).map(|i| steps.map(|step| 2.0 * (i as f64 * step).fract() - 1.0)).collect()
}
