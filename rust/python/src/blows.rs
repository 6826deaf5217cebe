//! Blows on a body, from arrays.

use jounce::Error;
use jounce::modal::Strike;
use pyo3::prelude::*;

use crate::arrays::{self, Axis, optional};
use crate::errors::refused;

/// Numbers of an optional array.
pub fn numbers(
    given: Option<&Bound<'_, PyAny>>,
    what: &'static str,
    axes: &[Axis],
) -> PyResult<Option<Vec<f64>>> {
    Ok(optional(given, what, axes)?.map(|array| array.slice().to_vec()))
}

/// Blows from times, vertices and impulses of equal number; without any of them there are no blows.
pub fn strikes(
    times: Option<&Bound<'_, PyAny>>,
    vertices: Option<&Bound<'_, PyAny>>,
    impulses: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Strike>> {
    let times = numbers(times, "times", &[Axis::Any("s")])?.unwrap_or_default();
    let count = Axis::Is(times.len());
    let places = match vertices {
        Some(vertices) => arrays::integers(vertices, "vertices", &[count])?,
        None => Vec::new(),
    };
    let impulses = numbers(impulses, "impulses", &[count, Axis::Is(3)])?.unwrap_or_default();
    for (what, given) in [("vertices", places.len()), ("impulses", impulses.len() / 3)] {
        if given != times.len() {
            let (expected, got) = (format!("({}, ..)", times.len()), "none".to_owned());
            return Err(refused(Error::Shape { what, expected, got }));
        }
    }
    let all = times.iter().zip(&places).zip(impulses.as_chunks::<3>().0).enumerate();
    let strike = |(element, ((&time, &index), &impulse)): (usize, ((&f64, &i64), &[f64; 3]))| {
        let vertex = u32::try_from(index).map_err(|_| {
            let count = u32::MAX as usize;
            refused(Error::Index { what: "vertices", element, index, count })
        })?;
        Ok(Strike { time, vertex, impulse })
    };
    all.map(strike).collect()
}
