//! The builder's exports in WebAssembly: a character from numbers that JavaScript wrote into memory.

use std::sync::{Arc, OnceLock, Weak};

use jounce::skeleton::{Bone, BoneRole, is_hard_material};
use jounce::{Error, Progress, Result};

use crate::builder::{Built, Character};
use crate::interface::{answer, choose_instructions};
use crate::pointers::slice;

#[link(wasm_import_module = "jounce")]
unsafe extern "C" {
    /// Receives the fraction that is done.
    safe fn progress(fraction: f32);
}

/// Numbers of a character, as JavaScript writes them.
#[derive(Debug)]
#[repr(C)]
pub struct Numbers {
    points: *const f64,
    point_count: usize,
    triangles: *const u32,
    triangle_count: usize,
    weights: *const f64,
    heads: *const f64,
    bone_count: usize,
    /// Parent of each bone, -1 for none.
    parents: *const i32,
    /// 1 for each bone that no animation moves.
    still: *const u8,
    /// Names of the bones, in lines.
    names: *const u8,
    names_length: usize,
    /// 1 for each point of a hard material.
    hinted: *const u8,
}

impl Numbers {
    /// # Safety
    /// The pointers are to as many numbers as the counts say.
    unsafe fn character(&self) -> Result<Character> {
        unsafe {
            let points = slice("points", self.points, 3 * self.point_count)?.as_chunks::<3>().0.to_vec();
            let triangles =
                slice("triangles", self.triangles, 3 * self.triangle_count)?.as_chunks::<3>().0.to_vec();
            let weights = slice("weights", self.weights, self.point_count * self.bone_count)?.to_vec();
            let heads = slice("heads", self.heads, 3 * self.bone_count)?.as_chunks::<3>().0;
            let parents = slice("parents", self.parents, self.bone_count)?;
            let still = slice("still", self.still, self.bone_count)?;
            let names = String::from_utf8_lossy(slice("names", self.names, self.names_length)?).into_owned();
            let mut names = names.lines().map(str::to_owned);
            let bone = |bone: usize| Bone {
                head: heads[bone],
                parent: u32::try_from(parents[bone]).ok(),
                name: names.next().unwrap_or_default(),
                role: BoneRole::Automatic,
                still: still[bone] != 0,
            };
            let bones = (0..self.bone_count).map(bone).collect();
            let hinted = slice("hinted", self.hinted, self.point_count)?.iter().map(|&it| it != 0).collect();
            Ok(Character { points, triangles, weights, bones, hinted })
        }
    }
}

/// Builds a body; NULL after an error.
///
/// # Safety
/// As [`Numbers`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_build(numbers: *const Numbers) -> *mut Built {
    choose_instructions();
    answer(std::ptr::null_mut(), || {
        let numbers = unsafe { numbers.as_ref() }.ok_or(Error::Empty { what: "character" })?;
        let built = unsafe { numbers.character() }?.build(&told())?;
        Ok(Box::into_raw(Box::new(built)))
    })
}

/// A progress that tells JavaScript its fraction.
fn told() -> Arc<Progress> {
    let own: Arc<OnceLock<Weak<Progress>>> = Arc::default();
    let told = own.clone();
    let made = Arc::new(Progress::asking(move || {
        if let Some(standing) = told.get().and_then(Weak::upgrade) {
            progress(standing.fraction());
        }
        false
    }));
    own.get_or_init(|| Arc::downgrade(&made));
    made
}

/// Bytes of the model file.
///
/// # Safety
/// The pointer is from [`jounce_build`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_built_model(built: *const Built) -> *const u8 {
    unsafe { built.as_ref() }.map_or(std::ptr::null(), |built| built.model.as_ptr())
}

/// Number of bytes of the model file.
///
/// # Safety
/// The pointer is from [`jounce_build`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_built_length(built: *const Built) -> usize {
    unsafe { built.as_ref() }.map_or(0, |built| built.model.len())
}

/// Factor on the stiffness.
///
/// # Safety
/// The pointer is from [`jounce_build`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_built_stiffness(built: *const Built) -> f64 {
    unsafe { built.as_ref() }.map_or(1.0, |built| built.stiffness)
}

/// 1 for the name of a hard material.
///
/// # Safety
/// The pointer is to as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_is_hard_material(name: *const u8, length: usize) -> i32 {
    let name = unsafe { slice("name", name, length) }.map(String::from_utf8_lossy);
    name.map_or(0, |name| i32::from(is_hard_material(&name)))
}
