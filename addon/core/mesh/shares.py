"""Shares of the vertices of a mesh, stored as text."""

import base64
import zlib

import numpy as np

# Number of steps of a stored share.
STEPS = 250


def packed(shares: np.ndarray) -> str:
    """Shares (p,) in [0, 1] as text."""
    steps = zlib.compress(np.round(STEPS * shares).astype(np.uint8).tobytes(), 9)
    return f"{len(shares)} {base64.b85encode(steps).decode()}"


def unpacked(text: str, count: int) -> np.ndarray:
    """The shares (count,) of a text; zero for a text with another number of shares."""
    number, _, steps = text.partition(" ")
    if not number or int(number) != count:
        return np.zeros(count)
    return np.frombuffer(zlib.decompress(base64.b85decode(steps)), np.uint8) / STEPS


def is_packed(text: str) -> bool:
    """True for a text of shares, and for none."""
    number, _, steps = text.partition(" ")
    try:
        return not text or len(zlib.decompress(base64.b85decode(steps))) == int(number)
    except (ValueError, zlib.error):
        return False
