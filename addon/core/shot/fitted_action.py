"""Animation of a body, compared with the animation at the time of the fitted frequency."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..mesh.surface import hashed

Channel = tuple[str, int]


@dataclass(frozen=True)
class Track:
    """An action on an object: its channels and frames.

    place: strip with its settings; empty for the active action.
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
    """The played actions: names, and a hash of channels and frames without names."""

    names: str = ""
    outline: str = ""


def played(tracks: Iterable[Track]) -> Played:
    """All played tracks, in any order."""
    known = list(tracks)
    if not known:
        return Played()
    names = ", ".join(sorted({track.name for track in known}))
    return Played(names, hashed((), tuple(sorted(track.outline for track in known))))


def difference(fitted: Played, now: Played, is_same: Callable[[], bool]) -> str:
    """One sentence if another animation plays than in the fit, else nothing.

    An action with edited keys, a new name or a copy counts as the same. is_same: True if all keys are
    unchanged, called if only names differ.
    """
    if not fitted.names or not now.names or fitted == now:
        return ""
    if fitted.names == now.names:
        return f"Fitted to the action {now.names}, which keys other channels or frames now."
    if fitted.outline == now.outline and is_same():
        return ""
    return f"Fitted to the action {fitted.names}; {now.names} is played now."
