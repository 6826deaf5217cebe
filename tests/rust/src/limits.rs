//! Limits of what is measured at several magnitudes.

/// Asserts the limit for small p of values `a + b p^2 + c p^4 + ...`, seen at p, p/2 and p/4.
///
/// The bound comes from the values themselves: without the second order, those at p/4 differ from the limit
/// by a fifteenth of what they differ by from those at p/2, but for the sixth order; they must not differ by
/// more than the whole of it, which in turn is less than the second order.
pub fn assert_limit(seen: &[Vec<f64>; 3], expected: &[f64]) {
    let without = |[far, near]: [&Vec<f64>; 2]| -> Vec<f64> {
        far.iter().zip(near).map(|(far, near)| (4.0 * near - far) / 3.0).collect()
    };
    let [before, last] = [without([&seen[0], &seen[1]]), without([&seen[1], &seen[2]])];
    let size = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size;
    let (error, change, second) = (apart(&last, expected), apart(&before, &last), apart(&seen[2], expected));
    println!("limit off by {error:e}, last changed by {change:e}; second order {second:e}");
    assert!(error < change && change < second, "{error:e} {change:e} {second:e}");
}
