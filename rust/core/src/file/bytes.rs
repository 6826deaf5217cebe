//! Numbers to bytes and back, checked.

use faer::Mat;

use crate::{Error, Result};

pub(super) struct Kind {
    pub(super) number: u32,
    pub(super) noun: &'static str,
    pub(super) remedy: &'static str,
}

pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn count(&mut self, count: usize) {
        self.0.extend((count as u64).to_le_bytes());
    }

    pub(super) fn array<T: Copy, const N: usize>(&mut self, numbers: &[T], bytes: impl Fn(T) -> [u8; N]) {
        self.count(numbers.len());
        self.0.reserve(N * numbers.len());
        numbers.iter().for_each(|&x| self.0.extend(bytes(x)));
    }

    pub(super) fn matrix(&mut self, matrix: &Mat<f64>) {
        self.count(matrix.nrows());
        self.count(matrix.ncols());
        for column in matrix.col_iter() {
            column.iter().for_each(|x| self.0.extend(x.to_le_bytes()));
        }
    }
}

pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) kind: &'a Kind,
}

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (&first, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.too_short())?;
        self.bytes = rest;
        Ok(first)
    }

    /// Reads `count` numbers; the allocation is bounded by the input's length.
    pub(super) fn numbers<T, const N: usize>(
        &mut self,
        count: u64,
        number: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>> {
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(N));
        let (numbers, rest) =
            length.and_then(|length| self.bytes.split_at_checked(length)).ok_or_else(|| self.too_short())?;
        self.bytes = rest;
        Ok(numbers.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)).collect())
    }

    pub(super) fn array<T, const N: usize>(&mut self, number: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
        let count = u64::from_le_bytes(self.take()?);
        self.numbers(count, number)
    }

    pub(super) fn matrix(&mut self) -> Result<Mat<f64>> {
        let (rows, columns) = (u64::from_le_bytes(self.take()?), u64::from_le_bytes(self.take()?));
        let count = rows.checked_mul(columns).filter(|&count| count > 0).ok_or_else(|| self.too_short())?;
        let numbers = self.numbers(count, f64::from_le_bytes)?;
        let rows = rows as usize;
        Ok(Mat::from_fn(rows, columns as usize, |i, j| numbers[j * rows + i]))
    }

    pub(super) fn too_short(&self) -> Error {
        let Kind { noun, remedy, .. } = self.kind;
        Error::File(format!("the {noun}'s contents do not match their sizes; {remedy}"))
    }
}
