"""Enables the Jounce extension, and calls its operators as a script or an artist does."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

import bpy

MODULE = "bl_ext.user_default.jounce"


class Missing(Exception):
    """The extension is missing; the message is a sentence with the remedy."""


@dataclass
class Flesh:
    """Cost and results of adding, building and baking."""

    summary: str
    build_seconds: float
    bake_seconds: float
    keys: int
    error: float


def enable(package: Path | None) -> None:
    """Install the extension from its zip, or enable the installed one.

    Raises Missing if there is neither.
    """
    if package is not None:
        bpy.ops.extensions.package_install_files(
            repo="user_default", filepath=str(package.resolve()), enable_on_install=True, overwrite=True
        )
    if not hasattr(bpy.types.Object, "jounce") and MODULE not in bpy.context.preferences.addons:
        with contextlib.suppress(RuntimeError):
            bpy.ops.preferences.addon_enable(module=MODULE)
    if not hasattr(bpy.types.Object, "jounce"):
        raise Missing("The Jounce extension is not installed; pass its zip with --extension.")


def select(meshes: list[bpy.types.Object]) -> None:
    """Make the meshes of a body the selection and its host the active object."""
    for other in bpy.context.selected_objects:
        other.select_set(False)
    for mesh in meshes:
        mesh.select_set(True)
    bpy.context.view_layer.objects.active = meshes[0]


def added(armature: bpy.types.Object, body: list[bpy.types.Object], frame: int) -> bpy.types.Object:
    """The host of a character's body after Add Jounce at a frame, selected; it moves as a draft."""
    bpy.context.scene.frame_set(frame)
    select([armature])
    bpy.ops.jounce.setup()
    host = next(mesh for mesh in body if mesh.jounce.is_host)
    host.jounce.quality = "DRAFT"
    select([host])
    return host


def add_flesh(meshes: list[bpy.types.Object], frames: range, target: str, **settings: float | str) -> Flesh:
    """Add Jounce with its button and bake over a range of frames; `settings` are of `object.jounce`.

    Errors of the operators are raised as RuntimeError.
    """
    select(meshes)
    started = time.perf_counter()
    bpy.ops.jounce.setup()
    for name, value in settings.items():
        setattr(meshes[0].jounce, name, value)
    if settings:
        bpy.ops.jounce.build()
    built = time.perf_counter()
    bpy.ops.jounce.bake(target=target, frame_start=frames.start, frame_end=frames.stop - 1)
    baked = time.perf_counter()
    return Flesh(
        summary=meshes[0].jounce.built_summary,
        build_seconds=built - started,
        bake_seconds=baked - built,
        keys=max(mesh.jounce.bake_keys for mesh in meshes),
        error=max(mesh.jounce.bake_error for mesh in meshes),
    )
