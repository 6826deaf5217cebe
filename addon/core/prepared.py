"""A computed bake before writing."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from .task import Step


@dataclass(frozen=True)
class Prepared:
    """error: largest distance from the simulated shape, in metres. parts: description of the contents; empty
    without anything to bake. write: writes the bake to the scene.
    """

    error: float
    parts: str
    write: Callable[[], None]


Preparation = Generator[Step, None, Prepared]
