"""Every public class pickles and copies, or says in one sentence why it does not."""

import copy
import inspect
import pickle

import jounce
import numpy as np
import pytest

CLASSES = {name: thing for name in jounce.__all__ if inspect.isclass(thing := getattr(jounce, name))}
# Groups of keyword arguments: dictionaries, without a class of their own.
GROUPS = {name for name, thing in CLASSES.items() if issubclass(thing, dict)}
REFUSED = {
    "Player": "make another one of the same model",
    **{name: "pickle its result" for name, thing in CLASSES.items() if issubclass(thing, jounce.Job)},
}
FRAMES = 12


def again(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(scope="module")
def parts():
    """A bar, its body, a loose one, linear modes, a reduced model, and a simulation on its way."""
    points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    mesh, material = body.mesh, jounce.Material(2e4)
    modes = jounce.linear_modes(mesh, material, 4, pinned=mesh.vertices[:, 0] < 0.1)
    simulation = jounce.Simulation(jounce.Model.reduced(mesh, material, modes.basis), damping=0.1)
    simulation.reset()
    simulation.step(force=np.full(4, 3.0))
    loose = jounce.Model.projective(mesh, material, handles=6, clusters=20)
    return {
        "surface": jounce.SurfaceMesh(points, triangles),
        "body": body,
        "mesh": mesh,
        "material": material,
        "modes": modes,
        "simulation": simulation,
        "loose": loose,
    }


def keyed(parts):
    keys = [jounce.Key.vertex(5, 3, (0.0, 0.0, 0.1)), jounce.Key.shape(9, np.full(4, 0.1), weight=2.0)]
    forces = np.full((FRAMES, 4), 0.5)
    return jounce.keyed_motion(parts["simulation"], keys, FRAMES, forces=forces, effort=1e-5)


def tree(parts):
    domain = jounce.Domain(parts["modes"])
    return jounce.DomainTree([domain], [-1], [[]], damping=0.1)


def cycle(parts):
    simulation = jounce.Simulation(parts["body"].model, damping=0.1)
    poses = np.tile(np.eye(3, 4), (FRAMES, 1, 1, 1))
    simulation.reset(poses[0])
    return simulation.settle_cycle(poses)


def samples_drag(parts):
    samples = parts["body"].model.force_samples(10)
    count = len(samples.masses)
    return samples.drag(np.arange(count), np.ones(count), np.full((count, 3), 0.3))


MADE = {
    "Basis": lambda it: it["modes"].basis,
    "Body": lambda it: it["body"],
    "Collider": lambda it: jounce.Collider.sphere(0.3, (1.0, 0.0, 0.0)).sparing([1]),
    "Cubature": lambda it: jounce.Cubature([0, 3], [1.0, 2.0]),
    "CycleReport": cycle,
    "Dents": lambda it: jounce.Dents(it["body"].embedding, it["body"].triangles, it["body"].pinned),
    "Domain": lambda it: jounce.Domain(it["modes"]),
    "DomainTree": tree,
    "Drag": samples_drag,
    "Embedding": lambda it: it["body"].embedding,
    "Fibres": lambda it: jounce.Fibres(1.0, np.ones((len(it["mesh"].tets), 3))),
    "ForceSamples": lambda it: it["body"].model.force_samples(10),
    "Grip": lambda it: jounce.Grip(it["loose"], [3, 1]),
    "Key": lambda it: jounce.Key.vertex(4, 2, (0.0, 0.1, 0.2), weight=3.0),
    "KeyedMotion": keyed,
    "LimitSamples": lambda it: jounce.LimitSamples([0], [1.0], [2], [0.5]),
    "LinearModes": lambda it: it["modes"],
    "LocalisedModes": lambda it: jounce.localised_modes(it["mesh"], it["material"], 3, locality=5.0),
    "Material": lambda it: it["material"],
    "Model": lambda it: it["loose"],
    "Pull": lambda it: jounce.Grip(it["loose"], [3]).pull([[0.0, 0.0, 1.0]], frequency=4.0, calm=0.5),
    "Rig": lambda it: it["body"].rig,
    "Simulation": lambda it: it["simulation"],
    "SkeletonCore": lambda it: jounce.SkeletonCore([[0.0, 0.5, 0.5]], [-1], amount=0.3),
    "SkinningModes": lambda it: it["body"].modes,
    "State": lambda it: it["simulation"].save_state(),
    "StepReport": lambda it: copy.copy(it["simulation"]).step(),
    "Stitches": lambda it: jounce.Stitches(it["mesh"], [(0, 5)], group=[0]),
    "SurfaceMesh": lambda it: it["surface"],
    "TetMesh": lambda it: it["mesh"],
    "Tracking": lambda it: keyed(it).tracking(0.02),
}
JOBS = {
    "BodyJob": lambda it: jounce.BodyJob(it["body"].points, it["body"].triangles, it["body"].weights),
    "FullSpaceJob": lambda it: jounce.FullSpaceJob(it["body"]),
    "LinearModesJob": lambda it: jounce.LinearModesJob(it["mesh"], it["material"], 4),
    "MotionJob": lambda it: jounce.MotionJob(it["simulation"]),
    "ModalKeysJob": lambda it: jounce.ModalKeysJob(np.ones((4, 8, 3)), 1e-4),
    "Player": lambda it: jounce.Player(it["body"].model),
    "ProjectiveJob": lambda it: jounce.ProjectiveJob(it["mesh"], it["material"], 6, 20),
}


def test_every_class_is_tried_or_refused():
    assert set(CLASSES) == set(MADE) | set(REFUSED) | GROUPS
    assert not (set(MADE) | GROUPS) & set(REFUSED)
    assert set(JOBS) <= set(REFUSED)


def readable(thing):
    """Values of all properties by name."""
    properties = {name for name, it in inspect.getmembers(type(thing)) if inspect.isgetsetdescriptor(it)}
    return {name: getattr(thing, name) for name in properties}


def same(one, other):
    """True if two values of a property are alike, arrays to the bit."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return type(one) is type(other) and (one == other or repr(one) == repr(other))


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("way", [again, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_a_class_comes_back(parts, name, way):
    thing = MADE[name](parts)
    assert type(thing) is CLASSES[name]
    other = way(thing)
    assert type(other) is type(thing) and repr(other) == repr(thing)
    before, after = readable(thing), readable(other)
    assert [key for key in before if not same(before[key], after[key])] == []


@pytest.mark.parametrize("name", JOBS)
def test_others_say_why_not(parts, name):
    thing = JOBS[name](parts)
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=REFUSED[name]) as caught:
            way(thing)
        assert str(caught.value).startswith(f"{name}: ")


def moved(simulation, **inputs):
    """Coefficients after a step of a copy."""
    simulation = copy.copy(simulation)
    simulation.step(**inputs)
    return simulation.coefficients


def test_inputs_of_a_step_act_the_same(parts):
    """Drag on parts and at vertices, a pull, and the forces of keys and of their tracking."""
    simulation = jounce.Simulation(parts["body"].model)
    pose = np.eye(3, 4)[None].copy()
    simulation.reset(pose)
    pose[0, 2, 3] = 0.2
    drag = samples_drag(parts)
    assert np.array_equal(
        moved(simulation, pose=pose, drag=again(drag)), moved(simulation, pose=pose, drag=drag)
    )
    assert not np.array_equal(moved(simulation, pose=pose, drag=drag), moved(simulation, pose=pose))
    count = len(parts["mesh"].vertices)
    air = jounce.Drag(np.linspace(0.0, 5.0, count), velocity=np.full((count, 3), 2.0))
    inputs = {"drag": air}
    here = moved(parts["simulation"], **inputs)
    assert np.array_equal(moved(parts["simulation"], drag=again(air)), here)
    assert not np.array_equal(here, moved(parts["simulation"]))
    pull = MADE["Pull"](parts)
    loose = jounce.Simulation(parts["loose"])
    assert np.array_equal(moved(loose, pull=again(pull)), moved(loose, pull=pull))
    assert not np.array_equal(moved(loose, pull=pull), moved(loose))
    tracking, state = MADE["Tracking"](parts), parts["simulation"].save_state()
    assert np.array_equal(again(tracking).force(2, state), tracking.force(2, state))


def test_a_keyed_motion_keeps_what_it_was_made_of(parts):
    """Later steps of its simulation, and changes of its arrays, do not reach the pickle."""
    simulation, forces = copy.copy(parts["simulation"]), np.full((FRAMES, 4), 0.5)
    motion = jounce.keyed_motion(simulation, [MADE["Key"](parts)], FRAMES, forces=forces)
    simulation.step(force=np.full(4, 9.0))
    forces[:] = 7.0
    assert np.array_equal(again(motion).coefficients, motion.coefficients)
