//! The sparse Cholesky factor beside that of faer, with the same elimination order and with faer's own.
//!
//! The matrix is that of a step in the full space: stiffness plus mass over the square of the time step, on
//! lattices of a box from the size of a default body on. Each figure is the shortest of several runs, one
//! after the other; the largest difference of the solutions stands beside. *First* is the time from a matrix
//! to its factor; in the row `faer` it leaves out finding the order.

use std::hint::black_box;
use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::{Conj, Mat, Par, Side};
use jounce::material::{Field, Law, Material};
use jounce::math::{Sparse, SparseCholesky, VertexScratch};
use jounce::mesh::{SurfaceMesh, lattice};
use jounce::operators::{lumped_mass, stiffness};
use jounce::{Error, Progress, Result};

/// Cells along the longest edge: about 3k, 10k, 24k and 60k vertices.
const RESOLUTIONS: [usize; 4] = [24, 36, 48, 66];
const REPEATS: usize = 9;
const DT: f64 = 1.0 / 24.0;
/// Columns of a block of the eigensolver.
const BLOCK: usize = 16;

fn main() -> Result<()> {
    println!("sparse Cholesky factors, ms, and how many times as long faer takes");
    println!("vertices threads             first    factor   solve 3  solve {BLOCK}  bytes  difference");
    for resolution in RESOLUTIONS {
        let matrix = matrix(resolution)?;
        for threads in [1, rayon::current_num_threads()] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.map_err(|error| failed(&error))?.install(|| compare(&matrix, threads))?;
        }
    }
    Ok(())
}

fn failed(error: &impl std::fmt::Debug) -> Error {
    Error::Numerical { what: "bench", why: format!("{error:?}") }
}

/// Stiffness plus mass over the square of the time step.
fn matrix(resolution: usize) -> Result<Sparse> {
    let mesh = lattice(&SurfaceMesh::cuboid([2.0, 1.0, 0.8])?, resolution, &Progress::default())?;
    let number = Field::Uniform;
    let material = Material::new(Law::Arap, number(1e4), number(0.0), number(1000.0))?;
    let mut matrix = stiffness(&mesh, &material)?;
    let mass = lumped_mass(&mesh, &material);
    for (column, mass) in mass.iter().enumerate() {
        let place = matrix.row_idx_of_col(column).position(|row| row == column);
        let first = matrix.col_range(column).start;
        if let Some(place) = place {
            matrix.val_mut()[first + place] += mass / (DT * DT);
        }
    }
    Ok(matrix)
}

/// Times of a factor, ms, and its bytes and solution.
struct Times {
    first: f64,
    factor: f64,
    solves: [f64; 2],
    bytes: usize,
    solution: Mat<f64>,
}

fn compare(matrix: &Sparse, threads: usize) -> Result<()> {
    let ours = ours(matrix)?;
    let order = SparseCholesky::new(matrix)?.order().to_vec();
    let mut inverse = vec![0; order.len()];
    (0..).zip(&order).for_each(|(place, &row)| inverse[row as usize] = place);
    let same = SymmetricOrdering::Custom(PermRef::new_checked(&order, &inverse, order.len()));
    let rows =
        [("ours", ours), ("faer", theirs(matrix, same)?), ("amd", theirs(matrix, SymmetricOrdering::Amd)?)];
    let known = &rows[0].1;
    for (name, times) in &rows {
        let Times { first, factor, solves: [three, block], bytes, solution } = times;
        let times = [
            (first, known.first),
            (factor, known.factor),
            (three, known.solves[0]),
            (block, known.solves[1]),
        ];
        let cells: Vec<String> = times
            .iter()
            .map(
                |(own, ours)| {
                    if *name == "ours" { format!("{own:10.2}") } else { format!("{:9.2}x", *own / ours) }
                },
            )
            .collect();
        let apart = (solution - &known.solution).norm_max() / known.solution.norm_max();
        println!(
            "{:>8}{threads:>8} {name:>6} {} {:6.1} {apart:>11.0e}",
            matrix.nrows(),
            cells.concat(),
            *bytes as f64 / f64::from(1 << 20)
        );
    }
    Ok(())
}

/// Shortest of some runs, ms.
fn shortest(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        work()?;
        least = least.min(1e3 * start.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn sides(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, k| ((1 + k) as f64 * 0.37 * i as f64).sin())
}

fn ours(matrix: &Sparse) -> Result<Times> {
    let n = matrix.nrows();
    let first = shortest(|| SparseCholesky::new(black_box(matrix)).map(drop))?;
    let factor = SparseCholesky::new(matrix)?;
    let again = shortest(|| factor.refactored(black_box(matrix)).map(drop))?;
    let (three, mut room) = (sides(n, 3), VertexScratch::default());
    let mut rows = vec![[0.0; 3]; n];
    let mut moved = Mat::zeros(n, 3);
    let vertices = shortest(|| {
        let order = factor.order();
        rows.iter_mut().zip(order).for_each(|(row, &v)| *row = [0, 1, 2].map(|c| three[(v as usize, c)]));
        factor.solve_vertices(&mut room, &mut rows);
        rows.iter().zip(order).for_each(|(row, &v)| (0..3).for_each(|c| moved[(v as usize, c)] = row[c]));
        black_box(&moved);
        Ok(())
    })?;
    let block = sides(n, BLOCK);
    let mut x = block.clone();
    let many = shortest(|| {
        x.copy_from(&block);
        factor.solve_in_place(x.as_mut());
        Ok(())
    })?;
    let solves = [vertices, many];
    Ok(Times { first, factor: again, solves, bytes: factor.bytes(), solution: x })
}

fn theirs(matrix: &Sparse, order: SymmetricOrdering<'_, u32>) -> Result<Times> {
    let n = matrix.nrows();
    let par = if rayon::current_num_threads() > 1 { Par::rayon(0) } else { Par::Seq };
    let symbolic = || -> Result<SymbolicCholesky<u32>> {
        let parameters = CholeskySymbolicParams::default();
        factorize_symbolic_cholesky(matrix.symbolic(), Side::Lower, order, parameters)
            .map_err(|error| failed(&error))
    };
    let analysis = shortest(|| symbolic().map(drop))?;
    let symbolic = symbolic()?;
    let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(par, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let mut values = vec![0.0; symbolic.len_val()];
    let factor = shortest(|| {
        let stack = MemStack::new(&mut memory);
        let (plain, parameters) = (Default::default(), Default::default());
        let done = symbolic.factorize_numeric_llt(
            &mut values,
            matrix.as_ref(),
            Side::Lower,
            plain,
            par,
            stack,
            parameters,
        );
        done.map(drop).map_err(|error| failed(&error))
    })?;
    let factored = LltRef::new(&symbolic, &values);
    let solve = |columns: usize| -> Result<(f64, Mat<f64>)> {
        let given = sides(n, columns);
        let mut x = given.clone();
        let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(columns, par));
        let time = shortest(|| {
            x.copy_from(&given);
            factored.solve_in_place_with_conj(Conj::No, x.as_mut(), par, MemStack::new(&mut memory));
            Ok(())
        })?;
        Ok((time, x))
    };
    let ((three, _), (many, solution)) = (solve(3)?, solve(BLOCK)?);
    Ok(Times { first: analysis + factor, factor, solves: [three, many], bytes: 8 * values.len(), solution })
}
