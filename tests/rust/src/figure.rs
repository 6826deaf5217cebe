//! A figure with arms and legs, made of boxes and balls, with a skeleton of unnamed bones.

use jounce::mesh::SurfaceMesh;
use jounce::skeleton::{Bone, BoneRole, SkeletonCore};
use nalgebra::Vector3;

use crate::surfaces::{Soup, cube, sphere};

/// Head, parent and name of each bone; bones on the left, x > 0, come before those on the right.
const BONES: [([f64; 3], Option<u32>, &str); 16] = [
    ([0.0, 0.02, 0.95], None, "hips"),
    ([0.0, 0.02, 1.15], Some(0), "spine"),
    ([0.0, 0.02, 1.45], Some(1), "neck"),
    ([0.0, 0.0, 1.56], Some(2), "head"),
    ([0.12, 0.0, 0.9], Some(0), "left thigh"),
    ([0.12, 0.0, 0.5], Some(4), "left shin"),
    ([0.12, 0.02, 0.08], Some(5), "left foot"),
    ([0.22, 0.0, 1.38], Some(1), "left arm"),
    ([0.5, 0.0, 1.38], Some(7), "left forearm"),
    ([0.76, 0.0, 1.38], Some(8), "left hand"),
    ([-0.12, 0.0, 0.9], Some(0), "right thigh"),
    ([-0.12, 0.0, 0.5], Some(10), "right shin"),
    ([-0.12, 0.02, 0.08], Some(11), "right foot"),
    ([-0.22, 0.0, 1.38], Some(1), "right arm"),
    ([-0.5, 0.0, 1.38], Some(13), "right forearm"),
    ([-0.76, 0.0, 1.38], Some(14), "right hand"),
];
/// Tail of each bone.
const TAILS: [[f64; 3]; 16] = [
    [0.0, 0.02, 1.15],
    [0.0, 0.02, 1.45],
    [0.0, 0.0, 1.56],
    [0.0, 0.0, 1.78],
    [0.12, 0.0, 0.5],
    [0.12, 0.02, 0.08],
    [0.12, -0.16, 0.04],
    [0.5, 0.0, 1.38],
    [0.76, 0.0, 1.38],
    [0.92, 0.0, 1.38],
    [-0.12, 0.0, 0.5],
    [-0.12, 0.02, 0.08],
    [-0.12, -0.16, 0.04],
    [-0.5, 0.0, 1.38],
    [-0.76, 0.0, 1.38],
    [-0.92, 0.0, 1.38],
];

/// Index of the bone with this name.
pub fn bone(name: &str) -> usize {
    BONES.iter().position(|bone| bone.2 == name).expect("a bone of the figure")
}

/// Head, parent and tail of four bones of a tail, and of two bones in each of two ears.
const TAIL_AND_EARS: [([f64; 3], Option<u32>, [f64; 3]); 8] = [
    ([0.0, 0.14, 0.98], Some(0), [0.0, 0.34, 0.98]),
    ([0.0, 0.34, 0.98], Some(16), [0.0, 0.54, 0.98]),
    ([0.0, 0.54, 0.98], Some(17), [0.0, 0.74, 0.98]),
    ([0.0, 0.74, 0.98], Some(18), [0.0, 0.94, 0.98]),
    ([0.07, 0.0, 1.77], Some(3), [0.1, 0.0, 1.9]),
    ([0.1, 0.0, 1.9], Some(20), [0.13, 0.0, 2.05]),
    ([-0.07, 0.0, 1.77], Some(3), [-0.1, 0.0, 1.9]),
    ([-0.1, 0.0, 1.9], Some(22), [-0.13, 0.0, 2.05]),
];
/// Bones of the beast's tail.
pub const TAIL: std::ops::Range<usize> = 16..20;
/// Bones of both ears.
pub const EARS: std::ops::Range<usize> = 20..24;

/// Head, parent and tail of the bones of two breasts.
const BOSOM: [([f64; 3], Option<u32>, [f64; 3]); 2] =
    [([0.09, -0.24, 1.3], Some(1), [0.09, -0.34, 1.3]), ([-0.09, -0.24, 1.3], Some(1), [-0.09, -0.34, 1.3])];
/// Bones of the breasts.
pub const BREASTS: std::ops::Range<usize> = 16..18;

/// Head, parent and tail of three bones in each of two strands of hair.
const STRANDS: [([f64; 3], Option<u32>, [f64; 3]); 6] = [
    ([0.11, 0.1, 1.74], Some(3), [0.11, 0.24, 1.74]),
    ([0.11, 0.24, 1.74], Some(16), [0.11, 0.38, 1.74]),
    ([0.11, 0.38, 1.74], Some(17), [0.11, 0.52, 1.74]),
    ([-0.07, 0.1, 1.6], Some(3), [-0.07, 0.24, 1.6]),
    ([-0.07, 0.24, 1.6], Some(19), [-0.07, 0.38, 1.6]),
    ([-0.07, 0.38, 1.6], Some(20), [-0.07, 0.52, 1.6]),
];
/// Bones of the hair.
pub const HAIR: std::ops::Range<usize> = 16..22;

/// Head, parent and tail of the bones of a hound: hips, loins, neck, head; thigh, shank and paw, upper arm,
/// forearm and paw of the left side, x > 0, then of the right; a tail.
const HOUND: [([f64; 3], Option<u32>, [f64; 3]); 19] = [
    ([0.0, 0.5, 0.85], None, [0.0, 0.05, 0.85]),
    ([0.0, 0.05, 0.85], Some(0), [0.0, -0.5, 0.85]),
    ([0.0, -0.55, 0.88], Some(1), [0.0, -0.78, 1.02]),
    ([0.0, -0.78, 1.02], Some(2), [0.0, -1.05, 1.05]),
    ([0.12, 0.5, 0.75], Some(0), [0.12, 0.5, 0.4]),
    ([0.12, 0.5, 0.4], Some(4), [0.12, 0.52, 0.1]),
    ([0.12, 0.52, 0.1], Some(5), [0.12, 0.42, 0.03]),
    ([0.12, -0.5, 0.75], Some(1), [0.12, -0.5, 0.4]),
    ([0.12, -0.5, 0.4], Some(7), [0.12, -0.48, 0.1]),
    ([0.12, -0.48, 0.1], Some(8), [0.12, -0.58, 0.03]),
    ([-0.12, 0.5, 0.75], Some(0), [-0.12, 0.5, 0.4]),
    ([-0.12, 0.5, 0.4], Some(10), [-0.12, 0.52, 0.1]),
    ([-0.12, 0.52, 0.1], Some(11), [-0.12, 0.42, 0.03]),
    ([-0.12, -0.5, 0.75], Some(1), [-0.12, -0.5, 0.4]),
    ([-0.12, -0.5, 0.4], Some(13), [-0.12, -0.48, 0.1]),
    ([-0.12, -0.48, 0.1], Some(14), [-0.12, -0.58, 0.03]),
    ([0.0, 0.6, 0.9], Some(0), [0.0, 0.8, 0.9]),
    ([0.0, 0.8, 0.9], Some(16), [0.0, 1.0, 0.9]),
    ([0.0, 1.0, 0.9], Some(17), [0.0, 1.2, 0.9]),
];

/// Half width of the fish's body, metres.
const FLANK: f64 = 0.165;

/// Surface, weights and bones.
#[derive(Clone)]
pub struct Figure {
    /// Points and triangles.
    pub soup: Soup,
    /// Weights, p x b.
    pub weights: Vec<f64>,
    /// Heads and parents; names are empty and roles automatic.
    pub bones: Vec<Bone>,
}

impl Figure {
    /// A figure 1.8 m tall, arms out along x, facing -y; 16 bones.
    pub fn new() -> Self {
        let bones = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        Self::of(body(), &bones.collect::<Vec<_>>())
    }

    /// The figure with a tail and long ears; 24 bones.
    pub fn beast() -> Self {
        let mut soup = body().and(cube(8).placed([0.05, 0.42, 0.05], [0.0, 0.52, 0.98]));
        for side in [1.0, -1.0] {
            soup = soup.and(cube(8).placed([0.04, 0.02, 0.16], [0.1 * side, 0.0, 1.9]));
        }
        let bones = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        Self::of(soup, &bones.chain(TAIL_AND_EARS).collect::<Vec<_>>())
    }

    /// The figure with breasts of some radius, with a bone in each or without; 18 or 16 bones.
    pub fn bosom(radius: f64, bones: bool) -> Self {
        let mut soup = body();
        for side in [1.0, -1.0] {
            soup = soup.and(sphere(3).placed([radius, 0.12, radius], [0.09 * side, -0.24, 1.3]));
        }
        let own = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        let count = if bones { BOSOM.len() } else { 0 };
        Self::of(soup, &own.chain(BOSOM.into_iter().take(count)).collect::<Vec<_>>())
    }

    /// The figure with a paunch.
    pub fn fat() -> Self {
        let soup = body().and(sphere(3).placed([0.27, 0.32, 0.22], [0.0, -0.1, 1.1]));
        let bones = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        Self::of(soup, &bones.collect::<Vec<_>>())
    }

    /// The figure with a heavy staff in its left hand.
    pub fn armed() -> Self {
        let mut figure = Self::new();
        let staff = cube(8).placed([0.03, 0.03, 0.8], [0.87, 0.0, 1.1]);
        for _ in &staff.points {
            figure.weights.extend((0..BONES.len()).map(|own| f64::from(own == bone("left hand"))));
        }
        figure.soup = figure.soup.and(staff);
        figure
    }

    /// The figure with a heavy lamp on a bone of its own in its left hand; 17 bones.
    pub fn lamp() -> Self {
        let hand = bone("left hand") as u32;
        let own = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        let carried = ([0.9, 0.0, 1.36], Some(hand), [0.9, 0.0, 0.9]);
        let mut figure = Self::of(body(), &own.chain([carried]).collect::<Vec<_>>());
        let lamp = sphere(3).placed([0.2, 0.2, 0.2], [0.9, 0.0, 1.1]);
        for _ in &lamp.points {
            figure.weights.extend((0..=BONES.len()).map(|own| f64::from(own == BONES.len())));
        }
        figure.soup = figure.soup.and(lamp);
        figure
    }

    /// The figure below a control without flesh at the floor, which its feet follow too, as for inverse
    /// kinematics; 17 bones.
    pub fn controlled() -> Self {
        let mut figure = Self::new();
        let control = figure.bones.len();
        let rows = figure.weights.chunks(control);
        figure.weights = rows.flat_map(|row| row.iter().copied().chain([0.0])).collect();
        let first = figure.bones[0].clone();
        figure.bones.push(Bone { head: [0.0; 3], ..first });
        for name in ["hips", "left foot", "right foot"] {
            figure.bones[bone(name)].parent = Some(control as u32);
        }
        figure
    }

    /// A hound, head towards -y, 1 m tall; 19 bones.
    pub fn hound() -> Self {
        Self::of(hound().and(cube(8).placed([0.045, 0.3, 0.045], [0.0, 0.9, 0.9])), &HOUND)
    }

    /// The hound with a tail of this half thickness and length, on a single bone that moves nothing else; 17
    /// bones.
    pub fn docked(thick: f64, length: f64) -> Self {
        // The tail begins 4 cm inside the trunk.
        let half = 0.02 + length / 2.0;
        let soup = hound().and(cube(8).placed([thick, half, thick], [0.0, 0.58 + half, 0.9]));
        let mut figure = Self::of(soup, &HOUND[..16]);
        let row = |(row, point): (&[f64], &[f64; 3])| -> Vec<f64> {
            let tail = f64::from(u8::from(point[1] > 0.62 + 1e-9));
            row.iter().map(|weight| (1.0 - tail) * weight).chain([tail]).collect()
        };
        figure.weights = figure.weights.chunks(16).zip(&figure.soup.points).flat_map(row).collect();
        figure.bones.push(Bone { head: [0.0, 0.62, 0.9], parent: Some(0), ..figure.bones[0].clone() });
        figure
    }

    /// The hound with a longer neck, on a bone of its own above that of the breast, and without a tail; 17
    /// bones.
    pub fn long_necked() -> Self {
        let ahead = |[x, y, z]: [f64; 3]| [x, if y < -0.7 { y - 0.5 } else { y }, z];
        let mut bones = HOUND[..16].to_vec();
        bones[2] = ([0.0, -0.5, 0.85], Some(1), [0.0, -0.8, 0.92]);
        bones[3] = ([0.0, -0.8, 0.92], Some(2), ahead([0.0, -0.78, 1.02]));
        bones.push((ahead([0.0, -0.78, 1.02]), Some(3), ahead([0.0, -1.05, 1.05])));
        let mut figure = Self::of(hound().mapped(ahead), &bones);
        figure.bones[16].name = "head".to_owned();
        figure
    }

    /// A fish, head towards -y, 1.3 m long with its tail fin: a chain of five bones. fins: `true` for fins,
    /// else a round tail that tapers.
    pub fn fish(fins: bool) -> Self {
        let block = |half: [f64; 3], at: [f64; 3]| cube(8).placed(half, at);
        let mut soup = sphere(3).placed([0.16, 0.5, 0.22], [0.0, 0.0, 0.6]);
        if fins {
            soup = soup
                .and(block([0.01, 0.16, 0.24], [0.0, 0.62, 0.6]))
                .and(block([0.01, 0.15, 0.14], [0.0, 0.1, 0.92]))
                .and(block([0.12, 0.1, 0.01], [0.26, -0.1, 0.5]))
                .and(block([0.12, 0.1, 0.01], [-0.26, -0.1, 0.5]));
        } else {
            let cone = |[x, y, z]: [f64; 3]| [x * (1.2 - y) / 2.0, y, z * (1.2 - y) / 2.0];
            soup = soup.and(cube(8).mapped(cone).placed([0.06, 0.24, 0.06], [0.0, 0.64, 0.6]));
        }
        let bone = |number: u32| {
            let at = |end: u32| [0.0, 0.24 * f64::from(end) - 0.5, 0.6];
            (at(number), number.checked_sub(1), at(number + 1))
        };
        Self::of(soup, &(0..5).map(bone).collect::<Vec<_>>())
    }

    /// The fish with a bone in each fin of the breast, which alone moves what is beyond the flank, one layer
    /// of the lattice; 7 bones.
    pub fn finned() -> Self {
        let mut figure = Self::fish(true);
        figure.soup =
            figure.soup.mapped(|[x, y, z]| if x.abs() > FLANK { [x, y, z - 0.01] } else { [x, y, z] });
        let row = |(row, point): (&[f64], &[f64; 3])| -> Vec<f64> {
            let fin = [1.0, -1.0].map(|side| f64::from(u8::from(side * point[0] > 0.2)));
            row.iter().map(|weight| (1.0 - fin[0] - fin[1]) * weight).chain(fin).collect()
        };
        figure.weights = figure.weights.chunks(5).zip(&figure.soup.points).flat_map(row).collect();
        for side in [1.0, -1.0] {
            let head = [0.2 * side, -0.1, 0.49];
            figure.bones.push(Bone { head, parent: Some(1), ..figure.bones[1].clone() });
        }
        figure
    }

    /// A spider, head towards -y: trunk, head and abdomen, and eight legs of three bones each; 27 bones.
    pub fn spider() -> Self {
        let mut soup = sphere(3)
            .placed([0.18, 0.2, 0.12], [0.0, 0.0, 0.5])
            .and(sphere(3).placed([0.1, 0.1, 0.08], [0.0, -0.26, 0.5]))
            .and(sphere(3).placed([0.26, 0.32, 0.24], [0.0, 0.46, 0.56]));
        let mut bones = vec![
            ([0.0, 0.1, 0.5], None, [0.0, -0.16, 0.5]),
            ([0.0, -0.18, 0.5], Some(0), [0.0, -0.34, 0.5]),
            ([0.0, 0.18, 0.5], Some(0), [0.0, 0.7, 0.58]),
        ];
        for (side, row) in (0..4).flat_map(|row| [(1.0, row), (-1.0, row)]) {
            let y = 0.1 * f64::from(row) - 0.15;
            let joints = [[0.14, y, 0.5], [0.42, 2.0 * y, 0.7], [0.7, 3.0 * y, 0.4], [0.85, 3.5 * y, 0.0]]
                .map(|[x, y, z]: [f64; 3]| [side * x, y, z]);
            for link in 0..3 {
                let parent = if link == 0 { 0 } else { bones.len() as u32 - 1 };
                let [start, end] = [joints[link], joints[link + 1]];
                bones.push((start, Some(parent), end));
                let along =
                    |at: f64| std::array::from_fn(|axis| start[axis] + at * (end[axis] - start[axis]));
                let balls = (0..=6).map(|step| sphere(1).placed([0.025; 3], along(f64::from(step) / 6.0)));
                soup = balls.fold(soup, Soup::and);
            }
        }
        let mut figure = Self::of(soup, &bones);
        figure.bones[1].name = "head".to_owned();
        figure
    }

    /// The figure with bones for the trunk, the head and the legs alone; 10 bones.
    pub fn armless() -> Self {
        let own = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        let mut bones: Vec<_> = own.collect();
        let arms = [bone("left arm"), bone("right arm")];
        bones.drain(arms[1]..arms[1] + 3);
        bones.drain(arms[0]..arms[0] + 3);
        for (_, parent, _) in &mut bones {
            // The right leg moved forward by the three bones of the left arm.
            *parent = parent.map(|above| if above >= 10 { above - 3 } else { above });
        }
        Self::of(body(), &bones)
    }

    /// The figure with bones for the trunk and the head, and one in each leg; 6 bones.
    pub fn kneeless() -> Self {
        let own = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        let mut bones: Vec<_> = own.take(4).collect();
        bones.extend([1.0, -1.0].map(|side| ([0.12 * side, 0.0, 0.9], Some(0), [0.12 * side, 0.0, 0.04])));
        Self::of(body(), &bones)
    }

    /// The figure with two strands of hair of given radii; 22 bones.
    pub fn hair(radii: [f64; 2]) -> Self {
        let mut soup = body();
        for (radius, (start, ..)) in radii.into_iter().zip(STRANDS.into_iter().step_by(3)) {
            soup = soup.and(cube(8).placed([radius, 0.23, radius], [start[0], 0.3, start[2]]));
        }
        let own = BONES.iter().zip(TAILS).map(|(&(head, parent, _), tail)| (head, parent, tail));
        Self::of(soup, &own.chain(STRANDS).collect::<Vec<_>>())
    }

    /// A figure from bones, each with its head, parent and tail.
    fn of(soup: Soup, bones: &[([f64; 3], Option<u32>, [f64; 3])]) -> Self {
        let weights = soup.points.iter().flat_map(|&point| weights_at(point, bones)).collect();
        let bone = |&(head, parent, _): &([f64; 3], Option<u32>, [f64; 3])| Bone {
            head,
            parent,
            name: String::new(),
            role: BoneRole::Automatic,
            still: false,
        };
        Self { soup, weights, bones: bones.iter().map(bone).collect() }
    }

    /// The surface.
    pub fn surface(&self) -> SurfaceMesh {
        self.soup.surface()
    }

    /// The same figure with each point moved by a function.
    pub fn mapped(mut self, place: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        self.soup = self.soup.mapped(&place);
        self.bones.iter_mut().for_each(|bone| bone.head = place(bone.head));
        self
    }

    /// Skeleton core of the figure's bones, with anatomy.
    pub fn anatomy(&self) -> SkeletonCore {
        SkeletonCore { anatomy: true, ..self.core(0.5) }
    }

    /// Skeleton core of the figure's bones.
    pub fn core(&self, amount: f64) -> SkeletonCore {
        SkeletonCore { bones: self.bones.clone(), amount, ..SkeletonCore::default() }
    }
}

impl Default for Figure {
    fn default() -> Self {
        Self::new()
    }
}

/// Torso, belly, neck, head, legs and arms.
fn body() -> Soup {
    let block = |half: [f64; 3], at: [f64; 3]| cube(8).placed(half, at);
    let mut soup = block([0.2, 0.14, 0.26], [0.0, 0.0, 1.16])
        .and(sphere(3).placed([0.2, 0.2, 0.16], [0.0, -0.06, 1.08]))
        .and(block([0.06, 0.06, 0.1], [0.0, 0.0, 1.5]))
        .and(sphere(3).placed([0.11, 0.12, 0.14], [0.0, 0.0, 1.67]));
    for side in [1.0, -1.0] {
        soup = soup
            .and(block([0.1, 0.1, 0.26], [0.12 * side, 0.0, 0.72]))
            .and(block([0.05, 0.05, 0.24], [0.12 * side, 0.0, 0.28]))
            .and(block([0.045, 0.12, 0.04], [0.12 * side, -0.06, 0.04]))
            .and(block([0.17, 0.05, 0.05], [0.34 * side, 0.0, 1.38]))
            .and(block([0.15, 0.04, 0.04], [0.62 * side, 0.0, 1.38]))
            .and(block([0.09, 0.05, 0.02], [0.84 * side, 0.0, 1.38]));
    }
    soup
}

/// Trunk, neck, head and legs of a hound.
fn hound() -> Soup {
    let block = |half: [f64; 3], at: [f64; 3]| cube(8).placed(half, at);
    let mut soup = block([0.17, 0.62, 0.2], [0.0, 0.0, 0.8])
        .and(block([0.08, 0.14, 0.1], [0.0, -0.68, 0.95]))
        .and(block([0.1, 0.18, 0.1], [0.0, -0.92, 1.04]));
    for (side, end) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
        soup = soup
            .and(block([0.08, 0.1, 0.2], [0.12 * side, 0.5 * end, 0.55]))
            .and(block([0.05, 0.06, 0.16], [0.12 * side, 0.5 * end, 0.24]))
            .and(block([0.05, 0.09, 0.04], [0.12 * side, 0.5 * end - 0.04, 0.05]));
    }
    soup
}

/// Weights proportional to the inverse sixth power of the distance to each bone.
fn weights_at(point: [f64; 3], bones: &[([f64; 3], Option<u32>, [f64; 3])]) -> Vec<f64> {
    let near = |&(head, _, tail): &([f64; 3], Option<u32>, [f64; 3])| {
        let (point, start) = (Vector3::from(point), Vector3::from(head));
        let along = Vector3::from(tail) - start;
        let at = ((point - start).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        (1e-4 + (point - start - along * at).norm_squared()).powi(-3)
    };
    let near: Vec<f64> = bones.iter().map(near).collect();
    let sum: f64 = near.iter().sum();
    near.iter().map(|x| x / sum).collect()
}
