"""No Python files import each other in a circle, and folders of the extension only those before them."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Folders in their order: each imports only itself and earlier folders.
CORE = "common flesh rig mesh stepping body direct storage passes shot bake display"
BRIDGE = "common keys rig loads body inputs motions preview bake"
ORDER = {"core": CORE.split(), "bridge": BRIDGE.split()}


def modules(root):
    """The files of a package by the path of their module."""
    files = {path.relative_to(root).with_suffix("").parts: path for path in root.rglob("*.py")}
    return {parts[:-1] if parts[-1] == "__init__" else parts: path for parts, path in files.items()}


def imports(module, path, known, package):
    """Modules of the same package that a file imports, at its head or in a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        names = tuple(node.module.split(".") if node.module else ())
        if node.level:
            above = node.level - (path.name == "__init__.py")
            base = module[: len(module) - above] + names
        elif names[0] == package:
            base = names[1:]
        else:
            continue
        for alias in node.names:
            name = (*base, alias.name)
            found.add(name if name in known else base)
    return (found & known.keys()) - {module}


def graph_of(root):
    """The modules that each module imports."""
    known = modules(root)
    return {module: imports(module, path, known, root.name) for module, path in known.items()}


def circle(root):
    """The modules of one circle, or none."""
    try:
        graphlib.TopologicalSorter(graph_of(root)).prepare()
    except graphlib.CycleError as error:
        return ["/".join(module) for module in error.args[1]]
    return []


def backwards(graph, part, order):
    """Sentences about the files of a part that import from a folder after their own, or stand in none."""
    rank = {folder: place for place, folder in enumerate(order)}
    own = {module: used for module, used in graph.items() if module[:1] == (part,) and len(module) > 1}
    lost = ["/".join(module) + " stands in no folder" for module in own if module[1] not in rank]
    steps = [(module, other) for module, used in own.items() for other in used if other in own]
    return lost + [
        f"{'/'.join(module)} imports {'/'.join(other)}"
        for module, other in steps
        if rank.get(other[1], 0) > rank.get(module[1], len(rank))
    ]


@pytest.mark.parametrize("package", ["addon", "rust/python/python/jounce"])
def test_no_file_imports_itself_by_way_of_others(package):
    graph = graph_of(ROOT / package)
    assert sum(map(len, graph.values())) >= len(graph) / 2
    assert circle(ROOT / package) == []


def test_a_circle_is_found(tmp_path):
    (tmp_path / "one").mkdir()
    texts = {
        "__init__.py": "from .two import beta\n",
        "one/__init__.py": "from . import part\n",
        "one/part.py": "def alpha():\n    from ..two import beta\n    return beta\n",
        "two.py": "beta = 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert circle(tmp_path) == []
    (tmp_path / "two.py").write_text("from .one.part import alpha\nbeta = 1\n")
    assert set(circle(tmp_path)) == {"one/part", "two"}


@pytest.mark.parametrize("part", ORDER)
def test_folders_import_only_those_before_them(part):
    graph = graph_of(ROOT / "addon")
    assert {module[1] for module in graph if module[:1] == (part,) and len(module) > 1} == set(ORDER[part])
    assert backwards(graph, part, ORDER[part]) == []


def test_an_import_against_the_order_is_found(tmp_path):
    texts = {
        "core/__init__.py": "",
        "core/low/__init__.py": "",
        "core/low/one.py": "",
        "core/high/__init__.py": "",
        "core/high/two.py": "from ..low import one\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert backwards(graph_of(tmp_path), "core", ["low", "high"]) == []
    (tmp_path / "core/low/one.py").write_text("def late():\n    from ..high.two import one\n    return one\n")
    assert backwards(graph_of(tmp_path), "core", ["low", "high"]) == ["core/low/one imports core/high/two"]
    (tmp_path / "core/lost.py").write_text("")
    assert "core/lost stands in no folder" in backwards(graph_of(tmp_path), "core", ["low", "high"])
