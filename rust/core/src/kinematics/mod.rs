//! Coordinates of bodies, and the maps from coordinates and poses to the places of vertices.

pub(crate) mod carrying;
pub(crate) mod complement;
pub(crate) mod coordinates;
pub(crate) mod handles;
pub(crate) mod history;
pub(crate) mod nearby;
pub(crate) mod points;
pub(crate) mod posing;
pub(crate) mod projector;
pub(crate) mod rig_rows;
pub(crate) mod rigid;
pub(crate) mod tether;

pub use projector::Projector;
