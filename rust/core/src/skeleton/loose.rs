//! Hard pieces of a surface: helmets, horns, armour plates, buckles, glasses, teeth, eyes.

use super::pieces::{Piece, Pieces};
use crate::mesh::SurfaceMesh;
use crate::rig::Rig;

/// Largest difference of weights in a piece that moves as a rigid whole.
const EVEN: f64 = 0.05;
/// Spread of weights below which a piece could be a shell of a mannequin. Largest difference of weights in a
/// rigid piece with a hard material, such as an eyeball and its socket.
const ALIKE: f64 = 0.12;
/// Largest spread of weights of an unbent piece.
const BENT: f64 = 0.5;
/// Share of creases among the edges of a plate.
const CREASED: f64 = 0.15;
/// Ratio of this share to that of the flesh around: everything is creased in a character of few triangles.
const SHARPER: f64 = 1.25;
/// Smallest size of a piece on one bone, relative to the body's; a smaller piece lies on flesh and moves with
/// the flesh below, if any, like a button.
const SMALL: f64 = 0.05;
/// The same for a piece of several bones: a buckle that follows them would hold the belly below.
const BUCKLE: f64 = 0.12;
/// Largest share of the skin of a piece; a larger piece is a body.
const LARGE: f64 = 0.35;
/// Largest share of a bone's skin, and of the bones; with larger shares, the pieces are flesh.
const MOST: f64 = 0.5;
/// Share of the skin from which a bone counts fully as one of the body's: fingers count less.
const BONE: f64 = 0.02;
/// Share of a character's skin on hard shells from which on it is a machine, without any flesh.
const MACHINE: f64 = 0.75;

/// `true` for each point, p, of a hard piece of a surface, which follows its bones as a whole.
///
/// A piece is a loose part. It is hard if a single bone holds it; or if it makes up less than half of the
/// skin of its bones and either has equal weights, or nearly equal ones and a hard material at some points,
/// `hinted`, p, or is a plate: its bones do not bend it, and it has more sharp creases than the flesh around
/// or a hard material at each point. Smaller pieces, below a
/// twentieth of the body's size with one bone and an eighth with several, lie on the flesh. A piece with more
/// than a third of the skin is a body of its own, and so are all of them in a mannequin of shells: pieces
/// whose weights hardly differ make up the skin of more than half of the bones. Shells with creases, or
/// mostly of a hard material, are plates instead: each is hard, and so is all of a machine, with three
/// quarters of its skin on them. A surface with equal weights everywhere is a prop, and hard. Prop and plates
/// of shells need a skeleton of several `joints`, those without weight included; on a single one they are
/// flesh.
#[must_use]
pub fn hard_points(surface: &SurfaceMesh, rig: &Rig, joints: usize, hinted: Option<&[bool]>) -> Vec<bool> {
    let pieces = Pieces::new(surface, rig);
    if is_even(rig) {
        return vec![joints > 1; pieces.of.len()];
    }
    let whole: f64 = pieces.all.iter().map(|piece| piece.area).sum();
    let flesh = creases(pieces.all.iter().filter(|piece| piece.share >= MOST));
    let (hinted, touched) = match hinted {
        Some(hinted) => (pieces.all_of(hinted), pieces.any_of(hinted)),
        None => (vec![false; pieces.all.len()], vec![false; pieces.all.len()]),
    };
    let is_plate = |piece: &Piece, is_hinted: bool| {
        let is_creased = || creases([piece].into_iter()) >= CREASED.max(SHARPER * flesh);
        piece.spread < BENT && (is_hinted || is_creased())
    };
    let is_hard = |((piece, &is_hinted), &is_touched): ((&Piece, &bool), &bool)| {
        let even = if is_touched { ALIKE } else { EVEN };
        let is_beside = || piece.share < MOST && (piece.range < even || is_plate(piece, is_hinted));
        let least = pieces.size * if piece.is_held { SMALL } else { BUCKLE };
        let is_seen = piece.size > least || piece.is_alone;
        (piece.is_held || is_beside()) && is_seen && piece.area < LARGE * whole
    };
    let hard: Vec<bool> = if of_shells(&pieces, rig, whole) > MOST {
        plates_of_shells(&pieces, &hinted, joints, whole)
    } else {
        pieces.all.iter().zip(&hinted).zip(&touched).map(is_hard).collect()
    };
    pieces.of.iter().map(|&piece| hard[piece]).collect()
}

/// `true` for each hard piece of a character of shells.
fn plates_of_shells(pieces: &Pieces, hinted: &[bool], joints: usize, whole: f64) -> Vec<bool> {
    let is_shell = |piece: &&Piece| piece.spread <= ALIKE;
    let area = |counts: &dyn Fn(usize) -> bool| {
        let shells =
            pieces.all.iter().enumerate().filter(|(number, piece)| is_shell(piece) && counts(*number));
        shells.map(|(_, piece)| piece.area).sum::<f64>()
    };
    let shells = area(&|_| true);
    let is_creased = creases(pieces.all.iter().filter(is_shell)) >= CREASED;
    let is_hard = joints > 1 && (is_creased || area(&|number| hinted[number]) > MOST * shells);
    let is_machine = shells > MACHINE * whole;
    pieces.all.iter().map(|piece| is_hard && (is_machine || is_shell(&piece))).collect()
}

/// Share of creases among the edges of some pieces.
fn creases<'a>(pieces: impl Iterator<Item = &'a Piece>) -> f64 {
    let (creases, edges) =
        pieces.fold((0.0, 0.0), |(creases, edges), piece| (creases + piece.creases, edges + piece.edges));
    if edges > 0.0 { creases / edges } else { 0.0 }
}

/// `true` if all points have the same weights.
fn is_even(rig: &Rig) -> bool {
    (0..rig.bone_count()).all(|bone| {
        let own = rig.bone(bone);
        let (least, most) =
            own.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), (_, weight)| (a.min(*weight), b.max(*weight)));
        most - (if own.len() < rig.vertex_count() { 0.0 } else { least }) < EVEN
    })
}

/// Share of the bones with more than half of their skin on pieces whose weights hardly differ.
fn of_shells(pieces: &Pieces, rig: &Rig, whole: f64) -> f64 {
    let is_shell = |point: usize| pieces.all[pieces.of[point]].spread <= ALIKE;
    let (mut shells, mut all) = (0.0, 0.0);
    for bone in 0..rig.bone_count() {
        let skin = pieces.skin_of(rig, bone, |_| true);
        let counts = skin.min(BONE * whole);
        all += counts;
        shells += if pieces.skin_of(rig, bone, is_shell) > MOST * skin { counts } else { 0.0 };
    }
    shells / all.max(f64::MIN_POSITIVE)
}
