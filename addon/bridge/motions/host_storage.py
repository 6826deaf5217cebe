"""Bytes stored with a host: on the host, or with its scene if the host's own file would not be saved."""

import bpy

from ..common import registry, stored_bytes


def of(host: bpy.types.Object, key: str) -> bytes | None:
    """Stored bytes of a host under a name, None for none."""
    of_shot = (place.get(key) for _, place in places_of(host))
    data = next((data for data in of_shot if data is not None), host.jounce.get(key))
    return data if isinstance(data, bytes) else None


def keep(host: bpy.types.Object, key: str, data: bytes) -> None:
    """Stores bytes under a name, over earlier ones."""
    if host.override_library is None:
        stored_bytes.put(host.jounce, key, data)
        return
    known = [place for _, place in places_of(host)]
    if not known:
        scene = next(scene for scene in bpy.data.scenes if scene.objects.get(host.name) == host)
        known.append(scene.jounce.motions.add())
        known[0].host = host
    stored_bytes.put(known[0], key, data)
    if key in host.jounce:
        del host.jounce[key]


def forget(host: bpy.types.Object, key: str) -> None:
    """Removes the bytes under a name."""
    for places, place in reversed(places_of(host)):
        if key in place:
            del place[key]
        if any(isinstance(value, bytes) for value in place.values()):
            continue
        scene = place.id_data
        places.remove(list(places).index(place))
        if not places:
            scene.jounce.property_unset("motions")
            registry.forget_empty(scene)
    if key in host.jounce:
        del host.jounce[key]


def places_of(
    host: bpy.types.Object,
) -> list[tuple["bpy.types.bpy_prop_collection", bpy.types.PropertyGroup]]:
    """Entries of a host in scenes, each with its collection."""
    states = filter(None, map(registry.state, bpy.data.scenes))
    return [(state.motions, place) for state in states for place in state.motions if place.host == host]
