"""Rejects packages that name a folder of the machine that built them: folders.py FOLDER... -- PACKAGE...

The search covers all members of a wheel, a zip or a source archive, including wheels in a zip.
"""

import io
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ZIPS = (".whl", ".zip")
ARCHIVES = (".tar.gz", ".crate")


def files(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Files in a package with their names; anything that is no package counts as a single file."""
    if name.endswith(ZIPS):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from inside(name, member, archive.read(member))
    elif name.endswith(ARCHIVES):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for entry in archive:
                read = archive.extractfile(entry)
                yield from inside(name, entry.name, b"" if read is None else read.read())
    else:
        yield name, data


def inside(name: str, member: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Files in a member of a package."""
    for path, contents in files(member, data):
        yield f"{name}: {path}", contents


def named(folder: Path, text: bytes) -> bool:
    """True if a text names a folder, in the notation of this system or of others."""
    return any(spelt.encode() in text for spelt in (str(folder), folder.as_posix()))


def main(arguments: list[str]) -> int:
    """Reports each file that names a folder."""
    end = arguments.index("--")
    folders, packages = map(Path, arguments[:end]), map(Path, arguments[end + 1 :])
    known = list(folders)
    found = [
        f"{path} names {folder}, a folder of the machine that built it"
        for package in packages
        for path, data in files(package.name, package.read_bytes())
        for folder in known
        if named(folder, path.encode()) or named(folder, data)
    ]
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
