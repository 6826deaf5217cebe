//! Sums over rows of three coordinates.

/// A point, a displacement or a force for each vertex.
pub(crate) type Rows = [[f64; 3]];

/// `tr(a'b)`.
pub(crate) fn dot(a: &Rows, b: &Rows) -> f64 {
    super::dot::dot(a.as_flattened(), b.as_flattened())
}

/// `out += factor x`.
pub(crate) fn add(out: &mut Rows, factor: f64, x: &Rows) {
    out.as_flattened_mut().iter_mut().zip(x.as_flattened()).for_each(|(out, x)| *out += factor * x);
}

/// `out = a + factor b`.
pub(crate) fn combine(out: &mut Rows, a: &Rows, factor: f64, b: &Rows) {
    let terms = a.as_flattened().iter().zip(b.as_flattened());
    out.as_flattened_mut().iter_mut().zip(terms).for_each(|(out, (a, b))| *out = a + factor * b);
}
