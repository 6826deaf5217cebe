"""Frames of the final motion that have not converged: marked in preview, bake, shards and on disk."""

import bpy
import pytest
import scenes
from previews import FRAMES


@pytest.fixture
def hasty(module, monkeypatch, tmp_path):
    """A built character in a saved file, whose final motion stops after an iteration in each substep."""
    monkeypatch.setattr(module("core.stepping.motion"), "FINAL_ITERATIONS", 1)
    monkeypatch.setattr(scenes, "QUALITY", "AUTOMATIC")
    obj, _ = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj)
    return obj


def test_they_are_told_and_marked_and_known_to_the_file(hasty, preview, session, module):
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    known = session(hasty)
    rough = known.final.rough
    assert rough and set(rough) <= set(FRAMES)
    more = f" and {len(rough) - 1} more" if len(rough) > 1 else ""
    assert f"In frame {rough[0]}{more} the final motion has not converged" in known.status()
    assert preview.rough(bpy.context.scene) == [rough]
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    preview.sync()
    bpy.context.scene.frame_set(FRAMES.stop - 1)
    obj = bpy.data.objects["Column"]
    assert session(obj).final.rough == rough and session(obj).final.checked == len(FRAMES)


def test_a_bake_says_so(hasty, capsys):
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert "Column: In frame " in (said := capsys.readouterr().out)
    assert "the final motion has not converged; raise Substeps" in said


def test_a_motion_of_the_default_settings_has_none(hasty, session, module, monkeypatch, capsys):
    monkeypatch.undo()
    hasty.jounce.quality = "AUTOMATIC"
    for poisson in (0.0, 0.45, 0.49):
        hasty.jounce.poisson = poisson
        bpy.ops.jounce.build()
        for law in ("corotated", "neo_hookean", "mooney_rivlin", "stvk"):
            hasty.jounce.law = law
            scenes.activate(hasty)
            bpy.ops.jounce.bake(target="MODAL_KEYS")
            bpy.ops.jounce.free_bake()
            assert "converged" not in capsys.readouterr().out, (poisson, law)
