"""One click from a rigged mesh to a body that can be baked."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot

pytestmark = pytest.mark.usefixtures("coarse_setup")


def test_a_mesh_moves_at_once_and_can_be_baked(module):
    obj, _ = scenes.character()
    scenes.activate(obj)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    sensible = module("core.body.sensible")
    assert obj.jounce.built_digest
    assert (obj.jounce.modes, obj.jounce.clusters) == (sensible.MODES, sensible.CUBATURE)
    assert obj.jounce.preview
    assert sensible.LEAST_RESOLUTION <= obj.jounce.resolution <= sensible.MOST_RESOLUTION
    bpy.ops.jounce.bake()
    assert obj.jounce.bake_keys > 0


def test_an_armature_brings_all_its_meshes():
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.4, rings=4)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    stone = scenes.column("Stone")
    scenes.activate(rig)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert obj.jounce.is_host
    assert coat.jounce.host == obj
    assert stone.jounce.host is None
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    assert obj.jounce.bake_keys and coat.jounce.bake_keys


def dressed():
    """A character with a hat on a bone, and a feather on the hat: mesh, armature, hat, feather."""
    obj, rig = scenes.character()
    hat, feather = scenes.column("Hat", radius=0.2, rings=4), scenes.column("Feather", radius=0.1)
    scenes.hang(hat, rig)
    feather.parent = hat
    return obj, rig, hat, feather


def test_what_hangs_on_bones_is_offered(module):
    obj, rig, hat, feather = dressed()
    feather.hide_set(True)
    scenes.activate(rig)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert hat.jounce.host is None and feather.jounce.host is None
    sentence = "Hat hangs on a bone of Rig: it stays rigid, flesh may cover it."
    assert [(found.sentence, found.fix) for found in obj.jounce.findings] == [(sentence, "add_to_body")]
    assert bpy.ops.jounce.fix(index=0) == {"FINISHED"}
    assert hat.jounce.host == obj and len(obj.jounce.findings) == 0
    digest = (
        module("bridge.body.bodies").read(obj, bpy.context, print).surface.digest(obj.jounce.build_settings())
    )
    assert obj.jounce.built_digest == digest
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(6)
    fleshed = scenes.evaluated(hat)
    bpy.ops.jounce.preview()
    assert np.abs(fleshed - scenes.evaluated(hat)).max() > 1e-3


def dressed_in_a_coat():
    """A character with a coat deformed by its armature: mesh, coat."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.6)
    scenes.skin(coat, rig, 2.0)
    scenes.activate(obj)
    return obj, coat


def test_what_the_armature_deforms_beside_the_body_is_offered():
    obj, coat = dressed_in_a_coat()
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    sentence = "Coat follows Rig and is no part of Column: flesh may come through it."
    assert [(found.sentence, found.fix) for found in obj.jounce.findings] == [(sentence, "add_to_body")]
    assert bpy.ops.jounce.fix(index=0) == {"FINISHED"}
    assert coat.jounce.host == obj and len(obj.jounce.findings) == 0


def test_what_is_hidden_is_not_offered():
    obj, coat = dressed_in_a_coat()
    coat.hide_set(True)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert len(obj.jounce.findings) == 0


def test_what_hangs_on_bones_is_added_in_pose_mode_too():
    obj, rig, hat, feather = dressed()
    feather.hide_set(True)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    assert [found.fix for found in obj.jounce.findings] == ["add_to_body"]
    assert bpy.ops.jounce.fix(index=0) == {"FINISHED"}
    assert hat.jounce.host == obj and len(obj.jounce.findings) == 0


def test_many_that_hang_on_bones_are_offered_as_one():
    obj, rig, hat, feather = dressed()
    plates = [scenes.column(f"Plate {number}", radius=0.35, rings=2) for number in range(7)]
    for plate in plates:
        scenes.hang(plate, rig, "Lower")
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    sentence = "9 meshes of Rig are no part of Column: flesh may cover or pierce them."
    assert [(found.sentence, found.fix) for found in obj.jounce.findings] == [(sentence, "add_all_to_body")]
    assert bpy.ops.jounce.fix(index=0) == {"FINISHED"}
    assert all(part.jounce.host == obj for part in (hat, feather, *plates))
    assert len(obj.jounce.findings) == 0


def test_of_many_that_hang_on_bones_those_are_added_that_can_be():
    obj, rig, hat, feather = dressed()
    plates = [scenes.column(f"Plate {number}", radius=0.35, rings=2) for number in range(7)]
    for plate in plates:
        scenes.hang(plate, rig, "Lower")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", plates[3].data))
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert [found.fix for found in obj.jounce.findings] == ["add_all_to_body"]
    assert bpy.ops.jounce.fix(index=0) == {"FINISHED"}
    assert all(part.jounce.host == obj for part in (hat, feather, *plates) if part != plates[3])
    assert [(found.obj, found.fix) for found in obj.jounce.findings] == [("Plate 3", "add_to_body")]
    with pytest.raises(RuntimeError, match="Plate 3 shares its mesh with Twin"):
        bpy.ops.jounce.fix(index=0)


@pytest.mark.parametrize("deforms", [True, False])
def test_an_armature_that_mostly_carries_meshes_brings_them(deforms):
    obj, rig, hat, feather = dressed()
    parts = [hat, feather]
    if deforms:
        hand = scenes.column("Hand", radius=0.1, rings=3)
        scenes.skin(hand, rig, 2.0)
        parts.append(hand)
    bpy.data.objects.remove(obj)
    scenes.activate(rig)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    host = parts.pop() if deforms else parts.pop(0)
    assert host.jounce.is_host
    assert all(part.jounce.host == host for part in parts)
    assert bpy.ops.jounce.bake() == {"FINISHED"}


def test_a_sword_of_many_vertices_makes_no_robot():
    obj, rig = scenes.character()
    sword = scenes.column("Sword", height=1.0, radius=0.05, rings=40)
    scenes.hang(sword, rig)
    assert len(sword.data.vertices) > len(obj.data.vertices)
    scenes.activate(rig)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert obj.jounce.is_host and sword.jounce.host is None


def test_what_hangs_on_bones_and_has_jounce_stays_a_body_of_its_own():
    obj, rig = scenes.character()
    sack = scenes.column("Sack", radius=0.6)
    scenes.hang(sack, rig)
    scenes.activate(sack)
    bpy.ops.jounce.add()
    scenes.activate(rig)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert obj.jounce.is_host and sack.jounce.is_host and sack.jounce.host is None


def test_the_armature_stands_for_what_it_deforms_before_what_it_carries(module):
    obj, rig, hat, _ = dressed()
    hat.name = "A Hat"
    for mesh in (hat, obj):
        scenes.activate(mesh)
        bpy.ops.jounce.add()
    bodies = module("bridge.body.bodies")
    assert bodies.host_of(rig) == obj
    assert set(bodies.hosts_of(rig)) == {obj, hat}


def test_an_armature_in_pose_mode_stands_for_the_bodies_that_it_moves():
    obj, rig = scenes.character()
    stone = scenes.column("Stone")
    scenes.skin(stone, rig, 2.0)
    for mesh in (obj, stone):
        scenes.activate(mesh)
        bpy.ops.jounce.add()
        scenes.coarse(mesh)
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.jounce.build() == {"FINISHED"}
    assert obj.jounce.built_digest and stone.jounce.built_digest
    bpy.ops.pose.select_all(action="SELECT")
    assert bpy.ops.jounce.map_from_bones(kind="PIN") == {"FINISHED"}
    assert "Pin" in obj.vertex_groups
    assert bpy.ops.jounce.map_paint(kind="PIN") == {"FINISHED"}
    assert (bpy.context.mode, bpy.context.object) == ("PAINT_WEIGHT", obj)


def test_a_material_goes_onto_the_body_that_the_armature_moves(module):
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.activate(rig)
    folder = module("registration").FOLDER
    bpy.ops.script.execute_preset(
        filepath=f"{folder}/presets/jounce/material/Rubber.py", menu_idname="JOUNCE_MT_materials"
    )
    assert obj.jounce.stiffness_by == "PHYSICAL"


def test_a_rigged_mesh_without_faces_is_refused_in_a_sentence():
    obj, _ = scenes.character()
    obj.data.clear_geometry()
    obj.data.from_pydata([(0.0, 0.0, 1.0)], [], [])
    (obj.vertex_groups.get("Upper") or obj.vertex_groups.new(name="Upper")).add([0], 1.0, "REPLACE")
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="has no faces") as refused:
        bpy.ops.jounce.setup()
    assert "Traceback" not in str(refused.value)
    assert not obj.is_property_set("jounce")


def test_a_refusal_adds_nothing():
    obj, rig = scenes.character()
    lines = scenes.mesh_object("Lines", [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)], [])
    scenes.activate(lines)
    before = snapshot.snapshot(lines)
    with pytest.raises(RuntimeError, match="Lines has no faces"):
        bpy.ops.jounce.setup()
    assert snapshot.differences(before, snapshot.snapshot(lines)) == []
    obj.parent = None
    obj.modifiers.clear()
    scenes.activate(rig)
    with pytest.raises(RuntimeError, match="Rig moves no mesh; select the character's meshes"):
        bpy.ops.jounce.setup()


def warnings(module, monkeypatch):
    """Collected warnings of operators from now on."""
    said = []
    operator = module("ops.operator").JounceOperator
    monkeypatch.setattr(operator, "warn", lambda _self, sentence: said.append(sentence))
    return said


def sculpted(obj):
    scenes.activate(obj)
    obj.modifiers.new("Fine", "MULTIRES")
    bpy.ops.object.multires_subdivide(modifier="Fine")


def bendy(obj):
    obj.find_armature().data.bones["Upper"].bbone_segments = 4


def jelly(obj):
    obj.modifiers.new("Fine", "SOFT_BODY")


@pytest.mark.parametrize(
    ("change", "target", "said"),
    [
        (
            [sculpted],
            "MODAL_KEYS",
            ["Column has no preview, and bakes to Modal Shape Keys: The modifier Fine"],
        ),
        ([jelly], "MODAL_KEYS", ["Column has no preview, and bakes to Modal Shape Keys: The modifier Fine"]),
        ([bendy], "SKINNING_NODES", ["Bake To is Skinning Nodes: Column is posed by the bendy bones of Rig"]),
        (
            [bendy, sculpted],
            "MESH_CACHE",
            [
                "Bake To is Mesh Cache (PC2): Column is posed by the bendy bones",
                "Column has no preview, and bakes to Mesh Cache (PC2): The modifier Fine",
            ],
        ),
    ],
)
def test_a_body_without_a_preview_or_shape_keys_is_better_than_none(
    change, target, said, module, monkeypatch, tmp_path
):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj, rig = scenes.character()
    for make in change:
        make(obj)
    heard = warnings(module, monkeypatch)
    scenes.activate(rig)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert obj.jounce.built_digest and obj.jounce.target == target
    assert obj.jounce.preview is (change == [bendy])
    assert all(sentence.startswith(begin) for sentence, begin in zip(heard, said, strict=True))
    assert any("needs the mesh itself" in found.sentence for found in obj.jounce.findings) is (
        change != [bendy]
    )
    frames = range(1, 13)
    if obj.jounce.preview:
        bpy.ops.jounce.preview()
    posed = scenes.evaluated_frames(obj, frames)
    assert bpy.ops.jounce.bake() == {"FINISHED"} and obj.jounce.bake_parts
    baked = scenes.evaluated_frames(obj, frames)
    assert np.abs(baked - posed).max() > 1e-3


def test_stopping_takes_everything_back(module):
    obj, _ = scenes.character()
    scenes.activate(obj)
    before = snapshot.snapshot(obj)
    operator = module("ops.setup").JOUNCE_OT_setup
    task = operator.task(type("Silent", (), {"warn": staticmethod(lambda _sentence: None)})(), bpy.context)
    next(task)
    assert obj.jounce.is_host
    next(task)
    task.close()
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_a_body_is_not_set_up_twice():
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    with pytest.raises(RuntimeError, match="Column has Jounce already"):
        bpy.ops.jounce.setup()


@pytest.mark.parametrize("way", ["preview", "bake"])
def test_a_file_from_before_the_list_of_modes_lists_them_when_its_body_is_in_memory(way, module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    state = obj.jounce
    ratios, summary = [mode.ratio for mode in state.modes_built], state.built_summary
    state.modes_built.clear()
    if way == "bake":
        bpy.ops.jounce.bake()
    else:
        bpy.ops.jounce.preview()
        bpy.ops.jounce.fill_cache()
    assert [mode.ratio for mode in state.modes_built] == ratios
    assert state.built_summary == summary


def two_characters():
    """Two characters beside each other, the second with a coat: (mesh, armature) of each, and the coat."""
    first, second = scenes.character(), scenes.character()
    coat = scenes.column("Coat", radius=0.4, rings=4)
    coat.parent = second[1]
    scenes.skin(coat, second[1], 2.0)
    second[1].location.x = 2.0
    scenes.settle_scene()
    return first, second, coat


@pytest.mark.parametrize("of_meshes", [False, True])
def test_two_rigs_that_are_selected_become_a_body_each(of_meshes):
    (one, rig), (two, other), coat = two_characters()
    scenes.activate(*((one, two, coat, rig, other) if of_meshes else (rig, other)))
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert one.jounce.is_host and two.jounce.is_host and coat.jounce.host == two
    assert one.jounce.built_digest and two.jounce.built_digest
    assert one.jounce.preview and two.jounce.preview
    for obj in (one, two, coat):
        assert any(modifier.type == "NODES" for modifier in obj.modifiers)


def test_rigs_of_one_character_are_one_body():
    (one, rig), (two, other), coat = two_characters()
    other.pose.bones["Lower"].constraints.new("COPY_TRANSFORMS").target = rig
    scenes.activate(one, two, coat)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert one.jounce.is_host and two.jounce.host == coat.jounce.host == one


def test_one_of_two_that_cannot_be_a_body_leaves_both_as_they_were():
    (one, rig), (two, other), coat = two_characters()
    two.modifiers.new("Build", "ARRAY")
    two.modifiers.move(1, 0)
    scenes.activate(rig, other)
    with pytest.raises(RuntimeError, match="stands before its armature"):
        bpy.ops.jounce.setup()
    assert not any(obj.is_property_set("jounce") for obj in (one, two, coat))


def test_who_has_jounce_or_no_mesh_is_left_out_in_a_sentence(capfd):
    (one, rig), (two, other), coat = two_characters()
    scenes.activate(one)
    bpy.ops.jounce.setup()
    bare, stone = scenes.armature([("Bone", 0.0, 1.0)], "Bare"), scenes.column("Stone")
    scenes.activate(other, rig, bare, stone)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    said = capfd.readouterr()
    told = said.out + said.err
    assert "The meshes of Rig have Jounce already" in told
    assert "Bare moves no mesh, so it was left out" in told
    assert "No rig moves Stone, so it was left out" in told
    assert two.jounce.is_host and coat.jounce.host == two and not stone.is_property_set("jounce")
