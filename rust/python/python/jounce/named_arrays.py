"""Arrays packed into bytes by a table of names, types and shapes. Reading checks everything before use.

A shape is a string of letters and digits: equal letters stand for equal sizes, and "fb34" is (f, b, 3, 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# Type and shape of each name.
Table = Mapping[str, tuple[str, str]]


def packed(table: Table, arrays: Mapping[str, Array]) -> tuple[dict[str, int], bytes]:
    """The sizes of the letters, and the concatenated bytes of the arrays."""
    sizes: dict[str, int] = {}
    parts = []
    for name, (kind, shape) in table.items():
        array = np.ascontiguousarray(arrays[name], kind)
        sizes |= dict(zip(shape, array.shape, strict=True))
        parts.append(array.tobytes())
    return {letter: size for letter, size in sizes.items() if letter.isalpha()}, b"".join(parts)


def unpacked(table: Table, sizes: Mapping[str, object], data: bytes, optional: str = "") -> dict[str, Array]:
    """The arrays in these bytes. Raises ValueError, KeyError or TypeError for bytes of another table.

    optional: letters whose size may be 0, and may then be missing in `sizes`.
    """
    arrays: dict[str, Array] = {}
    start = 0
    for name, (kind, letters) in table.items():
        shape = tuple(size_of(letter, sizes, optional) for letter in letters)
        end = start + math.prod(shape) * np.dtype(kind).itemsize
        # The reshape refuses too few bytes.
        arrays[name] = np.frombuffer(data[start:end], kind).reshape(shape)
        start = end
    if start != len(data):
        raise ValueError("more bytes than arrays")
    return arrays


def size_of(letter: str, sizes: Mapping[str, object], optional: str) -> int:
    """The size for a letter or digit of a shape."""
    if letter.isdigit():
        return int(letter)
    if letter in optional and sizes.get(letter, 0) == 0:
        return 0
    return counted(sizes[letter])


def counted(size: object) -> int:
    """The value as an integer of at least 1; raises ValueError for any other."""
    if not isinstance(size, int) or size < 1:
        raise ValueError("not a number of things")
    return size
