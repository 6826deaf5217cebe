//! Finite differences in time over recent frames and substeps.

use crate::inputs::settings::{HISTORY, Integrator};

/// Part of `h^2 d2x/dt2` known before a step: all backward differences but the newest. Differences preserve
/// precision far from the origin.
pub(crate) fn past_acceleration(
    history: &[Vec<[f64; 3]>; HISTORY],
    factors: &[f64; HISTORY],
    out: &mut [[f64; 3]],
) {
    for (row, out) in out.iter_mut().enumerate() {
        for c in 0..3 {
            let at = |back: usize| history[HISTORY - back][row][c];
            out[c] = (1..HISTORY).map(|j| factors[j] * (at(j) - at(j + 1))).sum();
        }
    }
}

/// Positions after a substep of free flight.
pub(crate) fn free_flight(history: &[Vec<[f64; 3]>; HISTORY], integrator: Integrator, out: &mut [[f64; 3]]) {
    let inertia = integrator.acceleration();
    past_acceleration(history, &inertia, out);
    for (place, last) in out.iter_mut().zip(&history[HISTORY - 1]) {
        (0..3).for_each(|c| place[c] = last[c] - place[c] / inertia[0]);
    }
}

/// Positions after a substep at the speed that the last one ended with: `last + d + (d - e) / 2`, with its
/// step d and the step e before.
pub(crate) fn go_on([.., oldest, older, last]: &[Vec<[f64; 3]>; HISTORY], out: &mut [[f64; 3]]) {
    for (row, place) in out.iter_mut().enumerate() {
        for c in 0..3 {
            let (step, before) = (last[row][c] - older[row][c], older[row][c] - oldest[row][c]);
            place[c] = last[row][c] + step + 0.5 * (step - before);
        }
    }
}

/// `factor h^2 d2x/dt2` of the rig's motion, for the rows of `out`.
pub(crate) fn felt_acceleration(
    history: &[Vec<[f64; 3]>; HISTORY],
    now: &[[f64; 3]],
    inertia: &[f64; HISTORY],
    factor: f64,
    out: &mut [[f64; 3]],
) {
    past_acceleration(history, inertia, out);
    for (acceleration, (now, last)) in out.iter_mut().zip(now.iter().zip(&history[HISTORY - 1])) {
        for c in 0..3 {
            let whole = inertia[0] * (now[c] - last[c]) + acceleration[c];
            acceleration[c] = factor * whole;
        }
    }
}

/// Mixes the second difference of two frames and the next, times a factor, into what is felt: 1 replaces it.
pub(crate) fn smooth(
    felt: &mut [[f64; 3]],
    [older, last]: &[Vec<[f64; 3]>; 2],
    next: &[[f64; 3]],
    share: f64,
    factor: f64,
) {
    for (row, felt) in felt.iter_mut().enumerate() {
        for c in 0..3 {
            let between = factor * (next[row][c] - 2.0 * last[row][c] + older[row][c]);
            felt[c] += share * (between - felt[c]);
        }
    }
}

/// `h dx/dt` at `now`, the successor of the last entry of a history.
pub(crate) fn velocity(
    history: &[impl AsRef<[[f64; 3]]>; HISTORY],
    now: &[[f64; 3]],
    factors: [f64; 2],
    out: &mut [[f64; 3]],
) {
    let [.., older, last] = history.each_ref().map(AsRef::as_ref);
    for (row, out) in out.iter_mut().enumerate() {
        for c in 0..3 {
            let newest = now[row][c] - last[row][c];
            out[c] = factors[0] * newest + factors[1] * (last[row][c] - older[row][c]);
        }
    }
}

/// `h dx/dt` of a coordinate at the end of a substep that ends at zero: the part known before.
pub(crate) fn known_velocity(older: f64, last: f64, factors: [f64; 2]) -> f64 {
    factors[1] * (last - older) - factors[0] * last
}

/// `last + share (last - older)`.
pub(crate) fn extrapolate([older, last]: [&[[f64; 3]]; 2], share: f64, out: &mut [[f64; 3]]) {
    for (row, out) in out.iter_mut().enumerate() {
        (0..3).for_each(|c| out[c] = last[row][c] + share * (last[row][c] - older[row][c]));
    }
}

/// Share of the last motion to go on to the shape of which an integrator finds the velocity, exactly to
/// second order for a body that spins.
pub(crate) fn turning_point(factors: [f64; 2]) -> f64 {
    factors[0] - 0.5
}

/// Position at a fraction of the time from the last of two frames to the next, on the parabola through all
/// three.
pub(crate) fn on_parabola(
    [older, last]: &[Vec<[f64; 3]>; 2],
    next: &[[f64; 3]],
    time: f64,
    out: &mut [[f64; 3]],
) {
    for row in 0..out.len() {
        for c in 0..3 {
            let (back, ahead) = (last[row][c] - older[row][c], next[row][c] - last[row][c]);
            let change = 0.5 * time * (back + ahead) + 0.5 * time * time * (ahead - back);
            out[row][c] = last[row][c] + change;
        }
    }
}

/// Drops the older of two frames and appends the newest.
pub(crate) fn follow(frames: &mut [Vec<[f64; 3]>; 2], newest: &[[f64; 3]]) {
    frames.swap(0, 1);
    frames[1].copy_from_slice(newest);
}

/// Drops the oldest and appends the newest.
pub(crate) fn remember(history: &mut [Vec<[f64; 3]>; HISTORY], newest: &[[f64; 3]]) {
    history.rotate_left(1);
    history[HISTORY - 1].copy_from_slice(newest);
}

/// Mean translation between two sets of points, and the largest deviation of a point from this translation.
pub(crate) fn apart(from: &[[f64; 3]], to: &[[f64; 3]]) -> ([f64; 3], f64) {
    let count = from.len() as f64;
    let mean: [f64; 3] =
        std::array::from_fn(|c| from.iter().zip(to).map(|(from, to)| to[c] - from[c]).sum::<f64>() / count);
    let missed = |(from, to): (&[f64; 3], &[f64; 3])| {
        (0..3).map(|c| (to[c] - from[c] - mean[c]).powi(2)).sum::<f64>().sqrt()
    };
    (mean, from.iter().zip(to).map(missed).fold(0.0, f64::max))
}
