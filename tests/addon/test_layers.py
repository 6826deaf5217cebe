"""Allowed dependencies of each folder of the extension, and promises of its manifest."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ADDON = Path(__file__).resolve().parents[2] / "addon"
FOREIGN = {"bpy", "bpy_extras", "mathutils", "bmesh", "gpu"}

# Attributes through which meshes, armatures, modifiers and animation are read or written.
SCENE_DATA = {
    "animation_data",
    "attributes",
    "bones",
    "key_blocks",
    "loop_triangles",
    "matrix_world",
    "modifiers",
    "nla_tracks",
    "pose",
    "shape_key_add",
    "shape_keys",
    "vertex_groups",
    "vertices",
}


def sources(folder):
    """The modules of a folder of the extension."""
    return sorted((ADDON / folder).rglob("*.py"))


def imported(path):
    """Top-level names of the modules imported by a file."""
    tree = ast.parse(path.read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.split(".")[0] for name in names}


def relative(path):
    """The parts of the extension imported by a file, beside its own."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    depth = len(path.relative_to(ADDON).parts)
    above = [node for node in nodes if node.level == depth]
    return {(node.module or alias.name).split(".")[0] for node in above for alias in node.names}


@pytest.mark.parametrize("path", sources("core"), ids=lambda path: path.name)
def test_core_knows_no_blender(path):
    assert not imported(path) & FOREIGN
    assert relative(path) == set()


@pytest.mark.parametrize("path", sources("bridge"), ids=lambda path: path.name)
def test_the_bridge_knows_only_the_core(path):
    assert relative(path) <= {"core"}


@pytest.mark.parametrize("path", sources("ops") + sources("panels"), ids=lambda path: path.name)
def test_only_the_bridge_touches_scene_data(path):
    used = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
    assert not used & SCENE_DATA


@pytest.mark.parametrize("path", sorted(ADDON.rglob("*.py")), ids=lambda path: path.name)
def test_no_threads_no_programs_no_network_no_path_edits(path):
    assert not imported(path) & {"threading", "multiprocessing", "concurrent", "subprocess", "ctypes"}
    assert not imported(path) & {"socket", "urllib", "http", "requests"}
    assert "sys.path" not in path.read_text()


def test_the_manifest_says_what_it_must():
    manifest = tomllib.loads((ADDON / "blender_manifest.toml").read_text())
    assert (manifest["id"], manifest["type"], manifest["blender_version_min"]) == (
        "jounce",
        "add-on",
        "4.2.0",
    )
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert "wheels" not in manifest, "the wheels are listed when the zip is built"


def test_the_manifest_suits_the_platform_of_extensions():
    """Lengths and ends of its sentences, a name of its own, known tags, no needless permission."""
    manifest = tomllib.loads((ADDON / "blender_manifest.toml").read_text())
    sentences = [manifest["tagline"], *manifest["permissions"].values()]
    assert all(len(it) <= 64 and it[0].isupper() and it[-1].isalnum() for it in sentences)
    assert not {"blender", "add-on", "addon"} & set(manifest["name"].lower().split())
    assert set(manifest["tags"]) == {"Animation", "Bake", "Physics", "Rigging"}
    assert set(manifest["permissions"]) == {"files"}


def test_the_manifest_names_all_copyright_holders():
    """In the form "years name", ours and those of the code compiled into the wheel."""
    manifest = tomllib.loads((ADDON / "blender_manifest.toml").read_text())
    ours, theirs = manifest["copyright"]
    assert all(re.match(r"\d{4}(-\d{4})? \S", holder) for holder in (ours, theirs))
    assert "Jounce" in ours and "THIRD-PARTY.txt" in theirs
