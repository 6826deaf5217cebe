"""Pictures that the platform of Blender's extensions asks for: an icon, and one for the top of the page."""

from __future__ import annotations

from pathlib import Path

import bpy
import creature
import flesh
import numpy as np
import sheet
import studio
from PIL import Image, ImageDraw
from sheet import FAINT, INK, font
from subjects import Shape
from view import View

# Frames of the hop, those of the icon and of the featured picture, and the width of the icon while drawn.
FRAMES, ICON_FRAME, SHOWN, LARGE = range(1, 31), 10, 22, 1024
ICON, FEATURED = 256, (1920, 1080)
TOP, BOTTOM = (255, 178, 125), (214, 84, 58)
# Sides of the three figures and the height of the line of words, pixels.
SIDE, FOOT = 620, 280
LABELS = ("posed", "with Jounce", "the difference")


class Hop:
    """The creature's hop with the preset Cartoon, and its posed shapes."""

    def __init__(self) -> None:
        """Build it in an empty file and simulate."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        built = creature.build()
        self.meshes = [built.body, *built.parts]
        self.posed = studio.record(self.meshes, FRAMES)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = FRAMES.start, FRAMES.stop - 1
        host = flesh.added(built.armature, self.meshes, FRAMES.start)
        host.jounce.preset = "Cartoon"
        bpy.ops.jounce.fill_cache()
        self.fleshed = studio.record(self.meshes, FRAMES)

    def room(self, shapes: list[Shape], engine: str, view: View) -> studio.Studio:
        """A studio that shows these shapes."""
        return studio.Studio(self.meshes, shapes, engine, view)


def icon(engine: str, scratch: Path) -> Image.Image:
    """Head and belly of the creature in its hop, on a rounded square."""
    hop = Hop()
    shape = hop.fleshed[ICON_FRAME - FRAMES.start]
    room = hop.room([shape], engine, View(20.0, 0.2, 0.3))
    figure = bare(room, shape, scratch, LARGE)
    ground = np.linspace(0.0, 1.0, LARGE)[:, None, None] * (np.array(BOTTOM) - TOP) + TOP
    square = Image.fromarray(np.tile(np.round(ground).astype(np.uint8), (1, LARGE, 1))).convert("RGBA")
    square.alpha_composite(figure)
    mask = Image.new("L", square.size)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, LARGE - 1, LARGE - 1), LARGE // 6, fill=255)
    square.putalpha(mask)
    return square.resize((ICON, ICON), Image.Resampling.LANCZOS)


def featured(engine: str, scratch: Path) -> Image.Image:
    """The creature as it is posed, with flesh, and the difference, above the name."""
    hop = Hop()
    index = SHOWN - FRAMES.start
    posed, fleshed = hop.posed[index], hop.fleshed[index]
    take = sheet.Take("", 1, 24.0, size_of(hop.posed[0]), hop.posed, hop.fleshed)
    room = hop.room([posed, fleshed], engine, View(20.0))
    figures = [bare(room, shape, scratch, SIDE) for shape in (posed, fleshed)]
    room.paint([amount / sheet.scale(take) for amount in take.displacement(index)])
    figures.append(bare(room, fleshed, scratch, SIDE))
    return page(figures)


def page(figures: list[Image.Image]) -> Image.Image:
    """Figures side by side with their labels, above name and purpose."""
    picture = Image.new("RGBA", FEATURED, tuple(round(255 * channel) for channel in studio.BACKDROP))
    draw, gap = ImageDraw.Draw(picture), (FEATURED[0] - len(figures) * SIDE) // (len(figures) + 1)
    for column, (figure, label) in enumerate(zip(figures, LABELS, strict=True)):
        left = gap + column * (SIDE + gap)
        picture.alpha_composite(figure, (left, FEATURED[1] - FOOT - SIDE - 60))
        draw.text((left + SIDE // 2, 60), label, font=font(44), fill=FAINT, anchor="mm")
    middle = FEATURED[0] // 2
    draw.text((middle, FEATURED[1] - 190), "Jounce", font=font(150), fill=INK, anchor="mm")
    draw.text((middle, FEATURED[1] - 70), "Flesh that follows the rig", font=font(54), fill=INK, anchor="mm")
    return picture.convert("RGB")


def bare(room: studio.Studio, shape: Shape, scratch: Path, side: int) -> Image.Image:
    """The meshes alone."""
    room.pose(shape)
    room.render(scratch, room.oversampling * side, room.oversampling * side, bare=True)
    with Image.open(scratch) as picture:
        return picture.convert("RGBA").resize((side, side), Image.Resampling.LANCZOS)


def size_of(shape: Shape) -> float:
    """Diagonal of the box around a shape."""
    return float(np.linalg.norm(np.ptp(np.concatenate(shape), axis=0)))
