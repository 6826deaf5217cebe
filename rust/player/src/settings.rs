//! Settings of a player by number, and the settings of a step made from them.

use jounce::body::standard;
use jounce::inputs::SimulationParams;
use jounce::{Error, Result};

/// Longest substep by default, seconds.
const SUBSTEP: f64 = 1.0 / 96.0;
/// Most substeps in a frame: a slow machine must not get slower still.
const MOST_SUBSTEPS: f64 = 8.0;

/// A setting, with its number in the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Setting {
    /// Factor on the rig's acceleration felt by the flesh: 0 none, 1 as in nature; 1 by default.
    Amount = 0,
    /// Factor on the stiffness of the model, > 0; frequencies scale with its square root; 1 by default.
    Stiffness = 1,
    /// Damping ratio of every mode, >= 0; 0.12 by default.
    Damping = 2,
    /// Largest change of a length, as a share; 0 for no limit; 0.4 by default.
    Stretch = 3,
    /// Largest displacement, as a share of the body's diagonal; 0 for no limit; 0.25 by default.
    Limit = 4,
    /// Acceleration of gravity along x, m/s^2.
    GravityX = 5,
    /// Acceleration of gravity along y, m/s^2.
    GravityY = 6,
    /// Acceleration of gravity along z, m/s^2.
    GravityZ = 7,
    /// Most modes to play: the level of detail with at most this number is shown, 0 for none.
    Modes = 8,
    /// 1 to stop while nothing moves, the default; 0 to never stop.
    Sleep = 9,
    /// Position of the elastic rest shape: 0 at the bind shape, 1 at the posed shape, the default.
    PoseRest = 10,
    /// Longest substep in seconds, > 0; 1/96 by default. A frame has at most eight substeps.
    Substep = 11,
}

impl Setting {
    /// All settings with their names, in the order of their numbers.
    pub const ALL: [(&'static str, Self); 12] = [
        ("amount", Self::Amount),
        ("stiffness", Self::Stiffness),
        ("damping", Self::Damping),
        ("stretch", Self::Stretch),
        ("limit", Self::Limit),
        ("gravity_x", Self::GravityX),
        ("gravity_y", Self::GravityY),
        ("gravity_z", Self::GravityZ),
        ("modes", Self::Modes),
        ("sleep", Self::Sleep),
        ("pose_rest", Self::PoseRest),
        ("substep", Self::Substep),
    ];

    /// The setting of a number.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown number.
    pub fn numbered(number: u32) -> Result<Self> {
        let missing =
            || Error::Index { what: "setting", element: 0, index: number.into(), count: Self::ALL.len() };
        Self::ALL.get(number as usize).map(|(_, setting)| *setting).ok_or_else(missing)
    }
}

/// Settings of a player.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub(crate) params: SimulationParams,
    pub(crate) modes: usize,
    pub(crate) sleeps: bool,
    substep: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { params: standard::motion(), modes: usize::MAX, sleeps: true, substep: SUBSTEP }
    }
}

impl Settings {
    /// The same settings with one of them changed.
    ///
    /// # Errors
    /// [`Error::Range`] or [`Error::NotFinite`] for a value that the setting cannot have.
    pub fn with(mut self, setting: Setting, value: f64) -> Result<Self> {
        let params = &mut self.params;
        let limit = (value != 0.0).then_some(value);
        match setting {
            Setting::Amount => params.strength = value,
            Setting::Stiffness => params.stiffness = value,
            Setting::Damping => params.damping = value,
            Setting::Stretch => params.stretch = limit,
            Setting::Limit => params.limit = limit,
            Setting::GravityX => params.gravity[0] = value,
            Setting::GravityY => params.gravity[1] = value,
            Setting::GravityZ => params.gravity[2] = value,
            Setting::Modes if value >= 0.0 => self.modes = value as usize,
            Setting::Modes => {
                return Err(Error::Range { what: "modes", expected: "a number >= 0", got: value });
            }
            Setting::Sleep => self.sleeps = value != 0.0,
            Setting::PoseRest => params.pose_rest = value,
            Setting::Substep if value > 0.0 && value.is_finite() => self.substep = value,
            Setting::Substep => {
                return Err(Error::Range { what: "substep", expected: "a number > 0", got: value });
            }
        }
        self.params.check()?;
        Ok(self)
    }

    /// Settings of a step over some seconds, in equal substeps.
    pub(crate) fn over(&self, seconds: f64) -> SimulationParams {
        // A frame of exactly some substeps is not cut into one more by rounding.
        let substeps = (seconds / self.substep - 1e-6).ceil().clamp(1.0, MOST_SUBSTEPS) as u32;
        SimulationParams { dt: seconds, substeps, ..self.params }
    }
}
