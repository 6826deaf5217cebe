//! Exact step of one oscillator, `z'' + c z' + l z = f` with f linear in time.
//!
//! With x = c h / 2 and L = l h^2, a step needs only divided differences of exp at the roots of
//! `r^2 + 2 x r + L` and at 0. They are entire functions of x and L, and no formula below divides by a
//! vanishing number, including critical damping and l = 0.

/// Terms of the series for roots up to 1; the remainder is below 1/24!.
const TERMS: u32 = 24;

/// Linear map of a step from amplitude, velocity and the load at both ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Propagator {
    /// z and z' after the step, from z and z' before it.
    pub motion: [[f64; 2]; 2],
    /// z and z' after the step, from the loads at the start and the end of the step.
    pub loads: [[f64; 2]; 2],
}

impl Propagator {
    /// eigenvalue: l >= 0, 1/s^2. damping: c >= 0, 1/s. h: seconds.
    pub fn new(eigenvalue: f64, damping: f64, h: f64) -> Self {
        let Response { stay, slow, impulse, step, ramp } =
            Response::new(0.5 * damping * h, eigenvalue * h * h);
        Self {
            motion: [[stay, h * impulse], [-eigenvalue * h * impulse, slow]],
            loads: [[h * h * (step - ramp), h * h * ramp], [h * (impulse - step), h * step]],
        }
    }
}

/// The motion at time 1 of `z'' + 2 x z' + L z = f`.
struct Response {
    /// z from z = 1 at rest.
    stay: f64,
    /// z' from z' = 1 at 0.
    slow: f64,
    /// z from z' = 1 at 0: `exp[r1, r2]`.
    impulse: f64,
    /// z from 0 under f = 1: `exp[r1, r2, 0]`.
    step: f64,
    /// z from 0 under f = t: `exp[r1, r2, 0, 0]`.
    ramp: f64,
}

impl Response {
    fn new(x: f64, l: f64) -> Self {
        let apart = x * x - l;
        if l.max(2.0 * x) <= 1.0 {
            return Self::of_series(x, l);
        }
        if apart <= 0.0 {
            return Self::underdamped(x, l, (-apart).sqrt());
        }
        let half = apart.sqrt();
        let fast = x + half;
        let slow = l / fast;
        if 2.0 * slow <= fast { Self::of_roots(slow, fast) } else { Self::overdamped(x, l, slow, half) }
    }

    /// `exp[r1, r2, 0, ..] = sum_k h_k / (k + n)!`, h_k the complete symmetric polynomials of the roots.
    fn of_series(x: f64, l: f64) -> Self {
        let [mut before, mut now, mut factorial] = [0.0, 1.0, 1.0];
        let [mut impulse, mut step, mut ramp] = [0.0; 3];
        for k in 1..=TERMS {
            let k = f64::from(k);
            factorial *= k;
            impulse += now / factorial;
            step += now / (factorial * (k + 1.0));
            ramp += now / (factorial * (k + 1.0) * (k + 2.0));
            [before, now] = [now, -2.0 * x * now - l * before];
        }
        let stay = 1.0 - l * step;
        Self { stay, slow: stay - 2.0 * x * impulse, impulse, step, ramp }
    }

    fn underdamped(x: f64, l: f64, w: f64) -> Self {
        let sinc = if w > 0.0 { w.sin() / w } else { 1.0 };
        Self::of_waves(x, l, (-x).exp() * w.cos(), (-x).exp() * sinc)
    }

    /// Roots close to each other, neither of them small.
    fn overdamped(x: f64, l: f64, slow: f64, half: f64) -> Self {
        let [last, first] = [(-slow).exp(), (-slow - 2.0 * half).exp()];
        Self::of_waves(x, l, 0.5 * (last + first), -last * (-2.0 * half).exp_m1() / (2.0 * half))
    }

    /// For l neither small against 1 nor against x^2.
    fn of_waves(x: f64, l: f64, cosine: f64, impulse: f64) -> Self {
        let stay = cosine + x * impulse;
        let step = (1.0 - stay) / l;
        let ramp = (1.0 - impulse - 2.0 * x * step) / l;
        Self { stay, slow: cosine - x * impulse, impulse, step, ramp }
    }

    /// Real roots -q and -p, far apart: p >= 2 q.
    fn of_roots(q: f64, p: f64) -> Self {
        let between = p - q;
        let [last, first] = [(-q).exp(), (-p).exp()];
        let [[last_step, last_ramp], [first_step, first_ramp]] = [averages(-q), averages(-p)];
        Self {
            stay: (p * last - q * first) / between,
            slow: (p * first - q * last) / between,
            impulse: (last - first) / between,
            step: (last_step - first_step) / between,
            ramp: (last_ramp - first_ramp) / between,
        }
    }
}

/// `(e^r - 1) / r` and `(e^r - 1 - r) / r^2`, r <= 0.
fn averages(r: f64) -> [f64; 2] {
    if r < -1.0 {
        let first = r.exp_m1() / r;
        return [first, (first - 1.0) / r];
    }
    let [mut term, mut first, mut second] = [1.0, 0.0, 0.0];
    for k in 1..=TERMS {
        let k = f64::from(k);
        term /= k;
        first += term;
        second += term / (k + 1.0);
        term *= r;
    }
    [first, second]
}
