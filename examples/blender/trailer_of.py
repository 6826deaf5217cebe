"""One shot of the trailer, rendered as numbered pictures.

python trailer_of.py SHOT --data DIR --out DIR

The folders posed and flesh of DIR have a picture a frame, wide ones for a beat that shows one of them alone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import extension
import numpy as np
import script
import sheet
import studio
from PIL import Image
from trailer_beats import BEATS, HIGH, WIDE
from trailer_shots import SHOTS, Act


def main() -> None:
    """Renders the panels that beats show of a shot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shot", choices=SHOTS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    extension.enable()
    act = SHOTS[options.shot](options.data)
    furthest = max(np.linalg.norm(after - before, axis=1).max() for before, after in pairs(act))
    print(f"{options.shot}: {len(act.flesh)} frames, flesh at most {furthest:.3g} from the other shape")
    room = room_of(act)
    for name, width in sorted(wanted(options.shot)):
        render(room, getattr(act, name), options.out / f"{name}_{width}", width)


def pairs(act: Act) -> list[tuple[np.ndarray, np.ndarray]]:
    """Shapes of each mesh in each frame, without and with flesh."""
    frames = zip(act.posed, act.flesh, strict=True)
    return [pair for posed, flesh in frames for pair in zip(posed, flesh, strict=True)]


def wanted(shot: str) -> set[tuple[str, int]]:
    """Names and widths of the panels of a shot in all beats."""
    shown = [beat for beat in BEATS if beat.shot == shot]
    return {(name, WIDE // len(beat.panels)) for beat in shown for name, _ in beat.panels}


def room_of(act: Act) -> studio.Studio:
    """A studio whose camera has the whole act in the middle of the picture, however wide."""
    take = sheet.Take("", 1, 24.0, size_of(act.posed[0]), act.posed, act.flesh)
    room = studio.Studio(act.meshes, take.framed(), studio.best_engine(), act.view)
    camera = room.camera.data
    camera.sensor_fit, camera.sensor_height = "VERTICAL", camera.sensor_width
    return room


def size_of(shape: list[np.ndarray]) -> float:
    """Diagonal of the box around a shape."""
    return float(np.linalg.norm(np.ptp(np.concatenate(shape), axis=0)))


def render(room: studio.Studio, shapes: sheet.Shapes, folder: Path, width: int) -> None:
    """Renders shapes as pictures of a width and the trailer's height."""
    folder.mkdir(parents=True, exist_ok=True)
    raw = folder / "raw.png"
    wide, high = room.filled
    room.camera.data.lens = studio.LENS * min(width / HIGH / wide, 1.0 / high)
    for number, shape in enumerate(shapes):
        picture = folder / f"{number:04}.png"
        if number and shape is shapes[number - 1]:
            shutil.copy(folder / f"{number - 1:04}.png", picture)
            continue
        room.pose(shape)
        room.render(raw, room.oversampling * width, room.oversampling * HIGH)
        with Image.open(raw) as large:
            small = large.convert("RGB").resize((width, HIGH), Image.Resampling.LANCZOS)
        small.save(picture, compress_level=1)
    raw.unlink()


if __name__ == "__main__":
    script.run(main)
