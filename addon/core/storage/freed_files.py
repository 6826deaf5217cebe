"""Files of freed bakes that no undo step plays any more, and the time of their deletion.

Undo restores a freed bake, and a .blend without a new save still plays the file. Therefore a freed file is
deleted when its .blend is saved without the bake, or at the end of the session if no .blend on disk plays the
file: when Blender quits, opens another file or disables the extension. A file not freed by the user stays,
even if nothing plays the file: other programs may use it.
"""

from contextlib import suppress
from pathlib import Path


class Caches:
    """Fate of the files freed in one session."""

    def __init__(self) -> None:
        self._freed: dict[Path, str] = {}
        self._on_disk: set[Path] = set()

    def free(self, path: Path, blend: str) -> None:
        """Notes that the bake of a .blend with this file was freed."""
        self._freed[path] = blend

    def opened(self, played: set[Path]) -> None:
        """Notes the opening of another .blend with these files: undo is no longer possible."""
        self.end()
        self._on_disk = set(played)

    def copied(self, played: set[Path]) -> None:
        """Notes the saving of a copy of the open .blend with these files."""
        self._on_disk |= played

    def saved(self, blend: str, played: set[Path]) -> None:
        """Notes that the open .blend was saved under the same or another name, and plays these files."""
        for path, owner in list(self._freed.items()):
            if path in played:
                continue
            if owner == blend:
                remove(path)
                del self._freed[path]
            elif path in self._on_disk:
                # The .blend saved under another name plays the file.
                del self._freed[path]
        self._on_disk |= played

    def end(self) -> None:
        """Ends the session: deletes freed files except those played by a .blend on disk."""
        for path in self._freed.keys() - self._on_disk:
            remove(path)
        self._freed = {}


def remove(path: Path) -> None:
    """Deletes a file if possible."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


CACHES = Caches()
