"""A bake that is computed and not written yet."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from .task import Step


@dataclass(frozen=True)
class Prepared:
    """error: largest distance from the simulated shape, in metres. parts: what it is made of, in words;
    empty if there is nothing to bake. write: puts it into the scene.
    """

    error: float
    parts: str
    write: Callable[[], None]


Preparation = Generator[Step, None, Prepared]
