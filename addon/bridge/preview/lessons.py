"""What a body has learnt of its shots, kept with its host."""

import bpy

from ...core.bodies import BodyCache
from ...core.learnt import Learnt, unpack
from . import kept_data

KEY = "learnt"

# What was read last, by its digest; an empty tuple is what cannot be used.
_read: "BodyCache[tuple[Learnt, ...]]" = BodyCache(capacity=8)


def of(host: bpy.types.Object) -> Learnt | None:
    """What a host has learnt; None for nothing, or nothing that can be used."""
    digest = host.jounce.learnt_digest
    if not digest:
        return None
    found = _read.get(digest)
    if found is None:
        data = kept_data.of(host, KEY)
        learnt = None if data is None else unpack(data)
        found = () if learnt is None else (learnt,)
        _read.put(digest, found)
    return found[0] if found else None


def keep(host: bpy.types.Object, learnt: Learnt) -> None:
    """Keeps what was learnt, in the place of what was known."""
    kept_data.keep(host, KEY, learnt.pack())
    host.jounce.learnt_digest = learnt.digest
    _read.put(learnt.digest, (learnt,))


def forget(host: bpy.types.Object) -> None:
    """Forgets all that was learnt."""
    kept_data.forget(host, KEY)
    host.jounce.property_unset("learnt_digest")
