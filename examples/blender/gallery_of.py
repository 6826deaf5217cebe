"""One clip for `gallery.py`: its character added as an artist does, with a preset, recorded and filmed.

python gallery_of.py FILE --report OUT.json --sheets DIR --clip NAME
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import bpy
import character as characters
import film
import films_of
import first_picture
import numpy as np
import one_character
import script
import sheet
import studio
from gallery_clips import CLIPS, FIRST, SECOND, Clip
from PIL import Image

# A panel is as wide and high as what moves in it, but these shares of a square at least.
LEAST_FILLED = (0.7, 0.55)


def main() -> None:
    """Makes one picture and writes the report."""
    parser = one_character.shooting_parser(__doc__)
    parser.add_argument("--clip", required=True, help="name of the picture")
    options = parser.parse_args()
    clip = next(clip for clip in (FIRST, SECOND, *CLIPS) if clip.picture == options.clip)

    def filmed(_: str, character: characters.Character, shot: characters.Shot) -> dict:
        if clip.coat:
            paint(character, clip.coat)
        take = films_of.taken(character, shot, options.report.parent, clip.settings())
        return save(character, ending(take, clip), clip, options.sheets)

    one_character.measure(options, filmed, partial(chosen, clip))


def chosen(clip: Clip, character: characters.Character, _: int) -> characters.Shot:
    """The frames of a clip, those of a cycle's turns before it included; the action is assigned."""
    if not clip.action:
        return characters.choose_shot(character, clip.frames)
    actions = characters.actions_of(character.armature)
    action = next((action for action in actions if action.name.split("|")[-1] == clip.action), None)
    if action is None:
        raise characters.Unreadable(f"{character.name} has no action {clip.action}.")
    characters.assign(character.armature, action)
    first, last = action.frame_range
    frames = clip.frames
    if clip.before:
        characters.repeat(action)
        frames = round((clip.before + 1) * (last - first))
    scene = bpy.context.scene
    shot = characters.Shot(action, int(first), int(first) + frames - 1)
    scene.frame_start, scene.frame_end = shot.first, shot.last
    scene.frame_set(shot.first)
    return shot


def paint(character: characters.Character, colour: tuple[float, float, float]) -> None:
    """Gives the meshes of a character one colour."""
    material = bpy.data.materials.new("Coat")
    material.diffuse_color = (*colour, 1.0)
    for mesh in character.body:
        mesh.data.materials.clear()
        mesh.data.materials.append(material)


def ending(take: sheet.Take, clip: Clip) -> sheet.Take:
    """The last turn of a take of a cycle, else the whole take, or its last frames."""
    start = len(take.posed) - (clip.shown or round(len(take.posed) / (clip.before + 1)))
    return replace(take, first=take.first + start, posed=take.posed[start:], fleshed=take.fleshed[start:])


def save(character: characters.Character, take: sheet.Take, clip: Clip, folder: Path) -> dict:
    """Saves the picture of a take; describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    take, path = film.at_rate(take.in_place(), film.RATE), folder / f"{clip.picture}.webp"
    room = studio.Studio(character.body, take.framed(), studio.best_engine(), clip.view)
    wide, high = np.maximum(room.filled, LEAST_FILLED)
    side, top = round(clip.width / wide), sheet.scale(take)
    size = clip.width, clip.height or round(high * side)
    # Further away where the motion is higher than the panel.
    room.camera.data.lens *= min(1.0, size[1] / (high * side))
    frames = film.photographed(room, take, top, side)
    frames = [tuple(trimmed(panel, size) for panel in frame) for frame in frames]
    if clip in (FIRST, SECOND):
        first_picture.keep(first_picture.pages(frames, top), path.with_suffix(""))
        path = path.with_name(f"{FIRST.picture}.webp")
    else:
        film.save_webp([film.beside(frame, top) for frame in frames], path, clip.most)
    apart = outlines_apart(room, take, side, folder / f"{clip.picture}.part.png")
    return {
        "picture": path.name,
        "action": take.title.rpartition(": ")[2],
        "preset": clip.preset,
        "amount": clip.amount or "",
        "frames": len(frames),
        "red": top,
        "apart, px": apart.mean(),
        "most, px": apart.max(),
        "panel, px": "{} x {}".format(*size),
    }


def trimmed(panel: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The middle of a panel."""
    left, top = ((whole - part) // 2 for whole, part in zip(panel.size, size, strict=True))
    return panel.crop((left, top, left + size[0], top + size[1]))


def outlines_apart(room: studio.Studio, take: sheet.Take, side: int, scratch: Path) -> np.ndarray:
    """Mean distance (f,) of the outlines of pose and flesh in each frame, in pixels: the area between them
    over the length of the pose's.
    """

    def seen(shape: list[np.ndarray]) -> np.ndarray:
        room.pose(shape)
        room.render(scratch, side, side, bare=True)
        with Image.open(scratch) as picture:
            return np.asarray(picture.getchannel("A")) > 127

    found = []
    for posed, fleshed in zip(take.posed, take.fleshed, strict=True):
        before, after = seen(posed), seen(fleshed)
        inside = np.pad(before, 1)
        inside = inside[:-2, 1:-1] & inside[2:, 1:-1] & inside[1:-1, :-2] & inside[1:-1, 2:]
        found.append((before ^ after).sum() / max(1, (before & ~inside).sum()))
    scratch.unlink()
    return np.array(found)


if __name__ == "__main__":
    script.run(main)
