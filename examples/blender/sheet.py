"""Pictures of a shot for visual inspection: a contact sheet, and a short loop without and with flesh."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
from studio import Studio, heat

Shapes = list[list[np.ndarray]]

COLUMNS = 6
CELL = 340
GAP = 6
FRAMED = 0.2
LOOP_CELL = 300
LOOP_LIMIT = 300_000
INK = (52, 46, 66)
FAINT = (128, 120, 134)
PAPER = tuple(round(255 * channel) for channel in (0.965, 0.955, 0.94))


@dataclass
class Take:
    """One shot, recorded without and with flesh: positions per frame and mesh, in world units.

    between: other motions that the sheet shows between the two.
    """

    title: str
    first: int
    frame_rate: float
    size: float
    posed: Shapes
    fleshed: Shapes
    rows: tuple[str, ...] = ("Posed", "With Jounce", "Difference")
    between: tuple[Shapes, ...] = ()

    def in_place(self) -> Take:
        """The same shot, kept at the initial position if the character travels further than its size."""
        boxes = [np.concatenate(shape)[:, :2] for shape in self.posed]
        middles = np.array([(box.min(axis=0) + box.max(axis=0)) / 2.0 for box in boxes])
        if np.ptp(middles, axis=0).max() <= self.size:
            return self
        back = np.pad(middles[0] - middles, ((0, 0), (0, 1)))
        posed, fleshed = _moved(self.posed, back), _moved(self.fleshed, back)
        return replace(
            self, posed=posed, fleshed=fleshed, between=tuple(_moved(s, back) for s in self.between)
        )

    def displacement(self, index: int) -> list[np.ndarray]:
        """Distance (p,) between the two shapes of one frame, for each mesh, as a fraction of the size."""
        pairs = zip(self.posed[index], self.fleshed[index], strict=True)
        return [np.linalg.norm(after - before, axis=1) / self.size for before, after in pairs]

    def framed(self) -> Shapes:
        """Shapes for the camera to frame: everything visible except the tips of parts that fly off."""
        shapes = [list(shape) for shape in self.posed]
        for index, posed in enumerate(self.posed):
            for before, after, far in zip(posed, self.fleshed[index], self.displacement(index), strict=True):
                share = np.minimum(1.0, FRAMED / (far + 1e-12))
                shapes[index].append(before + (after - before) * share[:, None])
        return shapes

    def amplitudes(self) -> np.ndarray:
        """Largest displacement (f,) of each frame, as a fraction of the size."""
        return np.array([max(d.max() for d in self.displacement(k)) for k in range(len(self.posed))])


def _moved(shapes: Shapes, by: np.ndarray) -> Shapes:
    return [[points + way for points in shape] for shape, way in zip(shapes, by, strict=True)]


def telling_frames(amplitudes: np.ndarray, count: int) -> list[int]:
    """Indices of up to `count` frames with large motion, peaks first, spread as far as possible."""
    padded = np.concatenate([[-1.0], amplitudes, [-1.0]])
    peaks = (amplitudes >= padded[:-2]) & (amplitudes >= padded[2:])
    large = amplitudes >= 0.35 * amplitudes.max()
    ranked = [int(index) for index in np.lexsort((-amplitudes, ~peaks)) if large[index]]
    chosen: list[int] = []
    for apart in range(len(amplitudes) // count, 0, -1):
        for candidate in ranked:
            if len(chosen) < count and all(abs(candidate - other) >= apart for other in chosen):
                chosen.append(candidate)
    return sorted(chosen)


def scale(take: Take) -> float:
    """Share of the size that the last colour stands for, and everything beyond: about the 99th percentile of
    the strongest frame's distances.
    """
    strongest = np.concatenate(take.displacement(int(np.argmax(take.amplitudes()))))
    return _round_up(float(np.percentile(strongest, 99.0)))


def contact_sheet(studio: Studio, take: Take, path: Path, scratch: Path) -> list[int]:
    """Save the sheet as PNG and return the frames shown.

    Each column is a frame. The rows are the reference (the posed shape or another one), the motions in
    between, the shape with flesh, and that shape coloured by its distance from the reference, whose outline
    is drawn over it. The last colour stands for the 99th percentile of the strongest frame's distances, and
    for everything beyond.
    """
    columns, top = telling_frames(take.amplitudes(), COLUMNS), scale(take)
    left, head, foot, pitch = 64, 104, 56, CELL + GAP
    sheet = Image.new("RGB", (left + pitch * len(columns) + 20, head + pitch * len(take.rows) + foot), PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((left, 20), take.title, font=font(34), fill=INK)
    for column, index in enumerate(columns):
        for row, picture in enumerate(_column(studio, take, index, top, scratch)):
            sheet.paste(picture, (left + column * pitch, head + row * pitch))
        label = f"frame {take.first + index}"
        draw.text(
            (left + column * pitch + CELL // 2, head - 10), label, font=font(21), fill=FAINT, anchor="ms"
        )
    for row, label in enumerate(take.rows):
        _sideways(sheet, label, (left, head + row * pitch))
    scale_bar(sheet, (left, head + pitch * len(take.rows) + 18), top, "posed shape (outlined)")
    sheet.save(path)
    return [take.first + index for index in columns]


def loop(studio: Studio, take: Take, path: Path, scratch: Path) -> int:
    """Save the whole shot side by side, without and with flesh, as looping WebP; returns its bytes.

    The picture quality is lowered until the file is below 300 kilobytes, where the loss becomes visible.
    """
    studio.paint(None)
    pictures = []
    for posed, fleshed in zip(take.posed, take.fleshed, strict=True):
        picture = Image.new("RGB", (2 * LOOP_CELL, LOOP_CELL + 34), PAPER)
        for side, (shape, label) in enumerate(((posed, "Posed"), (fleshed, "With Jounce"))):
            picture.paste(photograph(studio, shape, scratch, LOOP_CELL), (side * LOOP_CELL, 34))
            middle = side * LOOP_CELL + LOOP_CELL // 2
            ImageDraw.Draw(picture).text((middle, 24), label, font=font(18), fill=INK, anchor="ms")
        pictures.append(picture)
    duration = round(1000.0 / take.frame_rate)
    for quality in (75, 60, 50, 40, 30, 20):
        options = {"duration": duration, "loop": 0, "quality": quality, "method": 5}
        pictures[0].save(path, save_all=True, append_images=pictures[1:], **options)
        if path.stat().st_size < LOOP_LIMIT:
            break
    return path.stat().st_size


def _column(studio: Studio, take: Take, index: int, top: float, scratch: Path) -> list[Image.Image]:
    studio.paint(None)
    motions = (take.posed, *take.between, take.fleshed)
    plain = [photograph(studio, shapes[index], scratch, CELL) for shapes in motions]
    studio.pose(take.posed[index])
    outline = _outline(studio, scratch)
    studio.paint([amount / top for amount in take.displacement(index)])
    coloured = photograph(studio, take.fleshed[index], scratch, CELL)
    coloured.paste(INK, mask=outline)
    return [*plain, coloured]


def photograph(studio: Studio, shape: list[np.ndarray], scratch: Path, size: int) -> Image.Image:
    """A square picture of a shape in its present colours."""
    studio.pose(shape)
    studio.render(scratch, studio.oversampling * size, studio.oversampling * size)
    with Image.open(scratch) as picture:
        return picture.convert("RGB").resize((size, size), Image.Resampling.LANCZOS)


def _outline(studio: Studio, scratch: Path) -> Image.Image:
    """Mask of the silhouette's edge, two pixels wide, of the shape in the studio."""
    studio.render(scratch, studio.oversampling * CELL, studio.oversampling * CELL, bare=True)
    with Image.open(scratch) as picture:
        alpha = picture.getchannel("A")
    edge = ImageChops.difference(alpha.filter(ImageFilter.MaxFilter(5)), alpha)
    return edge.resize((CELL, CELL), Image.Resampling.LANCZOS)


def _sideways(sheet: Image.Image, text: str, corner: tuple[int, int]) -> None:
    label = Image.new("RGB", (CELL, 34), PAPER)
    ImageDraw.Draw(label).text((CELL // 2, 17), text, font=font(23), fill=INK, anchor="mm")
    sheet.paste(label.rotate(90, expand=True), (corner[0] - 46, corner[1]))


def scale_bar(sheet: Image.Image, corner: tuple[int, int], top: float, reference: str) -> None:
    """Draws the colours of the distances from a reference."""
    width, height = 420, 16
    ramp = heat(np.linspace(0.0, 1.0, width))
    strip = np.tile(np.round(255 * ramp).astype(np.uint8), (height, 1, 1))
    draw, middle = ImageDraw.Draw(sheet), corner[1] + height // 2
    draw.text((corner[0], middle), "0", font=font(21), fill=FAINT, anchor="lm")
    sheet.paste(Image.fromarray(strip), (corner[0] + 22, corner[1]))
    label = f"{100 * top:g} % of the character's size or more away from the {reference}"
    draw.text((corner[0] + width + 34, middle), label, font=font(21), fill=FAINT, anchor="lm")


def _round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7 times a power of ten; at least a thousandth."""
    value = max(value, 1e-3)
    power = 10.0 ** np.floor(np.log10(value))
    return float(next((step * power for step in (1, 1.5, 2, 3, 5, 7) if step * power >= value), 10 * power))


def font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)
