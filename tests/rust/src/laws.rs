//! Every elastic law, with parameters of order one.

use std::sync::Arc;

use jounce::material::{PrincipalStretch, StressCurve, StressCurves};

/// Name of the law drawn as curves.
pub fn drawn() -> &'static str {
    "drawn"
}

/// The laws with their names.
pub fn laws() -> Vec<(&'static str, PrincipalStretch)> {
    let (mu, lambda) = (1.3, 2.1);
    vec![
        ("as rigid as possible", PrincipalStretch::Corotated { mu, lambda: 0.0 }),
        ("corotated", PrincipalStretch::Corotated { mu, lambda }),
        ("St. Venant-Kirchhoff", PrincipalStretch::StVenantKirchhoff { mu, lambda }),
        ("Neo-Hookean", PrincipalStretch::NeoHookean { mu, lambda }),
        ("Mooney-Rivlin", PrincipalStretch::MooneyRivlin { c1: 0.5, c2: 0.4, lambda }),
        ("polynomial", PrincipalStretch::Polynomial { mu }),
        (drawn(), PrincipalStretch::Spline { curves: Arc::new(curves()), scale: 1.4 }),
    ]
}

/// Stress curves of no known law, in equilibrium at rest.
pub fn curves() -> StressCurves {
    let length = [[0.2, -2.0], [0.6, -0.7], [1.0, 0.2], [1.3, 0.9], [2.0, 3.0]];
    let area = [[0.1, -0.3], [1.0, -0.05], [1.5, 0.4]];
    let volume = [[-0.5, -3.0], [0.5, -1.2], [1.0, -0.1], [1.7, 0.6]];
    let [length, area, volume] =
        [&length[..], &area[..], &volume[..]].map(|knots| StressCurve::new(knots).expect("ascending knots"));
    StressCurves::new(length, area, volume).expect("balanced curves")
}

/// A law of order one as that of soft flesh, 5 kPa.
pub fn soft(law: PrincipalStretch) -> PrincipalStretch {
    use PrincipalStretch as P;
    const PA: f64 = 5e3;
    match law {
        P::Corotated { mu, lambda } => P::Corotated { mu: PA * mu, lambda: PA * lambda },
        P::StVenantKirchhoff { mu, lambda } => P::StVenantKirchhoff { mu: PA * mu, lambda: PA * lambda },
        P::NeoHookean { mu, lambda } => P::NeoHookean { mu: PA * mu, lambda: PA * lambda },
        P::MooneyRivlin { c1, c2, lambda } => {
            P::MooneyRivlin { c1: PA * c1, c2: PA * c2, lambda: PA * lambda }
        }
        P::Polynomial { mu } => P::Polynomial { mu: PA * mu },
        P::Spline { curves, scale } => P::Spline { curves, scale: PA * scale },
    }
}
