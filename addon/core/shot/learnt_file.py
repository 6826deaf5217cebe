"""The learnt basis of a body as a separate file, for other shots of the same character."""

import os
from contextlib import suppress
from pathlib import Path

from jounce.records import is_of_kind

from ..common.user_error import UserError
from .learnt import FORMAT, Learnt, unpack

SUFFIX = ".jlearnt"


def write(path: Path, learnt: Learnt) -> None:
    """Writes a file completely or not at all; never replaces a file of another program."""
    if os.path.lexists(path) and not is_own(path):
        raise UserError(f"{path} is not a file of learnt motion; choose another name.")
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("xb") as file:
            file.write(learnt.pack())
        os.replace(part, path)
    except OSError as error:
        if not isinstance(error, FileExistsError):
            with suppress(OSError):
                part.unlink()
        raise UserError(f"{path} cannot be written ({error.strerror}); choose another folder.") from error


def read(path: Path) -> Learnt:
    """The basis in a file."""
    try:
        learnt = unpack(path.read_bytes()) if is_own(path) else None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from error
    if learnt is None:
        raise UserError(f"{path} contains no learnt motion, or is damaged; save it again.")
    return learnt


def is_own(path: Path) -> bool:
    """True for a file of a learnt basis."""
    try:
        return not path.is_symlink() and is_of_kind(path, FORMAT)
    except OSError:
        return False
