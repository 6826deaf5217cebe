"""One character for `films.py`: added as an artist does, recorded over a clip, filmed.

python films_of.py FILE --report OUT.json --sheets DIR [--frames 96]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import bpy
import character as characters
import film
import flesh
import one_character
import script
import sheet
import studio


def main() -> None:
    """Films one character and writes the report."""
    options = one_character.shooting_parser(__doc__).parse_args()

    def filmed(_: str, character: characters.Character, shot: characters.Shot) -> dict:
        take = taken(character, shot, options.report.parent)
        return save(character, take, options.sheets / options.file.stem)

    one_character.measure(options, filmed, characters.choose_played)


def taken(
    character: characters.Character,
    shot: characters.Shot,
    caches: Path,
    settings: Mapping[str, str | float] | None = None,
) -> sheet.Take:
    """The shot without flesh, and its complete preview after Add Jounce, in the quality that it has by
    itself.

    caches: folder for the cache of a final motion, which would otherwise lie beside the character.
    settings: of `object.jounce`, in order.
    """
    posed = studio.record(character.body, shot.frames)
    host = flesh.added(character.armature, character.body, shot.first)
    host.jounce.cache_folder = str(caches)
    host.jounce.property_unset("quality")
    for name, value in (settings or {}).items():
        setattr(host.jounce, name, value)
    bpy.ops.jounce.fill_cache()
    return one_character.take(character, shot, posed, studio.record(character.body, shot.frames))


def save(character: characters.Character, take: sheet.Take, path: Path, side: int = film.SIDE) -> dict:
    """Saves the film and the strip of a take, with further endings of a path; describes them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    take, started = film.at_rate(take.in_place(), film.RATE), time.perf_counter()
    room = studio.Studio(character.body, take.framed(), studio.best_engine())
    # Smooth edges by rendering at twice the size would take four times as long.
    room.oversampling = 1
    shown = film.save(room, take, path, side)
    return {
        "action": take.title.rpartition(": ")[2],
        "seconds": len(take.posed) / take.frame_rate,
        "red": sheet.scale(take),
        "largest": float(take.amplitudes().max()),
        "strip, s": ", ".join(f"{index / film.RATE:.2f}" for index in shown),
        "webp, kB": path.with_suffix(".webp").stat().st_size / 1e3,
        "rendered in s": time.perf_counter() - started,
    }


if __name__ == "__main__":
    script.run(main)
