//! Energies of a step, each with gradient and contribution to the metric.

pub mod contact;
pub(crate) mod displacement_limit;
pub(crate) mod drag;
pub mod elastic;
pub(crate) mod inertia;
pub(crate) mod quadratic;
pub(crate) mod stitch_gaps;
pub(crate) mod swings;

pub use elastic::energy::ElasticEnergy;
