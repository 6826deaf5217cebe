"""Settings in files: the same character gets the same body to the bit, others what they have in common."""

import json

import bpy
import numpy as np
import pytest
import scenes
from snapshot import snapshot
from test_refusals import assert_refused


@pytest.fixture
def path(tmp_path):
    return tmp_path / "look.jounce.json"


def save(path):
    assert bpy.ops.jounce.settings_save(filepath=str(path)) == {"FINISHED"}
    return json.loads(path.read_text())


def load(path, obj):
    scenes.activate(obj)
    assert bpy.ops.jounce.settings_load(filepath=str(path)) == {"FINISHED"}


def group(obj, name, weights):
    """A vertex group with these weights."""
    made = obj.vertex_groups.new(name=name)
    for vertex, weight in enumerate(np.asarray(weights, np.float32).tolist()):
        made.add([vertex], weight, "REPLACE")


def dressed():
    """A built body of two meshes, with settings of every kind."""
    obj, coat, rig = scenes.dressed()
    state, count = obj.jounce, len(obj.data.vertices)
    state.frequency, state.softness, state.strength, state.substeps = 3.3, 1.7, 1.3, 3
    state.use_gravity, state.velocity, state.bone_core = True, (0.1, 0.2, 0.3), 0.1
    state.exaggerate, state.integrator, state.poisson = 1.4, "bdf2", 0.3
    state.directions.add().name = "Paunch"
    state.directions["Paunch"].lag = 2.0
    rig.pose.bones["Upper"].jounce_role = "FLESH"
    rig.pose.bones["Lower"].jounce_leak = 0.4
    for name in ("Steel", "Wool"):
        coat.data.materials.append(bpy.data.materials.new(name))
    bpy.data.materials["Steel"].jounce_rigid = True
    coat.data.polygons.foreach_set("material_index", [face > 3 for face in range(len(coat.data.polygons))])
    state.pin_group, state.stiffness_group, state.muscle_group = "Hem", "Paint", "Biceps"
    group(obj, "Hem", np.arange(count) < 20)
    group(coat, "Hem", np.zeros(count))
    group(obj, "Paint", np.random.default_rng(1).random(count))
    group(obj, "Biceps", np.arange(count) > 90)
    group(obj, "Triceps", np.arange(count) > 120)
    state.more_muscles.add().muscle_group = "Triceps"
    part = state.add_part("Paunch")
    part.amount, part.softness, part.fitted_amount = 1.5, 2.0, 0.7
    group(obj, "Paunch", np.linspace(0.0, 1.0, count))
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for face in (1, 2, 3, 7):
        obj.data.polygons[face].select = True
    bpy.ops.jounce.mark_rigid()
    bpy.ops.jounce.build()
    return obj, coat, rig


def shapes(obj):
    """The state of an object without its own properties."""
    return {name: kept for name, kept in snapshot(obj).items() if name not in ("object", "custom")}


def bare():
    """The same character without Jounce, in a new file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, coat, rig = scenes.clothed()
    for name in ("Steel", "Wool"):
        coat.data.materials.append(bpy.data.materials.new(name))
    coat.data.polygons.foreach_set("material_index", [face > 3 for face in range(len(coat.data.polygons))])
    return obj, coat, rig


def test_the_same_character_gets_the_same_body_to_the_bit(path):
    obj, _, _ = dressed()
    digest, kept = obj.jounce.built_digest, save(path)
    assert kept["parts"]["Paunch"] == {"amount": 1.5, "softness": 2.0, "own": True, "fitted_amount": 0.7}
    assert kept["rigid"] == {"Column": "1-3 7"} and kept["materials"] == ["Steel"]
    assert kept["bones"] == {"Upper": {"jounce_role": "FLESH"}, "Lower": {"jounce_leak": 0.4}}
    obj, coat, _ = bare()
    load(path, coat)
    assert obj.jounce.is_host and coat.jounce.host == obj and obj.jounce.preview
    assert obj.jounce.built_digest == digest
    again = path.with_name("again.jounce.json")
    scenes.activate(coat)
    assert save(again) == kept


def test_a_body_gets_all_settings_in_the_place_of_its_own(path):
    dressed()
    kept = save(path)
    obj, _, rig = bare()
    scenes.add_and_build(obj, bpy.data.objects["Coat"])
    obj.jounce.softness, obj.jounce.leak_group = 3.0, "Leak"
    rig.pose.bones["Upper"].jounce_leak = 0.2
    obj.jounce.add_part("Hump").amount = 2.0
    load(path, obj)
    assert save(path.with_name("again.jounce.json")) == kept


def test_the_folds_of_a_shot_are_for_the_same_meshes(path, module):
    obj, _, _ = dressed()
    count = len(module("bridge.body.bodies").read(obj, bpy.context, print).surface.points)
    obj.jounce.folds = module("core.mesh.shares").packed(np.linspace(0.0, 1.0, count))
    bpy.ops.jounce.build()
    digest, kept = obj.jounce.built_digest, save(path)
    obj, coat, _ = bare()
    load(path, coat)
    assert obj.jounce.built_digest == digest and obj.jounce.folds == kept["body"]["folds"]
    obj, coat, _ = bare()
    coat.data.vertices[0].co.x += 0.01
    load(path, coat)
    assert obj.jounce.is_host and not obj.jounce.folds


def test_another_mesh_gets_maps_by_its_bones(path):
    dressed()
    kept = save(path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, rig = scenes.character()
    other = scenes.column("Other", rings=17)
    scenes.skin(other, rig, 2.0)
    other.parent = rig
    bpy.data.objects.remove(obj)
    scenes.settle_scene()
    load(path, other)
    assert other.jounce.is_host and other.jounce.softness == np.float32(1.7)
    shares = kept["maps"]["Paunch"]["bones"]
    assert shares["Lower"] < 0.4 and shares["Upper"] > 0.6
    weights = [other.vertex_groups["Paunch"].weight(index) for index in (0, len(other.data.vertices) - 1)]
    assert np.allclose(weights, [shares["Lower"], shares["Upper"]], atol=1e-4)
    assert list(other.jounce.parts.keys()).count("Paunch") == 1


def test_vertex_groups_of_the_artist_keep_name_and_weights(path):
    dressed()
    save(path)
    obj, coat, _ = bare()
    group(coat, "Hem", np.full(len(coat.data.vertices), 0.25))
    group(coat, "Paunch", np.full(len(coat.data.vertices), 0.5))
    load(path, obj)
    assert coat.vertex_groups["Hem"].weight(5) == 0.25 and coat.vertex_groups["Paunch"].weight(5) == 0.5
    assert obj.jounce.pin_group == "Hem.001" and obj.vertex_groups["Hem.001"].weight(0) == 1.0
    assert obj.jounce.parts["Paunch.001"].amount == 1.5
    assert obj.jounce.directions["Paunch.001"].lag == 2.0


def test_hard_materials_of_others_and_linked_ones_stay(path, tmp_path):
    dressed()
    save(path)
    obj, coat, _ = bare()
    stool = scenes.column("Stool")
    stool.data.materials.append(bpy.data.materials["Wool"])
    bpy.data.materials["Wool"].jounce_rigid = True
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {bpy.data.materials["Steel"]})
    bpy.data.materials.remove(bpy.data.materials["Steel"])
    with bpy.data.libraries.load(str(library), link=True) as (_, linked):
        linked.materials = ["Steel"]
    coat.data.materials[0] = bpy.data.materials["Steel"]
    load(path, obj)
    assert bpy.data.materials["Wool"].jounce_rigid and not bpy.data.materials["Steel"].jounce_rigid


def test_stitches_and_a_drawn_law_are_kept(path):
    obj, coat, _ = scenes.dressed()
    scenes.activate(obj, coat)
    bpy.ops.jounce.stitch_nearest(distance=20.0, most=9)
    obj.jounce.seams[0].stiffness = 0.3
    obj.jounce.law = "spline"
    curve = next(iter(obj.jounce.law_curve.nodes)).mapping.curves[0]
    curve.points.new(1.2, 0.6)
    save(path)
    kept = json.loads(path.read_text())
    assert len(kept["law"]) == 3 and len(kept["stitches"][0]["pairs"]) == 9
    obj, coat, _ = bare()
    load(path, obj)
    curve = next(iter(obj.jounce.law_curve.nodes)).mapping.curves[0]
    assert np.allclose([[*point.location] for point in curve.points], [point[:2] for point in kept["law"]])
    assert save(path.with_name("again.jounce.json")) == kept


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"body": {"integrator": "rk4"}}, ["Integrator", "rk4"]),
        ({"body": {"frequency": "high"}}, ["Frequency", "high"]),
        ({"body": {"folds": "3 high"}}, ["Folds", "3 high"]),
        ({"parts": {"belly": {"amount": True}}}, ["Amount", "True"]),
        ({"bones": {"Upper": {"jounce_role": "SOFT"}}}, ["Role", "SOFT"]),
        ({"rigid": {"Column": "3-100000"}}, ["Column", "3-100000"]),
        ({"version": 7}, ["newer version"]),
    ],
)
def test_a_wrong_file_is_refused_and_changes_nothing(path, change, words):
    dressed()
    path.write_text(json.dumps(save(path) | change))
    assert_refused(bpy.ops.jounce.settings_load, *words, filepath=str(path))
    obj, coat, _ = bare()
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match=words[0]):
        bpy.ops.jounce.settings_load(filepath=str(path))
    assert not obj.jounce.is_host and coat.jounce.host is None
    assert len(obj.vertex_groups) == 2


def test_a_refused_build_leaves_everything_as_it_was(path, module, monkeypatch):
    dressed()
    save(path)
    obj, coat, rig = bare()
    before = [shapes(each) for each in (obj, coat)]

    def refused(*_):
        raise module("core.common.user_error").UserError("No room.")
        yield

    monkeypatch.setattr(module("ops.settings_files"), "build_body", refused)
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="No room"):
        bpy.ops.jounce.settings_load(filepath=str(path))
    assert [shapes(each) for each in (obj, coat)] == before
    assert not obj.jounce.is_host and coat.jounce.host is None
    assert rig.pose.bones["Upper"].jounce_role == "AUTOMATIC"
    assert not bpy.data.materials["Steel"].jounce_rigid
