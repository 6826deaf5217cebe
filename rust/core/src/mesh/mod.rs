//! Simulated tet meshes, displayed surface meshes, and the embedding between them.
//!
//! A [`SurfaceMesh`] is any triangle soup made by an artist. [`lattice`] encloses a surface in a
//! [`TetMesh`]; an [`Embedding`] attaches the render points to this mesh; [`closest_points`] carries values
//! in the opposite direction.

mod cells;
mod closest;
mod cut;
mod embedding;
mod flesh_cell;
pub(crate) mod geodesics;
mod grid;
mod halves;
mod lattice;
mod orientation;
mod overlap;
mod sampling;
mod solid;
mod surface;
mod tet_mesh;
mod winding;

pub(crate) use closest::TriangleTree;
pub use closest::{ClosestPoint, closest_points};
pub use embedding::Embedding;
pub use flesh_cell::FleshCell;
pub(crate) use geodesics::{Front, Geodesics};
pub(crate) use halves::halves;
pub use lattice::{RESOLUTIONS, lattice, lattice_with_tet_count, solid_lattice};
pub(crate) use sampling::BoundarySamples;
pub use surface::SurfaceMesh;
pub(crate) use tet_mesh::extent;
pub use tet_mesh::{TetMesh, bounds};
pub use winding::WindingNumber;
