//! Stiffening function of limits: zero up to half of the limit, steep beyond.

/// Share of a limit up to which the function is zero.
pub(crate) const KNEE: f64 = 0.5;
/// Share of a limit from which [`continued`] is a parabola.
const LAST: f64 = 0.8;

/// `phi(x) = -t^2 ln(1 - t)`, `t = 2 x - 1` and 0 below `x = 1/2`, and its derivative, for x below 1.
pub(crate) fn potential(x: f64) -> (f64, f64) {
    if x <= KNEE {
        return (0.0, 0.0);
    }
    let t = (x - KNEE) / (1.0 - KNEE);
    growing(t, (-t).ln_1p())
}

/// The same from t and `ln(1 - t)`.
fn growing(t: f64, log: f64) -> (f64, f64) {
    (-t * t * log, (t * t / (1.0 - t) - 2.0 * t * log) / (1.0 - KNEE))
}

/// `phi` for any x, with both derivatives: from [`LAST`] on its smooth continuation by a parabola. States
/// beyond the limit can return, and the stiffness is nowhere more than about 40.
pub(crate) fn continued(x: f64) -> [f64; 3] {
    if x <= KNEE {
        return [0.0; 3];
    }
    let at = x.min(LAST);
    let t = (at - KNEE) / (1.0 - KNEE);
    let log = (-t).ln_1p();
    let (value, first) = growing(t, log);
    let bend = t * (2.0 - t) / (1.0 - t).powi(2) + 2.0 * t / (1.0 - t) - 2.0 * log;
    let (second, beyond) = (bend / (1.0 - KNEE).powi(2), x - at);
    [value + beyond * (first + 0.5 * beyond * second), first + beyond * second, second]
}
