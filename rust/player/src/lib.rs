#![doc = include_str!("../README.md")]

#[cfg(feature = "builder")]
pub mod builder;
pub mod colliding;
mod dented_skin;
pub mod interface;
mod levels;
mod obstacles;
mod player;
mod pointers;
mod points;
mod settings;
#[cfg(all(feature = "builder", target_family = "wasm"))]
mod tab;

pub use jounce::{Error, Result};
pub use obstacles::{Obstacle, Skin};
pub use player::Player;
pub use settings::{Setting, Settings};
