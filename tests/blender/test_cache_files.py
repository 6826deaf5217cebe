"""The files of mesh caches: their owners, and the life of a freed bake's file."""

import atexit
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes

FRAMES = range(1, 13)


@pytest.fixture
def folder(tmp_path):
    """Folder of the first .blend and its cache."""
    made = tmp_path / "project"
    made.mkdir()
    return made


def baked(path):
    """A character in a .blend, baked to a mesh cache beside it, and saved."""
    obj, _ = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="MESH_CACHE")
    bpy.ops.wm.save_mainfile()
    return obj


def opened(path):
    """The character of a .blend."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects["Column"]
    scenes.activate(obj)
    return obj


def caches(folder):
    """The names of the caches in a folder, and of all other files except .blend files."""
    return sorted(path.name for path in folder.iterdir() if path.suffix not in (".blend", ".blend1"))


def free_and_save():
    bpy.ops.jounce.free_bake()
    bpy.ops.wm.save_mainfile()


def test_a_freed_cache_goes_when_the_file_is_saved(folder):
    baked(folder / "shot.blend")
    bpy.ops.jounce.free_bake()
    assert caches(folder) == ["shot Column.pc2"]
    bpy.ops.wm.save_mainfile()
    assert caches(folder) == []


def test_disabling_the_extension_ends_the_session_of_its_files(folder, package, module, monkeypatch):
    hooks = []
    monkeypatch.setattr(atexit, "register", hooks.append)
    monkeypatch.setattr(atexit, "unregister", lambda hook: hooks.remove(hook) if hook in hooks else None)
    package.unregister()
    package.register()
    assert hooks == [module("core.storage.freed_files").CACHES.end]
    baked(folder / "shot.blend")
    for name in ("one", "two"):
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
    bpy.ops.jounce.bake(target="MESH_CACHE")
    bpy.ops.jounce.free_bake()
    assert caches(folder) == ["shot Column.pc2", "two Column.pc2"]
    package.unregister()
    try:
        assert hooks == []
        assert caches(folder) == ["shot Column.pc2"]
    finally:
        monkeypatch.undo()
        package.register()


def test_undo_after_free_bake_finds_the_file(folder):
    obj = baked(folder / "shot.blend")
    shown = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.jounce.free_bake()
    bpy.ops.ed.undo_push(message="freed")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), shown)
    bpy.ops.wm.save_mainfile()
    assert caches(folder) == ["shot Column.pc2"]
    scenes.activate(obj)
    free_and_save()
    assert caches(folder) == []


def test_undo_after_another_bake_finds_the_earlier_file(folder):
    obj = baked(folder / "shot.blend")
    shown = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.ed.undo_push(message="baked")
    obj.jounce.frequency = 2.0
    bpy.ops.jounce.bake(target="MESH_CACHE")
    bpy.ops.ed.undo_push(message="baked again")
    assert not np.array_equal(scenes.evaluated_frames(obj, FRAMES), shown)
    bpy.ops.ed.undo()
    assert np.array_equal(scenes.evaluated_frames(bpy.data.objects["Column"], FRAMES), shown)
    bpy.ops.wm.save_mainfile()
    assert "shot Column.pc2" in caches(folder)


def test_a_cache_that_nothing_plays_but_was_not_freed_stays(folder):
    obj = baked(folder / "shot.blend")
    bpy.data.objects.remove(obj)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert caches(folder) == ["shot Column.pc2"]


def test_a_file_that_is_not_saved_again_keeps_its_cache(folder):
    baked(folder / "shot.blend")
    bpy.ops.jounce.free_bake()
    obj = opened(folder / "shot.blend")
    assert caches(folder) == ["shot Column.pc2"]
    assert [modifier.name for modifier in obj.modifiers] == ["Armature", "Jounce"]


def test_a_cache_that_no_saved_file_plays_goes_with_the_session(folder):
    obj, _ = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="MESH_CACHE")
    bpy.ops.jounce.free_bake()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert caches(folder) == []


@pytest.mark.parametrize("remap", [True, False])
@pytest.mark.parametrize("name", ["shot.blend", "other.blend"])
def test_a_file_that_was_saved_to_another_folder_leaves_the_cache(folder, tmp_path, name, remap):
    baked(folder / "shot.blend")
    (tmp_path / "elsewhere").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "elsewhere" / name), relative_remap=remap)
    free_and_save()
    assert caches(folder) == ["shot Column.pc2"]
    opened(folder / "shot.blend")
    free_and_save()
    assert caches(folder) == []


@pytest.mark.parametrize("saved_again", [False, True])
def test_a_file_that_was_saved_under_a_shorter_name_leaves_the_cache(folder, saved_again):
    baked(folder / "shot_v2.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    if saved_again:
        opened(folder / "shot.blend")
    free_and_save()
    assert caches(folder) == ["shot_v2 Column.pc2"]
    shown = opened(folder / "shot_v2.blend")
    assert shown.modifiers["Jounce"].filepath == "//shot_v2 Column.pc2"


def test_a_cache_that_is_freed_before_the_file_is_saved_as_another_one_stays(folder):
    baked(folder / "shot.blend")
    bpy.ops.jounce.free_bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot_v2.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert caches(folder) == ["shot Column.pc2"]


def test_a_copy_that_was_saved_keeps_its_cache(folder):
    obj, _ = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="MESH_CACHE")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "copy.blend"), copy=True)
    bpy.ops.jounce.free_bake()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert caches(folder) == ["shot Column.pc2"]


def test_an_appended_character_leaves_the_cache_of_its_file(folder, tmp_path):
    baked(folder / "shot.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    with bpy.data.libraries.load(str(folder / "shot.blend")) as (_, wanted):
        wanted.objects = ["Column"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    scenes.activate(wanted.objects[0])
    free_and_save()
    assert caches(folder) == ["shot Column.pc2"]


def test_an_override_leaves_the_cache_of_the_linked_file(folder, tmp_path):
    baked(folder / "shot.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    with bpy.data.libraries.load(str(folder / "shot.blend"), link=True) as (_, wanted):
        wanted.objects = ["Column"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    made = wanted.objects[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    made.override_library.is_system_override = False
    scenes.activate(made)
    free_and_save()
    assert not made.modifiers["Jounce"].show_viewport and not made.jounce.bake_target
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert caches(folder) == ["shot Column.pc2"]


def test_a_folder_that_was_copied_frees_its_own_cache(folder, tmp_path):
    baked(folder / "shot.blend")
    shutil.copytree(folder, tmp_path / "copied")
    opened(tmp_path / "copied" / "shot.blend")
    free_and_save()
    assert caches(tmp_path / "copied") == [] and caches(folder) == ["shot Column.pc2"]


def test_a_path_that_the_artist_has_changed_is_not_deleted(folder):
    obj = baked(folder / "shot.blend")
    shutil.copy(folder / "shot Column.pc2", folder / "shot kept.pc2")
    obj.modifiers["Jounce"].filepath = "//shot kept.pc2"
    free_and_save()
    assert "shot kept.pc2" in caches(folder)


def test_a_file_that_is_there_is_not_written_over(folder):
    (folder / "shot Column.pc2").write_bytes(b"theirs")
    obj = baked(folder / "shot.blend")
    assert obj.modifiers["Jounce"].filepath == "//shot Column 2.pc2"
    free_and_save()
    assert (folder / "shot Column.pc2").read_bytes() == b"theirs"
    assert caches(folder) == ["shot Column.pc2"]


def test_a_full_disk_leaves_the_earlier_bake_and_no_part_of_another(folder, module, monkeypatch):
    obj = baked(folder / "shot.blend")
    data = (folder / "shot Column.pc2").read_bytes()
    monkeypatch.setattr(module("core.storage.pc2"), "open", limited(3000), raising=False)
    with pytest.raises(RuntimeError, match="No space left on device; free some space"):
        bpy.ops.jounce.bake(target="MESH_CACHE")
    assert caches(folder) == ["shot Column.pc2"] and (folder / "shot Column.pc2").read_bytes() == data
    assert [modifier.name for modifier in obj.modifiers] == ["Armature", "Jounce"]


def limited(size):
    """Opens files on a disk with this number of bytes left, with errors on closing as well."""

    class Full:
        def __init__(self, path, mode):
            self._file = Path(path).open(mode)  # noqa: SIM115
            self._left = size

        def read(self, count):
            return self._file.read(count)

        def write(self, data):
            self._left -= len(data)
            self._refuse()
            return self._file.write(data)

        def close(self):
            self._file.close()
            self._refuse()

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

        def _refuse(self):
            if self._left < 0:
                raise OSError(28, "No space left on device")

    return Full
