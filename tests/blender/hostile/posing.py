"""Influences on a mesh's pose beside bones and stored weights, and scripts that change the display
of a bake.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy
import posed
import scenes

from .hand import Hand
from .row import refuses, works

NOT_KEYS = ("SKINNING_NODES", "MESH_CACHE", "HELPER_BONES")


@contextmanager
def scripted(before_frame: Callable[..., None]) -> Iterator[None]:
    """While a script of the artist's runs before each frame."""
    bpy.app.handlers.frame_change_pre.append(before_frame)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_pre.remove(before_frame)


@works
def live_weights(jounce: Hand) -> None:
    """Weights from a Data Transfer of another mesh."""
    obj, _ = scenes.character()
    posed.live_weights(obj)
    jounce.live(obj)


@works
def a_cached_character(jounce: Hand) -> None:
    """A character played from a cache of the artist's, without an armature."""
    obj, _ = scenes.character()
    posed.cached(obj, jounce.folder)
    scenes.settle_scene()
    jounce.live(obj, targets=NOT_KEYS)


@works
def nodes_by_the_time(jounce: Hand) -> None:
    """Geometry Nodes that bend a mesh by the time."""
    obj = scenes.column()
    obj.modifiers.new("Waving", "NODES").node_group = posed.waving()
    scenes.settle_scene()
    jounce.live(obj, targets=NOT_KEYS)


@works
def rigs_exchanged_in_mid_shot(jounce: Hand) -> None:
    """Two armatures, with one on while the other is off."""
    jounce.live(posed.swapped(), targets=NOT_KEYS)


@works
def a_key_muted_for_a_while(jounce: Hand) -> None:
    """A shape key with a keyed mute."""
    obj, _ = scenes.character()
    posed.key_mute(obj)
    scenes.settle_scene()
    jounce.live(obj)


@works
def a_subdivision_shown_for_a_while(jounce: Hand) -> None:
    """A subdivision after the armature with a keyed switch."""
    obj, _ = scenes.character()
    finer = obj.modifiers.new("Finer", "SUBSURF")
    for frame, shown in ((1, False), (6, True)):
        finer.show_viewport = shown
        finer.keyframe_insert("show_viewport", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@refuses
def keyed_vertices(jounce: Hand) -> None:
    """Keyed vertices on the mesh itself: no shape keys, all other bakes."""
    obj, _ = scenes.character()
    posed.key_vertices(obj)
    scenes.settle_scene()
    jounce.live(obj, targets=NOT_KEYS)
    jounce.refused("bake", "animated vertices", obj, target="MODAL_KEYS")


@refuses
def a_mesh_exchanged_in_mid_shot(jounce: Hand) -> None:
    """A script that gives an object another mesh during the shot."""
    obj, _ = scenes.character()
    whole, half = obj.data, scenes.column("Half", rings=6).data
    jounce.add(obj)
    jounce.build(obj)

    def exchange(scene: bpy.types.Scene, *_: object) -> None:
        obj.data = half if scene.frame_current >= 6 else whole

    with scripted(exchange):
        jounce.refused("bake", "another mesh in frame 6", obj, target="SKINNING_NODES")
        jounce.preview(obj)
        jounce.scrub(obj)
        jounce.preview(obj)
    jounce.bake("MODAL_KEYS", obj)


@refuses
def a_bake_hidden_by_a_script(jounce: Hand) -> None:
    """A script that mutes the shape keys of a bake from frame 6 on."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)

    def mute(scene: bpy.types.Scene, *_: object) -> None:
        keys = () if obj.data.shape_keys is None else obj.data.shape_keys.key_blocks
        for key in keys:
            key.mute = key.name.startswith("jounce") and scene.frame_current >= 6

    with scripted(mute):
        jounce.refused("bake", "was taken back", obj, target="FRAME_KEYS")
        jounce.bake("SKINNING_NODES", obj)
