"""Every error of the core can be raised from Python, and names problem, place and remedy."""

import re
from pathlib import Path

import jounce
import numpy as np
import pytest

ERROR_SOURCE = Path(__file__).parents[2] / "rust" / "core" / "src" / "error.rs"
TET = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
CORNERS = np.array([[0, 1, 2, 3]])


def cancelled_job(box):
    job = jounce.BodyJob(*box, resolution=64, modes=30)
    job.cancel()
    return job.result()


CASES = {
    "Shape": (
        lambda **_: jounce.TetMesh(TET[:, :2].copy(), CORNERS),
        "vertices: expected shape (n, 3), got (4, 2)",
    ),
    "Empty": (lambda **_: jounce.TetMesh(TET, CORNERS[:0]), "tets: is empty; at least one is needed"),
    "NotFinite": (
        lambda **_: jounce.TetMesh(TET * [1.0, np.nan, 1.0], CORNERS),
        "vertices: element 0 is NaN; every number must be finite",
    ),
    "Pose": (
        lambda model, **_: jounce.Simulation(model).step(np.full((3, 3, 4), np.nan)),
        "pose: bone 0 has the number NaN; every number must be finite and at most 1e12",
    ),
    "Index": (
        lambda **_: jounce.TetMesh(TET, CORNERS + 1),
        "tets: element 0 refers to index 4, but there are only 4",
    ),
    "Range": (lambda **_: jounce.Material(poisson=0.5), "poisson: expected a ratio in [0, 0.5), got 0.5"),
    "FlatTet": (
        lambda **_: jounce.TetMesh(TET * [1.0, 1.0, 0.0], CORNERS),
        "tet 0 is flat (volume 0e0); remove it or move one of its vertices",
    ),
    "InvertedTet": (
        lambda **_: jounce.TetMesh(-6.0 * TET, CORNERS),
        "tet 0 is inverted (volume -3.6e1); swap two of its vertex indices",
    ),
    "LooseVertex": (
        lambda **_: jounce.TetMesh(np.vstack([TET, TET[:1]]), CORNERS),
        "vertex 4 belongs to no tet; remove it",
    ),
    "Massless": (
        lambda **_: jounce.Model.projective(
            jounce.SurfaceMesh(np.vstack([TET[:3], TET[:3] * [1.0, 0.0, 0.0]]), [[0, 1, 2], [3, 4, 5]]),
            jounce.Material(),
            handles=2,
            thickness=0.01,
        ),
        "vertex 3 hangs together with no triangle that has an area; remove it",
    ),
    "WeightSum": (
        lambda **_: jounce.Rig(jounce.TetMesh(TET, CORNERS), np.zeros((4, 2))),
        "weights of vertex 0 sum to 0; normalise them to 1",
    ),
    "TooManyModes": (
        lambda mesh, material, **_: jounce.skinning_modes(mesh, material, 736),
        "736 modes asked for, but mesh and rig leave only 735; ask for fewer or refine the mesh",
    ),
    "Numerical": (
        lambda mesh, material, labels, **_: jounce.Model.skinning(
            mesh, material, jounce.SkinningModes(np.zeros((735, 2)), np.ones(2)), labels
        ),
        "failed: ",
    ),
    "Unsupported": (
        lambda model, **_: jounce.Simulation(model, hold=1.0),
        "hold: only a loose body is held and let go; set it to 0",
    ),
    "Domain": (
        lambda mesh, material, **_: jounce.DomainTree(
            [jounce.Domain(jounce.linear_modes(mesh, material, 8))], [0], [[]]
        ),
        "domain 0: its parent is not among the domains before it, so that this is no tree",
    ),
    "File": (lambda **_: jounce.Model.load("no/such/file.jounce"), "file: "),
    "Cancelled": (lambda box, **_: cancelled_job(box), "cancelled"),
}


def test_the_list_is_complete():
    body = ERROR_SOURCE.read_text(encoding="utf-8").split("pub enum Error {")[1]
    variants = re.findall(r"^    ([A-Z]\w*)(?: \{|\(|,)", body, re.MULTILINE)
    assert sorted(variants) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_each_error_is_raised(name, mesh, material, labels, model, box):
    call, sentence = CASES[name]
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        call(mesh=mesh, material=material, labels=labels, model=model, box=box)
    assert type(caught.value) is ValueError
    assert "\n" not in str(caught.value)
