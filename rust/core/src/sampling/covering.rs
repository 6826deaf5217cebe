//! A few items that represent all by leverage.

use faer::Mat;

use crate::math::dense::dot;
use crate::parallel::*;

/// Largest leverage of a vertex without a separate place.
const UNSEEN: f64 = 0.1;
/// Squared row norm, relative to the largest, that counts as not moving.
const FAINT: f64 = 1e-6;

/// Greedy choice of items of `each` rows b by leverage, the sum of `b' (sum of b_s b_s')^-1 b` over the
/// item's rows with the sum over chosen rows. Stops if no item has more than [`UNSEEN`], or at `most`
/// items. Every row is then nearly in the span of the chosen ones.
pub(crate) fn covering(rows: &[Vec<f64>], each: usize, most: usize) -> Vec<usize> {
    let norms: Vec<f64> = rows.chunks_exact(each).map(|own| own.iter().map(|row| norm2(row)).sum()).collect();
    let faint = FAINT * norms.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let rank = rows.first().map_or(0, Vec::len);
    let mut leverage: Vec<f64> = norms.iter().map(|norm| norm / faint).collect();
    let mut inverse = Mat::from_fn(rank, rank, |i, j| if i == j { 1.0 / faint } else { 0.0 });
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let best = (0..norms.len()).max_by(|&a, &b| leverage[a].total_cmp(&leverage[b]));
        let Some(best) = best.filter(|&best| leverage[best] > UNSEEN) else { break };
        chosen.push(best);
        for row in &rows[each * best..][..each] {
            let seen: Vec<f64> = (0..rank).map(|j| dot(inverse.col_as_slice(j), row)).collect();
            let scale = 1.0 / (1.0 + dot(&seen, row));
            for j in 0..rank {
                inverse
                    .col_as_slice_mut(j)
                    .iter_mut()
                    .zip(&seen)
                    .for_each(|(x, s)| *x -= scale * seen[j] * s);
            }
            let sees = |own: &[Vec<f64>]| own.iter().map(|row| dot(&seen, row).powi(2)).sum::<f64>();
            leverage
                .par_iter_mut()
                .zip(rows.par_chunks_exact(each))
                .for_each(|(l, own)| *l -= scale * sees(own));
        }
        // A place is chosen at most once, to leave room for the others.
        leverage[best] = f64::NEG_INFINITY;
    }
    chosen
}

/// Squared length.
pub(crate) fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
