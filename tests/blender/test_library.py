"""Characters of another file: linked, with overridden objects and meshes left in the library."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
from libraries import build, build_and_preview, link, make_library, override

FRAMES = range(1, 13)


def build_and_bake(obj, rig, coat):
    build(obj, rig, coat)
    scenes.swing(rig)
    bpy.ops.jounce.bake(target="SKINNING_NODES")


def own(name):
    """An object of the open file."""
    return next(obj for obj in bpy.data.objects if obj.name.startswith(name) and obj.library is None)


def shot(path):
    """A file with animation of the overridden character."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, rig, coat = override(path)
    if rig.animation_data is not None:
        rig.animation_data.action = None
    scenes.swing(rig)
    scenes.settle_scene()
    return obj, rig, coat


def shapes(*objects):
    return np.stack([scenes.evaluated_frames(obj, FRAMES) for obj in objects])


def reopened(folder):
    path = str(Path(folder) / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return own("Column"), own("Coat")


def assert_shown_as_baked(obj, coat, target):
    seen = shapes(obj, coat)
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    posed = shapes(obj, coat)
    assert np.abs(seen - posed).max() > 0.004
    bpy.ops.jounce.bake(target=target)
    assert np.abs(shapes(obj, coat) - seen).max() < 2e-6
    return seen


@pytest.mark.parametrize("target", ["SKINNING_NODES", "MESH_CACHE"])
def test_a_built_character_is_previewed_and_baked_in_the_shot(tmp_path, target):
    library = make_library(tmp_path / "library.blend", build)
    untouched = library.read_bytes()
    obj, _, coat = shot(library)
    assert obj.data.library is not None and coat.jounce.host == obj
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    seen = assert_shown_as_baked(obj, coat, target)
    obj, coat = reopened(tmp_path)
    assert obj.jounce.bake_target == target
    assert np.abs(shapes(obj, coat) - seen).max() < 2e-6
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    obj, coat = reopened(tmp_path)
    assert not obj.jounce.bake_target
    assert [modifier.name for modifier in obj.modifiers] == ["Armature"]
    assert [o.name for o in bpy.data.objects if o.name.startswith("Jounce")] == []
    assert library.read_bytes() == untouched


def test_a_character_of_another_file_gets_a_copy_with_helper_bones(tmp_path):
    library = make_library(tmp_path / "library.blend", build)
    obj, _, coat = shot(library)
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    expected = shapes(obj)
    bpy.ops.jounce.bake(target="HELPER_BONES")
    error = obj.jounce.bake_error
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    copy = own("Column").jounce.bake_copy
    assert copy.library is copy.data.library is copy.override_library is None
    gaps = np.linalg.norm(shapes(copy) - expected, axis=-1) / np.linalg.norm(np.ptp(expected[0, 0], axis=0))
    assert 1e-4 < gaps.max() < 1.1 * error
    scenes.activate(own("Column"))
    bpy.ops.jounce.free_bake()
    assert not [o for o in bpy.data.objects if o.name.startswith("Column Rig")]


def test_preview_and_cache_are_kept_in_the_shot(tmp_path, module):
    obj, _, coat = shot(make_library(tmp_path / "library.blend", build))
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    seen = shapes(obj, coat)
    bpy.ops.jounce.fill_cache()
    kept = np.array(module("bridge.motions.motions").kept(obj).coefficients)
    obj, coat = reopened(tmp_path)
    assert obj.jounce.preview
    assert np.array_equal(np.array(module("bridge.motions.motions").kept(obj).coefficients), kept)
    assert np.array_equal(shapes(obj, coat), seen)
    assert np.array_equal(np.array(module("bridge.preview.previews").session(obj).cache.coefficients), kept)
    obj.name = "Hero"
    assert np.array_equal(np.array(module("bridge.motions.motions").kept(obj).coefficients), kept)


def learnt_by(obj, module):
    """The learnt basis of an overridden body, as stored in its shot."""
    return module("bridge.motions.learnt_store").of(obj).pack()


def test_what_is_learnt_is_kept_in_the_shot_beside_the_cache(tmp_path, module):
    obj, _, coat = shot(make_library(tmp_path / "library.blend", build))
    scenes.activate(obj)
    obj.jounce.use_limit = obj.jounce.use_stretch = False
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    seen, kept = shapes(obj, coat), learnt_by(obj, module)
    obj, coat = reopened(tmp_path)
    assert obj.jounce.quality == "LEARNT" and learnt_by(obj, module) == kept
    assert len(bpy.context.scene.jounce.motions) == 1
    scenes.activate(obj)
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(shapes(obj, coat), seen)
    bpy.ops.jounce.clear_cache()
    assert learnt_by(obj, module) == kept
    bpy.ops.jounce.preview()
    bpy.ops.jounce.clear_cache()
    bpy.ops.jounce.forget_learnt()
    assert not bpy.context.scene.jounce.motions
    assert module("bridge.motions.learnt_store").of(obj) is None


def test_jounce_is_added_in_the_shot(tmp_path):
    obj, _, coat = shot(make_library(tmp_path / "library.blend"))
    posed = shapes(obj, coat)
    scenes.add_and_build(obj, coat)
    obj.jounce.frequency = 3.0
    bpy.ops.jounce.preview()
    seen = shapes(obj, coat)
    obj, coat = reopened(tmp_path)
    assert obj.jounce.frequency == 3.0 and coat.jounce.host == obj and len(obj.jounce.modes_built) == 6
    assert np.array_equal(shapes(obj, coat), seen)
    assert_shown_as_baked(obj, coat, "SKINNING_NODES")
    scenes.activate(obj)
    bpy.ops.jounce.remove()
    assert not bpy.context.scene.jounce.motions
    obj, coat = reopened(tmp_path)
    assert not obj.jounce.is_host and coat.jounce.host is None
    assert [modifier.name for modifier in (*obj.modifiers, *coat.modifiers)] == ["Armature", "Armature"]
    assert np.array_equal(shapes(obj, coat), posed)


def test_seams_of_the_shot_are_kept(tmp_path):
    obj, _, coat = shot(make_library(tmp_path / "library.blend", build))
    scenes.activate(obj, coat)
    for _ in range(2):
        bpy.ops.jounce.stitch_nearest(distance=10.0)
    sewn = [(seam.name, [(pair.a, pair.b) for pair in seam.pairs]) for seam in obj.jounce.seams]
    assert len(sewn) == 2 and sewn[0][0] != sewn[1][0] and len(sewn[0][1]) > 2
    obj, coat = reopened(tmp_path)
    assert sewn == [(seam.name, [(pair.a, pair.b) for pair in seam.pairs]) for seam in obj.jounce.seams]
    assert obj.jounce.seams[0].mesh_a in (obj, coat)


def test_what_the_library_previewed_is_shown_anew(tmp_path):
    obj, rig, coat = shot(make_library(tmp_path / "library.blend", build_and_preview))
    assert obj.jounce.preview
    obj, coat = reopened(tmp_path)
    assert_shown_as_baked(obj, coat, "SKINNING_NODES")


def test_a_bake_of_the_library_is_replaced_in_the_shot(tmp_path):
    obj, rig, coat = shot(make_library(tmp_path / "library.blend", build_and_bake))
    rig.pose.bones["Upper"].rotation_euler = (0.3, 0.5, 0.0)
    rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=6)
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    baked = shapes(obj, coat)
    obj, coat = reopened(tmp_path)
    assert np.abs(shapes(obj, coat) - baked).max() < 2e-6
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    posed = shapes(obj, coat)
    obj, coat = reopened(tmp_path)
    assert np.array_equal(shapes(obj, coat), posed)
    assert np.abs(posed - baked).max() > 0.004


@pytest.mark.parametrize("instance", [True, False])
def test_a_linked_character_is_overridden_by_one_click(tmp_path, instance, module):
    character = link(make_library(tmp_path / "library.blend", build_and_preview), instance)
    overrides = module("bridge.body.overrides")
    linked = overrides.linked_of(character, bpy.context.scene)
    assert linked == bpy.data.collections["Character"] and overrides.stands_still(linked)
    if instance:
        character.location = (3.0, 0.0, 0.0)
    scenes.activate(character)
    assert bpy.ops.jounce.override() == {"FINISHED"}
    obj = bpy.context.object
    assert obj == own("Column") and not obj.override_library.is_system_override
    assert module("bridge.preview.previews").session(obj) is not None
    assert overrides.linked_of(obj, bpy.context.scene) is None
    if instance:
        assert overrides.linked_of(character, bpy.context.scene) is None
    visible = [obj.name for obj in bpy.context.scene.objects if obj.visible_get() and obj.library is not None]
    assert visible == []
    rig = own("Rig")
    rig.animation_data_clear()
    scenes.swing(rig)
    bpy.context.scene.frame_set(1)
    assert np.allclose(scenes.evaluated(obj).mean(axis=0)[0], 3.0 * instance, atol=0.1)
    obj, coat = reopened(tmp_path)
    seen = shapes(obj)
    assert np.allclose(seen.mean(axis=(0, 1, 2))[0], 3.0 * instance, atol=0.1)
    assert_shown_as_baked(obj, coat, "SKINNING_NODES")


def test_objects_that_are_linked_without_a_collection_are_overridden_together(tmp_path):
    library = make_library(tmp_path / "library.blend", build)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Column"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    scenes.activate(wanted.objects[0])
    assert bpy.ops.jounce.override() == {"FINISHED"}
    assert bpy.context.object == own("Column") and own("Column").find_armature() == own("Rig")
    assert [obj for obj in bpy.context.scene.objects if obj.library is not None] == []


def film(obj, _rig, _coat):
    """Adds a camera with a name that sorts first."""
    camera = bpy.data.objects.new("A Camera", bpy.data.cameras.new("A Camera"))
    obj.users_collection[0].objects.link(camera)


def test_a_mesh_becomes_active_before_a_camera(tmp_path):
    scenes.activate(link(make_library(tmp_path / "library.blend", film), instance=True))
    assert bpy.ops.jounce.override() == {"FINISHED"}
    assert bpy.context.object == own("Coat")


def leave_empty(*objects):
    for obj in objects:
        bpy.context.scene.collection.objects.link(obj)
        bpy.data.collections["Character"].objects.unlink(obj)


def test_a_collection_without_objects_cannot_be_overridden(tmp_path):
    scenes.activate(link(make_library(tmp_path / "library.blend", leave_empty), instance=True))
    with pytest.raises(RuntimeError, match="Character holds no object"):
        bpy.ops.jounce.override()
    assert own("Character").instance_type == "COLLECTION"


def test_a_locked_override_is_found_and_made_editable(tmp_path):
    character = link(make_library(tmp_path / "library.blend", build), instance=True)
    scenes.activate(character)
    bpy.ops.object.make_override_library()
    obj = own("Column")
    assert obj.override_library.is_system_override
    scenes.activate(obj)
    bpy.ops.jounce.diagnose()
    fixes = [found.fix for found in obj.jounce.findings]
    assert fixes.count("make_editable") == 2
    bpy.ops.jounce.fix(index=fixes.index("make_editable"))
    assert not obj.override_library.is_system_override
    assert [found.fix for found in obj.jounce.findings].count("make_editable") == 1
    obj, coat = reopened(tmp_path)
    assert [o.override_library.is_system_override for o in (obj, coat)] == [False, True]


def test_what_is_not_linked_cannot_be_overridden():
    obj, _ = scenes.character()
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="Column is not linked"):
        bpy.ops.jounce.override()


def test_two_overrides_of_one_character_are_two_bodies(tmp_path):
    library = make_library(tmp_path / "library.blend", build)
    obj, rig, coat = shot(library)
    other, other_rig, other_coat = override(library)
    scenes.swing(other_rig, "Lower")
    for host in (obj, other):
        scenes.activate(host)
        bpy.ops.jounce.preview()
    seen, others = shapes(obj, coat), shapes(other, other_coat)
    assert np.abs(seen - others).max() > 0.1
    assert_shown_as_baked(obj, coat, "SKINNING_NODES")
    assert np.array_equal(shapes(other, other_coat), others)


def test_rigs_that_are_not_linear(tmp_path):
    def preserve_volume(obj, rig, coat):
        obj.modifiers["Armature"].use_deform_preserve_volume = True
        obj.modifiers.new("Later", "SMOOTH").factor = 0.0
        build(obj, rig, coat)

    obj, _, coat = shot(make_library(tmp_path / "library.blend", preserve_volume))
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj, coat, "SKINNING_NODES")
    assert [modifier.name for modifier in obj.modifiers] == ["Armature", "Jounce", "Later"]


def test_shape_keys_need_a_local_mesh_which_diagnosis_makes(tmp_path):
    obj, _, coat = shot(make_library(tmp_path / "library.blend", build))
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="bake to Skinning Nodes or Mesh Cache"):
        bpy.ops.jounce.bake(target="MODAL_KEYS")
    with pytest.raises(RuntimeError, match="cannot be painted here"):
        bpy.ops.jounce.map_add(kind="PIN")
    for _ in (obj, coat):
        bpy.ops.jounce.diagnose()
        fixes = [found.fix for found in obj.jounce.findings]
        bpy.ops.jounce.fix(index=fixes.index("make_mesh_local"))
    assert "make_mesh_local" not in [found.fix for found in obj.jounce.findings]
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj, coat, "FRAME_KEYS")
    baked = shapes(obj, coat)
    obj, coat = reopened(tmp_path)
    assert obj.data.library is None
    assert np.array_equal(shapes(obj, coat), baked)


def test_shape_keys_of_the_library_are_freed_there(tmp_path):
    def bake_keys(obj, rig, coat):
        build(obj, rig, coat)
        scenes.swing(rig)
        bpy.ops.jounce.bake(target="FRAME_KEYS")

    obj, _, _ = shot(make_library(tmp_path / "library.blend", bake_keys))
    scenes.activate(obj)
    for operator in (bpy.ops.jounce.free_bake, bpy.ops.jounce.remove, bpy.ops.jounce.bake):
        with pytest.raises(RuntimeError, match="free that bake there"):
            operator()


def test_a_copy_of_an_override_has_a_holder_of_its_own(tmp_path, module):
    obj, _, coat = shot(make_library(tmp_path / "library.blend", build))
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    shown = shapes(obj)
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    module("bridge.preview.previews").sync()
    copied = shapes(copy)
    group = module("bridge.rig.preview_modifier").modifier_of
    assert group(copy).node_group != group(obj).node_group
    assert np.array_equal(shapes(obj), shown)
    assert np.array_equal(shapes(copy), copied)
