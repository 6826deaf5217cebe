"""Impacts on a body, found in its motion, and their sound."""

import io
import wave
from dataclasses import replace
from types import SimpleNamespace

import jounce
import numpy as np
import pytest
from jounce_core.common.user_error import UserError
from jounce_core.shot.blows import Blow, blows, rigid_motion
from jounce_core.shot.sound import MODES, PEAK, RATE, SUBSTANCES, Sounding, SoundSettings, sound, strikes
from jounce_core.stepping.motion import Motion

FPS = 24.0
GRAVITY = 9.81
STEEL = SoundSettings(SUBSTANCES["STEEL"], pitch=1.0, quietest=0.05, ring_out=1.0)


@pytest.fixture(scope="module")
def bar():
    """A bar of steel along x, as a free rigid body moved by its object."""
    points = np.array([[x, y, z] for z in (0.0, 0.02) for y in (0.0, 0.04) for x in (0.0, 0.4)])
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
    mesh = jounce.TetMesh.lattice(points, triangles, 40)
    rest = np.asarray(mesh.vertices)
    model = SimpleNamespace(displacement=lambda coefficients: coefficients)
    rig = SimpleNamespace(weights=np.ones((len(rest), 1)))
    return SimpleNamespace(mesh=mesh, rig=rig, model=model, pinned=np.zeros(len(rest), bool))


def turned(angle):
    """A rotation about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def motion(body, courses, breaks=()):
    """The motion of a body moved by its object alone. courses: of its origin, (f, 3), or poses (f, 3, 4)."""
    courses = np.asarray(courses, float)
    if courses.ndim == 2:
        courses = np.stack([np.column_stack([np.eye(3), each]) for each in courses])
    still = np.zeros((len(courses), len(body.mesh.vertices), 3))
    return Motion(courses[:, None], still, breaks=frozenset(breaks))


def bounce(height=1.0, restitution=0.6, count=60):
    """Places of a falling and bouncing point in each frame, and times and speeds of its hits."""
    fall = np.sqrt(2.0 * height / GRAVITY)
    start, speed, hits = -fall, np.sqrt(2.0 * GRAVITY * height), []
    heights, time = [], 0.0
    for frame in range(count):
        time = frame / FPS - fall
        while speed > 0.2 and time > start + 2.0 * speed / GRAVITY:
            start += 2.0 * speed / GRAVITY
            hits.append((start + fall, (1.0 + restitution) * speed))
            speed *= restitution
        since = time - start
        heights.append(speed * since - 0.5 * GRAVITY * since**2 if speed > 0.2 else 0.0)
    return np.column_stack([np.zeros((count, 2)), heights]), hits


def found(course, breaks=(), quietest=0.05):
    """The blows of a ball on a course."""
    rest = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0], [0, 0, 1.0], [0, 0, -1.0]])
    whole = rigid_motion((rest + place for place in course), rest, np.ones(6))
    return blows(whole, FPS, breaks, quietest)


def test_each_bounce_is_a_blow_at_its_time_and_as_hard_as_it_was():
    course, hits = bounce()
    heard = found(course)
    # A return within four frames leaves no path between two impacts.
    apart = [
        hit for hit, after in zip(hits, [*hits[1:], (9.0, 0.0)], strict=True) if after[0] - hit[0] > 4 / FPS
    ]
    assert len(apart) >= 2
    for (time, jump), blow in zip(apart, heard, strict=False):
        assert blow.time == pytest.approx(time, abs=0.1 / FPS)
        assert np.allclose(blow.velocity, [0.0, 0.0, jump], atol=0.02 * jump)
        assert np.allclose(blow.spin, 0.0, atol=1e-9)


def test_what_falls_swings_or_stands_is_not_struck():
    frames = np.arange(80) / FPS
    assert found(np.column_stack([2.0 * frames, 0 * frames, -0.5 * GRAVITY * frames**2])) == []
    assert found(np.zeros((80, 3))) == []
    assert found(np.zeros((2, 3))) == []
    for period in (12, 20, 40):
        swing = np.sin(2.0 * np.pi * np.arange(80) / period)
        assert found(np.column_stack([swing, 0 * swing, 0 * swing])) == [], period


def test_where_a_motion_begins_anew_nothing_strikes():
    course = np.column_stack([0.1 * np.arange(40.0), np.zeros((40, 2))])
    course[20:] += np.arange(20.0)[:, None] * [0.0, 0.0, 0.3]
    assert found(course)
    assert found(course, breaks=[20]) == []


def test_blows_that_are_too_quiet_are_not_heard():
    course, hits = bounce(count=70)
    assert len(found(course, quietest=0.0)) > len(found(course, quietest=0.9)) == 1


def box(bar):
    """The bar as a sounding object, and the masses of its vertices."""
    mesh = bar.mesh
    return Sounding(mesh, np.zeros(len(mesh.vertices), bool), mesh.vertex_volumes)


@pytest.mark.parametrize("where", [(0.05, 0.02, 0.0), (0.31, 0.01, 0.0), (0.2, 0.03, 0.02)])
def test_a_free_body_is_struck_where_and_as_hard_as_its_motion_says(bar, where):
    sounding = box(bar)
    rest, masses = np.asarray(sounding.mesh.vertices), sounding.masses
    vertex = int(np.linalg.norm(rest - where, axis=1).argmin())
    impulse = np.array([0.0, 0.0, 0.3 if where[2] == 0.0 else -0.3])
    around = rest - masses @ rest / masses.sum()
    squares = (masses[:, None] * around**2).sum(axis=0)
    inertia = squares.sum() * np.eye(3) - (masses[:, None, None] * around[:, :, None] * around[:, None]).sum(
        axis=0
    )
    spin = np.linalg.solve(inertia, np.cross(around[vertex], impulse))
    struck, impulses = strikes(sounding, Blow(0.0, impulse / masses.sum(), spin))
    assert np.allclose(impulses, impulse[None])
    assert np.linalg.norm((rest[struck[0]] - rest[vertex])[:2]) < 0.011
    assert rest[struck[0], 2] == pytest.approx(rest[vertex, 2])


def test_what_is_held_is_struck_by_its_own_inertia(bar):
    free = box(bar)
    rest = np.asarray(free.mesh.vertices)
    held = replace(free, held=rest[:, 0] < 0.05)
    struck, impulses = strikes(held, Blow(0.0, np.array([0.0, 0.0, 2.0]), np.zeros(3)))
    assert np.array_equal(struck, np.arange(len(rest)))
    assert np.allclose(impulses, -free.masses[:, None] * [0.0, 0.0, 2.0])
    _, impulses = strikes(held, Blow(0.0, np.zeros(3), np.array([0.0, 3.0, 0.0])))
    # The centre of the support stays.
    far = int(rest[:, 0].argmax())
    middle = free.masses[held.held] @ rest[held.held] / free.masses[held.held].sum()
    assert np.allclose(impulses[far], -free.masses[far] * np.cross([0.0, 3.0, 0.0], rest[far] - middle))


def heard(body, course, settings=STEEL):
    """The sound of a body on a course."""
    task = sound(body, body, course, FPS, settings, "Bar")
    while True:
        try:
            next(task)
        except StopIteration as stop:
            return stop.value


def tumbling(frames=40, struck=12):
    """A bar at rest in the air, struck from below near its end in one frame."""
    steps = np.maximum(np.arange(frames) - struck + 0.5, 0.0) / FPS
    centre = np.array([0.2, 0.02, 0.01])
    poses = []
    for step in steps:
        turn = turned(3.0 * step)
        poses.append(np.column_stack([turn, centre + [0.0, 0.0, 0.5 * step] - turn @ centre]))
    return np.array(poses)


def loudest(samples):
    """The loudest frequency."""
    return np.abs(np.fft.rfft(samples)).argmax() * RATE / len(samples)


def test_a_struck_bar_rings_in_its_modes_from_the_blow_on_and_dies_away(bar):
    ringing = heard(bar, motion(bar, tumbling()))
    assert ringing.blows == 1
    assert len(ringing.samples) == round((39 / FPS + 1.0) * RATE)
    blow = round(11.5 / FPS * RATE)
    assert np.abs(ringing.samples[: blow - 1]).max() == 0.0
    assert np.abs(ringing.samples).max() == pytest.approx(PEAK)
    assert np.abs(ringing.samples[-RATE // 10 :]).max() < 0.2 * PEAK
    steel = STEEL.substance
    material = jounce.Material(steel.young, steel.poisson, steel.density)
    frequencies = jounce.linear_modes(bar.mesh, material, MODES).frequencies[6:]
    assert np.abs(frequencies - loudest(ringing.samples)).min() < 2.0


def test_pitch_is_a_factor_on_all_frequencies(bar):
    course = motion(bar, tumbling())
    low, high = (loudest(heard(bar, course, replace(STEEL, pitch=pitch)).samples) for pitch in (1.0, 1.5))
    assert high == pytest.approx(1.5 * low, rel=2e-3)


def test_a_held_body_rings_as_what_holds_it_stops(bar):
    held = SimpleNamespace(**vars(bar) | {"pinned": np.asarray(bar.mesh.vertices)[:, 0] < 0.05})
    course = np.column_stack([np.zeros((40, 2)), np.minimum(np.arange(40.0), 15.5) * 0.05])
    ringing = heard(held, motion(bar, course))
    assert ringing.blows == 1
    rate = np.abs(np.diff(np.flatnonzero(np.abs(ringing.samples) > 1e-6)[:2]))
    assert rate[0] == 1
    steel = STEEL.substance
    material = jounce.Material(steel.young, steel.poisson, steel.density)
    lowest = jounce.linear_modes(bar.mesh, material, 4, pinned=held.pinned).frequencies
    assert np.abs(lowest - loudest(ringing.samples)).min() < 2.0


def test_the_same_motion_has_the_same_sound_to_the_bit_and_a_wav_has_it(bar):
    course = motion(bar, tumbling())
    once, again = heard(bar, course), heard(bar, course)
    assert np.array_equal(once.samples, again.samples)
    with wave.open(io.BytesIO(once.wav())) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        kept = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert np.abs(kept / 32767.0 - once.samples).max() < 2e-5


def test_what_is_silent_is_refused_in_one_sentence(bar):
    with pytest.raises(UserError, match="Bar has no impact"):
        heard(bar, motion(bar, np.zeros((30, 3))))
    with pytest.raises(UserError, match="Bar makes no sound: .* 20 Hz"):
        heard(bar, motion(bar, tumbling()), replace(STEEL, pitch=1e-4))
