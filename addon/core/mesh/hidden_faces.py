"""Faces of a mesh that are never shown, distinguished from merged faces, and stored as text."""

import base64
import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Stage:
    """A mesh after some of its modifiers.

    numbers: (f,) i32, base face of each face, from 1 on; 0 for none. areas: (f,) of the faces.
    """

    numbers: np.ndarray
    areas: np.ndarray

    def areas_by_number(self, count: int) -> np.ndarray:
        """The remaining area (count + 1,) of each face of the base mesh."""
        return np.bincount(self.numbers, self.areas, count + 1)


def deleted(stages: list[Stage], count: int) -> np.ndarray:
    """Faces (count,) of a base mesh deleted by modifiers. stages: the base mesh, and the mesh after each
    modifier.

    A modifier that deletes faces removes their area. One that merges faces, such as Decimate, gives the area
    to others: the area afterwards is closer to the total before than to the area of the surviving faces.
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
    """Flags (f,) bool as text; empty without set flags."""
    if not flags.any():
        return ""
    bits = zlib.compress(np.packbits(flags).tobytes(), 9)
    return f"{len(flags)} {base64.b85encode(bits).decode()}"


def unpacked(text: str, count: int) -> np.ndarray:
    """The flags (count,) of a text; none set for a text with another number of flags."""
    number, _, bits = text.partition(" ")
    if not number or int(number) != count:
        return np.zeros(count, bool)
    flat = np.frombuffer(zlib.decompress(base64.b85decode(bits)), np.uint8)
    return np.unpackbits(flat, count=count).astype(bool)
