//! Complementary dynamics in any subspace, with dense matrices and separate tets: slow, but plain to read.

use faer::prelude::Solve;
use faer::{Mat, Side};
use jounce::material::Material;
use jounce::mesh::TetMesh;
use jounce::operators::{gradients, laplacian, lumped_mass};
use nalgebra::{Matrix3, Vector3};

use crate::bodies::{Body, Transform};
use crate::rotations::rotation;

/// Maximum number of iterations of a step; then the change of any coordinate, as a share of the diagonal,
/// that ends them.
const ITERATIONS: usize = 300;
const TOLERANCE: f64 = 1e-10;

/// Displacements, 3n interleaved, of backward Euler steps in the subspace `B z`, from rest in the first
/// pose; the rest shape is the bind shape. The basis is 3n x r with linearly independent columns.
pub fn trajectory(body: &Body, basis: &Mat<f64>, poses: &[Vec<Transform>], dt: f64) -> Vec<Vec<f64>> {
    let n = body.mesh.vertices().len();
    let mass = lumped_mass(&body.mesh, &body.material);
    let conductivity: Vec<f64> = (0..body.mesh.tets().len()).map(|t| 2.0 * body.material.mu(t)).collect();
    let stiffness = laplacian(&body.mesh, &conductivity).unwrap().to_dense();
    let by_coordinate = |x: &Mat<f64>| {
        Mat::from_fn(3 * n, x.ncols(), |row, j| {
            (0..n).map(|k| stiffness[(row / 3, k)] * x[(3 * k + row % 3, j)]).sum::<f64>()
        })
    };
    let inertia = |row: usize| mass[row / 3] / (dt * dt);
    let image = by_coordinate(basis);
    let image = Mat::from_fn(3 * n, basis.ncols(), |row, j| image[(row, j)] + inertia(row) * basis[(row, j)]);
    let system = (basis.transpose() * image).llt(Side::Lower).unwrap();
    let mut history = [posed(body, &poses[0]), posed(body, &poses[0])];
    let mut u = Mat::zeros(3 * n, 1);
    let step = |pose: &Vec<Transform>| {
        let rig = posed(body, pose);
        let [before, now] = &history;
        let free =
            Mat::from_fn(3 * n, 1, |i, _| inertia(i) * (2.0 * now[(i, 0)] - before[(i, 0)] - rig[(i, 0)]));
        let constant = free - by_coordinate(&rig);
        for _ in 0..ITERATIONS {
            let known = basis.transpose() * (&constant + pull(body, &(&rig + &u)));
            let next = basis * system.solve(known);
            let change = (&next - &u).norm_max();
            u = next;
            if change < TOLERANCE * body.mesh.diagonal() {
                break;
            }
        }
        history = [history[1].clone(), &rig + &u];
        (0..3 * n).map(|i| u[(i, 0)]).collect()
    };
    poses[1..].iter().map(step).collect()
}

/// Vertices in the rig's pose, 3n interleaved.
fn posed(body: &Body, pose: &[Transform]) -> Mat<f64> {
    let mut out = Mat::zeros(3 * body.mesh.vertices().len(), 1);
    for (bone, transform) in pose.iter().enumerate() {
        for &(v, w) in body.rig.bone(bone) {
            let x = body.mesh.vertices()[v as usize];
            for (c, row) in transform.iter().enumerate() {
                out[(3 * v as usize + c, 0)] += w * (row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3]);
            }
        }
    }
    out
}

/// `sum_t 2 mu_t V_t G_t' R_t`, 3n.
fn pull(body: &Body, x: &Mat<f64>) -> Mat<f64> {
    summed(body, x, rotation)
}

/// Gradient of `sum_t mu_t V_t |F_t - R_t|^2` of a bar as rigid as possible, displaced by u from its pose,
/// 3n.
pub fn elastic_gradient(body: &Body, pose: &[Transform], u: &[f64]) -> Vec<f64> {
    let rig = posed(body, pose);
    let x = Mat::from_fn(u.len(), 1, |i, _| rig[(i, 0)] + u[i]);
    summed(body, &x, |f| f - rotation(f)).col_as_slice(0).to_vec()
}

/// `sum_t 2 mu_t V_t G_t' P(F_t)`, 3n.
fn summed(body: &Body, x: &Mat<f64>, stress: impl Fn(&Matrix3<f64>) -> Matrix3<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(x.nrows(), 1);
    for (t, hats) in gradients(&body.mesh).iter().enumerate() {
        let tet = body.mesh.tets()[t].map(|v| v as usize);
        let f: Matrix3<f64> = tet
            .iter()
            .zip(hats)
            .map(|(&v, hat)| Vector3::from_fn(|c, _| x[(3 * v + c, 0)]) * Vector3::from(*hat).transpose())
            .sum();
        let stress = 2.0 * body.material.mu(t) * body.mesh.volumes()[t] * stress(&f);
        for (&v, hat) in tet.iter().zip(hats) {
            let force = stress * Vector3::from(*hat);
            (0..3).for_each(|c| out[(3 * v + c, 0)] += force[c]);
        }
    }
    out
}

/// Small-strain stiffness matrix of tets, 3n x 3n, from Hooke's law.
pub fn hooke(mesh: &TetMesh, material: &Material) -> Mat<f64> {
    let size = 3 * mesh.vertices().len();
    let mut stiffness = Mat::zeros(size, size);
    for (t, hats) in gradients(mesh).iter().enumerate() {
        let (mu, lambda, volume) = (material.mu(t), material.lambda(t), mesh.volumes()[t]);
        for (&v, a) in mesh.tets()[t].iter().zip(hats) {
            for (&w, b) in mesh.tets()[t].iter().zip(hats) {
                let (a, b) = (Vector3::from(*a), Vector3::from(*b));
                let block =
                    mu * (a.dot(&b) * Matrix3::identity() + b * a.transpose()) + lambda * a * b.transpose();
                for (c, d) in (0..9).map(|e| (e / 3, e % 3)) {
                    stiffness[(3 * v as usize + c, 3 * w as usize + d)] += volume * block[(c, d)];
                }
            }
        }
    }
    stiffness
}

/// Twice the quadratic part in A of the stress of a corotated law at `F = I + A`: the strain is
/// `E + (A'A - E^2) / 2` up to third order, `E = sym A`.
fn quadratic_stress(material: &Material, tet: usize, a: &Matrix3<f64>) -> Matrix3<f64> {
    let (e, squares) = (0.5 * (a + a.transpose()), a.transpose() * a);
    let turned = squares + 2.0 * a * e - 3.0 * e * e;
    let grown = 0.5 * (squares - e * e).trace() * Matrix3::identity() + e.trace() * (a - e);
    2.0 * (material.mu(tet) * turned + material.lambda(tet) * grown)
}

/// `(H : psi_j) psi_i` of a corotated law, at all vertices.
pub fn bending_load(
    mesh: &TetMesh,
    material: &Material,
    shapes: &Mat<f64>,
    [i, j]: [usize; 2],
) -> Vec<Vector3<f64>> {
    let mut load = vec![Vector3::zeros(); mesh.vertices().len()];
    for (t, hats) in gradients(mesh).iter().enumerate() {
        let gradient = |mode: usize| -> Matrix3<f64> {
            let moved = shapes.col_as_slice(mode).as_chunks::<3>().0;
            let tet = mesh.tets()[t].iter().zip(hats);
            tet.map(|(&v, g)| Vector3::from(moved[v as usize]) * Vector3::from(*g).transpose()).sum()
        };
        let [a, b] = [gradient(i), gradient(j)];
        let [sum, first, second] = [a + b, a, b].map(|x| quadratic_stress(material, t, &x));
        let stress = 0.5 * (sum - first - second);
        for (&v, g) in mesh.tets()[t].iter().zip(hats) {
            load[v as usize] += mesh.volumes()[t] * stress * Vector3::from(*g);
        }
    }
    load
}
