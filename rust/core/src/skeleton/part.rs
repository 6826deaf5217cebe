//! Parts of a body that an animator names, with their settings and usual frequencies.

/// Largest motion of a part, as a share of the depth of its flesh.
const ROOM: f64 = 0.4;

/// A soft part of a body; left and right are one.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Front and sides of the trunk below the ribs.
    Belly,
    /// Flesh on the rib cage.
    Chest,
    /// Flesh behind the pelvis.
    Buttocks,
    /// Upper parts of the legs.
    Thighs,
    /// Backs of the lower legs.
    Calves,
    /// Arms, or forelegs.
    Arms,
    /// Neck and throat.
    Neck,
    /// Ears.
    Ears,
    /// Tail.
    Tail,
    /// Fins of a fish.
    Fins,
    /// Hair, skirts, capes and other things on soft bones.
    Hair,
    /// Flesh of no other part.
    Rest,
}

impl Part {
    /// All parts, in the order of their declaration.
    pub const ALL: [Self; 12] = [
        Self::Belly,
        Self::Chest,
        Self::Buttocks,
        Self::Thighs,
        Self::Calves,
        Self::Arms,
        Self::Neck,
        Self::Ears,
        Self::Tail,
        Self::Fins,
        Self::Hair,
        Self::Rest,
    ];

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Belly => "belly",
            Self::Chest => "chest",
            Self::Buttocks => "buttocks",
            Self::Thighs => "thighs",
            Self::Calves => "calves",
            Self::Arms => "arms",
            Self::Neck => "neck",
            Self::Ears => "ears",
            Self::Tail => "tail",
            Self::Fins => "fins",
            Self::Hair => "hair",
            Self::Rest => "rest",
        }
    }

    /// Part of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Frequency that looks natural on a person, Hz.
    pub fn frequency(self) -> f64 {
        self.band().0
    }

    /// Frequency of the part for this depth of flesh, as a share of the body's height: higher in a thin layer
    /// without room for the usual motion, up to the highest natural frequency, Hz.
    pub fn frequency_at(self, depth: f64) -> f64 {
        let (usual, highest, motion) = self.band();
        let room = ROOM * depth;
        if room > 0.0 { (usual * (motion / room).sqrt()).clamp(usual, highest) } else { highest }
    }

    /// Usual and highest frequency, Hz, and usual motion, as a share of the height.
    fn band(self) -> (f64, f64, f64) {
        match self {
            Self::Belly => (2.6, 6.0, 0.03),
            Self::Chest => (3.6, 6.5, 0.018),
            Self::Buttocks => (3.4, 6.0, 0.02),
            Self::Thighs => (4.0, 7.0, 0.015),
            Self::Calves => (5.0, 8.0, 0.009),
            Self::Arms => (4.5, 7.0, 0.01),
            Self::Neck => (4.5, 8.0, 0.008),
            Self::Ears => (1.1, 6.0, 0.06),
            Self::Tail => (1.0, 6.0, 0.07),
            Self::Fins => (1.2, 6.0, 0.06),
            Self::Hair => (1.2, 5.0, 0.06),
            Self::Rest => (4.0, 8.0, 0.012),
        }
    }

    /// `true` for parts that stick out of the body, however thin.
    pub(super) fn is_appendage(self) -> bool {
        matches!(self, Self::Ears | Self::Tail | Self::Fins | Self::Hair)
    }
}

/// Setting of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartSetting {
    /// The part.
    pub part: Part,
    /// Factor on the compliance, > 0; 1 is the usual frequency.
    pub softness: f64,
    /// Factor on the felt acceleration of the rig, in [0, 3].
    pub amount: f64,
}

/// A part found in a body.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPart {
    /// The part.
    pub part: Part,
    /// Share of each tet vertex in this part, n, in [0, 1].
    pub weights: Vec<f64>,
}
