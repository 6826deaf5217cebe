"""The first picture of the README: two characters in turn, posed beside flesh, with a strip of heat below."""

from __future__ import annotations

from pathlib import Path

import film
import sheet
from PIL import Image, ImageDraw
from sheet import GAP, INK, PAPER, font

# Moments of the strip, height of a line of words, width of the frame around the present moment.
MOMENTS, LINE, FRAME = 6, 34, 3
LABELS = film.PANELS[:2]


def pages(shot: list[film.Panels], top: float) -> list[Image.Image]:
    """Pictures of a shot's frames. top: share of the size that the last colour stands for."""
    width, height = shot[0][0].size
    cell = (2 * width + GAP + GAP) // MOMENTS - GAP
    moments = [round((k + 0.5) * len(shot) / MOMENTS) for k in range(MOMENTS)]
    small = cell, round(cell * height / width)
    strip = [shot[moment][2].resize(small, Image.Resampling.LANCZOS) for moment in moments]
    return [page(frame, strip, MOMENTS * k // len(shot), top) for k, frame in enumerate(shot)]


def page(frame: film.Panels, strip: list[Image.Image], now: int, top: float) -> Image.Image:
    """Posed beside flesh, and the strip below with a frame around the present moment."""
    (width, height), (cell, low) = frame[0].size, strip[0].size
    size = 2 * width + GAP, LINE + height + LINE + low
    picture = Image.new("RGB", (size[0] + size[0] % 2, size[1] + size[1] % 2), PAPER)
    draw = ImageDraw.Draw(picture)
    for column, (panel, label) in enumerate(zip(frame[:2], LABELS, strict=True)):
        left = column * (width + GAP)
        picture.paste(panel, (left, LINE))
        draw.text((left + width // 2, LINE // 2), label, font=font(21), fill=INK, anchor="mm")
    sheet.scale_bar(picture, (GAP, LINE + height + 9), top, "posed shape")
    for column, panel in enumerate(strip):
        left, above = column * (cell + GAP), LINE + height + LINE
        picture.paste(panel, (left, above))
        if column == now:
            draw.rectangle((left, above, left + cell - 1, above + low - 1), outline=INK, width=FRAME)
    return picture


def keep(pictures: list[Image.Image], folder: Path) -> None:
    """Saves pictures of a character in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(pictures):
        picture.save(folder / f"{number:04}.png", compress_level=1)


def join(folders: list[Path], path: Path, most: float) -> None:
    """Saves the kept pictures of all characters as one loop, and removes the folders."""
    kept = [sorted(folder.glob("*.png")) for folder in folders]
    pictures = [Image.open(name).convert("RGB") for names in kept for name in names]
    film.save_webp(pictures, path, most)
    for folder, names in zip(folders, kept, strict=True):
        for name in names:
            name.unlink()
        folder.rmdir()
