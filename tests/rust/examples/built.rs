//! Builds a character's body as the player's page does, and prints the factor on its stiffness:
//! `built CHARACTER.json MODEL`.

use std::error::Error;
use std::sync::Arc;
use std::{env, fs};

use jounce::Progress;
use jounce::skeleton::{Bone, BoneRole};
use jounce_player::builder::Character;
use serde_json::{Value, from_value};

fn main() -> Result<(), Box<dyn Error>> {
    let [from, to] = env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "expected two paths")?;
    let all: Value = serde_json::from_str(&fs::read_to_string(from)?)?;
    let heads: Vec<[f64; 3]> = from_value(all["heads"].clone())?;
    let parents: Vec<i64> = from_value(all["parents"].clone())?;
    let names: Vec<String> = from_value(all["names"].clone())?;
    let bone = |((head, parent), name)| {
        let parent = u32::try_from(parent).ok();
        Bone { head, parent, name, role: BoneRole::Automatic, still: false }
    };
    let character = Character {
        points: from_value(all["points"].clone())?,
        triangles: from_value(all["triangles"].clone())?,
        weights: from_value::<Vec<Vec<f64>>>(all["weights"].clone())?.concat(),
        bones: heads.into_iter().zip(parents).zip(names).map(bone).collect(),
        hinted: Vec::new(),
    };
    let built = character.build(&Arc::new(Progress::default()))?;
    fs::write(to, built.model)?;
    println!("{:?}", built.stiffness);
    Ok(())
}
