"""A computed bake before writing."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from .task import Step


def nothing() -> None:
    """Discards what has made no files."""


@dataclass(frozen=True)
class Prepared:
    """error: largest distance from the simulated shape, in metres. parts: what it is made of, in words;
    empty if there is nothing to bake. write: puts it into the scene. discard: removes the files that it has
    made, written or not.
    """

    error: float
    parts: str
    write: Callable[[], None]
    discard: Callable[[], None] = nothing


Preparation = Generator[Step, None, Prepared]
