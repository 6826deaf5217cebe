//! Stiffening function of limits: zero up to half of the limit, steep beyond.

use pulp::Simd;

use super::lanes::logarithm_of;

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

/// Terms of the logarithm's series for `1 - t` up to [`LAST`], quotients up to 3/7.
const TERMS: usize = 23;

/// [`continued`] and its first derivative, one x a lane.
#[inline(always)]
pub(crate) fn continued_in_lanes<S: Simd>(simd: S, x: S::f64s) -> [S::f64s; 2] {
    let (zero, half, one) = (simd.splat_f64s(0.0), simd.splat_f64s(0.5), simd.splat_f64s(1.0));
    let wide = simd.splat_f64s(1.0 / (1.0 - KNEE));
    let at = simd.min_f64s(simd.splat_f64s(LAST), x);
    let t = simd.max_f64s(zero, simd.mul_f64s(wide, simd.sub_f64s(at, simd.splat_f64s(KNEE))));
    let left = simd.sub_f64s(one, t);
    let log = logarithm_of::<S, TERMS>(simd, simd.div_f64s(simd.neg_f64s(t), simd.add_f64s(one, left)));
    let (twice, bent) = (simd.mul_f64s(simd.add_f64s(t, t), log), simd.div_f64s(t, left));
    let first = simd.mul_f64s(wide, simd.sub_f64s(simd.mul_f64s(t, bent), twice));
    // t (2 - t) / (1 - t)^2 + 2 t / (1 - t) - 2 ln(1 - t)
    let outer = simd.mul_f64s(bent, simd.add_f64s(simd.div_f64s(one, left), one));
    let bend = simd.sub_f64s(simd.add_f64s(outer, simd.add_f64s(bent, bent)), simd.add_f64s(log, log));
    let second = simd.mul_f64s(simd.mul_f64s(wide, wide), bend);
    let beyond = simd.sub_f64s(x, at);
    let slope = simd.mul_add_e_f64s(beyond, second, first);
    let chord = simd.mul_add_e_f64s(simd.mul_f64s(half, beyond), second, first);
    let value =
        simd.mul_add_e_f64s(beyond, chord, simd.mul_f64s(simd.mul_f64s(half, t), simd.neg_f64s(twice)));
    [value, slope]
}

#[cfg(test)]
mod tests {
    use pulp::Scalar;

    use super::*;

    #[test]
    fn lanes_give_what_one_number_gives() {
        for step in 0..4000 {
            let x = step as f64 * 5e-4;
            let [value, slope, _] = continued(x);
            let [wide, wide_slope] = continued_in_lanes(Scalar::new(), x);
            assert!((wide - value).abs() <= 1e-14 * value, "{x}: {wide} {value}");
            assert!((wide_slope - slope).abs() <= 1e-14 * slope, "{x}: {wide_slope} {slope}");
        }
    }
}
