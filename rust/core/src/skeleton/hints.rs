//! Hints from the names of bones and materials.

use super::part::Part;

/// Words in the names of bones of heads.
const HEAD: [&str; 2] = ["head", "skull"];
/// Words in the names of other bones with rigid flesh.
const HARD: [&str; 25] = [
    "face", "nose", "mouth", "muzzle", "beak", "jaw", "teeth", "tongue", "eye", "eyes", "hand", "wrist",
    "palm", "finger", "fingers", "thumb", "index", "pinky", "foot", "feet", "toe", "toes", "paw", "hoof",
    "claw",
];
/// Words in the names of bones of long soft parts.
const LONG: [&str; 22] = [
    "ear",
    "ears",
    "tail",
    "hair",
    "pony",
    "ponytail",
    "braid",
    "braids",
    "dread",
    "dreads",
    "dreadlock",
    "dreadlocks",
    "beard",
    "antenna",
    "tentacle",
    "fin",
    "fins",
    "cape",
    "skirt",
    "cloak",
    "scarf",
    "whiskers",
];
/// Words in the names of bones of bulging soft parts.
const BULGING: [&str; 16] = [
    "breast", "breasts", "boob", "boobs", "bust", "pec", "peck", "belly", "butt", "buttock", "buttocks",
    "glute", "glutes", "cheek", "cheeks", "jiggle",
];

/// Words of the parts that a soft bone may belong to; other long ones are as hair is.
const PARTS: [(Part, &[&str]); 6] = [
    (Part::Ears, &["ear", "ears"]),
    (Part::Tail, &["tail"]),
    (Part::Fins, &["fin", "fins"]),
    (Part::Chest, &["breast", "breasts", "boob", "boobs", "bust", "pec", "peck"]),
    (Part::Belly, &["belly"]),
    (Part::Buttocks, &["butt", "buttock", "buttocks", "glute", "glutes"]),
];

/// Words in the names of hard materials.
const MATERIALS: [&str; 36] = [
    "metal", "steel", "iron", "chrome", "brass", "bronze", "copper", "gold", "silver", "armor", "armour",
    "plate", "plates", "helmet", "glass", "glasses", "lens", "lenses", "visor", "plastic", "wood", "stone",
    "horn", "horns", "hoof", "hooves", "eye", "eyes", "eyeball", "eyeballs", "pupil", "pupils", "iris",
    "cornea", "teeth", "tooth",
];

/// Hint of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    Head,
    Hard,
    Soft,
}

/// Hint from the words of a name, soft ones first: `Head_Ear.L` is an ear.
pub(super) fn hint(name: &str) -> Option<Hint> {
    let words = words(name);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let soft = any(&LONG) || any(&BULGING);
    let known = [(Hint::Soft, soft), (Hint::Head, any(&HEAD)), (Hint::Hard, any(&HARD))];
    known.into_iter().find(|&(_, is_meant)| is_meant).map(|(hint, _)| hint)
}

/// The soft part of the body that a name tells.
pub(super) fn part(name: &str) -> Option<Part> {
    let words = words(name);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let known = PARTS.iter().find(|(_, list)| any(list)).map(|&(part, _)| part);
    known.or_else(|| any(&LONG).then_some(Part::Hair))
}

/// `true` if a name belongs to a bone in a bulging soft part.
pub(super) fn is_bulge(name: &str) -> bool {
    words(name).iter().any(|word| BULGING.contains(&word.as_str()))
}

/// `true` if the name of a material marks hard things, such as metal, armour and glass.
pub fn is_hard_material(name: &str) -> bool {
    hint(name) != Some(Hint::Soft) && words(name).iter().any(|word| MATERIALS.contains(&word.as_str()))
}

impl Hint {
    /// `true` if all flesh follows the bone.
    pub(super) fn is_hard(self) -> bool {
        self != Hint::Soft
    }
}

/// Words of a name in lower case, without the prefix before its last colon: `rig:LeftForeArm_01` has three.
fn words(name: &str) -> Vec<String> {
    let name = name.rsplit(':').next().unwrap_or(name);
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_alphabetic() {
            let begins = !before.is_alphabetic() || (letter.is_uppercase() && !before.is_uppercase());
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = letter;
    }
    words
}
