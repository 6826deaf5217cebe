"""Force fields against Blender's own: the acceleration of particles, from rest and in motion."""

import bpy
import numpy as np
import pytest
import scenes

# Blender's particles take their settings' time step a frame, at this frame rate.
STEP = 0.04
PLACES = np.random.default_rng(1).uniform(-2.0, 2.0, (12, 3)).astype(np.float32)
FIELDS = [
    ("WIND", {}),
    ("WIND", {"falloff_type": "TUBE", "radial_falloff": 1.0, "falloff_power": 0.5}),
    ("WIND", {"falloff_type": "CONE", "use_radial_max": True, "radial_max": 60.0}),
    ("FORCE", {}),
    ("FORCE", {"shape": "PLANE"}),
    ("FORCE", {"shape": "LINE"}),
    ("FORCE", {"shape": "PLANE", "z_direction": "POSITIVE"}),
    ("FORCE", {"falloff_power": 2.0}),
    ("FORCE", {"use_gravity_falloff": True}),
    ("FORCE", {"falloff_power": 1.0, "use_min_distance": True, "distance_min": 1.0}),
    ("FORCE", {"use_max_distance": True, "distance_max": 2.5}),
    ("VORTEX", {"shape": "POINT"}),
    ("VORTEX", {"shape": "POINT", "falloff_power": 1.0}),
    ("VORTEX", {"shape": "PLANE"}),
    ("VORTEX", {"shape": "PLANE", "falloff_power": 1.0}),
    ("VORTEX", {"shape": "PLANE", "falloff_type": "TUBE", "radial_falloff": 1.0}),
    ("TURBULENCE", {"size": 0.7}),
    ("TURBULENCE", {"size": 0.7, "use_global_coords": True}),
    ("TURBULENCE", {"size": 0.0, "use_global_coords": True}),
    ("HARMONIC", {}),
    ("HARMONIC", {"rest_length": 0.5}),
    ("HARMONIC", {"rest_length": 0.5, "shape": "PLANE"}),
]
MOVING = [
    ("WIND", {"flow": 1.5}),
    ("WIND", {"flow": 0.8, "falloff_type": "TUBE", "radial_falloff": 1.0, "falloff_power": 0.5}),
    ("FORCE", {"flow": 2.0, "falloff_power": 2.0, "use_max_distance": True, "distance_max": 2.5}),
    ("FORCE", {"flow": 0.5, "shape": "PLANE", "z_direction": "POSITIVE"}),
    ("VORTEX", {"flow": 0.7, "shape": "POINT", "falloff_power": 1.0}),
    ("VORTEX", {"shape": "PLANE"}),
    ("VORTEX", {"flow": 0.7, "shape": "PLANE", "use_max_distance": True, "distance_max": 2.0}),
    ("TURBULENCE", {"flow": 1.0, "size": 0.7}),
    ("HARMONIC", {"harmonic_damping": 0.6, "rest_length": 0.5, "flow": 1.0}),
    ("HARMONIC", {"harmonic_damping": 0.6, "use_max_distance": True, "distance_max": 2.0}),
    ("HARMONIC", {"harmonic_damping": 0.6, "falloff_power": 1.0, "strength": -3.0}),
    ("DRAG", {"linear_drag": 1.2, "quadratic_drag": 0.0}),
    ("DRAG", {"linear_drag": 0.0, "quadratic_drag": 1.7}),
    ("DRAG", {"linear_drag": 0.3, "quadratic_drag": 0.9, "falloff_power": 1.5, "flow": 1.0}),
    (
        "DRAG",
        {
            "linear_drag": 0.3,
            "quadratic_drag": 0.9,
            "shape": "PLANE",
            "use_max_distance": True,
            "distance_max": 1.0,
        },
    ),
]


def add_field(kind, settings):
    """A field of strength 3, rotated and moved; by default independent of velocities."""
    bpy.ops.object.effector_add(type=kind, location=(0.2, -0.1, 0.3), rotation=(0.3, 0.5, 0.2))
    field = bpy.context.object.field
    for name, value in ({"strength": 3.0, "flow": 0.0, "harmonic_damping": 0.0} | settings).items():
        setattr(field, name, value)
    return bpy.context.object


def accelerations(places, velocity=(0.0, 0.0, 0.0)):
    """Blender's effect on particles of 1 kg with a starting velocity at these places, (k, 3)."""
    scene = bpy.context.scene
    emitter = scenes.mesh_object("Emitter", places.tolist(), [(0, 1, 2)])
    scenes.activate(emitter)
    bpy.ops.object.particle_system_add()
    settings = emitter.particle_systems[0].settings
    values = {
        "count": len(places),
        "emit_from": "VERT",
        "use_emit_random": False,
        "frame_start": 1,
        "frame_end": 1,
        "lifetime": 100,
        "normal_factor": 0.0,
        "object_align_factor": velocity,
        "mass": 1.0,
        "integrator": "EULER",
        "timestep": STEP,
    }
    for name, value in values.items():
        setattr(settings, name, value)
    settings.effector_weights.gravity = 0.0
    for frame in (1, 2):
        scene.frame_set(frame)
    evaluated = emitter.evaluated_get(bpy.context.evaluated_depsgraph_get())
    after = np.array([particle.velocity for particle in evaluated.particle_systems[0].particles])
    return (after - np.float32(velocity)) / STEP


@pytest.mark.parametrize(("kind", "settings"), FIELDS)
def test_a_field_accelerates_what_rests_as_in_blender(module, kind, settings):
    field = add_field(kind, settings)
    forces = module("bridge.loads.force_fields")
    assert forces.is_followed(field)
    bpy.context.view_layer.update()
    ours = forces.read_field(field).acceleration(PLACES.astype(float), forces.turbulence)
    theirs = accelerations(PLACES)
    assert np.abs(theirs).max() > 0.1
    assert np.abs(ours - theirs).max() < 1e-4 * np.abs(theirs).max()


@pytest.mark.parametrize("velocity", [(1.5, -0.4, 0.8), (-0.2, 3.0, 4.0)])
@pytest.mark.parametrize(("kind", "settings"), MOVING)
def test_a_field_brakes_what_moves_as_in_blender(module, kind, settings, velocity):
    field = add_field(kind, settings)
    forces = module("bridge.loads.force_fields")
    assert forces.is_followed(field)
    assert forces.left_out(field) == ""
    bpy.context.view_layer.update()
    places, read = PLACES.astype(float), forces.read_field(field)
    resistance = read.resistance(places)
    factor = resistance.linear + resistance.quadratic * np.linalg.norm(velocity)
    ours = read.acceleration(places, forces.turbulence) - np.outer(factor, velocity)
    theirs = accelerations(PLACES, velocity)
    assert factor.max() > 0.1
    assert np.abs(ours - theirs).max() < 1e-4 * np.abs(theirs).max()


def test_noise_is_spread_as_in_blender_and_the_same_in_a_frame(module):
    forces = module("bridge.loads.force_fields")
    # Blender gives a new field a seed by the clock.
    field = add_field("WIND", {"noise": 1.0, "seed": 5})
    many = np.random.default_rng(2).uniform(-1.0, 1.0, (2000, 3)).astype(np.float32)
    axis = np.array(field.matrix_world)[:3, 2]
    theirs = accelerations(many) @ axis - 3.0
    ours, others = forces.drawn(field.field.seed, 7, (2, len(many)))
    assert not np.array_equal(ours, others)
    assert np.array_equal(ours, forces.drawn(field.field.seed, 7, (2, len(many)))[0])
    assert not np.array_equal(ours, forces.drawn(field.field.seed, 8, (2, len(many)))[0])
    # The Kolmogorov-Smirnov distance: two samples of one distribution exceed this once in a hundred draws.
    values = np.concatenate((ours, theirs))
    below = [np.searchsorted(np.sort(sample), values, side="right") for sample in (ours, theirs)]
    assert np.abs(below[0] - below[1]).max() / len(many) < 1.63 * np.sqrt(2.0 / len(many))


def test_drag_below_zero_is_a_finding(module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    field = add_field("DRAG", {"linear_drag": 1.0, "quadratic_drag": 1.0})
    add_field("HARMONIC", {"harmonic_damping": 0.5, "flow": 1.0})
    diagnosis = module("bridge.body.diagnosis")

    def said():
        return [finding.sentence for finding in diagnosis.findings(obj, bpy.context)]

    assert not [sentence for sentence in said() if "field" in sentence]
    # Blender's quadratic drag acts linearly.
    field.field.quadratic_drag = -1.0
    assert [sentence for sentence in said() if field.name in sentence and "below 0" in sentence]
    resistance = module("bridge.loads.force_fields").read_field(field).resistance(PLACES.astype(float))
    assert not resistance.linear.any()
    assert resistance.quadratic.any()
