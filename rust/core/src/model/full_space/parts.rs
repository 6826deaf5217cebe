//! Parts of a free body.

use crate::kinematics::rigid::RigidMotions;
use crate::math::Sets;
use crate::potentials::quadratic::Quadratic;

/// A part of a free body, connected by elements or stitches.
pub(crate) struct Part {
    pub(crate) mass: f64,
    /// Centre of mass, metres.
    pub(crate) center: [f64; 3],
}

/// Parts of a free body, and the part of each row.
pub(crate) struct Parts {
    pub(crate) all: Vec<Part>,
    pub(crate) of_rows: Vec<u32>,
}

impl Parts {
    /// Finds the parts, connected by a stiffness. `mass` and `rest` have the masses and places of the rows.
    pub(super) fn find(stiffness: &Quadratic, mass: &[f64], rest: &[[f64; 3]]) -> Self {
        let mut sets = Sets::new(mass.len());
        for row in 0..mass.len() {
            stiffness.row(row).iter().for_each(|&(other, _)| sets.unite(row as u32, other));
        }
        let (mut all, mut numbers) = (Vec::<Part>::new(), vec![None; mass.len()]);
        let mut of_rows = Vec::with_capacity(mass.len());
        for (row, (mass, rest)) in mass.iter().zip(rest).enumerate() {
            let number = *numbers[sets.root(row as u32) as usize].get_or_insert(all.len());
            if number == all.len() {
                all.push(Part { mass: 0.0, center: [0.0; 3] });
            }
            let part = &mut all[number];
            part.mass += mass;
            (0..3).for_each(|c| part.center[c] += mass * rest[c]);
            of_rows.push(number as u32);
        }
        all.iter_mut().for_each(|part| part.center = part.center.map(|sum| sum / part.mass));
        Self { all, of_rows }
    }

    /// Rigid motions of the parts, with the masses of the rows.
    pub(super) fn rigid_motions(&self, mass: &[f64]) -> RigidMotions {
        let of_rows = self.of_rows.iter().map(|&part| Some(part)).collect();
        RigidMotions::new(of_rows, vec![1.0; mass.len()], mass.to_vec())
    }
}
