"""Every character of the data folder, played in the window: live equals bake, and the console stays empty.

The table is kept beside the pictures, as characters.md.
"""

import importlib
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import bpy
import extension
import numpy as np
from bpy.app.handlers import persistent
from window import Skip, console, resident_bytes

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import character as characters
import flesh
import studio
from characters import FOLDERS, KINDS

FRAMES = 120
MANY_FRAMES = 2000
# Interval of frames compared between the window and the bake.
SAMPLE = 10
LIVE_ERROR = 1e-6
GROWTH = 8 << 20
COLUMNS = [
    "character",
    "vertices",
    "build s",
    "cached frames/s",
    "played frames/s",
    "motion %",
    "live - bake",
]


def files() -> list[Path]:
    """The characters, without a data folder none."""
    data = os.environ.get("JOUNCE_DATA")
    if not data:
        return []
    return sorted(
        path for folder in FOLDERS for path in (Path(data) / folder).glob("*") if path.suffix.lower() in KINDS
    )


def session_of(host):
    """The extension's session of a previewed body."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(host)


def previewed(path, window):
    """A character, the liveliest frames and the previewed body; output of importers is ignored."""
    with console():
        try:
            # Importers need the window; a .blend replaces the window.
            with nullcontext() if path.suffix == ".blend" else window.context():
                characters.read(path)
        except characters.Unreadable as reason:
            raise Skip(str(reason)) from reason
        yield 0.2
        character = characters.find(path.stem)
        shot = characters.choose_shot(character, FRAMES)
    meshes, scene = character.body, bpy.context.scene
    scene.sync_mode = "NONE"
    flesh.select(meshes)
    start = time.monotonic()
    window.invoke("jounce.setup")
    yield lambda: meshes[0].jounce.preview
    built = time.monotonic() - start
    session = session_of(meshes[0])
    yield lambda: session.filling is not None
    start = time.monotonic()
    yield lambda: session.complete and not session.busy
    assert session.cache.frames == shot.frames
    filled = len(shot.frames) / (time.monotonic() - start)
    window.calm()
    window.look_at(meshes[0])
    flesh.select(meshes)
    return meshes, shot, built, filled


def world_points(meshes):
    """Vertices in the window, (p, 3)."""
    graph = bpy.context.evaluated_depsgraph_get()
    return np.concatenate([studio.world_points(mesh.evaluated_get(graph)) for mesh in meshes])


def played(meshes, shot, window):
    """Plays the shot once; returns the displayed shapes of some frames, and the frames per second."""
    scene, shapes, shown = bpy.context.scene, {}, []

    @persistent
    def watch(*_):
        shown.append(scene.frame_current)
        if (scene.frame_current - shot.first) % SAMPLE == 0:
            shapes[scene.frame_current] = world_points(meshes)

    scene.frame_set(shot.first)
    bpy.app.handlers.frame_change_post.append(watch)
    start = time.monotonic()
    with window.context():
        bpy.ops.screen.animation_play()
    try:
        yield lambda: len(shown) >= FRAMES
        seconds = time.monotonic() - start
    finally:
        with window.context():
            bpy.ops.screen.animation_cancel(restore_frame=False)
        bpy.app.handlers.frame_change_post.remove(watch)
    assert set(shown) == set(shot.frames)
    return shapes, len(shown) / seconds


def baked(meshes, shot, picked):
    """The shapes of an exact bake with a new simulation, and those of the rig alone."""
    flesh.select(meshes)
    bpy.ops.jounce.clear_cache()
    bpy.ops.jounce.bake(target="SKINNING_NODES", frame_start=shot.first, frame_end=shot.last)
    shapes = [np.concatenate(shape) for shape in studio.record(meshes, picked)]
    bpy.ops.jounce.free_bake()
    # Freed, the body shows the flesh that it showed before the bake.
    bpy.ops.jounce.preview(show="POSE")
    return shapes, [np.concatenate(shape) for shape in studio.record(meshes, picked)]


def play(path, window):
    """One character: built, filled, played and compared."""
    meshes, shot, built, filled = yield from previewed(path, window)
    with console() as said:
        shapes, rate = yield from played(meshes, shot, window)
    assert said == [], said
    window.picture(f"character-{path.stem}")
    picked = sorted(shapes)
    expected, posed = baked(meshes, shot, picked)
    size = np.linalg.norm(np.ptp(posed[0], axis=0))
    seen = [shapes[frame] for frame in picked]
    gap = max(np.linalg.norm(a - b, axis=1).max() for a, b in zip(seen, expected, strict=True)) / size
    motion = max(np.linalg.norm(a - b, axis=1).max() for a, b in zip(seen, posed, strict=True)) / size
    row = [
        path.name,
        len(posed[0]),
        f"{built:.1f}",
        f"{filled:.0f}",
        f"{rate:.1f}",
        f"{motion:.1%}",
        f"{gap:.1e}",
    ]
    window.note("characters.md", COLUMNS, row)
    assert gap < LIVE_ERROR, gap


def test_many_frames_leave_the_memory_as_it_was(window):
    if not files():
        raise Skip("JOUNCE_DATA is not set, so there are no characters.")
    meshes, shot, _, _ = yield from previewed(files()[0], window)
    scene, sizes = bpy.context.scene, []
    with console() as said:
        for count in range(MANY_FRAMES + 3 * FRAMES):
            scene.frame_set(shot.first + count % FRAMES)
            if count % FRAMES == 0:
                sizes.append(resident_bytes())
                yield 0.0
        sizes.append(resident_bytes())
    assert said == [], said
    # Memory that Blender itself keeps from the first rounds on does not count.
    window.note(
        "memory.md", ["frames", "MB before", "MB after"], [MANY_FRAMES, sizes[3] / 1e6, sizes[-1] / 1e6]
    )
    assert sizes[-1] - sizes[3] < GROWTH, sizes


def test_disabling_while_a_character_plays_leaves_nothing(window):
    if not files():
        raise Skip("JOUNCE_DATA is not set, so there are no characters.")
    yield from previewed(files()[0], window)
    with console() as said:
        with window.context():
            bpy.ops.screen.animation_play()
        yield 1.0
        bpy.ops.preferences.addon_disable(module=extension.INSTALLED)
        yield 1.0
        with window.context():
            bpy.ops.screen.animation_cancel(restore_frame=False)
        left = ours()
        bpy.ops.preferences.addon_enable(module=extension.INSTALLED)
        yield 0.5
    assert left == [], left
    assert said == [], said


def ours():
    """Handlers of the extension."""
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    functions = [function for entry in lists if isinstance(entry, list) for function in entry]
    return [function for function in functions if function.__module__.startswith(extension.INSTALLED)]


def playing(path):
    """The test of one character."""

    def test(window):
        yield from play(path, window)

    test.__name__ = f"test_{path.stem}"
    return test


globals().update({f"test_{path.stem}": playing(path) for path in files()})
