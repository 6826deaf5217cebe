//! Elastic materials: a law and its parameters, uniform or per tet.

mod curves;
mod energy;
mod fibre;
pub(crate) mod growth;
pub(crate) mod lanes;
mod principal_stretch;
mod strain_limit;
pub(crate) mod stretch_limit;

pub use curves::{StressCurve, StressCurves};
pub use energy::{Energy, Hessian};
pub use fibre::{Fibre, Fibres};
pub(crate) use fibre::{FibreAtRest, Strand};
pub use principal_stretch::PrincipalStretch;
pub use strain_limit::StrainLimit;
pub use stretch_limit::StretchLimit;

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Error, Result, check};

/// Elastic energy density of the deformation gradient F with closest rotation R.
///
/// ```
/// use jounce::material::{Field, Law, Material};
///
/// let number = Field::Uniform;
/// let flesh = Material::new(Law::Corotated, number(3e4), number(0.45), number(1000.0))?;
/// assert_eq!(flesh.law(), Law::Corotated);
/// let drawn = Material::new(Law::Spline, number(3e4), number(0.0), number(1000.0));
/// assert!(drawn.is_err(), "a drawn law is made from its curves");
/// # Ok::<(), jounce::Error>(())
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Law {
    /// As rigid as possible: `psi = mu |F - R|^2`.
    Arap,
    /// Corotated linear elasticity: `psi = mu |F - R|^2 + lambda / 2 tr^2(R'F - I)`.
    Corotated,
    /// [`PrincipalStretch::NeoHookean`]; for the full space only, like the laws below.
    NeoHookean,
    /// [`PrincipalStretch::StVenantKirchhoff`].
    StVenantKirchhoff,
    /// [`PrincipalStretch::MooneyRivlin`] with `c1 = 0.4 mu` and `c2 = 0.1 mu`.
    MooneyRivlin,
    /// [`PrincipalStretch::Polynomial`]: soft at rest, without resistance to volume change.
    Polynomial,
    /// [`PrincipalStretch::Spline`], made by [`Material::drawn`].
    Spline,
}

/// c1 and c2 of a Mooney-Rivlin law as shares of mu: `mu = 2 (c1 + c2)`.
const MOONEY_RIVLIN: [f64; 2] = [0.4, 0.1];

/// A material parameter: one value for the whole body, or one a tet.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Field {
    /// One value for the whole body.
    Uniform(f64),
    /// One value a tet.
    PerTet(Vec<f64>),
}

impl Field {
    /// Value in a tet.
    pub fn at(&self, tet: usize) -> f64 {
        match self {
            Self::Uniform(value) => *value,
            Self::PerTet(values) => values[tet],
        }
    }

    fn check(&self, what: &'static str, expected: &'static str, valid: impl Fn(f64) -> bool) -> Result<()> {
        let values = match self {
            Self::Uniform(value) => std::slice::from_ref(value),
            Self::PerTet(values) => values,
        };
        if values.is_empty() {
            return Err(Error::Empty { what });
        }
        check::each(what, expected, values, valid)
    }
}

/// An elastic material: Young's modulus in Pa, Poisson ratio, density in kg/m^3.
///
/// ```
/// use jounce::material::{Field, Law, Material};
///
/// let [young, poisson, density] = [3e4, 0.45, 1000.0].map(Field::Uniform);
/// let fat = Material::new(Law::NeoHookean, young, poisson, density)?;
/// assert!((fat.mu(0) - 3e4 / 2.9).abs() < 1e-9);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    law: Law,
    young: Field,
    poisson: Field,
    density: Field,
    /// Stress curves of a drawn law, in shares of Young's modulus.
    curves: Option<Arc<StressCurves>>,
}

impl Material {
    /// Material with checked parameters.
    ///
    /// # Errors
    /// [`Error::NotFinite`] or [`Error::Range`]: `young > 0`, `0 <= poisson < 0.5`, `density > 0`;
    /// [`Error::Unsupported`] for a drawn law, which needs curves.
    pub fn new(law: Law, young: Field, poisson: Field, density: Field) -> Result<Self> {
        if law == Law::Spline {
            return Err(Error::Unsupported { what: "law", why: "a drawn law is made from its curves" });
        }
        Self::checked(law, young, poisson, density, None)
    }

    /// A material with drawn stress: `curves` in shares of `young`, possibly per tet.
    ///
    /// # Errors
    /// [`Error::NotFinite`] or [`Error::Range`]: `young > 0`, `density > 0`.
    pub fn drawn(curves: StressCurves, young: Field, density: Field) -> Result<Self> {
        Self::checked(Law::Spline, young, Field::Uniform(0.0), density, Some(Arc::new(curves)))
    }

    fn checked(
        law: Law,
        young: Field,
        poisson: Field,
        density: Field,
        curves: Option<Arc<StressCurves>>,
    ) -> Result<Self> {
        young.check("young", "a positive number of Pa", |v| v > 0.0)?;
        poisson.check("poisson", "a ratio in [0, 0.5)", |v| (0.0..0.5).contains(&v))?;
        density.check("density", "a positive number of kg/m^3", |v| v > 0.0)?;
        Ok(Self { law, young, poisson, density, curves })
    }

    /// The same material with Young's modulus multiplied by a factor for each tet.
    pub(crate) fn stiffened(&self, factors: &[f64]) -> Result<Self> {
        let young = (0..).zip(factors).map(|(t, factor)| factor * self.young.at(t)).collect();
        let (poisson, density) = (self.poisson.clone(), self.density.clone());
        Self::checked(self.law, Field::PerTet(young), poisson, density, self.curves.clone())
    }

    /// Checks that every per-tet parameter has `tet_count` values.
    pub fn check_tet_count(&self, tet_count: usize) -> Result<()> {
        for (what, field) in [("young", &self.young), ("poisson", &self.poisson), ("density", &self.density)]
        {
            if let Field::PerTet(values) = field
                && values.len() != tet_count
            {
                return Err(Error::Shape {
                    what,
                    expected: format!("({tet_count},)"),
                    got: format!("({},)", values.len()),
                });
            }
        }
        Ok(())
    }

    /// Law of the energy density.
    pub fn law(&self) -> Law {
        self.law
    }

    /// Young's modulus, Pa.
    pub fn young(&self) -> &Field {
        &self.young
    }

    /// Poisson ratio.
    pub fn poisson(&self) -> &Field {
        &self.poisson
    }

    /// Density, kg/m^3.
    pub fn densities(&self) -> &Field {
        &self.density
    }

    /// Stress curves of a drawn law, in shares of Young's modulus; `None` for other laws.
    pub fn curves(&self) -> Option<&StressCurves> {
        self.curves.as_deref()
    }

    /// Energy law of each of some tets. For small strains every law except the polynomial has the
    /// material's parameters.
    pub fn energies(&self, tet_count: usize) -> Vec<PrincipalStretch> {
        let of_tet = |t: usize| {
            let (mu, lambda) = (self.mu(t), self.lambda(t));
            if let Some(curves) = &self.curves {
                return PrincipalStretch::Spline { curves: curves.clone(), scale: self.young.at(t) };
            }
            match self.law {
                Law::Arap => PrincipalStretch::Corotated { mu, lambda: 0.0 },
                Law::Corotated => PrincipalStretch::Corotated { mu, lambda },
                Law::NeoHookean => PrincipalStretch::NeoHookean { mu, lambda },
                Law::StVenantKirchhoff => PrincipalStretch::StVenantKirchhoff { mu, lambda },
                Law::MooneyRivlin => {
                    let [c1, c2] = MOONEY_RIVLIN.map(|share| share * mu);
                    PrincipalStretch::MooneyRivlin { c1, c2, lambda: lambda - 4.0 * c2 }
                }
                Law::Polynomial | Law::Spline => PrincipalStretch::Polynomial { mu },
            }
        };
        (0..tet_count).map(of_tet).collect()
    }

    /// Volume stiffness of a tet in a subspace, Pa: lambda, or 0 for a law without lambda.
    pub(crate) fn volumetric(&self, tet: usize) -> f64 {
        if self.law == Law::Arap { 0.0 } else { self.lambda(tet) }
    }

    /// Resistance to bending in a tet for a subspace, Pa: Young's modulus of mu and the volume stiffness.
    pub(crate) fn bending(&self, tet: usize) -> f64 {
        principal_stretch::young_modulus(self.volumetric(tet), self.mu(tet))
    }

    /// Conductivity `4 mu + lambda` of the weight-space Hessian in a tet, Pa `[FastCD eq. 18]`.
    pub fn weight_conductivity(&self, tet: usize) -> f64 {
        4.0 * self.mu(tet) + self.lambda(tet)
    }

    /// Checks that the law is available in a subspace, else [`Error::Unsupported`].
    pub(crate) fn check_reducible(&self) -> Result<()> {
        if matches!(self.law, Law::Arap | Law::Corotated) {
            return Ok(());
        }
        let why = "skinning modes know \"arap\" and \"corotated\"; others are for the full space";
        Err(Error::Unsupported { what: "law", why })
    }

    /// Density in a tet, kg/m^3.
    pub fn density(&self, tet: usize) -> f64 {
        self.density.at(tet)
    }

    /// First Lamé parameter `lambda = E nu / ((1 + nu)(1 - 2 nu))` in a tet, Pa.
    pub fn lambda(&self, tet: usize) -> f64 {
        let (young, poisson) = (self.young.at(tet), self.poisson.at(tet));
        young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    }

    /// Second Lamé parameter (shear modulus) `mu = E / (2 (1 + nu))` in a tet, Pa.
    pub fn mu(&self, tet: usize) -> f64 {
        self.young.at(tet) / (2.0 * (1.0 + self.poisson.at(tet)))
    }
}
