"""A film of a take, posed beside flesh beside heat, at true speed, and a strip of six of its frames."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import sheet
from PIL import Image, ImageDraw
from sheet import FAINT, GAP, INK, PAPER, Take, font
from studio import Studio, hushed

# Frames a second, pixels of a panel's side, frames of a strip, height of the line of labels.
RATE, SIDE, SHOWN, HEAD = 24, 300, 6, 28
# Qualities of pictures, best first.
QUALITIES = (70, 60, 50, 40, 30, 20)
PANELS = ("posed", "with Jounce", "heat")

Panels = tuple[Image.Image, ...]


def save(studio: Studio, take: Take, path: Path, side: int = SIDE) -> list[int]:
    """Saves PATH.webp, PATH.mp4 if Blender has FFmpeg, and the strip PATH.png; returns the strip's frames.

    take: with `RATE` frames a second.
    """
    top = sheet.scale(take)
    shot = photographed(studio, take, top, side)
    pictures = [beside(frame, top) for frame in shot]
    shown = sheet.telling_frames(take.amplitudes(), SHOWN)
    strip([shot[index] for index in shown], shown, take, top).save(path.with_suffix(".png"))
    save_webp(pictures, path.with_suffix(".webp"))
    if bpy.app.ffmpeg.supported:
        save_mp4(pictures, path.with_suffix(".mp4"))
    return shown


def photographed(studio: Studio, take: Take, top: float, side: int) -> list[Panels]:
    """The panels of every frame of a take; see `panels`."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "panel.png"
        return [panels(studio, take, index, top, (scratch, side)) for index in range(len(take.posed))]


def at_rate(take: Take, rate: float) -> Take:
    """The same seconds at another frame rate, straight between recorded frames."""
    last = len(take.posed) - 1
    times = np.arange(int(np.floor(last * rate / take.frame_rate)) + 1) * take.frame_rate / rate

    def sampled(shapes: sheet.Shapes) -> sheet.Shapes:
        return [between(shapes[int(time)], shapes[min(int(time) + 1, last)], time % 1.0) for time in times]

    return replace(take, frame_rate=rate, posed=sampled(take.posed), fleshed=sampled(take.fleshed))


def between(before: list[np.ndarray], after: list[np.ndarray], share: float) -> list[np.ndarray]:
    """Positions at a share of the way from one frame to the next."""
    return [((1.0 - share) * a + share * b).astype(np.float32) for a, b in zip(before, after, strict=True)]


def panels(studio: Studio, take: Take, index: int, top: float, shown: tuple[Path, int]) -> Panels:
    """The three pictures of a frame; the last colour of the heat stands for `top` and beyond.

    shown: file for a picture in between, and pixels of its side.
    """
    studio.paint(None)
    plain = [sheet.photograph(studio, shapes[index], *shown) for shapes in (take.posed, take.fleshed)]
    studio.paint([amount / top for amount in take.displacement(index)])
    return (*plain, sheet.photograph(studio, take.fleshed[index], *shown))


def beside(frame: Panels, top: float) -> Image.Image:
    """The panels of a frame side by side, a label above each."""
    side, height = frame[0].size
    # Codecs take even sizes.
    size = [number + number % 2 for number in (len(frame) * (side + GAP) - GAP, height + HEAD)]
    picture = Image.new("RGB", tuple(size), PAPER)
    for column, (panel, label) in enumerate(zip(frame, PANELS, strict=True)):
        text = f"{label}, red: {100 * top:g} % of the size" if label == PANELS[-1] else label
        place = column * (side + GAP)
        picture.paste(panel, (place, HEAD))
        ImageDraw.Draw(picture).text(
            (place + side // 2, HEAD // 2), text, font=font(15), fill=INK, anchor="mm"
        )
    return picture


def strip(shot: list[Panels], shown: list[int], take: Take, top: float) -> Image.Image:
    """Frames of a film from left to right: posed, flesh and heat below each other."""
    side = shot[0][0].width
    pitch = side + GAP
    picture = Image.new("RGB", (pitch * len(shot) - GAP, 2 * HEAD + pitch * len(PANELS) + HEAD), PAPER)
    draw = ImageDraw.Draw(picture)
    draw.text((GAP, HEAD // 2), take.title, font=font(20), fill=INK, anchor="lm")
    for column, (frame, index) in enumerate(zip(shot, shown, strict=True)):
        middle = column * pitch + side // 2, HEAD + HEAD // 2
        draw.text(middle, f"{index / take.frame_rate:.2f} s", font=font(15), fill=FAINT, anchor="mm")
        for row, panel in enumerate(frame):
            picture.paste(panel, (column * pitch, 2 * HEAD + row * pitch))
    sheet.scale_bar(picture, (GAP, picture.height - HEAD + 6), top, "posed shape")
    return picture


def save_webp(pictures: list[Image.Image], path: Path, most: float = math.inf) -> None:
    """Saves a film that starts again at its end, in the best quality with at most so many bytes."""
    ends = np.round(1000.0 * np.arange(len(pictures) + 1) / RATE).astype(int)
    for quality in QUALITIES:
        options = {"duration": np.diff(ends).tolist(), "loop": 0, "quality": quality, "method": 4}
        pictures[0].save(path, save_all=True, append_images=pictures[1:], **options)
        if path.stat().st_size <= most:
            break


def save_mp4(pictures: list[Image.Image], path: Path, quality: str = "HIGH") -> None:
    """Saves a film as H.264 by Blender's own FFmpeg, which names the qualities."""
    scene = bpy.data.scenes.new("Film")
    with tempfile.TemporaryDirectory() as folder:
        for number, picture in enumerate(pictures):
            picture.save(Path(folder) / f"{number:04}.png", compress_level=1)
        editor = scene.sequence_editor_create()
        strips = editor.strips if hasattr(editor, "strips") else editor.sequences
        images = strips.new_image("Film", str(Path(folder) / "0000.png"), channel=1, frame_start=1)
        for number in range(1, len(pictures)):
            images.elements.append(f"{number:04}.png")
        scene.frame_start, scene.frame_end = 1, len(pictures)
        scene.view_settings.view_transform = "Standard"
        _as_film(scene.render, *pictures[0].size)
        # Whole pictures are rare: cuts have one anyway.
        scene.render.ffmpeg.constant_rate_factor, scene.render.ffmpeg.gopsize = quality, 10 * RATE
        scene.render.filepath = str(path)
        with hushed():
            bpy.ops.render.render(animation=True, scene=scene.name)
    bpy.data.scenes.remove(scene)


def _as_film(render: bpy.types.RenderSettings, width: int, height: int) -> None:
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.fps, render.fps_base, render.use_file_extension = RATE, 1.0, False
    # Blender 5 asks for the kind of file first.
    if hasattr(render.image_settings, "media_type"):
        render.image_settings.media_type = "VIDEO"
    render.image_settings.file_format = "FFMPEG"
    render.ffmpeg.format, render.ffmpeg.codec, render.ffmpeg.audio_codec = "MPEG4", "H264", "NONE"
