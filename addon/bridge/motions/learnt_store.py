"""The learnt basis of a body, stored with its host."""

import bpy

from ...core.body.built_bodies import BodyCache
from ...core.shot.learnt import Learnt, unpack
from . import host_storage

KEY = "learnt"

# The bases read last, by digest; an empty tuple for unusable ones.
_read: "BodyCache[tuple[Learnt, ...]]" = BodyCache(capacity=8)


def of(host: bpy.types.Object) -> Learnt | None:
    """The learnt basis of a host; None without a usable one."""
    digest = host.jounce.learnt_digest
    if not digest:
        return None
    found = _read.get(digest)
    if found is None:
        data = host_storage.of(host, KEY)
        learnt = None if data is None else unpack(data)
        found = () if learnt is None else (learnt,)
        _read.put(digest, found)
    return found[0] if found else None


def keep(host: bpy.types.Object, learnt: Learnt) -> None:
    """Stores a learnt basis over an earlier one."""
    host_storage.keep(host, KEY, learnt.pack())
    host.jounce.learnt_digest = learnt.digest
    _read.put(learnt.digest, (learnt,))


def forget(host: bpy.types.Object) -> None:
    """Deletes the learnt basis."""
    host_storage.forget(host, KEY)
    host.jounce.property_unset("learnt_digest")
