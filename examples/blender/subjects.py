"""Subjects of the documentation's pictures: the creature and a ball, simulated by the native module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import creature
import numpy as np
import studio

if TYPE_CHECKING:
    import jounce

Shape = list[np.ndarray]
"""World positions (p, 3) f32 of each mesh."""

YOUNG = 1e4
FREQUENCY = 3.4
DAMPING = 0.12
BELLY, BELLY_RADIUS = np.array([0.0, -0.2, 0.42]), 0.3


class Creature:
    """The demo's creature: rest surface, and action recorded without flesh."""

    def __init__(self) -> None:
        """Build it into an empty file."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        self.built = creature.build()
        self.meshes = [self.built.body, *self.built.parts]
        scene = bpy.context.scene
        self.first = scene.frame_start
        frames = range(scene.frame_start, scene.frame_end + 1)
        self.built.armature.data.pose_position = "REST"
        [self.rest] = studio.record(self.meshes, frames[:1])
        self.built.armature.data.pose_position = "POSE"
        self.posed = studio.record(self.meshes, frames)
        self.poses = [self._pose(frame) for frame in frames]

    def body(self, **settings: object) -> jounce.Body:
        """The body of skin and face parts; the settings are those of `jounce.Body`."""
        import jounce

        points = np.concatenate(self.rest).astype(np.float64)
        return jounce.Body(points, self._triangles(), self._weights(), resolution=40, **settings)

    def soft_belly(self) -> np.ndarray:
        """A painted map, (p,) in [0, 1]: 1 is soft."""
        away = np.linalg.norm(np.concatenate(self.rest) - BELLY, axis=1)
        return np.clip(2.0 - 2.0 * away / BELLY_RADIUS, 0.0, 1.0)

    def take(self, body: jounce.Body, leak: np.ndarray) -> list[Shape]:
        """The action with flesh and modes with this leak (n,) at the body's tet vertices."""
        import jounce

        modes = jounce.skinning_modes(
            body.mesh, body.material, 16, body.rig.merged(body.merged), np.ascontiguousarray(leak)
        )
        labels = jounce.cluster_tets(body.mesh, modes, 100)
        model = jounce.Model.skinning(body.mesh, body.material, modes, labels, body.rig)
        return self.played(model, body, body.model.frequency)

    def core(self) -> jounce.SkeletonCore:
        """The core that *Add Jounce* uses."""
        import jounce

        armature, names = self.built.armature, self._bones()
        bones = [armature.data.bones[name] for name in names]
        parents = [-1 if bone.parent is None else names.index(bone.parent.name) for bone in bones]
        heads = np.array([armature.matrix_world @ bone.head_local for bone in bones])
        return jounce.SkeletonCore(heads, parents, names=names)

    def played(self, model: jounce.Model, body: jounce.Body, at_rest: float) -> list[Shape]:
        """The action with flesh in a model of this body. at_rest: frequency in Hz of the built stiffness."""
        import jounce

        stiffness = (FREQUENCY / at_rest) ** 2
        simulation = jounce.Simulation(model, dt=1 / 24, damping=DAMPING, stiffness=stiffness)
        simulation.reset(self.poses[0])
        shapes = []
        for pose, posed in zip(self.poses, self.posed, strict=True):
            simulation.step(pose)
            u = model.displacement(simulation.coefficients, body.embedding)
            shapes.append([a + b for a, b in zip(posed, self.split(u), strict=True)])
        return shapes

    def distance(self, shape: Shape, posed: Shape) -> np.ndarray:
        """Distance (p,) of two shapes, as a fraction of the creature's size."""
        size = np.linalg.norm(np.ptp(np.concatenate(self.rest), axis=0))
        return np.linalg.norm(np.concatenate(shape) - np.concatenate(posed), axis=1) / size

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Values at all points (p, ...), split by mesh."""
        return np.split(values, np.cumsum([len(points) for points in self.rest])[:-1])

    def _triangles(self) -> np.ndarray:
        parts, start = [], 0
        for mesh in self.meshes:
            mesh.data.calc_loop_triangles()
            corners = np.empty(3 * len(mesh.data.loop_triangles), dtype=np.int32)
            mesh.data.loop_triangles.foreach_get("vertices", corners)
            parts.append(corners.reshape(-1, 3) + start)
            start += len(mesh.data.vertices)
        return np.concatenate(parts)

    def _bones(self) -> list[str]:
        return [group.name for group in self.built.body.vertex_groups]

    def _weights(self) -> np.ndarray:
        bones = {name: place for place, name in enumerate(self._bones())}
        parts = []
        for mesh in self.meshes:
            weights = np.zeros((len(mesh.data.vertices), len(bones)))
            for vertex in mesh.data.vertices:
                for group in vertex.groups:
                    weights[vertex.index, bones[mesh.vertex_groups[group.group].name]] = group.weight
            if mesh.parent_type == "BONE":
                weights[:, bones[mesh.parent_bone]] = 1.0
            parts.append(weights / weights.sum(axis=1, keepdims=True))
        return np.concatenate(parts)

    def _pose(self, frame: int) -> np.ndarray:
        """Transforms from rest to posed positions in the world, (b, 3, 4)."""
        bpy.context.scene.frame_set(frame)
        armature = self.built.armature
        world = armature.matrix_world
        pairs = [(armature.pose.bones[name], armature.data.bones[name]) for name in self._bones()]
        moves = [world @ now.matrix @ rest.matrix_local.inverted() @ world.inverted() for now, rest in pairs]
        return np.array([np.array(move)[:3] for move in moves])


def amounts(body: jounce.Body, modes: range) -> list[np.ndarray]:
    """Size of each mode at the surface's points, (p,), at most 1."""
    weights = np.abs(body.embedding.interpolate(body.modes.weights))
    return [weights[:, mode] / weights[:, mode].max() for mode in modes]


class Ball:
    """A striped ball between two plates, held at the caps by a bone above and a bone below."""

    PRESS = 0.3

    def __init__(self) -> None:
        """Build it into an empty file."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        bpy.ops.mesh.primitive_uv_sphere_add(segments=96, ring_count=48, radius=1.0)
        ball = bpy.context.object
        ball.data.polygons.foreach_set("use_smooth", np.ones(len(ball.data.polygons), dtype=bool))
        self.points = np.array([vertex.co for vertex in ball.data.vertices], dtype=np.float64)
        ball.data.calc_loop_triangles()
        self.triangles = np.array([face.vertices for face in ball.data.loop_triangles], dtype=np.int32)
        self._stripe(ball)
        self.meshes = [ball]
        self.plates = []
        for side in (-1.0, 1.0):
            bpy.ops.mesh.primitive_cube_add(size=1.0)
            plate = bpy.context.object
            corners = np.array([vertex.co for vertex in plate.data.vertices])
            self.plates.append(corners * [1.7, 1.7, 0.08] + [0.0, 0.0, side * 1.04])
            self.meshes.append(plate)

    def shape(self, displacement: np.ndarray | None) -> Shape:
        """Ball and plates at rest, or compressed with the flesh's displacement (p, 3)."""
        shapes = [self.points, *self.plates]
        if displacement is not None:
            shapes[0] = self._posed(self.points) + displacement
            shapes[1] = self.plates[0] + [0.0, 0.0, self.PRESS]
            shapes[2] = self.plates[1] - [0.0, 0.0, self.PRESS]
        return [shape.astype(np.float32) for shape in shapes]

    def squashed(self, law: str, poisson: float) -> tuple[Shape, float]:
        """The ball in equilibrium between the compressed plates, and its relative change of volume."""
        import jounce

        mesh = jounce.TetMesh.lattice(self.points, self.triangles, 20)
        # The same shear modulus for all.
        material = jounce.Material(young=2e4 * (1.0 + poisson), poisson=poisson, law=law)
        rig = jounce.Rig(mesh, np.column_stack([1.0 - _top(mesh.vertices), _top(mesh.vertices)]))
        leak = np.where(np.abs(mesh.vertices[:, 2]) > 0.7, 0.0, 1.0)
        modes = jounce.skinning_modes(mesh, material, 10, rig, leak)
        labels = jounce.cluster_tets(mesh, modes, 50)
        model = jounce.Model.skinning(mesh, material, modes, labels, rig)
        simulation = jounce.Simulation(model, pose_rest=0.0, tolerance=1e-7)
        pose = np.tile(np.eye(3, 4), (2, 1, 1))
        pose[:, 2, 3] = self.PRESS, -self.PRESS
        simulation.settle(pose, max_iterations=2000)
        inside = self._posed(mesh.vertices) + model.displacement(simulation.coefficients)
        change = jounce.TetMesh(inside, mesh.tets).volumes.sum() / mesh.volumes.sum() - 1.0
        embedding = jounce.Embedding(mesh, self.points)
        return self.shape(model.displacement(simulation.coefficients, embedding)), float(change)

    def _posed(self, points: np.ndarray) -> np.ndarray:
        moved = points.copy()
        moved[:, 2] += self.PRESS * (1.0 - 2.0 * _top(points))
        return moved

    def _stripe(self, ball: bpy.types.Object) -> None:
        bands = np.floor(8.0 * np.arccos(np.clip(self.points[:, 2], -1.0, 1.0)) / np.pi + 1e-3)
        around = np.floor(6.0 * (np.arctan2(self.points[:, 1], self.points[:, 0]) / np.pi + 1.0) + 1e-3)
        dark, light = np.array([0.80, 0.42, 0.36]), np.array([0.96, 0.80, 0.66])
        creature.colour(ball.data, np.where(((bands + around) % 2)[:, None] > 0, dark, light))
        ball.data.materials.append(creature.coloured_material("Stripes", 0.6))


def _top(points: np.ndarray) -> np.ndarray:
    """Share of the upper bone."""
    return 0.5 * (1.0 + np.clip(points[:, 2], -1.0, 1.0))
