"""A package with a folder name of the building machine is not published."""

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "rust/xtask/src/folders.py"
FOLDER = Path("/home/ann/.cargo")


def wheel(text):
    """The bytes of a wheel with one file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/_a.abi3.so", text)
    return buffer.getvalue()


def extension(text):
    """The bytes of a zip with a wheel."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("wheels/a.whl", wheel(text))
    return buffer.getvalue()


def sources(text):
    """The bytes of an archive of sources with one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("a/readme")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "packed"),
    [("a.whl", wheel), ("a.zip", extension), ("a.tar.gz", sources), ("a.crate", sources)],
)
def test_a_folder_is_found_wherever_it_is_packed(tmp_path, name, packed):
    path, codes = tmp_path / name, []
    for text in (b"src/lib.rs", b"\0panicked at /home/ann/.cargo/registry/src/faer/lib.rs\0"):
        path.write_bytes(packed(text))
        done = subprocess.run([sys.executable, SCRIPT, FOLDER, "--", path], capture_output=True, text=True)
        codes.append((done.returncode, f"names {FOLDER}" in done.stderr))
    assert codes == [(0, False), (1, True)]
