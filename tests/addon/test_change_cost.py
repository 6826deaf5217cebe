"""One number of a step is named in few files, from the panel to the solver."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ["addon/**/*.py", "rust/core/src/**/*.rs", "rust/python/src/*.rs", "rust/python/python/**/*.py*"]
# The energies of all methods, each with its own use of a number.
SOLVER = re.compile(r"rust/core/src/(model|potentials|kinematics)/")
# Files of a new number, beside its energy.
FILES = [
    "addon/core/flesh/settings.py",
    "addon/panels/motion.py",
    "addon/props/motion.py",
    "rust/core/src/inputs/settings.rs",
    "rust/python/python/jounce/settings.py",
]


def naming(word, files):
    """Files that name a number, without the energies, by their paths."""
    own = re.compile(rf"\b{word}\b")
    return sorted(path for path, text in files.items() if own.search(text) and not SOLVER.match(path))


def test_a_number_of_a_step_is_named_in_five_files_and_its_energy():
    paths = [path for pattern in SHIPPED for path in ROOT.glob(pattern)]
    files = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    assert naming("pose_rest", files) == FILES
    # A bridge for the number would be a file too many.
    bridge = "addon/bridge/inputs/frame_inputs.py"
    files[bridge] += "\nrest = state.pose_rest\n"
    assert naming("pose_rest", files) == sorted([*FILES, bridge])
