"""Clothes in the click of Add Jounce: attached bodies beside the flesh of their wearer, and their removal."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from dressed import dress, rig, swung
from layouts import drawn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bipeds

FRAMES = range(1, 17)
CAPE, SKIRT = bipeds.CLOTHES["cape"], bipeds.CLOTHES["skirt"]

pytestmark = pytest.mark.usefixtures("coarse_setup")


@pytest.fixture
def wearer():
    """The biped, its rig, a cape of its own, and a skirt in the mesh of the body."""
    armature = rig()
    swung(armature)
    body = dress("Body", [*bipeds.body().values(), SKIRT], armature)
    cape = dress("Cloak", [CAPE], armature)
    scenes.settle_scene(FRAMES[-1])
    return armature, body, cape


def add(armature, *meshes):
    """The click."""
    bpy.ops.object.select_all(action="DESELECT")
    for obj in meshes or (armature,):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = (meshes or (armature,))[0]
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    # The flesh is of no interest here, and drafts are simulated in a moment.
    bpy.data.objects["Body"].jounce.quality = scenes.QUALITY


def free():
    """Takes the colliders off all clothes: contact takes nearly all of their time."""
    for obj in (bpy.data.objects["Cloak"], skirt()):
        obj.jounce.use_collisions = False


def skirt():
    """The object of the skirt."""
    return bpy.data.objects["Body Skirt"]


def held(obj):
    """Weights of the map Pin."""
    index = obj.vertex_groups[obj.jounce.pin_group].index
    return np.array(
        [sum(each.weight for each in vertex.groups if each.group == index) for vertex in obj.data.vertices]
    )


def shown(obj, preview=True):
    """Places of a mesh in all frames, (f, p, 3); without a preview in the rig alone."""
    if preview:
        return scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="POSE")
    places = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="FLESH")
    return places


def test_one_click_attaches_a_cape_and_a_skirt(wearer):
    armature, body, cape = wearer
    add(armature)
    assert body.jounce.is_flesh and body.jounce.is_host
    for obj in (cape, skirt()):
        state = obj.jounce
        assert state.is_attached and state.is_host and state.wearer == body and state.preview
        assert state.use_collisions and len(state.collision_collection.all_objects) >= 4
        assert state.built_digest
        hold = held(obj)
        assert hold.max() == 1.0 and hold.min() < 0.01
    assert cape.jounce.collision_collection == skirt().jounce.collision_collection


def test_the_artists_mesh_stays_and_its_part_is_hidden(wearer):
    armature, body, _ = wearer
    before = snapshot.snapshot(body)["mesh"]
    add(armature)
    body.jounce.preview = False
    after = snapshot.snapshot(body)["mesh"]
    assert {name: after[name] for name in ("vertices", "polygons") if name in after} == {
        name: before[name] for name in ("vertices", "polygons") if name in before
    }
    assert len(skirt().data.vertices) == len(SKIRT.points)
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(evaluated.vertices) == len(body.data.vertices) - len(SKIRT.points)


@pytest.mark.parametrize("active", ["Rig", "Body", "Cloak"])
def test_remove_restores_all(wearer, active):
    armature, body, cape = wearer
    before = {obj: snapshot.snapshot(obj) for obj in (body, cape)}
    files = snapshot.file_state()
    add(armature, *([] if active == "Rig" else sorted((body, cape), key=lambda obj: obj.name != active)))
    assert skirt() and cape.jounce.wearer == body
    scenes.activate(body)
    assert bpy.ops.jounce.remove() == {"FINISHED"}
    assert {obj: snapshot.snapshot(obj) for obj in (body, cape)} == before
    assert snapshot.file_state() == files


def test_a_refusal_takes_everything_back(wearer, module, monkeypatch):
    armature, body, cape = wearer
    before = {obj: snapshot.snapshot(obj) for obj in (body, cape)}
    files = snapshot.file_state()
    clothes, user_error = module("ops.clothes"), module("core.common.user_error")

    def refused(*_):
        raise user_error.UserError("No.")

    monkeypatch.setattr(clothes, "build_body", refused)
    bpy.context.view_layer.objects.active = armature
    with pytest.raises(RuntimeError, match="No"):
        bpy.ops.jounce.setup()
    assert {obj: snapshot.snapshot(obj) for obj in (body, cape)} == before
    assert snapshot.file_state() == files


def test_it_swings_and_its_root_does_not(wearer):
    armature, _, cape = wearer
    add(armature)
    free()
    for obj, drift in ((cape, 0.006), (skirt(), 0.015)):
        size = np.linalg.norm(np.ptp([vertex.co for vertex in obj.data.vertices], axis=0))
        away = np.linalg.norm(shown(obj) - shown(obj, preview=False), axis=2) / size
        hold = held(obj)
        assert away[:, hold == 1.0].max() < drift
        assert 0.03 < away[:, hold < 0.01].max() < 1.0


def test_it_rests_as_the_animator_posed_it():
    armature = rig()
    dress("Body", [*bipeds.body().values(), SKIRT], armature)
    cape = dress("Cloak", [CAPE], armature)
    swung(armature, wild=0.0)
    scenes.settle_scene(FRAMES[-1])
    add(armature)
    for obj in (cape, skirt()):
        assert np.abs(shown(obj) - shown(obj, preview=False)).max() < 1e-5


def test_a_lifted_leg_pushes_the_skirt(wearer):
    armature, _, cape = wearer
    add(armature)
    cape.jounce.preview = False
    obj, hold = skirt(), held(skirt())

    def inside():
        """Number of points of the swinging skirt in the lifted leg, over all frames."""
        count, places = 0, shown(obj)
        for frame, points in zip(FRAMES, places, strict=True):
            bpy.context.scene.frame_set(frame)
            pose = armature.pose.bones["thigh.L"]
            start, end = np.array(pose.head), np.array(armature.pose.bones["foot.L"].head)
            along = end - start
            share = np.clip((points - start) @ along / (along @ along), 0.0, 1.0)
            away = np.linalg.norm(points - start - share[:, None] * along, axis=1)
            count += np.count_nonzero(away[hold < 0.5] < 0.055)
        return count

    touching = inside()
    obj.jounce.use_collisions = False
    assert (touching, inside() > 5) == (0, True)


def test_amount_is_a_share_of_its_motion(wearer):
    armature, _, cape = wearer
    add(armature)
    free()
    posed, whole = shown(cape, preview=False), shown(cape)
    cape.jounce.strength = 0.5
    half = shown(cape)
    assert np.allclose(half - posed, 0.5 * (whole - posed), atol=1e-5)


def test_it_is_listed_with_the_parts(wearer):
    armature, body, _ = wearer
    add(armature)
    scenes.activate(body)
    layout = drawn(bpy.types.JOUNCE_PT_main).drawn
    texts = {given.get("text") for function, given in layout if function == "label"}
    assert {"Cloak", "Body Skirt"} <= texts
    sliders = {(given["data"].id_data.name, given["property"]) for name, given in layout if name == "prop"}
    assert {("Cloak", "strength"), ("Cloak", "softness"), ("Body Skirt", "strength")} <= sliders


def test_the_wearer_is_baked_with_its_clothes(wearer):
    armature, body, cape = wearer
    add(armature)
    free()
    scenes.activate(body)
    before = shown(cape)
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    assert all(obj.jounce.bake_target for obj in (body, cape, skirt()))
    assert np.abs(shown(cape) - before).max() < 5e-3
    assert bpy.ops.jounce.free_bake() == {"FINISHED"}
    assert not any(obj.jounce.bake_target for obj in (body, cape, skirt()))


def test_they_loop_with_their_wearer(wearer):
    armature, body, cape = wearer
    add(armature)
    free()
    scenes.activate(body)

    def seam():
        return np.abs(np.ptp(shown(cape)[[0, -1]], axis=0)).max()

    assert seam() > 0.1
    body.jounce.loop = True
    bpy.ops.jounce.fill_cache()
    assert seam() < 1e-4
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    assert max(body.jounce.bake_seam, cape.jounce.bake_seam) < 1e-4
    # The skirt hangs freely here, and flaps through itself.
    assert skirt().jounce.bake_seam < 5e-3


def test_what_hangs_on_the_head_hinders_neither_clothes_nor_a_diagnosis_of_changed_inputs(wearer):
    armature, body, cape = wearer
    eye = scenes.column("Eye", radius=0.02)
    eye.parent, eye.parent_type, eye.parent_bone = armature, "BONE", "head"
    bpy.context.view_layer.update()
    add(armature)
    assert cape.jounce.built_digest
    for obj in (cape, body):
        scenes.activate(obj)
        assert bpy.ops.jounce.diagnose() == {"FINISHED"}
        assert not any(found.sentence.startswith("Eye ") for found in body.jounce.findings)
    for core in (0.0, 0.7):
        body.jounce.bone_core = core
        assert bpy.ops.jounce.diagnose() == {"FINISHED"}


def test_colliders_are_listed_by_character(wearer):
    armature, _, cape = wearer
    add(armature)
    scenes.activate(cape)
    count = len(cape.jounce.collision_collection.all_objects)
    layout = drawn(bpy.types.JOUNCE_PT_collisions).drawn
    texts = [given.get("text") for function, given in layout if function == "label"]
    assert count >= 4 and texts == [f"Rig: {count}"]


@pytest.mark.parametrize("touches", [True, False])
def test_a_bake_tells_how_deep_it_is_in_colliders(touches, module, monkeypatch):
    # The remaining contact is hardly visible.
    monkeypatch.setattr(module("core.shot.penetration"), "SEEN", 1e-7)
    armature = rig()
    swung(armature)
    dress("Body", list(bipeds.body().values()), armature)
    cape = dress("Cloak", [CAPE], armature)
    scenes.settle_scene(FRAMES[-1])
    add(armature)
    ball = bpy.data.objects.new("Ball", None)
    ball.empty_display_type, ball.empty_display_size = "SPHERE", 0.12
    bpy.context.scene.collection.objects.link(ball)
    ball.location = (0.0, 0.26, 1.2) if touches else (0.0, 5.0, 1.2)
    ball.jounce_shape = "SPHERE"
    cape.jounce.collision_collection.objects.link(ball)
    scenes.activate(cape)
    cape.jounce.substeps = 1
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    depth = cape.jounce.bake_depth
    assert 0.0 < depth < 0.02 if touches else depth == 0.0
    layout = drawn(bpy.types.JOUNCE_PT_bake).drawn
    told = any("inside of colliders" in str(given.get("text")) for function, given in layout)
    assert told == (depth > 0.0)


def test_flesh_of_the_wearer_can_still_be_fitted(wearer):
    armature, *_ = wearer
    add(armature)
    assert bpy.ops.jounce.fit.poll()


def test_it_is_saved(wearer, tmp_path):
    armature, *_ = wearer
    add(armature)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["Cloak"].jounce.wearer == bpy.data.objects["Body"]
    assert skirt().jounce.cut_from == bpy.data.objects["Body"]


@pytest.mark.parametrize("name", ["shirt", "hat", "back plate", "leg of trousers"])
def test_what_does_not_hang_stays_in_the_body(name):
    armature = rig()
    swung(armature)
    body = dress("Body", list(bipeds.body().values()), armature)
    other = dress("Other", [bipeds.OTHERS[name]], armature)
    scenes.settle_scene(FRAMES[-1])
    add(armature)
    assert other.jounce.host == body and other.jounce.wearer is None
