"""Frames without a valid rig: the flesh freezes, with a message, and continues afterwards."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from previews import FRAMES, previewed

HIDDEN = (5, 6)
TARGETS = ("MODAL_KEYS", "FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE", "HELPER_BONES")


def key(owner, path, values, index=-1):
    """Keys with jumps, each held until the next."""
    for frame, value in values:
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame, index=index)
    action = owner.id_data.animation_data.action
    for curve in snapshot.fcurves(action):
        if curve.data_path.endswith(path):
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"


def vanish(_obj, rig):
    """Shown and hidden by the scale of the armature object."""
    key(rig, "scale", ((1, (1.0,) * 3), (HIDDEN[0], (0.0,) * 3), (HIDDEN[-1] + 1, (1.0,) * 3)))


def vanish_twisted(obj, rig):
    """The same with Preserve Volume, which is read from doubles of the meshes."""
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    vanish(obj, rig)


def vanish_first(_obj, rig):
    """Hidden from the first frame on."""
    key(rig, "scale", ((1, (0.0,) * 3), (4, (1.0,) * 3)))


def fly_away(_obj, rig):
    """A bone thrown beyond all bounds."""
    bone = rig.pose.bones["Upper"]
    key(bone, "location", ((1, (0.0,) * 3), (HIDDEN[0], (1e12,) * 3), (HIDDEN[-1] + 1, (0.0,) * 3)))


def no_number(_obj, rig):
    """A bone with keys from a division by zero."""
    bone = rig.pose.bones["Upper"]
    key(bone, "location", ((1, (0.0,) * 3), (HIDDEN[0], (1.0,) * 3), (HIDDEN[-1] + 1, (0.0,) * 3)))
    for curve in snapshot.fcurves(rig.animation_data.action):
        for point in curve.keyframe_points:
            if curve.data_path.endswith("location") and point.co.x == HIDDEN[0]:
                point.co.y = float("nan")


BREAKS = {
    vanish: "Rig is scaled to nothing; to hide it, animate its visibility",
    vanish_twisted: "Rig is scaled to nothing; to hide it, animate its visibility",
    vanish_first: "Rig is scaled to nothing; to hide it, animate its visibility",
    fly_away: "the bone Upper of Rig has an impossible transform",
    no_number: "the bone Upper of Rig has an impossible transform",
}


@pytest.fixture(params=BREAKS, ids=lambda way: way.__name__)
def broken(request, tmp_path):
    """A swinging character with unusable frames, and the sentence about them."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    request.param(obj, rig)
    bpy.context.scene.frame_set(8)
    return obj, BREAKS[request.param]


@pytest.fixture
def unbroken():
    """Largest distance of the flesh from the pose without unusable frames."""
    obj, rig = previewed()
    largest = np.linalg.norm(shown_offsets(obj), axis=2).max()
    bpy.ops.jounce.remove()
    bpy.data.objects.remove(obj)
    bpy.data.objects.remove(rig)
    return largest


def offsets(obj):
    values = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.attributes["jounce"].data.foreach_get("vector", values)
    return values.reshape(-1, 3)


def shown_offsets(obj):
    """Displacement by the preview in each frame, (f, p, 3)."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(offsets(obj).copy())
    return np.array(found)


def test_the_preview_holds_and_says_so(unbroken, broken, preview, capfd):
    obj, sentence = broken
    bpy.ops.jounce.preview()
    added = shown_offsets(obj)
    known = preview.session(obj)
    assert not known.trouble and sentence in known.status()
    assert "the flesh holds" in known.status()
    held = [row for row, drive in enumerate(known.filling.drives) if drive.held]
    assert f"In frame {1 + held[0]} and {len(held) - 1} more" in known.status()
    for row in held:
        assert np.array_equal(added[row], added[max(0, row - 1)])
    sizes = np.linalg.norm(added, axis=2).max(axis=1)
    after = held[-1] + 1
    assert abs(sizes[after] - sizes[after - 1]) < 0.2 * sizes.max()
    assert 0.2 * unbroken < sizes[after:].max() < 1.2 * unbroken
    assert np.isfinite(added).all()
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(shown_offsets(obj), added)
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("target", TARGETS)
def test_every_bake_holds_and_says_so(broken, target, capfd):
    obj, sentence = broken
    obj.jounce.helper_count = 4
    bpy.ops.jounce.preview()
    added = np.abs(shown_offsets(obj)).max(axis=(1, 2))
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    posed = scenes.evaluated_frames(obj, FRAMES)
    capfd.readouterr()
    bpy.ops.jounce.bake(target=target)
    assert sentence in "".join(capfd.readouterr())
    assert obj.jounce.bake_error < 0.05
    shown = obj.jounce.bake_copy if target == "HELPER_BONES" else obj
    baked = scenes.evaluated_frames(shown, FRAMES)
    followed = np.isfinite(posed).all(axis=(1, 2)) & (np.ptp(posed, axis=1).max(axis=1) > 1.0)
    followed &= np.abs(posed).max(axis=(1, 2)) < 1e3
    assert followed.sum() in (len(FRAMES) - 2, len(FRAMES) - 3)
    gaps = np.abs(baked[followed] - posed[followed]).max(axis=(1, 2))
    assert np.allclose(gaps, added[followed], atol=0.02)
    bpy.ops.jounce.free_bake()


def test_a_fit_says_so(broken, capfd):
    obj, sentence = broken
    bpy.ops.jounce.fit()
    assert sentence in "".join(capfd.readouterr())


def test_a_loop_is_refused_with_the_reason(broken):
    obj, sentence = broken
    obj.jounce.loop = True
    with pytest.raises(RuntimeError, match="cannot loop") as refused:
        bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert sentence in str(refused.value)


def test_a_shot_without_one_good_frame_is_refused():
    obj, rig = previewed()
    rig.animation_data_clear()
    rig.scale = (0.0,) * 3
    with pytest.raises(RuntimeError, match="No frame can be followed: Rig is scaled to nothing"):
        bpy.ops.jounce.bake(target="FRAME_KEYS")


def test_the_diagnosis_finds_it(broken):
    obj, sentence = broken

    def found(frame):
        bpy.context.scene.frame_set(frame)
        bpy.ops.jounce.diagnose()
        return any(sentence in finding.sentence for finding in obj.jounce.findings)

    assert not found(8)
    assert found(1) or found(HIDDEN[0])


def test_nothing_is_bound_where_it_has_no_size(broken):
    obj, _ = broken
    bpy.context.scene.frame_set(HIDDEN[0])
    if np.isfinite(np.array(obj.matrix_world)).all() and obj.matrix_world.determinant() == 0.0:
        with pytest.raises(RuntimeError, match="go to a frame where they have one"):
            bpy.ops.jounce.build()
    else:
        bpy.ops.jounce.build()
