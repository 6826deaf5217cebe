//! The sparse matrix type that operators are written in.

/// A sparse matrix in compressed columns with 32-bit indices; symmetric ones are stored whole, not as a triangle.
pub type Sparse = faer::sparse::SparseColMat<u32, f64>;
