"""The file of the first tutorial: its steps work from it, and the Asset Browser offers its creature."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes

FILE = Path(__file__).resolve().parents[2] / "docs/files/creature.blend"


@pytest.fixture
def opened(tmp_path):
    """A copy of the file, opened."""
    path = tmp_path / FILE.name
    path.write_bytes(FILE.read_bytes())
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    return path


def test_the_steps_of_the_tutorial(opened):
    armature = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    assert not any(obj.jounce.is_host for obj in bpy.context.scene.objects)
    scenes.activate(armature)
    bpy.ops.jounce.setup()
    [host] = [obj for obj in bpy.context.scene.objects if obj.jounce.is_host]
    # Eyes, nose and mouth hang on the head, which is kept on its bones.
    assert [finding.sentence for finding in host.jounce.findings] == []
    host.jounce.quality = "DRAFT"
    scenes.activate(host)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert host.data.shape_keys is not None
    assert 0.0 < host.jounce.bake_error < 0.02
    moving = scenes.evaluated_frames(host, range(1, 61, 6))
    for key in host.data.shape_keys.key_blocks:
        key.mute = True
    still = scenes.evaluated_frames(host, range(1, 61, 6))
    assert np.linalg.norm(moving - still, axis=2).max() > 0.02 * max(host.dimensions)


def test_the_extension_lists_it_in_the_asset_browser(module, capfd):
    libraries = bpy.context.preferences.filepaths.asset_libraries
    before = [library.path for library in libraries]
    assert bpy.ops.jounce.asset_library() == {"FINISHED"}
    [added] = [library for library in libraries if library.path not in before]
    assert added.name == "Jounce"
    assert (Path(added.path) / FILE.name).read_bytes() == FILE.read_bytes()
    with pytest.raises(RuntimeError, match="lists the example character already"):
        bpy.ops.jounce.asset_library()
    libraries.remove(added)
    assert [library.path for library in libraries] == before
    assert bpy.ops.jounce.asset_library.poll()


def test_it_is_an_asset(opened):
    with bpy.data.libraries.load(str(FILE), assets_only=True) as (there, _):
        assert there.collections == ["Creature"]
    creature = bpy.data.collections["Creature"]
    assert {obj.type for obj in creature.objects} == {"ARMATURE", "MESH"}
    assert creature.asset_data.license == "CC0-1.0"
    assert tuple(creature.preview.image_size) == (256, 256)
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 60)
