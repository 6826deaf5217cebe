//! Contact points of a substep alone: spots on faces, beside the pairs of a skin with itself.

use nalgebra::Vector3;

use super::detection::{Known, is_past};
use super::directions::GIVES;
use super::faces::{Added, Scene, Spot};
use super::{Anchor, Contact, Corners, Course, Touch};
use crate::math::rows::Rows;

impl Contact {
    /// Contacts of added points, those found before in this substep and new ones; known contacts keep their
    /// friction bound.
    pub(super) fn find_added(&mut self, rig: &Rows, posed: &[Vector3<f64>], known: &[Known]) {
        self.add_pairs();
        self.add_spots(rig);
        for number in 0..self.added.len() {
            let (touch, course) = match self.added[number] {
                Added::Spot(spot) => self.of_spot(number, &self.faces.spots[spot], rig),
                Added::Pair(pair) => self.of_pair(number, pair, posed),
            };
            self.courses.push(course);
            if let Some(touch) = touch {
                self.enter(touch, known);
            }
        }
    }

    /// Adds a point to those of the substep.
    pub(super) fn add(&mut self, added: Added, parts: Corners) {
        self.added.push(added);
        self.points.add(parts);
        self.columns.push();
    }

    fn add_spots(&mut self, rig: &Rows) {
        for spot in self.new_spots(rig) {
            self.add(Added::Spot(self.faces.spots.len()), self.faces.parts(&spot));
            self.faces.spots.push(spot);
        }
    }

    /// Contact and course of a spot.
    fn of_spot(&self, number: usize, spot: &Spot, rig: &Rows) -> (Option<Touch>, Course) {
        let at =
            |place: fn(&Course) -> Vector3<f64>| self.faces.at(spot, |corner| place(&self.courses[corner]));
        let [start, here] = [at(|course| course.start), at(|course| course.here)];
        let course = Course { start, here, ahead: at(|course| course.ahead) };
        let key = ((self.points.len() + number) as u32, spot.collider);
        let moved = &self.placements[spot.collider as usize];
        let start = moved.before.local(&start);
        let anchor = self
            .anchor_of(spot)
            .map(|anchor| Anchor { place: (start + Vector3::from(anchor.place)).into(), ..anchor });
        let posed = moved.now.local(&self.posed(rig, spot));
        let reach: f64 = self.shared_reach(spot).sum();
        let gives = self.gives(spot.collider as usize, reach) - spot.plane.0.dot(&(start - posed));
        let let_out = self.let_out(self.reach_of(spot)).min(gives);
        (Some(moved.touch(key, spot.plane, (&start, anchor.as_ref()), let_out)), course)
    }

    /// Spots that faces meet for the first time in this substep.
    fn new_spots(&mut self, rig: &Rows) -> Vec<Spot> {
        let mut starts = std::mem::take(&mut self.face_starts);
        let scene = Scene {
            courses: &self.courses[..self.points.len()],
            colliders: &self.colliders,
            placements: &self.placements,
            held: &self.held,
            diagonal: self.diagonal,
        };
        let may = |point: u32, collider: usize| {
            let point = point as usize;
            self.may_touch[point * self.colliders.len() + collider]
                && !(self.swallows[collider] && self.held[point])
        };
        let side = |spot: &Spot| self.anchor_of(spot).map(|anchor| anchor.side.into());
        let mut spots = self.faces.meet(&scene, &mut starts, may, side);
        self.face_starts = starts;
        spots.retain(|spot| !self.is_carried_past(rig, spot));
        spots
    }

    /// `true` if the bones carry a face past its collider, farther than a single corner gives way.
    fn is_carried_past(&self, rig: &Rows, spot: &Spot) -> bool {
        let collider = spot.collider as usize;
        let posed = self.placements[collider].now.local(&self.posed(rig, spot));
        let (normal, met) = &spot.plane;
        (posed - met).norm() > GIVES * self.reach_of(spot)
            && is_past(self.colliders[collider].shape(), &posed, normal)
    }

    /// Position of a spot in the rig's shape at the end of the substep.
    fn posed(&self, rig: &Rows, spot: &Spot) -> Vector3<f64> {
        self.faces.at(spot, |corner| self.points.at(corner, rig) + self.shift(corner))
    }

    /// Distance by which a corner alone moves the spot if it moves by its distance from the pinned vertices;
    /// the largest of all corners.
    fn reach_of(&self, spot: &Spot) -> f64 {
        self.shared_reach(spot).fold(0.0, f64::max)
    }

    /// The same distance for each corner; all together move the spot by the sum.
    fn shared_reach(&self, spot: &Spot) -> impl Iterator<Item = f64> {
        let corners = self.faces.of(spot).iter().zip(spot.shares).filter(|(_, share)| *share > 0.0);
        corners.map(|(&corner, share)| share * self.reach[corner as usize])
    }

    /// The last anchor of a spot. Its place is relative to the spot, which is at another point of the face in
    /// each substep.
    fn anchor_of(&self, spot: &Spot) -> Option<Anchor> {
        let key = (self.points.len() as u32 + spot.lane, spot.collider);
        self.anchor(key).copied()
    }

    /// An anchor for the next substep: that of a spot is known by its face and corner.
    pub(super) fn of_lane(&self, anchor: Anchor, place: &Vector3<f64>) -> Anchor {
        let Some(number) = (anchor.point as usize).checked_sub(self.points.len()) else { return anchor };
        let Added::Spot(spot) = self.added[number] else { return anchor };
        let Spot { lane, collider, .. } = self.faces.spots[spot];
        let spot = self.placements[collider as usize].now.local(place);
        let point = self.points.len() as u32 + lane;
        Anchor { point, place: (Vector3::from(anchor.place) - spot).into(), ..anchor }
    }
}
