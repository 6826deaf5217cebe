"""Execution of the operators: warnings, stopping half-way, one body after the other."""

import time
from types import SimpleNamespace
from typing import ClassVar

import bpy
import pytest
import scenes
import snapshot


@pytest.fixture
def window_run(module):
    """Drives a task like a window: sends events, and records requests to Blender."""
    base = module("ops.operator").LongOperator

    class Manager:
        asked: ClassVar[list[str]] = []

        def __getattr__(self, name):
            return lambda *_, **__: self.asked.append(name)

    class Window:
        modal, tick, stopped, cancel, close, show_progress = (
            base.modal,
            base.tick,
            base.stopped,
            base.cancel,
            base.close,
            base.show_progress,
        )
        bl_label = "Work"

        def __init__(self, task):
            self._runner, self._timer, self.reports = module("core.common.task").Runner(task), object(), []
            self._began = self._worked = time.perf_counter()
            workspace = SimpleNamespace(status_text_set=lambda text: self.reports.append(("STATUS", text)))
            self.context = SimpleNamespace(window_manager=Manager(), workspace=workspace, area=None)
            Manager.asked.clear()

        def report(self, kind, text):
            self.reports.append((*kind, text))

        def event(self, kind):
            return self.modal(self.context, SimpleNamespace(type=kind))

        def closed(self):
            return Manager.asked[-2:] == ["event_timer_remove", "progress_end"]

    return Window


def endless(log):
    """A task without an end."""
    step = SimpleNamespace(fraction=0.5, stage="Working")
    try:
        while True:
            yield step
    finally:
        log.append("put back")


def test_in_a_window_only_the_timer_works_and_escape_puts_back(window_run):
    log = []
    run = window_run(endless(log))
    assert run.event("MOUSEMOVE") == {"RUNNING_MODAL"} and run.reports == []
    assert run.event("TIMER") == {"RUNNING_MODAL"}
    assert run.reports == [("STATUS", "Jounce: Working 50%   (ESC: stop)")]
    assert run.event("ESC") == {"CANCELLED"}
    assert log == ["put back"] and run.closed()
    assert run.reports[-1] == ("INFO", "Work was stopped; nothing was changed.")


def test_in_a_window_the_end_and_refusals_are_reported(window_run, module):
    def ending():
        yield from ()
        return "All done."

    def refusing():
        yield from ()
        raise module("core.common.user_error").UserError("It cannot be done.")

    for task, result, report in (
        (ending(), {"FINISHED"}, ("INFO", "All done.")),
        (refusing(), {"CANCELLED"}, ("ERROR", "It cannot be done.")),
    ):
        run = window_run(task)
        assert run.event("TIMER") == result
        assert run.reports[-1] == report and run.closed()


def test_builds_and_bakes_all_selected_bodies():
    first, _ = scenes.character()
    second = scenes.column("Second")
    second.location.x = 3.0
    second.keyframe_insert("location", frame=1)
    second.location.x = 4.0
    second.keyframe_insert("location", frame=5)
    scenes.settle_scene()
    for obj in (first, second):
        scenes.activate(obj)
        bpy.ops.jounce.add()
        scenes.coarse(obj)
    scenes.activate(first, second)
    bpy.ops.jounce.build()
    bpy.ops.jounce.bake()
    assert first.jounce.bake_keys > 0 and second.jounce.bake_keys > 0


def test_build_says_what_it_made():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    assert "tets" in obj.jounce.built_summary and "2 bones" in obj.jounce.built_summary


def test_a_body_that_changed_is_built_again(module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    digest = obj.jounce.built_digest
    obj.jounce.modes = 4
    bpy.ops.jounce.bake()
    assert obj.jounce.built_digest != digest
    assert module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest).model.mode_count <= 4


def test_motion_settings_need_no_new_build():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    digest = obj.jounce.built_digest
    obj.jounce.frequency, obj.jounce.damping, obj.jounce.substeps = 5.0, 0.5, 2
    bpy.ops.jounce.bake()
    assert obj.jounce.built_digest == digest


@pytest.mark.parametrize("steps", [1, 5, 14, 25])
def test_a_stopped_bake_changes_nothing(module, steps):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    bpy.context.scene.frame_set(4)
    before = (snapshot.snapshot(obj), snapshot.file_state())
    settings = obj.jounce.bake_settings("MODAL_KEYS", 1, 12)
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    for _ in range(steps):
        next(task)
    task.close()
    assert snapshot.differences(before[0], snapshot.snapshot(obj)) == []
    assert snapshot.differences(before[1], snapshot.file_state()) == []


def test_a_stopped_build_keeps_the_last_one(module):
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    bound, digest = tuple(obj.jounce.bind_matrix), obj.jounce.built_digest
    rig.location.x = 5.0
    bpy.context.view_layer.update()
    task = module("ops.build").build_body(obj, bpy.context, print)
    next(task)
    task.close()
    assert (tuple(obj.jounce.bind_matrix), obj.jounce.built_digest) == (bound, digest)


def two_bodies():
    """Two built, selected characters, moved since the build."""
    hosts, rigs = zip(*(scenes.character() for _ in range(2)), strict=True)
    for number, (host, rig) in enumerate(zip(hosts, rigs, strict=True)):
        scenes.add_and_build(host)
        rig.location.x = 5.0 + number
    bpy.context.view_layer.update()
    scenes.activate(*hosts)
    return hosts


def scale_away(host):
    host.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()


def make_keys_absolute(host):
    host.shape_key_add(name="Basis")
    host.data.shape_keys.use_relative = False


def make_of_a_material(host):
    host.jounce.stiffness_by = "PHYSICAL"


@pytest.mark.parametrize(
    ("name", "spoil"), [("build", scale_away), ("preview", make_keys_absolute), ("fit", make_of_a_material)]
)
def test_refused_at_the_second_body_it_keeps_nothing_of_the_first(name, spoil):
    first, second = two_bodies()
    spoil(second)
    if name == "preview":
        first.jounce.built_digest = ""
    if name == "fit":
        bpy.ops.jounce.build()
    before = snapshot.properties(first.jounce)
    with pytest.raises(RuntimeError, match=second.name):
        getattr(bpy.ops.jounce, name)()
    assert snapshot.properties(first.jounce) == before


def test_a_body_that_cannot_be_previewed_keeps_the_others_from_it():
    first, second = two_bodies()
    scenes.activate(second)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    first.jounce.built_digest = ""
    scenes.activate(first, second)
    with pytest.raises(RuntimeError, match="shows its bake"):
        bpy.ops.jounce.preview()
    assert not first.jounce.preview and not first.jounce.built_digest


def test_a_bake_that_fails_while_writing_leaves_no_part(module, monkeypatch):
    obj, _ = scenes.character()
    before = snapshot.snapshot(obj)
    scenes.add_and_build(obj)
    monkeypatch.setattr(module("bridge.keys.animation"), "write_fcurve", lambda *_: 1 / 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bpy.ops.jounce.bake()
    monkeypatch.undo()
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_warnings_are_reported_and_the_bake_goes_on(capfd):
    obj, _ = scenes.character()
    obj.vertex_groups.clear()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake()
    assert obj.jounce.bake_keys == 0
    assert "follows its object" in capfd.readouterr().out


def test_a_pinned_shape_key_is_said(capfd):
    obj, _ = scenes.character()
    obj.shape_key_add(name="Basis")
    obj.show_only_shape_key = True
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake()
    assert "shows only its active shape key" in capfd.readouterr().out
    assert obj.show_only_shape_key and obj.active_shape_key_index == 0


def test_an_armature_at_rest_is_said(capfd):
    obj, rig = scenes.character()
    rig.data.pose_position = "REST"
    scenes.add_and_build(obj)
    assert "Rig is in Rest Position" in capfd.readouterr().out


def test_the_armature_is_shown_as_it_was(module):
    obj, rig = scenes.character()
    for position in ("REST", "POSE"):
        rig.data.pose_position = position
        scenes.add_and_build(obj)
        assert rig.data.pose_position == position
