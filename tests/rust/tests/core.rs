//! The skeleton core: hands, feet and heads follow their bones, thick flesh stays free, and hostile rigs
//! cause no failure.

use jounce::body::{Body, BodyParams};
use jounce::file::encode;
use jounce::inputs::SimulationParams;
use jounce::simulation::Simulation;
use jounce::skeleton::{Bone, BoneRole, SkeletonCore};
use jounce::{Error, Progress};
use jounce_tests::bodies::{REST, turn};
use jounce_tests::figure::{BREASTS, EARS, Figure, HAIR, TAIL, bone};
use jounce_tests::surfaces::{Soup, cube, sphere};

fn params(core: Option<SkeletonCore>) -> BodyParams {
    BodyParams { resolution: 28, modes: 8, clusters: 20, cubature: 0, core, ..BodyParams::default() }
}

fn build(figure: &Figure, params: &BodyParams) -> jounce::Result<Body> {
    Body::new(&figure.surface(), &figure.weights, figure.bones.len(), params, &Progress::default())
}

fn with_core(figure: &Figure, amount: f64) -> Body {
    build(figure, &params(Some(figure.core(amount)))).unwrap()
}

/// Share of pinned vertices among those with more than half their weight on a bone.
fn held(body: &Body, bone: usize) -> f64 {
    let own: Vec<bool> = body
        .rig
        .bone(bone)
        .iter()
        .filter(|(_, weight)| *weight > 0.5)
        .map(|&(vertex, _)| body.pinned[vertex as usize])
        .collect();
    assert!(!own.is_empty());
    own.iter().filter(|&&pinned| pinned).count() as f64 / own.len() as f64
}

#[test]
fn hands_feet_and_the_head_are_rigid_without_names_and_the_torso_is_flesh() {
    let figure = Figure::new();
    // A lattice fine enough for vertices to lie within the core's share of the distance between bones and
    // skin.
    let fine = BodyParams { resolution: 40, ..params(Some(figure.core(0.5))) };
    let body = build(&figure, &fine).unwrap();
    let rigid = ["head", "left hand", "right hand", "left foot", "right foot"].map(bone);
    for (bone, &role) in body.roles.iter().enumerate() {
        let expected = if rigid.contains(&bone) { BoneRole::Rigid } else { BoneRole::Flesh };
        assert_eq!(role, expected, "bone {bone}");
    }
    for bone in rigid {
        assert_eq!(held(&body, bone), 1.0, "bone {bone}");
    }
    let [hips, spine] = ["hips", "spine"].map(|name| held(&body, bone(name)));
    assert!(hips < 0.2 && spine < 0.2, "{hips} {spine}");
    let at_the_spine = |&&[x, y, z]: &&[f64; 3]| x.hypot(y - 0.02) < 0.04 && z > 1.0 && z < 1.4;
    let inside = body.mesh.vertices().iter().zip(&body.pinned).filter(|(place, _)| at_the_spine(place));
    assert!(inside.clone().count() > 5 && inside.clone().all(|(_, &pinned)| pinned));
    assert!(held(&body, bone("left forearm")) > 0.9, "thin parts follow their bones");
}

#[test]
fn names_say_where_chain_and_shape_do_not() {
    let mut figure = Figure::new();
    figure.bones[bone("left forearm")].name = "rig:Arm_Ear.L".to_owned();
    figure.bones[bone("spine")].name = "Spine2".to_owned();
    figure.bones[bone("neck")].name = "Skull".to_owned();
    let roles = with_core(&figure, 0.5).roles;
    assert_eq!(roles[bone("neck")], BoneRole::Rigid);
    assert_eq!(roles[bone("head")], BoneRole::Rigid, "what is below a skull is hard, too");
    assert_eq!(roles[bone("left hand")], BoneRole::Flesh, "what is below an ear is not");
    assert_eq!(roles[bone("spine")], BoneRole::Flesh);
}

#[test]
fn tails_and_ears_are_found_without_names() {
    let beast = Figure::beast();
    let fine = |figure: &Figure| {
        let params = BodyParams { resolution: 40, ..params(Some(figure.core(0.5))) };
        build(figure, &params).unwrap().roles
    };
    let expected = |bone: usize| {
        let rigid = ["head", "left hand", "right hand", "left foot", "right foot"];
        if rigid.iter().any(|name| jounce_tests::figure::bone(name) == bone) {
            BoneRole::Rigid
        } else {
            BoneRole::Flesh
        }
    };
    let roles = fine(&beast);
    for (bone, &role) in roles.iter().enumerate() {
        assert_eq!(role, expected(bone), "bone {bone}");
    }
    let mut named = Figure::beast();
    named.bones[bone("head")].name = "Head".to_owned();
    for bone in TAIL.chain(EARS) {
        named.bones[bone].name = format!("Bone.{bone:03}");
    }
    assert_eq!(fine(&named), roles, "names that do not tell are none");
    named.bones[EARS.start].name = "Jaw".to_owned();
    assert_eq!(fine(&named)[EARS.start], BoneRole::Rigid, "names that tell are stronger");
}

#[test]
fn a_strand_is_hair_as_soon_as_one_that_is_alike_is() {
    let strands = |radii: [f64; 2]| {
        let figure = Figure::hair(radii);
        let fine = BodyParams { resolution: 56, ..params(Some(figure.core(0.5))) };
        let roles = build(&figure, &fine).unwrap().roles;
        assert!(
            HAIR.step_by(3).all(|first| roles[first..first + 3].iter().all(|role| *role == roles[first]))
        );
        [roles[HAIR.start], roles[HAIR.start + 3]]
    };
    assert_eq!(strands([0.055, 0.065]), [BoneRole::Flesh; 2]);
    assert_eq!(strands([0.05, 0.065]), [BoneRole::Flesh, BoneRole::Rigid], "too unlike");
    assert_eq!(strands([0.08, 0.08]), [BoneRole::Rigid; 2], "no hair at all");
}

#[test]
fn appendages_that_nothing_moves_swing_freely() {
    let mut beast = Figure::beast();
    let roles = |figure: &Figure| {
        let params = BodyParams { resolution: 40, ..params(Some(figure.core(0.5))) };
        build(figure, &params).unwrap().roles
    };
    let moved = roles(&beast);
    assert!(!moved.contains(&BoneRole::Free));
    for bone in TAIL.chain(EARS).chain([bone("left hand"), bone("right foot")]) {
        beast.bones[bone].still = true;
    }
    for (bone, &role) in roles(&beast).iter().enumerate() {
        let swings = TAIL.contains(&bone) || EARS.contains(&bone);
        assert_eq!(role, if swings { BoneRole::Free } else { moved[bone] }, "bone {bone}");
    }
    beast.bones[TAIL.end - 1].still = false;
    beast.bones[EARS.start].role = BoneRole::Rigid;
    let some = roles(&beast);
    assert_eq!(some[TAIL.start], BoneRole::Flesh, "a chain that is moved at its end is moved");
    assert_eq!(some[EARS.start], BoneRole::Rigid, "a role that is chosen stays");
    assert_eq!(some[EARS.end - 1], BoneRole::Free);
    beast.bones.iter_mut().for_each(|bone| bone.still = true);
    assert!(!roles(&beast).contains(&BoneRole::Free), "where nothing moves nothing is still beside it");
}

/// Share of pinned vertices in the breasts.
fn held_of_breasts(figure: &Figure) -> f64 {
    let params = BodyParams { resolution: 56, ..params(Some(figure.core(0.5))) };
    let body = build(figure, &params).unwrap();
    let places = body.mesh.vertices().iter().zip(&body.pinned);
    let own: Vec<bool> = places
        .filter(|([_, y, z], _)| *y < -0.2 && (z - 1.3).abs() < 0.1)
        .map(|(_, &pinned)| pinned)
        .collect();
    assert!(own.len() > 20);
    own.iter().filter(|&&pinned| pinned).count() as f64 / own.len() as f64
}

#[test]
fn a_bone_in_a_breast_holds_none_of_it() {
    let mut figure = Figure::bosom(0.08, true);
    // Less than half, as in blended rigs.
    for weights in figure.weights.chunks_exact_mut(figure.bones.len()) {
        for breast in BREASTS {
            weights[bone("spine")] += 0.6 * weights[breast];
            weights[breast] *= 0.4;
        }
    }
    let held = |name: &str, role: BoneRole| {
        let mut figure = figure.clone();
        for bone in &mut figure.bones[BREASTS] {
            (bone.name, bone.role) = (name.to_owned(), role);
        }
        held_of_breasts(&figure)
    };
    assert_eq!(held("Breast.L", BoneRole::Automatic), 0.0);
    assert_eq!(held("Bone", BoneRole::Free), 0.0);
    let chosen = held("Breast.L", BoneRole::Flesh);
    assert!(chosen > 0.05, "a role that is chosen is stronger: {chosen}");
}

#[test]
fn a_bulge_that_no_bone_runs_along_is_flesh_unless_it_is_very_thin() {
    let [bulky, thin] = [0.055, 0.02].map(|radius| held_of_breasts(&Figure::bosom(radius, false)));
    assert!(bulky < 0.1 && thin > 0.7, "{bulky} {thin}");
}

#[test]
fn a_role_is_stronger_than_what_is_found() {
    let mut figure = Figure::new();
    figure.bones[bone("spine")].role = BoneRole::Rigid;
    figure.bones[bone("left forearm")].role = BoneRole::Free;
    figure.bones[bone("head")].role = BoneRole::Flesh;
    let body = with_core(&figure, 0.5);
    assert_eq!(held(&body, bone("spine")), 1.0);
    assert_eq!(held(&body, bone("left forearm")), 0.0);
    assert!(held(&body, bone("head")) < 1.0);
    assert_eq!(body.roles[bone("left forearm")], BoneRole::Free);
}

#[test]
fn more_core_only_adds_to_it() {
    let figure = Figure::new();
    let cores = [0.0, 0.3, 0.5, 0.8].map(|amount| with_core(&figure, amount).pinned);
    for pair in cores.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(less, more)| !less || *more));
        assert!(pair[0] != pair[1]);
    }
}

#[test]
fn size_place_and_turn_change_no_core() {
    let core = with_core(&Figure::new(), 0.5).pinned;
    let moved = |place: fn([f64; 3]) -> [f64; 3]| with_core(&Figure::new().mapped(place), 0.5);
    assert!(moved(|p| p.map(|x| 256.0 * x)).pinned == core);
    let turned = moved(|[x, y, z]| [x, -z, y]);
    let share = |pinned: &[bool]| pinned.iter().filter(|&&p| p).count() as f64 / pinned.len() as f64;
    assert!((share(&turned.pinned) - share(&core)).abs() < 0.01);
    assert_eq!(turned.roles, with_core(&Figure::new(), 0.5).roles);
}

#[test]
fn a_symmetric_character_has_a_symmetric_core() {
    let body = with_core(&Figure::new(), 0.5);
    let key = |[x, y, z]: [f64; 3]| [x, y, z].map(|x| (1e6 * x).round() as i64);
    let vertices = body.mesh.vertices();
    let places: std::collections::HashMap<_, usize> =
        vertices.iter().enumerate().map(|(vertex, &place)| (key(place), vertex)).collect();
    let mut pairs = 0;
    let mut unlike = 0;
    for (vertex, &[x, y, z]) in vertices.iter().enumerate() {
        if let Some(&other) = places.get(&key([-x, y, z])) {
            pairs += 1;
            unlike += usize::from(body.pinned[vertex] != body.pinned[other]);
        }
    }
    assert!(pairs > vertices.len() / 2, "{pairs}");
    assert!(100 * unlike < pairs, "{unlike} of {pairs}");
}

#[test]
fn a_held_pose_is_exact_beside_a_core() {
    let figure = Figure::new();
    let body = with_core(&figure, 0.5);
    let mut pose = vec![REST; figure.bones.len()];
    pose[bone("spine")] = turn([1.0, 0.0, 0.0], 0.4, [0.0, 0.0, 1.15], [0.0; 3]);
    let mut simulation = Simulation::new(body.model.clone(), SimulationParams::default()).unwrap();
    simulation.reset(Some(&pose)).unwrap();
    for _ in 0..5 {
        simulation.step(Some(&pose)).unwrap();
    }
    let moved = simulation.coefficients().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(moved < 1e-9, "{moved}");
}

#[test]
fn leak_scales_what_flesh_beside_a_core_feels() {
    let figure = Figure::new();
    let moved = |leak: f64| {
        let leak = Some(vec![leak; figure.soup.points.len()]);
        let body = build(&figure, &BodyParams { leak, ..params(Some(figure.core(0.5))) }).unwrap();
        let mut simulation = Simulation::new(body.model.clone(), SimulationParams::default()).unwrap();
        let mut pose = vec![REST; figure.bones.len()];
        simulation.reset(Some(&pose)).unwrap();
        let mut most: f64 = 0.0;
        for frame in 0..12 {
            let shift = [0.05 * f64::from(frame).sin(), 0.0, 0.0];
            pose.fill(turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], shift));
            simulation.step(Some(&pose)).unwrap();
            most = simulation.coefficients().iter().fold(most, |most, x| most.max(x.abs()));
        }
        most
    };
    let [none, half, all] = [0.0, 0.5, 1.0].map(moved);
    assert!(none < 1e-9 && half > 0.3 * all && half < 0.7 * all, "{none} {half} {all}");
}

#[test]
fn hard_points_and_loose_parts_of_one_bone_are_pinned() {
    let plain = Figure::new();
    let mut figure = Figure::new();
    // A horn on the hips, entirely part of the core, and a patch of the belly painted as hard.
    let horn = sphere(2).placed([0.05, 0.2, 0.05], [0.0, 0.3, 1.05]);
    let count = figure.soup.points.len();
    figure.soup = figure.soup.and(horn);
    let added = figure.soup.points.len() - count;
    for _ in 0..added {
        figure.weights.extend((0..16).map(|j| f64::from(u8::from(j == bone("hips")))));
    }
    let patch: Vec<bool> = figure.soup.points.iter().map(|p| p[1] < -0.24).collect();
    let mut core = figure.core(0.5);
    core.rigid = Some(patch.clone());
    let body = build(&figure, &params(Some(core))).unwrap();
    for (point, &tet) in body.embedding.tets().iter().enumerate() {
        if point >= count || patch[point] {
            let corners = body.mesh.tets()[tet as usize];
            assert!(corners.iter().all(|&v| body.pinned[v as usize]), "point {point}");
        }
    }
    assert!(patch.contains(&true));
    assert!(held(&with_core(&plain, 0.5), bone("hips")) < held(&body, bone("hips")));
}

#[test]
fn clothes_make_no_flesh_below_them_thin() {
    let mut dressed = Figure::new();
    let count = dressed.soup.points.len();
    let coat = sphere(4).placed([0.3, 0.26, 0.36], [0.0, 0.0, 1.16]);
    dressed.soup = dressed.soup.and(coat);
    let added = dressed.soup.points.len() - count;
    for _ in 0..added {
        let weight = |j: usize| {
            [(bone("hips"), 0.4), (bone("spine"), 0.6)].iter().find(|w| w.0 == j).map_or(0.0, |w| w.1)
        };
        dressed.weights.extend((0..16).map(weight));
    }
    let body = with_core(&dressed, 0.5);
    let hung = &body.embedding.tets()[count..];
    let moves = |&&tet: &&u32| body.mesh.tets()[tet as usize].iter().all(|&v| !body.pinned[v as usize]);
    let moving = hung.iter().filter(moves).count();
    // Arms and thighs, which are core, penetrate the rest.
    assert!(2 * moving > added, "{moving} of {added}");
}

#[test]
fn without_a_core_nothing_changes_and_the_same_core_is_the_same_bits() {
    let figure = Figure::new();
    let plain = build(&figure, &params(None)).unwrap();
    assert!(plain.roles.is_empty() && !plain.pinned.contains(&true));
    let core = params(Some(figure.core(0.5)));
    let (surface, count) = (figure.surface(), figure.bones.len());
    let whole = build(&figure, &core).unwrap();
    for like in [&plain, &whole] {
        let progress = Progress::default();
        let quick = Body::new_like(Some(like), &surface, &figure.weights, count, &core, &progress).unwrap();
        assert!(encode(&quick.model) == encode(&whole.model));
        assert_eq!(quick.roles, whole.roles);
        let back =
            Body::new_like(Some(&quick), &surface, &figure.weights, count, &params(None), &progress).unwrap();
        assert!(encode(&back.model) == encode(&plain.model));
    }
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let single = alone.install(|| build(&figure, &core).unwrap());
    assert!(encode(&single.model) == encode(&whole.model));
}

fn ball(bones: Vec<Bone>) -> (Soup, Vec<f64>, SkeletonCore) {
    let soup = sphere(3);
    let weights = vec![1.0 / bones.len() as f64; bones.len() * soup.points.len()];
    (soup, weights, SkeletonCore { bones, amount: 0.5, ..SkeletonCore::default() })
}

fn at(head: [f64; 3], parent: Option<u32>) -> Bone {
    Bone { head, parent, name: String::new(), role: BoneRole::Automatic, still: false }
}

#[test]
fn the_skin_of_thick_flesh_is_free_at_every_resolution() {
    let (ball, weights, core) = ball(vec![at([0.0; 3], None)]);
    let egg = ball.placed([1.0, 0.8, 0.6], [0.0; 3]);
    let block = cube(8).placed([1.0, 0.8, 0.6], [0.0; 3]);
    let even = vec![1.0; block.points.len()];
    // A corner of a block may count as thin, its edges may not.
    for (soup, weights, resolutions, most) in
        [(egg, weights, [16, 24, 41], 0), (block, even, [24, 32, 41], 8 * 12)]
    {
        for resolution in resolutions {
            let core = Some(core.clone());
            let params = BodyParams { resolution, modes: 2, clusters: 2, core, ..params(None) };
            let body = Body::new(&soup.surface(), &weights, 1, &params, &Progress::default()).unwrap();
            let outer = body.mesh.boundary_vertices();
            let held = outer.iter().filter(|&&vertex| body.pinned[vertex as usize]).count();
            assert!(body.pinned.contains(&true));
            assert!(held <= most, "{held} of {} at {resolution}", outer.len());
        }
    }
}

#[test]
fn hostile_rigs_still_leave_flesh() {
    let far = vec![at([1e9; 3], None), at([-1e9, 0.0, 0.0], Some(0))];
    let alike = vec![at([0.0; 3], None), at([0.0; 3], Some(0)), at([0.0; 3], Some(1))];
    let many = (0..300u32).map(|j| at([0.0, 0.0, 1e-3 * f64::from(j)], j.checked_sub(1))).collect();
    let roots = vec![at([0.5; 3], None), at([-0.5; 3], None), at([0.0; 3], None)];
    for bones in [vec![at([0.0; 3], None)], vec![at([3.0; 3], None)], far, alike, many, roots] {
        let (soup, weights, core) = ball(bones);
        let count = core.bones.len();
        let params = BodyParams { resolution: 10, modes: 4, clusters: 4, core: Some(core), ..params(None) };
        let body = Body::new(&soup.surface(), &weights, count, &params, &Progress::default()).unwrap();
        let free = body.pinned.iter().filter(|&&pinned| !pinned).count();
        assert!(free > body.pinned.len() / 3, "{count} bones: {free} of {}", body.pinned.len());
        assert!(body.model.frequency() > 0.0, "{count} bones");
    }
}

#[test]
fn a_body_that_is_free_everywhere_keeps_to_its_rig() {
    let (soup, weights, mut core) = ball(vec![at([0.0; 3], None)]);
    core.bones[0].role = BoneRole::Free;
    let free = BodyParams { resolution: 10, modes: 4, clusters: 4, core: Some(core), ..params(None) };
    let made =
        |params: &BodyParams| Body::new(&soup.surface(), &weights, 1, params, &Progress::default()).unwrap();
    let plain = made(&BodyParams { core: None, ..free.clone() });
    assert!(encode(&made(&free).model) == encode(&plain.model));
}

#[test]
fn what_does_not_fit_is_refused() {
    let figure = Figure::new();
    let refused = |change: &dyn Fn(&mut SkeletonCore)| {
        let mut core = figure.core(0.5);
        change(&mut core);
        match build(&figure, &params(Some(core))) {
            Err(error) => error,
            Ok(_) => panic!("not refused"),
        }
    };
    assert!(matches!(refused(&|core| core.amount = 1.5), Error::Range { what: "core amount", .. }));
    assert!(matches!(refused(&|core| core.amount = f64::NAN), Error::Range { what: "core amount", .. }));
    assert!(matches!(refused(&|core| drop(core.bones.pop())), Error::Shape { what: "core bones", .. }));
    assert!(matches!(
        refused(&|core| core.rigid = Some(vec![true])),
        Error::Shape { what: "core rigid", .. }
    ));
    assert!(matches!(
        refused(&|core| core.bones[2].parent = Some(99)),
        Error::Index { what: "core parents", .. }
    ));
    assert!(matches!(
        refused(&|core| core.bones[0].parent = Some(3)),
        Error::Range { what: "core parents", .. }
    ));
    let nowhere = refused(&|core| core.bones[5].head[1] = f64::NAN);
    assert!(matches!(nowhere, Error::NotFinite { what: "core heads", element: 5, .. }));
    let all = |core: &mut SkeletonCore| core.bones.iter_mut().for_each(|bone| bone.role = BoneRole::Rigid);
    assert!(matches!(refused(&all), Error::Range { what: "core amount", .. }));
}

/// Volume of the smallest piece of flesh connected through tets, as a share of the body's volume.
fn smallest_piece(body: &Body) -> f64 {
    let mut pieces: Vec<u32> = (0..body.pinned.len() as u32).collect();
    let free = |tet: &[u32; 4]| tet.iter().copied().filter(|&v| !body.pinned[v as usize]).collect::<Vec<_>>();
    let tets: Vec<Vec<u32>> = body.mesh.tets().iter().map(free).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for tet in &tets {
            let least = tet.iter().map(|&v| pieces[v as usize]).min();
            for &v in tet {
                changed |= Some(pieces[v as usize]) != least;
                pieces[v as usize] = least.unwrap_or(v);
            }
        }
    }
    let mut sizes = vec![0.0; pieces.len()];
    for (tet, volume) in tets.iter().zip(body.mesh.volumes()) {
        tet.iter().for_each(|&v| sizes[pieces[v as usize] as usize] += volume / 4.0);
    }
    let whole: f64 = body.mesh.volumes().iter().sum();
    sizes.into_iter().filter(|&size| size > 0.0).fold(whole, f64::min) / whole
}

#[test]
fn flesh_is_in_no_specks_unless_they_are_asked_for() {
    let figure = Figure::default();
    let smallest = |resolution, core| {
        smallest_piece(&build(&figure, &BodyParams { resolution, ..params(Some(core)) }).unwrap())
    };
    for resolution in [24, 40, 56] {
        for amount in [0.2, 0.35, 0.5, 0.8] {
            let found = smallest(resolution, figure.core(amount));
            assert!(found >= 0.01, "{resolution} {amount}: {found}");
        }
    }
    let (roles, mut asked) = (with_core(&figure, 0.8).roles, figure.core(0.8));
    asked.bones.iter_mut().zip(roles).for_each(|(bone, role)| bone.role = role);
    assert!(smallest(24, asked) < 1e-4);
}

#[test]
fn thin_parts_are_the_same_at_every_resolution() {
    let figure = Figure::default();
    let known = SkeletonCore { resolution: Some(24), ..figure.core(0.5) };
    let at = |resolution, core: &SkeletonCore| {
        build(&figure, &BodyParams { resolution, ..params(Some(core.clone())) }).unwrap()
    };
    // At the upper bound of thin parts: finer lattices hold more of this shin by themselves than coarse
    // ones.
    let shin = bone("left shin");
    let own = at(24, &known);
    for resolution in [32, 48, 64] {
        let (finer, alone) = (at(resolution, &known), at(resolution, &figure.core(0.5)));
        assert!((held(&finer, shin) - held(&own, shin)).abs() < 0.1, "{resolution}");
        assert!(held(&alone, shin) > held(&own, shin) + 0.2, "{resolution}");
        assert_eq!(finer.roles, own.roles);
    }
    // In the body's own lattice nothing differs.
    assert!(encode(&own.model) == encode(&at(24, &figure.core(0.5)).model));
}
