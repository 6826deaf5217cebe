//! Loops over independent items: on all threads with the feature `parallel`, one after another without it,
//! with the same bits.
//!
//! Both forms have the names of rayon, so that a loop is written once. Loops work on fixed chunks and add up
//! in order, so that neither the number of threads nor the feature changes a result.

#[cfg(feature = "parallel")]
pub(crate) use rayon::{iter::repeat_n, join, prelude::*};
#[cfg(not(feature = "parallel"))]
pub(crate) use sequential::*;

/// Runs work with many short parallel parts on a thread of the pool. Each wait from outside of the pool
/// would take tens of microseconds.
#[cfg(feature = "parallel")]
pub(crate) fn on_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}

/// Runs work on the pool if `worth` its while, else on this thread.
pub(crate) fn on_pool_if<T: Send>(worth: bool, work: impl FnOnce() -> T + Send) -> T {
    if worth { on_pool(work) } else { work() }
}

/// Runs two works at the same time if `worth` their while, else one after the other.
pub(crate) fn join_if<A: Send, B: Send>(
    worth: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if worth { join(first, second) } else { (first(), second()) }
}

#[cfg(not(feature = "parallel"))]
mod sequential {
    use faer::{MatMut, MatRef};

    pub(crate) use std::iter::repeat_n;

    /// Runs work here.
    pub(crate) fn on_pool<T>(work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Runs one after the other.
    pub(crate) fn join<A, B>(first: impl FnOnce() -> A, second: impl FnOnce() -> B) -> (A, B) {
        (first(), second())
    }

    /// Sequential iteration over anything iterable.
    pub(crate) trait IntoParallelIterator: IntoIterator + Sized {
        fn into_par_iter(self) -> Self::IntoIter {
            self.into_iter()
        }
    }

    impl<I: IntoIterator> IntoParallelIterator for I {}

    /// Adaptors that only parallel iterators have.
    pub(crate) trait ParallelIterator: Iterator + Sized {
        fn with_min_len(self, _: usize) -> Self {
            self
        }

        fn with_max_len(self, _: usize) -> Self {
            self
        }

        fn flat_map_iter<U: IntoIterator>(
            self,
            items: impl FnMut(Self::Item) -> U,
        ) -> impl Iterator<Item = U::Item> {
            self.flat_map(items)
        }

        fn map_init<T, U>(
            self,
            init: impl Fn() -> T,
            map: impl Fn(&mut T, Self::Item) -> U,
        ) -> impl Iterator<Item = U> {
            let mut scratch = init();
            self.map(move |item| map(&mut scratch, item))
        }
    }

    impl<I: Iterator> ParallelIterator for I {}

    /// Sequential iteration over the items and the chunks of a slice.
    pub(crate) trait ParallelSlice<T> {
        fn par_iter(&self) -> std::slice::Iter<'_, T>;
        fn par_iter_mut(&mut self) -> std::slice::IterMut<'_, T>;
        fn par_chunks(&self, size: usize) -> std::slice::Chunks<'_, T>;
        fn par_chunks_mut(&mut self, size: usize) -> std::slice::ChunksMut<'_, T>;
        fn par_chunks_exact(&self, size: usize) -> std::slice::ChunksExact<'_, T>;
        fn par_chunks_exact_mut(&mut self, size: usize) -> std::slice::ChunksExactMut<'_, T>;
        fn par_sort_unstable(&mut self)
        where
            T: Ord;
    }

    impl<T> ParallelSlice<T> for [T] {
        fn par_iter(&self) -> std::slice::Iter<'_, T> {
            self.iter()
        }

        fn par_iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
            self.iter_mut()
        }

        fn par_chunks(&self, size: usize) -> std::slice::Chunks<'_, T> {
            self.chunks(size)
        }

        fn par_chunks_mut(&mut self, size: usize) -> std::slice::ChunksMut<'_, T> {
            self.chunks_mut(size)
        }

        fn par_chunks_exact(&self, size: usize) -> std::slice::ChunksExact<'_, T> {
            self.chunks_exact(size)
        }

        fn par_chunks_exact_mut(&mut self, size: usize) -> std::slice::ChunksExactMut<'_, T> {
            self.chunks_exact_mut(size)
        }

        fn par_sort_unstable(&mut self)
        where
            T: Ord,
        {
            self.sort_unstable();
        }
    }

    /// Sequential extension of a vector.
    pub(crate) trait ParallelExtend<T> {
        fn par_extend(&mut self, items: impl IntoIterator<Item = T>);
    }

    impl<T> ParallelExtend<T> for Vec<T> {
        fn par_extend(&mut self, items: impl IntoIterator<Item = T>) {
            self.extend(items);
        }
    }

    /// Sequential iteration over blocks of rows of a matrix.
    pub(crate) trait ParallelRows<'a> {
        fn par_row_chunks(self, size: usize) -> impl Iterator<Item = MatRef<'a, f64>>;
    }

    impl<'a> ParallelRows<'a> for MatRef<'a, f64> {
        fn par_row_chunks(self, size: usize) -> impl Iterator<Item = MatRef<'a, f64>> {
            let rows = self.nrows();
            (0..rows).step_by(size).map(move |first| self.subrows(first, size.min(rows - first)))
        }
    }

    /// Sequential iteration over blocks of rows or columns of a matrix that change.
    pub(crate) trait ParallelBlocks<'a> {
        fn par_row_chunks_mut(self, size: usize) -> impl Iterator<Item = MatMut<'a, f64>>;
        fn par_col_chunks_mut(self, size: usize) -> impl Iterator<Item = MatMut<'a, f64>>;
    }

    impl<'a> ParallelBlocks<'a> for MatMut<'a, f64> {
        fn par_row_chunks_mut(self, size: usize) -> impl Iterator<Item = MatMut<'a, f64>> {
            let mut rest = Some(self);
            std::iter::from_fn(move || {
                let all = rest.take().filter(|all| all.nrows() > 0)?;
                let size = size.min(all.nrows());
                let (block, left) = all.split_at_row_mut(size);
                rest = Some(left);
                Some(block)
            })
        }

        fn par_col_chunks_mut(self, size: usize) -> impl Iterator<Item = MatMut<'a, f64>> {
            let mut rest = Some(self);
            std::iter::from_fn(move || {
                let all = rest.take().filter(|all| all.ncols() > 0)?;
                let size = size.min(all.ncols());
                let (block, left) = all.split_at_col_mut(size);
                rest = Some(left);
                Some(block)
            })
        }
    }
}
