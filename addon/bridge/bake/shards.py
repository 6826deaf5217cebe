"""Places of shards, simulated by the machines of a farm: files in a shared folder."""

from pathlib import Path

import bpy
import numpy as np

from ...core.flesh.settings import BakeSettings, Quality
from ...core.storage import shards
from ...core.storage.cache import MotionCache
from ...core.storage.final_cache import FileCache
from ..motions import final_files
from ..motions.motions import Motions


def begun(made: Motions, scene: bpy.types.Scene, settings: BakeSettings, lead: int) -> FileCache:
    """The shard of a bake's frames, as far as simulated. lead: number of simulated frames before the
    first.
    """
    frames, host = settings.frames, made.scene.host
    first = max(min(scene.frame_start, frames.start), frames.start - lead)
    kind, origin = shards.KINDS[settings.quality], origin_of(made, scene, settings)
    return shards.shard(kind, origin, frames, first, path_of(host, settings), programs())


def path_of(host: bpy.types.Object, settings: BakeSettings) -> Path:
    """The file of a shard."""
    name = f"{stem(host)} {settings.frame_start}-{settings.frame_end}{shards.SUFFIX}"
    return Path(settings.shards) / name


def joined(made: Motions, scene: bpy.types.Scene, settings: BakeSettings) -> tuple[MotionCache, str]:
    """The whole motion of a bake from its simulated shards, and a remark about their programs."""
    host = made.scene.host
    paths = sorted(Path(settings.shards).glob(f"*{shards.SUFFIX}"))
    own = [path for path in paths if path.name.startswith(f"{stem(host)} ")]
    parts = shards.found(shards.KINDS[settings.quality], own)
    return shards.joined(parts, origin_of(made, scene, settings), settings.frames, host.name, programs())


def origin_of(made: Motions, scene: bpy.types.Scene, settings: BakeSettings) -> dict[str, str]:
    """Inputs of a bake's motion except the drives."""
    make = made.final_origin if settings.quality is Quality.FINAL else made.origin
    return make(scene, settings.frame_start)


def programs() -> str:
    """Versions of the programs whose rounding a motion depends on."""
    return f"Blender {bpy.app.version_string} with numpy {np.__version__}"


def stem(host: bpy.types.Object) -> str:
    """Common start of the names of a body's shards."""
    return f"{final_files.file_stem()} {bpy.path.clean_name(host.name_full)}"
