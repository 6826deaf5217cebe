"""An artist's work with Jounce, by hand: every step checks conditions valid in any scene."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
import scenes
import snapshot

from . import state

KEYS = ("MODAL_KEYS", "FRAME_KEYS")
EXACT = ("FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE")
TARGETS = ("MODAL_KEYS", "FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE", "HELPER_BONES")
# Shares of the size. Modal keys have a tolerance of 0.002; the part beyond helper bones is not small.
LARGEST_ERRORS = {target: 1e-5 for target in EXACT} | {"MODAL_KEYS": 2.1e-3, "HELPER_BONES": 0.2}


class Hand:
    """No hand at all: the artist works without Jounce. `Jounce` replaces these methods."""

    is_there = False

    def __init__(self, folder: Path) -> None:
        """folder: an empty folder for the scene's files."""
        self.folder = folder
        self.sentences: list[str] = []
        self.error = 0.0

    def add(self, host: bpy.types.Object, *others: bpy.types.Object) -> None:
        """Makes a body of meshes, with settings that build in a moment."""

    def build(self, *hosts: bpy.types.Object) -> None:
        """Builds bodies."""

    def preview(self, *hosts: bpy.types.Object) -> None:
        """Switches the previews of bodies on, or off."""

    def fill(self, *hosts: bpy.types.Object) -> None:
        """Fills the caches of previewed bodies."""

    def scrub(self, *objects: bpy.types.Object) -> None:
        """Goes through the frames; the meshes stay finite."""

    def bake(self, target: str, *hosts: bpy.types.Object) -> None:
        """Bakes bodies, accurately."""

    def free(self, *hosts: bpy.types.Object) -> None:
        """Frees the bakes of bodies."""

    def remove(self, *hosts: bpy.types.Object) -> None:
        """Takes Jounce off bodies."""

    def call(self, operator: str, *objects: bpy.types.Object, **arguments: object) -> None:
        """Calls one of Jounce's operators on objects, the first one active."""

    def attempt(self, operator: str, *objects: bpy.types.Object, **arguments: object) -> None:
        """Calls an operator, which succeeds or is refused in one sentence."""

    def refused(self, operator: str, words: str, *objects: bpy.types.Object, **arguments: object) -> None:
        """Calls an operator that refuses in one sentence with these words, and changes nothing."""

    def live(
        self, host: bpy.types.Object, *others: bpy.types.Object, targets: tuple[str, ...] = TARGETS
    ) -> None:
        """A whole life: a body is added, built, previewed, baked to each target and freed again."""

    def finish(self) -> None:
        """Frees and removes every body of the file."""


class Jounce(Hand):
    """The hand with Jounce."""

    is_there = True

    def add(self, host: bpy.types.Object, *others: bpy.types.Object) -> None:
        """Makes a body of meshes, with settings that build in a moment."""
        self.call("add", host, *others)
        scenes.coarse(host)
        host.jounce.cache_folder = str(self.folder)

    def build(self, *hosts: bpy.types.Object) -> None:
        """Builds bodies."""
        self.call("build", *hosts)

    def preview(self, *hosts: bpy.types.Object) -> None:
        """Switches the previews of bodies on, or off."""
        self.call("preview", *hosts)

    def fill(self, *hosts: bpy.types.Object) -> None:
        """Fills the caches of previewed bodies."""
        self.call("fill_cache", *hosts)

    def scrub(self, *objects: bpy.types.Object) -> None:
        """Goes through the frames; the meshes stay finite."""
        scene = bpy.context.scene
        current, between = scene.frame_current, scene.frame_subframe
        for frame in (scene.frame_start, scene.frame_start + 7, scene.frame_end, scene.frame_start + 3):
            scene.frame_set(frame)
            for obj in objects:
                assert np.isfinite(scenes.evaluated(obj)).all(), f"{obj.name} is not finite in frame {frame}"
        scene.frame_set(current, subframe=between)

    def bake(self, target: str, *hosts: bpy.types.Object) -> None:
        """Bakes bodies, accurately."""
        self.call("bake", *hosts, target=target)
        for host in hosts:
            error, allowed = host.jounce.bake_error, LARGEST_ERRORS[target] + rounding(host)
            assert 0.0 <= error <= allowed, f"{target} of {host.name} is off by {error}"
            if target != "HELPER_BONES":
                self.error = max(self.error, error)
        self.scrub(*hosts)

    def free(self, *hosts: bpy.types.Object) -> None:
        """Frees the bakes of bodies."""
        self.call("free_bake", *hosts)

    def remove(self, *hosts: bpy.types.Object) -> None:
        """Takes Jounce off bodies."""
        self.call("remove", *hosts)

    def call(self, operator: str, *objects: bpy.types.Object, **arguments: object) -> None:
        """Calls one of Jounce's operators on objects, the first one active."""
        with choosing(*objects):
            getattr(bpy.ops.jounce, operator)(**arguments)

    def attempt(self, operator: str, *objects: bpy.types.Object, **arguments: object) -> None:
        """Calls an operator, which succeeds or is refused in one sentence."""
        try:
            self.call(operator, *objects, **arguments)
        except RuntimeError as error:
            only_sentence(str(error))

    def refused(self, operator: str, words: str, *objects: bpy.types.Object, **arguments: object) -> None:
        """Calls an operator that refuses in one sentence with these words, and changes nothing."""
        with choosing(*objects):
            before = state.whole_file()
            try:
                getattr(bpy.ops.jounce, operator)(**arguments)
            except RuntimeError as error:
                sentence = only_sentence(str(error))
            else:
                raise AssertionError(f"{operator} was not refused")
            changed = snapshot.differences(before, state.whole_file())
        assert words in sentence, f"{words!r} is not in: {sentence}"
        assert not changed, f"refused, {operator} changed {changed[:5]}"
        self.sentences.append(sentence)

    def live(
        self, host: bpy.types.Object, *others: bpy.types.Object, targets: tuple[str, ...] = TARGETS
    ) -> None:
        """A whole life: a body is added, built, previewed, baked to each target and freed again."""
        self.add(host, *others)
        self.build(host)
        self.preview(host)
        self.scrub(host, *others)
        self.fill(host)
        self.preview(host)
        for target in targets:
            self.bake(target, host)
        self.free(host)

    def finish(self) -> None:
        """Frees and removes every body of the file."""
        layer = bpy.context.view_layer.objects
        for name in [obj.name_full for obj in layer if is_ours(obj)]:
            for operator in ("free_bake", "remove"):
                obj = next((obj for obj in layer if obj.name_full == name), None)
                if obj is not None and is_ours(obj):
                    self.attempt(operator, obj)


def rounding(obj: bpy.types.Object) -> float:
    """The step between neighbouring coordinates in single precision, as a share of the mesh's size."""
    points = np.array([vertex.co for vertex in obj.data.vertices])
    return float(np.spacing(np.float32(np.abs(points).max())) / np.linalg.norm(np.ptp(points, axis=0)))


def is_ours(obj: bpy.types.Object) -> bool:
    """True if an object belongs to a body, or did until its host was deleted; the query leaves no trace."""
    is_local = obj.library is None and obj.override_library is None
    return obj.is_property_set("jounce") and (
        obj.jounce.is_host or obj.jounce.host is not None or (is_local and obj.jounce.is_property_set("host"))
    )


def only_sentence(report: str) -> str:
    """The one sentence of a refusal, or of a greyed button."""
    lines = [line for line in report.splitlines() if line.startswith(("Error: ", "Operator bpy.ops.jounce."))]
    assert len(lines) == 1 and lines[0].endswith("."), f"no single sentence: {report}"
    return lines[0].removeprefix("Error: ").rpartition(".poll() ")[2]


@contextmanager
def choosing(*objects: bpy.types.Object) -> Iterator[None]:
    """Selects objects, the first one active, and restores the artist's own selection.

    The selection stays during Jounce's work.
    """
    before, layer = chosen(), bpy.context.view_layer
    choose(objects[0].name_full, {obj.name_full for obj in objects})
    during, frame = chosen(), bpy.context.scene.frame_current_final
    try:
        yield
    finally:
        assert bpy.context.view_layer == layer and bpy.context.scene.frame_current_final == frame
        assert chosen() == during, f"{during} were chosen, now {chosen()}"
        choose(*before)


def chosen() -> tuple[str | None, set[str]]:
    """The names of the active object and the selected ones."""
    layer = bpy.context.view_layer
    selected = {obj.name_full for obj in layer.objects if obj.select_get(view_layer=layer)}
    return snapshot.name_of(layer.objects.active), selected


def choose(active: str | None, selected: set[str]) -> None:
    """Activates one object and selects some."""
    layer = bpy.context.view_layer
    for obj in layer.objects:
        if obj.select_get(view_layer=layer) != (obj.name_full in selected):
            obj.select_set(obj.name_full in selected, view_layer=layer)
    layer.objects.active = next((obj for obj in layer.objects if obj.name_full == active), None)
