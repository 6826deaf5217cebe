//! The C interface, declared in `include/jounce_player.h`; in WebAssembly its functions are the exports.
//!
//! Every function checks its pointers for null, returns 0 or NULL after an error, and leaves the sentence to
//! [`jounce_error`].

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use jounce::{Error, Result};

use crate::colliding::{JounceCollider, JounceSkin};
use crate::obstacles::Skin;
use crate::player::Player;
use crate::pointers::{slice, write};
use crate::settings::Setting;

thread_local! {
    static SENTENCE: RefCell<CString> = RefCell::default();
}

/// Number of no point, which lets go.
pub const NO_POINT: usize = usize::MAX;

/// Chooses instructions for several numbers at a time, which every browser has had since 2021.
#[cfg(target_family = "wasm")]
pub(crate) fn choose_instructions() {
    pulp_wasm_simd_flag::enable_simd128();
}

#[cfg(not(target_family = "wasm"))]
fn choose_instructions() {}

/// The value of a call, or `failed` with a sentence left for [`jounce_error`].
pub(crate) fn answer<T>(failed: T, call: impl FnOnce() -> Result<T>) -> T {
    let outcome = catch_unwind(AssertUnwindSafe(call));
    let sentence = match outcome {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the player met a fault of its own; free it and load the model again".to_owned(),
    };
    SENTENCE.set(CString::new(sentence.replace('\0', " ")).unwrap_or_default());
    failed
}

/// A call on a player.
///
/// # Safety
/// The pointer is null or from [`jounce_load`], not freed, and used by no other thread at the time.
unsafe fn with<T>(player: *mut Player, failed: T, call: impl FnOnce(&mut Player) -> Result<T>) -> T {
    answer(failed, || match unsafe { player.as_mut() } {
        Some(player) => call(player),
        None => Err(Error::Empty { what: "player" }),
    })
}

/// One sentence about the last error of this thread; empty without one. Valid until its next error.
#[unsafe(no_mangle)]
pub extern "C" fn jounce_error() -> *const c_char {
    SENTENCE.with_borrow(|sentence| sentence.as_ptr())
}

/// Loads a model from the bytes of a file; NULL after an error.
///
/// # Safety
/// `bytes` is null or to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_load(bytes: *const u8, length: usize) -> *mut Player {
    choose_instructions();
    answer(std::ptr::null_mut(), || {
        let player = Player::load(unsafe { slice("model", bytes, length) }?)?;
        Ok(Box::into_raw(Box::new(player)))
    })
}

/// Frees a player; NULL is ignored.
///
/// # Safety
/// The pointer is null or from [`jounce_load`], and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_free(player: *mut Player) {
    if !player.is_null() {
        drop(unsafe { Box::from_raw(player) });
    }
}

/// A number of a player: 0 for the bones of a pose, 1 for the modes of the model, 2 for the points with
/// displacements.
///
/// # Safety
/// As [`jounce_step`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_count(player: *mut Player, what: u32) -> usize {
    let count = |player: &mut Player| match what {
        0 => Ok(player.bones()),
        1 => Ok(player.modes()),
        2 => Ok(player.points()),
        _ => Err(Error::Index { what: "count", element: 0, index: what.into(), count: 3 }),
    };
    unsafe { with(player, 0, count) }
}

/// Chooses the points with displacements: `count` places, x y z each.
///
/// # Safety
/// As [`jounce_step`]; `places` is null or to 3 `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_attach(player: *mut Player, places: *const f32, count: usize) -> i32 {
    unsafe {
        with(player, 0, |player| {
            let places = slice("points", places, count.saturating_mul(3))?.as_chunks::<3>().0;
            player.attach(places.iter().map(|place| place.map(f64::from)).collect())?;
            Ok(1)
        })
    }
}

/// Keeps the points out of `count` colliders, with a skin or without.
///
/// # Safety
/// As [`jounce_step`]; `colliders` is null or to `count` of them, `skin` is null or to one whose pointers are
/// null or to as many numbers as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_collide(
    player: *mut Player,
    colliders: *const JounceCollider,
    count: usize,
    skin: *const JounceSkin,
) -> i32 {
    unsafe {
        with(player, 0, |player| {
            let colliders = slice("colliders", colliders, count)?;
            let obstacles = colliders.iter().map(JounceCollider::obstacle).collect::<Result<Vec<_>>>()?;
            let none = Skin { rig: None, triangles: Vec::new() };
            let skin = skin.as_ref().map_or(Ok(none), |skin| skin.read(player.points(), player.bones()))?;
            player.collide(&obstacles, &skin).map(|()| 1)
        })
    }
}

/// Moves a collider without a bone by a row-major 3x4 transform.
///
/// # Safety
/// As [`jounce_step`]; `transform` is null or to 12 numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_move(player: *mut Player, collider: usize, transform: *const f64) -> i32 {
    unsafe {
        with(player, 0, |player| {
            let rows = slice("transform", transform, 12)?.as_chunks::<4>().0.as_chunks::<3>().0;
            player.move_collider(collider, &rows[0]).map(|()| 1)
        })
    }
}

/// Changes a setting, by its number in [`Setting`].
///
/// # Safety
/// As [`jounce_step`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_set(player: *mut Player, setting: u32, value: f64) -> i32 {
    unsafe { with(player, 0, |player| player.set(Setting::numbered(setting)?, value).map(|()| 1)) }
}

/// Advances by some seconds to a pose of `bones` row-major 3x4 transforms.
///
/// # Safety
/// `player` is null or from [`jounce_load`], not freed, and used by no other thread at the time; `pose` is
/// null or to 12 `bones` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_step(
    player: *mut Player,
    pose: *const f64,
    bones: usize,
    seconds: f64,
) -> i32 {
    unsafe {
        with(player, 0, |player| {
            let pose = slice("pose", pose, bones.saturating_mul(12))?;
            player.step(pose.as_chunks::<4>().0.as_chunks::<3>().0, seconds).map(|()| 1)
        })
    }
}

/// Puts the body into a pose without a kick.
///
/// # Safety
/// As [`jounce_step`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_teleport(player: *mut Player, pose: *const f64, bones: usize) -> i32 {
    unsafe {
        with(player, 0, |player| {
            let pose = slice("pose", pose, bones.saturating_mul(12))?;
            player.teleport(pose.as_chunks::<4>().0.as_chunks::<3>().0).map(|()| 1)
        })
    }
}

/// Writes the displacements of the points: `count` is 3 times their number.
///
/// # Safety
/// As [`jounce_step`]; `out` is null or to room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_displacements(player: *mut Player, out: *mut f32, count: usize) -> i32 {
    unsafe {
        with(player, 0, |player| {
            if out.is_null() {
                return Err(Error::Empty { what: "displacements" });
            }
            player.displace(std::slice::from_raw_parts_mut(out, count)).map(|()| 1)
        })
    }
}

/// Writes the weights of the modes at the points: `count` is points times modes.
///
/// # Safety
/// As [`jounce_displacements`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_weights(player: *mut Player, out: *mut f32, count: usize) -> i32 {
    unsafe { with(player, 0, |player| write("weights", player.weights(), out, count)) }
}

/// Writes the transforms of the modes: `count` is 12 times the modes.
///
/// # Safety
/// As [`jounce_displacements`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_transforms(player: *mut Player, out: *mut f32, count: usize) -> i32 {
    unsafe { with(player, 0, |player| write("transforms", player.transforms(), out, count)) }
}

/// Pulls a point towards a displacement, x y z; [`NO_POINT`] lets go.
///
/// # Safety
/// As [`jounce_step`]; `displacement` is null or to 3 numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_grab(player: *mut Player, point: usize, displacement: *const f64) -> i32 {
    unsafe {
        with(player, 0, |player| {
            if point == NO_POINT {
                player.release();
                return Ok(1);
            }
            let wanted = slice("displacement", displacement, 3)?;
            player.grab(point, [wanted[0], wanted[1], wanted[2]]).map(|()| 1)
        })
    }
}

/// 1 while nothing moves, so that a step costs nothing.
///
/// # Safety
/// As [`jounce_step`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_is_asleep(player: *mut Player) -> i32 {
    unsafe { with(player, 0, |player| Ok(i32::from(player.is_asleep()))) }
}

/// Memory for arguments from JavaScript, to give back with [`jounce_give_back`]; NULL if there is none.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
pub extern "C" fn jounce_allocate(bytes: usize) -> *mut u8 {
    match layout(bytes) {
        // SAFETY: the layout is not empty.
        Some(layout) => unsafe { std::alloc::alloc(layout) },
        None => std::ptr::null_mut(),
    }
}

/// Gives memory of [`jounce_allocate`] back.
///
/// # Safety
/// The pointer is from [`jounce_allocate`] with this number of bytes, and not used again.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jounce_give_back(memory: *mut u8, bytes: usize) {
    if let Some(layout) = layout(bytes).filter(|_| !memory.is_null()) {
        unsafe { std::alloc::dealloc(memory, layout) }
    }
}

#[cfg(target_family = "wasm")]
fn layout(bytes: usize) -> Option<std::alloc::Layout> {
    std::alloc::Layout::from_size_align(bytes.max(8), 8).ok()
}
