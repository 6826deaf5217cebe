//! Trees of domains: bodies in a few displacements, each in a frame of its own that hangs on another body `[MOR sec. 4]`.
//!
//! A vertex of a domain is at `x = c + R (X + B y)`. Where a domain hangs, vertices of its parent are an interface, and the
//! rotation that comes closest to these is how it is turned (`interface`). The incremental energy of all domains together
//! (`objective`) depends on their coordinates y alone: inertia of moving frames, and what a domain does to its parent, follow from
//! that. Directions come from the inertia of the whole tree, eliminated domain after domain (`articulated`). What may touch colliders
//! is found by spheres around parts of domains (`way`), and forces of touches turn directions (`contact`).

mod articulated;
mod contact;
mod domain;
mod interface;
mod kinematics;
mod motion;
mod objective;
mod tree;
mod way;

pub use domain::Domain;
pub use motion::{TreeDrive, TreeState, Wind};
pub use tree::{DomainTree, Member};
