"""The trailer: a minute of what Jounce does, from characters under free licences.

    python trailer.py DATA_DIR --out trailer.mp4 [--extension ZIP] [--shots DIR]

`trailer_beats.py` has the words and lengths, `trailer_shots.py` the shots. Each is rendered in its own
process to a folder of `--shots`, and one that is there already is taken as it is. A still goes beside the
film.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import film
import script
from PIL import Image, ImageDraw
from sheet import FAINT, INK, PAPER, font
from trailer_beats import BEATS, HIGH, WIDE, Beat

# Height of the line of words, and frames of a fade.
FOOT, FADE = 60, 8
# Beat of the still, and its frame.
STILL = 6, 76
IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def main() -> int:
    """Renders the missing shots and joins all; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shots", type=Path, required=True, help="folder for the rendered shots")
    parser.add_argument("--extension", type=Path, help="zip of the extension, instead of its sources")
    options = parser.parse_args()
    for shot in dict.fromkeys(beat.shot for beat in BEATS if beat.shot):
        if not (options.shots / shot).is_dir():
            rendered(shot, options)
    pictures = [picture for beat in BEATS for picture in frames_of(beat, options.shots)]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    film.save_mp4(pictures, options.out, "VERYLOW")
    first = sum(beat.frames for beat in BEATS[: STILL[0]])
    pictures[first + STILL[1]].save(options.out.with_suffix(".webp"), quality=80, method=5)
    print(f"{options.out}: {len(pictures) / film.RATE:.0f} s, {options.out.stat().st_size / 1e6:.2f} MB")
    return 0


def rendered(shot: str, options: argparse.Namespace) -> None:
    """Renders a shot in its own process; its folder appears when all is done."""
    part = options.shots / f"{shot}.part"
    program = Path(__file__).with_name("trailer_of.py")
    command = [sys.executable, program, shot, "--data", options.data, "--out", part]
    environment = dict(os.environ)
    if options.extension is not None:
        environment["JOUNCE_EXTENSION"] = str(options.extension.resolve())
    subprocess.run(command, env=environment, check=True)
    part.rename(options.shots / shot)


def frames_of(beat: Beat, shots: Path) -> list[Image.Image]:
    """The pictures of a beat; the first fade in from paper, the last out to it."""
    pictures = cards(beat) if beat.is_card else [lined(beat, shown) for shown in views(beat, shots)]
    blank = Image.new("RGB", pictures[0].size, PAPER)
    for step in range(FADE):
        share = (step + 1) / (FADE + 1)
        pictures[step] = Image.blend(blank, pictures[step], share)
        pictures[-1 - step] = Image.blend(blank, pictures[-1 - step], share)
    return pictures


def views(beat: Beat, shots: Path) -> list[Image.Image]:
    """The pictures above the words."""
    if beat.stills:
        stills = [still(name) for name in beat.stills]
        return [stills[frame * len(stills) // beat.frames] for frame in range(beat.frames)]
    width = WIDE // len(beat.panels)
    folders = [sorted((shots / beat.shot / f"{name}_{width}").glob("*.png")) for name, _ in beat.panels]
    turns = [row(beat, paths, width) for paths in zip(*folders, strict=True)]
    return [turns[frame % len(turns)] for frame in range(beat.frames)]


def row(beat: Beat, paths: tuple[Path, ...], width: int) -> Image.Image:
    """The panels of a frame side by side, with their labels."""
    picture = Image.new("RGB", (WIDE, HIGH), PAPER)
    draw = ImageDraw.Draw(picture)
    for column, (path, (_, label)) in enumerate(zip(paths, beat.panels, strict=True)):
        with Image.open(path) as panel:
            picture.paste(panel, (column * width, 0))
        if label:
            plate(draw, (column * width + width // 2, 26), label)
    return picture


def plate(draw: ImageDraw.ImageDraw, middle: tuple[int, int], label: str) -> None:
    """A label that can be read on anything."""
    left, top, right, bottom = draw.textbbox(middle, label, font=font(22), anchor="mm")
    draw.rounded_rectangle((left - 12, top - 7, right + 12, bottom + 7), 8, fill=PAPER)
    draw.text(middle, label, font=font(22), fill=INK, anchor="mm")


def still(name: str) -> Image.Image:
    """A picture of the documentation in the middle of a frame."""
    picture = Image.new("RGB", (WIDE, HIGH), PAPER)
    with Image.open(IMAGES / f"{name}.webp") as found:
        found.thumbnail((WIDE, HIGH), Image.Resampling.LANCZOS)
        picture.paste(found.convert("RGB"), ((WIDE - found.width) // 2, (HIGH - found.height) // 2))
    return picture


def lined(beat: Beat, shown: Image.Image) -> Image.Image:
    """A picture with the words of its beat below."""
    picture = Image.new("RGB", (WIDE, HIGH + FOOT), INK)
    picture.paste(shown, (0, 0))
    draw, middle = ImageDraw.Draw(picture), HIGH + FOOT // 2
    draw.text((24, middle), beat.words, font=font(26), fill=PAPER, anchor="lm")
    draw.text((WIDE - 24, middle), beat.credit, font=font(15), fill=PAPER, anchor="rm")
    return picture


def cards(beat: Beat) -> list[Image.Image]:
    """Words in the middle of a blank page."""
    picture = Image.new("RGB", (WIDE, HIGH + FOOT), PAPER)
    draw, middle = ImageDraw.Draw(picture), (WIDE // 2, (HIGH + FOOT) // 2)
    draw.text((middle[0], middle[1] - 30), beat.words, font=font(80), fill=INK, anchor="mm")
    draw.text((middle[0], middle[1] + 46), beat.more, font=font(28), fill=FAINT, anchor="mm")
    return [picture.copy() for _ in range(beat.frames)]


if __name__ == "__main__":
    script.run(main)
