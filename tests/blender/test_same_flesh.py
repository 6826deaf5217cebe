"""*Add Jounce*, before it fits the flesh to a shot, gives the flesh that `Body` has by default."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
from dressed import rig

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bipeds


def character():
    """The biped as one mesh on its armature."""
    points, triangles, weights = bipeds.merged(list(bipeds.body().values()))
    obj = scenes.mesh_object("Body", points.tolist(), triangles.tolist())
    for name, column in zip(bipeds.NAMES, weights.T, strict=True):
        group = obj.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(column).tolist():
            group.add([vertex], column[vertex], "REPLACE")
    armature = rig()
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    obj.parent = armature
    return obj


def usual(points, triangles, weights, bones):
    """The body that the module makes of the biped. bones: of the weights' columns, by number."""
    import jounce

    parents = [bones.index(above) if above >= 0 else -1 for above in bipeds.PARENTS[bones]]
    core = jounce.SkeletonCore(
        bipeds.HEADS[bones].astype(np.float32),
        parents,
        names=[bipeds.NAMES[bone] for bone in bones],
        rigid=jounce.SkeletonCore.hard_points(points, triangles, weights),
    )
    return jounce.Body(points, triangles, weights, core=core, bone_parents=parents)


def test_add_jounce_gives_the_flesh_of_body(module):
    import jounce

    host, context = character(), bpy.context
    module("ops.add").add_body(host, [], context, print)
    module("ops.setup").choose(host, context, print)
    bodies, cache = module("bridge.body.bodies"), module("core.body.built_bodies")
    surface = bodies.read(host, context, print).surface
    settings = host.jounce.build_settings()
    for _ in cache.build(surface, settings):
        pass
    body = cache.CACHE.get(surface.digest(settings))

    points, triangles, _ = bipeds.merged(list(bipeds.body().values()))
    assert np.array_equal(surface.points, points) and np.array_equal(surface.triangles, triangles)
    plain = usual(points, triangles, surface.weights, [bipeds.NAMES.index(it) for it in surface.core.names])
    assert body.parts == plain.parts and len(body.parts) > 3
    assert np.array_equal(body.core_share, plain.core_share)
    assert body.model.to_bytes() == plain.model.to_bytes()

    motion = module("core.stepping.motion")
    simulation = motion.simulation(body, host.jounce.motion_settings(), 1 / 24, np.zeros(3))
    other = jounce.Simulation(plain.model, dt=1 / 24, **jounce.standard.motion(plain.mesh))
    # Properties of Blender have 32 bits.
    numbers = {name: it for name, it in other.settings.items() if isinstance(it, float)}
    assert {name: simulation.settings[name] for name in numbers} == pytest.approx(numbers, rel=1e-6)
    assert simulation.settings | numbers == other.settings
