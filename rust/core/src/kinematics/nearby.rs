//! Locality-preserving order of places.

use crate::mesh::bounds;

/// Indices of places, sorted along the longest side, then recursively within each half. Groups of a power
/// of two are never split and fill whole registers.
pub(crate) fn side_by_side(places: &[[f64; 3]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    halve(&mut order, places);
    order
}

fn halve(order: &mut [usize], places: &[[f64; 3]]) {
    if order.len() < 2 {
        return;
    }
    let (low, high) = bounds(&order.iter().map(|&number| places[number]).collect::<Vec<_>>());
    let longer = |best: usize, c: usize| if high[c] - low[c] > high[best] - low[best] { c } else { best };
    let axis = (1..3).fold(0, longer);
    order.sort_by(|&a, &b| places[a][axis].total_cmp(&places[b][axis]).then(a.cmp(&b)));
    let (one, other) = order.split_at_mut(order.len().next_power_of_two() / 2);
    halve(one, places);
    halve(other, places);
}
