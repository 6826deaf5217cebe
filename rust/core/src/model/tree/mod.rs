//! Trees of domains: reduced bodies, each in a frame attached to another body `[MOR sec. 4]`.
//!
//! A vertex of a domain is at `x = c + R (X + B y)`. The interface of a domain is a set of vertices of its
//! parent, and the best-fit rotation of the interface is the rotation of the frame (`interface`). The
//! incremental energy of all domains together (`objective`) depends on their coordinates y alone, including
//! the inertia of moving frames and the reaction on the parent. Search directions use the inertia of the
//! whole tree, eliminated domain by domain (`articulated`). Bounding spheres find contact candidates
//! (`way`), and contact forces correct the search directions (`contact`).

mod articulated;
mod build;
mod contact;
mod domain;
mod domain_tree;
mod input;
mod interface;
mod kinematics;
mod objective;
mod path;
mod station;
mod step;

pub use build::Member;
pub use domain::Domain;
pub use domain_tree::DomainTree;
pub use input::{TreeInput, Wind};
