//! Halving of point sets in space.

/// Splits points into two halves along the longest side of their bounding box; lower indices come first
/// among equal points.
pub(crate) fn halves(mut points: Vec<u32>, place: impl Fn(u32) -> [f64; 3]) -> [Vec<u32>; 2] {
    let side = |c: usize| {
        let along = points.iter().map(|&point| place(point)[c]);
        let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        high - low
    };
    let [x, y, z] = [0, 1, 2].map(side);
    let axis = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    points.sort_by(|&a, &b| place(a)[axis].total_cmp(&place(b)[axis]).then(a.cmp(&b)));
    let rest = points.split_off(points.len() / 2);
    [points, rest]
}
