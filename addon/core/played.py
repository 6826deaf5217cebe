"""What a body is moved by, as told from what it was when its frequency was fitted to it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .surface import hashed

Channel = tuple[str, int]


@dataclass(frozen=True)
class Track:
    """An action as an object plays it: which channels it keys, and over which frames.

    place: where a strip plays it, and how; empty for the active action.
    """

    name: str
    channels: tuple[Channel, ...]
    frames: tuple[float, float]
    place: tuple[float, ...] = ()

    @property
    def outline(self) -> str:
        """The same without the name."""
        return repr((sorted(self.channels), [round(frame, 3) for frame in self.frames], self.place))


@dataclass(frozen=True)
class Played:
    """What plays: the names of the actions, and a hash of their channels and frames without the names."""

    names: str = ""
    outline: str = ""


def played(tracks: Iterable[Track]) -> Played:
    """All that plays, in whatever order."""
    known = list(tracks)
    if not known:
        return Played()
    names = ", ".join(sorted({track.name for track in known}))
    return Played(names, hashed((), tuple(sorted(track.outline for track in known))))


def difference(fitted: Played, now: Played, is_same: Callable[[], bool]) -> str:
    """One sentence where something else plays than the body was fitted to, else nothing.

    An action whose keys are polished stays what it is, and so does one that is renamed or copied. is_same:
    whether all keys are as they were, asked where names alone differ.
    """
    if not fitted.names or not now.names or fitted == now:
        return ""
    if fitted.names == now.names:
        return f"Fitted to the action {now.names}, which keys other channels or frames now."
    if fitted.outline == now.outline and is_same():
        return ""
    return f"Fitted to the action {fitted.names}; {now.names} is played now."
