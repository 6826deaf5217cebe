"""One home of defaults: Rust, `Body`, characters of USD, the extension, the player and its page agree.

`tests/farm/test_usd_same_flesh.py` compares flesh of USD, `tests/blender/test_same_flesh.py` of *Add Jounce*.
"""

import ast
import inspect
import json
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import jounce
import jounce.usd
import numpy as np
import pytest
from jounce import standard

sys.path.insert(0, str(Path(__file__).parents[1]))

import bipeds

ROOT = Path(__file__).parents[2]


def test_values_are_those_of_rust():
    source = (ROOT / "rust/core/src/body/standard.rs").read_text(encoding="utf-8")
    written = {
        name: float(value.replace("_", ""))
        for name, value in re.findall(r"pub const (\w+): \w+ = (.*);", source)
    }
    assert {name: float(getattr(standard, name)) for name in written} == written
    assert set(written) | {"resolution", "size_frequency", "motion", "Motion"} == set(standard.__all__)


def test_a_body_has_them(box):
    given = inspect.signature(jounce.Body).parameters
    assert (given["modes"].default, given["young"].default) == (standard.MODES, standard.YOUNG)
    body = jounce.Body(*box)
    expected = {
        "modes": standard.MODES,
        "clusters": standard.CUBATURE,
        "cubature": standard.CUBATURE,
        "young": standard.YOUNG,
        "density": standard.DENSITY,
        "driven": False,
        "resolution": standard.resolution(*box[:2]),
    }
    assert {name: body.settings[name] for name in expected} == expected
    assert body.model.mode_count == standard.MODES


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        ({}, (standard.CUBATURE, standard.CUBATURE)),
        ({"clusters": 9}, (9, 0)),
        ({"cubature": 30}, (standard.CUBATURE, 30)),
        ({"clusters": 9, "cubature": 12}, (9, 12)),
    ],
)
def test_clusters_alone_mean_no_cubature(box, given, counts):
    settings = jounce.Body(*box, resolution=8, modes=3, **given).settings
    assert (settings["clusters"], settings["cubature"]) == counts


def test_modes_on_a_core_are_driven(box):
    core = jounce.SkeletonCore([[0, 0.5, 0.5], [2, 0.5, 0.5]], [-1, 0], roles=["flesh", "free"])
    assert jounce.Body(*box, resolution=8, modes=3, core=core).settings["driven"]
    assert not jounce.Body(*box, resolution=8, modes=3, core=core, driven=False).settings["driven"]


def test_the_resolution_gives_about_as_many_tets(box):
    for size in ((4.0, 1.0, 1.0), (4.0, 2.0, 1.5)):
        points, triangles = jounce.shapes.box(size)
        cells = standard.resolution(points, triangles)
        tets = len(jounce.TetMesh.lattice(points, triangles, cells).tets)
        assert 0.5 * standard.TETS < tets < 2.0 * standard.TETS, size
        assert standard.resolution(1e3 * points, triangles) == cells
    assert standard.resolution(*box[:2], tets=10**7) == 64


def test_characters_of_usd_have_them():
    defaults = {field.name: field.default for field in fields(jounce.usd.Settings)}
    assert defaults == {
        "resolution": None,
        "modes": standard.MODES,
        "frequency": standard.FREQUENCY,
        "damping": standard.DAMPING,
        "gravity": 0.0,
        "substeps": standard.SUBSTEPS,
        "limit": standard.LIMIT,
        "stretch": standard.STRETCH,
        "core": standard.CORE,
        "final": False,
    }
    source = inspect.getsource(jounce.usd.built) + inspect.getsource(jounce.usd.moved)
    numbers = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    assert not [it for it in numbers if isinstance(it, float) and it in (5.0, 0.12, 0.25, 1e4, 1e3)]


def example(cargo, name):
    """Program of an example in Rust, with the features of the whole workspace.

    `cargo test --workspace` has compiled the core with these; those of one package would compile it anew.
    """
    command = [cargo, "build", "--quiet", "--release", "--workspace", "--example", name]
    command += ["--message-format", "json-render-diagnostics"]
    told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    made = [json.loads(line) for line in told.splitlines()]
    (program,) = [it["executable"] for it in made if it.get("target", {}).get("name") == name]
    return program


def test_the_page_builds_the_same_body(tmp_path):
    """The builder of the player's page and `Body` with a core: the same file, and the same stiffness."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("the builder is made by cargo")
    points, triangles, weights = bipeds.merged(list(bipeds.body().values()))
    character = {
        "points": points,
        "triangles": triangles,
        "weights": weights,
        "heads": bipeds.HEADS,
        "parents": bipeds.PARENTS,
    }
    told = {name: array.tolist() for name, array in character.items()} | {"names": bipeds.NAMES}
    (tmp_path / "character.json").write_text(json.dumps(told))
    command = [example(cargo, "built"), tmp_path / "character.json", tmp_path / "built.jounce"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    core = jounce.SkeletonCore(
        bipeds.HEADS,
        bipeds.PARENTS,
        names=bipeds.NAMES,
        rigid=jounce.SkeletonCore.hard_points(points, triangles, weights),
    )
    body = jounce.Body(points, triangles, weights, core=core, bone_parents=bipeds.PARENTS)
    assert len(body.parts) > 3
    assert (tmp_path / "built.jounce").read_bytes() == body.model.to_bytes()
    assert float(done.stdout) == standard.motion(body.mesh)["stiffness"]


def assigned(path):
    """Names given values at the top of a file, and sources of the defaults of its properties."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Call):
            found = [word.value for word in node.annotation.keywords if word.arg == "default"]
            names |= {node.target.id: ast.unparse(found[0])} if found else {}
    return names


def test_the_extension_takes_them():
    """Defaults of its properties refer to the names, and these are the values here."""
    motion, shot = assigned("addon/props/motion.py"), assigned("addon/props/shot.py")
    assert motion["frequency"] == "sensible.FREQUENCY"
    assert motion["damping"] == "sensible.DAMPING"
    assert motion["substeps"] == "sensible.SUBSTEPS"
    assert shot["limit"] == "100.0 * sensible.LIMIT"
    source = (ROOT / "addon/core/body/sensible.py").read_text(encoding="utf-8")
    values = {"standard": standard}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and "standard." in ast.unparse(node):
            exec(ast.unparse(node), values)
    for name in ("MODES", "CUBATURE", "FREQUENCY", "DAMPING", "SUBSTEPS", "LIMIT"):
        assert values[name] == getattr(standard, name), name
    assert values["BONE_CORE"] == standard.CORE
    setup = (ROOT / "addon/ops/setup.py").read_text(encoding="utf-8")
    for line in (
        "= sensible.BONE_CORE",
        "= sensible.MODES, sensible.CUBATURE",
        "= sensible.resolution(surface)",
    ):
        assert line in setup


def test_a_body_from_the_extension_is_the_same(box):
    """The arguments of the extension's build for a body without maps give the modes of `Body` alone."""
    plain = jounce.Body(*box)
    built = jounce.Body(
        *box,
        resolution=standard.resolution(*box[:2]),
        modes=standard.MODES,
        clusters=standard.CUBATURE,
        cubature=standard.CUBATURE,
        young=standard.YOUNG,
        density=standard.DENSITY,
    )
    assert np.array_equal(plain.modes.weights, built.modes.weights)
    assert plain.model.cluster_count == built.model.cluster_count
