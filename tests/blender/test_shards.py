"""Shots simulated in parts, as on farms: they agree with the whole, and nothing is done twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes

FRAMES = range(1, 121)
HEADLESS = Path(__file__).with_name("headless.py")


@pytest.fixture
def main(module):
    """Blender's entry point for `--command jounce`."""
    return module("cli").main


@pytest.fixture
def shot(tmp_path):
    """A saved file with one built body in constant motion."""
    obj, rig = scenes.character()
    bone = rig.pose.bones["Upper"]
    for frame in range(1, 121, 6):
        bone.rotation_euler = (0.5 * np.sin(frame), 0.3 * np.cos(2.0 * frame), 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    obj.jounce.target = "FRAME_KEYS"
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def simulate(main, folder, start, end, *more):
    """Simulates one shard; returns the exit code."""
    return main(["simulate", "--shards", str(folder), "--start", str(start), "--end", str(end), *more])


def shapes(blend):
    """Shapes of a baked file (f, p, 3)."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    return scenes.evaluated_frames(bpy.data.objects["Column"], FRAMES)


@pytest.mark.parametrize("quality", ["DRAFT", "FINAL"])
def test_shards_make_the_motion_of_the_whole(main, shot, tmp_path, quality, capsys):
    bpy.data.objects["Column"].jounce.quality = quality
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    folder, whole, joined = tmp_path / "shards", tmp_path / "whole.blend", tmp_path / "joined.blend"
    posed = scenes.evaluated_frames(bpy.data.objects["Column"], FRAMES)
    for start, end in ((1, 40), (41, 114), (115, 120)):
        assert simulate(main, folder, start, end) == 0
    assert "102 simulated now" in capsys.readouterr().out
    assert shot.read_bytes() == Path(bpy.data.filepath).read_bytes()
    assert main(["bake", "--shards", str(folder), "--output", str(joined)]) == 0
    assert main(["bake", "--output", str(whole)]) == 0
    one, other = shapes(whole), shapes(joined)
    assert np.abs(one - posed).max() > 0.1
    assert np.array_equal(one[:114], other[:114])
    # The errors stated in the page on farms, relative to the size of the body.
    stated = {"DRAFT": 1e-5, "FINAL": 5e-5}
    assert 0.0 < np.abs(one - other).max() < stated[quality] * 2.1


def test_a_final_shard_is_shown_without_blender_as_its_bake_is(main, shot, tmp_path):
    # The module comes with the extension, installed by a fixture.
    from jounce.final_motion import read

    bpy.data.objects["Column"].jounce.quality = "FINAL"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    folder, output = tmp_path / "shards", tmp_path / "baked.blend"
    for start, end in ((1, 100), (101, 120)):
        assert simulate(main, folder, start, end, "--lead", "24") == 0
    assert main(["bake", "--shards", str(folder), "--output", str(output)]) == 0
    baked = shapes(output)
    to_world = np.array(bpy.data.objects["Column"].matrix_world)
    for path, own in zip(sorted(folder.iterdir()), (range(1, 101), range(101, 121)), strict=True):
        motion = read(path)
        assert motion.frames == own and motion.scene.parts == (("Column", baked.shape[1]),)
        for frame in own:
            expected = baked[frame - 1] @ to_world[:3, :3].T + to_world[:3, 3]
            assert np.abs(motion.shape(frame) - expected).max() < 1e-5


def test_a_finished_shard_is_not_simulated_again(main, shot, tmp_path, capsys):
    folder = tmp_path / "shards"
    assert simulate(main, folder, 1, 20) == 0
    (path,) = folder.iterdir()
    before = path.stat().st_mtime_ns, path.read_bytes()
    capsys.readouterr()
    assert simulate(main, folder, 1, 20) == 0
    assert "0 simulated now" in capsys.readouterr().out
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


def test_a_bake_without_all_shards_is_refused_by_the_frame(main, shot, tmp_path, capsys):
    folder, output = tmp_path / "shards", tmp_path / "baked.blend"
    assert simulate(main, folder, 1, 20) == 0
    assert main(["bake", "--shards", str(folder), "--output", str(output)]) == 1
    assert "No shard of Column has frame 21; simulate it." in capsys.readouterr().err
    assert not output.exists()


def test_shards_of_other_settings_or_poses_are_refused(main, shot, tmp_path, capsys):
    folder, output = tmp_path / "shards", tmp_path / "baked.blend"
    assert simulate(main, folder, 1, 120) == 0
    obj, rig = bpy.data.objects["Column"], bpy.data.objects["Rig"]
    obj.jounce.damping = 0.37
    bake = ["bake", "--shards", str(folder), "--output", str(output)]
    assert main(bake) == 1
    assert "has frame 1 (Damping Ratio changed since)" in capsys.readouterr().err
    obj.jounce.property_unset("damping")
    rig.pose.bones["Upper"].rotation_euler = (1.0, 0.0, 0.0)
    rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=60)
    assert main(bake) == 1
    assert "driven otherwise from frame" in capsys.readouterr().err
    assert not output.exists()


def test_refused_shards_name_their_other_programs(main, module, shot, tmp_path, capsys, monkeypatch):
    folder, output = tmp_path / "shards", tmp_path / "baked.blend"
    bake = ["bake", "--shards", str(folder), "--output", str(output)]
    monkeypatch.setattr(module("bridge.bake.shards"), "programs", lambda: "numpy 1")
    assert simulate(main, folder, 1, 120) == 0
    monkeypatch.setattr(module("bridge.bake.shards"), "programs", lambda: "numpy 2")
    rig = bpy.data.objects["Rig"]
    rig.pose.bones["Upper"].rotation_euler.x += 1e-6
    rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=61)
    assert main(bake) == 1
    told = capsys.readouterr().err
    assert "driven otherwise from frame" in told and "(simulated by numpy 1, baked by numpy 2)" in told
    bpy.data.objects["Column"].jounce.damping = 0.37
    assert main(bake) == 1
    told = capsys.readouterr().err
    assert "(Damping Ratio changed since) (simulated by numpy 1, baked by numpy 2)" in told


def test_shards_of_other_programs_with_the_same_bits_are_taken(
    main, module, shot, tmp_path, capsys, monkeypatch
):
    folder, output = tmp_path / "shards", tmp_path / "baked.blend"
    monkeypatch.setattr(module("bridge.bake.shards"), "programs", lambda: "numpy 1")
    assert simulate(main, folder, 1, 120) == 0
    monkeypatch.setattr(module("bridge.bake.shards"), "programs", lambda: "numpy 2")
    assert main(["bake", "--shards", str(folder), "--output", str(output)]) == 0
    assert output.exists()


def test_progress_is_json_where_asked(main, shot, tmp_path, capsys):
    assert simulate(main, tmp_path / "shards", 1, 20, "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    # First the build, then the simulation.
    assert events.count("done") == 2 and events[-1] == "done" and events.count("progress") > 3
    lines = lines[events.index("done") :]
    fractions = [line["fraction"] for line in lines if line["event"] == "progress"]
    assert fractions == sorted(fractions) and fractions[-1] <= 1.0
    assert main(["simulate", "--shards", str(tmp_path), "--json", "--body", "Cone"]) == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last == {"event": "error", "message": "There is no body Cone; the bodies are Column."}


def test_a_loop_is_refused(main, shot, tmp_path, capsys):
    bpy.data.objects["Column"].jounce.loop = True
    assert simulate(main, tmp_path / "shards", 1, 20) == 1
    assert "Column loops" in capsys.readouterr().err
    assert not (tmp_path / "shards").exists()


def test_a_folder_that_cannot_be_written_is_refused(main, shot, tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    assert simulate(main, tmp_path / "file", 1, 20) == 1
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows kills in other ways")
def test_a_killed_shard_goes_on_from_where_it_was(main, shot, tmp_path, capsys):
    """The second half of a final motion, killed as soon as the file has a few of its frames."""
    bpy.data.objects["Column"].jounce.quality = "FINAL"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    folder = tmp_path / "shards"
    assert simulate(main, tmp_path / "whole", 1, 120) == 0
    (expected,) = (tmp_path / "whole").iterdir()
    command = [sys.executable, str(HEADLESS), str(shot), "simulate", "--shards", str(folder)]
    resources = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "resources")}
    worker = subprocess.Popen(command, env=resources, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    path = folder / expected.name
    while worker.poll() is None and not (path.exists() and path.stat().st_size > expected.stat().st_size / 5):
        time.sleep(0.001)
    worker.send_signal(signal.SIGKILL)
    assert worker.wait() == -signal.SIGKILL
    kept = path.stat().st_size
    assert kept < expected.stat().st_size
    capsys.readouterr()
    assert simulate(main, folder, 1, 120) == 0
    said = capsys.readouterr().out
    assert 0 < int(said.rsplit(", ", 1)[1].split()[0]) < 120
    assert path.read_bytes() == expected.read_bytes()


def test_what_was_learnt_has_no_shards(main, shot, tmp_path, capsys):
    bpy.data.objects["Column"].jounce.quality = "LEARNT"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    assert simulate(main, tmp_path / "shards", 1, 20) == 1
    assert "has no shards" in capsys.readouterr().err
