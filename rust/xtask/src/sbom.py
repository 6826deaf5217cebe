"""Removes the build folder from a wheel's bill of materials: sbom.py FOLDER WHEEL...

maturin names our own crates by their paths. To be the same wherever it is built, a wheel names them by paths
from the top of the repository.
"""

import base64
import hashlib
import os
import sys
import zipfile
from pathlib import Path

PARTS = ".cyclonedx.json"


def neutral(root: Path, wheel: Path) -> None:
    """Rewrites a wheel, with the hashes and sizes of its files in RECORD."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(info, archive.read(info)) for info in archive.infolist()]
    changed = {
        info.filename: data.replace(f"path+{root.as_uri()}/".encode(), b"path+file:///")
        for info, data in files
        if info.filename.endswith(PARTS)
    }
    for name, data in changed.items():
        if root.as_posix().encode() in data:
            raise SystemExit(f"{wheel.name}: {name} still names {root}, where it was built")
    part = wheel.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as archive:
        for info, data in files:
            if info.filename.endswith(".dist-info/RECORD"):
                data = "".join(entry(line, changed) for line in data.decode().splitlines()).encode()
            archive.writestr(info, changed.get(info.filename, data))
    os.replace(part, wheel)


def entry(line: str, changed: dict[str, bytes]) -> str:
    """A line of RECORD: name, hash and size of a file."""
    name = line.split(",")[0]
    if name not in changed:
        return f"{line}\n"
    digest = base64.urlsafe_b64encode(hashlib.sha256(changed[name]).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(changed[name])}\n"


if __name__ == "__main__":
    for each in sys.argv[2:]:
        neutral(Path(sys.argv[1]), Path(each))
