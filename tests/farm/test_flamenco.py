"""The job type for Flamenco: tasks of a job, in the words of the command line."""

import json
import subprocess
from pathlib import Path

import pytest
import quickjs

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "farm" / "jounce_bake.js"
# The used part of Flamenco Manager's interface for scripts.
MANAGER = """
const author = {
    Task: (name, type) => ({
        name, type, commands: [], waits: [],
        addCommand(command) { this.commands.push(command); },
        addDependency(task) { this.waits.push(task.name); },
    }),
    Command: (name, parameters) => ({ name, parameters }),
};
function compiled(text) {
    const tasks = [];
    compileJob({ settings: JSON.parse(text), addTask: (task) => tasks.push(task) });
    return JSON.stringify(tasks);
}
"""
SETTINGS = {
    "frames": "1-60",
    "chunk_size": 24,
    "lead": 12,
    "shards": "/farm/shards",
    "output": "/farm/shot.baked.blend",
    "blendfile": "/farm/shot.blend",
}


def compiled(**settings):
    """The tasks of a job."""
    context = quickjs.Context()
    context.eval(MANAGER + SCRIPT.read_text())
    return json.loads(context.get("compiled")(json.dumps(SETTINGS | settings)))


def test_parts_are_simulated_before_the_bake():
    tasks = compiled()
    assert [task["name"] for task in tasks] == ["simulate-1-24", "simulate-25-48", "simulate-49-60", "bake"]
    assert tasks[-1]["waits"] == [task["name"] for task in tasks[:-1]]
    for task in tasks:
        (command,) = task["commands"]
        assert (task["type"], command["name"]) == ("blender", "blender-render")
        assert command["parameters"]["blendfile"] == SETTINGS["blendfile"]
        assert command["parameters"]["args"][:2] == ["--command", "jounce"]


def test_one_frame_is_a_range_and_negative_frames_are():
    assert [task["name"] for task in compiled(frames="7")] == ["simulate-7-7", "bake"]
    assert [task["name"] for task in compiled(frames="-5 - 5")] == ["simulate--5-5", "bake"]
    assert [task["name"] for task in compiled(chunk_size=0)] == ["simulate-1-60", "bake"]


@pytest.mark.parametrize(
    "wrong", [{"frames": "1,3-5"}, {"frames": "9-2"}, {"frames": ""}, {"chunk_size": -1}, {"lead": -1}]
)
def test_other_frames_are_refused(wrong):
    with pytest.raises(quickjs.JSException):
        compiled(**wrong)


def test_every_setting_has_what_flamenco_asks_of_it():
    context = quickjs.Context()
    context.eval(SCRIPT.read_text() + "\nconst text = JSON.stringify(JOB_TYPE);")
    job_type = json.loads(context.eval("text"))
    assert {setting["key"] for setting in job_type["settings"]} == set(SETTINGS)
    for setting in job_type["settings"]:
        assert setting["type"] in {"string", "int32"}
        assert "default" in setting or "eval" in setting or setting["key"] == "blendfile"
        assert setting["description"]


def test_the_tasks_do_what_they_say(blender, shots, tmp_path):
    source, output = shots / "shot 1.blend", tmp_path / "baked.blend"
    places = {"blendfile": str(source), "output": str(output), "shards": str(tmp_path / "shards")}
    for task in compiled(frames="1-48", **places):
        words = task["commands"][0]["parameters"]["args"]
        subprocess.run([*blender, str(source), *words[2:]], check=True, stdout=subprocess.DEVNULL)
    assert output.exists()
