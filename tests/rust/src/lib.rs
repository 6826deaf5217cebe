//! Fixtures shared by the tests: small meshes and rigs made by script.

pub mod allocations;
pub mod bodies;
pub mod boxes;
pub mod complementary;
pub mod dense;
pub mod figure;
pub mod handled;
pub mod hyperelastic;
pub mod laws;
pub mod limb;
pub mod limits;
pub mod low_rank;
pub mod meeting;
pub mod methods;
pub mod modules;
pub mod reports;
pub mod rivals;
pub mod rotations;
pub mod sewn;
pub mod subspaces;
pub mod surfaces;
pub mod thrown;
pub mod touching;
pub mod trees;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorials/rust.md")]
pub struct Tutorial;
