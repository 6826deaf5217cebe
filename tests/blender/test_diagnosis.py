"""Each finding, and the effect of its fix."""

import bpy
import numpy as np
import pytest
import scenes


@pytest.fixture
def column():
    """A built column on two bones."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    return obj, rig


def findings(obj):
    """Findings, as (sentence, fix)."""
    scenes.activate(obj)
    bpy.ops.jounce.diagnose()
    return [(found.sentence, found.fix) for found in obj.jounce.findings]


def subdivide_first(obj, _rig):
    obj.modifiers.new("Finer", "SUBSURF")
    obj.modifiers.move(1, 0)


def forget_weights(obj, _rig):
    for group in obj.vertex_groups:
        group.remove([3, 4])


def double_weights(obj, _rig):
    obj.vertex_groups["Upper"].add([0, 1, 2], 0.7, "REPLACE")


def throw_vertex(obj, _rig):
    obj.data.vertices[5].co = (500.0, 0.0, 0.0)


def name_no_group(obj, _rig):
    obj.jounce.pin_group = "Nowhere"


def rest(_obj, rig):
    rig.data.pose_position = "REST"


def share(obj, _rig):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", obj.data))


def pin_key(obj, _rig):
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile")
    obj.show_only_shape_key = True


FIXABLE = [
    (
        subdivide_first,
        "The modifier Finer of Column changes vertices before the armature.",
        "move_armature_up",
    ),
    (double_weights, "The bone weights of 3 vertices of Column do not sum to 1.", "normalise_weights"),
    (name_no_group, "The vertex group Nowhere of the map Pin is on no mesh of Column.", "clear_map"),
    (rest, "Rig is in Rest Position, so it does not move.", "use_pose_position"),
    (share, "Column shares its mesh with Twin, which would get the same shape keys.", "make_single_user"),
    (pin_key, "Column shows only its active shape key, so a bake would not be seen.", "unpin_shape_key"),
]


def test_a_good_body_has_no_findings(column):
    assert findings(column[0]) == []
    assert column[0].jounce.is_diagnosed


def test_what_has_neither_button_nor_consequence_is_not_said(column):
    obj, _ = column
    other = scenes.column("Other")
    other.location.x = 5.0
    scenes.activate(obj, other)
    bpy.ops.object.join()
    obj.scale = (1.0, 1.0, 1.3)
    bpy.context.view_layer.update()
    bpy.ops.jounce.build()
    sentences = [sentence for sentence, _ in findings(obj)]
    assert not any("loose parts" in sentence or "unevenly" in sentence for sentence in sentences), sentences


@pytest.mark.parametrize(("spoil", "sentence", "fix"), FIXABLE, ids=[row[0].__name__ for row in FIXABLE])
def test_a_fix_takes_its_finding_away(column, spoil, sentence, fix):
    obj, _ = column
    spoil(*column)
    assert (sentence, fix) in findings(obj)
    index = [found.fix for found in obj.jounce.findings].index(fix)
    assert bpy.ops.jounce.fix(index=index) == {"FINISHED"}
    assert fix not in [found.fix for found in obj.jounce.findings]


@pytest.mark.parametrize(
    ("spoil", "fix", "vertices"),
    [(forget_weights, "select_unweighted", [3, 4]), (throw_vertex, "select_strays", [5])],
)
def test_what_only_an_artist_can_mend_is_selected(column, spoil, fix, vertices):
    obj, _ = column
    spoil(*column)
    assert fix in [found for _, found in findings(obj)]
    bpy.ops.jounce.fix(index=[found.fix for found in obj.jounce.findings].index(fix))
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.flatnonzero([vertex.select for vertex in obj.data.vertices]).tolist() == vertices


def test_of_a_hidden_mesh_nothing_is_selected(column):
    obj, _ = column
    throw_vertex(*column)
    fixes = [fix for _, fix in findings(obj)]
    obj.hide_set(True)
    with pytest.raises(RuntimeError, match="Column is hidden"):
        bpy.ops.jounce.fix(index=fixes.index("select_strays"))
    assert obj.mode == "OBJECT"


def test_a_changed_body_asks_for_a_build(column):
    obj, _ = column
    obj.jounce.resolution += 4
    assert findings(obj) == [("Column has changed since it was built.", "build")]
    obj.jounce.built_digest = ""
    assert findings(obj) == [("Column is not built yet.", "build")]


def test_a_body_that_got_another_mesh_asks_for_a_build(column):
    obj, rig = column
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    coat.jounce.host = obj
    assert findings(obj) == [("Column has changed since it was built.", "build")]
    bpy.ops.jounce.fix(index=0)
    assert len(obj.jounce.findings) == 0


def test_a_still_or_huge_body_is_said(column):
    obj, rig = column
    rig.animation_data_clear()
    bpy.context.scene.unit_settings.scale_length = 100.0
    sentences = [sentence for sentence, _ in findings(obj)]
    assert "Nothing moves Column: neither bones nor object are animated." in sentences
    assert any(sentence.startswith("Column measures 217 m") for sentence in sentences)


@pytest.mark.usefixtures("coarse_setup")
@pytest.mark.parametrize("mend", ["build", "bake", "setup", "preview"])
def test_once_it_is_built_nothing_says_that_it_is_not(mend):
    obj, _ = scenes.character()
    scenes.activate(obj)
    if mend == "setup":
        bpy.ops.jounce.setup()
    else:
        scenes.add_and_build(obj)
        obj.jounce.resolution += 4
        assert "build" in [fix for _, fix in findings(obj)]
        getattr(bpy.ops.jounce, mend)()
        if mend == "preview":
            bpy.ops.jounce.fill_cache()
    assert obj.jounce.is_diagnosed and len(obj.jounce.findings) == 0


def test_what_only_shows_once_it_is_built_is_found_by_the_build():
    obj, _ = scenes.character()
    bpy.context.scene.unit_settings.scale_length = 100.0
    scenes.add_and_build(obj)
    assert [found.sentence[:16] for found in obj.jounce.findings] == ["Column measures "]


def test_a_map_that_gets_its_group_is_no_longer_found(column):
    obj, _ = column
    name_no_group(*column)
    assert "clear_map" in [fix for _, fix in findings(obj)]
    bpy.ops.jounce.map_add(kind="PIN")
    assert "clear_map" not in [found.fix for found in obj.jounce.findings]


def test_adding_looks_at_once():
    obj, rig = scenes.character()
    rest(obj, rig)
    scenes.activate(obj)
    bpy.ops.jounce.add()
    assert [found.fix for found in obj.jounce.findings] == ["use_pose_position", "build"]


def test_a_finding_that_is_gone_cannot_be_fixed(column):
    rest(*column)
    assert len(findings(column[0])) == 1
    with pytest.raises(RuntimeError, match="Column has no finding 3; diagnose it again"):
        bpy.ops.jounce.fix(index=3)


def test_what_tears_is_named_and_may_be_made_rigid():
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.frequency, obj.jounce.use_limit, obj.jounce.use_stretch = 0.4, False, False
    assert not any("stretches" in sentence for sentence, _ in findings(obj))
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    torn = [found for found in findings(obj) if found[1] == "make_rigid"]
    assert torn and all("In frame" in sentence and "%" in sentence for sentence, _ in torn)
    names = [found.detail for found in obj.jounce.findings if found.fix == "make_rigid"]
    bpy.ops.jounce.fix(index=[found.fix for found in obj.jounce.findings].index("make_rigid"))
    assert rig.pose.bones[names[0]].jounce_role == "RIGID"


def test_it_is_the_final_motion_that_tears_where_that_is_shown(module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.frequency, obj.jounce.use_limit, obj.jounce.use_stretch = 0.4, False, False
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    draft = [sentence for sentence, fix in findings(obj) if fix == "make_rigid"]
    obj.jounce.quality = "FINAL"
    bpy.ops.jounce.fill_cache()
    final = [sentence for sentence, fix in findings(obj) if fix == "make_rigid"]
    assert final != draft
    for sentence in final:
        frame, stretch = (int(word.strip("%;")) for word in sentence.split() if word.strip("%;").isdigit())
        bpy.context.scene.frame_set(frame)
        shown = scenes.evaluated(obj)
        bpy.ops.jounce.preview()
        posed = scenes.evaluated(obj)
        bpy.ops.jounce.preview()
        edges = np.array([edge.vertices[:] for edge in obj.data.edges])
        before, after = (np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1) for p in (posed, shown))
        assert stretch <= 100.0 * np.abs(after / before - 1.0).max() + 1.0
