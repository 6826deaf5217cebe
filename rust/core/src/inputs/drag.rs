//! Drag of a medium: coefficients and the velocity of the medium at the parts of a body.

use std::fmt;
use std::sync::Arc;

use crate::inputs::force_samples::ForceSamples;
use crate::{Error, Result, check};

/// Drag of a medium on parts of a body; cheap to clone.
///
/// The force on a part is `-(linear + quadratic |w|) w`, with w the part's total velocity relative to the
/// medium. It is distributed over the mass of the part as a constant, without shear or torque. In the full
/// space the parts are the vertices.
///
/// ```
/// use jounce::inputs::Drag;
///
/// let wind = Drag::at_vertices(&[0.5, 0.5], None, Some(&[2.0, 0.0, 0.0, 2.0, 0.0, 0.0]))?;
/// assert_eq!(wind.velocity()[1], [2.0, 0.0, 0.0]);
/// assert!(Drag::at_vertices(&[-1.0], None, None).is_err());
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Clone)]
pub struct Drag(pub(crate) Arc<Parts>);

/// The numbers of a drag.
pub(crate) struct Parts {
    /// Samples of the parts; `None` for vertices of a mesh.
    pub(crate) samples: Option<Arc<ForceSamples>>,
    pub(crate) linear: Vec<f64>,
    pub(crate) quadratic: Vec<f64>,
    pub(crate) velocity: Vec<[f64; 3]>,
}

impl Parts {
    /// Samples of a drag for skinning modes.
    pub(crate) fn samples(&self) -> &ForceSamples {
        self.samples.as_deref().expect("drag of modes is at samples")
    }
}

impl Drag {
    /// Drag at samples: linear, k, N s/m; quadratic, k or none, N s^2/m^2; the velocity of the medium, k x
    /// 3 or none, m/s.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`]; [`Error::Range`] for a coefficient below 0, which would
    /// accelerate instead of brake.
    pub fn new(
        samples: Arc<ForceSamples>,
        linear: &[f64],
        quadratic: Option<&[f64]>,
        velocity: Option<&[f64]>,
    ) -> Result<Self> {
        let k = samples.masses().len();
        Self::of(Some(samples), k, linear, quadratic, velocity)
    }

    /// Drag at the vertices of a mesh, n of each, for the full space.
    ///
    /// # Errors
    /// As [`Drag::new`].
    pub fn at_vertices(linear: &[f64], quadratic: Option<&[f64]>, velocity: Option<&[f64]>) -> Result<Self> {
        Self::of(None, linear.len(), linear, quadratic, velocity)
    }

    fn of(
        samples: Option<Arc<ForceSamples>>,
        k: usize,
        linear: &[f64],
        quadratic: Option<&[f64]>,
        velocity: Option<&[f64]>,
    ) -> Result<Self> {
        let given = |what, numbers: Option<&[f64]>, width: usize| {
            let numbers = numbers.map_or_else(|| vec![0.0; width * k], <[f64]>::to_vec);
            check(what, &numbers, k, width).map(|()| numbers)
        };
        let linear = given("linear", Some(linear), 1)?;
        let quadratic = given("quadratic", quadratic, 1)?;
        let velocity = given("velocity", velocity, 3)?.as_chunks().0.to_vec();
        for (what, numbers) in [("linear", &linear), ("quadratic", &quadratic)] {
            if let Some(&got) = numbers.iter().find(|&&x| x < 0.0) {
                return Err(Error::Range { what, expected: "coefficients >= 0", got });
            }
        }
        Ok(Self(Arc::new(Parts { samples, linear, quadratic, velocity })))
    }

    /// Linear coefficients, k, N s/m.
    pub fn linear(&self) -> &[f64] {
        &self.0.linear
    }

    /// Quadratic coefficients, k, N s^2/m^2.
    pub fn quadratic(&self) -> &[f64] {
        &self.0.quadratic
    }

    /// Velocities of the medium, k x 3, m/s.
    pub fn velocity(&self) -> &[[f64; 3]] {
        &self.0.velocity
    }

    /// `true` for drag at vertices.
    pub fn is_at_vertices(&self) -> bool {
        self.0.samples.is_none()
    }

    /// Number of parts.
    pub(crate) fn count(&self) -> usize {
        self.0.linear.len()
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.0.linear.iter().chain(&self.0.quadratic).all(|&x| x == 0.0)
    }
}

impl fmt::Debug for Drag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Drag({} {})", self.count(), if self.is_at_vertices() { "vertices" } else { "parts" })
    }
}

fn check(what: &'static str, numbers: &[f64], k: usize, width: usize) -> Result<()> {
    if numbers.len() != k * width {
        let expected = if width == 1 { format!("({k},)") } else { format!("({k}, {width})") };
        return Err(Error::Shape { what, expected, got: format!("{} numbers", numbers.len()) });
    }
    check::finite(what, numbers, width)
}
