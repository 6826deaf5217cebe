"""The previewed bodies of the open file, and the handlers and the timer for their motion.

Costly handlers and the timer exist only while some body is previewed. The file itself says which bodies are
previewed; undo, reopening and copying need no further code.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

import bpy
from bpy.app.handlers import persistent

from ...core.common.task import Step
from ...core.common.user_error import UserError
from ..body import bodies, copies
from ..common import evaluation, frames, handlers, registry
from ..inputs import directions
from ..motions import final_files, motions, scratch_scene
from ..rig import meshes, modifier_stack, preview_modifier
from .session import Session

# Time of the timer per redraw, at rest and during playback.
RESTING_SECONDS = 0.03
PLAYING_SECONDS = 0.008
TICK_SECONDS = 0.01

# Called with True while anything is previewed, as long as registered here.
WATCHERS: list[Callable[[bool], None]] = []

_sessions: dict[int, Session] = {}
# Sessions of bodies with a temporarily disabled preview: they only note changes.
_set_aside: dict[int, Session] = {}
_looks = -1
_paused = 0
_rendering = False
_strips_drawn: list[tuple[range, range]] = []


def refuse_unusable(host: bpy.types.Object) -> None:
    """Refuses a body whose meshes cannot display a preview."""
    refuse_unplaced(host)
    if any(modifier_stack.is_baked(obj) for obj in bodies.members(host)):
        raise UserError(f"{host.name} shows its bake; free the bake to see the preview.")
    for obj in bodies.fleshed(host):
        meshes.refuse_unusable(obj)
        modifier_stack.refuse_nodes(obj)


def refuse_unplaced(host: bpy.types.Object) -> None:
    """Refuses a host outside of any scene: a scene gives the preview its time."""
    if scene_of(host) is None:
        raise UserError(f"{host.name} is not in any scene, so its motion cannot be shown; link it again.")


def switch_on(host: bpy.types.Object) -> None:
    """Shows the motion of a built body from now on."""
    refuse_unusable(host)
    for obj in bodies.fleshed(host):
        preview_modifier.add(obj)
    host.jounce.preview = True
    sync()
    known = _sessions[host.session_uid]
    if bpy.app.background:
        frames.show_again(known.scene)
    elif known.scene == bpy.context.scene:
        with refusals(known):
            known.show_at_once(bpy.context.evaluated_depsgraph_get())


def switch_off(host: bpy.types.Object) -> None:
    """Removes the preview of a body from its meshes."""
    host.jounce.property_unset("preview")
    for obj in bodies.members(host):
        preview_modifier.remove(obj)
    known = _set_aside.pop(host.session_uid, None)
    if known is not None:
        known.close()
    sync()


def set_aside(host: bpy.types.Object) -> None:
    """Switches the preview of a body off, and keeps its session in memory while valid.

    Switched on again, the session shows its frame at once, and checks the changes noted meanwhile.
    """
    known = None if bpy.app.background else _sessions.pop(host.session_uid, None)
    switch_off(host)
    if known is not None:
        known.taken_off()
        _set_aside[host.session_uid] = known
        listen(bool(_sessions))


def session(host: bpy.types.Object) -> Session | None:
    """The session of a previewed body, None for others."""
    return _sessions.get(host.session_uid)


def forget(host: bpy.types.Object) -> None:
    """Deletes the cache of a body; a previewed body starts a new one."""
    motions.forget(host)
    for known in (_sessions.pop(host.session_uid, None), _set_aside.pop(host.session_uid, None)):
        if known is not None:
            known.close()
    final_files.forget(host)
    sync()


def renew(host: bpy.types.Object) -> None:
    """Renews sessions and display after a build; meshes without flesh no longer show any motion."""
    for obj in set(bodies.members(host)) - set(bodies.fleshed(host)):
        preview_modifier.remove(obj)
    for known in (*_sessions.values(), *_set_aside.values()):
        if known.host == host or touches(known, {host}):
            known.suspect(reread=True)
            ensure_timer()


def filled(host: bpy.types.Object, context: bpy.types.Context) -> Generator[Step, None, None]:
    """Fills the cache of a previewed body, with a step at every frame."""
    known = _sessions[host.session_uid]
    if known.scene != context.scene:
        raise UserError(f"{host.name} is previewed in the scene {known.scene.name}; press Calculate there.")
    with paused():
        yield from known.filled(context)
    frames.show_again(known.scene)


def pause() -> None:
    """Writes nothing to meshes until `resume`, however often frames change. Calls may be nested."""
    global _paused
    _paused += 1


def resume() -> None:
    """Ends a `pause`."""
    global _paused
    _paused = max(0, _paused - 1)


@contextmanager
def paused() -> Iterator[None]:
    """Pauses for a while."""
    pause()
    try:
        yield
    finally:
        resume()


@contextmanager
def without_finals(hosts: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Pauses, and leaves the files of final motions to a bake."""
    for uid in [host.session_uid for host in hosts]:
        for known in filter(None, (_sessions.get(uid), _set_aside.get(uid))):
            known.let_go_of_final()
    with paused():
        yield


def sync() -> None:
    """Starts sessions for all bodies previewed according to the file, and ends all others."""
    registry.look_again()
    follow()
    listen(bool(_sessions))


def follow() -> None:
    """Session part of `sync`; the handlers stay, since a handler may be running."""
    global _looks
    _looks = registry.looks()
    copies.part(registry.meshes())
    final_files.keep_only({obj.session_uid for obj in registry.meshes()})
    hosts = {obj.session_uid: obj for obj in registry.meshes() if is_previewed(obj)}
    for uid in [uid for uid, known in _sessions.items() if not is_alive(known) or uid not in hosts]:
        _sessions.pop(uid).close()
    for uid in [uid for uid, known in _set_aside.items() if uid in hosts or not is_alive(known)]:
        known = _set_aside.pop(uid)
        if uid in hosts and is_alive(known) and known.scene == scene_of(hosts[uid]):
            known.taken_off()
            _sessions[uid] = known
        else:
            known.close()
    for uid, host in hosts.items():
        if uid not in _sessions:
            _sessions[uid] = Session(host, scene_of(host))
    if not _paused:
        take_off_left(set(hosts.values()))
    if _sessions:
        ensure_timer()


def has_changed() -> bool:
    """True if objects may have been added or removed since the sessions were made."""
    return registry.looks() != _looks or not all(is_whole(known) for known in _sessions.values())


def take_off_left(hosts: set[bpy.types.Object]) -> None:
    """Removes the still preview from meshes without a host or scene."""
    for obj in registry.meshes():
        if (
            obj.library is None
            and bodies.host_of(obj) not in hosts
            and preview_modifier.modifier_of(obj) is not None
        ):
            preview_modifier.remove(obj)


def is_previewed(obj: bpy.types.Object) -> bool:
    """True if an object is the host of a previewed body in some scene."""
    if obj.library is not None or not registry.is_host(obj):
        return False
    return obj.jounce.preview and scene_of(obj) is not None


def scene_of(obj: bpy.types.Object) -> bpy.types.Scene | None:
    """The scene for the time of an object's preview: the current scene if it contains the object."""
    scenes = [bpy.context.scene, *bpy.data.scenes]
    return next(
        (scene for scene in scenes if not scratch_scene.is_staged(scene) and obj.name in scene.objects), None
    )


def is_alive(known: Session) -> bool:
    """True if all data of a session still exists in the file."""
    try:
        objects = [known.host]
        if known.motions is not None:
            objects += [*known.motions.scene.objects, *known.motions.scene.reader.armatures]
        return known.host.name in known.scene.objects and all(
            bpy.data.objects.get((obj.name, obj.library and obj.library.filepath)) == obj for obj in objects
        )
    except ReferenceError:
        return False


def is_whole(known: Session) -> bool:
    """True if no displayed object has been deleted."""
    blocks = [known.scene, known.host]
    if known.motions is not None:
        blocks += [*known.motions.scene.objects, *known.motions.scene.reader.armatures]
    return all(map(registry.is_there, blocks))


def touches(known: Session, hosts: set[bpy.types.Object]) -> bool:
    """True if any of these bodies is a companion of a session's."""
    others = () if known.motions is None else known.motions.scene.companions
    return any(other.scene.host in hosts for other in others)


def is_shown(known: Session) -> bool:
    """True for an active session, whose body was neither deleted nor undone."""
    return any(known is each for each in _sessions.values()) and is_alive(known)


def shown_in(scene: bpy.types.Scene) -> list[Session]:
    """The sessions of a scene, none while paused."""
    if _paused or _rendering:
        return []
    if has_changed():
        follow()
        if not _sessions and not bpy.app.background:
            bpy.app.timers.register(sync, first_interval=0.0)
    return [known for known in _sessions.values() if known.scene == scene]


@contextmanager
def refusals(known: Session) -> Iterator[None]:
    """Shows refusals of the simulation in the panel."""
    try:
        yield
    except UserError as refusal:
        known.trouble = str(refusal)
        known.leave_stage()


def strips(scene: bpy.types.Scene) -> list[tuple[range, range]]:
    """The cached frames of each body in a scene: verified ones, and possibly stale ones."""
    return [known.cached for known in _sessions.values() if known.scene == scene]


def rough(scene: bpy.types.Scene) -> list[list[int]]:
    """The frames of each body in a scene that have not converged."""
    return [known.rough for known in _sessions.values() if known.scene == scene]


def direct(host: bpy.types.Object) -> None:
    """Shows the present direction of a body at once, and its keys in the timelines."""
    known = _sessions.get(host.session_uid)
    if known is not None and not _paused and not _rendering:
        with refusals(known):
            redraw(known.show_directed())
    for area in areas("DOPESHEET_EDITOR"):
        area.tag_redraw()


def keyed(scene: bpy.types.Scene) -> list[tuple[list[int], list[int]]]:
    """The frames of the flesh keys of each body in a scene: the active ones, and the others."""
    return [directions.keyed_frames(known.host) for known in _sessions.values() if known.scene == scene]


def is_playing() -> bool:
    """True if a window plays the animation."""
    return any(
        window.screen.is_animation_playing
        for manager in bpy.data.window_managers
        for window in manager.windows
    )


# Handlers.


@persistent
def before_frame(scene: bpy.types.Scene, _depsgraph: bpy.types.Depsgraph) -> None:
    """Displays cached motion before the frame is evaluated."""
    handlers.call_last("frame_change_post", after_frame)
    for known in shown_in(scene):
        known.enter_frame(scene.frame_current)


@persistent
def after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Corrects the display and simulates missing frames."""
    with evaluation.handed(depsgraph):
        settle(scene, depsgraph)


def settle(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Body of `after_frame`."""
    # Playback through cached frames costs no second look; other ways to a frame do.
    trusts = is_playing() and not handlers.foreign()
    for known in shown_in(scene):
        if trusts and known.is_settled(scene.frame_current):
            continue
        if scene.frame_subframe == 0.0 and known.host.evaluated_get(depsgraph).is_evaluated:
            with refusals(known):
                if bpy.app.background:
                    # Making or removing a force field changes the scene.
                    if depsgraph.id_type_updated("SCENE"):
                        known.look_around()
                    known.get_ready(bpy.context)
                known.settle_frame(scene.frame_current, depsgraph, patient=bpy.app.background)
        if known.busy:
            ensure_timer()


@persistent
def after_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Lets the flesh follow changes by hand, and notes possible changes for the cache."""
    playing = is_playing()
    changed = set()
    for known in shown_in(scene):
        with refusals(known):
            if known.look_at_changes(depsgraph):
                changed.add(known.host)
            known.look_at_settings()
            if not playing:
                known.touch(depsgraph)
    for known in () if _paused or _rendering else _set_aside.values():
        if known.scene == scene and is_whole(known) and known.look_at_changes(depsgraph):
            changed.add(known.host)
    for known in shown_in(scene):
        if changed and touches(known, changed):
            known.suspect(reread=True)
        if known.busy:
            ensure_timer()


@persistent
def before_render(*_: object) -> None:
    """A render shows bakes, and may call handlers from another thread."""
    global _rendering
    _rendering = True


@persistent
def after_render(*_: object) -> None:
    """The viewport goes on."""
    global _rendering
    _rendering = False


@persistent
def before_saving(*_: object) -> None:
    """No stage gets into a file."""
    for known in _sessions.values():
        known.leave_stage()


@persistent
def after_loading(*_: object) -> None:
    """Starts with the previews of a newly opened file or an undo step."""
    for known in _sessions.values():
        known.lose_stage()
        known.forget_shown()
    for known in _set_aside.values():
        # Blender reports no updates for changes by an undo step.
        known.lose_stage()
        known.suspect(reread=True)
    scratch_scene.clear()
    sync()
    for host in [known.host for known in _sessions.values()]:
        direct(host)


WHILE_PREVIEWING = {
    "frame_change_pre": before_frame,
    "frame_change_post": after_frame,
    "depsgraph_update_post": after_change,
    "save_pre": before_saving,
    "render_init": before_render,
    "render_complete": after_render,
    "render_cancel": after_render,
}
ALWAYS = {"load_post": after_loading, "undo_post": after_loading, "redo_post": after_loading}


def listen(wanted: bool) -> None:
    """Adds or removes the handlers of a preview. wanted: True during previews."""
    global _rendering
    handlers.listen(WHILE_PREVIEWING, wanted or bool(_set_aside))
    for watcher in WATCHERS:
        watcher(wanted)
    _rendering = _rendering and wanted


# The timer.


def ensure_timer() -> None:
    """Has `tick` called while there is something to do; without a window there are no timers."""
    if not bpy.app.background and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=TICK_SECONDS)


def tick() -> float | None:
    """Works a little on every body; seconds until the next tick, None when all is done."""
    if _paused or _rendering:
        return TICK_SECONDS
    if has_changed():
        sync()
    seconds = PLAYING_SECONDS if is_playing() else RESTING_SECONDS
    working = [known for known in _sessions.values() if known.busy]
    changed = False
    for known in working:
        with refusals(known):
            changed = known.work(bpy.context, seconds / len(working)) or changed
    redraw(changed)
    return TICK_SECONDS if any(known.busy for known in working) else None


def redraw(meshes_changed: bool) -> None:
    """Shows progress in the sidebar and the timelines, and new shapes in the viewports."""
    for area in areas("VIEW_3D"):
        for region in area.regions:
            if meshes_changed or region.type == "UI":
                region.tag_redraw()
    now = [known.cached for known in _sessions.values()]
    if now != _strips_drawn:
        _strips_drawn[:] = now
        for area in areas("DOPESHEET_EDITOR"):
            area.tag_redraw()


def areas(kind: str) -> Iterable[bpy.types.Area]:
    """The areas of all windows with a kind of editor."""
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    return [area for window in windows for area in window.screen.areas if area.type == kind]


# With the extension.


def register() -> None:
    """Waits for files with previews, and starts with the open one."""
    handlers.listen(ALWAYS, True)
    if not bpy.app.background:
        bpy.app.timers.register(sync, first_interval=0.0)


def unregister() -> None:
    """Leaves no handler and no timer behind."""
    for known in (*_sessions.values(), *_set_aside.values()):
        known.close()
    _sessions.clear()
    _set_aside.clear()
    listen(False)
    handlers.listen(ALWAYS, False)
    for function in (tick, sync):
        if bpy.app.timers.is_registered(function):
            bpy.app.timers.unregister(function)
