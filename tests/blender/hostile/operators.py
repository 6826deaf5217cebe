"""Every operator of Jounce, called on random bodies; refusals are one sentence."""

from collections.abc import Callable
from random import Random

import bpy
import numpy as np
import scenes

from . import artist
from .hand import TARGETS, Hand, choosing

Step = Callable[[Hand, Random], None]


def chosen(chance: Random) -> list[bpy.types.Object]:
    """Some of the artist's characters, or their armature."""
    found = artist.bodies() + (artist.rigs() if chance.random() < 0.2 else [])
    return chance.sample(found, min(len(found), chance.choice((1, 1, 1, 2, 3))))


def attempt(hand: Hand, chance: Random, operator: str, **arguments: object) -> None:
    """Calls an operator on bodies taken by chance."""
    objects = chosen(chance)
    if objects:
        hand.attempt(operator, *objects, **arguments)


def simple(operator: str, **choices: tuple) -> Step:
    """A step that calls an operator with random arguments."""

    def step(hand: Hand, chance: Random) -> None:
        attempt(hand, chance, operator, **{name: chance.choice(found) for name, found in choices.items()})

    step.__name__ = operator
    return step


def add(hand: Hand, chance: Random) -> None:
    """Makes a body that builds in a moment."""
    attempt(hand, chance, "add")
    if hand.is_there:
        for obj in bpy.context.view_layer.objects:
            if obj.is_property_set("jounce") and obj.jounce.is_host:
                scenes.coarse(obj)
                obj.jounce.cache_folder = chance.choice(("//", str(hand.folder)))


def change_settings(hand: Hand, chance: Random) -> None:
    """Changes the settings of a body."""
    obj = artist.one(chance, artist.bodies())
    value = {
        "frequency": chance.uniform(1.0, 9.0),
        "softness": chance.uniform(0.3, 4.0),
        "preset": chance.choice(("Cartoon", "Jelly")),
        "bone_core": 0.5,
        "damping": 0.5,
        "modes": chance.randint(3, 8),
        "loop": False,
        "exaggerate": chance.uniform(0.0, 3.0),
        "lag": chance.uniform(-6.0, 6.0),
        "follow_through": chance.uniform(0.1, 4.0),
    }
    name = chance.choice(tuple(value))
    if hand.is_there and obj is not None and obj.is_property_set("jounce"):
        setattr(obj.jounce, name, value[name])
        for part in obj.jounce.parts:
            part.amount, part.mute = chance.uniform(0.0, 3.0), chance.random() < 0.3


def play(hand: Hand, chance: Random) -> None:
    """Plays some frames, with only finite results."""
    scene = bpy.context.scene
    before = scene.frame_current, scene.frame_subframe
    frames = [chance.randint(1, 12) for _ in range(3)]
    if hand.is_there:
        for frame in frames:
            scene.frame_set(frame)
            for obj in artist.bodies():
                assert np.isfinite(scenes.evaluated(obj)).all(), f"{obj.name} is not finite"
    scene.frame_set(before[0], subframe=before[1])


def direct(hand: Hand, chance: Random) -> None:
    """Shows a body and keys what it shows, for another frame.

    Sculpting is left out: Blender links its brushes in Sculpt Mode, which is no change by Jounce.
    """
    obj, frame = artist.one(chance, artist.bodies()), chance.randint(1, 12)
    if hand.is_there and obj is not None:
        hand.attempt("preview", obj, show="FLESH")
        hand.attempt("key_flesh", obj)
        if obj.is_property_set("jounce") and obj.jounce.flesh_key is not None:
            obj.jounce.flesh_key.frame = frame


def slide(hand: Hand, chance: Random) -> None:
    """Puts a shape of the panel Inside onto a body, by its slider."""
    obj = artist.one(chance, artist.bodies())
    family, number = chance.choice(("SKINNING", "LINEAR", "DERIVATIVES")), chance.randint(1, 40)
    share = chance.choice((-1.0, 0.0, 0.5))
    if hand.is_there and obj is not None:
        settings = bpy.context.window_manager.jounce
        with choosing(obj):
            settings.family, settings.number, settings.scrub = family, number, share
            assert np.isfinite(scenes.evaluated(obj)).all(), f"{obj.name} is not finite"


def bake_missing(hand: Hand, chance: Random) -> None:
    """Bakes every body without a bake."""
    attempt(hand, chance, "bake", missing=True)


KINDS = ("STIFFNESS", "LEAK", "PIN", "STRENGTH", "MUSCLE")
# Steps with the largest changes to a file come most often.
OFTEN: tuple[Step, ...] = (
    add,
    play,
    simple("build"),
    simple("preview"),
    simple("fill_cache"),
    simple("bake", target=TARGETS),
    simple("bake", target=TARGETS),
    simple("free_bake"),
)
STEPS: tuple[Step, ...] = (
    *(3 * OFTEN),
    change_settings,
    simple("clear_cache"),
    bake_missing,
    simple("bake_actions", strips=(True, False)),
    simple("remove"),
    simple("setup"),
    simple("fit"),
    simple("diagnose"),
    simple("map_add", kind=KINDS),
    simple("map_from_selection", kind=KINDS),
    simple("map_from_bones", kind=KINDS),
    simple("map_from_sphere", kind=KINDS),
    simple("map_smooth", kind=KINDS),
    simple("map_mirror", kind=KINDS),
    simple("maps_copy"),
    simple("settings_copy"),
    simple("muscle_add"),
    simple("muscle_remove", muscle=(1, 2)),
    simple("part_add", where=("SELECTION", "BONES", "CURSOR")),
    simple("part_remove"),
    simple("bone_leak"),
    simple("stitch_selected"),
    simple("stitch_nearest"),
    simple("stitch_groups", group_a=("Upper",), group_b=("Lower",)),
    simple("stitch_remove"),
    simple("sew", distance=(100.0,)),
    simple("clips_list"),
    simple("clip_assign"),
    simple("clips_bake"),
    simple("override"),
    simple("grab"),
    simple("key_flesh"),
    direct,
    direct,
    simple("key_remove"),
    simple("key_drag"),
    simple("direction_add"),
    simple("direction_remove"),
    simple("flex_mode"),
    simple("linear_modes"),
    slide,
    simple("fit_again"),
    simple("measure_frame"),
)
