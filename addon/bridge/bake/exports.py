"""Exports baked bodies from Blender with exporter settings that keep their shapes."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.common.user_error import UserError
from ...core.flesh.settings import Target
from ..body import bodies
from ..common import frames
from . import export_losses, usd_names

KEYS = {Target.MODAL_KEYS.value, Target.FRAME_KEYS.value}
BONES = {Target.HELPER_BONES.value}
# Loss, as a share of the size, above which a file shows another body.
ANOTHER = 0.02


@dataclass(frozen=True)
class Asked:
    """Options of an export. is_rigged: bones and keys play. evaluated: settings of renders or of
    viewports.
    """

    is_rigged: bool
    evaluated: str


@dataclass(frozen=True)
class Format:
    """A file format. takes: supported bakes. build_option: Blender's build option for the exporter.

    has_bones, has_shapes: True if the format supports keyed bones, and the shape of every frame.
    refuse_names: refuses object names that collide, in a rigged file or another one.
    """

    name: str
    suffix: str
    takes: frozenset[str]
    export: Callable[[Path, "Asked"], object]
    build_option: str = ""
    has_bones: bool = True
    has_shapes: bool = False
    refuse_names: Callable[[list[bpy.types.Object], bool], None] | None = None


@dataclass(frozen=True)
class Plan:
    """An export. objects: meshes with their bakes, and their armatures. sentences: about losses. span: first
    and last frame.
    """

    hosts: list[bpy.types.Object]
    objects: list[bpy.types.Object]
    kind: Format
    asked: Asked
    sentences: tuple[str, ...]
    span: tuple[int, int]


def export_gltf(path: Path, _asked: Asked) -> None:
    """Armature and keys as one animation; helper bones need no more than four bones per vertex."""
    bpy.ops.export_scene.gltf(
        filepath=str(path),
        use_selection=True,
        export_animation_mode="ACTIVE_ACTIONS",
        export_all_influences=True,
    )


def export_usd(path: Path, asked: Asked) -> None:
    """Bones and blend shapes, or whole shapes: with armatures, USD leaves node groups and mesh caches out."""
    bpy.ops.wm.usd_export(
        filepath=str(path),
        selected_objects_only=True,
        export_animation=True,
        export_armatures=asked.is_rigged,
        export_shapekeys=asked.is_rigged,
        evaluation_mode=asked.evaluated,
        allow_unicode=True,
    )


def export_alembic(path: Path, asked: Asked) -> None:
    """Whole shapes."""
    scene = bpy.context.scene
    bpy.ops.wm.alembic_export(
        filepath=str(path),
        start=scene.frame_start,
        end=scene.frame_end,
        selected=True,
        evaluation_mode=asked.evaluated,
        as_background_job=False,
    )


ALL = frozenset(target.value for target in Target)
FORMATS = {
    "GLTF": Format("glTF", ".glb", frozenset(KEYS | BONES), export_gltf),
    "USD": Format("USD", ".usdc", ALL, export_usd, "usd", True, True, usd_names.refuse_alike),
    "ALEMBIC": Format("Alembic", ".abc", ALL, export_alembic, "alembic", False, True),
}


def refuse_unfit(hosts: list[bpy.types.Object], kind: Format) -> None:
    """Refuses bodies without a bake, or with a bake that the format does not support."""
    if kind.build_option and not getattr(bpy.app.build_options, kind.build_option):
        raise UserError(f"This Blender was built without {kind.name}; use one from blender.org.")
    for host in hosts:
        target = target_of(host)
        if not target:
            raise UserError(f"{host.name} has no bake to export; bake it first.")
        if target not in kind.takes:
            raise UserError(
                f"{kind.name} holds shape keys and bones, not the bake of {host.name}; bake it to modal "
                "shape keys or helper bones, or export USD or Alembic."
            )


def target_of(host: bpy.types.Object) -> str:
    """The baked target of a body, empty without a bake."""
    if host.jounce.bake_copy is not None:
        return Target.HELPER_BONES.value
    return host.jounce.bake_target


def exported(hosts: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """The meshes with bakes, and the armatures that move them."""
    found: dict[bpy.types.Object, None] = {}
    for host in hosts:
        for obj in bodies.members(host):
            mesh = obj.jounce.bake_copy or obj
            above = [modifier.object for modifier in mesh.modifiers if modifier.type == "ARMATURE"]
            found |= dict.fromkeys([mesh, mesh.parent, *above])
    return [obj for obj in found if obj is not None and obj.type in ("MESH", "ARMATURE")]


def planned(hosts: list[bpy.types.Object], kind: Format, context: bpy.types.Context) -> Plan:
    """The export of some bodies; refuses an unsupported body, or one that would change its shape."""
    refuse_unfit(hosts, kind)
    objects = exported(hosts)
    refuse_unseen(objects)
    targets = {target_of(host) for host in hosts}
    is_rigged = kind.has_bones and targets <= KEYS | BONES
    lost = export_losses.losses(objects, span(hosts), context) if is_rigged else []
    worst = max((loss.share for loss in lost), default=0.0)
    is_another = worst > ANOTHER
    if not kind.has_shapes:
        refuse_another(kind, lost)
    if is_another:
        sentences = [
            f"{loss.mesh} is the shape of every frame, without bones, for {loss.words}." for loss in lost
        ]
    else:
        sentences = [loss.sentence for loss in lost]
    # Renders leave copies with helper bones out.
    asked = Asked(is_rigged and not is_another, "VIEWPORT" if targets & BONES else "RENDER")
    if kind.refuse_names is not None:
        kind.refuse_names(objects, asked.is_rigged)
    return Plan(hosts, objects, kind, asked, tuple(sentences), span(hosts))


def refuse_unseen(objects: list[bpy.types.Object]) -> None:
    """Refuses hidden objects."""
    unseen = [obj.name for obj in objects if not obj.visible_get()]
    if unseen:
        raise UserError(f"{unseen[0]} is hidden, and exporters leave hidden objects out; show it first.")


def refuse_another(kind: Format, lost: list[export_losses.Loss]) -> None:
    """Refuses losses that show another body, in a format without the shape of every frame."""
    loss = max(lost, key=lambda loss: loss.share, default=None)
    if loss is not None and loss.share > ANOTHER:
        raise UserError(
            f"{kind.name} holds {loss.mesh} without {loss.words}, and would show another body; apply or "
            "switch off what it lacks, or export USD or Alembic."
        )


def write(
    plan: Plan, path: Path, context: bpy.types.Context, finish: Callable[[Path], None] = lambda _: None
) -> list[str]:
    """Writes a file beside its place and moves the complete file there; returns the names of the contents.

    finish: completes the file before it is moved.
    """
    part = path.with_name(f"{path.stem}.part{path.suffix}")
    try:
        export(plan, plan.objects, part, context)
        finish(part)
        os.replace(part, path)
    except ExporterFailed as error:
        print(error, file=sys.stderr)
        where = culprits(plan, context)
        raise UserError(
            f"Blender's {plan.kind.name} exporter fails{where} ({error.reason}); the console has its report, "
            f"and {path.name} is not written."
        ) from error
    except (RuntimeError, OSError) as error:
        raise UserError(f"{path} cannot be written: {sentence_of(error)}.") from error
    finally:
        with suppress(OSError):
            part.unlink()
    return [obj.name for obj in plan.objects]


class ExporterFailed(Exception):
    """An exporter of Blender stopped with an internal exception."""

    @property
    def reason(self) -> str:
        """The exception in a line."""
        lines = [line for line in str(self).splitlines() if line[:1].isalpha() and ":" in line]
        named = [line for line in lines if not line.startswith(("Error:", "Location:", "Python:"))]
        return (named or ["no reason is given"])[-1].strip().rstrip(".")


def export(plan: Plan, objects: list[bpy.types.Object], path: Path, context: bpy.types.Context) -> None:
    """Has an exporter write some objects."""
    try:
        with selected(objects, context), over_frames(plan.span, context.scene):
            plan.kind.export(path, plan.asked)
    except RuntimeError as error:
        # Blender passes on the exceptions of its own scripts as text.
        if "Traceback" in str(error):
            raise ExporterFailed(str(error)) from error
        raise


def culprits(plan: Plan, context: bpy.types.Context) -> str:
    """Names of the objects on which an exporter fails separately, in a sentence; empty without any."""
    names = []
    with tempfile.TemporaryDirectory() as folder:
        for number, obj in enumerate(plan.objects):
            try:
                export(plan, [obj], Path(folder) / f"{number}{plan.kind.suffix}", context)
            except ExporterFailed:
                names.append(obj.name)
            except RuntimeError:
                continue
    return f" on {', '.join(names)}" if names else ""


def sentence_of(error: Exception) -> str:
    """First line of an error's text."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = [line.strip().removeprefix("Error: ").rstrip(".") for line in str(error).splitlines()]
    return next(filter(None, lines), type(error).__name__)


@contextmanager
def selected(objects: list[bpy.types.Object], context: bpy.types.Context) -> Iterator[None]:
    """These objects as the only selection, in Object Mode; restores the earlier selection and mode."""
    layer = context.view_layer
    active, before = layer.objects.active, list(context.selected_objects)
    mode = "OBJECT" if active is None else active.mode
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        select(objects, before)
        layer.objects.active = objects[0]
        yield
    finally:
        select(before, objects)
        layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)


def select(objects: list[bpy.types.Object], others: list[bpy.types.Object]) -> None:
    """Selects objects in place of others."""
    for obj in others:
        obj.select_set(False)
    for obj in objects:
        obj.select_set(True)


@contextmanager
def over_frames(span: tuple[int, int], scene: bpy.types.Scene) -> Iterator[None]:
    """Sets the scene's frame range."""
    before = scene.frame_start, scene.frame_end
    with frames.kept(scene):
        scene.frame_start, scene.frame_end = span
        try:
            yield
        finally:
            scene.frame_start, scene.frame_end = before


def span(hosts: list[bpy.types.Object]) -> tuple[int, int]:
    """The first and the last frame of all bakes."""
    ranges = [tuple(host.jounce.bake_range) for host in hosts]
    return min(first for first, _ in ranges), max(last for _, last in ranges)
