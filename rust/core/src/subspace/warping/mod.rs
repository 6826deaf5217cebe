//! Warping: displacements linear in their amplitudes, turned into rotations of any size.

mod modal;
mod rotation_strain;
mod turns;

use faer::{Mat, MatRef};

use self::modal::Modal;
pub use self::modal::{surface_rotations, vertex_rotations};
use self::rotation_strain::RotationStrain;
use self::turns::combined;
use crate::mesh::{SurfaceMesh, TetMesh};
use crate::parallel::on_pool;
use crate::{Error, Result, check};

/// Method that turns amplitudes into bends and twists.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WarpingMethod {
    /// The displacement whose gradients are closest to `exp(w) (I + e)`, weighted by volumes, with the
    /// strain e and the infinitesimal rotation w of `Psi z` in each tet `[MOR eq. 19-25]`. It preserves
    /// lengths and takes a solve. The centre of a free component follows `Psi z`.
    #[default]
    RotationStrain,
    /// `(I + (1 - cos t) / t^2 W + (t - sin t) / t^3 W^2) Psi z`, W the cross product with the
    /// [`vertex_rotations`] at z, of length t `[ModalWarping]`. It works on each vertex independently,
    /// costs next to nothing, and is exact for rotation about a point, but large bends change lengths.
    Modal,
}

/// Turns amplitudes z of displacements Psi into displacements that bend and twist without growing.
pub struct Warping {
    /// Psi, 3n x k.
    displacements: Mat<f64>,
    method: Method,
}

enum Method {
    RotationStrain(RotationStrain),
    Modal(Modal),
}

impl Warping {
    /// Warping of displacements, 3n x k with interleaved rows, that leave the vertices `held` (n) in place.
    ///
    /// # Errors
    /// [`Error::Shape`] for inputs of another mesh; [`Error::Numerical`] for tets too flat to have
    /// gradients.
    pub fn new(
        mesh: &TetMesh,
        displacements: MatRef<'_, f64>,
        held: &[bool],
        method: WarpingMethod,
    ) -> Result<Self> {
        let n = mesh.vertices().len();
        for (what, expected, got) in
            [("displacements", 3 * n, displacements.nrows()), ("held", n, held.len())]
        {
            if got != expected {
                let [expected, got] = [expected, got].map(|rows| format!("{rows} rows"));
                return Err(Error::Shape { what, expected, got });
            }
        }
        let method = match method {
            WarpingMethod::RotationStrain => Method::RotationStrain(RotationStrain::new(mesh, held)?),
            WarpingMethod::Modal => Method::Modal(Modal::new(vertex_rotations(mesh, displacements))),
        };
        Ok(Self { displacements: displacements.to_owned(), method })
    }

    /// Modal warping of displacements of a surface without volume, 3n x k.
    ///
    /// # Errors
    /// [`Error::Shape`] for displacements of another surface.
    pub fn of_surface(surface: &SurfaceMesh, displacements: MatRef<'_, f64>) -> Result<Self> {
        let (rows, got) = (3 * surface.points().len(), displacements.nrows());
        if got != rows {
            let [expected, got] = [rows, got].map(|rows| format!("{rows} rows"));
            return Err(Error::Shape { what: "displacements", expected, got });
        }
        let method = Method::Modal(Modal::new(surface_rotations(surface, displacements)));
        Ok(Self { displacements: displacements.to_owned(), method })
    }

    /// Warped displacement at k amplitudes: n x 3, row by row.
    ///
    /// # Errors
    /// [`Error::Shape`] and [`Error::NotFinite`] for the amplitudes.
    pub fn displacement(&self, amplitudes: &[f64]) -> Result<Vec<f64>> {
        let count = self.displacements.ncols();
        check::length("amplitudes", count, amplitudes.len())?;
        check::finite("amplitudes", amplitudes, 1)?;
        let warped = on_pool(|| {
            let linear = combined(&self.displacements, amplitudes);
            match &self.method {
                Method::RotationStrain(method) => method.warp(linear),
                Method::Modal(method) => method.warp(linear, amplitudes),
            }
        });
        Ok(warped.into_iter().flatten().collect())
    }
}
