//! Anatomy: bone and flesh by region and direction, on figures without names; the parts, and their settings.

use std::collections::HashMap;
use std::sync::Arc;

use jounce::body::{Body, BodyParams};
use jounce::file::encode;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::model::Model;
use jounce::operators::Stitches;
use jounce::simulation::Simulation;
use jounce::skeleton::{BoneRole, FoundPart, Part, PartSetting, SkeletonCore};
use jounce::subspace::{LinearProblem, Restraint};
use jounce::{Error, Progress};
use jounce_tests::bodies::REST;
use jounce_tests::figure::Figure;

type Place = [f64; 3];

fn params(core: SkeletonCore) -> BodyParams {
    BodyParams {
        resolution: 44,
        modes: 6,
        clusters: 12,
        cubature: 0,
        core: Some(core),
        ..BodyParams::default()
    }
}

fn build(figure: &Figure, core: SkeletonCore) -> jounce::Result<Body> {
    build_like(None, figure, core)
}

fn build_like(like: Option<&Body>, figure: &Figure, core: SkeletonCore) -> jounce::Result<Body> {
    let (surface, bones) = (figure.surface(), figure.bones.len());
    Body::new_like(like, &surface, &figure.weights, bones, &params(core), &Progress::default())
}

fn found(figure: &Figure) -> Body {
    build(figure, figure.anatomy()).unwrap()
}

/// Vertices of a mesh at some places.
fn within(body: &Body, is_there: impl Fn(Place) -> bool) -> Vec<usize> {
    let vertices = body.mesh.vertices();
    let found: Vec<usize> = (0..vertices.len()).filter(|&vertex| is_there(vertices[vertex])).collect();
    assert!(found.len() > 5);
    found
}

/// Mean share of bone there.
fn bone(body: &Body, is_there: impl Fn(Place) -> bool) -> f64 {
    mean(body.core_share(), &within(body, is_there))
}

fn mean(values: &[f64], of: &[usize]) -> f64 {
    of.iter().map(|&vertex| values[vertex]).sum::<f64>() / of.len() as f64
}

fn weights(body: &Body, part: Part) -> &[f64] {
    &body.parts().iter().find(|found| found.part == part).expect("this part").weights
}

fn has(body: &Body, part: Part) -> bool {
    body.parts().iter().any(|found| found.part == part)
}

/// Share of the vertices in either place that is in both: weight of a part, and a place painted by hand.
fn overlap(body: &Body, part: Part, is_there: impl Fn(Place) -> bool) -> f64 {
    let (mut both, mut either) = (0, 0);
    for (vertex, &weight) in weights(body, part).iter().enumerate().filter(|&(v, _)| !body.pinned[v]) {
        let (is_found, is_there) = (weight > 0.5, is_there(body.mesh.vertices()[vertex]));
        (both, either) = (both + i32::from(is_found && is_there), either + i32::from(is_found || is_there));
    }
    f64::from(both) / f64::from(either)
}

#[test]
fn an_upright_body_is_hard_at_ribs_and_skull_and_soft_in_front_of_the_loins_and_behind_the_hips() {
    // Far from all bones, where a paunch is, the figure's thighs weigh a third, and its hips lie in fat all
    // around.
    for (figure, seat, paunch) in [(Figure::new(), 0.6, 0.55), (Figure::fat(), 0.8, 0.7)] {
        let body = found(&figure);
        let is_behind = |y: f64| y > 0.08;
        let ribs = bone(&body, |[x, y, z]| x.abs() < 0.15 && z > 1.28 && z < 1.42 && is_behind(y));
        let belly = bone(&body, |[x, y, z]| x.abs() < 0.08 && z > 1.07 && z < 1.13 && y < -0.16);
        let loins = bone(&body, |[x, y, z]| x.abs() < 0.1 && z > 1.05 && z < 1.1 && is_behind(y));
        let buttocks =
            bone(&body, |[x, y, z]| x.abs() > 0.04 && x.abs() < 0.16 && z > 0.84 && z < 0.9 && is_behind(y));
        let thigh = bone(&body, |[x, y, z]| x.abs() < 0.22 && z > 0.65 && z < 0.75 && y.abs() < 0.1);
        assert!(ribs > 0.95 && belly < paunch, "{ribs} {belly}");
        assert!(loins > 0.7 && buttocks < seat && thigh < 0.6, "{loins} {buttocks} {thigh}");
        let is_hard = |[x, _, z]: Place| z > 1.65 || x.abs() > 0.8 || z < 0.05;
        assert!(within(&body, is_hard).iter().all(|&vertex| body.pinned[vertex]));
        assert!(
            !body.pinned[within(&body, |[x, y, z]| x.abs() < 0.05 && y < -0.18 && z > 1.05 && z < 1.1)[0]]
        );
    }
}

#[test]
fn a_hound_is_soft_below_and_hard_along_its_back() {
    let body = found(&Figure::hound());
    let at = |low: f64, high: f64, below: bool| {
        bone(&body, move |[x, y, z]| {
            x.abs() < 0.12
                && y > low
                && y < high
                && if below { z < 0.68 && z > 0.55 } else { z > 0.94 && z < 1.05 }
        })
    };
    // The costal arch rises from the elbows below to the loins above.
    let (belly, back) = (at(-0.1, 0.3, true), at(0.05, 0.3, false));
    let ribs = bone(&body, |[x, y, z]| x.abs() < 0.12 && y > -0.3 && y < -0.15 && z > 0.75 && z < 0.9);
    assert!(belly < 0.55 && back > 0.8 && ribs > 0.85, "{belly} {back} {ribs}");
    let tail = within(&body, |[_, y, _]| y > 0.98);
    assert!(tail.iter().all(|&vertex| !body.pinned[vertex]));
    assert!(mean(weights(&body, Part::Tail), &tail) > 0.9);
}

#[test]
fn parts_are_where_a_hand_would_paint_them() {
    let body = found(&Figure::new());
    let belly = overlap(&body, Part::Belly, |[x, y, z]| x.abs() < 0.24 && z > 0.92 && z < 1.22 && y < 0.07);
    let thighs = overlap(&body, Part::Thighs, |[_, y, z]| z > 0.52 && z < 0.9 && (y < 0.04 || z < 0.78));
    assert!(belly > 0.6 && thighs > 0.6, "{belly} {thighs}");
    let tail = overlap(&found(&Figure::hound()), Part::Tail, |[_, y, _]| y > 0.63);
    assert!(tail > 0.6, "{tail}");
}

#[test]
fn ribs_are_the_chests_whatever_the_arms_do() {
    let body = found(&Figure::new());
    let ribs = within(&body, |[x, y, z]| x.abs() < 0.12 && y > 0.05 && z > 1.25 && z < 1.33);
    let [chest, arms] = [Part::Chest, Part::Arms].map(|part| mean(weights(&body, part), &ribs));
    assert!(chest > 0.8 && arms < 0.2, "{chest} {arms}");
}

#[test]
fn the_skin_of_hands_feet_and_head_follows_its_bones() {
    let figure = Figure::new();
    let (body, bones) = (found(&figure), figure.bones.len());
    let mut held = 0;
    for (weights, &tet) in figure.weights.chunks(bones).zip(body.embedding.tets()) {
        let rigid = (0..bones).filter(|&bone| body.roles[bone] == BoneRole::Rigid);
        if rigid.map(|bone| weights[bone]).sum::<f64>() > 0.5 {
            held += 1;
            assert!(body.mesh.tets()[tet as usize].iter().all(|&corner| body.pinned[corner as usize]));
        }
    }
    assert!(held > 100 && held < figure.soup.points.len());
}

#[test]
fn a_staff_or_a_lamp_in_one_hand_hides_no_arm() {
    for body in [Figure::armed(), Figure::lamp()].map(|figure| found(&figure)) {
        let shoulders = |side: f64| within(&body, |[x, _, z]| side * x > 0.28 && side * x < 0.42 && z > 1.3);
        for side in [1.0, -1.0] {
            let arms = mean(weights(&body, Part::Arms), &shoulders(side));
            assert!(arms > 0.5, "{arms} of the arm at {side}");
        }
    }
}

#[test]
fn slim_limbs_keep_their_bone_on_coarse_lattices() {
    for resolution in [20, 24, 30, 44] {
        let figure = Figure::new();
        let core = Some(figure.anatomy());
        let settings = BodyParams { resolution, core, ..params(SkeletonCore::default()) };
        let (surface, bones) = (figure.surface(), figure.bones.len());
        let body = Body::new(&surface, &figure.weights, bones, &settings, &Progress::default()).unwrap();
        let cell = 1.86 / resolution as f64;
        let vertices = body.mesh.vertices().iter().zip(&body.pinned);
        let bone: Vec<Place> = vertices.filter(|held| *held.1).map(|held| *held.0).collect();
        // From shoulder to elbow, and from hip to knee.
        for [start, end] in [[[0.24, 0.0, 1.38], [0.5, 0.0, 1.38]], [[0.12, 0.0, 0.88], [0.12, 0.0, 0.5]]] {
            for step in 0..=20 {
                let share = f64::from(step) / 20.0;
                let at: Place = std::array::from_fn(|axis| start[axis] + share * (end[axis] - start[axis]));
                let near = |place: &Place| (0..3).map(|axis| (place[axis] - at[axis]).powi(2)).sum::<f64>();
                let gap = bone.iter().map(near).fold(f64::INFINITY, f64::min).sqrt();
                assert!(gap < 1.2 * cell, "{gap} m from bone at {at:?} with cells of {cell} m");
            }
        }
    }
}

#[test]
fn ears_and_tails_are_free_and_the_skull_is_not() {
    let body = found(&Figure::beast());
    let ears = within(&body, |[_, _, z]| z > 1.93);
    assert!(ears.iter().all(|&vertex| !body.pinned[vertex]));
    assert!(mean(weights(&body, Part::Ears), &ears) > 0.9);
    assert!(within(&body, |[_, y, z]| y.abs() < 0.1 && z > 1.62 && z < 1.72).iter().all(|&v| body.pinned[v]));
    assert!(mean(weights(&body, Part::Tail), &within(&body, |[_, y, _]| y > 0.7)) > 0.9);
}

#[test]
fn fins_are_free_and_a_round_tail_is_none() {
    let fish = found(&Figure::fish(true));
    let fins = [
        within(&fish, |[_, _, z]| z > 0.95),
        within(&fish, |[_, y, z]| y > 0.65 && (z - 0.6).abs() > 0.1),
        within(&fish, |[x, _, _]| x > 0.28),
        within(&fish, |[x, _, _]| x < -0.28),
    ];
    for fin in fins {
        assert!(fin.iter().all(|&vertex| !fish.pinned[vertex]));
        assert!(mean(weights(&fish, Part::Fins), &fin) > 0.9);
    }
    let trunk = within(&fish, |[x, y, z]| x.abs() < 0.12 && y.abs() < 0.2 && (z - 0.6).abs() < 0.15);
    assert!(mean(weights(&fish, Part::Fins), &trunk) < 0.05);
    assert!(found(&Figure::fish(false)).parts().iter().all(|found| found.part != Part::Fins));
}

#[test]
fn fins_on_bones_are_no_legs_and_legs_of_one_bone_are() {
    let fish = found(&Figure::finned());
    for side in [1.0, -1.0] {
        let fin = within(&fish, |[x, _, _]| side * x > 0.28);
        assert!(fin.iter().all(|&vertex| !fish.pinned[vertex]));
        assert!(mean(weights(&fish, Part::Fins), &fin) > 0.9);
    }
    assert!(!has(&fish, Part::Thighs) && !has(&fish, Part::Belly));
    let kneeless = found(&Figure::kneeless());
    let thigh = within(&kneeless, |[x, y, z]| x.abs() < 0.2 && y.abs() < 0.1 && z > 0.72 && z < 0.8);
    assert!(mean(weights(&kneeless, Part::Thighs), &thigh) > 0.5);
    assert!(has(&kneeless, Part::Belly) && !has(&kneeless, Part::Fins));
}

#[test]
fn a_slim_tail_of_one_bone_is_a_tail_and_a_stout_one_is_not() {
    let slim = found(&Figure::docked(0.08, 0.16));
    assert!(mean(weights(&slim, Part::Tail), &within(&slim, |[_, y, _]| y > 0.7)) > 0.9);
    assert!(!has(&found(&Figure::docked(0.12, 0.3)), Part::Tail));
}

/// Behind where it may be a neck, the chain that leads to the head is trunk, and goes with the forelegs.
#[test]
fn the_breast_on_the_chain_of_the_neck_is_no_neck() {
    let body = found(&Figure::long_necked());
    let breast = within(&body, |[x, y, z]| x.abs() < 0.15 && y > -0.8 && y < -0.7 && z > 0.8);
    let neck = within(&body, |[x, y, z]| x.abs() < 0.15 && y > -1.25 && y < -1.1 && z > 0.8);
    let [breast, neck] = [breast, neck].map(|at| mean(weights(&body, Part::Arms), &at));
    assert!(breast > 0.5 && neck < 0.5, "{breast} {neck}");
}

#[test]
fn feet_below_a_control_are_the_feet_of_the_legs() {
    let [plain, controlled] = [Figure::new(), Figure::controlled()].map(|figure| found(&figure));
    assert!(controlled.pinned == plain.pinned && controlled.core_share() == plain.core_share());
    assert!(controlled.parts() == plain.parts());
}

#[test]
fn a_spider_stands_on_eight_legs_and_its_abdomen_is_soft() {
    let body = found(&Figure::spider());
    let abdomen = within(&body, |[x, y, z]| x.abs() < 0.1 && y > 0.4 && y < 0.6 && z < 0.45);
    let soft = abdomen.iter().filter(|&&vertex| !body.pinned[vertex]).count();
    assert!(3 * soft > abdomen.len(), "{soft} of {} vertices are soft", abdomen.len());
    for side in [1.0, -1.0] {
        let feet = within(&body, |[x, _, z]| side * x > 0.78 && z < 0.2);
        assert!(feet.iter().all(|&vertex| body.pinned[vertex]));
    }
}

#[test]
fn arms_without_bones_are_bone() {
    let body = found(&Figure::armless());
    let arms = within(&body, |[x, _, z]| x.abs() > 0.4 && z > 1.3);
    let share = mean(body.core_share(), &arms);
    assert!(share > 0.85, "{share}");
}

#[test]
fn both_sides_are_alike_within_two_percent() {
    let body = found(&Figure::new());
    let key = |place: Place| place.map(|x| (1e6 * x).round() as i64);
    let places: HashMap<_, usize> =
        body.mesh.vertices().iter().enumerate().map(|(vertex, &place)| (key(place), vertex)).collect();
    let mirrored = |[x, y, z]: Place| places.get(&key([-x, y, z])).copied();
    let pairs: Vec<[usize; 2]> = (body.mesh.vertices().iter().enumerate())
        .filter_map(|(vertex, &place)| mirrored(place).map(|other| [vertex, other]))
        .collect();
    assert!(pairs.len() > body.pinned.len() / 2);
    let unlike = |values: &[f64]| {
        pairs.iter().map(|&[a, b]| (values[a] - values[b]).abs()).sum::<f64>() / pairs.len() as f64
    };
    assert!(unlike(body.core_share()) < 0.02);
    assert!(body.parts().iter().all(|found| unlike(&found.weights) < 0.02));
    let held: Vec<f64> = body.pinned.iter().map(|&pinned| f64::from(u8::from(pinned))).collect();
    assert!(unlike(&held) < 0.02, "{}", unlike(&held));
}

#[test]
fn size_turn_and_names_change_no_anatomy() {
    let known = found(&Figure::new());
    let large = found(&Figure::new().mapped(|p| p.map(|x| 128.0 * x)));
    assert!(large.pinned == known.pinned);
    let apart = |a: &Body, b: &Body| {
        a.core_share().iter().zip(b.core_share()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!(apart(&large, &known) < 1e-6);
    let held = |body: &Body| body.pinned.iter().filter(|&&p| p).count() as f64 / body.pinned.len() as f64;
    for turn in [|[x, y, z]: Place| [x, -z, y], |[x, y, z]: Place| [y, -x, z]] {
        let turned = found(&Figure::new().mapped(turn));
        assert!((held(&turned) - held(&known)).abs() < 0.02, "{} {}", held(&turned), held(&known));
        assert_eq!(turned.parts().len(), known.parts().len());
    }
    let mut named = Figure::new();
    for (number, bone) in named.bones.iter_mut().enumerate() {
        bone.name = format!("Bone.{number:03}");
    }
    assert!(found(&named).pinned == known.pinned);
}

#[test]
fn the_amount_scales_from_none_to_all() {
    let figure = Figure::new();
    let with = |amount: f64| build(&figure, SkeletonCore { amount, ..figure.anatomy() });
    let cores: Vec<Vec<bool>> =
        [0.0, 0.3, 0.5, 0.8].iter().map(|&amount| with(amount).unwrap().pinned).collect();
    for pair in cores.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(less, more)| !less || *more));
        assert!(pair[0] != pair[1]);
    }
    assert!(matches!(with(1.0), Err(Error::Range { what: "core amount", .. })));
}

#[test]
fn a_body_without_legs_keeps_the_core_that_it_has_without_anatomy() {
    let mut figure = Figure::new();
    figure.bones.truncate(4);
    figure.weights = vec![0.25; 4 * figure.soup.points.len()];
    let (plain, regional) = (build(&figure, figure.core(0.5)).unwrap(), found(&figure));
    assert!(encode(&plain.model) == encode(&regional.model));
    assert_eq!(regional.parts().iter().map(|found| found.part).collect::<Vec<_>>(), [Part::Rest]);
    assert!(plain.parts().is_empty() && plain.core_share().is_empty());
}

/// Lowest frequency of a part of a body with all else held, Hz.
fn frequency(body: &Body, part: Part) -> f64 {
    let held: Vec<bool> = weights(body, part)
        .iter()
        .zip(&body.pinned)
        .map(|(&weight, &pinned)| pinned || weight < 0.15)
        .collect();
    let young = Field::PerTet((0..body.mesh.tets().len()).map(|tet| body.material.young().at(tet)).collect());
    let (none, density) = (Field::Uniform(0.0), Field::Uniform(1000.0));
    let material = Material::new(Law::Arap, young, none, density).unwrap();
    let restraint = Restraint { rig: None, leak: None, pinned: Some(&held) };
    let (stitches, progress) = (Stitches::none(&body.mesh), Progress::default());
    let problem = LinearProblem::new(&body.mesh, &material, &restraint, &stitches, &progress).unwrap();
    problem.lowest(1, &progress).unwrap().frequencies()[0]
}

/// Distance of a part from bone that three tenths of it exceed, as a share of the height.
fn depth(body: &Body, part: Part) -> f64 {
    let (vertices, weight) = (body.mesh.vertices(), weights(body, part));
    let squared = |a: Place, b: Place| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>();
    let bone = || (0..vertices.len()).filter(|&vertex| body.pinned[vertex]);
    let own = (0..vertices.len()).filter(|&vertex| !body.pinned[vertex] && weight[vertex] > 0.4);
    let depth =
        |v: usize| bone().map(|o| squared(vertices[v], vertices[o])).fold(f64::INFINITY, f64::min).sqrt();
    let tall = vertices.iter().map(|place| place[2]).fold(0.0, f64::max)
        - vertices.iter().map(|place| place[2]).fold(f64::INFINITY, f64::min);
    let mut depths: Vec<f64> = own.map(depth).collect();
    depths.sort_by(f64::total_cmp);
    depths[7 * depths.len() / 10] / tall
}

#[test]
fn flesh_without_room_is_quicker() {
    assert_eq!(Part::Belly.frequency_at(0.1), Part::Belly.frequency());
    assert!(Part::Belly.frequency_at(0.03) > Part::Belly.frequency_at(0.05));
    assert!(Part::Belly.frequency_at(0.0) < 3.0 * Part::Belly.frequency());
}

#[test]
fn each_part_has_a_frequency_of_its_own() {
    let body = found(&Figure::beast());
    let volume: f64 = body.mesh.volumes().iter().sum();
    let reference = (1e4_f64 / 1000.0).sqrt() / volume.cbrt();
    for part in [Part::Belly, Part::Thighs, Part::Ears, Part::Tail] {
        let wanted = reference * part.frequency_at(depth(&body, part)) / Part::Belly.frequency();
        let ratio = frequency(&body, part) / wanted;
        assert!((0.7..1.4).contains(&ratio), "{part:?}: {ratio}");
    }
}

/// The hound with a tail this many times as long.
fn with_tail(length: f64) -> Figure {
    let along = |y: f64| if y > 0.65 { 0.65 + length * (y - 0.65) } else { y };
    Figure::hound().mapped(|[x, y, z]| [x, along(y), z])
}

#[test]
fn a_long_and_thin_tail_does_not_hang_like_a_thread() {
    let [short, long] = [1.0, 7.0].map(|length| {
        let body = found(&with_tail(length));
        let volume: f64 = body.mesh.volumes().iter().sum();
        frequency(&body, Part::Tail) * volume.cbrt()
    });
    assert!((0.5..2.0).contains(&(long / short)), "{long} {short}");
}

#[test]
fn modes_of_a_thin_tail_give_way_as_far_as_its_flesh() {
    for length in [1.0, 4.0, 7.0] {
        let figure = with_tail(length);
        let params = BodyParams { modes: 24, clusters: 60, cubature: 100, ..params(figure.anatomy()) };
        let (surface, bones) = (figure.surface(), figure.bones.len());
        let body = Body::new(&surface, &figure.weights, bones, &params, &Progress::default()).unwrap();
        let whole = body.full_space(None, None, &Progress::default()).unwrap();
        let [flesh, modes] = [whole, body.model.clone()].map(|model| sag(&body, model, Part::Tail));
        assert!((0.5..2.0).contains(&(modes / flesh)), "{length}: {modes} {flesh}");
    }
}

/// Mean displacement of a part under gravity across the body, metres.
fn sag(body: &Body, model: Model, part: Part) -> f64 {
    let still = vec![REST; body.rig.bone_count()];
    let params =
        SimulationParams { gravity: [0.2, 0.0, 0.0], tolerance: 1e-7, ..SimulationParams::default() };
    let projector = model.projector(None).unwrap();
    let mut simulation = Simulation::new(model, params).unwrap();
    let input = StepInput { pose: Some(&still), ..StepInput::default() };
    simulation.settle(&input, 5000, &Progress::default()).unwrap();
    let mut moved = vec![0.0; 3 * body.mesh.vertices().len()];
    projector.displacement(simulation.coefficients(), &mut moved).unwrap();
    let weights = weights(body, part);
    weights.iter().zip(moved.chunks(3)).map(|(weight, moved)| weight * f64::from(moved[0])).sum::<f64>()
        / weights.iter().sum::<f64>()
}

#[test]
fn softness_softens_one_part_alone_and_amounts_change_no_modes() {
    let figure = Figure::beast();
    let plain = found(&figure);
    let with = |softness: f64, amount: f64| {
        let parts = vec![PartSetting { part: Part::Belly, softness, amount }];
        build_like(Some(&plain), &figure, SkeletonCore { parts, ..figure.anatomy() }).unwrap()
    };
    let soft = with(4.0, 1.0);
    let young = |body: &Body, tet: usize| body.material.young().at(tet);
    for (tet, corners) in soft.mesh.tets().iter().enumerate() {
        let sum = |found: &FoundPart| corners.iter().map(|&v| found.weights[v as usize]).sum::<f64>();
        let belly = soft.parts().iter().find(|found| found.part == Part::Belly).unwrap();
        let weight = sum(belly) / soft.parts().iter().map(sum).sum::<f64>().max(f64::MIN_POSITIVE);
        let ratio = young(&soft, tet) / young(&plain, tet);
        assert!((ratio.ln() / 4.0_f64.ln() + weight).abs() < 1e-9, "{ratio} {weight}");
    }
    assert!(soft.pinned == plain.pinned);
    let loud = with(1.0, 2.0);
    assert!(Arc::ptr_eq(&loud.modes, &plain.modes) && Arc::ptr_eq(&loud.material, &plain.material));
    assert!(encode(&loud.model) != encode(&plain.model));
    assert!(encode(&with(1.0, 1.0).model) == encode(&plain.model));
}

#[test]
fn settings_out_of_range_are_refused() {
    let figure = Figure::new();
    for (softness, amount, named) in
        [(0.0, 1.0, "core softness"), (f64::NAN, 1.0, "core softness"), (1.0, 3.1, "core part amount")]
    {
        let parts = vec![PartSetting { part: Part::Belly, softness, amount }];
        let refused = build(&figure, SkeletonCore { parts, ..figure.anatomy() });
        assert!(matches!(refused, Err(Error::Range { what, .. }) if what == named));
    }
}
