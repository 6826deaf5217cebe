"""A computed bake before writing."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from ..common.task import Step


def nothing() -> None:
    """Discards a bake without files."""


@dataclass(frozen=True)
class Prepared:
    """error: largest distance from the simulated shape, in metres. parts: description of the contents; empty
    without anything to bake. write: writes the bake to the scene. discard: removes its files, written or
    not.
    """

    error: float
    parts: str
    write: Callable[[], None]
    discard: Callable[[], None] = nothing


Preparation = Generator[Step, None, Prepared]
