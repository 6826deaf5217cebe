//! Hard pieces of a surface: plates, buckles and rods keep their shape while the flesh below moves; the body
//! itself is flesh.

use jounce::Progress;
use jounce::body::{Body, BodyParams};
use jounce::inputs::SimulationParams;
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::skeleton::{Bone, BoneRole, SkeletonCore};
use jounce_tests::bodies::{REST, Transform, turn};
use jounce_tests::figure::Figure;
use jounce_tests::surfaces::{Soup, cube, sphere};
use nalgebra::{Rotation3, Vector3};

/// Heads of the bones: two along the trunk, and one beside it.
const HEADS: [[f64; 3]; 3] = [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [0.8, 0.0, 0.0]];

/// A body in pieces, with the points of each piece added to it.
#[derive(Clone)]
struct Made {
    soup: Soup,
    weights: Vec<[f64; 3]>,
    pieces: Vec<std::ops::Range<usize>>,
}

impl Made {
    /// A trunk of 2 m whose weights pass from the lower to the upper bone.
    fn trunk() -> Self {
        Self { soup: Soup::default(), weights: Vec::new(), pieces: Vec::new() }
            .and(sphere(4).placed([0.5, 0.5, 1.0], [0.0; 3]), skin)
    }

    fn and(mut self, piece: Soup, weights: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        let start = self.weights.len();
        self.weights.extend(piece.points.iter().map(|&point| weights(point)));
        self.soup = self.soup.and(piece);
        self.pieces.push(start..self.weights.len());
        self
    }

    fn body(&self, heads: [[f64; 3]; 3]) -> Body {
        let bone = |(bone, head): (usize, [f64; 3])| Bone {
            head,
            parent: (bone > 0).then_some(0),
            name: String::new(),
            role: BoneRole::Automatic,
            still: false,
        };
        let bones = heads.into_iter().enumerate().map(bone).collect();
        let core = Some(SkeletonCore {
            bones,
            amount: 0.5,
            rigid: None,
            resolution: None,
            anatomy: false,
            parts: Vec::new(),
        });
        let params = BodyParams {
            resolution: 24,
            modes: 12,
            clusters: 40,
            cubature: 0,
            core,
            ..BodyParams::default()
        };
        Body::new(&self.soup.surface(), self.weights.as_flattened(), 3, &params, &Progress::default())
            .unwrap()
    }

    /// Share of points of each piece without a free corner.
    fn held(&self, body: &Body) -> Vec<f64> {
        let tets = body.embedding.tets();
        let is_held = |&&tet: &&u32| body.mesh.tets()[tet as usize].iter().all(|&v| body.pinned[v as usize]);
        let share = |piece: &std::ops::Range<usize>| {
            tets[piece.clone()].iter().filter(is_held).count() as f64 / piece.len() as f64
        };
        self.pieces.iter().map(share).collect()
    }

    fn hard(&self, joints: usize) -> Vec<bool> {
        let rig = Rig::new(self.weights.len(), 3, self.weights.as_flattened()).unwrap();
        let hard = jounce::skeleton::hard_points(&self.soup.surface(), &rig, joints, None);
        self.pieces.iter().map(|piece| hard[piece.clone()].iter().all(|&hard| hard)).collect()
    }
}

/// Weights of the trunk's skin at a place.
fn skin([_, _, z]: [f64; 3]) -> [f64; 3] {
    let upper = (0.5 + 0.8 * z).clamp(0.0, 1.0);
    [1.0 - upper, upper, 0.0]
}

/// A plate of thick edges on the front of the trunk.
fn plate() -> Soup {
    cube(2).placed([0.3, 0.04, 0.3], [0.0, -0.5, 0.1])
}

/// Largest strain of the edges of a piece, and largest motion of the first one, relative to its size, while
/// the upper bone swings.
fn swung(made: &Made, piece: usize) -> (f64, f64) {
    let body = made.body(HEADS);
    let projector = body.model.projector(Some(&body.embedding)).unwrap();
    let mut moves = vec![0.0; 3 * made.weights.len()];
    let mut simulation = Simulation::new(body.model.clone(), SimulationParams::default()).unwrap();
    let mut pose: [Transform; 3] = [REST; 3];
    simulation.reset(Some(&pose)).unwrap();
    let (mut strain, mut motion): (f64, f64) = (0.0, 0.0);
    for frame in 0..24 {
        pose[1] = turn([1.0, 0.0, 0.0], 0.5 * (0.6 * f64::from(frame)).sin(), [0.0; 3], [0.0; 3]);
        simulation.step(Some(&pose)).unwrap();
        projector.displacement(simulation.coefficients(), &mut moves).unwrap();
        let posed = |v: usize| -> Vector3<f64> {
            let [x, y, z] = made.soup.points[v];
            let by = |(transform, weight): (&Transform, f64)| {
                Vector3::from(transform.map(|[a, b, c, d]| weight * (a * x + b * y + c * z + d)))
            };
            pose.iter().zip(made.weights[v]).map(by).sum()
        };
        let shown = |v: usize| posed(v) + Vector3::from_fn(|axis, _| f64::from(moves[3 * v + axis]));
        for edge in made.soup.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]) {
            let [a, b] = edge.map(|v| v as usize);
            if made.pieces[piece].contains(&a) {
                let long = (posed(a) - posed(b)).norm();
                strain = strain.max(((shown(a) - shown(b)).norm() / long - 1.0).abs());
            }
        }
        motion = made.pieces[0].clone().map(|v| (shown(v) - posed(v)).norm()).fold(motion, f64::max);
    }
    (strain, motion / 2.0)
}

#[test]
fn a_plate_with_creases_keeps_its_shape_while_the_body_moves() {
    let (strain, motion) = swung(&Made::trunk().and(plate(), skin), 1);
    assert!(strain < 1e-3, "{strain}");
    assert!(motion > 0.02, "{motion}");
}

#[test]
fn a_large_buckle_of_equal_weights_keeps_its_shape() {
    let buckle = sphere(2).placed([0.12, 0.08, 0.12], [0.0, -0.5, 0.0]);
    let (strain, motion) = swung(&Made::trunk().and(buckle, |_| [0.4, 0.6, 0.0]), 1);
    assert!(strain < 1e-3, "{strain}");
    assert!(motion > 0.02, "{motion}");
}

#[test]
fn a_rod_on_a_joint_is_hard_beside_a_body_and_a_twin_is_flesh() {
    let beside = |radius: f64| {
        let rod = sphere(3).placed([radius, radius, 1.0], [1.2, 0.0, 0.0]);
        Made::trunk().and(rod, |_| [0.0, 0.0, 1.0])
    };
    for radius in [0.1, 0.25] {
        assert_eq!(beside(radius).held(&beside(radius).body(HEADS))[1], 1.0, "{radius}");
    }
    assert_eq!(beside(0.5).hard(3), [false; 2]);
}

#[test]
fn clothes_buttons_buckles_and_limbs_are_flesh() {
    // A smooth coat, a button and a buckle on the trunk; a limb with creases that is all the skin of its
    // bone.
    let coat = sphere(4).placed([0.6, 0.6, 0.6], [0.0; 3]);
    let button = sphere(1).placed([0.02; 3], [0.0, -0.5, 0.0]);
    let buckle = cube(1).placed([0.06, 0.03, 0.06], [0.0, -0.5, -0.3]);
    let limb = cube(2).placed([0.4, 0.1, 0.1], [0.9, 0.0, 0.0]);
    let bent = |[x, ..]: [f64; 3]| [0.0, (1.3 - x) / 0.8, (x - 0.5) / 0.8];
    let made = Made::trunk().and(coat, skin).and(button, |_| [0.5, 0.5, 0.0]);
    let made = made.and(buckle, |_| [0.4, 0.6, 0.0]).and(limb, bent);
    assert_eq!(made.hard(3), [false; 5]);
}

#[test]
fn creases_tell_nothing_in_a_character_of_few_triangles() {
    let blocky = Made { soup: Soup::default(), weights: Vec::new(), pieces: Vec::new() }
        .and(cube(2).placed([0.5, 0.5, 1.0], [0.0; 3]), skin);
    let made = blocky.and(cube(2).placed([0.3, 0.2, 0.3], [0.0, -0.5, 0.1]), skin);
    assert_eq!(made.hard(3), [false; 2]);
    assert_eq!(Made::trunk().and(plate(), skin).hard(3), [false, true]);
}

/// The figure with each of its pieces on the bone that weighs most there.
fn mannequin() -> Figure {
    let mut figure = Figure::new();
    let (bones, mut start) = (figure.bones.len(), 0);
    let [cube, ball] = [cube(8), sphere(3)].map(|piece| piece.points.len());
    for count in [cube, ball, cube, ball].into_iter().chain([cube; 12]) {
        let own = &mut figure.weights[start * bones..(start + count) * bones];
        let sum = |bone: usize| own.iter().skip(bone).step_by(bones).sum::<f64>();
        let most = (0..bones).max_by(|&a, &b| sum(a).total_cmp(&sum(b))).unwrap();
        own.iter_mut().enumerate().for_each(|(at, weight)| *weight = f64::from(u8::from(at % bones == most)));
        start += count;
    }
    assert_eq!(start, figure.soup.points.len());
    figure
}

#[test]
fn a_smooth_visor_of_glass_is_hard() {
    let visor = sphere(3).placed([0.3, 0.1, 0.3], [0.0, -0.5, 0.1]);
    let made = Made::trunk().and(visor, skin);
    let glass: Vec<bool> = (0..made.weights.len()).map(|point| made.pieces[1].contains(&point)).collect();
    let rig = Rig::new(made.weights.len(), 3, made.weights.as_flattened()).unwrap();
    let hard = |hinted| jounce::skeleton::hard_points(&made.soup.surface(), &rig, 3, hinted).contains(&true);
    assert!(!hard(None) && hard(Some(&glass)));
    let words = ["Visor_Glass", "M_steel.001", "Skin", "GoldHair", "Material"];
    assert_eq!(words.map(jounce::skeleton::is_hard_material), [true, true, false, false, false]);
}

#[test]
fn an_eye_in_a_socket_of_nearly_equal_weights_is_hard() {
    let hard = |range: f64, has_material: bool| {
        let eye = sphere(3).placed([0.2; 3], [0.0, -0.5, 0.5]);
        let leaning = |[_, _, z]: [f64; 3]| {
            let upper = 0.7 + range * (z - 0.5) / 0.4;
            [1.0 - upper, upper, 0.0]
        };
        let made = Made::trunk().and(eye, leaning);
        let before = |(point, place): (usize, &[f64; 3])| made.pieces[1].contains(&point) && place[1] < -0.6;
        let ball: Vec<bool> = made.soup.points.iter().enumerate().map(before).collect();
        let rig = Rig::new(made.weights.len(), 3, made.weights.as_flattened()).unwrap();
        let hinted = has_material.then_some(ball.as_slice());
        jounce::skeleton::hard_points(&made.soup.surface(), &rig, 3, hinted)[made.pieces[1].start]
    };
    assert_eq!([hard(0.09, true), hard(0.04, false)], [true; 2]);
    assert_eq!([hard(0.09, false), hard(0.15, true)], [false; 2]);
    assert!(["Eyes", "M_Eye_L", "teeth.002"].into_iter().all(jounce::skeleton::is_hard_material));
    assert!(!jounce::skeleton::is_hard_material("Eyebrows"));
}

#[test]
fn what_makes_up_the_character_is_flesh() {
    let figure = mannequin();
    let bones = figure.bones.len();
    let rig = Rig::new(figure.soup.points.len(), bones, &figure.weights).unwrap();
    assert!(!jounce::skeleton::hard_points(&figure.surface(), &rig, bones, None).contains(&true));
}

/// Three pieces on a bone each, side by side.
fn shells(piece: impl Fn() -> Soup) -> Made {
    let none = Made { soup: Soup::default(), weights: Vec::new(), pieces: Vec::new() };
    (0..3).fold(none, |made, bone| {
        let weights: [f64; 3] = std::array::from_fn(|other| f64::from(u8::from(other == bone)));
        made.and(piece().placed([0.5; 3], [0.0, 0.0, 1.5 * bone as f64]), move |_| weights)
    })
}

#[test]
fn plates_that_make_up_a_character_are_a_machine_and_round_shells_a_mannequin() {
    assert_eq!(shells(|| cube(2)).hard(3), [true; 3]);
    assert_eq!(shells(|| sphere(3)).hard(3), [false; 3]);
    // A role that asks for flesh counts as one joint.
    assert_eq!(shells(|| cube(2)).hard(1), [false; 3]);
}

#[test]
fn round_shells_of_metal_are_a_machine() {
    let made = shells(|| sphere(3));
    let rig = Rig::new(made.weights.len(), 3, made.weights.as_flattened()).unwrap();
    let all = vec![true; made.weights.len()];
    let hard = |hinted| jounce::skeleton::hard_points(&made.soup.surface(), &rig, 3, hinted).contains(&true);
    assert!(!hard(None) && hard(Some(&all)));
}

#[test]
fn the_bent_parts_of_a_machine_are_hard_and_those_of_a_body_in_plates_flesh() {
    let bent = |[_, _, z]: [f64; 3]| [0.5 - z, 0.5 + z, 0.0].map(|weight| weight.clamp(0.0, 1.0));
    let beside =
        |size: f64| shells(|| cube(2)).and(sphere(3).placed([size; 3], [1.5, 0.0, 0.0]), bent).hard(3);
    assert_eq!(beside(0.4), [true; 4]);
    assert_eq!(beside(0.8), [true, true, true, false]);
}

#[test]
fn a_prop_is_hard_on_one_of_several_joints_and_flesh_on_the_only_one() {
    let alone = |weights: [f64; 3]| {
        Made { soup: Soup::default(), weights: Vec::new(), pieces: Vec::new() }
            .and(sphere(3).placed([0.1, 0.1, 1.0], [0.0; 3]), move |_| weights)
    };
    for weights in [[0.0, 0.0, 1.0], [0.02, 0.98, 0.0], [0.5, 0.5, 0.0]] {
        assert_eq!((alone(weights).hard(3), alone(weights).hard(1)), (vec![true], vec![false]));
    }
}

#[test]
fn size_place_and_turn_change_no_hard_piece() {
    let rod = sphere(3).placed([0.2, 0.2, 1.0], [1.2, 0.0, 0.0]);
    let made = Made::trunk().and(plate(), skin).and(rod, |_| [0.0, 0.0, 1.0]);
    let rotation = Rotation3::from_euler_angles(0.4, -1.1, 2.3);
    let moved =
        |place: [f64; 3]| (100.0 * (rotation * Vector3::from(place)) + Vector3::new(5e3, -2e3, 7e3)).into();
    let mut other = made.clone();
    other.soup = other.soup.mapped(moved);
    assert_eq!(made.hard(3), [false, true, true]);
    assert_eq!(other.hard(3), made.hard(3));
    assert_eq!(other.held(&other.body(HEADS.map(moved)))[1..], [1.0, 1.0]);
}
