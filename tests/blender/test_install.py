"""The zip installs and the operators of the installed extension work."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import bpy
import extension
import pytest
import scenes

needs_zip = pytest.mark.skipif(
    "JOUNCE_EXTENSION" not in os.environ, reason="JOUNCE_EXTENSION names no extension zip (`cargo x addon`)"
)


@needs_zip
def test_the_zip_is_installed_and_enabled(package):
    assert package.__name__ == extension.INSTALLED
    assert extension.INSTALLED in bpy.context.preferences.addons


@needs_zip
def test_the_native_module_comes_with_the_zip():
    installed = Path(os.environ["BLENDER_USER_RESOURCES"]).rglob("jounce/_jounce.*")
    assert [path for path in installed if path.suffix in (".so", ".pyd")]


@needs_zip
def test_the_files_named_as_copyright_come_with_the_zip():
    """The years are as far apart as those in the notices of the compiled code."""
    with zipfile.ZipFile(os.environ["JOUNCE_EXTENSION"]) as archive:
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        wheel = zipfile.ZipFile(io.BytesIO(archive.read(manifest["wheels"][0].removeprefix("./"))))
    years, holders = manifest["copyright"][1].split(" ", 1)
    notices = {
        Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if "THIRD-PARTY" in name
    }
    named = {name for name in ("THIRD-PARTY.txt", "THIRD-PARTY-RUST.html") if name in holders}
    assert named == set(notices)
    granted = re.findall(r"[Cc]opyright (?:\([cC]\)|©) ((?:19|20)\d\d)", notices["THIRD-PARTY.txt"])
    assert min(granted) == years.partition("-")[0]


@needs_zip
def test_a_static_folder_is_a_repository_of_extensions(tmp_path):
    """The index that a release writes beside its zips, read as *Get Extensions* reads it."""
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    program = next(scripts.rglob("blender_ext.py"))
    served, mine = tmp_path / "served", tmp_path / "mine"
    served.mkdir()
    mine.mkdir()
    shutil.copy(os.environ["JOUNCE_EXTENSION"], served)

    def blender(*words):
        subprocess.run([sys.executable, program, *words], check=True, capture_output=True)

    blender("server-generate", "--repo-dir", served)
    [listed] = json.loads((served / "index.json").read_text())["data"]
    assert "Physics" in listed["tags"]
    assert listed["archive_hash"].startswith("sha256:")
    remote = ["--local-dir", mine, "--remote-url", (served / "index.json").as_uri()]
    remote += ["--online-user-agent", "tests", "--access-token", ""]
    blender("sync", *remote, "--remote-name", "Jounce")
    versions = ["--blender-version", bpy.app.version_string.split()[0]]
    versions += ["--python-version", ".".join(map(str, sys.version_info[:3]))]
    blender("install", *remote, *versions, "jounce")
    assert (mine / "jounce/blender_manifest.toml").is_file()


def test_the_whole_way():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="MODAL_KEYS", frame_start=1, frame_end=12)
    assert 0.0 < obj.jounce.bake_error <= 0.002
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.remove()
    assert obj.data.shape_keys is None


def test_every_setting_tells_what_it_is():
    for prop in bpy.types.Object.bl_rna.properties["jounce"].fixed_type.properties:
        assert prop.identifier in ("rna_type", "name") or len(prop.description) > 10


def test_panels_and_operators_are_registered():
    for name in ("add", "build", "bake", "free_bake", "remove"):
        assert hasattr(bpy.types, f"JOUNCE_OT_{name}")
    for name in ("main", "build", "motion", "bake"):
        assert hasattr(bpy.types, f"JOUNCE_PT_{name}")
