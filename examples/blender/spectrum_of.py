"""One character for `spectrum.py`: part of its shot outside the first displacements.

python spectrum_of.py FILE --report OUT.json [--frames 120]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import character as characters
import flesh
import one_character
import script
from learn_of import Bench


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.parser(__doc__, frames=120).parse_args()
    one_character.measure(options, lambda *of: {"left out": spectrum(*of)})


def spectrum(package: str, character: characters.Character, shot: characters.Shot) -> list[float]:
    """Part of the motion outside the first 1, 2, 3 and so on principal displacements, as a share of it."""
    # The module is part of the extension, which is enabled by now.
    import jounce

    host = flesh.added(character.armature, character.body, shot.first)
    bench = Bench(package, host, range(shot.first, shot.last + 1), "arap")
    exact, _, _ = bench.played(bench.body.full_space(bench.material))
    squares = jounce.mass_pca(bench.body.mesh, bench.material, exact).singular_values ** 2
    outside = np.cumsum(squares[::-1])[::-1][1:]
    return np.sqrt(outside / squares.sum()).tolist()


if __name__ == "__main__":
    script.run(main)
