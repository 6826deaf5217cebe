//! Inputs of a step: settings, forces, drag, and springs to targets.

pub(crate) mod drag;
pub(crate) mod force_samples;
pub(crate) mod pull;
pub(crate) mod settings;
pub(crate) mod shares;
