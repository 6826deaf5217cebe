"""Saving, saving elsewhere, opening again, undo, and damaged files."""

import bpy
import scenes

from .hand import TARGETS, Hand
from .row import refuses, works


def save(jounce: Hand, name: str, **options: object) -> str:
    """Saves the file in the folder of the trial."""
    path = jounce.folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), **options)
    return str(path)


def reopen() -> bpy.types.Object:
    """Opens the file again, and finds the column."""
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    return bpy.data.objects["Column"]


def cached(jounce: Hand, name: str = "shot.blend") -> bpy.types.Object:
    """A saved file with a body baked to a cache beside it."""
    obj, _ = scenes.character()
    save(jounce, name)
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.cache_folder = "//"
    jounce.build(obj)
    jounce.bake("MESH_CACHE", obj)
    bpy.ops.wm.save_mainfile()
    return obj


@refuses
def no_place_for_a_cache(jounce: Hand) -> None:
    """A mesh cache for an unsaved file."""
    obj, _ = scenes.character()
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.cache_folder = "//"
    jounce.build(obj)
    jounce.refused("bake", "not saved", obj, target="MESH_CACHE")


@refuses
def a_folder_that_is_a_file(jounce: Hand) -> None:
    """A file in the place of the folder for caches."""
    obj, _ = scenes.character()
    (jounce.folder / "file").write_text("a file", encoding="utf-8")
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.cache_folder = str(jounce.folder / "file")
    jounce.build(obj)
    jounce.refused("bake", "file", obj, target="MESH_CACHE")


@works
def each_bake_opened_again(jounce: Hand) -> None:
    """A file saved and opened with each kind of bake."""
    obj, _ = scenes.character()
    save(jounce, "shot.blend")
    jounce.add(obj)
    jounce.build(obj)
    for target in TARGETS:
        jounce.bake(target, obj)
        bpy.ops.wm.save_mainfile()
        obj = reopen()
        jounce.scrub(obj)


@works
def opened_without_its_cache(jounce: Hand) -> None:
    """A file with its mesh cache deleted from the folder."""
    obj = cached(jounce)
    for path in jounce.folder.glob("*.pc2"):
        path.unlink()
    obj = reopen()
    bpy.context.scene.frame_set(5)
    jounce.free(obj)
    jounce.bake("MESH_CACHE", obj)


@works
def a_cache_that_is_no_cache(jounce: Hand) -> None:
    """A file with an overwritten mesh cache; the new content stays."""
    obj = cached(jounce)
    for path in jounce.folder.glob("*.pc2"):
        path.write_text("not a cache", encoding="utf-8")
    obj = reopen()
    bpy.context.scene.frame_set(5)
    jounce.free(obj)
    for path in jounce.folder.glob("*.pc2"):
        path.unlink()


@works
def opened_without_its_scripts(jounce: Hand) -> None:
    """A rig with a Python driver, opened without permission for scripts: the blocked driver is named."""
    obj, rig = scenes.character()
    curve = rig.driver_add("location", 0)
    curve.driver.type, curve.driver.expression = "SCRIPTED", "__import__('math').sin(frame)"
    jounce.add(obj)
    save(jounce, "shot.blend")
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath, use_scripts=False)
    obj = bpy.data.objects["Column"]
    jounce.call("diagnose", obj)
    if jounce.is_there:
        assert any("Scripts of this file may not run" in found.sentence for found in obj.jounce.findings)
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def saved_in_another_folder(jounce: Hand) -> None:
    """A file with a cache, saved in another folder and freed there; the first keeps its cache."""
    obj = cached(jounce, "first/shot.blend")
    before = contents(jounce)
    save(jounce, "second/shot.blend")
    jounce.free(obj)
    assert contents(jounce) == before
    tidy(jounce)


@works
def saved_under_a_shorter_name(jounce: Hand) -> None:
    """`shot_v2` with a cache, saved as `shot` and freed there; `shot_v2` keeps its cache."""
    obj = cached(jounce, "shot_v2.blend")
    before = contents(jounce)
    save(jounce, "shot.blend")
    jounce.free(obj)
    assert contents(jounce) == before
    tidy(jounce)


@works
def saved_as_a_copy(jounce: Hand) -> None:
    """A copy of a file with a cache, while the first stays open and is freed."""
    obj = cached(jounce)
    save(jounce, "copy.blend", copy=True)
    jounce.free(obj)


@works
def undo_of_a_free(jounce: Hand) -> None:
    """A freed cache, played again after an undo."""
    obj = cached(jounce)
    bpy.ops.ed.undo_push(message="cached")
    jounce.free(obj)
    bpy.ops.ed.undo_push(message="freed")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    if jounce.is_there:
        cache = next(modifier for modifier in obj.modifiers if modifier.type == "MESH_CACHE")
        import pathlib

        assert pathlib.Path(bpy.path.abspath(cache.filepath)).exists()
    jounce.scrub(obj)
    jounce.free(obj)
    bpy.ops.wm.save_mainfile()


def contents(jounce: Hand) -> dict[str, bytes]:
    """The caches in the folder of the trial."""
    return {str(path): path.read_bytes() for path in jounce.folder.rglob("*.pc2")}


def tidy(jounce: Hand) -> None:
    """Deletes the files that the closed first file may keep."""
    for path in jounce.folder.rglob("*.pc2"):
        path.unlink()


@works
def awkward_folders(jounce: Hand) -> None:
    """A folder with spaces, quotes, percents and other scripts in its name."""
    cached(jounce, "a 'b' 50% Ü—é/shot 1.2.blend")


@works
def previewed_and_opened_again(jounce: Hand) -> None:
    """A file saved during a preview, before and after the cache is full."""
    obj, _ = scenes.character()
    save(jounce, "shot.blend")
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    for fill in (False, True):
        if fill:
            jounce.fill(obj)
        bpy.ops.wm.save_mainfile()
        obj = reopen()
        jounce.scrub(obj)


@works
def opened_in_its_preview(jounce: Hand) -> None:
    """A new file opened over a previewed one, and the first again."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    path = save(jounce, "shot.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scenes.character()
    bpy.context.scene.frame_set(4)
    bpy.ops.wm.open_mainfile(filepath=path)
    jounce.scrub(bpy.data.objects["Column"])


@works
def reverted(jounce: Hand) -> None:
    """A file reverted to its saved state, before Jounce."""
    obj, _ = scenes.character()
    save(jounce, "shot.blend")
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bpy.ops.wm.revert_mainfile()
    bpy.context.scene.frame_set(6)
    bpy.context.scene.frame_set(1)


@works
def undo_of_all(jounce: Hand) -> None:
    """Every step undone and redone, one by one."""
    obj, _ = scenes.character()
    steps = (
        lambda obj: jounce.add(obj),
        lambda obj: jounce.build(obj),
        lambda obj: jounce.preview(obj),
        lambda obj: jounce.preview(obj),
        lambda obj: jounce.bake("MODAL_KEYS", obj),
        lambda obj: jounce.bake("SKINNING_NODES", obj),
        lambda obj: jounce.free(obj),
        lambda obj: jounce.bake("MESH_CACHE", obj),
    )
    bpy.ops.ed.undo_push(message="at first")
    for number, step in enumerate(steps):
        step(bpy.data.objects["Column"])
        bpy.ops.ed.undo_push(message=str(number))
    for _ in steps:
        bpy.ops.ed.undo()
        bpy.context.scene.frame_set(5)
        bpy.context.scene.frame_set(1)
    for _ in steps:
        bpy.ops.ed.redo()
    jounce.scrub(bpy.data.objects["Column"])


@works
def undo_across_a_deletion(jounce: Hand) -> None:
    """A previewed body, deleted, restored by undo, and deleted again by redo."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bpy.ops.ed.undo_push(message="previewed")
    bpy.data.objects.remove(bpy.data.objects["Column"])
    bpy.ops.ed.undo_push(message="deleted")
    for step in (bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.undo):
        step()
        bpy.context.scene.frame_set(4)
        bpy.context.scene.frame_set(1)
    jounce.scrub(bpy.data.objects["Column"])


@refuses
def clips_without_a_folder(jounce: Hand) -> None:
    """Clips are to be listed, and no folder is chosen."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.refused("clips_list", "folder", obj)


@refuses
def clips_in_a_folder_that_is_gone(jounce: Hand) -> None:
    """A folder of clips that does not exist."""
    obj, _ = scenes.character()
    jounce.add(obj)
    if jounce.is_there:
        bpy.context.scene.jounce.clip_folder = str(jounce.folder / "gone")
    jounce.refused("clips_list", "gone", obj)
    if jounce.is_there:
        bpy.context.scene.property_unset("jounce")


@refuses
def a_clip_that_is_no_clip(jounce: Hand) -> None:
    """A file called .fbx with other contents."""
    obj, _ = scenes.character()
    (jounce.folder / "walk.fbx").write_text("not an FBX file", encoding="utf-8")
    jounce.add(obj)
    if jounce.is_there:
        bpy.context.scene.jounce.clip_folder = str(jounce.folder)
        jounce.call("clips_list", obj)
    jounce.refused("clip_assign", "walk.fbx", obj)
    if jounce.is_there:
        bpy.context.scene.property_unset("jounce")
