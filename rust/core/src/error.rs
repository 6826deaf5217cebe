//! The one error type: what is wrong, where, and what to do about it.

/// Result of every fallible function of this crate.
pub type Result<T> = core::result::Result<T, Error>;

/// Everything that can be wrong with an input, each one sentence that says what, where and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array has the wrong shape.
    #[error("{what}: expected shape {expected}, got {got}")]
    Shape {
        /// The argument.
        what: &'static str,
        /// The shape that fits.
        expected: String,
        /// The shape received.
        got: String,
    },
    /// A collection that must not be empty is.
    #[error("{what}: is empty; at least one is needed")]
    Empty {
        /// The argument.
        what: &'static str,
    },
    /// A number is NaN or infinite.
    #[error("{what}: element {element} is {value}; every number must be finite")]
    NotFinite {
        /// The argument.
        what: &'static str,
        /// Which element.
        element: usize,
        /// The offending number.
        value: f64,
    },
    /// A bone's transform has a number that no pose has.
    #[error(
        "pose: bone {bone} has the number {}; every number must be finite and at most 1e12",
        readable(*value)
    )]
    Pose {
        /// Which bone.
        bone: usize,
        /// The offending number.
        value: f64,
    },
    /// An index points past the end of what it indexes.
    #[error("{what}: element {element} refers to index {index}, but there are only {count}")]
    Index {
        /// The argument.
        what: &'static str,
        /// Which element.
        element: usize,
        /// The offending index.
        index: i64,
        /// How many there are.
        count: usize,
    },
    /// A number lies outside what is allowed.
    #[error("{what}: expected {expected}, got {}", readable(*got))]
    Range {
        /// The argument.
        what: &'static str,
        /// The allowed values in words.
        expected: &'static str,
        /// The offending number.
        got: f64,
    },
    /// A tetrahedron has no volume.
    #[error("tet {tet} is flat (volume {volume:e}); remove it or move one of its vertices")]
    FlatTet {
        /// Which tet.
        tet: usize,
        /// Its signed volume in cubic metres.
        volume: f64,
    },
    /// A tetrahedron is inside out.
    #[error("tet {tet} is inverted (volume {volume:e}); swap two of its vertex indices")]
    InvertedTet {
        /// Which tet.
        tet: usize,
        /// Its signed volume in cubic metres.
        volume: f64,
    },
    /// A vertex belongs to no tet, so that it has no mass.
    #[error("vertex {vertex} belongs to no tet; remove it")]
    LooseVertex {
        /// Which vertex.
        vertex: usize,
    },
    /// A vertex is in a part of a surface that has no mass.
    #[error("vertex {vertex} hangs together with no triangle that has an area; remove it")]
    Massless {
        /// Which vertex.
        vertex: usize,
    },
    /// Rig weights of a vertex do not sum to one.
    #[error("weights of vertex {vertex} sum to {}; normalise them to 1", readable(*sum))]
    WeightSum {
        /// Which vertex.
        vertex: usize,
        /// The sum of its weights.
        sum: f64,
    },
    /// More modes are asked for than the mesh and the constraint leave free.
    #[error(
        "{asked} modes asked for, but mesh and rig leave only {available}; ask for fewer or refine the mesh"
    )]
    TooManyModes {
        /// How many were asked for.
        asked: usize,
        /// How many exist.
        available: usize,
    },
    /// A numerical method failed on valid input.
    #[error("{what} failed: {why}")]
    Numerical {
        /// The method.
        what: &'static str,
        /// What was observed.
        why: String,
    },
    /// What is asked for is not for this method or law.
    #[error("{what}: {why}")]
    Unsupported {
        /// The argument or the operation.
        what: &'static str,
        /// Why not, and what there is instead.
        why: &'static str,
    },
    /// A domain does not fit into its tree.
    #[error("domain {domain}: {why}")]
    Domain {
        /// Which domain.
        domain: usize,
        /// What is wrong, and what to do.
        why: &'static str,
    },
    /// A file cannot be read or written, or is not what it claims to be.
    #[error("file: {0}")]
    File(String),
    /// The caller asked a long computation to stop.
    #[error("cancelled")]
    Cancelled,
}

/// A number as people write it: with a power of ten where plain digits would run on.
fn readable(number: f64) -> String {
    let plain = number == 0.0 || !number.is_finite() || (1e-4..1e7).contains(&number.abs());
    if plain { number.to_string() } else { format!("{number:e}") }
}
