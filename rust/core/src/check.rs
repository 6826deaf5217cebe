//! Checks of values from outside, each with the error that names the argument and the element.

use crate::{Error, Result};

/// Checks the length of an array of one dimension, else [`Error::Shape`].
pub(crate) fn length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::Shape { what, expected: format!("({expected},)"), got: format!("({got},)") })
}

/// Checks the count of numbers in an array of a shape, else [`Error::Shape`].
pub(crate) fn shape(what: &'static str, expected: &[usize], got: usize) -> Result<()> {
    if got == expected.iter().product::<usize>() {
        return Ok(());
    }
    let sizes: Vec<String> = expected.iter().map(usize::to_string).collect();
    Err(Error::Shape { what, expected: format!("({})", sizes.join(", ")), got: format!("{got} numbers") })
}

/// Checks that numbers are finite, else [`Error::NotFinite`] for the element, of `each` numbers.
pub(crate) fn finite(what: &'static str, numbers: &[impl Into<f64> + Copy], each: usize) -> Result<()> {
    let mut numbers = numbers.iter().map(|&number| number.into()).enumerate();
    match numbers.find(|(_, number)| !number.is_finite()) {
        Some((at, value)) => Err(Error::NotFinite { what, element: at / each, value }),
        None => Ok(()),
    }
}

/// Checks that numbers are finite and valid, else [`Error::NotFinite`] or [`Error::Range`] for the first
/// other one.
pub(crate) fn each(
    what: &'static str,
    expected: &'static str,
    numbers: &[f64],
    is_valid: impl Fn(f64) -> bool,
) -> Result<()> {
    match numbers.iter().position(|&number| !(number.is_finite() && is_valid(number))) {
        Some(element) => {
            finite(what, &numbers[..=element], 1)?;
            Err(Error::Range { what, expected, got: numbers[element] })
        }
        None => Ok(()),
    }
}

/// Checks that all numbers are valid, else [`Error::Range`] for the first other one.
pub(crate) fn all<'a>(
    what: &'static str,
    expected: &'static str,
    numbers: impl IntoIterator<Item = &'a f64>,
    is_valid: impl Fn(f64) -> bool,
) -> Result<()> {
    match numbers.into_iter().find(|&&number| !is_valid(number)) {
        Some(&got) => Err(Error::Range { what, expected, got }),
        None => Ok(()),
    }
}

/// `true` for a finite number above 0.
pub(crate) fn is_positive(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

/// Checks a single number, else [`Error::Range`].
pub(crate) fn range(what: &'static str, expected: &'static str, got: f64, is_valid: bool) -> Result<()> {
    if is_valid { Ok(()) } else { Err(Error::Range { what, expected, got }) }
}

/// Checks that indices are below a count, else [`Error::Index`] for the element, of `each` indices.
pub(crate) fn indices(what: &'static str, indices: &[u32], each: usize, count: usize) -> Result<()> {
    match indices.iter().position(|&index| index as usize >= count) {
        Some(at) => Err(Error::Index { what, element: at / each, index: indices[at].into(), count }),
        None => Ok(()),
    }
}
