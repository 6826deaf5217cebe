"""The rows of the table of hostile scenes.

A row is a function that makes a scene and takes a *hand*, which does an artist's work with Jounce in it. Each
row is played twice: with a hand that does nothing, which gives the artist's file without Jounce, and with
Jounce's own.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .hand import Hand

Scene = Callable[[Hand], None]
WORKS, SENTENCE = "works", "one sentence"

ROWS: list["Row"] = []


@dataclass(frozen=True)
class Row:
    """A hostile scene, and the expectation: Jounce works, or refuses in one sentence."""

    subject: str
    scene: Scene
    expected: str

    @property
    def name(self) -> str:
        """Name in the tests."""
        return f"{self.subject}-{self.scene.__name__}"

    @property
    def sentence(self) -> str:
        """Description of the scene."""
        return self.scene.__doc__ or ""


def works(scene: Scene) -> Scene:
    """A scene for which everything works: finite, accurate, and removed without a trace."""
    return add(scene, WORKS)


def refuses(scene: Scene) -> Scene:
    """A scene with a refusal in one sentence, without any change."""
    return add(scene, SENTENCE)


def add(scene: Scene, expected: str) -> Scene:
    """Puts a scene into the table."""
    ROWS.append(Row(scene.__module__.rpartition(".")[2], scene, expected))
    return scene
