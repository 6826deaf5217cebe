//! Linear modes with residual attachment modes, for bodies that carry others at an interface.

use faer::Mat;
use nalgebra::Vector3;

use super::eigenpairs::energy;
use super::flesh::LinearModes;
use super::linear::LinearProblem;
use crate::math::dense::{add_product, inner, product, symmetric_eigen};
use crate::parallel::on_pool;
use crate::{Error, Progress, Result};

/// Smallest share of a response's squared mass norm outside of the span of the modes.
const KNOWN: f64 = 1e-10;

impl LinearProblem {
    /// The modes, and for each interface the residual part of the body's static responses to a force and to
    /// a torque there, spread by mass.
    ///
    /// A few modes describe vibration, but not how the body yields to another one attached to it. The
    /// residual attachment modes `[MacNeal]` are `K^-1` of six loads minus their part in the modes,
    /// orthogonalised in mass and stiffness. They add up to six shapes per interface, whose eigenvalues are
    /// no natural frequencies of the body.
    ///
    /// # Errors
    /// [`Error::Shape`] for modes of another mesh, [`Error::Index`] and [`Error::Empty`] for interfaces,
    /// [`Error::Unsupported`] for a body that was stitched after it was factored, [`Error::Numerical`],
    /// [`Error::Cancelled`].
    pub fn attached(
        &self,
        modes: &LinearModes,
        interfaces: &[Vec<u32>],
        progress: &Progress,
    ) -> Result<LinearModes> {
        self.check_modes(modes)?;
        if self.seam.is_some() {
            let why = "the body was stitched after it was factored; find its modes with all stitches first";
            return Err(Error::Unsupported { what: "attached", why });
        }
        let flesh = self.factored(progress)?;
        let (masses, swings) = (self.masses(), &flesh.swings);
        let mut loads = Mat::<f64>::zeros(3 * masses.len(), 6 * interfaces.len());
        for (number, interface) in interfaces.iter().enumerate() {
            self.check_interface(interface)?;
            self.load(&masses, interface, loads.as_mut().subcols_mut(6 * number, 6));
        }
        on_pool(|| {
            let loads = swings.free.rows_of_dense(loads.as_ref());
            let mut given = flesh.static_response(modes, loads, progress)?;
            let own = swings.free.rows_of_dense(modes.shapes.as_ref());
            for j in 0..given.ncols() {
                let column = given.col_as_slice_mut(j);
                let square: f64 = column.iter().zip(&swings.mass).map(|(x, mass)| mass * x * x).sum();
                column.iter_mut().for_each(|x| *x /= square.sqrt().max(f64::MIN_POSITIVE));
            }
            let along = inner(swings.heavy(own.as_ref()).as_ref(), given.as_ref());
            add_product(given.as_mut(), -1.0, own.as_ref(), along.as_ref());
            let (squares, turns) =
                symmetric_eigen(inner(swings.heavy(given.as_ref()).as_ref(), given.as_ref()).as_ref())?;
            let kept: Vec<usize> = (0..squares.len()).filter(|&i| squares[i] > KNOWN).collect();
            let turns =
                Mat::from_fn(squares.len(), kept.len(), |i, j| turns[(i, kept[j])] / squares[kept[j]].sqrt());
            let fresh = product(given.as_ref(), turns.as_ref());
            let (values, turns) = symmetric_eigen(energy(&swings.hessian, fresh.as_ref()).as_ref())?;
            let fresh = swings.free.spread(product(fresh.as_ref(), turns.as_ref()).as_ref());
            let (k, shapes) = (modes.eigenvalues.len(), &modes.shapes);
            let column = |i, j| if j < k { shapes[(i, j)] } else { fresh[(i, j - k)] };
            Ok(LinearModes {
                shapes: Mat::from_fn(shapes.nrows(), k + values.len(), column),
                eigenvalues: modes.eigenvalues.iter().copied().chain(values).collect(),
            })
        })
    }

    fn check_interface(&self, interface: &[u32]) -> Result<()> {
        let (what, count) = ("interfaces", self.mesh().vertices().len());
        if interface.is_empty() {
            return Err(Error::Empty { what });
        }
        match interface.iter().position(|&v| v as usize >= count) {
            Some(element) => Err(Error::Index { what, element, index: interface[element].into(), count }),
            None => Ok(()),
        }
    }

    /// Writes six load columns for an interface: forces along the axes and torques about them, distributed
    /// by mass.
    fn load(&self, masses: &[f64], interface: &[u32], mut columns: faer::MatMut<'_, f64>) {
        let place = |v: u32| Vector3::from(self.mesh().vertices()[v as usize]);
        let total: f64 = interface.iter().map(|&v| masses[v as usize]).sum();
        let middle = interface.iter().map(|&v| masses[v as usize] * place(v)).sum::<Vector3<f64>>() / total;
        for &v in interface {
            let mass = masses[v as usize];
            for axis in 0..3 {
                let along = Vector3::ith(axis, mass);
                let round = along.cross(&(place(v) - middle));
                for c in 0..3 {
                    columns[(3 * v as usize + c, axis)] += along[c];
                    columns[(3 * v as usize + c, 3 + axis)] += round[c];
                }
            }
        }
    }
}
