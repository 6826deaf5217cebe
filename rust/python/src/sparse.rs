//! `SparseMatrix`: compressed rows, as SciPy has them, without a need for SciPy.

use jounce::math::Sparse;
use numpy::PyArrayDyn;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{owned, read_only, signed};
use crate::recipe::made_by;

/// A sparse matrix in compressed rows: row i has the entries `indptr[i]` to `indptr[i + 1]` of `indices`,
/// its columns in ascending order, and of `data`, its values.
///
/// The same type with and without SciPy, which Jounce does not need; `to_scipy` shares the arrays.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> laplacian = jounce.operators.laplacian(mesh)
/// >>> laplacian.shape == (len(mesh.vertices),) * 2
/// True
/// >>> bool(abs(laplacian.to_scipy() @ np.ones(laplacian.shape[1])).max() < 1e-12)
/// True
#[pyclass(frozen, module = "jounce.operators", name = "SparseMatrix")]
pub struct SparseMatrix {
    indptr: Py<PyArrayDyn<i32>>,
    indices: Py<PyArrayDyn<i32>>,
    data: Py<PyArrayDyn<f64>>,
    shape: [usize; 2],
}

impl SparseMatrix {
    /// The transpose of a matrix in compressed columns, which are its rows. A symmetric matrix is its own.
    pub fn transposed(py: Python<'_>, matrix: &Sparse) -> PyResult<Self> {
        let fixed = |numbers: &[u32]| -> PyResult<Py<PyArrayDyn<i32>>> {
            Ok(read_only(owned(py, signed(numbers), &[numbers.len()])?)?.unbind())
        };
        let data = owned(py, matrix.val().to_vec(), &[matrix.val().len()])?;
        Ok(Self {
            indptr: fixed(matrix.col_ptr())?,
            indices: fixed(matrix.row_idx())?,
            data: read_only(data)?.unbind(),
            shape: [matrix.ncols(), matrix.nrows()],
        })
    }
}

#[pymethods]
impl SparseMatrix {
    /// Start of each row in `indices` and `data`, and the end, (rows + 1,) int32, read only.
    #[getter]
    fn indptr<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDyn<i32>> {
        self.indptr.bind(py).clone()
    }

    /// Column of each entry, (entries,) int32, read only.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDyn<i32>> {
        self.indices.bind(py).clone()
    }

    /// Value of each entry, (entries,) float64, read only.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDyn<f64>> {
        self.data.bind(py).clone()
    }

    /// Numbers of rows and columns.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shape)
    }

    /// The matrix as a `scipy.sparse.csr_array`, which shares the arrays.
    ///
    /// Returns
    /// -------
    /// scipy.sparse.csr_array
    ///     The matrix; its arrays are read only.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     Without SciPy.
    ///
    /// Examples
    /// --------
    /// >>> from scipy.sparse.linalg import spsolve
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> laplacian, x = jounce.operators.laplacian(mesh).to_scipy(), mesh.vertices[:, 0]
    /// >>> inner = (x > 0.1) & (x < 3.9)
    /// >>> heat = spsolve(laplacian[inner][:, inner], -laplacian[inner][:, ~inner] @ x[~inner])
    /// >>> bool(np.allclose(heat, x[inner]))
    /// True
    fn to_scipy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let scipy = py.import("scipy.sparse").map_err(|_| {
            PyImportError::new_err("to_scipy needs SciPy; install it with: pip install scipy")
        })?;
        let settings = PyDict::new(py);
        settings.set_item("shape", self.shape(py)?)?;
        settings.set_item("copy", false)?;
        scipy.call_method("csr_array", ((&self.data, &self.indices, &self.indptr),), Some(&settings))
    }

    #[staticmethod]
    fn _of<'py>(
        indptr: Bound<'py, PyArrayDyn<i32>>,
        indices: Bound<'py, PyArrayDyn<i32>>,
        data: Bound<'py, PyArrayDyn<f64>>,
        shape: [usize; 2],
    ) -> PyResult<Self> {
        let (indptr, indices) = (read_only(indptr)?.unbind(), read_only(indices)?.unbind());
        Ok(Self { indptr, indices, data: read_only(data)?.unbind(), shape })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "_of", (&self.indptr, &self.indices, &self.data, self.shape), None)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let [rows, columns] = self.shape;
        Ok(format!("SparseMatrix({rows} x {columns}, {} entries)", self.data.bind(py).len()?))
    }
}
