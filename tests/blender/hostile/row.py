"""The rows of the table of hostile scenes.

A row is a function that makes a scene and takes a *hand*, which does in it what an artist does with Jounce.
It is played twice: with a hand that does nothing, which gives the file that the artist would have without
Jounce, and with Jounce's own.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .hand import Hand

Scene = Callable[[Hand], None]
WORKS, SENTENCE = "works", "one sentence"

ROWS: list["Row"] = []


@dataclass(frozen=True)
class Row:
    """A hostile scene, and whether Jounce works in it or says in one sentence why it does not."""

    subject: str
    scene: Scene
    expected: str

    @property
    def name(self) -> str:
        """What tests call it."""
        return f"{self.subject}-{self.scene.__name__}"

    @property
    def sentence(self) -> str:
        """What it is, in words."""
        return self.scene.__doc__ or ""


def works(scene: Scene) -> Scene:
    """A scene in which all works: finite, accurate, and gone without a trace."""
    return add(scene, WORKS)


def refuses(scene: Scene) -> Scene:
    """A scene in which something cannot be done, which is said in one sentence and changes nothing."""
    return add(scene, SENTENCE)


def add(scene: Scene, expected: str) -> Scene:
    """Puts a scene into the table."""
    ROWS.append(Row(scene.__module__.rpartition(".")[2], scene, expected))
    return scene
