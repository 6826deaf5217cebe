//! Pairs of a body's skin with itself, for the duration of a substep.

use nalgebra::Vector3;

use super::directions::NEAR;
use super::faces::Added;
use super::self_contact::{BEFORE, Pair, Scene, faces_across, normals};
use super::{Contact, Course, Touch};

/// Share of the flesh on both sides of a pair, up to the pinned vertices, that gives way.
const GIVES: f64 = 0.25;

impl Contact {
    /// Adds pairs of points without one, if points may have met since the last time.
    pub(super) fn add_pairs(&mut self) {
        if self.let_out.is_none() {
            return;
        }
        let Some(mut itself) = self.itself.take() else { return };
        let here: Vec<Vector3<f64>> = self.courses.iter().map(|course| course.here).collect();
        let moved = here.iter().zip(&itself.met).map(|(here, met)| (here - met).norm()).fold(0.0, f64::max);
        if itself.met.is_empty() || 2.0 * moved > BEFORE * self.diagonal {
            let across = faces_across(&self.faces, |corner| here[corner as usize]);
            if itself.met.is_empty() {
                itself.normals = normals(self.points.len(), &self.faces, &across);
            }
            let scene = Scene {
                points: &self.points,
                faces: &self.faces,
                courses: &self.courses,
                here: &here,
                across,
                diagonal: self.diagonal,
            };
            let pairs = itself.meet(&scene, &self.groups);
            for pair in &pairs {
                self.add(Added::Pair(itself.pairs.len()), pair.parts);
                itself.pairs.push(*pair);
            }
            itself.met = here;
        }
        self.itself = Some(itself);
    }

    /// Contact and course of a pair, posed by the rig alone at given places; no contact far from the plane.
    pub(super) fn of_pair(
        &self,
        number: usize,
        pair: usize,
        posed: &[Vector3<f64>],
    ) -> (Option<Touch>, Course) {
        let pairs = self.itself.as_ref().map_or(&[][..], |itself| &itself.pairs);
        let Pair { parts, normal } = pairs[pair];
        let sum = |value: &dyn Fn(usize) -> Vector3<f64>| -> Vector3<f64> {
            parts.iter().map(|&(part, share)| share * value(part as usize)).sum()
        };
        let course = Course {
            start: sum(&|part| self.courses[part].start),
            here: sum(&|part| self.courses[part].here),
            ahead: sum(&|part| self.courses[part].ahead),
        };
        let posed = sum(&|part| posed[part] + self.shift(part));
        let reach: f64 = parts.iter().map(|&(part, share)| share.abs() * self.reach[part as usize]).sum();
        let gives = GIVES * reach - normal.dot(&(course.start - posed));
        let inside = (normal.dot(&course.start) + self.let_out(reach).min(gives)).min(0.0);
        let touch = Touch {
            point: (self.points.len() + number) as u32,
            collider: self.colliders.len() as u32,
            normal,
            place: if inside.is_finite() { inside * normal } else { Vector3::zeros() },
            anchor: course.start,
            stiffness: 0.0,
            bound: 0.0,
        };
        let gap = touch.gap(&course.here).min(touch.gap(&course.ahead));
        ((gap <= NEAR * self.diagonal).then_some(touch), course)
    }
}
