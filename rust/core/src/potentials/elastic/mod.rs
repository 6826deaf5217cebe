//! Elastic energies: elements of a mesh, fibres, samples of a reduced body, clusters and sheets of handles.

pub(crate) mod body;
pub(crate) mod clusters;
pub(crate) mod elements;
pub(crate) mod energy;
pub(crate) mod fibres;
pub(crate) mod mesh_elements;
pub(crate) mod rest_shape;
pub(crate) mod samples;
pub(crate) mod sheet;
pub(crate) mod spring;

pub use sheet::Fabric;
