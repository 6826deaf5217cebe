//! Interface of a projection.

/// Projection from the coefficients of one kind of coordinates.
pub(super) trait Project: Send + Sync {
    /// Number of coefficients, and their shape in words.
    fn coefficient_count(&self) -> usize;

    fn shape(&self) -> String;

    /// Number of points p.
    fn point_count(&self) -> usize;

    /// Writes the displacements, p x 3 in metres.
    fn displacement(&self, coefficients: &[f64], out: &mut [f32]);

    /// The generalised force of forces at the points, p x 3 in newtons: the transpose.
    fn reduce_forces(&self, forces: &[f64]) -> Vec<f64>;
}
