"""Files of bakes that no step of the session plays any more, and when they may go.

Undo brings a freed bake back, and a .blend that is not saved again still plays it. So the file of a freed
bake goes when its .blend is saved without it, or with the session if no .blend on the disk plays it.
"""

import atexit
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Cache:
    """A file that the session has written or freed. blend: whose it is. is_freed: nothing is to play it."""

    path: Path
    blend: str
    is_freed: bool


class Caches:
    """What becomes of the files of one session."""

    def __init__(self) -> None:
        self._known: dict[Path, Cache] = {}
        self._on_disk: set[Path] = set()

    def made(self, path: Path, blend: str) -> None:
        """A file was written for a .blend."""
        self._known[path] = Cache(path, blend, is_freed=False)

    def free(self, path: Path, blend: str) -> None:
        """The bake of a .blend that played a file was freed."""
        self._known[path] = Cache(path, blend, is_freed=True)

    def opened(self, played: set[Path]) -> None:
        """Another .blend was opened, that plays these files: nothing can be undone any more."""
        self.end()
        self._on_disk = set(played)

    def copied(self, played: set[Path]) -> None:
        """A copy of the open .blend was saved, that plays these files."""
        self._on_disk |= played

    def saved(self, blend: str, played: set[Path]) -> None:
        """The open .blend was saved, under its name or another one, and plays these files."""
        for cache in list(self._known.values()):
            if cache.path in played:
                continue
            if cache.blend == blend:
                remove(cache.path)
                del self._known[cache.path]
            elif cache.path in self._on_disk:
                # The .blend that was saved as another one plays it.
                del self._known[cache.path]
        self._on_disk |= played

    def end(self) -> None:
        """The session ends: what it freed goes, but for what a .blend on the disk plays."""
        for cache in self._known.values():
            if cache.is_freed and cache.path not in self._on_disk:
                remove(cache.path)
        self._known = {}


def remove(path: Path) -> None:
    """Deletes a file if it can be."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


CACHES = Caches()
atexit.register(CACHES.end)
