"""Arrays in bytes, by a table of their names, types and shapes; nothing of what is read is trusted before it is checked.

A shape is written as letters for sizes, of which equal ones are the same, and digits: "fb34" is (f, b, 3, 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# For each name the type, and the shape.
Table = Mapping[str, tuple[str, str]]


def packed(table: Table, arrays: Mapping[str, Array]) -> tuple[dict[str, int], bytes]:
    """The sizes that letters stand for, and the bytes of the arrays, one after the other."""
    sizes: dict[str, int] = {}
    parts = []
    for name, (kind, shape) in table.items():
        array = np.ascontiguousarray(arrays[name], kind)
        sizes |= dict(zip(shape, array.shape, strict=True))
        parts.append(array.tobytes())
    return {letter: size for letter, size in sizes.items() if letter.isalpha()}, b"".join(parts)


def unpacked(table: Table, sizes: Mapping[str, object], data: bytes) -> dict[str, Array]:
    """The arrays in these bytes; ValueError, KeyError or TypeError where they hold others, or more, or less."""
    arrays: dict[str, Array] = {}
    start = 0
    for name, (kind, letters) in table.items():
        shape = tuple(int(letter) if letter.isdigit() else counted(sizes[letter]) for letter in letters)
        end = start + math.prod(shape) * np.dtype(kind).itemsize
        # Too few bytes have another shape.
        arrays[name] = np.frombuffer(data[start:end], kind).reshape(shape)
        start = end
    if start != len(data):
        raise ValueError("more bytes than arrays")
    return arrays


def counted(size: object) -> int:
    """A number of things, of which there is at least one; ValueError for what is none."""
    if not isinstance(size, int) or size < 1:
        raise ValueError("not a number of things")
    return size
