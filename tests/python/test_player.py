"""Players in real time, and characters of GLB files with flesh."""

import copy
import json

import jounce
import numpy as np
import pytest
from jounce import gltf

FRAME = 1.0 / 60.0


@pytest.fixture(scope="module")
def bar():
    """A soft bar on two bones."""
    points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    weights = np.column_stack([1.0 - points[:, 0] / 4.0, points[:, 0] / 4.0])
    weights = np.clip(weights, 0.0, 1.0)
    return jounce.Body(
        points, triangles, weights / weights.sum(axis=1, keepdims=True), resolution=12, modes=12, clusters=30
    ), points


def pose(seconds, aside=0.0):
    made = np.tile(np.eye(3, 4), (2, 1, 1))
    made[:, 2, 3] = 0.2 * np.sin(7.0 * seconds)
    made[:, 0, 3] = aside
    return made


def test_a_player_moves_as_a_simulation_does_for_300_frames(bar):
    body, points = bar
    usual = jounce.standard.motion(body.mesh)
    # What depends on the mesh and on the frames is no default of a player.
    own = {"stiffness": usual["stiffness"], "substep": FRAME / usual["substeps"]}
    player = jounce.Player(body.model, points, gravity_z=-1.0, **own)
    simulation = jounce.Simulation(body.model, dt=FRAME, gravity=(0.0, 0.0, -1.0), **usual)
    simulation.settle(pose(0.0))
    simulation.coast(pose(FRAME))
    player.step(pose(0.0), FRAME)
    worst = most = 0.0
    embedding = jounce.Embedding(body.mesh, points)
    for frame in range(1, 301):
        simulation.step(pose(frame * FRAME))
        player.step(pose(frame * FRAME), FRAME)
        theirs = body.model.displacement(simulation.coefficients, embedding)
        worst = max(worst, np.abs(theirs - player.displacements()).max())
        most = max(most, np.abs(theirs).max())
    assert most > 0.03 and worst < 1e-6


def test_files_bytes_and_models_play_alike(bar, tmp_path):
    body, points = bar
    path = tmp_path / "bar.jounce"
    body.model.save(path)
    assert path.read_bytes() == body.model.to_bytes()
    shown = []
    for source in (body.model, body.model.to_bytes(), path, str(path)):
        player = jounce.Player(source, points)
        for frame in range(20):
            player.step(pose(frame * FRAME), FRAME)
        shown.append(player.displacements())
    assert np.abs(shown[0]).max() > 1e-3
    assert all(np.array_equal(shown[0], each) for each in shown)
    assert repr(player) == "Player(8 points, 12 modes, 2 bones)"


def test_levels_sleep_teleport_and_grab(bar):
    body, points = bar
    player = jounce.Player(body.model, points)
    for frame in range(30):
        player.step(pose(frame * FRAME), FRAME)
    assert (player.mode_count, player.bone_count) == (12, 2)
    before = player.displacements()
    player.set(modes=8)
    assert np.abs(player.displacements() - before).max() < 1e-6
    player.teleport(pose(0.5, aside=40.0))
    player.step(pose(0.5, aside=40.0), FRAME)
    assert np.abs(player.displacements()).max() < 2.0 * np.abs(before).max()
    for _ in range(4000):
        player.step(pose(0.5, aside=40.0), FRAME)
    assert player.is_asleep
    player.grab(7, (0.0, 0.3, 0.0))
    for _ in range(120):
        player.step(pose(0.5, aside=40.0), FRAME)
    pulled = player.displacements()[7, 1]
    assert 0.1 < pulled < 0.31 and not player.is_asleep
    player.release()
    for _ in range(600):
        player.step(pose(0.5, aside=40.0), FRAME)
    assert abs(player.displacements()[7, 1]) < 0.1 * pulled
    out = np.empty((8, 3), np.float32)
    assert player.displacements(out) is out
    u = np.einsum("pk,kcd,pd->pc", player.weights, player.transforms, np.hstack([points, np.ones((8, 1))]))
    assert np.abs(u - out).max() < 1e-6


def weights_of(points):
    """Weights (p, 2) of points along the bar."""
    return np.column_stack([1.0 - points[:, 0] / 4.0, points[:, 0] / 4.0])


def rings():
    """Points around the bar in rings, and the triangles between them."""
    corners = np.array([(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 1.0), (0.5, 1.0), (0.0, 1.0)])
    along = np.linspace(0.0, 4.0, 21)
    points = np.column_stack([np.repeat(along, 6), np.tile(corners, (21, 1))])
    first = (6 * np.arange(20)[:, None] + np.arange(6)).ravel()
    beside = (6 * np.arange(20)[:, None] + (np.arange(6) + 1) % 6).ravel()
    sides = [(first, beside, beside + 6), (first, beside + 6, first + 6)]
    return points, np.concatenate([np.column_stack(side) for side in sides])


def test_flesh_stays_out_of_a_floor_and_of_a_ball_on_a_bone(bar):
    body, _ = bar
    points, triangles = rings()
    weights, corners = weights_of(points), np.column_stack([points, np.ones(len(points))])
    floor = jounce.Collider.plane((0.0, 0.0, -0.15), (0.0, 0.0, 1.0))
    ball = jounce.Collider.sphere(0.5, (3.0, 0.5, 1.6))
    deepest = []
    for colliders, faces in (((), triangles), ((floor, ball), None), ((floor, ball), triangles)):
        player, deep = jounce.Player(body.model, points), 0.0
        player.collide(colliders, weights, faces, bones=[-1, 0][: len(colliders)])
        for frame in range(120):
            told = pose(frame * FRAME)
            # The second bone runs up into the ball on the first.
            told[1, 2, 3] += 0.3 * min(1.0, frame / 60.0)
            player.step(told, FRAME)
            placed = np.einsum("pb,bij,pj->pi", weights, told, corners) + player.displacements()
            deep = max(deep, -floor.distances(placed).min())
            deep = max(deep, -ball.distances(placed - told[0, :, 3]).min())
        deepest.append(deep)
    assert deepest[0] > 0.1 and 1e-3 < deepest[1] < 0.02, deepest
    # A skin of triangles is dented.
    assert deepest[2] < 0.05 * deepest[1], deepest


def test_the_skin_of_a_body_without_bones_is_dented_where_it_lies():
    points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
    mesh, material = jounce.TetMesh.lattice(points, triangles, resolution=6), jounce.Material(young=2e4)
    labels = np.arange(len(mesh.tets), dtype=np.int32) // 8
    model = jounce.Model.skinning(mesh, material, jounce.skinning_modes(mesh, material, count=4), labels)
    # Two fingers that hold it: the modes leave them a little inside.
    tips = [jounce.Collider.sphere(0.2, (0.5, 0.5, height)) for height in (-0.18, 1.18)]
    skin, faces = mesh.vertices, mesh.boundary
    deepest = []
    for given in (None, faces):
        player = jounce.Player(model, skin, gravity_z=0.0)
        player.collide(tips, None, given)
        player.step(np.empty((0, 3, 4)), FRAME)
        placed = skin + player.displacements()
        deepest.append(max(-tip.distances(placed).min() for tip in tips))
    assert deepest[0] > 1e-5 and deepest[1] < 0.05 * deepest[0], deepest


def test_a_collider_of_the_world_moves(bar):
    body, points = bar
    player = jounce.Player(body.model, points)
    player.collide(
        [jounce.Collider.sphere(0.5, (2.0, 0.5, -1.0))], weights_of(points), jounce.shapes.box()[1]
    )
    lift = np.eye(3, 4)
    for frame in range(60):
        lift[2, 3] = 0.6 * frame / 60.0
        player.move_collider(0, lift)
        player.step(pose(0.0), FRAME)
    assert np.abs(player.displacements()).max() > 1e-3
    player.collide([])
    for _ in range(400):
        player.step(pose(0.0), FRAME)
    assert np.abs(player.displacements()).max() < 1e-4


def test_wrong_colliders_get_one_sentence(bar):
    body, points = bar
    player = jounce.Player(body.model, points)
    floor, weights = jounce.Collider.plane((0, 0, -1), (0, 0, 1)), weights_of(points)
    with pytest.raises(ValueError, match=r"weights: expected shape \(8, b\)"):
        player.collide([floor], weights[:5])
    with pytest.raises(ValueError, match=r"weights: expected shape \(8, 2\), got \(8, 1\)"):
        player.collide([floor], np.ones((8, 1)))
    with pytest.raises(ValueError, match="weights: a body with bones needs the skinning weights"):
        player.collide([floor])
    with pytest.raises(ValueError, match="bone of a collider"):
        player.collide([floor], weights, bones=[2])
    with pytest.raises(ValueError, match=r"bones: expected shape \(1,\)"):
        player.collide([floor], weights, bones=[])
    with pytest.raises(ValueError, match="triangles"):
        player.collide([floor], weights, [[0, 1, 8]])
    with pytest.raises(ValueError, match="collider: element 0 refers to index 0, but there are only 0"):
        player.move_collider(0, np.eye(3, 4))
    player.collide([floor], weights)
    with pytest.raises(ValueError, match="collider: expected a rotation"):
        player.move_collider(0, np.ones((3, 4)))


def test_misuse_is_one_sentence(bar):
    body, points = bar
    player = jounce.Player(body.model, points)
    with pytest.raises(ValueError, match="not a Jounce model"):
        jounce.Player(b"nothing")
    with pytest.raises(OSError, match=r"there\.jounce"):
        jounce.Player("not/there.jounce")
    with pytest.raises(TypeError, match="softness: no setting"):
        player.set(softness=2.0)
    with pytest.raises(ValueError, match="substep: expected"):
        player.set(substep=0.0)
    with pytest.raises(ValueError, match="seconds"):
        player.step(pose(0.0), -1.0)
    with pytest.raises(ValueError, match="pose"):
        player.step(np.zeros((3, 3, 4)), FRAME)
    with pytest.raises(ValueError, match="point"):
        player.grab(99, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="skinning modes"):
        jounce.Player(body.full_space())


def character():
    """A GLB file of the bar's skin on two bones that go up and down, in units of a tenth of a metre."""
    points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    times = np.arange(31, dtype="<f4") / 30.0
    lifts = np.zeros((31, 3), "<f4")
    lifts[:, 2] = np.sin(7.0 * times)
    binds = np.tile(np.eye(4, dtype="<f4"), (2, 1, 1))
    binds[1, 3, 0] = -40.0
    joints = np.tile(np.array([0, 1, 0, 0], "<u1"), (8, 1))
    weights = np.zeros((8, 4), "<f4")
    weights[:, 1] = points[:, 0] / 4.0
    weights[:, 0] = 1.0 - weights[:, 1]
    arrays = [(10.0 * points).astype("<f4"), binds.reshape(2, 16), joints, weights, times[:, None], lifts]
    arrays.append(triangles.astype("<u2").reshape(-1, 1))
    kinds = {"<f4": 5126, "|u1": 5121, "<u2": 5123}
    widths = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
    views, accessors, binary = [], [], b""
    for array in arrays:
        binary += b"\0" * (-len(binary) % 4)
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": array.nbytes})
        entry = {"bufferView": len(views) - 1, "componentType": kinds[array.dtype.str], "count": len(array)}
        accessors.append(entry | {"type": widths[array.shape[1]]})
        binary += array.tobytes()
    content = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(binary)}],
        "bufferViews": views,
        "accessors": accessors,
        "nodes": [
            {"name": "Rig", "scale": [0.1, 0.1, 0.1], "children": [1, 3]},
            {"name": "Lower", "children": [2]},
            {"name": "Upper", "translation": [40.0, 0.0, 0.0]},
            {"name": "Skin", "mesh": 0, "skin": 0},
        ],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}, "indices": 6}]}
        ],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 1}],
        "animations": [
            {
                "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
                "samplers": [{"input": 4, "output": 5}],
            }
        ],
    }
    return gltf.packed(content, binary)


def fleshed(body, **settings):
    """The character with the body of the bar."""
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[:, :3, :3] *= 10.0
    binds[1, 0, 3] = -40.0
    return gltf.add_flesh(character(), [gltf.Flesh(body.model.to_bytes(), (1, 2), binds, (3,), settings)])


def test_a_character_of_a_file_plays(bar, tmp_path):
    body, points = bar
    path = tmp_path / "bar.glb"
    path.write_bytes(fleshed(body, stiffness=2.0, gravity=[0.0, 0.0, -1.0]))
    hero = gltf.read(path)
    assert repr(hero) == repr(copy.deepcopy(hero)) == "Character(4 nodes, 1 clips, 1 bodies)"
    (own,) = hero.bodies
    assert own.settings == {"stiffness": 2.0, "gravity": [0.0, 0.0, -1.0]}
    (places,) = hero.rest_points(own)
    assert np.abs(places - points).max() < 1e-6
    (weights,) = hero.rest_weights(own)
    assert np.abs(weights - weights_of(points)).max() < 1e-6
    assert hero.triangles(own).tolist() == jounce.shapes.box((4.0, 1.0, 1.0))[1].tolist()
    player, alone = own.player(places), jounce.Player(body.model, points, stiffness=2.0, gravity_z=-1.0)
    for frame in range(31):
        told = own.pose(hero.worlds(frame / 30.0))
        wanted = np.tile(np.eye(3, 4), (2, 1, 1))
        wanted[:, 2, 3] = 0.1 * np.sin(7.0 * frame / 30.0)
        assert np.abs(told - wanted).max() < 1e-6
        player.step(told, 1.0 / 30.0)
        alone.step(wanted, 1.0 / 30.0)
    assert np.abs(alone.displacements()).max() > 1e-3
    assert np.abs(player.displacements() - alone.displacements()).max() < 1e-5
    assert hero.span() == pytest.approx((0.0, 1.0))
    # Written again, the file has the new body alone.
    again = gltf.Character(gltf.add_flesh(path.read_bytes(), [own]))
    assert len(again.bodies) == 1 and again.json["extensionsUsed"] == ["JOUNCE_flesh"]


def test_weights_of_a_file_are_those_of_the_bones_that_the_body_has(bar):
    body, points = bar
    hero = gltf.read(fleshed(body))
    (own,) = hero.bodies
    # The second joint hangs on the first, which stands for it in a body without.
    lower = gltf.Flesh(own.model, (1,), own.inverse_binds[:1], own.nodes)
    assert hero.rest_weights(lower)[0].tolist() == [[1.0]] * len(points)
    # A mesh without a skin hangs on the joint that moves with its node.
    content, binary = gltf.chunks(fleshed(body))
    del content["nodes"][3]["skin"]
    content["nodes"][0]["children"], content["nodes"][2]["children"] = [1], [3]
    hung = gltf.read(gltf.packed(content, binary))
    assert hung.rest_weights(own)[0].argmax(axis=1).tolist() == [1] * 8
    # Vertices without weights hang on the first joint; lines have no triangles.
    content, binary = gltf.chunks(fleshed(body))
    weights = content["accessors"][3]
    del weights["bufferView"]
    content["meshes"][0]["primitives"][0]["mode"] = 1
    bare = gltf.read(gltf.packed(content, binary))
    assert bare.rest_weights(own)[0].tolist() == [[1.0, 0.0]] * len(points)
    assert bare.triangles(own).shape == (0, 3)


def test_a_file_has_the_form_of_the_schema(bar):
    jsonschema = pytest.importorskip("jsonschema")
    from pathlib import Path

    schema = Path(__file__).parents[2] / "rust/player/gltf/JOUNCE_flesh.schema.json"
    body, _ = bar
    content, _ = gltf.chunks(fleshed(body, damping=0.1, substep=0.01, gravity=[0, 0, 0]))
    jsonschema.validate(content["extensions"]["JOUNCE_flesh"], json.loads(schema.read_text()))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"stiffness": 0.0}, "stiffness is 0.0"),
        ({"damping": -1.0}, "damping is -1.0"),
        ({"gravity": [0.0, 1.0]}, "gravity"),
        ({"softness": 1.0}, "no setting softness"),
        ({"amount": "much"}, "amount is much"),
        ({"limit": float("nan")}, "limit is nan"),
    ],
)
def test_settings_are_checked(bar, settings, words):
    with pytest.raises(ValueError, match=words):
        fleshed(bar[0], **settings)


def test_damaged_files_are_refused_by_a_sentence(bar):
    data = fleshed(bar[0])
    with pytest.raises(ValueError, match="not a GLB file"):
        gltf.read(b"obj")
    refused = 0
    for length in range(0, len(data), len(data) // 60):
        try:
            gltf.read(data[:length])
        except ValueError:
            refused += 1
    assert refused > 50
    content, binary = gltf.chunks(data)
    changes = [
        lambda it: it["extensions"]["JOUNCE_flesh"]["bodies"][0].update(joints=[1, 77]),
        lambda it: it["extensions"]["JOUNCE_flesh"]["bodies"][0].update(model=99),
        lambda it: it["extensions"]["JOUNCE_flesh"]["bodies"][0].pop("nodes"),
        lambda it: it["extensions"]["JOUNCE_flesh"].update(bodies=7),
        lambda it: it["nodes"][2].update(children=[0]),
        lambda it: it["accessors"][7].update(count=10**9),
        lambda it: it.update(nodes="none"),
        lambda it: it["animations"][0].update(samplers=[]),
    ]
    for change in changes:
        changed = json.loads(json.dumps(content))
        change(changed)
        with pytest.raises(ValueError, match=r"GLB file|JOUNCE_flesh"):
            gltf.read(gltf.packed(changed, binary))
