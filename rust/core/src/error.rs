//! The error type of the crate: each message gives the fault, the place and the remedy.

/// Result of every fallible function of this crate.
pub type Result<T> = core::result::Result<T, Error>;

/// Faults of an input; each message is one sentence with the fault, the place and the remedy.
///
/// ```
/// use jounce::mesh::TetMesh;
///
/// let error = TetMesh::new(vec![[0.0; 3]; 4], vec![[0, 1, 2, 9]]).unwrap_err();
/// assert!(error.to_string().contains('9'), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array has the wrong shape.
    #[error("{what}: expected shape {expected}, got {got}")]
    Shape {
        /// Name of the argument.
        what: &'static str,
        /// Expected shape.
        expected: String,
        /// Actual shape.
        got: String,
    },
    /// A collection is empty that must not be.
    #[error("{what}: is empty; at least one is needed")]
    Empty {
        /// Name of the argument.
        what: &'static str,
    },
    /// A number is NaN or infinite.
    #[error("{what}: element {element} is {value}; every number must be finite")]
    NotFinite {
        /// Name of the argument.
        what: &'static str,
        /// Index of the element.
        element: usize,
        /// The offending number.
        value: f64,
    },
    /// A bone's transform has a number that is not finite or too large.
    #[error(
        "pose: bone {bone} has the number {}; every number must be finite and at most 1e12",
        readable(*value)
    )]
    Pose {
        /// Index of the bone.
        bone: usize,
        /// The offending number.
        value: f64,
    },
    /// An index is out of bounds.
    #[error("{what}: element {element} refers to index {index}, but there are only {count}")]
    Index {
        /// Name of the argument.
        what: &'static str,
        /// Index of the element.
        element: usize,
        /// The offending index.
        index: i64,
        /// Number of valid indices.
        count: usize,
    },
    /// A number is outside its allowed range.
    #[error("{what}: expected {expected}, got {}", readable(*got))]
    Range {
        /// Name of the argument.
        what: &'static str,
        /// Allowed values in words.
        expected: &'static str,
        /// The offending number.
        got: f64,
    },
    /// A tetrahedron has no volume.
    #[error("tet {tet} is flat (volume {volume:e}); remove it or move one of its vertices")]
    FlatTet {
        /// Index of the tet.
        tet: usize,
        /// Signed volume of the tet in cubic metres.
        volume: f64,
    },
    /// A tetrahedron is inside out.
    #[error("tet {tet} is inverted (volume {volume:e}); swap two of its vertex indices")]
    InvertedTet {
        /// Index of the tet.
        tet: usize,
        /// Signed volume of the tet in cubic metres.
        volume: f64,
    },
    /// A vertex belongs to no tet and has no mass.
    #[error("vertex {vertex} belongs to no tet; remove it")]
    LooseVertex {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A vertex belongs to a component of a surface without mass.
    #[error("vertex {vertex} hangs together with no triangle that has an area; remove it")]
    Massless {
        /// Index of the vertex.
        vertex: usize,
    },
    /// The rig weights of a vertex do not sum to one.
    #[error("weights of vertex {vertex} sum to {}; normalise them to 1", readable(*sum))]
    WeightSum {
        /// Index of the vertex.
        vertex: usize,
        /// Sum of the vertex's weights.
        sum: f64,
    },
    /// More modes are requested than the mesh and the constraint allow.
    #[error(
        "{asked} modes asked for, but mesh and rig leave only {available}; ask for fewer or refine the mesh"
    )]
    TooManyModes {
        /// Requested number.
        asked: usize,
        /// Available number.
        available: usize,
    },
    /// A numerical method failed on valid input.
    #[error("{what} failed: {why}")]
    Numerical {
        /// Name of the method.
        what: &'static str,
        /// Observed failure.
        why: String,
    },
    /// A request is not supported by this method or law.
    #[error("{what}: {why}")]
    Unsupported {
        /// The argument or the operation.
        what: &'static str,
        /// Reason, and an alternative.
        why: &'static str,
    },
    /// A domain does not fit into its tree.
    #[error("domain {domain}: {why}")]
    Domain {
        /// Index of the domain.
        domain: usize,
        /// The problem and its remedy.
        why: &'static str,
    },
    /// A file cannot be read or written, or has inconsistent contents.
    #[error("file: {0}")]
    File(String),
    /// The caller cancelled a long computation.
    #[error("cancelled")]
    Cancelled,
}

/// A number in readable form, with a power of ten if plain digits would run on.
fn readable(number: f64) -> String {
    let plain = number == 0.0 || !number.is_finite() || (1e-4..1e7).contains(&number.abs());
    if plain { number.to_string() } else { format!("{number:e}") }
}
