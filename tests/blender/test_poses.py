"""The evaluated mesh decides about its pose: live weights, caches, nodes, switches, keyed vertices."""

import bpy
import numpy as np
import posed
import pytest
import scenes
import test_bake
import test_rigs

FRAMES, simulated, assert_baked = test_bake.FRAMES, test_bake.simulated, test_bake.assert_baked
NOT_KEYS = ("SKINNING_NODES", "MESH_CACHE")


def flesh(module, host):
    """Largest displacement of the flesh in each frame, as a share of the size."""
    return np.linalg.norm(test_rigs.recorded(module, host), axis=2).max(axis=1)


def assert_all_baked(obj, simulated, targets):
    """Bakes to one target after the other; each shows the simulation."""
    for target in targets:
        assert_baked(obj, simulated, target)
        bpy.ops.jounce.free_bake()


def findings(obj):
    """The sentences of Diagnosis about a body."""
    scenes.activate(obj)
    bpy.ops.jounce.diagnose()
    return [found.sentence for found in obj.jounce.findings]


def test_live_weights_make_the_same_flesh_as_stored_ones(module, capfd):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    stored = test_rigs.recorded(module, obj)
    bpy.ops.jounce.remove()
    posed.live_weights(obj)
    capfd.readouterr()
    scenes.add_and_build(obj)
    assert "has a weight" not in capfd.readouterr().out
    assert np.abs(stored).max() > 0.002
    assert np.abs(test_rigs.recorded(module, obj) - stored).max() < 1e-5


@pytest.mark.parametrize("target", test_bake.TARGETS)
def test_live_weights_take_every_target(simulated, target):
    obj, _ = scenes.character()
    posed.live_weights(obj)
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize("target", NOT_KEYS)
def test_weights_that_change_in_mid_shot_are_felt(module, simulated, target):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_euler = (0.8, 0.0, 0.0)
    mix = posed.before_the_armature(
        obj, "VERTEX_WEIGHT_MIX", vertex_group_a="Upper", default_weight_b=0.0, mix_set="ALL", mix_mode="SET"
    )
    for frame, share in ((1, 0.0), (5, 0.9), (8, 0.2)):
        mix.mask_constant = share
        mix.keyframe_insert("mask_constant", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    assert flesh(module, obj).max() > 1e-3
    with pytest.raises(RuntimeError, match="posed by the modifier Before"):
        bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert_baked(obj, simulated, target)


def test_painted_weights_are_felt(module, simulated):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_euler = (0.8, 0.0, 0.0)
    obj.vertex_groups.remove(obj.vertex_groups["Upper"])
    obj.vertex_groups.new(name="Upper")
    for group in obj.vertex_groups:
        group.add(range(len(obj.data.vertices)), 0.3 if group.name == "Lower" else 0.0, "REPLACE")
    posed.painted_weights(obj)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    shapes = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(shapes - shapes[0]).max() > 0.1, "the ball paints nothing"
    assert flesh(module, obj).max() > 1e-3
    assert_baked(obj, simulated, "SKINNING_NODES")


@pytest.mark.usefixtures("coarse_setup")
def test_a_cached_character_is_no_loose_body_and_its_flesh_follows_the_cache(module, simulated, tmp_path):
    obj, _ = scenes.character()
    posed.cached(obj, tmp_path)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    bpy.ops.jounce.preview()
    assert obj.jounce.kind == "RIGGED"
    assert not any("Nothing moves" in sentence for sentence in findings(obj))
    scenes.coarse(obj)
    bpy.ops.jounce.build()
    assert flesh(module, obj).max() > 0.005
    assert_all_baked(obj, simulated, NOT_KEYS)


def test_an_alembic_character_has_flesh(module, simulated, tmp_path):
    obj, rig = scenes.character()
    path = str(tmp_path / "character.abc")
    scenes.activate(obj)
    bpy.ops.wm.alembic_export(filepath=path, start=1, end=12, selected=True)
    for old in (obj, rig):
        bpy.data.objects.remove(old)
    bpy.ops.wm.alembic_import(filepath=path)
    (made,) = (o for o in bpy.context.scene.objects if o.type == "MESH")
    assert any(modifier.type == "MESH_SEQUENCE_CACHE" for modifier in made.modifiers)
    scenes.settle_scene()
    scenes.add_and_build(made)
    assert flesh(module, made).max() > 0.005
    assert_baked(made, simulated, "SKINNING_NODES")


@pytest.mark.usefixtures("coarse_setup")
def test_nodes_that_bend_a_mesh_by_the_time_pose_it(module, simulated):
    obj = scenes.column()
    obj.modifiers.new("Waving", "NODES").node_group = posed.waving()
    scenes.settle_scene()
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    bpy.ops.jounce.preview()
    assert obj.jounce.kind == "RIGGED"
    scenes.coarse(obj)
    bpy.ops.jounce.build()
    assert flesh(module, obj).max() > 0.005
    assert_baked(obj, simulated, "SKINNING_NODES")


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("SMOOTH", {"factor": (0.0, 0.9)}),
        ("DISPLACE", {"strength": (0.0, 0.2)}),
        ("CORRECTIVE_SMOOTH", {"factor": (0.0, 0.5)}),
        ("SUBSURF", {"show_viewport": (True, False)}),
        ("CLOTH", {}),
    ],
)
def test_what_finishes_the_posed_shape_is_not_the_rig(module, kind, settings):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    linear = test_rigs.recorded(module, obj)
    modifier = obj.modifiers.new("Later", kind)
    for name, (first, last) in settings.items():
        for frame, value in ((1, first), (6, last)):
            setattr(modifier, name, value)
            modifier.keyframe_insert(name, frame=frame)
    bpy.context.scene.frame_set(1)
    assert np.array_equal(test_rigs.recorded(module, obj), linear)
    obj.jounce.cache_folder = bpy.app.tempdir
    for target in ("FRAME_KEYS", "MESH_CACHE"):
        bpy.ops.jounce.bake(target=target)
        assert obj.jounce.bake_error < 1e-5


@pytest.mark.parametrize("kind", ["TRIANGULATE", "DATA_TRANSFER", "WEIGHTED_NORMAL"])
def test_what_moves_nothing_before_the_armature_changes_nothing(module, simulated, kind):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    linear = test_rigs.recorded(module, obj)
    posed.before_the_armature(obj, kind)
    assert np.array_equal(test_rigs.recorded(module, obj), linear)
    assert_baked(obj, simulated, "FRAME_KEYS")


@pytest.mark.parametrize("change", [test_rigs.animate_key, test_rigs.add_lattice, test_rigs.hook])
def test_diagnosis_sees_what_moves_a_body_without_bones(change):
    obj = scenes.column()
    change(obj, None)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    assert not any("Nothing moves" in sentence for sentence in findings(obj))


def test_diagnosis_still_says_that_nothing_moves_a_body():
    obj = scenes.column()
    obj.modifiers.new("Smooth", "SMOOTH")
    scenes.settle_scene()
    scenes.add_and_build(obj)
    assert any("Nothing moves Column" in sentence for sentence in findings(obj))


@pytest.mark.parametrize("switch", [posed.key_mute, posed.drive_mute])
def test_a_switched_shape_key_is_felt_where_it_is_on(module, simulated, switch):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    switch(obj)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    moved = flesh(module, obj)
    assert moved[:3].max() < 1e-5 < 1e-3 < moved[4:].max()
    assert_all_baked(obj, simulated, ("SKINNING_NODES", "FRAME_KEYS"))


def test_the_flesh_follows_the_rig_that_is_switched_on(module, simulated):
    obj = posed.swapped()
    scenes.add_and_build(obj)
    moved = flesh(module, obj)
    assert moved[1:5].max() > 0.002 and moved[7:].max() > 0.002
    assert moved[5] < 1e-3, "where rigs are exchanged it begins anew"
    with pytest.raises(RuntimeError, match="bake to Skinning Nodes or Mesh Cache"):
        bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert_all_baked(obj, simulated, NOT_KEYS)


def test_a_body_is_read_alike_wherever_the_timeline_stands(module):
    obj = posed.swapped()
    scenes.add_and_build(obj)
    digests = set()
    for frame in (1, 6, 12):
        bpy.context.scene.frame_set(frame)
        surface = module("bridge.body.bodies").read(obj, bpy.context, print).surface
        digests.add(surface.digest(obj.jounce.build_settings()))
    assert digests == {obj.jounce.built_digest}


def test_an_armature_that_is_switched_off_holds_the_rest_shape(module, simulated):
    obj, _ = scenes.character()
    modifier = obj.modifiers["Armature"]
    for frame, shown in ((1, False), (4, True)):
        modifier.show_viewport = shown
        modifier.keyframe_insert("show_viewport", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    moved = flesh(module, obj)
    assert moved[:3].max() < 1e-4 < 0.002 < moved[3:].max()
    with pytest.raises(RuntimeError, match="animated settings of the modifier Armature"):
        bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert_baked(obj, simulated, "MESH_CACHE")


def test_keyed_vertices_refuse_shape_keys_and_are_felt(module, simulated):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    posed.key_vertices(obj)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    assert flesh(module, obj).max() > 0.002
    for target in ("MODAL_KEYS", "FRAME_KEYS"):
        with pytest.raises(RuntimeError, match="animated vertices.*bake to Skinning Nodes or Mesh Cache"):
            bpy.ops.jounce.bake(target=target)
    assert obj.data.shape_keys is None
    assert_all_baked(obj, simulated, NOT_KEYS)


@pytest.mark.parametrize("target", test_bake.TARGETS)
def test_a_mesh_that_a_handler_exchanges_in_mid_shot_is_refused(target, tmp_path):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.cache_folder = str(tmp_path)
    whole, half = obj.data, scenes.column("Half", rings=6).data

    def exchange(scene, *_):
        obj.data = half if scene.frame_current >= 6 else whole

    bpy.app.handlers.frame_change_pre.append(exchange)
    try:
        with pytest.raises(RuntimeError, match="Column has another mesh in frame 6"):
            bpy.ops.jounce.bake(target=target)
    finally:
        bpy.app.handlers.frame_change_pre.remove(exchange)
    assert obj.data == whole and whole.shape_keys is None and not obj.jounce.bake_target
    assert [modifier.name for modifier in obj.modifiers] == ["Armature"] and not list(tmp_path.iterdir())


def test_trials_leave_nothing_behind():
    obj, _ = scenes.character()
    posed.live_weights(obj)
    before = test_rigs.blocks(), len(bpy.data.scenes)
    scenes.activate(obj)
    bpy.ops.jounce.add()
    assert (test_rigs.blocks(), len(bpy.data.scenes)) == before


@pytest.mark.parametrize(("kind", "tried"), [("SUBSURF", False), ("MIRROR", False), ("SMOOTH", True)])
def test_what_adds_vertices_is_told_from_a_small_mesh(module, monkeypatch, kind, tried):
    """To subdivide a character in a trial took 17 s."""
    trials, seen = module("bridge.rig.trials").Trials, []
    add = trials.add
    monkeypatch.setattr(trials, "add", lambda self, kept, **how: seen.append(kept) or add(self, kept, **how))
    obj, _ = scenes.character()
    obj.modifiers.new("Later", kind)
    scenes.add_and_build(obj)
    assert ((("Later",) in seen), obj.jounce.built_digest != "") == (tried, True)
