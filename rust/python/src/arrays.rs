//! Numpy arrays in and out: arguments of any precision and order, checks with the argument's name, and
//! results without copies.

use jounce::Error;
use jounce::material::Field;
use numpy::ndarray::{ArrayView, IxDyn};
use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::PyClass;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

use crate::errors::refused;

/// Requirement on one axis of an argument.
#[derive(Clone, Copy)]
pub enum Axis {
    /// Any length; the error message calls it by this letter.
    Any(&'static str),
    /// Exactly this length.
    Is(usize),
}

/// A checked argument: C order, aligned, one dtype and shape.
pub struct Array<'py, T: Element>(PyReadonlyArrayDyn<'py, T>);

impl<T: Element> Array<'_, T> {
    /// All elements in C order.
    pub fn slice(&self) -> &[T] {
        // The constructor checked the order, therefore the fallback is never taken.
        self.0.as_slice().unwrap_or_default()
    }

    /// Length of an axis.
    pub fn len(&self, axis: usize) -> usize {
        self.0.shape()[axis]
    }
}

/// Checks an input argument. Lists, tuples and numbers of another precision, order or alignment are
/// converted into a copy; arrays that fit are taken as they are.
pub fn array<'py, T: Element>(
    argument: &Bound<'py, PyAny>,
    what: &'static str,
    axes: &[Axis],
) -> PyResult<Array<'py, T>> {
    let untyped = converted::<T>(as_numpy::<T>(argument, what)?, what)?;
    let typed = checked::<T>(&untyped, what, axes)?;
    typed.try_readonly().map(Array).map_err(|_| borrowed(what))
}

/// Checks an argument that may be None.
pub fn optional<'py>(
    given: Option<&Bound<'py, PyAny>>,
    what: &'static str,
    axes: &[Axis],
) -> PyResult<Option<Array<'py, f64>>> {
    given.map(|given| array::<f64>(given, what, axes)).transpose()
}

/// A pose of b bones, (b, 3, 4).
pub fn pose<'py>(argument: &Bound<'py, PyAny>, bones: usize) -> PyResult<Array<'py, f64>> {
    array::<f64>(argument, "pose", &[Axis::Is(bones), Axis::Is(3), Axis::Is(4)])
}

/// Points (n, 3) in metres.
pub fn points(argument: &Bound<'_, PyAny>, what: &'static str) -> PyResult<Vec<[f64; 3]>> {
    let array = array::<f64>(argument, what, &[Axis::Any("n"), Axis::Is(3)])?;
    Ok(array.slice().as_chunks::<3>().0.to_vec())
}

/// Rows of N indices below `count`, from any integers.
pub fn indices<const N: usize>(
    argument: &Bound<'_, PyAny>,
    what: &'static str,
    axes: &[Axis],
    count: usize,
) -> PyResult<Vec<[u32; N]>> {
    let flat = integers(argument, what, axes)?;
    let valid = |index: &i64| usize::try_from(*index).is_ok_and(|i| i < count);
    if let Some(at) = flat.iter().position(|i| !valid(i)) {
        return Err(refused(Error::Index { what, element: at / N, index: flat[at], count }));
    }
    // An index below the number of points fits 32 bits, because the points fit the memory.
    Ok(flat.as_chunks::<N>().0.iter().map(|row| row.map(|i| i as u32)).collect())
}

/// Whole numbers from any integers.
pub fn integers(argument: &Bound<'_, PyAny>, what: &'static str, axes: &[Axis]) -> PyResult<Vec<i64>> {
    let untyped = as_numpy::<i64>(argument, what)?;
    if !untyped.dtype().is_equiv_to(&dtype::<u64>(argument.py())) {
        return Ok(array::<i64>(&untyped, what, axes)?.slice().to_vec());
    }
    let wide = array::<u64>(&untyped, what, axes)?;
    let narrow = wide.slice().iter().map(|&index| {
        let expected = "an index below 2^63";
        i64::try_from(index).map_err(|_| refused(Error::Range { what, expected, got: index as f64 }))
    });
    narrow.collect()
}

/// Integers in the range of int32, such as cluster labels.
pub fn labels(argument: &Bound<'_, PyAny>, what: &'static str, axes: &[Axis]) -> PyResult<Vec<i32>> {
    let wide = integers(argument, what, axes)?;
    let narrow = wide.iter().enumerate().map(|(element, &index)| {
        let count = i32::MAX as usize;
        i32::try_from(index).map_err(|_| refused(Error::Index { what, element, index, count }))
    });
    narrow.collect()
}

/// One number for the whole body, or one number per tet (or point), with these axes.
pub fn field(argument: &Bound<'_, PyAny>, what: &'static str, axes: &[Axis]) -> PyResult<Field> {
    if !argument.is_instance_of::<PyUntypedArray>()
        && let Ok(value) = argument.extract()
    {
        return Ok(Field::Uniform(value));
    }
    Ok(Field::PerTet(array::<f64>(argument, what, axes)?.slice().to_vec()))
}

/// A count or a seed; negative values are refused.
pub fn count<T: TryFrom<i64>>(value: i64, what: &'static str) -> PyResult<T> {
    let expected = "a whole number, not negative and not huge";
    T::try_from(value).map_err(|_| refused(Error::Range { what, expected, got: value as f64 }))
}

/// Lets `fill` write into the caller's array, or into a new array without one, and returns the array.
pub fn filled<'py>(
    py: Python<'py>,
    out: Option<&Bound<'py, PyAny>>,
    shape: [usize; 2],
    fill: impl FnOnce(&mut [f32]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    let Some(out) = out else {
        let mut values = vec![0.0; shape[0] * shape[1]];
        fill(&mut values)?;
        return owned(py, values, &shape);
    };
    let untyped = out.cast::<PyUntypedArray>().map_err(|_| not_an_array::<f32>(out, "out"))?;
    let typed = checked::<f32>(untyped, "out", &shape.map(Axis::Is))?;
    let mut guard: PyReadwriteArrayDyn<'py, f32> = typed
        .try_readwrite()
        .map_err(|_| PyTypeError::new_err("out: cannot be written to; pass a writeable array"))?;
    fill(guard.as_slice_mut()?)?;
    Ok(typed)
}

/// A copy of an array, independent of its owner.
pub fn copied(array: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    Ok(array.py().import("numpy")?.call_method1("array", (array,))?.unbind())
}

/// Numpy array that takes ownership of a vector.
pub fn owned<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, values).reshape(shape)
}

/// Read-only view of numbers inside an immutable object, in rows of a shape, or one number a row.
pub fn lent<'py, C: PyClass<Frozen = True> + Sync, T: Element>(
    owner: &Bound<'py, C>,
    numbers: impl for<'a> FnOnce(&'a C) -> &'a [T],
    row: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let numbers = numbers(owner.get());
    let rows = numbers.len() / row.iter().product::<usize>();
    let shape: Vec<usize> = std::iter::once(rows).chain(row.iter().copied()).collect();
    let view = ArrayView::from_shape(IxDyn(&shape), numbers)
        .map_err(|error| PyRuntimeError::new_err(format!("internal error, please report it: {error}")))?;
    // SAFETY: the object is immutable, and the array keeps it alive.
    let array = unsafe { PyArrayDyn::borrow_from_array(&view, owner.clone().into_any()) };
    read_only(array)
}

/// The same array, not writable.
pub fn read_only<T: Element>(array: Bound<'_, PyArrayDyn<T>>) -> PyResult<Bound<'_, PyArrayDyn<T>>> {
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// Core indices as numpy indices: int32, always large enough for a mesh in memory.
pub fn signed(indices: &[u32]) -> Vec<i32> {
    indices.iter().map(|&i| i as i32).collect()
}

fn as_numpy<'py, T: Element>(
    argument: &Bound<'py, PyAny>,
    what: &'static str,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = argument.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let py = argument.py();
    let converted = py.import("numpy")?.call_method1("asarray", (argument, dtype::<T>(py)));
    let converted = converted.map_err(|_| not_an_array::<T>(argument, what))?;
    converted.cast_into::<PyUntypedArray>().map_err(|_| not_an_array::<T>(argument, what))
}

/// The array with elements of type T in C order: itself if it is so already, or a copy.
fn converted<'py, T: Element>(
    untyped: Bound<'py, PyUntypedArray>,
    what: &'static str,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let (py, expected, got) = (untyped.py(), dtype::<T>(untyped.py()), untyped.dtype());
    if got.is_equiv_to(&expected) && untyped.is_c_contiguous() && is_aligned(&untyped)? {
        return Ok(untyped);
    }
    let accepted = match expected.kind() {
        b'f' => "fiu",
        b'i' | b'u' => "iu",
        _ => "b",
    };
    if !accepted.contains(char::from(got.kind())) {
        let expected = if accepted == "iu" { "integers".to_owned() } else { format!("dtype {expected}") };
        return Err(PyTypeError::new_err(format!("{what}: expected {expected}, got dtype {got}")));
    }
    let made = py.import("numpy")?.call_method1("require", (&untyped, expected, ["C", "ALIGNED"]))?;
    made.cast_into::<PyUntypedArray>().map_err(|_| not_an_array::<T>(&untyped, what))
}

fn is_aligned(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    array.getattr("flags")?.get_item("ALIGNED")?.extract()
}

fn checked<'py, T: Element>(
    untyped: &Bound<'py, PyUntypedArray>,
    what: &'static str,
    axes: &[Axis],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let (expected, got) = (dtype::<T>(untyped.py()), untyped.dtype());
    if !got.is_equiv_to(&expected) {
        let text = format!("{what}: expected dtype {expected}, got {got}; use {what}.astype(\"{expected}\")");
        return Err(PyTypeError::new_err(text));
    }
    check_shape(untyped.shape(), what, axes)?;
    if !(untyped.is_c_contiguous() && is_aligned(untyped)?) {
        let text = format!("{what}: expected C order; use numpy.ascontiguousarray({what})");
        return Err(PyTypeError::new_err(text));
    }
    untyped.cast::<PyArrayDyn<T>>().cloned().map_err(|_| not_an_array::<T>(untyped, what))
}

fn check_shape(shape: &[usize], what: &'static str, axes: &[Axis]) -> PyResult<()> {
    let fits = |(axis, length): (&Axis, &usize)| match axis {
        Axis::Any(_) => true,
        Axis::Is(expected) => expected == length,
    };
    if shape.len() == axes.len() && axes.iter().zip(shape).all(fits) {
        return Ok(());
    }
    let name = |axis: &Axis| match axis {
        Axis::Any(letter) => (*letter).to_string(),
        Axis::Is(length) => length.to_string(),
    };
    let expected = tuple(axes.iter().map(name));
    let got = tuple(shape.iter().map(ToString::to_string));
    Err(refused(Error::Shape { what, expected, got }))
}

/// Lengths printed like a numpy shape.
fn tuple(lengths: impl Iterator<Item = String>) -> String {
    let lengths: Vec<String> = lengths.collect();
    if lengths.len() == 1 { format!("({},)", lengths[0]) } else { format!("({})", lengths.join(", ")) }
}

fn not_an_array<T: Element>(argument: &Bound<'_, PyAny>, what: &'static str) -> PyErr {
    let kind = argument.get_type();
    let name = kind.name().map_or_else(|_| "an object".into(), |name| name.to_string());
    let expected = dtype::<T>(argument.py());
    PyTypeError::new_err(format!("{what}: expected a numpy array of {expected}, got {name}"))
}

fn borrowed(what: &'static str) -> PyErr {
    PyRuntimeError::new_err(format!("{what}: is being written to by another call; pass a copy"))
}

/// Slice of per-frame numbers for one frame; `None` if there are none.
pub fn frame(numbers: &[f64], frames: usize, frame: usize) -> Option<&[f64]> {
    let size = numbers.len() / frames.max(1);
    (size > 0).then(|| &numbers[frame * size..][..size])
}

/// A flat array as the transforms of a pose, b x 3 x 4.
pub fn transforms(numbers: &[f64]) -> &jounce::rig::Pose {
    numbers.as_chunks::<4>().0.as_chunks::<3>().0
}
