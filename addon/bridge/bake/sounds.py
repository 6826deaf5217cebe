"""Sounds of bodies: a WAV file beside the .blend, and a strip in the sequencer.

A host points to its sound, a marked data-block. Strips of this sound belong to Jounce, even if renamed or
moved; everything else in the sequencer belongs to the artist.
"""

from collections.abc import Iterator
from pathlib import Path

import bpy

from ...core.common.user_error import UserError
from ...core.shot.sound import Sound
from ...core.storage import freed_files
from ..common import compat, marks, registry
from ..motions import final_files
from . import cache_files, mesh_cache

SUFFIX = ".wav"
Strips = "bpy.types.bpy_prop_collection"


def refuse_homeless(host: bpy.types.Object) -> None:
    """Refuses an unsaved .blend, which has no folder for the sound."""
    if not bpy.data.filepath:
        raise UserError(
            f"The file is not saved yet, so the sound of {host.name} has no place beside it; save it."
        )


def refuse_silent() -> None:
    """Refuses to make sounds in a Blender built without audio, such as bpy 4.2."""
    if not bpy.app.build_options.audaspace:
        raise UserError(
            "This Blender was built without sound, so no strip can play one; use one of blender.org."
        )


def put(host: bpy.types.Object, scene: bpy.types.Scene, sound: Sound) -> Path:
    """Writes a sound to a separate file and puts a strip into the sequencer, in the place of an
    earlier one.
    """
    path = new_path(host)
    try:
        path.write_bytes(sound.wav())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror}; free some space.") from error
    earlier = next((strip for _, strip in playing(host.jounce.bake_sound)), None)
    channel, volume = (None, 1.0) if earlier is None else (earlier.channel, earlier.volume)
    free(host)
    made_editor = scene.sequence_editor is None
    editor = scene.sequence_editor_create()
    channel = channel or free_channel(editor)
    strip = compat.strips(editor).new_sound(host.name, str(path), channel, scene.frame_start)
    strip.volume = volume
    marks.put(strip.sound, marks.SOUND)
    strip.sound.filepath = mesh_cache.relative(path)
    state = host.jounce
    state.bake_sound, state.bake_sound_path = strip.sound, strip.sound.filepath
    state.bake_sound_blend = bpy.data.filepath
    state.bake_sound_editor = scene if made_editor else None
    return path


def free(host: bpy.types.Object) -> None:
    """Removes the sound of a host and its strips; the file is deleted once nothing can play the sound."""
    state, sound = host.jounce, host.jounce.bake_sound
    is_own = cache_files.is_made_here(
        state.bake_sound_path, state.bake_sound_blend, "" if sound is None else sound.filepath
    )
    made_editor = state.bake_sound_editor
    for name in ("bake_sound", "bake_sound_path", "bake_sound_blend", "bake_sound_editor"):
        state.property_unset(name)
    if sound is None or not marks.has(sound, marks.SOUND) or is_shared(sound):
        return
    path = Path(bpy.path.abspath(sound.filepath, library=sound.library))
    for strips, strip in list(playing(sound)):
        strips.remove(strip)
    editor = None if made_editor is None else made_editor.sequence_editor
    if editor is not None and not len(compat.strips(editor)):
        made_editor.sequence_editor_clear()
    if sound.library is None:
        bpy.data.sounds.remove(sound)
    if is_own and path not in cache_files.played():
        freed_files.CACHES.free(path, bpy.data.filepath)


def is_shared(sound: bpy.types.Sound) -> bool:
    """True if the sound also belongs to another host, for instance a copy."""
    return any(obj.jounce.bake_sound == sound for obj in registry.meshes())


def playing(sound: bpy.types.Sound | None) -> Iterator[tuple[Strips, "bpy.types.SoundStrip"]]:
    """The strips of a sound in all scenes, each with its containing list."""
    if sound is None:
        return
    for scene in bpy.data.scenes:
        if scene.sequence_editor is not None:
            yield from playing_in(scene.sequence_editor, sound)


def playing_in(
    holder: bpy.types.bpy_struct, sound: bpy.types.Sound
) -> Iterator[tuple[Strips, "bpy.types.SoundStrip"]]:
    """The strips of a sequencer or a meta strip that play a sound."""
    strips = compat.strips(holder)
    for strip in strips:
        if strip.type == "META":
            yield from playing_in(strip, sound)
        elif strip.type == "SOUND" and strip.sound == sound:
            yield strips, strip


def free_channel(editor: bpy.types.SequenceEditor) -> int:
    """The lowest channel of a sequencer without a strip."""
    used = {strip.channel for strip in compat.strips(editor)}
    return next(channel for channel in range(1, len(used) + 2) if channel not in used)


def new_path(host: bpy.types.Object) -> Path:
    """New path for the sound of a host: a file beside the .blend, named after the host."""
    folder = Path(bpy.data.filepath).parent
    stem = f"{final_files.file_stem()} {bpy.path.clean_name(host.name)}"
    names = (f"{stem}{number}{SUFFIX}" for number in ("", *(f" {n}" for n in range(2, 10_000))))
    return next(path for name in names if not (path := folder / name).exists())
