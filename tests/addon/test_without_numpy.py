"""The extension in a Blender whose Python lacks numpy, as Debian's does without a further package."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_missing_package_is_named():
    # Without the module `site` there are no installed packages.
    command = [sys.executable, "-S", "-c", "import addon"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and "Jounce needs numpy" in last and "python3-numpy" in last
