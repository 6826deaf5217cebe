"""Faces that a mesh has and never shows: told from faces that are merged with others, and kept as text."""

import base64
import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Stage:
    """A mesh after some of its modifiers.

    numbers: (f,) i32, the face of the base mesh, from 1 on, that each of its faces comes from; 0 for none.
    areas: (f,) of its faces.
    """

    numbers: np.ndarray
    areas: np.ndarray

    def areas_by_number(self, count: int) -> np.ndarray:
        """The area (count + 1,) that is left of each face of the base mesh."""
        return np.bincount(self.numbers, self.areas, count + 1)


def deleted(stages: list[Stage], count: int) -> np.ndarray:
    """The faces (count,) of a base mesh that its modifiers delete. stages: that mesh, and after each of them.

    A modifier that deletes faces takes their area away. One that merges them gives it to others, as Decimate
    does: the area after it is nearer to that of all faces before than to that of those that are left.
    """
    gone = np.zeros(count + 1, bool)
    for before, after in zip(stages, stages[1:], strict=False):
        had = before.areas_by_number(count)
        lost = np.isin(np.arange(count + 1), before.numbers) & ~np.isin(np.arange(count + 1), after.numbers)
        whole, area = had.sum(), after.areas.sum()
        if abs(area - (whole - had[lost].sum())) < abs(area - whole):
            gone |= lost
    return gone[1:]


def packed(flags: np.ndarray) -> str:
    """Flags (f,) bool as text, empty for none that is set."""
    if not flags.any():
        return ""
    bits = zlib.compress(np.packbits(flags).tobytes(), 9)
    return f"{len(flags)} {base64.b85encode(bits).decode()}"


def unpacked(text: str, count: int) -> np.ndarray:
    """The flags (count,) of a text, none of which is set where it is of another number of them."""
    number, _, bits = text.partition(" ")
    if not number or int(number) != count:
        return np.zeros(count, bool)
    flat = np.frombuffer(zlib.decompress(base64.b85decode(bits)), np.uint8)
    return np.unpackbits(flat, count=count).astype(bool)
