"""Files of bakes that no step of the session plays any more, and when they may go.

Undo brings a freed bake back, and a .blend that is not saved again still plays it. So the file of a freed
bake goes when its .blend is saved without it, or with the session if no .blend on the disk plays it: when
Blender ends, opens another file or disables the extension. A file
that nobody has freed stays, whether anything plays it or not: it may be for another program.
"""

from contextlib import suppress
from pathlib import Path


class Caches:
    """What becomes of the files that one session frees."""

    def __init__(self) -> None:
        self._freed: dict[Path, str] = {}
        self._on_disk: set[Path] = set()

    def free(self, path: Path, blend: str) -> None:
        """The bake of a .blend that played a file was freed."""
        self._freed[path] = blend

    def opened(self, played: set[Path]) -> None:
        """Another .blend was opened, that plays these files: nothing can be undone any more."""
        self.end()
        self._on_disk = set(played)

    def copied(self, played: set[Path]) -> None:
        """A copy of the open .blend was saved, that plays these files."""
        self._on_disk |= played

    def saved(self, blend: str, played: set[Path]) -> None:
        """The open .blend was saved, under its name or another one, and plays these files."""
        for path, owner in list(self._freed.items()):
            if path in played:
                continue
            if owner == blend:
                remove(path)
                del self._freed[path]
            elif path in self._on_disk:
                # The .blend that was saved as another one plays it.
                del self._freed[path]
        self._on_disk |= played

    def end(self) -> None:
        """The session ends: what it freed goes, but for what a .blend on the disk plays."""
        for path in self._freed.keys() - self._on_disk:
            remove(path)
        self._freed = {}


def remove(path: Path) -> None:
    """Deletes a file if it can be."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


CACHES = Caches()
