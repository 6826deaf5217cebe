//! Contact forces: minimum of the quasi-Newton model of a smooth energy plus the contact energies.
//!
//! With the inverse H of the model's matrix, the free direction `d_0 = -H g` and forces f on points S, the
//! direction is `d = d_0 + H S'f`. A force satisfies `f_i = -grad e_i(c_i + S_i d)`. Equivalently it is,
//! for any rate r, the projection of the *aim*
//!
//! `f_i - r_i (gap_i n + slip_i + f_i / k_i)`
//!
//! onto the admissible forces: pushing, with friction within its bound. A semismooth Newton method solves
//! these equations `[AC]`: the aims classify contacts as open, sticking or sliding, and one linear system
//! gives the forces for this classification. A close initial guess needs few steps. Flesh that many contacts
//! press from all sides may send full steps into a cycle. Then the rates become the stiffnesses: the aims are
//! the forces at the present positions, and each step is one of Newton's method on the convex model, with a
//! search along it. Only `S H S'` of the whole body is needed. Friction bounds are updated from the normal
//! forces in alternation.

use nalgebra::Vector3;

use super::system::{Active, System};
use super::{Compliance, Touch};

/// Most updates of friction bounds; the next search removes the remaining error.
const ROUNDS: u32 = 5;
/// Relative change below which a bound counts as constant.
const SAME: f64 = 1e-3;
/// Most Newton steps, and the number of those without a search.
const STEPS: u32 = 120;
const WHOLE: u32 = 12;
/// Most trials of a search, and the slope at its end, relative to that at its start.
const TRIALS: u32 = 40;
const FLAT: f64 = 1e-6;
/// Rate of aims, relative to the inverse compliance of a point, suitable for a few coupled contacts.
const RATE: f64 = 0.1;
/// Relative error of forces at convergence, and the error from which friction bounds are updated.
const SETTLED: f64 = 1e-9;
const CLOSE: f64 = 0.1;

/// Smallest batch of contacts added to the working set at once; larger working sets grow by their own size.
const BATCH: usize = 32;
/// Largest working set. More contacts are nearly redundant for bodies with few coordinates, at cubic cost.
pub(super) const MOST: usize = 256;

/// Solves contacts with a growing working set, until no other contact is violated or the set is full. The
/// forces are then the same as with all contacts, most of which are inactive. `answer` solves a working set
/// and returns the violated contacts, in order of priority.
pub(crate) fn mind(mut minded: Vec<usize>, mut answer: impl FnMut(&[usize]) -> Vec<usize>) {
    loop {
        let mut entered = answer(&minded);
        entered.truncate(minded.len().max(BATCH).min(MOST.saturating_sub(minded.len())));
        if entered.is_empty() {
            return;
        }
        minded.extend(entered);
    }
}

/// Contacts outside of the working set with a negative gap, deepest first.
pub(crate) fn entered(count: usize, minded: &[usize], gap: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut is_minded = vec![false; count];
    minded.iter().for_each(|&i| is_minded[i] = true);
    let others = (0..count).filter(|&i| !is_minded[i]).map(|i| (gap(i), i));
    let mut entered: Vec<(f64, usize)> = others.filter(|(gap, _)| *gap < 0.0).collect();
    entered.sort_by(|a, b| a.0.total_cmp(&b.0));
    entered.into_iter().map(|(_, i)| i).collect()
}

/// Contact forces for points with free positions `free`, from an initial guess; sets the friction bounds
/// from one coefficient a contact, or keeps them without coefficients.
pub(crate) fn respond(
    touches: &mut [Touch],
    friction: &[f64],
    free: &[Vector3<f64>],
    compliance: &Compliance,
    guess: &[Vector3<f64>],
) -> Vec<Vector3<f64>> {
    // Positions relative to the free positions, to keep precision of the displacements.
    let from = |(touch, free): (&Touch, &Vector3<f64>)| Touch {
        place: touch.place - free,
        anchor: touch.anchor - free,
        ..*touch
    };
    let mut problem = Problem { touches: touches.iter().zip(free).map(from).collect(), friction, compliance };
    let forces = problem.solve(guess.to_vec());
    touches.iter_mut().zip(&problem.touches).for_each(|(touch, found)| touch.bound = found.bound);
    forces
}

/// Contacts relative to the free positions of their points.
struct Problem<'a> {
    touches: Vec<Touch>,
    friction: &'a [f64],
    compliance: &'a Compliance,
}

impl Problem<'_> {
    /// Newton iteration from initial forces.
    fn solve(&mut self, mut forces: Vec<Vector3<f64>>) -> Vec<Vector3<f64>> {
        let mut rounds = 0;
        for step in 0..STEPS {
            let rates = self.rates(step >= WHOLE);
            let aims = self.aims(&forces, &rates);
            let (mut off, mut most) = self.off(&forces, &aims);
            let follows = off <= SETTLED * most || (step > 0 && off <= CLOSE * most);
            if follows && rounds < ROUNDS && self.bound(&forces) {
                rounds += 1;
                (off, most) = self.off(&forces, &aims);
            }
            if off <= SETTLED * most {
                break;
            }
            let Some(wanted) = self.wanted((&aims, &rates), &forces) else { break };
            let change: Vec<_> = wanted.iter().zip(&forces).map(|(wanted, force)| wanted - force).collect();
            let share = if step < WHOLE { 1.0 } else { self.share(&forces, &change) };
            forces.iter_mut().zip(change).for_each(|(force, change)| *force += share * change);
        }
        self.touches.iter().zip(&forces).map(|(touch, force)| within(touch, force)).collect()
    }

    /// Rate of the aim of each contact, N/m: for aims that are the forces at the present positions, the
    /// stiffness.
    fn rates(&self, are_present: bool) -> Vec<f64> {
        let rate = |(i, touch): (usize, &Touch)| {
            if are_present { touch.stiffness } else { RATE / self.compliance.points.own(i) }
        };
        self.touches.iter().enumerate().map(rate).collect()
    }

    /// Share of a change of the forces at which the energy of the model is least.
    fn share(&self, forces: &[Vector3<f64>], change: &[Vector3<f64>]) -> f64 {
        let [moved, along] = [forces, change].map(|forces| self.compliance.moved(forces));
        let slope = |share: f64| -> f64 {
            let of = |(i, touch): (usize, &Touch)| {
                let at = moved[i] + share * along[i];
                along[i].dot(&(forces[i] + share * change[i] - touch.evaluate(&at).1))
            };
            self.touches.iter().enumerate().map(of).sum()
        };
        let [mut low, mut high] = [0.0, 1.0].map(|share| (share, slope(share)));
        let flat = FLAT * low.1.abs();
        if low.1 >= 0.0 || high.1 <= flat {
            return 1.0;
        }
        for _ in 0..TRIALS {
            let share = low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1)).clamp(0.1, 0.9);
            let here = (share, slope(share));
            if here.1.abs() <= flat {
                return share;
            }
            *(if here.1 < 0.0 { &mut low } else { &mut high }) = here;
        }
        low.0
    }

    fn aims(&self, forces: &[Vector3<f64>], rates: &[f64]) -> Vec<Vector3<f64>> {
        let moved = self.compliance.moved(forces);
        let aim = |(i, (force, moved)): (usize, (&Vector3<f64>, &Vector3<f64>))| {
            let touch = &self.touches[i];
            let apart = touch.gap(moved) * touch.normal + touch.slip(moved) + force / touch.stiffness;
            force - rates[i] * apart
        };
        forces.iter().zip(&moved).enumerate().map(aim).collect()
    }

    /// Largest difference between forces and projected aims, and largest projected aim.
    fn off(&self, forces: &[Vector3<f64>], aims: &[Vector3<f64>]) -> (f64, f64) {
        let answers = self.touches.iter().zip(aims).map(|(touch, aim)| within(touch, aim));
        let pairs = answers.zip(forces);
        pairs.fold((0.0, 0.0), |(off, most), (answer, force)| {
            (f64::max(off, (force - answer).amax()), f64::max(most, answer.amax()))
        })
    }

    /// Updates the friction bounds from the normal forces; `true` if any has changed.
    fn bound(&mut self, forces: &[Vector3<f64>]) -> bool {
        let push = |touch: &Touch, force: &Vector3<f64>| touch.normal.dot(force).max(0.0);
        let of = self.friction.iter().zip(forces);
        let next: Vec<f64> = self
            .touches
            .iter()
            .zip(of)
            .map(|(touch, (friction, force))| friction * push(touch, force))
            .collect();
        let mut pairs = self.touches.iter().zip(&next);
        if pairs.all(|(touch, &new)| (new - touch.bound).abs() <= SAME * new.max(touch.bound)) {
            return false;
        }
        self.touches.iter_mut().zip(next).for_each(|(touch, bound)| touch.bound = bound);
        true
    }

    /// Forces that solve the equations for the classification given by the aims, from the present forces.
    fn wanted(
        &self,
        (aims, rates): (&[Vector3<f64>], &[f64]),
        present: &[Vector3<f64>],
    ) -> Option<Vec<Vector3<f64>>> {
        let mut active = Vec::with_capacity(3 * aims.len());
        let each = aims.iter().zip(rates).enumerate();
        let mut forces: Vec<Vector3<f64>> =
            each.map(|(touch, (aim, rate))| self.activate(touch, (aim, *rate), &mut active)).collect();
        let size = |one: &Active| one.along.dot(&(present[one.touch] - forces[one.touch]));
        let sizes = System { active: &active, compliance: self.compliance }
            .solve(&forces, active.iter().map(size).collect())?;
        for (one, size) in active.iter().zip(sizes) {
            forces[one.touch] += size * one.along;
        }
        Some(forces)
    }

    /// Adds the active directions of a contact force; returns its constant part.
    fn activate(
        &self,
        number: usize,
        (aim, rate): (&Vector3<f64>, f64),
        active: &mut Vec<Active>,
    ) -> Vector3<f64> {
        let touch = &self.touches[number];
        let (push, soft) = (touch.normal.dot(aim), 1.0 / touch.stiffness);
        if push > 0.0 {
            let (along, origin) = (touch.normal, touch.place);
            active.push(Active { touch: number, is_push: true, along, softness: soft, origin });
        }
        if touch.bound <= 0.0 {
            return Vector3::zeros();
        }
        let mut rubs = |along: Vector3<f64>, softness: f64| {
            active.push(Active { touch: number, is_push: false, along, softness, origin: touch.anchor });
        };
        let rub = aim - push * touch.normal;
        let size = rub.norm();
        if size <= touch.bound {
            let frame = touch.frame();
            (1..3).for_each(|axis| rubs(frame.column(axis).into(), soft));
            return Vector3::zeros();
        }
        // Across the slip, the friction force rotates with the aim.
        let turning = (size - touch.bound) / (touch.bound * rate);
        rubs(touch.normal.cross(&rub) / size, soft + turning);
        rub * (touch.bound / size)
    }
}

/// Nearest admissible force: pushing, with friction within its bound.
pub(super) fn within(touch: &Touch, force: &Vector3<f64>) -> Vector3<f64> {
    let push = touch.normal.dot(force);
    let rub = force - push * touch.normal;
    let size = rub.norm();
    push.max(0.0) * touch.normal + if size > touch.bound { rub * (touch.bound / size) } else { rub }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use nalgebra::Vector3;

    use super::super::{Compliance, Mobility, Touch};
    use super::respond;

    /// Coordinates of the body, and its contacts.
    const FREE: usize = 8;
    const COUNT: usize = 60;

    /// Numbers between -1 and 1.
    fn spread(seed: usize) -> impl FnMut() -> f64 {
        let mut state = seed as u64 + 1;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// A body of few coordinates around a ball, pressed from all sides.
    fn pressed(seed: usize, bound: f64) -> (Vec<Touch>, Vec<Vector3<f64>>, Compliance) {
        let mut next = spread(seed);
        let rows = Mat::from_fn(COUNT, FREE, |_, _| next());
        let compliance = &rows * rows.transpose();
        let mut vector = || Vector3::new(next(), next(), next());
        let touch = |i: usize| Touch {
            point: i as u32,
            collider: 0,
            normal: vector().normalize(),
            place: 0.1 * vector(),
            anchor: 0.1 * vector(),
            stiffness: 1e3 / compliance[(i, i)],
            bound,
        };
        let touches = (0..COUNT).map(touch).collect();
        let free = (0..COUNT).map(|_| vector()).collect();
        let columns = vec![Vec::new(); COUNT];
        (touches, free, Compliance { points: Mobility::Even(compliance), columns, matrix: Mat::zeros(0, 0) })
    }

    #[test]
    fn each_force_is_that_of_its_contact_where_the_forces_move_it() {
        for seed in 0..40 {
            for bound in [0.0, 1.0] {
                let (mut touches, free, compliance) = pressed(seed, bound);
                let forces = respond(&mut touches, &[], &free, &compliance, &[Vector3::zeros(); COUNT]);
                let moved = compliance.moved(&forces);
                let most = forces.iter().map(|force| force.norm()).fold(0.0, f64::max);
                let own = touches
                    .iter()
                    .zip(free.iter().zip(&moved))
                    .map(|(touch, (a, b))| touch.evaluate(&(a + b)).1);
                let off = own.zip(&forces).map(|(own, force)| (own - force).norm()).fold(0.0, f64::max);
                println!("{seed} {bound}: {off:e} of {most:e}");
                assert!(most > 0.0 && off < 1e-6 * most, "{seed} {bound}: {off:e} of {most:e}");
            }
        }
    }
}
