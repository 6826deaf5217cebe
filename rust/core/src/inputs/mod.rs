//! Inputs of a step: settings, forces, drag, and springs to targets; starts of loose bodies.

pub(crate) mod drag;
pub(crate) mod force_samples;
pub(crate) mod pull;
pub(crate) mod settings;
pub(crate) mod shares;
pub(crate) mod start;

pub use drag::Drag;
pub use force_samples::ForceSamples;
pub use pull::{Grip, Pull};
pub use settings::{Integrator, Minimiser, Setting, SimulationParams, StepInput, StepReport};
pub use shares::Shares;
pub use start::Start;
