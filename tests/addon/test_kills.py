"""All written files are complete or recognisably incomplete, at whichever moment the process is killed.

`JOUNCE_KILLS` is the number of kills of each writer; each moment has its seed.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import jounce
import numpy as np
import pytest
from jounce_core.storage import pc2
from jounce_core.storage.final_cache import DraftCache, FinalCache

KILLS = int(os.environ.get("JOUNCE_KILLS", "4"))
# Longest life of a process, in which each writer writes several times.
SECONDS = 0.03
FRAMES, POINTS = 40, 3000
# Files extended by records instead of written anew.
RECORDS = (".jcache", ".jshard")
ORIGIN = {"Damping": "0.1"}
HEAD = """
import sys
sys.path[:0] = sys.argv[3:]
import conftest, numpy as np, jounce
from itertools import count
from pathlib import Path
from jounce_core.storage import pc2
from jounce_core.storage.final_cache import DraftCache, FinalCache
from test_kills import FRAMES, ORIGIN, POINTS, frame, model
path, seed = Path(sys.argv[1]), int(sys.argv[2])
bodies = [model(modes) for modes in (2, 3)] if path.suffix == ".jounce" else []
print("ready", flush=True)
"""
PROGRAMS = {
    "final.jcache": """
cache = FinalCache(ORIGIN, 1, path)
for index in range(len(cache), FRAMES):
    cache.append(bytes([index] * 16), frame(index, 3))
""",
    "draft.jshard": """
cache = DraftCache(ORIGIN, 1, path)
for index in range(len(cache), FRAMES):
    cache.append(bytes([index] * 16), frame(index, 12).reshape(-1, 3, 4))
""",
    "shape.pc2": """
for version in count(seed):
    writer = pc2.Writer(path, POINTS, 1, FRAMES)
    for _ in range(FRAMES):
        writer.add(frame(version % 200, 3))
    writer.finish()
""",
    "body.jounce": """
for version in count(seed):
    bodies[version % 2].save(path)
""",
}


def frame(number, width):
    """An array with its number as contents."""
    return np.full((POINTS, width), float(number))


def model(modes):
    """A model with a recognisable number of modes."""
    points = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)])
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
    return jounce.Body(points, triangles, np.ones((8, 1)), resolution=4, modes=modes, clusters=4).model


def is_whole_cache(kind, path, size):
    """Number of frames in a file of records; fails unless they are the first ones and no others."""
    cache = kind(ORIGIN, 1, path)
    for index, (digest, coefficients) in enumerate(zip(cache.digests, cache.coefficients, strict=True)):
        assert digest == bytes([index] * 16)
        assert coefficients.size == POINTS * size and (coefficients == index).all()
    return len(cache)


def check_final(path):
    return is_whole_cache(FinalCache, path, 3)


def check_draft(path):
    return is_whole_cache(DraftCache, path, 12)


def check_pc2(path):
    """Asserts a single version for every sample of the file."""
    if not path.exists():
        return 0
    data = path.read_bytes()
    numbers = np.frombuffer(data[pc2.HEADER.size :], "<f4")
    assert pc2.is_cache(path) and len(numbers) == 3 * POINTS * FRAMES and (numbers == numbers[0]).all()
    return 1 + int(numbers[0])


def check_model(path):
    """Asserts that the file holds a usable model."""
    if not path.exists():
        return 0
    simulation = jounce.Simulation(jounce.Model.load(path))
    simulation.reset(np.eye(3, 4)[np.newaxis])
    simulation.step(np.eye(3, 4)[np.newaxis])
    return len(simulation.coefficients)


CHECKS = {
    "final.jcache": check_final,
    "draft.jshard": check_draft,
    "shape.pc2": check_pc2,
    "body.jounce": check_model,
}


def command(name, path, seed):
    """A process that writes until finished or killed."""
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    return [sys.executable, "-c", HEAD + PROGRAMS[name], str(path), str(seed), *paths]


@pytest.mark.posix
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_writer_that_is_killed_leaves_what_is_whole(name, tmp_path):
    path, found = tmp_path / name, []
    for seed in range(KILLS):
        process = subprocess.Popen(command(name, path, seed), stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.Random(seed).uniform(0.0, SECONDS))
        process.kill()
        process.communicate()
        found.append(CHECKS[name](path))
        if path.suffix in RECORDS and found[-1] == FRAMES:
            path.unlink()
    print(f"{name}: {found}")


@pytest.mark.posix
@pytest.mark.parametrize("name", [name for name in PROGRAMS if Path(name).suffix in RECORDS])
def test_what_a_killed_writer_began_is_finished_by_the_next(name, tmp_path):
    path = tmp_path / name
    process = subprocess.Popen(command(name, path, 0), stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    while not path.exists():
        time.sleep(0.0001)
    process.kill()
    process.communicate()
    subprocess.run(command(name, path, 1), check=True)
    assert CHECKS[name](path) == FRAMES
