"""The command line: arguments, exit codes, saved data."""

import subprocess
import sys
from pathlib import Path

import bpy
import pytest
import scenes

HEADLESS = Path(__file__).with_name("headless.py")


@pytest.fixture
def main(module):
    """Blender's entry point for `--command jounce`."""
    return module("cli").main


@pytest.fixture
def shot(tmp_path):
    """A saved file with one unbuilt body."""
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_info_says_what_there_is(main, shot, capsys):
    assert main(["info"]) == 0
    assert capsys.readouterr().out == "Column: 1 mesh(es); not built; not baked\n"


def test_bake_builds_where_needed_and_saves_elsewhere(main, shot, tmp_path, capsys):
    before, output = shot.read_bytes(), tmp_path / "baked.blend"
    assert main(["bake", "--output", str(output), "--end", "9", "--target", "FRAME_KEYS"]) == 0
    assert "100%" not in capsys.readouterr().err
    assert shot.read_bytes() == before
    assert bpy.data.filepath == str(shot)
    bpy.ops.wm.open_mainfile(filepath=str(output))
    assert bpy.data.objects["Column"].jounce.bake_keys == 9


def test_bake_makes_the_copy_with_helper_bones(main, shot, tmp_path, capsys):
    output = tmp_path / "game.blend"
    assert main(["bake", "--output", str(output), "--target", "HELPER_BONES"]) == 0
    assert "16 helper bones" in capsys.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(output))
    assert len(bpy.data.objects["Column"].jounce.bake_copy.parent.data.bones) == 18


def test_build_saves_the_file_itself(main, shot, capsys):
    assert main(["build", "--save", "--body", "Column"]) == 0
    assert "960 tets" in capsys.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    assert bpy.data.objects["Column"].jounce.built_digest


def test_apply_gives_a_bare_character_saved_settings(main, shot, tmp_path, capsys):
    bpy.data.objects["Column"].jounce.softness = 2.0
    scenes.activate(bpy.data.objects["Column"])
    bpy.ops.jounce.build()
    digest, settings = bpy.data.objects["Column"].jounce.built_digest, str(tmp_path / "look.jounce.json")
    bpy.ops.jounce.settings_save(filepath=settings)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scenes.character()
    assert main(["apply", settings, "--output", str(tmp_path / "built.blend")]) == 0
    assert "960 tets" in capsys.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "built.blend"))
    state = bpy.data.objects["Column"].jounce
    assert state.built_digest == digest and state.softness == 2.0
    bpy.data.objects["Column"].name = "Pillar"
    assert main(["apply", settings, "--output", str(tmp_path / "not.blend")]) == 1
    assert "no mesh Column" in capsys.readouterr().err and not (tmp_path / "not.blend").exists()


@pytest.mark.parametrize(
    "arguments", [[], ["fry"], ["bake"], ["bake", "--save", "--output", "x"], ["bake", "--end", "x"]]
)
def test_wrong_arguments_have_a_code_of_their_own(main, shot, arguments, capsys):
    assert main(arguments) == 2
    assert "usage: blender -b FILE --command jounce" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["info", "--body", "Cone"], "There is no body Cone; the bodies are Column."),
        (
            ["bake", "--save", "--start", "9", "--end", "2"],
            "The bake ends at frame 2, before it starts at frame 9.",
        ),
        (["bake", "--output", "/proc/nowhere/x.blend"], "cannot be written"),
    ],
)
def test_a_refusal_is_one_sentence_and_saves_nothing(main, shot, arguments, sentence, capsys):
    before = shot.read_bytes()
    assert main(arguments) == 1
    assert sentence in capsys.readouterr().err
    assert shot.read_bytes() == before


def test_a_file_without_bodies_is_refused(main, capsys):
    assert main(["info"]) == 1
    assert "has Jounce" in capsys.readouterr().err


@pytest.mark.posix
def test_a_blender_whose_caller_was_killed_ends(tmp_path):
    """It writes into closed streams."""
    missing = tmp_path / "missing.blend"
    words = [sys.executable, HEADLESS, missing, "info"]
    orphan = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    orphan.stdout.close()
    orphan.stderr.close()
    assert orphan.wait(timeout=120) == 3


@pytest.mark.posix
def test_a_process_without_streams_ends(tmp_path):
    words = [sys.executable, HEADLESS, tmp_path / "missing.blend", "info"]
    assert subprocess.call(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *words], timeout=120) == 3
