"""Pictures side by side, for pages of the documentation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from sheet import FAINT, INK, PAPER, font
from studio import Studio, heat
from subjects import Creature, Shape

CELL = 250
GAP = 4


def plain(studio: Studio, shape: Shape, scratch: Path) -> Image.Image:
    """The subject in its own colours."""
    studio.paint(None)
    return photograph(studio, shape, scratch)


def painted(
    studio: Studio, creature: Creature, amounts: np.ndarray, scratch: Path, shape: Shape | None = None
) -> Image.Image:
    """The creature, at rest unless a shape is given, coloured by amounts (p,) up to 1."""
    studio.paint(creature.split(np.clip(amounts, 0.0, 1.0)))
    return photograph(studio, creature.rest if shape is None else shape, scratch)


def strongest(creature: Creature, take: list[Shape], count: int) -> list[int]:
    """The `count` frames, ascending, where the mean distance to the pose peaks, at least six frames apart."""
    far = [creature.distance(*both).mean() for both in zip(take, creature.posed, strict=True)]
    chosen: list[int] = []
    for frame in np.argsort(far)[::-1]:
        if len(chosen) < count and all(abs(frame - other) >= 6 for other in chosen):
            chosen.append(int(frame))
    return sorted(chosen)


def sheet(rows: list[list[Image.Image]], columns: list[str], names: list[str], legend: str) -> Image.Image:
    """Pictures in rows, a name over each column and before each row; a legend explains a colour scale."""
    left, head, foot = (34 if any(names) else GAP), 52, 34 if legend else GAP
    size = left + (CELL + GAP) * len(columns), head + (CELL + GAP) * len(rows) + foot
    page = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(page)
    for k, text in enumerate(columns):
        middle = left + k * (CELL + GAP) + CELL // 2
        draw.multiline_text((middle, head // 2), text, font=font(17), fill=INK, anchor="mm", align="center")
    for r, (row, name) in enumerate(zip(rows, names, strict=True)):
        top = head + r * (CELL + GAP)
        label = Image.new("RGB", (CELL, left), PAPER)
        ImageDraw.Draw(label).text((CELL // 2, left // 2), name, font=font(17), fill=INK, anchor="mm")
        page.paste(label.rotate(90, expand=True), (0, top))
        for k, picture in enumerate(row):
            page.paste(picture, (left + k * (CELL + GAP), top))
    if legend:
        _scale(page, (left, size[1] - foot + 10), legend)
    return page


def save(picture: Image.Image, path: Path, limit: int) -> None:
    """WebP of the best quality that stays below `limit` bytes."""
    for quality in (92, 85, 75, 60, 40):
        picture.save(path, quality=quality, method=6)
        if path.stat().st_size < limit:
            return


def photograph(studio: Studio, shape: Shape, scratch: Path) -> Image.Image:
    """The subject in its present colours."""
    studio.pose(shape)
    studio.render(scratch, studio.oversampling * CELL, studio.oversampling * CELL)
    with Image.open(scratch) as picture:
        return picture.convert("RGB").resize((CELL, CELL), Image.Resampling.LANCZOS)


def _scale(page: Image.Image, corner: tuple[int, int], legend: str) -> None:
    width, height = 200, 12
    ramp = heat(np.linspace(0.0, 1.0, width))
    strip = np.tile(np.round(255 * ramp).astype(np.uint8), (height, 1, 1))
    page.paste(Image.fromarray(strip), corner)
    place = corner[0] + width + 10, corner[1] + height // 2
    ImageDraw.Draw(page).text(place, legend, font=font(15), fill=FAINT, anchor="lm")
