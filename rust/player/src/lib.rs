#![doc = include_str!("../README.md")]

#[cfg(feature = "builder")]
pub mod builder;
pub mod interface;
mod levels;
mod player;
mod points;
mod settings;
#[cfg(all(feature = "builder", target_family = "wasm"))]
mod tab;

pub use jounce::{Error, Result};
pub use player::Player;
pub use settings::{Setting, Settings};
