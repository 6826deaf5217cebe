"""The list of parts in a wheel names no folder of the building machine."""

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "rust/xtask/src/sbom.py"
PARTS = "a-1.dist-info/sboms/a.cyclonedx.json"


def wheel(folder, parts):
    """A wheel of two files with this list of parts."""
    path = folder / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.py", "a = 1\n")
        archive.writestr(PARTS, parts)
        archive.writestr(
            "a-1.dist-info/RECORD", f"a.py,sha256=x,6\n{PARTS},sha256=y,3\na-1.dist-info/RECORD,,\n"
        )
    return path


def rewritten(root, path):
    """Contents of the rewritten wheel: the text of each file."""
    done = subprocess.run([sys.executable, SCRIPT, root, path], capture_output=True, text=True)
    with zipfile.ZipFile(path) as archive:
        return done, {name: archive.read(name).decode() for name in archive.namelist()}


def test_parts_are_named_from_the_top_of_the_repository(tmp_path):
    path = wheel(tmp_path, f'{{"ref": "path+{tmp_path.as_uri()}/rust/core#jounce@1"}}')
    done, files = rewritten(tmp_path, path)
    assert done.returncode == 0, done.stderr
    assert files[PARTS] == '{"ref": "path+file:///rust/core#jounce@1"}'
    digest = base64.urlsafe_b64encode(hashlib.sha256(files[PARTS].encode()).digest()).rstrip(b"=").decode()
    record = files["a-1.dist-info/RECORD"].splitlines()
    assert record == [
        "a.py,sha256=x,6",
        f"{PARTS},sha256={digest},{len(files[PARTS])}",
        "a-1.dist-info/RECORD,,",
    ]
    assert list(tmp_path.iterdir()) == [path]


def test_a_list_that_names_the_folder_in_another_way_is_refused(tmp_path):
    path = wheel(tmp_path, f"built in {tmp_path.as_posix()}")
    before = path.read_bytes()
    done, _ = rewritten(tmp_path, path)
    assert done.returncode == 1
    assert "still names" in done.stderr
    assert path.read_bytes() == before
