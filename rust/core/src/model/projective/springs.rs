//! Springs between vertices of a body.

use nalgebra::Vector3;

use super::ProjectiveModel;
use super::frequency::lowest_frequency;
use super::skin::sum_of_rows;
use crate::potentials::elastic::spring::Spring;
use crate::{Error, Result, check};

impl ProjectiveModel {
    /// The same body with springs between pairs of vertices of one loose part: `k / 2 (|x_i - x_j| - l)^2`
    /// with stiffness k, N/m, and length l, metres, by default the distance at rest.
    ///
    /// Springs are part of the elastic energy, and the scale of stiffness acts on them too.
    ///
    /// # Errors
    /// [`Error::Index`] or [`Error::Shape`] for pairs, stiffness and lengths, [`Error::Range`] or
    /// [`Error::NotFinite`] for their values; [`Error::Unsupported`] for a spring between loose parts.
    pub fn sprung(mut self, pairs: &[[u32; 2]], stiffness: &[f64], lengths: Option<&[f64]>) -> Result<Self> {
        check::indices("springs", pairs.as_flattened(), 2, self.vertices().len())?;
        check::length("spring_stiffness", pairs.len(), stiffness.len())?;
        check::each("spring_stiffness", "positive numbers of N/m", stiffness, |k| k > 0.0)?;
        if let Some(lengths) = lengths {
            check::length("spring_length", pairs.len(), lengths.len())?;
            check::each("spring_length", "metres >= 0", lengths, |length| length >= 0.0)?;
        }
        let part = |v: u32| self.handles.parts_of_vertices()[v as usize];
        if pairs.iter().any(|&[i, j]| part(i) != part(j)) {
            let why = "a spring joins loose parts of the body, which move apart; leave it out";
            return Err(Error::Unsupported { what: "springs", why });
        }
        let place = |v: u32| Vector3::from(self.vertices()[v as usize]);
        let spring = |(number, &[i, j]): (usize, &[u32; 2])| {
            let rest = place(i) - place(j);
            let mut row = sum_of_rows(&self, &[(i, 1.0), (j, -1.0), (0, 0.0), (0, 0.0)]);
            row.retain(|&(_, share)| share != 0.0);
            let length = lengths.map_or(rest.norm(), |lengths| lengths[number]);
            Spring { rest, row, length, stiffness: stiffness[number] }
        };
        let springs: Vec<Spring> = pairs.iter().enumerate().map(spring).collect();
        springs.iter().for_each(|spring| spring.add_stiffness(&mut self.stiffness));
        self.frequency = lowest_frequency(&self.coordinates, &self.mass, &self.stiffness)?;
        self.body.springs.extend(springs);
        Ok(self)
    }
}
