//! Contact forces in a crowd: relaxation of one contact after the other.
//!
//! Newton's method on the forces (`response`) costs the cube of the number of contacts. In a pile of bodies
//! with hundreds of contacts, each contact in turn takes the force that is optimal for the others' forces:
//! `f_i` becomes the nearest admissible force to `f_i - r_i (gap_i n + slip_i + f_i / k_i)`, with
//! `1 / r_i = s_i' H s_i + 1 / k_i`. Friction is Coulomb's, bounded by the present normal force. A sweep
//! costs the number of contacts times the rows of two bodies. Conjugate directions between sweeps carry
//! forces through a pile in fewer of them `[NNCG]`.

use faer::Mat;
use nalgebra::Vector3;

use super::link::Link;
use super::response::{MOST, within};
use crate::math::rows::Rows;

/// Number of contacts above which they are relaxed: the largest working set of Newton's method.
pub(super) const CROWD: usize = MOST;
/// Most sweeps; the next search starts from their forces.
const SWEEPS: u32 = 200;
/// Number of sweeps after which open contacts are looked at again.
const WHOLE: u32 = 8;
/// Change of the forces in a sweep at convergence, relative to the forces.
const SETTLED: f64 = 1e-4;

/// Relaxes the forces of contacts with free positions at `ahead`, from the present ones; sets friction
/// bounds, and returns the share of each curvature column. `columns` are those at each contact, `middle` is
/// the matrix of the compact metric.
pub(super) fn relax(
    links: &mut [Link],
    columns: &[Vec<Vector3<f64>>],
    middle: &Mat<f64>,
    ahead: &Rows,
) -> Vec<f64> {
    let mut crowd = Crowd::new(links, columns, middle, ahead);
    let (mut last, mut is_whole) = (f64::INFINITY, true);
    let mut step = vec![Vector3::zeros(); crowd.links.len()];
    for sweep in 1..=SWEEPS {
        let before: Vec<Vector3<f64>> = crowd.links.iter().map(|link| link.force).collect();
        crowd.sweep(is_whole);
        let now = || crowd.links.iter().map(|link| link.force);
        let changes: Vec<Vector3<f64>> = now().zip(&before).map(|(now, before)| now - before).collect();
        let change: f64 = changes.iter().map(|change| change.norm_squared()).sum();
        let is_settled = change <= SETTLED * SETTLED * now().map(|force| force.norm_squared()).sum::<f64>();
        if sweep == SWEEPS || is_settled && is_whole {
            break;
        }
        is_whole = is_settled || sweep % WHOLE == 0;
        let carried = if change <= last { change / last } else { 0.0 };
        last = change;
        for (i, (step, change)) in step.iter_mut().zip(changes).enumerate() {
            if crowd.open[i] {
                *step = Vector3::zeros();
            } else {
                crowd.push(i, &(carried * *step));
                *step = carried * *step + change;
            }
        }
    }
    crowd.shares
}

/// Contacts with their effect on each other.
struct Crowd<'a> {
    links: &'a mut [Link],
    columns: &'a [Vec<Vector3<f64>>],
    middle: &'a Mat<f64>,
    /// Free position of each contact.
    free: Vec<Vector3<f64>>,
    /// Rate of each contact, N/m.
    rates: Vec<f64>,
    /// `true` for contacts without force in the last sweep.
    open: Vec<bool>,
    /// Motion of the rows under the forces, in the metric.
    moved: Vec<[f64; 3]>,
    /// Shares of the curvature columns.
    shares: Vec<f64>,
}

impl<'a> Crowd<'a> {
    fn new(
        links: &'a mut [Link],
        columns: &'a [Vec<Vector3<f64>>],
        middle: &'a Mat<f64>,
        ahead: &Rows,
    ) -> Self {
        let free = links.iter().map(|link| link.at(ahead)).collect();
        let (rates, open) = (Vec::with_capacity(links.len()), vec![false; links.len()]);
        let (moved, shares) = (vec![[0.0; 3]; ahead.len()], vec![0.0; middle.nrows()]);
        let mut crowd = Self { links, columns, middle, free, rates, open, moved, shares };
        for i in 0..crowd.links.len() {
            let link = &crowd.links[i];
            let soft = link.moved_by(link) + crowd.learnt(i) + 1.0 / link.touch.stiffness;
            crowd.rates.push(1.0 / soft);
            let force = std::mem::take(&mut crowd.links[i].force);
            crowd.push(i, &force);
        }
        crowd
    }

    /// Bound of the compliance that curvature adds to a contact under its own force.
    fn learnt(&self, i: usize) -> f64 {
        let column = |force: usize| {
            let force = Vector3::ith(force, 1.0);
            let shares = self.shared(i, &force);
            self.columns[i].iter().zip(shares).map(|(column, share)| share * column).sum::<Vector3<f64>>()
        };
        (0..3).map(|force| column(force).abs().sum()).fold(0.0, f64::max)
    }

    /// Shares of the curvature columns under a force.
    fn shared(&self, i: usize, force: &Vector3<f64>) -> Vec<f64> {
        let along: Vec<f64> = self.columns[i].iter().map(|column| column.dot(force)).collect();
        (0..along.len()).map(|a| (0..along.len()).map(|b| self.middle[(a, b)] * along[b]).sum()).collect()
    }

    /// Adds to the force of a contact.
    fn push(&mut self, i: usize, change: &Vector3<f64>) {
        if *change == Vector3::zeros() {
            return;
        }
        let shares = self.shared(i, change);
        self.shares.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
        let link = &mut self.links[i];
        link.force += change;
        for (row, image) in link.rows.iter().cloned().flatten().zip(&link.image) {
            (0..3).for_each(|c| self.moved[row][c] += image * change[c]);
        }
    }

    /// Sets the force of one contact after the other; unless whole, open ones stay open.
    fn sweep(&mut self, is_whole: bool) {
        for i in 0..self.links.len() {
            if is_whole || !self.open[i] {
                let wanted = self.wanted(i);
                let change = wanted - self.links[i].force;
                self.push(i, &change);
                self.open[i] = wanted == Vector3::zeros();
            }
        }
    }

    /// Force of a contact for the present forces of the others; sets its friction bound.
    fn wanted(&mut self, i: usize) -> Vector3<f64> {
        let learnt: Vector3<f64> =
            self.columns[i].iter().zip(&self.shares).map(|(column, share)| *share * column).sum();
        let at = self.free[i] + self.links[i].sum(&self.moved) + learnt;
        let Link { touch, force, friction, .. } = &mut self.links[i];
        let mut apart = touch.gap(&at) * touch.normal + *force / touch.stiffness;
        if *friction > 0.0 {
            apart += touch.slip(&at);
        }
        let aim = *force - self.rates[i] * apart;
        touch.bound = *friction * touch.normal.dot(&aim).max(0.0);
        within(touch, &aim)
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use nalgebra::Vector3;

    use super::super::Touch;
    use super::super::link::Link;
    use super::relax;

    /// Weight of a mass that falls for a step, N, and its compliance, m/N.
    const WEIGHT: f64 = 2.0;
    const SOFT: f64 = 1e-3;

    /// Contact of a mass with the one below, or of the first mass with the ground.
    fn resting(number: usize, friction: f64) -> Link {
        let below = number.checked_sub(1);
        let entry = |row: usize, weight| (row as u32, weight);
        Link {
            member: number,
            other: below,
            rows: [number..number + 1, below.map_or(0..0, |row| row..number)],
            touch: Touch {
                point: number as u32,
                collider: 0,
                normal: Vector3::z(),
                place: Vector3::zeros(),
                anchor: Vector3::zeros(),
                stiffness: 1e4 / SOFT,
                bound: 0.0,
            },
            friction,
            entries: std::iter::once(entry(number, 1.0)).chain(below.map(|row| entry(row, -1.0))).collect(),
            beyond: Vector3::zeros(),
            met: Vector3::zeros(),
            side: Vector3::z(),
            force: Vector3::zeros(),
            image: std::iter::once(SOFT).chain(below.map(|_| -SOFT)).collect(),
        }
    }

    #[test]
    fn each_mass_of_a_pile_bears_those_above() {
        let count = 12;
        let mut links: Vec<Link> = (0..count).map(|number| resting(number, 0.5)).collect();
        // Free motion of a step: down, and a little to the side.
        let free = vec![[0.1 * WEIGHT * SOFT, 0.0, -WEIGHT * SOFT]; count];
        let shares = relax(&mut links, &vec![Vec::new(); count], &Mat::zeros(0, 0), &free);
        assert!(shares.is_empty());
        for (number, link) in links.iter().enumerate() {
            let borne = WEIGHT * (count - number) as f64;
            assert!((link.force[2] / borne - 1.0).abs() < 0.02, "{number}: {}", link.force);
            assert!((link.force[0] / (-0.1 * borne) - 1.0).abs() < 0.02, "{number}: {}", link.force);
            assert!((link.touch.bound / (0.5 * borne) - 1.0).abs() < 0.02, "{number}: {}", link.touch.bound);
        }
    }

    #[test]
    fn friction_is_bounded_and_nothing_pulls() {
        let slides = &mut [resting(0, 0.5)];
        relax(slides, &[Vec::new()], &Mat::zeros(0, 0), &[[3.0 * WEIGHT * SOFT, 0.0, -WEIGHT * SOFT]]);
        assert!((slides[0].force - Vector3::new(-0.5 * WEIGHT, 0.0, WEIGHT)).norm() < 1e-3 * WEIGHT);
        let rises = &mut [resting(0, 0.5)];
        rises[0].force = Vector3::new(0.0, 0.0, WEIGHT);
        relax(rises, &[Vec::new()], &Mat::zeros(0, 0), &[[0.0, 0.0, WEIGHT * SOFT]]);
        assert_eq!(rises[0].force, Vector3::zeros());
    }
}
