//! What is simulated (tet meshes), what is shown (surface meshes), and how one hangs in the other.

mod tet_mesh;

pub use tet_mesh::TetMesh;
