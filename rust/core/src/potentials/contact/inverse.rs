//! Inverse metric of a search with contacts.

use faer::Mat;
use nalgebra::Vector3;

use super::{ContactPoints, Mobility};
use crate::math::rows::Rows;

/// Inverse of the metric of a search, applied in place.
pub(crate) struct Inverse<'a> {
    /// Inverse of a metric alike in all directions, which sets the stiffness of contacts.
    even: &'a mut dyn FnMut(&mut Rows),
    /// Inverse of the search's metric, if that couples directions.
    coupled: Option<&'a mut dyn FnMut(&mut Rows)>,
}

impl<'a> Inverse<'a> {
    /// Inverse of a metric alike in all directions.
    pub(crate) fn even(solve: &'a mut dyn FnMut(&mut Rows)) -> Self {
        Self { even: solve, coupled: None }
    }

    /// Inverse of a metric with coupled directions, and of one alike in all directions.
    pub(crate) fn coupled(solve: &'a mut dyn FnMut(&mut Rows), even: &'a mut dyn FnMut(&mut Rows)) -> Self {
        Self { even, coupled: Some(solve) }
    }

    /// Applies the inverse of the metric alike in all directions.
    pub(super) fn solve_evenly(&mut self, rows: &mut Rows) {
        (self.even)(rows);
    }

    /// Applies the inverse of the search's metric.
    pub(super) fn solve(&mut self, rows: &mut Rows) {
        match &mut self.coupled {
            Some(solve) => solve(rows),
            None => (self.even)(rows),
        }
    }

    /// Compliance between contacts at some points in the search's metric; `None` for a metric alike in all
    /// directions. `rows` is the number of rows of a direction.
    pub(super) fn mobility(
        &mut self,
        touched: &[usize],
        points: &ContactPoints,
        rows: usize,
    ) -> Option<Mobility> {
        let solve = self.coupled.as_mut()?;
        let count = touched.len();
        let (mut images, mut moved) = (Mat::zeros(3 * count, 3 * count), Vec::new());
        for column in 0..3 * count {
            moved.clear();
            moved.resize(rows, [0.0; 3]);
            points.spread(touched[column / 3], &Vector3::ith(column % 3, 1.0), &mut moved);
            solve(&mut moved);
            for (other, &point) in touched.iter().enumerate() {
                let place = points.at(point, &moved);
                (0..3).for_each(|c| images[(3 * other + c, column)] = place[c]);
            }
        }
        Some(Mobility::Turning(images))
    }
}
