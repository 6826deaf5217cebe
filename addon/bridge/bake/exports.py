"""Sends baked bodies out of Blender, with the settings of its exporters that keep their shapes."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.settings import Target
from ...core.user_error import UserError
from ..body import bodies
from ..common import frames

KEYS = {Target.MODAL_KEYS.value, Target.FRAME_KEYS.value}
BONES = {Target.HELPER_BONES.value}


@dataclass(frozen=True)
class Asked:
    """What an exporter is told. is_rigged: bones and keys play. evaluated: as renders or viewports show."""

    is_rigged: bool
    evaluated: str


@dataclass(frozen=True)
class Format:
    """A kind of file. takes: the bakes that it can hold. build_option: that of Blender which writes it."""

    name: str
    suffix: str
    takes: frozenset[str]
    export: Callable[[Path, "Asked"], object]
    build_option: str = ""


def export_gltf(path: Path, _asked: Asked) -> None:
    """Armature and keys as one animation; four bones a vertex is all that helper bones have."""
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
    "USD": Format("USD", ".usdc", ALL, export_usd, "usd"),
    "ALEMBIC": Format("Alembic", ".abc", ALL, export_alembic, "alembic"),
}


def refuse_unfit(hosts: list[bpy.types.Object], kind: Format) -> None:
    """Refuses bodies that have no bake, or one that such a file cannot hold."""
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
    """What a body was baked to, empty without a bake."""
    if host.jounce.bake_copy is not None:
        return Target.HELPER_BONES.value
    return host.jounce.bake_target


def exported(hosts: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """The meshes that carry the bakes, and the armatures that move them."""
    found: dict[bpy.types.Object, None] = {}
    for host in hosts:
        for obj in bodies.members(host):
            mesh = obj.jounce.bake_copy or obj
            above = [modifier.object for modifier in mesh.modifiers if modifier.type == "ARMATURE"]
            found |= dict.fromkeys([mesh, mesh.parent, *above])
    return [obj for obj in found if obj is not None and obj.type in ("MESH", "ARMATURE")]


def write(hosts: list[bpy.types.Object], kind: Format, path: Path, context: bpy.types.Context) -> list[str]:
    """Writes a file beside its place, which it takes when it is whole; the names of what is in it."""
    objects = exported(hosts)
    unseen = [obj.name for obj in objects if not obj.visible_get()]
    if unseen:
        raise UserError(f"{unseen[0]} is hidden, and exporters leave out what is; show it first.")
    targets = {target_of(host) for host in hosts}
    # Renders leave copies with helper bones out.
    asked = Asked(targets <= KEYS | BONES, "VIEWPORT" if targets & BONES else "RENDER")
    part = path.with_name(f"{path.stem}.part{path.suffix}")
    try:
        with selected(objects, context), over_bake(hosts, context.scene):
            kind.export(part, asked)
        os.replace(part, path)
    except (RuntimeError, OSError) as error:
        with suppress(OSError):
            part.unlink()
        reason = str(error).strip().removeprefix("Error: ").rstrip(".")
        raise UserError(f"{path} cannot be written: {reason}.") from error
    return [obj.name for obj in objects]


@contextmanager
def selected(objects: list[bpy.types.Object], context: bpy.types.Context) -> Iterator[None]:
    """These objects alone as the selection, in Object Mode; what it was comes back."""
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
def over_bake(hosts: list[bpy.types.Object], scene: bpy.types.Scene) -> Iterator[None]:
    """The scene's frames are those of the bakes."""
    ranges = [tuple(host.jounce.bake_range) for host in hosts]
    before = scene.frame_start, scene.frame_end
    with frames.kept(scene):
        scene.frame_start = min(first for first, _ in ranges)
        scene.frame_end = max(last for _, last in ranges)
        try:
            yield
        finally:
            scene.frame_start, scene.frame_end = before
