"""Shots of the trailer: each acts in Blender and gives its meshes and their shapes without and with flesh."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import bpy
import cape
import character as characters
import creature
import exports
import film
import films_of
import flesh
import gallery_of
import numpy as np
import sheet
import studio
import thrown_jelly
from gallery_clips import CLIPS, FIRST
from view import View

# Length of the cape, and factor on the radii of bones below it.
SHORT, WIDE = 0.5, 1.6
# Frames that a landing is held for, and places of the foxes of a game: sideways and back, in lengths of one.
HELD, PACK = 12, ((0.0, 0.0), (-0.45, 0.5), (0.45, 0.8))


@dataclass
class Act:
    """Meshes and their shapes without and with flesh, at the trailer's frame rate, and the camera's view."""

    meshes: list[bpy.types.Object]
    posed: sheet.Shapes
    flesh: sheet.Shapes
    view: View = View()


def belly(data: Path) -> Act:
    """The creature of the demo hops and twists."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    built = creature.build()
    bpy.context.scene.frame_end = 60
    actor = characters.Character("creature", built.armature, [built.body], built.parts)
    take = films_of.taken(
        actor, characters.Shot(built.action, 1, 60), scratch(), creature.FLESH | {"strength": 2.0}
    )
    return Act(actor.body, take.posed, take.fleshed)


def clip(picture: str, data: Path) -> Act:
    """A clip of the gallery."""
    actor, take, view = played(picture, data)
    return Act(actor.body, take.posed, take.fleshed, view)


def played(picture: str, data: Path) -> tuple[characters.Character, sheet.Take, View]:
    """Character, one turn and view of a clip of the gallery."""
    chosen = next(clip for clip in (FIRST, *CLIPS) if clip.picture == picture)
    actor = characters.load(file_of(chosen.file, data))
    shot = gallery_of.chosen(chosen, actor, 0)
    take = films_of.taken(actor, shot, scratch(), chosen.settings())
    return actor, film.at_rate(gallery_of.ending(take, chosen).in_place(), film.RATE), chosen.view


def file_of(stem: str, data: Path) -> Path:
    """File of a character below a folder."""
    found = sorted(path for path in data.rglob("*") if path.stem == stem)
    if not found:
        raise characters.Unreadable(f"There is no {stem} below {data}.")
    return found[0]


def caped(data: Path) -> Act:
    """A man runs round a bend, a cape on his shoulders."""
    actor = characters.load(file_of("Smooth_Male_Suit", data))
    wearer = cape.measured(actor)
    sheet_of_cloth = cape.made(wearer, SHORT)
    cape.play(actor, "Run")
    cape.collide(sheet_of_cloth, wearer, WIDE)
    cape.attach(sheet_of_cloth)
    meshes = [*actor.body, sheet_of_cloth]
    shapes = []
    for frame, shape in zip(cape.FRAMES, studio.record(meshes, cape.FRAMES), strict=True):
        bpy.context.scene.frame_set(frame)
        place = np.array(actor.armature.parent.matrix_world.translation, np.float32)
        shapes.append([cape.turned(points - place) for points in shape])
    return Act(meshes, shapes, shapes)


def landing(data: Path) -> Act:
    """A thrown block of jelly, a loose body, lands, hops and stands."""
    jelly = thrown_jelly.ThrownJelly()
    shapes = jelly.take(1.0)
    shapes += HELD * shapes[-1:]
    return Act([jelly.block], shapes, shapes)


def game(data: Path) -> Act:
    """Foxes from one glTF file with a bake, read as any file is, each a little later."""
    actor, take, view = played(FIRST.picture, data)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    scene, action = bpy.context.scene, actor.armature.animation_data.action
    # A file holds no cycles, so all turns are written.
    action.use_frame_range, action.frame_start, action.frame_end = True, scene.frame_start, scene.frame_end
    flesh.select([*actor.body, actor.armature])
    path = scratch() / "fox.glb"
    exports.export_gltf(str(path))
    actor = characters.load(path)
    period = len(take.posed)
    shapes = studio.record(actor.body, range(take.first, take.first + period))
    size = float(np.ptp(np.concatenate(shapes[0]), axis=0).max())
    pack = []
    for frame in range(period):
        pack.append([])
        for place, (aside, back) in enumerate(PACK):
            later = shapes[(frame + 9 * place) % period]
            pack[-1] += [points + np.array([aside, back, 0.0], np.float32) * size for points in later]
    return Act(actor.body * len(PACK), pack, pack, view)


def scratch() -> Path:
    """A new folder that goes with Blender's session."""
    return Path(tempfile.mkdtemp(dir=bpy.app.tempdir))


SHOTS: dict[str, Callable[[Path], Act]] = {
    "belly": belly,
    "ears": partial(clip, FIRST.picture),
    "skirt": partial(clip, "mage"),
    "cape": caped,
    "landing": landing,
    "game": game,
}
