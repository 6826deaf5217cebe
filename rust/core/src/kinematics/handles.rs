//! Coordinates of a body of handles: affine motions of its parts, and the independent rest of the handles.

use faer::Mat;
use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use super::nearby::side_by_side;
use crate::math::dense::dot;
use crate::math::grouped::Slots;
use crate::math::symmetric::Symmetric;
use crate::subspace::Handles;

/// Smallest independent share of a column's squared length for a column to be kept.
const INDEPENDENT: f64 = 1e-8;
/// Smallest share of a part's second moment along any direction; below this the part is planar.
const FLAT: f64 = 1e-8;
/// Mass and stiffness of ineffective affine motions, relative to effective ones: small enough to have no
/// influence.
const BRACE: f64 = 1e-6;

/// A connected part of the body, which moves freely.
pub(crate) struct Part {
    pub(crate) mass: f64,
    /// Centre of mass, metres.
    pub(crate) center: [f64; 3],
    /// Root mean square distance from the centre of mass, metres.
    pub(crate) size: f64,
    /// The normal of a planar part; its affine motions along the normal have no effect.
    normal: Option<Vector3<f64>>,
}

impl Part {
    /// Coordinates of the four affine motions with the part at rest, as positions instead of displacements.
    pub(crate) fn whole(&self, affine: usize) -> Vector3<f64> {
        match affine {
            0..3 => Vector3::ith(affine, self.size),
            3 => self.center.into(),
            _ => Vector3::zeros(),
        }
    }
}

/// Columns T of handles' entries z, four a handle: `z = T y`.
///
/// The first four of each part p represent `(X - center) / size` and 1 over the whole part, exactly. A
/// rigid motion therefore needs no other coordinates, at any distance. The others are single entries,
/// without those that depend on earlier columns.
pub(crate) struct HandleCoordinates {
    pub(crate) parts: Vec<Part>,
    /// Entries of z and values, one list a column.
    columns: Vec<Vec<(u32, f64)>>,
    /// Part of each column.
    pub(crate) parts_of_columns: Vec<u32>,
    /// Column of each entry of z as a single entry, if any.
    own: Vec<Option<u32>>,
    /// Storage order of columns: a part's affine motions together, the columns of a handle together, and
    /// neighbouring handles adjacent.
    pub(crate) slots: Slots,
}

impl HandleCoordinates {
    /// A symmetric matrix of coordinates in packed form, for products.
    pub(crate) fn packed(&self, matrix: &Mat<f64>) -> Symmetric {
        Symmetric::new(&self.slots.order(), |row, column| matrix[(row, column)])
    }

    /// Coordinates of handles with the mass matrix `gram`, 4k x 4k.
    pub(crate) fn new(mass: &[f64], handles: &Handles, gram: &Mat<f64>) -> Self {
        let parts = parts(mass, handles);
        let affine = (0..parts.len()).flat_map(|part| affine_columns(handles, part, &parts[part]));
        let entries = 4 * handles.count();
        let candidates: Vec<_> = affine.chain((0..entries as u32).map(|entry| vec![(entry, 1.0)])).collect();
        let first = 4 * parts.len();
        let mut products = reduce(gram, &candidates);
        brace(&parts, parts.iter().map(|part| part.mass), &mut products);
        let kept = independent(&products, first);
        let mut own = vec![None; entries];
        for (column, &candidate) in kept.iter().enumerate().filter(|(_, candidate)| **candidate >= first) {
            own[candidate - first] = Some(column as u32);
        }
        let part = |candidate: usize| match candidate.checked_sub(first) {
            Some(entry) => handles.parts()[entry / 4],
            None => (candidate / 4) as u32,
        };
        Self {
            parts_of_columns: kept.iter().map(|&candidate| part(candidate)).collect(),
            columns: kept.iter().map(|&candidate| candidates[candidate].clone()).collect(),
            slots: slots(&kept, parts.len(), handles.centers()),
            parts,
            own,
        }
    }

    /// Number of coordinates r along each axis.
    pub(crate) fn count(&self) -> usize {
        self.columns.len()
    }

    /// Number of affine coordinates, which come first.
    pub(crate) fn affine_count(&self) -> usize {
        4 * self.parts.len()
    }

    /// The coordinate of a single entry of z, if any.
    pub(crate) fn own(&self, entry: usize) -> Option<u32> {
        self.own[entry]
    }

    /// A vertex as a sum of coordinates: affine motions of its part, then single entries of handles.
    pub(crate) fn row(&self, handles: &Handles, vertex: usize) -> impl Iterator<Item = (u32, f64)> {
        let part = handles.parts_of_vertices()[vertex];
        let others = handles.row(vertex).flat_map(move |(handle, values)| {
            let own = move |(d, value)| Some((self.own[4 * handle + d]?, value));
            values.into_iter().enumerate().filter_map(own)
        });
        self.affine_row(part, &handles.places()[vertex]).chain(others)
    }

    /// Values of the affine motions of a part at a place: `(X - center) / size` and 1.
    fn affine_row(&self, part: u32, place: &[f64; 3]) -> impl Iterator<Item = (u32, f64)> {
        let (Part { center, size, .. }, place) = (&self.parts[part as usize], *place);
        (0..4).map(move |d| (4 * part + d as u32, if d < 3 { (place[d] - center[d]) / size } else { 1.0 }))
    }

    /// `T'AT` of an operator, with braced planar parts in proportion to the trace of their affine motions.
    pub(crate) fn reduce(&self, matrix: &Mat<f64>) -> Mat<f64> {
        let mut reduced = reduce(matrix, &self.columns);
        let trace = |part: usize| (0..3).map(|axis| reduced[(4 * part + axis, 4 * part + axis)]).sum();
        let traces: Vec<f64> = (0..self.parts.len()).map(trace).collect();
        brace(&self.parts, traces.into_iter(), &mut reduced);
        reduced
    }

    /// `z = T y`.
    pub(crate) fn leave(&self, y: &[[f64; 3]], z: &mut [[f64; 3]]) {
        z.fill([0.0; 3]);
        for (column, y) in self.columns.iter().zip(y) {
            for &(entry, value) in column {
                (0..3).for_each(|c| z[entry as usize][c] += value * y[c]);
            }
        }
    }

    /// Applies T' to a force on z.
    pub(crate) fn enter_force(&self, force: &[[f64; 3]], out: &mut [[f64; 3]]) {
        for (column, out) in self.columns.iter().zip(out) {
            *out = [0.0; 3];
            for &(entry, value) in column {
                (0..3).for_each(|c| out[c] += value * force[entry as usize][c]);
            }
        }
    }
}

fn parts(mass: &[f64], handles: &Handles) -> Vec<Part> {
    let of = handles.parts_of_vertices();
    let count = of.iter().max().map_or(0, |last| *last as usize + 1);
    let mut parts: Vec<Part> =
        (0..count).map(|_| Part { mass: 0.0, center: [0.0; 3], size: 0.0, normal: None }).collect();
    for ((&part, mass), place) in of.iter().zip(mass).zip(handles.places()) {
        let part = &mut parts[part as usize];
        part.mass += mass;
        (0..3).for_each(|c| part.center[c] += mass * place[c]);
    }
    for part in &mut parts {
        part.center = part.center.map(|sum| sum / part.mass);
    }
    for ((&part, mass), place) in of.iter().zip(mass).zip(handles.places()) {
        let part = &mut parts[part as usize];
        part.size += mass * (0..3).map(|c| (place[c] - part.center[c]).powi(2)).sum::<f64>();
    }
    for part in &mut parts {
        part.size = (part.size / part.mass).sqrt();
    }
    let mut moments = vec![Matrix3::zeros(); count];
    for ((&part, mass), place) in of.iter().zip(mass).zip(handles.places()) {
        let arm = Vector3::from(*place) - Vector3::from(parts[part as usize].center);
        moments[part as usize] += *mass * arm * arm.transpose();
    }
    for (part, moment) in parts.iter_mut().zip(moments) {
        let eigen = SymmetricEigen::new(moment);
        let least = eigen.eigenvalues.imin();
        let flat = eigen.eigenvalues[least] < FLAT * moment.trace();
        part.normal = flat.then(|| eigen.eigenvectors.column(least).into_owned());
    }
    parts
}

/// Braces planar parts: gives the ineffective affine motions along their normals a share of `of`, to avoid
/// coordinates without mass.
fn brace(parts: &[Part], of: impl Iterator<Item = f64>, matrix: &mut Mat<f64>) {
    for (number, (part, whole)) in parts.iter().zip(of).enumerate() {
        let Some(normal) = &part.normal else { continue };
        for (i, j) in (0..9).map(|e| (e / 3, e % 3)) {
            matrix[(4 * number + i, 4 * number + j)] += BRACE * whole * normal[i] * normal[j];
        }
    }
}

/// `(X - center) / size` along three axes and 1, on a part.
fn affine_columns(handles: &Handles, number: usize, part: &Part) -> [Vec<(u32, f64)>; 4] {
    let mut columns: [Vec<(u32, f64)>; 4] = Default::default();
    let on_part = |(_, own): &(usize, &u32)| **own as usize == number;
    for (handle, _) in handles.parts().iter().enumerate().filter(on_part) {
        let (first, center) = (4 * handle as u32, handles.centers()[handle]);
        for (axis, column) in columns[..3].iter_mut().enumerate() {
            column.push((first + axis as u32, handles.radius() / part.size));
            column.push((first + 3, (center[axis] - part.center[axis]) / part.size));
        }
        columns[3].push((first + 3, 1.0));
    }
    columns
}

/// Storage order of the kept candidates: four affine motions of each part, then four entries of each
/// handle.
fn slots(kept: &[usize], parts: usize, centers: &[[f64; 3]]) -> Slots {
    let mut places = vec![0; centers.len()];
    side_by_side(centers).into_iter().enumerate().for_each(|(place, handle)| places[handle] = place);
    let slot = |&candidate: &usize| match candidate.checked_sub(4 * parts) {
        Some(entry) => 4 * (parts + places[entry / 4]) + entry % 4,
        None => candidate,
    };
    Slots::new(kept.iter().map(|candidate| slot(candidate) as u32).collect())
}

/// `C'AC` of sparse columns C.
fn reduce(matrix: &Mat<f64>, columns: &[Vec<(u32, f64)>]) -> Mat<f64> {
    let mut half: Mat<f64> = Mat::zeros(matrix.nrows(), columns.len());
    for (j, column) in columns.iter().enumerate() {
        for &(entry, value) in column {
            half.col_mut(j)
                .iter_mut()
                .zip(matrix.col(entry as usize).iter())
                .for_each(|(h, a)| *h += value * a);
        }
    }
    Mat::from_fn(columns.len(), columns.len(), |i, j| {
        columns[i].iter().map(|&(entry, value)| value * half[(entry as usize, j)]).sum()
    })
}

/// The first columns, and all others independent of them and of each other, by pivoted Cholesky
/// factorisation of their Gram matrix.
fn independent(gram: &Mat<f64>, first: usize) -> Vec<usize> {
    let count = gram.nrows();
    let length: Vec<f64> = (0..count).map(|i| gram[(i, i)].sqrt()).collect();
    let mut left: Vec<f64> = length.iter().map(|&length| if length > 0.0 { 1.0 } else { 0.0 }).collect();
    let mut factor: Vec<Vec<f64>> = vec![Vec::with_capacity(count); count];
    let mut kept = Vec::with_capacity(count);
    loop {
        let pivot = if kept.len() < first {
            kept.len()
        } else {
            (0..count).fold(0, |best, i| if left[i] > left[best] { i } else { best })
        };
        if kept.len() == count || (kept.len() >= first && left[pivot] < INDEPENDENT) {
            return kept;
        }
        let (row, root) = (factor[pivot].clone(), left[pivot].sqrt());
        for i in 0..count {
            if left[i] <= 0.0 {
                continue;
            }
            let cosine = gram[(i, pivot)] / (length[i] * length[pivot]);
            let entry = (cosine - dot(&factor[i], &row)) / root;
            factor[i].push(entry);
            left[i] -= entry * entry;
        }
        left[pivot] = 0.0;
        kept.push(pivot);
    }
}
