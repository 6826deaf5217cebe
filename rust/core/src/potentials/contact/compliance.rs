//! Compliance between the points of contacts.

use faer::Mat;
use nalgebra::Vector3;

/// Compliance W between the points of contacts, m/N.
pub(crate) enum Mobility {
    /// Isotropic: one number a pair of points.
    Even(Mat<f64>),
    /// 3 x 3 a pair of points, of rotating bodies and of metrics with coupled directions.
    Turning(Mat<f64>),
}

impl Mobility {
    /// Compliance of a point under its own force, averaged over directions.
    pub(super) fn own(&self, i: usize) -> f64 {
        match self {
            Self::Even(w) => w[(i, i)],
            Self::Turning(w) => (0..3).map(|c| w[(3 * i + c, 3 * i + c)]).sum::<f64>() / 3.0,
        }
    }

    /// Adds the displacement of all points under a force at one.
    fn add_moved(&self, j: usize, force: &Vector3<f64>, moved: &mut [Vector3<f64>]) {
        match self {
            Self::Even(w) => {
                moved.iter_mut().zip(w.col_as_slice(j)).for_each(|(moved, entry)| *moved += *entry * force);
            }
            Self::Turning(w) => {
                for c in 0..3 {
                    let column = w.col_as_slice(3 * j + c).as_chunks::<3>().0;
                    moved
                        .iter_mut()
                        .zip(column)
                        .for_each(|(moved, x)| *moved += force[c] * Vector3::from(*x));
                }
            }
        }
    }

    /// Displacement of a point along `to` under a force at another point along `from`.
    pub(super) fn along(&self, [i, j]: [usize; 2], [to, from]: [&Vector3<f64>; 2]) -> f64 {
        match self {
            Self::Even(w) => w[(i, j)] * to.dot(from),
            Self::Turning(w) => {
                let row = |c: usize| {
                    let column = &w.col_as_slice(3 * j + c)[3 * i..3 * i + 3];
                    from[c] * (to[0] * column[0] + to[1] * column[1] + to[2] * column[2])
                };
                row(0) + row(1) + row(2)
            }
        }
    }
}

/// Compliance between contact points: `S H S' = W + U M U'`.
pub(crate) struct Compliance {
    /// W.
    pub(crate) points: Mobility,
    /// Columns of U at each contact point.
    pub(crate) columns: Vec<Vec<Vector3<f64>>>,
    /// M.
    pub(crate) matrix: Mat<f64>,
}

impl Compliance {
    /// `M U' f`: coefficient of each column under forces on all points.
    pub(crate) fn shares(&self, forces: &[Vector3<f64>]) -> Vec<f64> {
        let rank = self.matrix.nrows();
        let mut shares = vec![0.0; rank];
        for (columns, force) in self.columns.iter().zip(forces).filter(|(_, force)| acts(force)) {
            shares.iter_mut().zip(columns).for_each(|(share, column)| *share += column.dot(force));
        }
        (0..rank).map(|a| (0..rank).map(|b| self.matrix[(a, b)] * shares[b]).sum()).collect()
    }

    /// Displacements of points under forces.
    pub(super) fn moved(&self, forces: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let shares = self.shares(forces);
        let along =
            |columns: &Vec<Vector3<f64>>| columns.iter().zip(&shares).map(|(u, share)| u * *share).sum();
        let mut moved: Vec<Vector3<f64>> = self.columns.iter().map(along).collect();
        for (j, force) in forces.iter().enumerate().filter(|(_, force)| acts(force)) {
            self.points.add_moved(j, force, &mut moved);
        }
        moved
    }
}

fn acts(force: &Vector3<f64>) -> bool {
    *force != Vector3::zeros()
}
