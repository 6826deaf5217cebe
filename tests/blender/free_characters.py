"""Fetches the characters under free licences that the larger tests use, and compares their hashes.

    python free_characters.py DIR

DIR becomes a folder for `JOUNCE_DATA`. A file that is there already is only compared. Tests of other
characters are skipped with such a folder.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"
SECONDS = 120


@dataclass(frozen=True)
class Source:
    """A repository at a commit, and a folder in it."""

    repository: str
    commit: str
    folder: str


def quaternius(pack: str) -> Source:
    """A pack of models by Quaternius."""
    return Source(
        "beep2bleep/FreeAssetsByKenneyNLandQuaternius",
        "dea756baf3b3a4889d8c245e456a4791f961578a",
        f"FreeModels by Quaternius[Patreon]/Characters and Animals/{pack}",
    )


# MIT, and CC BY 4.0.
OZZ = Source("guillaumeblanc/ozz-animation", "6cbdc790123aa4731d82e255df187b3a8a808256", "media")
# CC0, with an animation under CC BY 4.0.
BEVY = Source("bevyengine/bevy", "4805ca792c3e94eef07afd6fa9a2712f388c9a67", "assets/models/animated")
# CC0, as all below.
KAYKIT = Source(
    "KayKit-Game-Assets/KayKit-Character-Pack-Adventures-1.0",
    "672074b73ba276876a19e8816ecdc5241817ab47",
    "addons/kaykit_character_pack_adventures/Characters/gltf",
)
# Converted for three.js; this is the copy of a project that uses it.
ROBOT = Source(
    "danielrmz18/threejs-3d-model-personalized",
    "ed3d502f31f6d7b2ef5f75a9419755f7a01dd5ad",
    "examples/models/gltf/RobotExpressive",
)
FRUIT = quaternius("Fruit Characters Animated - Mar 2017/FBX")
MONSTERS = quaternius("Monster Pack Animated - Aug 2018")
ENEMIES = quaternius("Easy Animated Enemy Pack - Jan 2019")
COWS = quaternius("Farm Animals Animated  - Jun 2018/FBX")
MEN = quaternius("Animated Men Characters - Feb 2019/FBX")
WOMEN = quaternius("Woman Animated - Dec 2017/FBX")
# Path of each file, its address, and the SHA-256 of its bytes.
FILES = {
    "open_creature/Avocado.fbx": (
        FRUIT,
        "Avocado.fbx",
        "986517a1dd4c34f5f4b1905a9400628715f88fefb567873950f7ac358b4d1459",
    ),
    "open_creature/Cow.fbx": (
        COWS,
        "Cow.fbx",
        "0202789cad8c1debb8ae5b4a47d1a5d2e5f93a0875878bc0b05a80e42ae37e8d",
    ),
    "open_creature/Dragon.fbx": (
        MONSTERS,
        "FBX/Dragon.fbx",
        "31a334a1c5918b4f4480cd5f6c542b3aea9b8f00a70aeb7feefd7f70528780cc",
    ),
    "open_creature/Fox.glb": (
        BEVY,
        "Fox.glb",
        "d97044e701822bac5a62696459b27d7b375aada5de8574ed4362edbba94771f7",
    ),
    "open_creature/Frog.blend": (
        ENEMIES,
        "Blends/Frog.blend",
        "19b31755ea858960152d2936842522b3a6b823a5435df965498ecc704c7bfd08",
    ),
    "open_creature/Slime.blend": (
        MONSTERS,
        "Blend/Slime.blend",
        "96bb71f4fb358c0fb932c19b694cca652089bd7b56f990801f9c537d81052a3c",
    ),
    "open_creature/Snake.fbx": (
        ENEMIES,
        "FBX/Snake.fbx",
        "553092a2e1c68ab4e49ce5c139942228a77a911b25c78635aca7901db0a8d53d",
    ),
    "open_humanoid/Animated_Woman_smooth.fbx": (
        WOMEN,
        "Animated Woman_smooth.fbx",
        "4f4f58fb84d274b93d440fc2cd15f646a0e54264acd7ad7b380ea98c78742a03",
    ),
    "open_humanoid/CesiumMan.gltf": (
        OZZ,
        "gltf/khronos/cesium_man.gltf",
        "e97bf032c41e1199772051f591b0a16cd1de046a1c9da119ceb13538a057c0fb",
    ),
    "open_humanoid/RobotExpressive.glb": (
        ROBOT,
        "RobotExpressive.glb",
        "047f5e5fb3bb6d378bd1df16ca6137f2a596c99b3a1b5690b4020c05aaf6f319",
    ),
    "open_humanoid/Smooth_Male_Suit.fbx": (
        MEN,
        "Smooth_Male_Suit.fbx",
        "cb3a29f5e3c8a35ba16439b56054305d7890a4efb629e3668ea20912937f4508",
    ),
    "open_humanoid/kaykit_Mage.glb": (
        KAYKIT,
        "Mage.glb",
        "cf898585da33fab50c724d31605fb931eb2912e6d2280092141e98ca81ad507d",
    ),
    "open_humanoid/ozz_arnaud.fbx": (
        OZZ,
        "fbx/pab/arnaud.fbx",
        "9badd21b0cf5af008cff0591b1bb616ea66fcf9004825678e161e0a0e03d25a2",
    ),
}


def main() -> int:
    """Fetches what is missing; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name in FILES:
        try:
            fetch(name, folder)
        except (OSError, ValueError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    print(f"{len(FILES)} characters are in {folder}")
    return 0


def fetch(name: str, folder: Path) -> None:
    """Brings a file into its place unless it is there. Raises ValueError for other bytes than expected."""
    path = folder / name
    data = path.read_bytes() if path.is_file() else None
    if data is None:
        with urllib.request.urlopen(address(name), timeout=SECONDS) as answer:
            data = answer.read()
    expected = FILES[name][2]
    if (found := hashlib.sha256(data).hexdigest()) != expected:
        raise ValueError(f"expected the SHA-256 {expected}, found {found}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def address(name: str) -> str:
    """Address of a file's bytes."""
    source, path, _ = FILES[name]
    path = urllib.parse.quote(f"{source.folder}/{path}")
    return ADDRESS.format(repository=source.repository, commit=source.commit, path=path)


if __name__ == "__main__":
    sys.exit(main())
