//! What is simulated (tet meshes), what is shown (surface meshes), and how one hangs in the other.
//!
//! A [`SurfaceMesh`] is any triangle soup an artist may make. [`lattice`] encloses it in a [`TetMesh`];
//! an [`Embedding`] hangs the render points in that mesh; [`closest_points`] carries values the other way.

mod cells;
mod closest;
mod embedding;
mod flesh_cell;
mod geodesics;
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
