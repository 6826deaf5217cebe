//! Coordinates with diagonal mass and stiffness.

use faer::{Mat, MatRef};

use super::body::Body;
use crate::Result;
use crate::material::Material;
use crate::math::dense::diagonal::{decoupled, whitened};
use crate::math::dense::{inner, product, symmetric_eigen};
use crate::parallel::*;

/// Number of tets processed at once.
const ROWS: usize = 1024;
/// Squared size of coefficients, relative to a mode of mass one, above which a direction's motion between
/// vertices is checked.
const LARGE: f64 = 1e3;
/// Largest ratio of squared motion between vertices to squared motion at vertices; directions above it are
/// not resolved by the mesh.
const BETWEEN: f64 = 100.0;

impl Body<'_> {
    /// [`diagonalise`] without directions that move hardly any vertex but much of the space between.
    /// Weights times positions are quadratic in a tet, and a mode of a single vertex can move everything
    /// but this vertex.
    pub(super) fn diagonalise(
        &self,
        material: &Material,
        mass: &Mat<f64>,
        stiffness: &Mat<f64>,
    ) -> Result<(Mat<f64>, Vec<f64>)> {
        let directions = whitened(mass)?;
        // The last of four rows is the weight of the mode itself.
        let squared = |k: usize| -> f64 {
            (0..mass.nrows()).map(|i| mass[(i | 3, i | 3)] * directions[(i, k)].powi(2)).sum()
        };
        let (large, small): (Vec<usize>, Vec<usize>) =
            (0..directions.ncols()).partition(|&k| squared(k) > LARGE);
        let part = |columns: &[usize]| {
            Mat::from_fn(directions.nrows(), columns.len(), |i, k| directions[(i, columns[k])])
        };
        if large.is_empty() {
            return decoupled(&directions, stiffness);
        }
        let large = part(&large);
        let (ratios, turn) = symmetric_eigen(self.mass_between(material, large.as_ref()).as_ref())?;
        let told: Vec<usize> = (0..ratios.len()).filter(|&k| ratios[k] <= BETWEEN).collect();
        if told.len() == ratios.len() {
            return decoupled(&directions, stiffness);
        }
        let turned = product(large.as_ref(), turn.as_ref());
        let small = part(&small);
        let kept = Mat::from_fn(directions.nrows(), small.ncols() + told.len(), |i, k| {
            if k < small.ncols() { small[(i, k)] } else { turned[(i, told[k - small.ncols()])] }
        });
        decoupled(&kept, stiffness)
    }

    /// Mass matrix of directions, 4m x k, with all mass at the centroids of the tets: k x k.
    fn mass_between(&self, material: &Material, directions: MatRef<'_, f64>) -> Mat<f64> {
        let tets: Vec<usize> = (0..self.mesh.tets().len()).collect();
        let part = |tets: &[usize]| {
            let mut rows = Mat::zeros(tets.len(), directions.nrows());
            for (place, &tet) in tets.iter().enumerate() {
                self.row_between(tet, (material.density(tet) * self.mesh.volumes()[tet]).sqrt())
                    .enumerate()
                    .for_each(|(column, x)| rows[(place, column)] = x);
            }
            let moved = product(rows.as_ref(), directions);
            inner(moved.as_ref(), moved.as_ref())
        };
        let parts: Vec<Mat<f64>> = tets.par_chunks(ROWS).map(part).collect();
        parts.iter().fold(Mat::zeros(directions.ncols(), directions.ncols()), |sum, part| sum + part)
    }

    /// `scale` times the row of B at the centroid of a tet.
    fn row_between(&self, tet: usize, scale: f64) -> impl Iterator<Item = f64> {
        let corners = self.mesh.tets()[tet].map(|v| v as usize);
        let mean = move |of: &dyn Fn(usize) -> f64| corners.iter().map(|&v| of(v)).sum::<f64>() / 4.0;
        let at: [f64; 4] = std::array::from_fn(|d| mean(&|v| self.points[v][d]));
        (0..self.modes).flat_map(move |mode| {
            let weight = scale * mean(&|v| self.weights_of(v)[mode]);
            at.map(|x| weight * x)
        })
    }
}
