"""USD characters: the meshes of a skeleton, and their shapes by UsdSkel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce._jounce import SkeletonCore
from jounce.usd_surface import Normals, fans, normals_of

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """A mesh of a body: the prim, and the rows among all points."""

    prim: Any
    rows: slice
    normals: Normals | None = None


@dataclass(frozen=True)
class Shape:
    """All points (p, 3) of a body in world space, metres.

    posed: (p, 3), the points without flesh. normals: (k, 3) of each posed mesh, of any length; None without
    normals.
    """

    points: Floats
    posed: Floats
    normals: Sequence[Floats | None]


@dataclass(frozen=True)
class Shapes:
    """The blend shapes of a mesh in UsdSkel. mapper: from an animation's weights to the mesh's."""

    query: Any
    mapper: Any
    indices: list[Any]
    offsets: list[Any]
    normals: list[Any]


@dataclass(frozen=True)
class Skinned:
    """A mesh and its binding, in units of the stage. rest, bound: (p, 3), authored points, and points in the
    bind pose.

    triangles: (t, 3). weights: (p, b), rows of sum 1. hinted: (p,), points of materials with the names of
    hard ones.
    """

    query: Any
    rest: Floats
    bound: Floats
    triangles: Indices
    weights: Floats
    hinted: Flags
    shapes: Shapes | None = None

    @property
    def prim(self) -> Any:
        """The prim of the mesh."""
        return self.query.GetPrim()


@dataclass(frozen=True)
class Character:
    """All meshes of one skeleton. flesh: meshes of the body. others: meshes that follow the flesh.

    names: of the joints. parents: (b,), -1 for none.
    """

    stage: Any
    skeleton: Any
    flesh: tuple[Skinned, ...]
    others: tuple[Skinned, ...]
    names: tuple[str, ...]
    parents: Indices
    parts: tuple[Part, ...] = field(init=False)

    def __post_init__(self) -> None:
        ends = np.cumsum([len(mesh.rest) for mesh in self.meshes]).tolist()
        rows = [slice(end - len(mesh.rest), end) for mesh, end in zip(self.meshes, ends, strict=True)]
        parts = [
            Part(mesh.prim, own, normals_of(geometry(mesh.prim)))
            for mesh, own in zip(self.meshes, rows, strict=True)
        ]
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def meshes(self) -> tuple[Skinned, ...]:
        """All meshes, those of flesh first."""
        return (*self.flesh, *self.others)

    @property
    def path(self) -> str:
        """The path of the skeleton, which names the body."""
        return str(self.skeleton.GetPrim().GetPath())

    def samples(self) -> Iterator[float]:
        """Time codes of all animation samples."""
        animation = self.skeleton.GetAnimQuery()
        if animation:
            yield from animation.GetJointTransformTimeSamples()
            yield from animation.GetBlendShapeWeightTimeSamples()
        for prim in (self.skeleton.GetPrim(), *(mesh.prim for mesh in self.meshes)):
            for attribute in attributes_above(prim):
                yield from attribute.GetTimeSamples()

    def world(self, time: float) -> Floats:
        """The transform (4, 4) of the skeleton to world space, for row vectors, in units of the stage."""
        return matrix_of(self.skeleton.GetPrim(), time)

    def heads(self) -> Floats:
        """Heads (b, 3) of the joints in the bind pose."""
        return np.array(
            [matrix.ExtractTranslation() for matrix in self.skeleton.GetJointWorldBindTransforms()]
        )

    def joints(self, time: float) -> Any:
        """The skinning transforms of the joints in the skeleton's space, as computed by UsdSkel."""
        transforms = self.skeleton.ComputeSkinningTransforms(time)
        if transforms is None or len(transforms) != len(self.names):
            raise ValueError(
                f"{self.path}: its rest and bind transforms or its animation do not fit its "
                f"{len(self.names)} joints"
            )
        if not np.isfinite(np.array(transforms)).all():
            raise ValueError(f"{self.path}: its joints are at no finite place at time code {time:g}")
        return transforms

    def posed(self, transforms: Any, time: float) -> Floats:
        """Positions (p, 3) of all points for given joint transforms, by UsdSkel, in the skeleton's space."""
        return np.concatenate([self._posed(mesh, transforms, time) for mesh in self.meshes])

    def _posed(self, mesh: Skinned, transforms: Any, time: float) -> Floats:
        points = geometry(mesh.prim).GetPointsAttr().Get(time)
        if points is None or len(points) != len(mesh.rest):
            raise ValueError(
                f"{mesh.prim.GetPath()}: has {len(points or ())} points at time code {time:g} and "
                f"{len(mesh.rest)} at its first one; flesh needs the same all the time"
            )
        fits = mesh.shapes is None or self._shape(mesh.shapes, mesh.shapes.offsets, points, time)
        if not (fits and mesh.query.ComputeSkinnedPoints(transforms, points, time)):
            raise ValueError(f"{mesh.prim.GetPath()}: its blend shapes or its joints do not fit its points")
        return finite(points, mesh.prim)

    def normals(self, transforms: Any, time: float) -> list[Floats | None]:
        """Normals (k, 3) of each mesh transformed by UsdSkel, in the skeleton's space, of any length."""
        pairs = zip(self.meshes, self.parts, strict=True)
        return [
            None if part.normals is None else self._turned(mesh, part.normals, transforms, time)
            for mesh, part in pairs
        ]

    def _turned(self, mesh: Skinned, own: Normals, transforms: Any, time: float) -> Floats:
        from pxr import Gf, UsdSkel, Vt

        given = own.read(geometry(mesh.prim), time)
        normals = Vt.Vec3fArray.FromNumpy(given.astype(np.float32))
        if mesh.shapes is not None and len(normals) == len(mesh.rest):
            self._shape(mesh.shapes, mesh.shapes.normals, normals, time)
        across = mesh.query.GetNumInfluencesPerComponent()
        found = mesh.query.ComputeVaryingJointInfluences(len(mesh.rest), time)
        indices, weights = (np.array(array).reshape(-1, across)[own.points].ravel() for array in found)
        order, mapper = mesh.query.GetJointOrder(), mesh.query.GetJointMapper()
        if order:
            transforms = mapper.RemapTransforms(transforms, Vt.Matrix4dArray(len(order)))
        # Joints with a scale of zero transform no normal.
        turns = np.linalg.pinv(np.array(transforms)[:, :3, :3]).mT
        bind = np.linalg.pinv(np.array(mesh.query.GetGeomBindTransform(time))[:3, :3]).T
        UsdSkel.SkinNormals(
            mesh.query.GetSkinningMethod(),
            Gf.Matrix3d(*bind.ravel().tolist()),
            Vt.Matrix3dArray.FromNumpy(np.ascontiguousarray(turns)),
            Vt.IntArray.FromNumpy(indices),
            Vt.FloatArray.FromNumpy(weights),
            across,
            normals,
        )
        return np.array(normals, dtype=np.float64)

    def _shape(self, shapes: Shapes, offsets: list[Any], points: Any, time: float) -> bool:
        weights = self.skeleton.GetAnimQuery().ComputeBlendShapeWeights(time)
        own = None if weights is None else shapes.mapper.Remap(weights)
        if not own:
            return True
        found = shapes.query.ComputeSubShapeWeights(own)
        return bool(shapes.query.ComputeDeformedPoints(*found, shapes.indices, offsets, points))


def characters(stage: Any) -> Iterator[Character]:
    """The characters of a stage, in traversal order."""
    from pxr import Usd, UsdSkel

    cache = UsdSkel.Cache()
    seen: set[Any] = set()
    for prim in stage.Traverse():
        if not prim.IsA(UsdSkel.Root):
            continue
        root = UsdSkel.Root(prim)
        cache.Populate(root, Usd.PrimDefaultPredicate)
        for binding in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
            skeleton = cache.GetSkelQuery(binding.GetSkeleton())
            # Nested roots contain the same meshes.
            targets = [
                query for query in binding.GetSkinningTargets() if query.GetPrim().GetPath() not in seen
            ]
            seen.update(query.GetPrim().GetPath() for query in targets)
            made = character(stage, skeleton, targets) if skeleton else None
            if made is not None:
                yield made


def character(stage: Any, skeleton: Any, targets: list[Any]) -> Character | None:
    """The character of a skeleton; None if no visible mesh is bound to its joints.

    Proxy meshes of a character follow its flesh.
    """
    from pxr import UsdGeom

    by_purpose: dict[str, list[Any]] = {}
    for query in targets:
        if has_faces(query) and query.HasJointInfluences() and shows(query.GetPrim()):
            by_purpose.setdefault(geometry(query.GetPrim()).ComputePurpose(), []).append(query)
    shown, proxies = UsdGeom.Tokens, by_purpose.get(UsdGeom.Tokens.proxy, [])
    seen = [*by_purpose.get(shown.default_, []), *by_purpose.get(shown.render, [])]
    flesh, others = (seen, proxies) if seen else (proxies, [])
    if not flesh:
        return None
    joints, topology = [str(name) for name in skeleton.GetJointOrder()], skeleton.GetTopology()
    if not (skeleton.HasBindPose() and len(skeleton.GetJointWorldBindTransforms()) == len(joints)):
        raise ValueError(f"{skeleton.GetPrim().GetPath()}: has no bind transform for each of its joints")
    return Character(
        stage,
        skeleton,
        tuple(skinned(skeleton, query, joints) for query in flesh),
        tuple(skinned(skeleton, query, joints) for query in others),
        tuple(name.rsplit("/", 1)[-1] for name in joints),
        np.array([topology.GetParent(joint) for joint in range(len(joints))], dtype=np.int64),
    )


def has_faces(query: Any) -> bool:
    """True for a mesh with points and faces."""
    from pxr import Usd, UsdGeom

    if not query.GetPrim().IsA(UsdGeom.Mesh):
        return False
    mesh, first = geometry(query.GetPrim()), Usd.TimeCode.EarliestTime()
    wanted = (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    return all(attribute.Get(first) for attribute in wanted)


def shows(prim: Any) -> bool:
    """True if a prim is visible at any time and not of the purpose guide."""
    from pxr import Usd, UsdGeom

    image = UsdGeom.Imageable(prim)
    switches = [each for each in attributes_above(prim) if each.GetName() == UsdGeom.Tokens.visibility]
    times = [time for switch in switches for time in switch.GetTimeSamples()]
    return image.ComputePurpose() != UsdGeom.Tokens.guide and any(
        image.ComputeVisibility(time) != UsdGeom.Tokens.invisible
        for time in (times or [Usd.TimeCode.EarliestTime()])
    )


def skinned(skeleton: Any, query: Any, joints: list[str]) -> Skinned:
    """A mesh of a skeleton, read in the bind pose."""
    from pxr import Usd

    prim, mesh, first = query.GetPrim(), geometry(query.GetPrim()), Usd.TimeCode.EarliestTime()
    rest = finite(mesh.GetPointsAttr().Get(first), prim)
    bind = np.array(query.GetGeomBindTransform(first))
    mirrored = (np.linalg.det(bind[:3, :3]) < 0.0) != (mesh.GetOrientationAttr().Get() == "leftHanded")
    faces = fans(mesh)
    return Skinned(
        query,
        rest,
        rest @ bind[:3, :3] + bind[3, :3],
        faces[:, ::-1] if mirrored else faces,
        influences(query, len(rest), joints),
        hinted(mesh, len(rest)),
        blend_shapes(skeleton, query),
    )


def hinted(mesh: Any, points: int) -> Flags:
    """The points (p,) with all faces of a hard material, by the material's name."""
    from pxr import Usd, UsdShade

    first = Usd.TimeCode.EarliestTime()
    counts, corners = (
        np.array(attribute.Get(first), dtype=np.int64)
        for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    )
    faces = np.full(len(counts), has_hard_name(mesh.GetPrim()))
    for subset in UsdShade.MaterialBindingAPI(mesh.GetPrim()).GetMaterialBindSubsets():
        faces[np.array(subset.GetIndicesAttr().Get(first) or [], dtype=np.int64)] = has_hard_name(
            subset.GetPrim()
        )
    of_corners, found = np.repeat(faces, counts), np.zeros(points, bool)
    found[corners[of_corners]] = True
    found[corners[~of_corners]] = False
    return found


def has_hard_name(prim: Any) -> bool:
    """True if the material of a prim has the name of a hard one."""
    from pxr import UsdShade

    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    return bool(material) and SkeletonCore.is_hard_material(material.GetPrim().GetName())


def blend_shapes(skeleton: Any, query: Any) -> Shapes | None:
    """The blend shapes of a mesh with weights in an animation."""
    from pxr import UsdSkel

    if not (query.HasBlendShapes() and skeleton.GetAnimQuery()):
        return None
    found = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(query.GetPrim()))
    indices, offsets = found.ComputeBlendShapePointIndices(), found.ComputeSubShapePointOffsets()
    return Shapes(found, query.GetBlendShapeMapper(), indices, offsets, normal_offsets(found))


def normal_offsets(query: Any) -> list[Any]:
    """Normal offsets of each shape and each inbetween; empty without any."""
    from pxr import Vt

    made = []
    for number in range(query.GetNumSubShapes()):
        between = query.GetInbetween(number)
        shape = query.GetBlendShape(query.GetBlendShapeIndex(number))
        given = (
            between.GetNormalOffsets() if between else shape.GetNormalOffsetsAttr().Get() if shape else None
        )
        made.append(given or Vt.Vec3fArray())
    return made


def influences(query: Any, points: int, names: list[str]) -> Floats:
    """The weights (p, b) of the skeleton's joints; rows sum to 1."""
    from pxr import Usd

    path, across = query.GetPrim().GetPath(), query.GetNumInfluencesPerComponent()
    found = query.ComputeVaryingJointInfluences(points, Usd.TimeCode.EarliestTime())
    # A mesh may have its own list of joints.
    own = [str(name) for name in query.GetJointOrder() or names]
    strange = [name for name in own if name not in names]
    if strange:
        raise ValueError(f"{path}: its joint {strange[0]} is none of its skeleton")
    if not found:
        raise ValueError(f"{path}: its joint indices and weights do not fit its {points} points")
    indices, weights = np.array(found[0], dtype=np.int64), np.array(found[1], dtype=np.float64)
    if indices.min(initial=0) < 0 or indices.max(initial=0) >= len(own):
        raise ValueError(f"{path}: its joint indices lead beyond its {len(own)} joints")
    joints = np.array([names.index(name) for name in own], dtype=np.int64)
    result = np.zeros((points, len(names)))
    chosen = joints[indices.reshape(points, across)]
    np.add.at(result, (np.arange(points)[:, None], chosen), weights.reshape(points, across))
    sums = result.sum(axis=1, keepdims=True)
    if not (sums > 0.0).all():
        raise ValueError(f"{path}: point {int(np.argmin(sums > 0.0))} has no joint that moves it")
    return np.asarray(result / sums)


def geometry(prim: Any) -> Any:
    """The mesh of a prim."""
    from pxr import UsdGeom

    return UsdGeom.Mesh(prim)


def attributes_above(prim: Any) -> Iterator[Any]:
    """Attributes for transforms and visibility of a prim and its ancestors, and for its points."""
    from pxr import UsdGeom

    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdGeom.Xformable):
            yield from (operation.GetAttr() for operation in UsdGeom.Xformable(prim).GetOrderedXformOps())
        if prim.IsA(UsdGeom.Imageable):
            yield UsdGeom.Imageable(prim).GetVisibilityAttr()
        if prim.IsA(UsdGeom.PointBased):
            yield UsdGeom.PointBased(prim).GetPointsAttr()
        prim = prim.GetParent()


def matrix_of(prim: Any, time: float) -> Floats:
    """The transform (4, 4) of a prim to world space, for row vectors, in units of the stage."""
    from pxr import UsdGeom

    found = np.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(prim))
    if not np.isfinite(found).all():
        raise ValueError(f"{prim.GetPath()}: is at no finite place at time code {time:g}")
    return found


def finite(points: Any, prim: Any) -> Floats:
    """Points (p, 3) of a prim."""
    found = np.array(points, dtype=np.float64).reshape(-1, 3)
    wrong = ~np.isfinite(found).all(axis=1)
    if wrong.any():
        raise ValueError(f"{prim.GetPath()}: point {int(np.argmax(wrong))} is at no finite place")
    return found
