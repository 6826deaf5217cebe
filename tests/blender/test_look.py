"""Amount, softness and presets act at once, on top of the fit."""

import itertools
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from character_files import DATA, needs

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import body_parts_of
import character as characters
import flesh
import studio

FRAMES = range(1, 13)
SHIPPED = ("Realistic", "Cartoon", "Heavy", "Jelly", "Subtle")


@pytest.fixture
def shown():
    """A built column on two bones, previewed."""
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview(show="FLESH")
    return obj


def moved(obj):
    """Mean distance of the flesh from its pose in the preview, without a press of any button."""
    fleshed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="POSE")
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="FLESH")
    return float(np.linalg.norm(fleshed - posed, axis=2).mean())


@pytest.mark.parametrize(
    ("setting", "steps"), [("strength", (0.0, 0.5, 1.0, 2.0, 3.0)), ("softness", (0.25, 0.5, 1.0, 2.0, 4.0))]
)
def test_each_step_of_a_slider_is_seen_at_once(shown, setting, steps):
    bpy.ops.jounce.fit()
    known = shown.jounce.bl_rna.properties[setting]
    assert (known.soft_min, known.soft_max) == (steps[0], steps[-1])
    distances = []
    for value in steps:
        setattr(shown.jounce, setting, value)
        distances.append(moved(shown))
    assert all(after > 1.1 * before for before, after in itertools.pairwise(distances)), distances


def test_a_slider_is_no_movement_by_hand(module, shown):
    bpy.context.scene.frame_set(6)
    known = module("bridge.preview.previews").session(shown)
    shown.jounce.strength = 2.0
    bpy.context.view_layer.update()
    assert known.interactive is None and known.busy


def test_softness_is_beside_the_frequency(module, shown):
    obj, core = shown, module("core.stepping.motion")
    settings = obj.jounce.motion_settings()
    obj.jounce.softness = 4.0
    softer = obj.jounce.motion_settings()
    assert core.stiffness_of(2.0, softer) == core.stiffness_of(2.0, settings) / 4.0
    obj.jounce.stiffness_by = "PHYSICAL"
    physical = obj.jounce.motion_settings()
    assert core.stiffness_of(2.0, physical) == core.physical_stiffness(physical.material) / 4.0
    assert obj.jounce.young_at_rest() == obj.jounce.young / 4.0


def test_a_fit_leaves_them_and_they_leave_a_fit(shown):
    bpy.ops.jounce.fit()
    fitted = shown.jounce.frequency
    shown.jounce.softness, shown.jounce.strength, shown.jounce.frequency = 3.0, 2.0, 20.0
    bpy.ops.jounce.fit()
    assert shown.jounce.frequency == pytest.approx(fitted)
    assert shown.jounce.softness == pytest.approx(3.0) and shown.jounce.strength == pytest.approx(2.0)


def test_a_cache_of_before_softness_stays_right(module, shown):
    motions = module("bridge.preview.previews").session(shown).motions
    assert "Softness" not in motions.origin(bpy.context.scene, 1)
    shown.jounce.softness = 2.0
    assert motions.origin(bpy.context.scene, 1)["Softness"] == "2.0"


def test_what_add_jounce_gives_is_realistic(module):
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert obj.jounce.preset == "Realistic"


def test_a_preset_applies_whole_and_undoes_whole(module, shown):
    bpy.ops.ed.undo_push(message="before")
    before = snapshot.properties(shown.jounce)
    shown.jounce.preset = "Jelly"
    name = shown.name
    settings = module("bridge.common.preset_files").named("jounce/body")["Jelly"]
    for setting, value in settings.items():
        assert getattr(shown.jounce, setting) == pytest.approx(value), setting
    bpy.ops.ed.undo_push(message="Preset")
    bpy.ops.ed.undo()
    assert snapshot.properties(bpy.data.objects[name].jounce) == before


def test_presets_move_as_they_are_called(shown):
    bpy.ops.jounce.fit()
    distances = {}
    for name in SHIPPED:
        shown.jounce.preset = name
        assert shown.jounce.preset == name
        distances[name] = moved(shown)
    assert distances["Subtle"] < 0.8 * distances["Realistic"], distances
    for name in ("Cartoon", "Heavy", "Jelly"):
        assert distances[name] > 1.25 * distances["Realistic"], distances


@needs("open_creature/Fox.glb")
def test_wild_presets_turn_hardly_any_skin_inside_out():
    fox = characters.load(DATA / "open_creature" / "Fox.glb")
    shot = characters.choose_shot(fox, 40)
    posed = np.stack([np.concatenate(shape) for shape in studio.record(fox.body, shot.frames)])
    _, triangles = body_parts_of.topology(fox.body)
    bpy.context.scene.frame_set(shot.first)
    flesh.select([fox.armature])
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    host, worst, whole, moved = next(mesh for mesh in fox.body if mesh.jounce.is_host), {}, {}, {}
    # A triangle that the rig crushes to a tenth of its usual area has hardly a side to turn.
    areas = np.array([np.linalg.norm(body_parts_of.normals(points, triangles), axis=1) for points in posed])
    has_side = areas > 0.1 * np.median(areas, axis=0)
    for name in ("Realistic", "Cartoon", "Jelly"):
        host.jounce.preset = name
        bpy.ops.jounce.fill_cache()
        fleshed = np.stack([np.concatenate(shape) for shape in studio.record(fox.body, shot.frames)])
        normals = (
            [body_parts_of.normals(points, triangles) for points in shapes] for shapes in (posed, fleshed)
        )
        turned = np.array([(a * b).sum(axis=1) < 0.0 for a, b in zip(*normals, strict=True)])
        worst[name] = float(np.mean(turned, axis=1).max())
        whole[name] = float(np.mean(turned & has_side, axis=1).max())
        moved[name] = float(np.linalg.norm(fleshed - posed, axis=2).max())
    assert whole["Realistic"] == 0.0 and max(worst.values()) < 0.01, (whole, worst)
    assert 1.5 * moved["Realistic"] < moved["Cartoon"] < moved["Jelly"], moved


def test_settings_of_none_are_the_artists_own(shown):
    shown.jounce.preset = "Heavy"
    shown.jounce.softness += 0.5
    assert shown.jounce.preset == "Own Settings"
    before = snapshot.properties(shown.jounce)
    shown.jounce.preset = "Own Settings"
    assert snapshot.properties(shown.jounce) == before


def test_each_preset_has_a_picture_of_its_own(module):
    drawn = module("core.flesh.preset_picture").picture
    known = module("bridge.common.preset_files").named("jounce/body")
    assert list(known)[: len(SHIPPED)] == list(SHIPPED)
    pictures = [
        drawn(each["softness"], each["strength"], each["damping"], each["integrator"] == "backward_euler")
        for each in known.values()
    ]
    for number, one in enumerate(pictures):
        assert np.isfinite(one).all() and one.min() >= 0.0 and one.max() <= 1.0
        assert all(np.abs(one - other).max() > 0.5 for other in pictures[:number])


@pytest.mark.parametrize(("show", "other"), [("FLESH", "POSE"), ("POSE", "FLESH")])
def test_the_switch_shows_one_or_the_other(shown, show, other):
    for _ in range(2):
        bpy.ops.jounce.preview(show=show)
        assert shown.jounce.preview == (show == "FLESH")
    bpy.ops.jounce.preview()
    assert shown.jounce.preview == (other == "FLESH")
