//! Numbers at pointers of C and WebAssembly.

use jounce::{Error, Result};

/// The numbers at a pointer.
///
/// # Safety
/// The pointer is null or to `count` numbers.
pub(crate) unsafe fn slice<'a, T>(what: &'static str, numbers: *const T, count: usize) -> Result<&'a [T]> {
    match (numbers.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::Empty { what }),
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(numbers, count) }),
    }
}

/// Writes numbers to a pointer; 1 if all of them had room.
///
/// # Safety
/// The pointer is null or to room for `count` numbers.
pub(crate) unsafe fn write(what: &'static str, from: &[f64], out: *mut f32, count: usize) -> Result<i32> {
    if out.is_null() || count != from.len() {
        let (expected, got) = (format!("{} numbers", from.len()), format!("room for {count}"));
        return Err(Error::Shape { what, expected, got });
    }
    let out = unsafe { std::slice::from_raw_parts_mut(out, count) };
    out.iter_mut().zip(from).for_each(|(out, from)| *out = *from as f32);
    Ok(1)
}
