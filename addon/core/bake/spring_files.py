"""Writes spring bones to files: into a GLB as VRMC_springBone 1.0, and as text for Godot and Unreal.

Godot's SpringBoneSimulator3D has the settings of VRMC_springBone. Kawaii Physics moves a tail by the share c
of the way to its rest instead of by a force. Both agree in each step of dt with

    c = k dt / (L + k dt),   g_Kawaii = g / dt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jounce import gltf

from .springs import STEP, Springs

NAME = "VRMC_springBone"
SPRING, TAIL = "Spring {}", "Spring {} Tail"
# Bones of a vertex in one attribute of a file.
SET = 4
# Centimetres of Unreal in a metre.
UNREAL = 100.0


@dataclass(frozen=True)
class Hung:
    """Springs in a file. names: of the bone of each spring, of its tail, and of the bone above."""

    springs: Springs
    names: tuple[tuple[str, str, str], ...]

    def settings(self) -> list[dict[str, float]]:
        """The settings of each joint in VRMC_springBone."""
        own = self.springs
        return [
            {"stiffness": float(k), "dragForce": float(d), "gravityPower": float(g)}
            for k, d, g in zip(own.stiffness, own.drags, own.gravity, strict=True)
        ]

    def godot(self) -> list[dict[str, Any]]:
        """The settings of each spring in SpringBoneSimulator3D."""
        return [
            {
                "root_bone_name": spring,
                "end_bone_name": tail,
                "stiffness": told["stiffness"],
                "drag": told["dragForce"],
                "gravity": told["gravityPower"],
                "gravity_direction": [0.0, -1.0, 0.0],
                "radius": 0.0,
            }
            for told, (spring, tail, _) in zip(self.settings(), self.names, strict=True)
        ]

    def kawaii(self) -> list[dict[str, Any]]:
        """The settings of a node of Kawaii Physics for each spring."""
        pulls = STEP * self.springs.stiffness
        shares = pulls / (self.springs.lengths + pulls)
        return [
            {
                "RootBone": spring,
                "Damping": told["dragForce"],
                "Stiffness": float(share),
                "WorldDampingLocation": 0.0,
                "WorldDampingRotation": 0.0,
                "Radius": 0.0,
                "LimitAngle": 0.0,
                "Gravity": [0.0, 0.0, -UNREAL * told["gravityPower"] / STEP],
                "TargetFramerate": round(1.0 / STEP),
            }
            for told, share, (spring, _, _) in zip(self.settings(), shares, self.names, strict=True)
        ]

    def told(self, missed: float, errors: dict[str, float]) -> dict[str, Any]:
        """The text file beside a GLB. missed: of all unseen motion, and by bone."""
        return {
            "missedOfUnseenMotion": missed,
            "missedByBone": errors,
            "bones": [dict(zip(("spring", "tail", "above"), names, strict=True)) for names in self.names],
            "SpringBoneSimulator3D": self.godot(),
            "KawaiiPhysics": self.kawaii(),
        }


def hung(
    data: bytes, body: gltf.Flesh, springs: Springs, shares: np.ndarray, rows: Sequence[np.ndarray]
) -> tuple[bytes, Hung]:
    """A GLB file with springs added to its skins.

    body: joints of the bones and nodes of the meshes. shares: (p, k). rows: of the shares, for the vertices
    of each primitive of the meshes in turn.
    """
    file = Edited(data)
    joints = [file.hang(body, springs, index) for index in range(len(springs))]
    waiting = iter(rows)
    for node in (file.json["nodes"][index] for index in body.nodes):
        places = None if "skin" not in node else file.skin(node["skin"], body, springs, joints)
        for primitive in file.json["meshes"][node["mesh"]]["primitives"]:
            own = next(waiting)
            if places is not None:
                file.weigh(primitive["attributes"], shares[own], *places)
    made = Hung(springs, tuple(file.names(body, springs, joints)))
    chains = []
    for (spring, tail), told in zip(joints, made.settings(), strict=True):
        head = {"node": spring, "hitRadius": 0.0, "gravityDir": [0.0, -1.0, 0.0]} | told
        chains.append({"name": file.json["nodes"][spring]["name"], "joints": [head, {"node": tail}]})
    file.json["extensionsUsed"] = sorted({*file.json.get("extensionsUsed", []), NAME})
    file.json.setdefault("extensions", {})[NAME] = {"specVersion": "1.0", "springs": chains}
    return file.packed(), made


class Edited:
    """A GLB file with arrays and nodes added at its end."""

    def __init__(self, data: bytes) -> None:
        self._character = gltf.Character(data)
        self.json, self._binary = self._character.json, bytearray(self._character.binary)
        self._skins: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def hang(self, body: gltf.Flesh, springs: Springs, index: int) -> tuple[int, int]:
        """Adds the nodes of a spring below the joint of its bone: the spring and its tail."""
        nodes, bone = self.json["nodes"], springs.bones[index]
        bind = body.inverse_binds[bone]
        pivot = bind[:3, :3] @ springs.pivots[index] + bind[:3, 3]
        tail = bind[:3, :3] @ (springs.lengths[index] * springs.axes[index])
        known, number = {node.get("name") for node in nodes}, index + 1
        while SPRING.format(number) in known or TAIL.format(number) in known:
            number += len(springs)
        spring = len(nodes)
        nodes.append({"name": SPRING.format(number), "translation": pivot.tolist(), "children": [spring + 1]})
        nodes.append({"name": TAIL.format(number), "translation": tail.tolist()})
        nodes[body.joints[bone]].setdefault("children", []).append(spring)
        return spring, spring + 1

    def skin(
        self, skin: int, body: gltf.Flesh, springs: Springs, joints: list[tuple[int, int]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Adds springs to a skin once; places in the skin of their bones, -1 for none, and of the springs."""
        if skin in self._skins:
            return self._skins[skin]
        own = self.json["skins"][skin]
        binds = list(self._character.array(own["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2))
        above, places = [], []
        for bone, (spring, tail) in zip(springs.bones, joints, strict=True):
            place = own["joints"].index(body.joints[bone]) if body.joints[bone] in own["joints"] else -1
            above.append(place)
            places.append(len(own["joints"]))
            if place < 0:
                continue
            for node in (spring, tail):
                local = np.eye(4)
                local[:3, 3] = self.json["nodes"][node]["translation"]
                over = binds[place] if node == spring else binds[-1]
                own["joints"].append(node)
                binds.append(np.linalg.inv(local) @ over)
        own["inverseBindMatrices"] = self._add(np.array(binds).swapaxes(1, 2), "MAT4", "<f4", 5126)
        self._skins[skin] = np.array(above, int), np.array(places, int)
        return self._skins[skin]

    def weigh(
        self, attributes: dict[str, int], shares: np.ndarray, above: np.ndarray, places: np.ndarray
    ) -> None:
        """Moves shares (p, k) of the vertices of a primitive from their bones to the springs."""
        sets = sorted(name for name in attributes if name.startswith("JOINTS_"))
        joints = np.hstack([self._character.array(attributes[name]) for name in sets]).astype(int)
        found = [self._character.array(attributes[name.replace("JOINTS", "WEIGHTS")]) for name in sets]
        weights, vertices = np.hstack(found), np.arange(len(joints))[:, None]
        whole = np.zeros((len(joints), 1 + max(joints.max(), places.max(initial=0), above.max(initial=0))))
        np.add.at(whole, (vertices, joints), weights)
        for share, bone, place in zip(shares.T, above, places, strict=True):
            if bone >= 0:
                taken = np.minimum(share, whole[:, bone])
                whole[:, bone] -= taken
                whole[:, place] += taken
        whole[whole < 1e-6] = 0.0
        whole /= np.maximum(whole.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        count = max(1, -(-int((whole > 0.0).sum(axis=1).max(initial=1)) // SET))
        order = np.argsort(-whole, axis=1, kind="stable")[:, : SET * count]
        order = np.pad(order, ((0, 0), (0, SET * count - order.shape[1])))
        kept = np.take_along_axis(whole, order, axis=1)
        # Padding repeats a joint.
        kept[:, whole.shape[1] :] = 0.0
        order[kept == 0.0] = 0
        for name in sets:
            del attributes[name], attributes[name.replace("JOINTS", "WEIGHTS")]
        for number in range(count):
            part = slice(SET * number, SET * (number + 1))
            attributes[f"JOINTS_{number}"] = self._add(order[:, part], "VEC4", "<u2", 5123)
            attributes[f"WEIGHTS_{number}"] = self._add(kept[:, part], "VEC4", "<f4", 5126)

    def names(
        self, body: gltf.Flesh, springs: Springs, joints: list[tuple[int, int]]
    ) -> list[tuple[str, str, str]]:
        """The names of each spring, of its tail and of the bone above."""
        nodes = self.json["nodes"]
        heads = [body.joints[bone] for bone in springs.bones]
        return [
            (nodes[spring]["name"], nodes[tail]["name"], nodes[head].get("name", ""))
            for (spring, tail), head in zip(joints, heads, strict=True)
        ]

    def packed(self) -> bytes:
        """The bytes of the file."""
        self.json["buffers"][0]["byteLength"] = len(self._binary)
        return gltf.packed(self.json, bytes(self._binary))

    def _add(self, values: np.ndarray, kind: str, stored: str, component: int) -> int:
        """Adds an accessor, and returns its index."""
        self._binary += b"\0" * (-len(self._binary) % 4)
        piece = np.ascontiguousarray(values, stored).tobytes()
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": len(piece)}
        self.json["bufferViews"].append(view)
        self._binary += piece
        entry = {"bufferView": len(self.json["bufferViews"]) - 1, "componentType": component, "type": kind}
        self.json["accessors"].append(entry | {"count": len(values)})
        return len(self.json["accessors"]) - 1
