"""Swings of the parts of a character after a hop that ends in a held pose, at the defaults of *Add Jounce*.

    python bounces.py FILE|creature [--damping 0.14] [--integrator bdf2] [--quality DRAFT]

The whole armature object rises by 15 percent of the size as a ball does, is back within 8 frames of 24 a
second, and stops. Motion of a part: the mean distance of its vertices from the pose, of a tail or ears that
of the outer third, along the direction of its largest mean motion. Extremes: relative to the largest one
after the stop. Delay of a part's tip: frames by which the outer third follows the inner one, where the two
motions are most alike. Volume: largest change inside the part's skin, as a share of the part's volume.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import body_parts_of
import bpy
import numpy as np
import script
from mathutils import Matrix

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import character as characters
import creature
import extension
import flesh
import found_parts
import studio

RATE, RISE, HOP, HELD = 24, 0.15, 8, 36
# Least extreme that is seen as a swing, as a share of the largest.
SEEN = 0.15
# Largest delay, and its smallest step, in frames.
FURTHEST, STEP = 6.0, 0.05
# Least motion of a vertex that is compared with others, as a share of the largest of its part.
MOVES = 0.02
# Parts with a tip.
TIPPED = ("ears", "tail")


@dataclass
class Bounce:
    """A hop as recorded, in sizes of the character: places posed, and offsets with flesh, (f, p, 3) each.

    found: the vertices (p,) of each part. triangles: (q, 3), welded. volumes: of the parts.
    """

    posed: np.ndarray
    offsets: np.ndarray
    found: dict[str, np.ndarray]
    triangles: np.ndarray
    volumes: dict[str, float]

    def swing(self, part: str) -> np.ndarray:
        """Motion (f,) of a part along its largest one; of parts with a tip, of the outer third."""
        mine = self.thirds(part)[1] if part in TIPPED else np.flatnonzero(self.found[part])
        return along(self.offsets[:, mine].mean(axis=1))

    def extremes(self, part: str) -> list[tuple[int, float]]:
        """Frames after the stop and values of the turning points of a part, from the largest, above 0, on."""
        after = self.swing(part)[HOP + 1 :]
        turns = [start + int(np.abs(after[start:stop]).argmax()) for start, stop in stretches(np.sign(after))]
        largest = max(range(len(turns)), key=lambda turn: abs(after[turns[turn]]))
        sign = np.sign(after[turns[largest]])
        return [(1 + frame, float(after[frame] * sign)) for frame in turns[largest:]]

    def late(self, part: str) -> float:
        """Frames by which the outer third of a part follows the inner one; 0 if that stands still."""
        inner, outer = (self.offsets[:, third].mean(axis=1) for third in self.thirds(part))
        way = outer[np.linalg.norm(outer, axis=1).argmax()]
        return delay(inner @ way, outer @ way)

    def thirds(self, part: str) -> tuple[np.ndarray, np.ndarray]:
        """The third of a part's moving vertices nearest to the rest of the body, and the furthest third."""
        rest, others = self.posed[0], self.posed[0][~self.found[part]]
        peak = np.linalg.norm(self.offsets, axis=2).max(axis=0) * self.found[part]
        own = np.flatnonzero(peak > MOVES * peak.max())
        far = np.array([np.linalg.norm(others - rest[k], axis=1).min() for k in own])
        low, high = np.quantile(far, (1 / 3, 2 / 3))
        return own[far <= low], own[far >= high]

    def volume_change(self, part: str) -> float:
        """Largest change of the volume inside the skin of a part, as a share of the part's volume."""
        skin = self.triangles[self.found[part][self.triangles].all(axis=1)]
        changes = [
            found_parts.enclosed(before + offset, skin) - found_parts.enclosed(before, skin)
            for before, offset in zip(self.posed, self.offsets, strict=True)
        ]
        return float(np.abs(changes).max()) / self.volumes[part]


def hop(armature: bpy.types.Object, size: float) -> range:
    """Frames of an armature object that hops and stops, instead of its animation."""
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    frames = range(1, 2 + HOP + HELD)
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    place = armature.matrix_world.copy()
    armature.animation_data_clear()
    for frame in range(HOP + 2):
        share = min(1.0, frame / HOP)
        armature.matrix_world = (
            Matrix.Translation((0.0, 0.0, 4.0 * share * (1.0 - share) * RISE * size)) @ place
        )
        armature.keyframe_insert("location", frame=1 + frame)
    scene.frame_set(1)
    return frames


def along(motion: np.ndarray) -> np.ndarray:
    """Motion (f, 3) along the direction in which it is largest."""
    way = motion[np.linalg.norm(motion, axis=1).argmax()]
    return motion @ way / max(float(np.linalg.norm(way)), 1e-12)


def stretches(signs: np.ndarray) -> list[tuple[int, int]]:
    """First and one after the last frame of each stretch of equal signs."""
    cuts = [0, *(np.flatnonzero(np.diff(signs)) + 1).tolist(), len(signs)]
    return list(zip(cuts[:-1], cuts[1:], strict=True))


def delay(leader: np.ndarray, follower: np.ndarray) -> float:
    """Number of frames by which a signal (f,) follows another where the two are most alike."""
    frames, best = np.arange(len(leader), dtype=float), (-np.inf, 0.0)
    for late in np.arange(-FURTHEST, FURTHEST + STEP, STEP):
        moved = np.interp(frames - late, frames, leader)
        alike = float(moved @ follower) / max(float(np.linalg.norm(moved) * np.linalg.norm(follower)), 1e-12)
        best = max(best, (alike, float(late)))
    return best[1]


def hopped(package: str, character: characters.Character, settings: dict[str, str | float]) -> Bounce:
    """The hop of a character after *Add Jounce*. settings: of its host, in order."""
    now = bpy.context.scene.frame_current
    [start] = studio.record(character.body, range(now, now + 1))
    size = float(np.linalg.norm(np.ptp(np.concatenate(start), axis=0)))
    frames = hop(character.armature, size)
    posed = recorded(character, frames) / size
    flesh.select([character.armature])
    bpy.ops.jounce.setup()
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    for name, value in settings.items():
        setattr(host.jounce, name, value)
    bpy.ops.jounce.fill_cache()
    offsets = recorded(character, frames) / size - posed
    found, volumes = found_parts.found(package, host, character.body)
    triangles = found_parts.welded(posed[0], body_parts_of.topology(character.body)[1])
    return Bounce(posed, offsets, found, triangles, {part: one / size**3 for part, one in volumes.items()})


def recorded(character: characters.Character, frames: range) -> np.ndarray:
    """Places (f, p, 3) of all vertices of a character."""
    return np.array([np.concatenate(shape) for shape in studio.record(character.body, frames)], float)


def described(bounce: Bounce, part: str) -> str:
    """A line on a part."""
    turns = bounce.extremes(part)
    largest = turns[0][1]
    values = ", ".join(f"{value / largest:.2f}" for _, value in turns[:6])
    seen = sum(abs(value) > SEEN * largest for _, value in turns)
    apart = np.diff([frame for frame, value in turns if abs(value) > SEEN * largest / 3.0])
    text = f"{part}: {largest:.2%} of the size, {turns[0][0]} frames after the stop; {values}; {seen} seen"
    if len(apart):
        text += f"; {RATE / (2.0 * apart.mean()):.1f} Hz"
    if part in TIPPED:
        text += f"; tip {bounce.late(part):.2f} frames later"
    shaken = body_parts_of.jitter(bounce.offsets[:, bounce.found[part]])
    return f"{text}; volume {bounce.volume_change(part):.1%}; jitter {shaken:.2%}"


def prepared(name: str) -> characters.Character:
    """The creature, or the character of a file in a pose of its clips."""
    if name == "creature":
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        creature.build()
        return characters.find(name)
    character = characters.load(Path(name))
    characters.choose_shot(character)
    return character


def main() -> None:
    """Measures a character and prints a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="file of a character, or the word creature")
    parser.add_argument("--damping", type=float)
    parser.add_argument("--integrator")
    parser.add_argument("--quality")
    options = vars(parser.parse_args())
    package, character = extension.enable().__name__, prepared(options.pop("name"))
    bounce = hopped(package, character, {name: value for name, value in options.items() if value is not None})
    print(f"jitter of all: {body_parts_of.jitter(bounce.offsets):.2%}")
    for part, mine in bounce.found.items():
        if mine.any():
            print(described(bounce, part))


if __name__ == "__main__":
    script.run(main)
