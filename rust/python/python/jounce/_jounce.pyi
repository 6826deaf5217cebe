"""Types of the compiled module; checked against it by `mypy.stubtest`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

__all__ = [
    "Basis",
    "Body",
    "BodyJob",
    "Collider",
    "Cubature",
    "CycleReport",
    "Domain",
    "DomainTree",
    "Drag",
    "Embedding",
    "Fibres",
    "ForceSamples",
    "FullSpaceJob",
    "Grip",
    "HelperBonesJob",
    "Job",
    "Key",
    "KeyedMotion",
    "LearnJob",
    "LimitSamples",
    "LinearModes",
    "LocalisedModes",
    "Material",
    "ModalKeysJob",
    "Model",
    "MotionJob",
    "ProjectiveJob",
    "Pull",
    "Rig",
    "Simulation",
    "SkeletonCore",
    "SkinningModes",
    "State",
    "StepReport",
    "Stitches",
    "SurfaceMesh",
    "TetMesh",
    "Tracking",
    "TreeState",
    "cluster_tets",
    "driven_modes",
    "helper_bones",
    "keyed_motion",
    "linear_modes",
    "localised_modes",
    "mass_pca",
    "modal_keys",
    "momentum_leak",
    "pull_back",
    "skinning_modes",
    "spread_to_interior",
    "step_together",
]

_Floats: TypeAlias = npt.NDArray[np.float64]
_Singles: TypeAlias = npt.NDArray[np.float32]
_Flags: TypeAlias = npt.NDArray[np.bool_]
_Indices: TypeAlias = npt.NDArray[np.int32]
_FloatsLike: TypeAlias = _Floats | Sequence[Any]
_IndicesLike: TypeAlias = _Indices | npt.NDArray[np.int64] | npt.NDArray[np.uint32] | Sequence[Any]
# An optional array; one number or an array.
_Rows: TypeAlias = _FloatsLike | None
_Field: TypeAlias = float | _FloatsLike

@final
class TetMesh:
    def __new__(cls, vertices: _FloatsLike, tets: _IndicesLike, *, solid: _Rows = None) -> TetMesh: ...
    @staticmethod
    def lattice(
        points: _FloatsLike,
        triangles: _IndicesLike,
        resolution: int = 32,
        *,
        tet_count: int | None = None,
        solid: bool = False,
    ) -> TetMesh: ...
    @property
    def vertices(self) -> _Floats: ...
    @property
    def tets(self) -> _Indices: ...
    @property
    def solid(self) -> _Floats: ...
    @property
    def cells(self) -> _Indices: ...
    @property
    def flesh(self) -> _Floats: ...
    @property
    def volumes(self) -> _Floats: ...
    @property
    def vertex_volumes(self) -> _Floats: ...
    @property
    def boundary(self) -> _Indices: ...

@final
class Embedding:
    def __new__(cls, mesh: TetMesh, points: _FloatsLike) -> Embedding: ...
    def interpolate(self, values: _FloatsLike) -> _Floats: ...
    @property
    def points(self) -> _Floats: ...
    @property
    def tets(self) -> _Indices: ...
    @property
    def barycentric(self) -> _Floats: ...
    @property
    def furthest(self) -> float: ...

@final
class SurfaceMesh:
    def __new__(cls, points: _FloatsLike, triangles: _IndicesLike) -> SurfaceMesh: ...
    @property
    def points(self) -> _Floats: ...
    @property
    def triangles(self) -> _Indices: ...

@final
class Rig:
    def __new__(cls, mesh: TetMesh | SurfaceMesh, weights: _FloatsLike) -> Rig: ...
    @property
    def bone_count(self) -> int: ...
    @property
    def weights(self) -> _Floats: ...
    def merged(self, into: _IndicesLike) -> Rig: ...
    def with_shapes(self, shapes: _FloatsLike) -> Rig: ...

def spread_to_interior(mesh: TetMesh, vertex_ids: _IndicesLike, values: _FloatsLike) -> _Floats: ...
def momentum_leak(mesh: TetMesh) -> _Floats: ...

@final
class Material:
    def __new__(
        cls,
        young: _Field = 1e5,
        poisson: _Field = 0.0,
        density: _Field = 1000.0,
        law: str = "arap",
        curves: Sequence[_Rows] | None = None,
    ) -> Material: ...
    @property
    def young(self) -> float | _Floats: ...

@final
class Fibres:
    def __new__(cls, stiffness: _Field, direction: _FloatsLike) -> Fibres: ...
    @staticmethod
    def joined(muscles: Sequence[Fibres]) -> Fibres: ...

@final
class Stitches:
    def __new__(
        cls,
        mesh: TetMesh,
        pairs: _IndicesLike,
        stiffness: _Field = 1e4,
        gap: _Field = 0.0,
        emb: Embedding | None = None,
        group: _IndicesLike | None = None,
        radius: _Field = 0.0,
    ) -> Stitches: ...
    def __len__(self) -> int: ...

@final
class SkinningModes:
    def __new__(cls, weights: _FloatsLike, eigenvalues: _FloatsLike) -> SkinningModes: ...
    @property
    def weights(self) -> _Floats: ...
    @property
    def eigenvalues(self) -> _Floats: ...
    def truncated(self, count: int) -> SkinningModes: ...

def skinning_modes(
    mesh: TetMesh,
    material: Material,
    count: int = 16,
    rig: Rig | None = None,
    leak: _Rows = None,
    pinned: _Flags | Sequence[bool] | None = None,
    stitches: Stitches | None = None,
) -> SkinningModes: ...
def driven_modes(
    mesh: TetMesh,
    material: Material,
    bones: Rig,
    count: int = 16,
    rig: Rig | None = None,
    leak: _Rows = None,
    pinned: _Flags | Sequence[bool] | None = None,
    stitches: Stitches | None = None,
) -> SkinningModes: ...

@final
class LocalisedModes:
    @property
    def modes(self) -> SkinningModes: ...
    @property
    def supports(self) -> _Floats: ...
    @property
    def span(self) -> float: ...
    @property
    def residual(self) -> float: ...

def localised_modes(
    mesh: TetMesh,
    material: Material,
    count: int = 16,
    locality: float = 10.0,
    rig: Rig | None = None,
    leak: _Rows = None,
    pinned: _Flags | Sequence[bool] | None = None,
) -> LocalisedModes: ...
def cluster_tets(mesh: TetMesh, modes: SkinningModes, count: int = 100, seed: int = 0) -> _Indices: ...

@final
class Basis:
    def __new__(cls, shapes: _FloatsLike) -> Basis: ...
    @property
    def shapes(self) -> _Floats: ...
    @property
    def singular_values(self) -> _Floats: ...

def mass_pca(
    mesh: TetMesh,
    material: Material,
    snapshots: _FloatsLike,
    count: int | None = None,
    energy: float | None = None,
) -> Basis: ...

@final
class LinearModes:
    @property
    def shapes(self) -> _Floats: ...
    @property
    def eigenvalues(self) -> _Floats: ...
    @property
    def frequencies(self) -> _Floats: ...
    @property
    def basis(self) -> Basis: ...
    @property
    def residuals(self) -> _Floats | None: ...
    def stitched(self, stitches: Stitches, count: int) -> LinearModes: ...
    def attached(self, interfaces: Sequence[_IndicesLike]) -> LinearModes: ...
    def derivatives(self) -> _Floats: ...
    def carried_derivatives(self, derivatives: _FloatsLike) -> _Floats: ...
    def bent_basis(self, count: int, carried: _FloatsLike | None = None) -> Basis: ...
    @property
    def rotations(self) -> _Floats: ...
    def warped(self, amplitudes: _FloatsLike, method: str = "rotation_strain") -> _Floats: ...
    def swing(
        self, forces: _FloatsLike, damping: tuple[tuple[float, float], tuple[float, float]], fps: float = 24.0
    ) -> _Floats: ...
    @property
    def radiation(self) -> _Floats: ...
    def sound(
        self,
        duration: float,
        times: _Rows = None,
        vertices: _IndicesLike | None = None,
        impulses: _Rows = None,
        *,
        forces: _Rows = None,
        fps: float = 24.0,
        damping: tuple[tuple[float, float], tuple[float, float]] = ((100.0, 0.002), (5000.0, 0.005)),
        rate: float = 48000.0,
        weights: _Rows = None,
    ) -> _Singles: ...

def linear_modes(
    mesh: TetMesh | SurfaceMesh,
    material: Material,
    count: int = 20,
    rig: Rig | None = None,
    leak: _FloatsLike | None = None,
    pinned: _Flags | Sequence[bool] | None = None,
    *,
    thickness: float | None = None,
    bending: float = 1.0,
    stitches: Stitches | None = None,
) -> LinearModes: ...

@final
class Cubature:
    def __new__(cls, tets: _IndicesLike, weights: _FloatsLike) -> Cubature: ...
    @staticmethod
    def train(
        mesh: TetMesh,
        material: Material,
        modes: SkinningModes,
        count: int = 100,
        rig: Rig | None = None,
        seed: int = 0,
    ) -> Cubature: ...
    @staticmethod
    def of_shot(
        model: Model, coefficients: _FloatsLike, poses: _Rows = None, count: int = 100, seed: int = 0
    ) -> Cubature: ...
    @property
    def tets(self) -> _Indices: ...
    @property
    def weights(self) -> _Floats: ...

@final
class LimitSamples:
    def __new__(
        cls,
        tets: _IndicesLike,
        tet_weights: _FloatsLike,
        vertices: _IndicesLike,
        vertex_weights: _FloatsLike,
    ) -> LimitSamples: ...
    @staticmethod
    def of_shot(
        model: Model,
        coefficients: _FloatsLike,
        poses: _Rows = None,
        limit: float | None = None,
        stretch: float | None = None,
        tets: int = 100,
        vertices: int = 50,
        seed: int = 0,
    ) -> LimitSamples: ...
    @property
    def tets(self) -> _Indices: ...
    @property
    def tet_weights(self) -> _Floats: ...
    @property
    def vertices(self) -> _Indices: ...
    @property
    def vertex_weights(self) -> _Floats: ...

@final
class Model:
    @staticmethod
    def skinning(
        mesh: TetMesh,
        material: Material,
        modes: SkinningModes,
        labels: _IndicesLike,
        rig: Rig | None = None,
        strength: _Rows = None,
        stitches: Stitches | None = None,
        cubature: Cubature | None = None,
    ) -> Model: ...
    @staticmethod
    def full_space(
        mesh: TetMesh,
        material: Material,
        rig: Rig | None = None,
        leak: _Rows = None,
        pinned: _Flags | Sequence[bool] | None = None,
        stitches: Stitches | None = None,
        strength: _Rows = None,
        complementary: bool = True,
        fibres: Fibres | None = None,
    ) -> Model: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model: ...
    @staticmethod
    def reduced(
        mesh: TetMesh,
        material: Material,
        basis: Basis,
        rig: Rig | None = None,
        strength: _Rows = None,
        cubature: Cubature | None = None,
        frequency: float | None = None,
        stitches: Stitches | None = None,
        *,
        cubic: bool = False,
    ) -> Model: ...
    @staticmethod
    def projective(
        mesh: TetMesh | SurfaceMesh,
        material: Material,
        handles: int = 60,
        clusters: int = 120,
        seed: int = 0,
        *,
        thickness: float | None = None,
        bending: float = 1.0,
        rig: Rig | None = None,
        attached: _FloatsLike | _Flags | None = None,
        attachment: float = 30.0,
    ) -> Model: ...
    def sampled(self, cubature: Cubature) -> Model: ...
    def limited(self, limits: LimitSamples) -> Model: ...
    def nearest(self, displacements: _FloatsLike) -> _Floats: ...
    def displacement(
        self, coefficients: _FloatsLike, emb: Embedding | None = None, out: _Singles | None = None
    ) -> _Singles: ...
    def truncated(self, count: int) -> Model: ...
    def reduce_forces(self, forces: _FloatsLike, emb: Embedding | None = None) -> _Floats: ...
    def force_samples(self, count: int) -> ForceSamples: ...
    @property
    def frequency(self) -> float: ...
    @property
    def basis(self) -> Basis | None: ...
    @property
    def cubature(self) -> Cubature | None: ...
    @property
    def limit_samples(self) -> LimitSamples | None: ...
    @property
    def handle_centers(self) -> _Floats | None: ...
    @property
    def vertex_mass(self) -> _Floats | None: ...
    @property
    def skipped_count(self) -> int: ...
    @property
    def coefficient_shape(self) -> tuple[int, ...]: ...
    @property
    def mode_count(self) -> int: ...
    @property
    def bone_count(self) -> int: ...
    @property
    def cluster_count(self) -> int: ...

@final
class ForceSamples:
    @property
    def points(self) -> _Floats: ...
    @property
    def masses(self) -> _Floats: ...
    def posed(self, pose: _Rows = None) -> _Floats: ...
    def reduce(self, forces: _FloatsLike) -> _Floats: ...
    def drag(self, linear: _FloatsLike, quadratic: _Rows = None, velocity: _Rows = None) -> Drag: ...

@final
class Drag:
    def __new__(
        cls, linear: _FloatsLike, quadratic: _FloatsLike | None = None, velocity: _FloatsLike | None = None
    ) -> Drag: ...
    @property
    def linear(self) -> _Floats: ...
    @property
    def quadratic(self) -> _Floats: ...
    @property
    def velocity(self) -> _Floats: ...

@final
class Grip:
    def __new__(cls, model: Model, points: _IndicesLike, embedding: Embedding | None = None) -> Grip: ...
    def pull(self, targets: _FloatsLike, frequency: float = 10.0, calm: float = 0.0) -> Pull: ...

@final
class Pull:
    @property
    def targets(self) -> _Floats: ...

@final
class StepReport:
    @property
    def iterations(self) -> int: ...
    @property
    def residual(self) -> float: ...
    @property
    def converged(self) -> bool: ...
    @property
    def energy(self) -> float: ...

@final
class CycleReport:
    @property
    def passes(self) -> int: ...
    @property
    def position(self) -> float: ...
    @property
    def velocity(self) -> float: ...

@final
class State:
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> State: ...

@final
class Collider:
    @staticmethod
    def plane(
        point: Sequence[float] = (0.0, 0.0, 0.0),
        normal: Sequence[float] = (0.0, 0.0, 1.0),
        friction: float = 0.5,
    ) -> Collider: ...
    @staticmethod
    def sphere(
        radius: float, center: Sequence[float] = (0.0, 0.0, 0.0), friction: float = 0.5
    ) -> Collider: ...
    @staticmethod
    def capsule(
        start: Sequence[float], end: Sequence[float], radius: float, friction: float = 0.5
    ) -> Collider: ...
    @staticmethod
    def box(
        size: Sequence[float], center: Sequence[float] = (0.0, 0.0, 0.0), friction: float = 0.5
    ) -> Collider: ...
    @staticmethod
    def mesh(
        points: _FloatsLike, triangles: _IndicesLike, resolution: int = 64, friction: float = 0.5
    ) -> Collider: ...
    def sparing(self, points: _IndicesLike) -> Collider: ...
    @property
    def friction(self) -> float: ...
    def distance(self, point: Sequence[float]) -> tuple[float, list[float]]: ...
    def distances(self, points: _FloatsLike) -> _Floats: ...

@final
class Simulation:
    def __new__(
        cls,
        model: Model,
        dt: float = 0.041666666666666664,
        substeps: int = 1,
        max_iterations: int | None = None,
        tolerance: float = 1e-6,
        damping: float = 0.0,
        gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
        pose_rest: float = 1.0,
        stiffness: float = 1.0,
        integrator: str = "backward_euler",
        strength: float = 1.0,
        limit: float | None = None,
        stretch: float | None = None,
        colliders: Sequence[Collider] | None = None,
        contact_points: Embedding | None = None,
        contact_weights: _FloatsLike | None = None,
        contraction: _Field = 0.0,
        inflation: float = 1.0,
        hold: float = 0.0,
        shape: Collider | None = None,
        stitching: _Field = 1.0,
    ) -> Simulation: ...
    def step(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
        pull: Pull | None = None,
    ) -> StepReport: ...
    def settle(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        max_iterations: int = 1000,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
    ) -> StepReport: ...
    def settle_cycle(
        self,
        poses: _FloatsLike,
        strengths: _Rows = None,
        forces: _Rows = None,
        offsets: _Rows = None,
        max_passes: int = 6,
        tolerance: float = 1e-5,
        drags: Sequence[Drag | None] | None = None,
    ) -> CycleReport: ...
    def vary(
        self,
        stiffness: float | None = None,
        damping: float | None = None,
        gravity: tuple[float, float, float] | None = None,
        pose_rest: float | None = None,
        contraction: _Field | None = None,
        inflation: float | None = None,
        hold: float | None = None,
        stitching: _Field | None = None,
    ) -> None: ...
    strength: float
    def sample_positions(self, samples: ForceSamples) -> _Floats: ...
    def displacement(self, out: _Singles | None = None) -> _Singles: ...
    @property
    def coefficients(self) -> _Floats: ...
    @property
    def model(self) -> Model: ...
    def save_state(self) -> State: ...
    def restore_state(self, state: State) -> None: ...
    def place(
        self,
        place: _Rows = None,
        velocity: tuple[float, float, float] | None = None,
        spin: tuple[float, float, float] | None = None,
    ) -> None: ...
    def cut(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None: ...
    def coast(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None: ...
    def reset(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None: ...

@final
class Domain:
    def __new__(cls, body: LinearModes | Model) -> Domain: ...
    @property
    def coordinate_count(self) -> int: ...
    @property
    def held(self) -> _Indices: ...

@final
class TreeState: ...

@final
class DomainTree:
    def __new__(
        cls,
        domains: Sequence[Domain],
        parents: _IndicesLike,
        interfaces: Sequence[_IndicesLike],
        placements: _Rows = None,
        *,
        free: bool = False,
        dt: float = 0.041666666666666664,
        substeps: int = 1,
        integrator: str = "backward_euler",
        max_iterations: int = 30,
        tolerance: float = 1e-6,
        stiffness: float = 1.0,
        damping: float = 0.0,
        gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
        colliders: Sequence[Collider] | None = None,
    ) -> DomainTree: ...
    def step(
        self,
        root: _Rows = None,
        wind: _FloatsLike | None = None,
        drag: _Field | None = None,
        colliders: _Rows = None,
    ) -> StepReport: ...
    def vary(
        self,
        stiffness: float | None = None,
        damping: float | None = None,
        gravity: tuple[float, float, float] | None = None,
    ) -> None: ...
    @property
    def coordinate_count(self) -> int: ...
    @property
    def frames(self) -> _Floats: ...
    def coordinates(self, domain: int) -> _Floats: ...
    def positions(self, domain: int) -> _Floats: ...
    def save_state(self) -> TreeState: ...
    def restore_state(self, state: TreeState) -> None: ...
    def reset(self) -> None: ...

@final
class Key:
    @staticmethod
    def shape(frame: int, coefficients: _FloatsLike, weight: float = 1.0) -> Key: ...
    @staticmethod
    def vertex(frame: int, vertex: int, displacement: Sequence[float], weight: float = 1.0) -> Key: ...

@final
class KeyedMotion:
    @property
    def forces(self) -> _Floats: ...
    @property
    def coefficients(self) -> _Floats: ...
    @property
    def misses(self) -> _Floats: ...
    @property
    def iterations(self) -> int: ...
    @property
    def residual(self) -> float: ...
    def tracking(self, effort: float = 0.01) -> Tracking: ...

@final
class Tracking:
    @property
    def gains(self) -> _Floats: ...
    def force(self, frame: int, state: State) -> _Floats: ...

def keyed_motion(
    simulation: Simulation,
    keys: Sequence[Key],
    frames: int,
    *,
    poses: _Rows = None,
    forces: _Rows = None,
    effort: float = 1e-6,
    max_iterations: int = 200,
    tolerance: float = 1e-4,
) -> KeyedMotion: ...
def step_together(
    simulations: Sequence[Simulation],
    poses: Sequence[_Rows],
    forces: Sequence[_Rows] | None = None,
    offsets: Sequence[_Rows] | None = None,
    drags: Sequence[Drag | None] | None = None,
    colliders: Sequence[_Rows] | None = None,
) -> list[StepReport]: ...

@disjoint_base
class Job:
    @property
    def progress(self) -> float: ...
    @property
    def stage(self) -> str: ...
    @property
    def done(self) -> bool: ...
    def cancel(self) -> None: ...

@final
class MotionJob(Job):
    def __new__(cls, simulation: Simulation) -> MotionJob: ...
    def step(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
    ) -> None: ...
    def settle(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        max_iterations: int = 1000,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
    ) -> None: ...
    def settle_cycle(
        self,
        poses: _FloatsLike,
        strengths: _Rows = None,
        forces: _Rows = None,
        offsets: _Rows = None,
        max_passes: int = 6,
        tolerance: float = 1e-5,
        drags: Sequence[Drag | None] | None = None,
    ) -> None: ...
    def cut(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None: ...
    def coast(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None: ...
    def reset(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None: ...
    def place(
        self,
        place: _Rows = None,
        velocity: tuple[float, float, float] | None = None,
        spin: tuple[float, float, float] | None = None,
    ) -> None: ...
    def vary(
        self,
        stiffness: float | None = None,
        damping: float | None = None,
        gravity: tuple[float, float, float] | None = None,
        pose_rest: float | None = None,
        contraction: _Field | None = None,
        inflation: float | None = None,
        hold: float | None = None,
        stitching: _Field | None = None,
    ) -> None: ...
    strength: float
    def keep(self, state: bool = False) -> None: ...
    @property
    def kept(self) -> int: ...
    @property
    def report(self) -> CycleReport | None: ...
    def wait(self) -> None: ...
    def coefficients(self, start: int = 0) -> _Floats: ...
    def converged(self, start: int = 0) -> list[bool]: ...
    def state(self, index: int) -> State | None: ...

@final
class SkeletonCore:
    def __new__(
        cls,
        heads: _FloatsLike,
        parents: _IndicesLike,
        *,
        names: Sequence[str] | None = None,
        roles: Sequence[str] | None = None,
        amount: float = 0.5,
        rigid: _Flags | Sequence[bool] | None = None,
        still: Sequence[bool] | None = None,
        resolution: int | None = None,
        anatomy: bool = False,
        parts: Mapping[str, tuple[float, float]] | None = None,
    ) -> SkeletonCore: ...
    @staticmethod
    def is_hard_name(name: str) -> bool: ...
    @staticmethod
    def is_hard_material(name: str) -> bool: ...
    @staticmethod
    def hard_points(
        points: _FloatsLike,
        triangles: _IndicesLike,
        weights: _FloatsLike,
        *,
        joints: int = 1,
        hinted: _Flags | None = None,
    ) -> _Flags: ...

@final
class Body:
    def __new__(
        cls,
        points: _FloatsLike,
        triangles: _IndicesLike,
        weights: _FloatsLike,
        *,
        resolution: int = 32,
        solid: bool = True,
        modes: int = 16,
        clusters: int = 100,
        cubature: int = 0,
        young: _Field = 1e4,
        poisson: float = 0.0,
        density: float = 1000.0,
        locality: float = 0.0,
        driven: bool = False,
        law: str = "arap",
        leak: _Rows = None,
        strength: _Rows = None,
        pinned: _Flags | Sequence[bool] | None = None,
        core: SkeletonCore | None = None,
        merge_into: _IndicesLike | None = None,
        bone_parents: _IndicesLike | None = None,
        shapes: _Rows = None,
        seed: int = 0,
        stitches: _IndicesLike | None = None,
        stitch_stiffness: _Field = 1e4,
        stitch_gap: _Field = 0.0,
        stitch_group: _IndicesLike | None = None,
        stitch_radius: _Field = 0.0,
        stitch_known: _Field = 1.0,
        editable: bool = False,
        like: Body | None = None,
    ) -> Body: ...
    @property
    def residual(self) -> float: ...
    @property
    def residuals(self) -> _Floats: ...
    @property
    def factor_bytes(self) -> int: ...
    @property
    def mesh(self) -> TetMesh: ...
    @property
    def embedding(self) -> Embedding: ...
    @property
    def rig(self) -> Rig: ...
    @property
    def leak(self) -> _Floats: ...
    @property
    def pinned(self) -> _Flags: ...
    @property
    def roles(self) -> list[str]: ...
    @property
    def parts(self) -> list[str]: ...
    @property
    def part_weights(self) -> _Floats: ...
    @property
    def core_share(self) -> _Floats: ...
    @property
    def merged(self) -> _Indices: ...
    @property
    def material(self) -> Material: ...
    @property
    def modes(self) -> SkinningModes: ...
    @property
    def labels(self) -> _Indices: ...
    @property
    def model(self) -> Model: ...
    def full_space(self, material: Material | None = None, fibres: Fibres | None = None) -> Model: ...
    def learn(
        self,
        snapshots: _FloatsLike,
        poses: _FloatsLike,
        count: int = 64,
        tets: int | None = None,
        material: Material | None = None,
        frequency: float | None = None,
        limit: float | None = None,
        stretch: float | None = None,
        seed: int = 0,
    ) -> Model: ...
    def reduced(
        self,
        basis: Basis,
        cubature: Cubature | None = None,
        material: Material | None = None,
        frequency: float | None = None,
        limits: LimitSamples | None = None,
    ) -> Model: ...
    def reduce_offsets(self, offsets: _FloatsLike) -> _Floats: ...
    def vertex_offsets(self, offsets: _FloatsLike) -> _Floats: ...
    def spread(self, values: _FloatsLike) -> _Floats: ...

@final
class BodyJob(Job):
    def __new__(
        cls,
        points: _FloatsLike,
        triangles: _IndicesLike,
        weights: _FloatsLike,
        *,
        resolution: int = 32,
        solid: bool = True,
        modes: int = 16,
        clusters: int = 100,
        cubature: int = 0,
        young: _Field = 1e4,
        poisson: float = 0.0,
        density: float = 1000.0,
        locality: float = 0.0,
        driven: bool = False,
        law: str = "arap",
        leak: _Rows = None,
        strength: _Rows = None,
        pinned: _Flags | Sequence[bool] | None = None,
        core: SkeletonCore | None = None,
        merge_into: _IndicesLike | None = None,
        bone_parents: _IndicesLike | None = None,
        shapes: _Rows = None,
        seed: int = 0,
        stitches: _IndicesLike | None = None,
        stitch_stiffness: _Field = 1e4,
        stitch_gap: _Field = 0.0,
        stitch_group: _IndicesLike | None = None,
        stitch_radius: _Field = 0.0,
        stitch_known: _Field = 1.0,
        editable: bool = False,
        like: Body | None = None,
    ) -> BodyJob: ...
    def result(self) -> Body: ...

@final
class LearnJob(Job):
    def __new__(
        cls,
        body: Body,
        snapshots: _FloatsLike,
        poses: _FloatsLike,
        count: int = 64,
        tets: int | None = None,
        material: Material | None = None,
        frequency: float | None = None,
        limit: float | None = None,
        stretch: float | None = None,
        seed: int = 0,
    ) -> LearnJob: ...
    def result(self) -> Model: ...

@final
class FullSpaceJob(Job):
    def __new__(
        cls, body: Body, material: Material | None = None, fibres: Fibres | None = None
    ) -> FullSpaceJob: ...
    def result(self) -> Model: ...

@final
class ProjectiveJob(Job):
    def __new__(
        cls,
        mesh: TetMesh | SurfaceMesh,
        material: Material,
        handles: int = 60,
        clusters: int = 120,
        seed: int = 0,
        *,
        thickness: float | None = None,
        bending: float = 1.0,
        rig: Rig | None = None,
        attached: _FloatsLike | _Flags | None = None,
        attachment: float = 30.0,
    ) -> ProjectiveJob: ...
    def result(self) -> Model: ...

@final
class HelperBonesJob(Job):
    def __new__(
        cls,
        points: _FloatsLike,
        frames: _Singles,
        transforms: _FloatsLike,
        weights: _FloatsLike,
        count: int,
        influences: int = 4,
        passes: int = 15,
    ) -> HelperBonesJob: ...
    def result(self) -> tuple[_Floats, _Floats, float, float]: ...

def helper_bones(
    points: _FloatsLike,
    frames: _Singles,
    transforms: _FloatsLike,
    weights: _FloatsLike,
    count: int,
    influences: int = 4,
    passes: int = 15,
) -> tuple[_Floats, _Floats, float, float]: ...

@final
class ModalKeysJob(Job):
    def __new__(cls, frames: _Singles, tolerance: float, max_keys: int = 30) -> ModalKeysJob: ...
    def result(self) -> tuple[_Singles, _Singles, float]: ...

def modal_keys(
    frames: _Singles, tolerance: float, max_keys: int = 30
) -> tuple[_Singles, _Singles, float]: ...
def pull_back(displacement: _Singles, matrices: _FloatsLike) -> _Singles: ...
