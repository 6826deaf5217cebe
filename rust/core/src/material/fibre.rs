//! Fibres with stiffness along one direction, as in muscles and tendons.

use nalgebra::{Matrix3, SMatrix, Vector3};

use super::Field;
use super::energy::{Energy, Hessian, Sealed};
use crate::{Error, Result, check};

/// Stretch below which a fibre has no direction and no pull.
const LEAST: f64 = 1e-12;
/// Largest deviation of a unit vector's length from 1 by rounding.
const UNIT: f64 = 1e-9;

/// Springs along a rest direction d: `psi = k / 2 (|F d| - l)^2` `[QN sec. 4.4]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fibre {
    /// k, Pa.
    pub stiffness: f64,
    /// d, a unit vector.
    pub direction: [f64; 3],
    /// Stress-free stretch l: 1, or less in a contracted muscle.
    pub relaxed: f64,
}

/// Energy of a fibre as a function of `a = F d`: `k / 2 (|a| - l)^2`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strand {
    /// k, Pa.
    pub(crate) stiffness: f64,
    /// l.
    pub(crate) relaxed: f64,
}

impl Strand {
    /// Energy density, Pa.
    pub(crate) fn density(&self, along: &Vector3<f64>) -> f64 {
        0.5 * self.stiffness * (along.norm() - self.relaxed).powi(2)
    }

    /// Derivative by a, Pa.
    pub(crate) fn pull(&self, along: &Vector3<f64>) -> Vector3<f64> {
        let (stretch, unit) = stretched(along);
        self.stiffness * (stretch - self.relaxed) * unit
    }

    /// Second derivatives by a, Pa, with `keep` applied to the eigenvalues.
    pub(crate) fn filtered_hessian(&self, along: &Vector3<f64>, keep: impl Fn(f64) -> f64) -> Matrix3<f64> {
        let (stretch, unit) = stretched(along);
        let stretching = unit * unit.transpose();
        let slack = if stretch > LEAST { self.stiffness * (1.0 - self.relaxed / stretch) } else { 0.0 };
        keep(self.stiffness) * stretching + keep(slack) * (Matrix3::identity() - stretching)
    }
}

/// Length and unit vector of a vector; zero for a vector without direction.
fn stretched(along: &Vector3<f64>) -> (f64, Vector3<f64>) {
    let stretch = along.norm();
    (stretch, if stretch > LEAST { along / stretch } else { Vector3::zeros() })
}

impl Fibre {
    fn strand(&self) -> Strand {
        Strand { stiffness: self.stiffness, relaxed: self.relaxed }
    }
}

impl Sealed for Fibre {}

impl Energy for Fibre {
    fn density(&self, f: &Matrix3<f64>) -> f64 {
        self.strand().density(&(f * Vector3::from(self.direction)))
    }

    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        let d = Vector3::from(self.direction);
        self.strand().pull(&(f * d)) * d.transpose()
    }

    fn filtered_hessian(&self, f: &Matrix3<f64>, keep: impl Fn(f64) -> f64) -> Hessian {
        let d = Vector3::from(self.direction);
        let block = self.strand().filtered_hessian(&(f * d), keep);
        SMatrix::from_fn(|row, column| d[row / 3] * d[column / 3] * block[(row % 3, column % 3)])
    }
}

/// Fibres of a body, of one or several muscles: stiffness in each tet, and rest direction.
///
/// ```
/// use jounce::material::{Fibres, Field};
///
/// let biceps = Fibres::new(Field::Uniform(1e4), &[[1.0, 0.0, 0.0]; 3])?;
/// let triceps = Fibres::new(Field::Uniform(2e4), &[[1.0, 0.0, 0.0]; 3])?;
/// assert_eq!(Fibres::joined([&biceps, &triceps])?.muscle_count(), 2);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Fibres {
    /// Fibres muscle by muscle, each by tets.
    strands: Vec<FibreAtRest>,
    tets: usize,
    muscles: usize,
}

/// A fibre of a muscle in a tet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FibreAtRest {
    pub(crate) tet: usize,
    pub(crate) muscle: u8,
    /// k, Pa, above 0.
    pub(crate) stiffness: f64,
    /// d, a unit vector.
    pub(crate) direction: Vector3<f64>,
}

impl Fibres {
    /// Largest number of muscles of a body.
    pub const MOST_MUSCLES: usize = 32;

    /// Fibres of one muscle: stiffnesses, Pa, 0 for tets without fibres, and directions of any length, one
    /// a tet.
    ///
    /// # Errors
    /// [`Error::NotFinite`] or [`Error::Range`]: `stiffness >= 0`, and a nonzero direction for every
    /// positive stiffness; [`Error::Shape`] for different numbers of stiffnesses and directions.
    pub fn new(stiffness: Field, direction: &[[f64; 3]]) -> Result<Self> {
        stiffness.check("fibre stiffness", "a number of Pa >= 0", |v| v >= 0.0)?;
        if let Field::PerTet(values) = &stiffness
            && values.len() != direction.len()
        {
            let (expected, got) = (format!("({},)", direction.len()), format!("({},)", values.len()));
            return Err(Error::Shape { what: "fibre stiffness", expected, got });
        }
        check::finite("fibre direction", direction.as_flattened(), 3)?;
        let unit = |(tet, direction): (usize, &[f64; 3])| {
            let (_, unit) = stretched(&Vector3::from(*direction));
            if stiffness.at(tet) > 0.0 && unit == Vector3::zeros() {
                let expected = "a vector with a length wherever there is a fibre";
                return Err(Error::Range { what: "fibre direction", expected, got: 0.0 });
            }
            Ok(unit)
        };
        let units = direction.iter().enumerate().map(unit).collect::<Result<Vec<_>>>()?;
        let of_tet = |(tet, direction)| {
            let stiffness = stiffness.at(tet);
            (stiffness > 0.0).then_some(FibreAtRest { tet, muscle: 0, stiffness, direction })
        };
        let strands = units.into_iter().enumerate().filter_map(of_tet).collect();
        Ok(Self { strands, tets: direction.len(), muscles: 1 })
    }

    /// Joined fibres of several muscles with separate contraction, in the given order; muscles may share
    /// tets.
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty list, [`Error::Range`] for more than [`Fibres::MOST_MUSCLES`],
    /// [`Error::Shape`] for different numbers of tets.
    pub fn joined<'a>(muscles: impl IntoIterator<Item = &'a Self>) -> Result<Self> {
        let mut parts = muscles.into_iter();
        let mut whole = parts.next().ok_or(Error::Empty { what: "muscles" })?.clone();
        for part in parts {
            part.check_tet_count(whole.tets)?;
            let before = whole.muscles as u8;
            whole.muscles += part.muscles;
            if whole.muscles > Self::MOST_MUSCLES {
                let (expected, got) = ("at most 32 of a body", whole.muscles as f64);
                return Err(Error::Range { what: "muscles", expected, got });
            }
            let moved = |strand: &FibreAtRest| FibreAtRest { muscle: before + strand.muscle, ..*strand };
            whole.strands.extend(part.strands.iter().map(moved));
        }
        Ok(whole)
    }

    /// Fibres restored from [`Fibres::strands`] for a body with given numbers of tets and muscles.
    pub(crate) fn from_strands(tets: usize, muscles: usize, strands: Vec<FibreAtRest>) -> Result<Self> {
        if !(1..=Self::MOST_MUSCLES).contains(&muscles) {
            let (expected, got) = ("1 to 32 of a body", muscles as f64);
            return Err(Error::Range { what: "muscles", expected, got });
        }
        for (element, strand) in strands.iter().enumerate() {
            for (what, index, count) in
                [("fibre tets", strand.tet, tets), ("fibre muscles", strand.muscle.into(), muscles)]
            {
                if index >= count {
                    return Err(Error::Index { what, element, index: index as i64, count });
                }
            }
            if !(strand.stiffness.is_finite() && strand.stiffness > 0.0) {
                let (expected, got) = ("a positive number of Pa", strand.stiffness);
                return Err(Error::Range { what: "fibre stiffness", expected, got });
            }
            let length = strand.direction.norm();
            if length.is_nan() || (length - 1.0).abs() > UNIT {
                return Err(Error::Range { what: "fibre direction", expected: "a unit vector", got: length });
            }
        }
        Ok(Self { strands, tets, muscles })
    }

    /// Number of muscles with separate contraction.
    pub fn muscle_count(&self) -> usize {
        self.muscles
    }

    /// Number of tets of the mesh.
    pub(crate) fn tet_count(&self) -> usize {
        self.tets
    }

    /// Checks for one direction a tet.
    pub(crate) fn check_tet_count(&self, tet_count: usize) -> Result<()> {
        if self.tets == tet_count {
            return Ok(());
        }
        let (expected, got) = (format!("({tet_count}, 3)"), format!("({}, 3)", self.tets));
        Err(Error::Shape { what: "fibre direction", expected, got })
    }

    /// All fibres.
    pub(crate) fn strands(&self) -> &[FibreAtRest] {
        &self.strands
    }
}
