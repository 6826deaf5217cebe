"""Rigged characters in GLB files: nodes, animations, and the flesh of the extension JOUNCE_flesh.

`read` gives a character whose bodies play in a `Player`; `add_flesh` writes bodies into a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce._glb import chunks, packed
from jounce._jounce import Player

__all__ = ["Character", "Flesh", "add_flesh", "chunks", "packed", "read"]

Floats = npt.NDArray[np.float64]

NAME = "JOUNCE_flesh"
KINDS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
# Mode of primitives that are triangles.
TRIANGLES = 4
PATHS = ("translation", "rotation", "scale")
# Settings of a body, and the least value of each; gravity is a vector.
LEAST = {"stiffness": 0.0, "damping": 0.0, "amount": 0.0, "stretch": 0.0, "limit": 0.0, "poseRest": 0.0}
LEAST |= {"substep": 0.0}
POSITIVE = ("stiffness", "substep")
# Their names in a Player.
NAMES = {"poseRest": "pose_rest"}


@dataclass(frozen=True)
class Flesh:
    """A body of a character.

    model: bytes of a model file of skinning modes. joints: node of each bone of the model. inverse_binds: (b,
    4, 4), from the model's rest space to the node's. nodes: of the meshes that hang in the body. settings:
    by the names of the extension, gravity (3,) along the axes of the file.
    """

    model: bytes
    joints: tuple[int, ...]
    inverse_binds: Floats
    nodes: tuple[int, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def pose(self, worlds: Floats) -> Floats:
        """The pose for a `Player`, `T_j = W_j B_j`.

        Parameters
        ----------
        worlds : (n, 4, 4) array
            Matrices W of all nodes, from `Character.worlds`.

        Returns
        -------
        (b, 3, 4) array
            Rest to posed in the world of the file.
        """
        return (worlds[list(self.joints)] @ self.inverse_binds)[:, :3]

    def player(self, points: npt.NDArray[Any] | None = None) -> Player:
        """A player with the settings of the file.

        Parameters
        ----------
        points : (p, 3) array, optional
            As in `Player`, for example from `Character.rest_points`.

        Returns
        -------
        Player
            Before its first pose.

        Raises
        ------
        ValueError
            For a model or a setting that a player does not take.
        """
        own = {NAMES.get(name, name): value for name, value in self.settings.items() if name != "gravity"}
        gravity = self.settings.get("gravity", (0.0, 0.0, 0.0))
        own |= {f"gravity_{axis}": value for axis, value in zip("xyz", gravity, strict=True)}
        return Player(self.model, points, **own)


class Character:
    """The contents of a GLB file; made by `read`."""

    def __init__(self, data: bytes) -> None:
        """data: the bytes of the file."""
        self.json, self.binary = chunks(data)
        try:
            self._parents = self._hierarchy()
            self.clips = [self._clip(animation) for animation in self.json.get("animations", [])]
            found = self.json.get("extensions", {}).get(NAME, {"bodies": []})["bodies"]
            self.bodies = tuple(self._body(entry) for entry in found)
        except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"the GLB file contradicts itself ({error!r}); export it again") from error

    def __repr__(self) -> str:
        """Counts of its nodes, clips and bodies."""
        counts = len(self.json.get("nodes", [])), len(self.clips), len(self.bodies)
        return "Character({} nodes, {} clips, {} bodies)".format(*counts)

    def worlds(self, seconds: float = 0.0, clip: int | None = 0) -> Floats:
        """Matrices of all nodes at a time of an animation.

        Parameters
        ----------
        seconds : float, default 0.0
            On the clock of the clip, which may start later than 0.
        clip : int, optional
            Index of the animation; None for the nodes as they stand in the file.

        Returns
        -------
        (n, 4, 4) array
            From each node to the world.
        """
        nodes = self.json.get("nodes", [])
        parts = [{path: node[path] for path in PATHS if path in node} for node in nodes]
        moved = set()
        for track in self.clips[clip] if clip is not None and self.clips else []:
            parts[track.node][track.path] = track.at(seconds)
            moved.add(track.node)
        made = np.empty((len(nodes), 4, 4))
        for node, parent in self._parents:
            still = nodes[node].get("matrix") if node not in moved else None
            local = composed(parts[node]) if still is None else np.reshape(still, (4, 4)).T
            made[node] = local if parent < 0 else made[parent] @ local
        return made

    def span(self, clip: int = 0) -> tuple[float, float]:
        """First and last time of an animation in seconds; 0 and 0 without one.

        Parameters
        ----------
        clip : int, default 0
            Index of the animation.

        Returns
        -------
        tuple of (float, float)
            Seconds.
        """
        times = [track.times for track in self.clips[clip]] if self.clips else []
        return (
            min((float(each[0]) for each in times), default=0.0),
            max((float(each[-1]) for each in times), default=0.0),
        )

    def rest_points(self, body: Flesh) -> list[Floats]:
        """Vertices of the meshes of a body in its rest space, for each primitive in order.

        A vertex of a skin hangs on joint j by its own inverse bind S_j: `X = B_j^-1 S_j x`, the same for
        each joint. Another mesh hangs on a joint that moves with its node n: `X = B_j^-1 W_j^-1 W_n x`.

        Parameters
        ----------
        body : Flesh
            One of `bodies`.

        Returns
        -------
        list of (p, 3) arrays
            Metres.
        """
        made = []
        for node, skin, primitive in self._primitives(body):
            matrix = self._to_rest(body, node, skin)
            places = self.array(primitive["attributes"]["POSITION"])
            made.append(places @ matrix[:3, :3].T + matrix[:3, 3])
        return made

    def rest_weights(self, body: Flesh) -> list[Floats]:
        """Skinning weights of the points of `rest_points`, for `Player.collide`.

        A joint that the body lacks counts as the nearest above that it has. A vertex without weights hangs on
        the first joint of its skin.

        Parameters
        ----------
        body : Flesh
            One of `bodies`.

        Returns
        -------
        list of (p, b) arrays
            Weights of the joints of the body, of sum 1.
        """
        made = []
        for node, skin, primitive in self._primitives(body):
            attributes = primitive["attributes"]
            weights = np.zeros((len(self.array(attributes["POSITION"])), len(body.joints)))
            if skin is None:
                weights[:, self._row_beside(body, node)] = 1.0
            else:
                rows = self._rows(body, skin)
                joints = rows[self.array(attributes["JOINTS_0"]).astype(np.intp)]
                np.add.at(
                    weights, (np.arange(len(weights))[:, None], joints), self.array(attributes["WEIGHTS_0"])
                )
                weights[weights.sum(axis=1) == 0.0, rows[0]] = 1.0
            made.append(weights / weights.sum(axis=1, keepdims=True))
        return made

    def triangles(self, body: Flesh) -> npt.NDArray[np.int64]:
        """Triangles (q, 3) between the points of `rest_points`, one primitive after the other.

        Primitives of lines, points, strips and fans have none.
        """
        made, first = [np.zeros((0, 3), dtype=np.int64)], 0
        for _, _, primitive in self._primitives(body):
            count = len(self.array(primitive["attributes"]["POSITION"]))
            if primitive.get("mode", TRIANGLES) == TRIANGLES:
                own = self.array(primitive["indices"]) if "indices" in primitive else np.arange(count)
                made.append(first + own.astype(np.int64).reshape(-1, 3))
            first += count
        return np.concatenate(made)

    def _primitives(self, body: Flesh) -> Iterator[tuple[int, int | None, dict[str, Any]]]:
        """The primitives of a body in order, each with its node and skin."""
        for node in body.nodes:
            own = self.json["nodes"][node]
            for primitive in self.json["meshes"][own["mesh"]]["primitives"]:
                yield node, own.get("skin"), primitive

    def _rows(self, body: Flesh, skin: int) -> npt.NDArray[np.intp]:
        """Row in the body of each joint of a skin."""
        above = dict(self._parents)

        def row(joint: int) -> int:
            while joint >= 0 and joint not in body.joints:
                joint = above[joint]
            return body.joints.index(joint) if joint >= 0 else 0

        return np.array([row(joint) for joint in self.json["skins"][skin]["joints"]], dtype=np.intp)

    def _to_rest(self, body: Flesh, node: int, skin: int | None) -> Floats:
        if skin is None:
            worlds = self.worlds(clip=None)
            row = self._row_beside(body, node)
            return np.linalg.inv(worlds[body.joints[row]] @ body.inverse_binds[row]) @ worlds[node]
        joints = self.json["skins"][skin]["joints"]
        binds = self.array(self.json["skins"][skin]["inverseBindMatrices"]).reshape(-1, 4, 4)
        row, joint = next((row, joint) for row, joint in enumerate(joints) if joint in body.joints)
        return np.linalg.inv(body.inverse_binds[body.joints.index(joint)]) @ binds[row].T

    def _row_beside(self, body: Flesh, node: int) -> int:
        """Row of a joint that moves with a node: itself, or one carried by the same animated node."""
        above = dict(self._parents)
        moved = {track.node for clip in self.clips for track in clip}
        moved |= {joint for skin in self.json.get("skins", []) for joint in skin["joints"]}

        def carrier(at: int) -> int:
            while at >= 0 and at not in moved:
                at = above[at]
            return at

        rows = [row for row, joint in enumerate(body.joints) if carrier(joint) == carrier(node)]
        if not rows:
            raise ValueError(f"{NAME} has no joint that moves with node {node}; export it again")
        return rows[0] if node not in body.joints else body.joints.index(node)

    def array(self, index: int) -> Floats:
        """Numbers of an accessor.

        Parameters
        ----------
        index : int
            Of the accessor.

        Returns
        -------
        (k, width) array
            Integers that stand for shares as these shares.

        Raises
        ------
        ValueError
            For an accessor beyond the end of the file.
        """
        accessor = self.json["accessors"][index]
        kind, width = np.dtype(KINDS[accessor["componentType"]]), WIDTHS[accessor["type"]]
        count = accessor["count"]
        if "bufferView" not in accessor:
            return np.zeros((count, width))
        view = self.json["bufferViews"][accessor["bufferView"]]
        stride = view.get("byteStride", kind.itemsize * width)
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        end = start + (count - 1) * stride + kind.itemsize * width
        if count < 1 or start < 0 or end > len(self.binary):
            raise ValueError(f"array {index} of the GLB file ends beyond the file; export it again")
        rows = np.ndarray((count, width), kind, self.binary, start, (stride, kind.itemsize))
        numbers = rows.astype(np.float64)
        if accessor.get("normalized"):
            numbers = np.maximum(numbers / np.iinfo(kind).max, -1.0)
        return numbers

    def _bytes(self, view: int) -> bytes:
        entry = self.json["bufferViews"][view]
        start = entry.get("byteOffset", 0)
        if start < 0 or start + entry["byteLength"] > len(self.binary):
            raise ValueError(f"part {view} of the GLB file ends beyond the file; export it again")
        return self.binary[start : start + entry["byteLength"]]

    def _hierarchy(self) -> list[tuple[int, int]]:
        """Nodes with their parents, parents first."""
        nodes = self.json.get("nodes", [])
        children = {child for node in nodes for child in node.get("children", [])}
        order = [(node, -1) for node in range(len(nodes)) if node not in children]
        for node, _ in order:
            order += [(child, node) for child in nodes[node].get("children", [])]
            if len(order) > len(nodes):
                break
        if len(order) != len(nodes):
            raise ValueError("the nodes of the GLB file hang on each other in a circle; export it again")
        return order

    def _clip(self, animation: dict[str, Any]) -> list[Track]:
        made = []
        for channel in animation["channels"]:
            target, sampler = channel["target"], animation["samplers"][channel["sampler"]]
            if target["path"] in PATHS and "node" in target:
                times, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
                kind = sampler.get("interpolation", "LINEAR")
                # The values of a spline, without their tangents.
                values = values[1::3] if kind == "CUBICSPLINE" else values
                made.append(Track(target["node"], target["path"], times, values, kind == "STEP"))
        return made

    def _body(self, entry: dict[str, Any]) -> Flesh:
        known = {"model", "joints", "inverseBindMatrices", "nodes", "extensions", "extras"}
        settings = {name: value for name, value in entry.items() if name not in known}
        binds = self.array(entry["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        body = Flesh(
            self._bytes(entry["model"]), tuple(entry["joints"]), binds, tuple(entry["nodes"]), settings
        )
        check(body, len(self.json["nodes"]))
        return body


@dataclass(frozen=True)
class Track:
    """Keys of a node: `path` over times (k,), values (k, w)."""

    node: int
    path: str
    times: Floats
    values: Floats
    steps: bool

    def at(self, seconds: float) -> Floats:
        """The value at a time; between keys a rotation goes the shorter way."""
        last = len(self.times) - 1
        key = int(np.clip(np.searchsorted(self.times, seconds, side="right") - 1, 0, max(0, last - 1)))
        if last == 0:
            return self.values[0]
        start, end = self.times[key], self.times[key + 1]
        share = float(np.clip((seconds - start) / max(end - start, 1e-12), 0.0, 1.0))
        share = float(share >= 1.0) if self.steps else share
        one, other = self.values[key], self.values[key + 1]
        if self.path != "rotation":
            return (1.0 - share) * one + share * other
        mixed = (1.0 - share) * one + share * np.copysign(1.0, one @ other) * other
        return mixed / np.linalg.norm(mixed)


def read(source: str | os.PathLike[str] | bytes) -> Character:
    """Reads a character of a GLB file, with its bodies.

    Parameters
    ----------
    source : path or bytes
        The file, or its bytes.

    Returns
    -------
    Character
        With `bodies`, each of which makes a `Player` and its poses.

    Raises
    ------
    ValueError
        For a file that is no GLB, is damaged, or has flesh that breaks the rules of the extension.
    OSError
        For a file that cannot be read.

    Examples
    --------
    >>> hero = jounce.gltf.read("hero.glb")  # doctest: +SKIP
    >>> body = hero.bodies[0]  # doctest: +SKIP
    >>> player = body.player(np.concatenate(hero.rest_points(body)))  # doctest: +SKIP
    >>> for frame in range(60):  # doctest: +SKIP
    ...     player.step(body.pose(hero.worlds(frame / 30)), 1 / 30)
    """
    if isinstance(source, bytes):
        return Character(source)
    with open(source, "rb") as file:
        return Character(file.read())


def add_flesh(data: bytes, bodies: Iterable[Flesh]) -> bytes:
    """A GLB file with bodies added, in place of those that it has.

    Parameters
    ----------
    data : bytes
        The file.
    bodies : iterable of Flesh
        The bodies.

    Returns
    -------
    bytes
        The new file.

    Raises
    ------
    ValueError
        For a file that is no GLB, and for a body that breaks the rules of the extension.

    Examples
    --------
    >>> file = jounce.gltf.add_flesh(open("hero.glb", "rb").read(), bodies)  # doctest: +SKIP
    """
    content, binary = chunks(data)
    parts = bytearray(binary)
    entries = []
    for body in bodies:
        check(body, len(content.get("nodes", [])))
        views = content.setdefault("bufferViews", [])
        accessors = content.setdefault("accessors", [])
        binds = np.ascontiguousarray(body.inverse_binds.transpose(0, 2, 1), dtype="<f4").tobytes()
        for piece in (body.model, binds):
            parts += b"\0" * (-len(parts) % 4)
            views.append({"buffer": 0, "byteOffset": len(parts), "byteLength": len(piece)})
            parts += piece
        accessors.append({"bufferView": len(views) - 1, "componentType": 5126, "type": "MAT4"})
        accessors[-1]["count"] = len(body.joints)
        own = {"model": len(views) - 2, "joints": list(body.joints), "nodes": list(body.nodes)}
        entries.append(own | {"inverseBindMatrices": len(accessors) - 1} | dict(body.settings))
    content.setdefault("buffers", [{}])[0]["byteLength"] = len(parts)
    content["extensionsUsed"] = sorted({*content.get("extensionsUsed", []), NAME})
    content.setdefault("extensions", {})[NAME] = {"bodies": entries}
    return packed(content, bytes(parts))


def check(body: Flesh, nodes: int) -> None:
    """Refuses a body that breaks the rules of the extension. nodes: their number in the file."""
    named = [*body.joints, *body.nodes]
    if not body.joints or any(not (isinstance(node, int) and 0 <= node < nodes) for node in named):
        raise ValueError(f"{NAME} names a node that is not in the file, or no joint; export it again")
    if body.inverse_binds.shape != (len(body.joints), 4, 4):
        raise ValueError(f"{NAME} has {len(body.joints)} joints and other inverse binds; export it again")
    if not np.isfinite(body.inverse_binds).all():
        raise ValueError(f"{NAME} has an inverse bind that is not finite; export it again")
    for name, value in body.settings.items():
        numbers = np.array(value, dtype=object).ravel().tolist()
        fine = all(isinstance(x, int | float) and np.isfinite(x) for x in numbers)
        if name == "gravity":
            fine = fine and len(numbers) == 3
        elif name in LEAST:
            fine = fine and len(numbers) == 1 and numbers[0] >= LEAST[name]
            fine = fine and (numbers[0] > 0.0 or name not in POSITIVE)
        else:
            raise ValueError(f"{NAME} has no setting {name}; the settings are {', '.join(LEAST)}, gravity")
        if not fine:
            raise ValueError(f"{NAME}.{name} is {value}, which is no value of it; export it again")


def composed(parts: Mapping[str, Any]) -> Floats:
    """Matrix (4, 4) of a translation, a rotation and a scale."""
    x, y, z, w = np.asarray(parts.get("rotation", (0.0, 0.0, 0.0, 1.0)), dtype=np.float64)
    made = np.eye(4)
    made[:3, :3] = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    made[:3, :3] *= np.asarray(parts.get("scale", (1.0, 1.0, 1.0)))
    made[:3, 3] = parts.get("translation", (0.0, 0.0, 0.0))
    return made
