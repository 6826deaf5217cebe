"""The drawn law: in preview and bake, through undo, copies and files, and removed with Jounce."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from layouts import drawn
from libraries import make_library
from test_library import build, own, shot
from test_refusals import assert_refused

FRAMES = range(1, 13)
# As flat as at rest until a length has changed by a tenth, then ten times as steep.
HARDER = ((0.0, -2.0), (0.9, -0.1), (1.1, 0.1), (2.0, 2.0))
FALLING = ((0.0, -1.0), (1.0, 0.0), (1.3, 0.5), (2.0, 0.1))
FLAT = ((0.0, -2.0), (0.8, 0.0), (1.2, 0.0), (2.0, 2.0))


@pytest.fixture
def character(tmp_path):
    """A built character of firm flesh, without limits, in a saved file."""
    obj, rig = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj)
    obj.jounce.frequency, obj.jounce.use_limit, obj.jounce.use_stretch = 3.0, False, False
    obj.jounce.quality = "FINAL"
    return obj, rig


def draw(obj, points):
    """Puts points on the curve of a body, with the widget's notification."""
    tree = obj.jounce.law_curve
    mapping = tree.nodes[0].mapping
    curve = mapping.curves[0]
    while len(curve.points) > 2:
        curve.points.remove(curve.points[1])
    while len(curve.points) < len(points):
        curve.points.new(1.0, 0.0)
    for point, place in zip(curve.points, points, strict=True):
        point.location, point.handle_type = place, "VECTOR"
    mapping.update()
    tree.update_tag()
    bpy.context.view_layer.update()


def chosen(obj, points=None):
    """The law of a body is a curve from now on."""
    obj.jounce.law = "spline"
    if points is not None:
        draw(obj, points)
    return obj.jounce.law_curve


def baked(obj):
    """The shapes (f, p, 3) of a bake, which is freed again."""
    bpy.ops.jounce.bake(target="MESH_CACHE")
    shapes = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.free_bake()
    return shapes


def previewed(obj):
    """The shapes of a preview with all frames final."""
    if not obj.jounce.preview:
        bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    return scenes.evaluated_frames(obj, FRAMES)


def final_file(obj):
    """Path of the final motion."""
    return Path(bpy.path.abspath(f"//shot {obj.name}.jcache"))


def samples(obj):
    return obj.jounce.flesh().curve


def test_a_straight_line_is_corotated_and_a_curve_is_not(character):
    obj, _ = character
    posed, plain = scenes.evaluated_frames(obj, FRAMES), baked(obj)
    moved = np.abs(plain - posed).max()
    chosen(obj)
    assert np.abs(baked(obj) - plain).max() < 1e-3 * moved
    draw(obj, HARDER)
    assert np.abs(baked(obj) - plain).max() > 0.05 * moved
    obj.jounce.law = "corotated"
    assert np.array_equal(baked(obj), plain)


def test_only_its_shape_counts(character):
    obj, _ = character
    chosen(obj, HARDER)
    shapes = baked(obj)
    draw(obj, [(stretch, 0.5 * stress + 0.25) for stretch, stress in HARDER])
    assert np.abs(baked(obj) - shapes).max() < 1e-4


def test_drafts_stay_as_they_are(character):
    obj, _ = character
    obj.jounce.quality = "DRAFT"
    draft, digest = baked(obj), obj.jounce.built_digest
    chosen(obj, HARDER)
    assert np.array_equal(baked(obj), draft) and obj.jounce.built_digest == digest


def test_the_preview_is_what_is_baked_whatever_was_drawn_between(character):
    obj, _ = character
    kept = []
    for points in (HARDER, ((0.0, -1.0), (2.0, 1.0)), HARDER):
        chosen(obj, points)
        previewed(obj)
        kept.append(final_file(obj).read_bytes())
    assert kept[0] == kept[2] != kept[1]
    bpy.ops.jounce.preview()
    final_file(obj).unlink()
    baked(obj)
    assert final_file(obj).read_bytes() == kept[0]


def test_a_change_of_the_curve_is_noticed_at_once(character, session):
    obj, _ = character
    chosen(obj, HARDER)
    previewed(obj)
    assert not session(obj).busy
    draw(obj, ((0.0, -1.0), (2.0, 1.0)))
    assert session(obj).busy


def test_scrubbing_and_reopening_keep_each_bit(character):
    obj, _ = character
    chosen(obj, HARDER)
    shapes, curve, bits = previewed(obj), samples(obj), final_file(obj).read_bytes()
    for frame in (9, 3, 12, 1):
        bpy.context.scene.frame_set(frame)
        assert np.array_equal(scenes.evaluated(obj), shapes[frame - 1])
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Column"]
    assert samples(obj) == curve and obj.jounce.law == "spline"
    scenes.activate(obj)
    assert np.array_equal(previewed(obj), shapes) and final_file(obj).read_bytes() == bits


def test_undo_takes_a_change_back_and_redo_makes_it_again(character):
    obj, _ = character
    chosen(obj)
    bpy.ops.ed.undo_push(message="chosen")
    draw(obj, HARDER)
    curve = samples(obj)
    bpy.ops.ed.undo_push(message="drawn")
    bpy.ops.ed.undo()
    assert np.allclose(samples(bpy.data.objects["Column"]), np.linspace(-1.0, 1.0, 41), atol=1e-6)
    bpy.ops.ed.redo()
    assert samples(bpy.data.objects["Column"]) == curve


def test_undo_takes_the_choice_back(character):
    bpy.ops.ed.undo_push(message="built")
    before = snapshot.file_state()
    chosen(bpy.data.objects["Column"])
    bpy.ops.ed.undo_push(message="chosen")
    bpy.ops.ed.undo()
    assert snapshot.file_state() == before and bpy.data.objects["Column"].jounce.law_curve is None


def test_remove_takes_it_away_and_nothing_else():
    obj, _ = scenes.character()
    artists = bpy.data.node_groups.new(f"Jounce Law {obj.name}", "ShaderNodeTree")
    artists.nodes.new("ShaderNodeFloatCurve")
    before = snapshot.snapshot(obj), snapshot.file_state()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    chosen(obj, HARDER)
    obj.jounce.law = "neo_hookean"
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_straighten_leaves_one_line(character):
    obj, _ = character
    assert_refused(bpy.ops.jounce.law_straighten, "is not drawn", "choose Curve")
    chosen(obj, HARDER)
    bpy.ops.jounce.law_straighten()
    assert np.allclose(samples(obj), np.linspace(-1.0, 1.0, 41), atol=1e-6)
    assert len(bpy.data.node_groups) == 1


@pytest.mark.parametrize(("side", "strains"), [("COMPRESSION", (-1.0, 0.0)), ("TENSION", (0.0, 1.0))])
def test_stiffen_draws_a_spline(character, side, strains):
    obj, _ = character
    assert_refused(bpy.ops.jounce.law_spline, "is not drawn", "choose Curve", side=side)
    chosen(obj, HARDER)
    bpy.ops.jounce.law_spline(side=side)
    strain = np.linspace(-1.0, 1.0, 41)
    formula = strain + np.clip(strain, *strains) ** 3
    assert np.abs(np.array(samples(obj)) - formula).max() < 0.01
    assert len(bpy.data.node_groups) == 1


@pytest.mark.parametrize("linked", [False, True])
def test_a_copy_of_a_body_has_a_curve_of_its_own(character, linked):
    obj, _ = character
    chosen(obj, HARDER)
    curve = samples(obj)
    scenes.activate(obj)
    bpy.ops.object.duplicate(linked=linked)
    bpy.context.view_layer.update()
    other = bpy.data.objects["Column.001"]
    assert samples(other) == curve and other.jounce.law_curve != obj.jounce.law_curve
    draw(other, FLAT)
    assert samples(obj) == curve
    scenes.activate(other)
    bpy.ops.jounce.remove()
    assert samples(obj) == curve and len(bpy.data.node_groups) == 1


def test_a_curve_that_a_step_redone_has_made_shared_is_parted_again(character):
    """Undo keeps the state of a copy before it got its own curve."""
    obj, _ = character
    chosen(obj, HARDER)
    scenes.activate(obj)
    bpy.ops.object.duplicate()
    other, tree = bpy.data.objects["Column.001"], obj.jounce.law_curve
    other.jounce.law_curve = tree
    bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(bpy.data.objects["Empty"])
    bpy.context.view_layer.update()
    assert obj.jounce.law_curve == tree != other.jounce.law_curve and samples(other) == samples(obj)


def test_a_copy_of_one_mesh_of_a_body_has_a_curve_of_its_own():
    obj, coat, _ = scenes.dressed()
    chosen(obj, HARDER)
    scenes.activate(coat)
    bpy.ops.object.duplicate()
    bpy.context.view_layer.update()
    other = bpy.data.objects["Coat.001"]
    assert other.jounce.is_host and samples(other) == samples(obj)
    assert other.jounce.law_curve != obj.jounce.law_curve and len(bpy.data.node_groups) == 2


def test_it_comes_along_when_its_body_is_appended(character):
    obj, _ = character
    chosen(obj, HARDER)
    curve = samples(obj)
    bpy.ops.wm.save_mainfile()
    path = bpy.data.filepath
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for _ in range(2):
        bpy.ops.wm.append(directory=f"{path}/Object/", filename="Column")
        bpy.context.view_layer.update()
    first, second = (bpy.data.objects[name] for name in ("Column", "Column.001"))
    assert samples(first) == samples(second) == curve
    assert first.jounce.law_curve != second.jounce.law_curve


def test_an_override_has_the_curve_of_its_library_until_it_is_straightened(tmp_path):
    def finish(obj, rig, coat):
        build(obj, rig, coat)
        chosen(obj, HARDER)

    path = make_library(tmp_path / "library.blend", finish)
    curve = samples(bpy.data.objects["Column"])
    obj, _, _ = shot(path)
    assert obj.jounce.law == "spline" and samples(obj) == curve
    assert obj.jounce.law_curve.library is not None
    scenes.activate(obj)
    bpy.ops.jounce.law_straighten()
    draw(obj, FLAT)
    mine = samples(obj)
    file = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    assert samples(own("Column")) == mine != curve


@pytest.mark.parametrize(
    ("points", "words"), [(FALLING, "falls from stretch 1.30"), (FLAT, "is flat at stretch 1")]
)
def test_what_is_no_stress_of_flesh_is_refused_and_told(character, session, module, points, words):
    obj, _ = character
    chosen(obj, points)
    assert_refused(bpy.ops.jounce.bake, words, "Straighten", target="MESH_CACHE")
    motion = module("panels.motion").JOUNCE_PT_motion
    assert words in " ".join(drawn(motion).texts())
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert words in session(obj).status()
    bpy.ops.jounce.law_straighten()
    bpy.ops.jounce.fill_cache()
    assert session(obj).status() == "Final"
    bpy.ops.jounce.preview()


def test_what_is_no_number_is_refused_once(character, session):
    """Scripts can put such points on a curve; the preview waits for a valid one, without further work."""
    obj, _ = character
    chosen(obj, ((0.0, -1.0), (1.0, float("nan")), (2.0, 1.0)))
    words = "no numbers"
    assert_refused(bpy.ops.jounce.bake, words, "Straighten", target="MESH_CACHE")
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    bpy.context.view_layer.update()
    assert words in session(obj).status() and not session(obj).busy
    bpy.ops.jounce.preview()


def test_stress_is_told_in_three_digits(module):
    told = module("panels.law").in_pascal
    shown = [told(stress) for stress in (0.02, -12.34, 999.4, 999.7, -999.96e3, 3e9)]
    assert shown == ["0.02 Pa", "-12.3 Pa", "999 Pa", "1 kPa", "-1 MPa", "3 GPa"]


def test_each_body_has_a_picture_of_its_own(character, module):
    obj, _ = character
    law = module("panels.law")
    chosen(obj, HARDER)
    harder = obj.jounce.flesh()
    draw(obj, ((0.0, -1.0), (2.0, 1.0)))
    straight = obj.jounce.flesh()
    law.picture_of(harder, "One"), law.picture_of(straight, "Other")
    one, other = (list(law._pictures[0][name].image_pixels_float) for name in ("One", "Other"))
    assert len(one) == len(other) > 0 and one != other


def test_the_panel_tells_the_stress_that_follows(character, module):
    obj, _ = character
    motion = module("panels.motion").JOUNCE_PT_motion
    obj.jounce.stiffness_by, obj.jounce.young = "PHYSICAL", 4000.0
    chosen(obj)
    texts = drawn(motion).texts()
    told = dict(zip(texts, texts[1:], strict=False))
    assert told["Young's Modulus"] == "4 kPa" and told["Stretch 1.5"] == "2 kPa"
    assert told["Stretch 0.5"] == "-2 kPa"
    functions = [function for function, _ in drawn(motion).drawn]
    assert {"template_curve_mapping", "template_icon"} <= set(functions)
    obj.jounce.quality = "DRAFT"
    assert "template_curve_mapping" not in [function for function, _ in drawn(motion).drawn]


def test_flesh_learns_what_is_drawn(character, session, lessons):
    obj, _ = character
    chosen(obj, HARDER)
    bpy.ops.jounce.learn()
    assert lessons.of(obj).facts.law == "spline"
    obj.jounce.quality = "LEARNT"
    previewed(obj)
    assert not any("law" in sentence for sentence in session(obj).final.warnings())
    draw(obj, ((0.0, -1.0), (2.0, 1.0)))
    previewed(obj)
    assert any("law" in sentence for sentence in session(obj).final.warnings())
