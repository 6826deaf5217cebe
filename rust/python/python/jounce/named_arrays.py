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


def unpacked(table: Table, sizes: Mapping[str, object], data: bytes, optional: str = "") -> dict[str, Array]:
    """The arrays in these bytes; ValueError, KeyError or TypeError where they hold others, or more, or less.

    optional: letters of sizes that may be 0, and need not be told then.
    """
    arrays: dict[str, Array] = {}
    start = 0
    for name, (kind, letters) in table.items():
        shape = tuple(size_of(letter, sizes, optional) for letter in letters)
        end = start + math.prod(shape) * np.dtype(kind).itemsize
        # Too few bytes have another shape.
        arrays[name] = np.frombuffer(data[start:end], kind).reshape(shape)
        start = end
    if start != len(data):
        raise ValueError("more bytes than arrays")
    return arrays


def size_of(letter: str, sizes: Mapping[str, object], optional: str) -> int:
    """The size that a letter or digit of a shape stands for."""
    if letter.isdigit():
        return int(letter)
    if letter in optional and sizes.get(letter, 0) == 0:
        return 0
    return counted(sizes[letter])


def counted(size: object) -> int:
    """A number of things, of which there is at least one; ValueError for what is none."""
    if not isinstance(size, int) or size < 1:
        raise ValueError("not a number of things")
    return size
