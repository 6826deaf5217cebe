"""An artist's changes to a file, chosen at random and by the artist's data in the file."""

import re
from random import Random

import bmesh
import bpy
import scenes

from .hand import Hand
from .row import Scene

THEIRS = re.compile(r"(Body|Rig) \d+")


def bodies() -> list[bpy.types.Object]:
    """The artist's characters in the view layer, by name."""
    return objects("Body")


def rigs() -> list[bpy.types.Object]:
    """The artist's armatures in the view layer, by name."""
    return objects("Rig")


def objects(kind: str) -> list[bpy.types.Object]:
    """The artist's objects of a kind."""
    layer = bpy.context.view_layer.objects
    found = [obj for obj in layer if THEIRS.fullmatch(obj.name) and obj.name.startswith(kind)]
    return sorted(found, key=lambda obj: obj.name)


def one(chance: Random, found: list) -> object:
    """One of the candidates, None without any."""
    return chance.choice(found) if found else None


def go_to_a_frame(_hand: Hand, chance: Random) -> None:
    """Another frame."""
    bpy.context.scene.frame_set(chance.randint(-2, 16), subframe=chance.choice((0.0, 0.0, 0.0, 0.5)))


def key_a_bone(_hand: Hand, chance: Random) -> None:
    """A bone is turned and keyed."""
    rig = one(chance, rigs())
    if rig is not None:
        bone = chance.choice(list(rig.pose.bones))
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [chance.uniform(-0.5, 0.5) for _ in range(3)]
        bone.keyframe_insert("rotation_euler", frame=chance.randint(1, 12))


def pose_a_bone(_hand: Hand, chance: Random) -> None:
    """A bone is moved by hand and not keyed."""
    rig = one(chance, rigs())
    if rig is not None:
        chance.choice(list(rig.pose.bones)).location.x = chance.uniform(-0.2, 0.2)
        bpy.context.view_layer.update()


def move_a_rig(_hand: Hand, chance: Random) -> None:
    """An armature is moved and scaled, sometimes to nothing."""
    rig = one(chance, rigs())
    if rig is not None:
        rig.location.y = chance.uniform(-1.0, 1.0)
        rig.scale = (chance.choice((1.0, 1.0, 2.0, 0.5, 0.01, 0.0)),) * 3
        bpy.context.view_layer.update()


def add_a_key(_hand: Hand, chance: Random) -> None:
    """A shape key is added."""
    obj = one(chance, bodies())
    if obj is not None:
        if obj.data.shape_keys is None:
            obj.shape_key_add(name="Basis", from_mix=False)
        block = obj.shape_key_add(name=f"Theirs {chance.randint(1, 3)}", from_mix=False)
        block.points[chance.randrange(len(block.points))].co.x += 0.1


def their_key(chance: Random) -> tuple[bpy.types.Object | None, bpy.types.ShapeKey | None]:
    """A shape key of the artist's, and its object."""
    obj = one(chance, bodies())
    keys = None if obj is None else obj.data.shape_keys
    blocks = [] if keys is None else [block for block in keys.key_blocks if block.name.startswith("Theirs")]
    return obj, one(chance, sorted(blocks, key=lambda block: block.name))


def change_a_key(_hand: Hand, chance: Random) -> None:
    """A shape key gets another value, and is keyed, muted or renamed."""
    _, block = their_key(chance)
    if block is not None:
        block.value = chance.uniform(0.0, 1.0)
        what = chance.choice(("key", "mute", "rename", "drive"))
        if what == "key":
            block.keyframe_insert("value", frame=chance.randint(1, 12))
        elif what == "rename":
            block.name = f"Theirs {chance.randint(4, 9)}"
        elif what == "drive":
            block.driver_add("value").driver.expression = "frame / 30"
        else:
            block.mute = not block.mute


def delete_a_key(_hand: Hand, chance: Random) -> None:
    """A shape key is deleted."""
    obj, block = their_key(chance)
    if block is not None:
        obj.shape_key_remove(block)


def rename(_hand: Hand, chance: Random) -> None:
    """An object gets another name."""
    obj = one(chance, bodies() + rigs())
    if obj is not None:
        obj.name = f"{obj.name.split()[0]} {chance.randint(1000, 99999)}"


def delete(_hand: Hand, chance: Random) -> None:
    """Deletes an object, unless the last of its kind."""
    found = chance.choice((bodies(), bodies(), rigs()))
    if len(found) > 1:
        bpy.data.objects.remove(chance.choice(found))
        bpy.context.view_layer.update()


def duplicate(_hand: Hand, chance: Random) -> None:
    """Duplicates an object, sometimes with its armature."""
    obj = one(chance, bodies())
    if obj is None or obj.hide_get():
        return
    rig = obj.parent if chance.random() < 0.5 and obj.parent in rigs() else None
    active, chosen = bpy.context.view_layer.objects.active, list(bpy.context.selected_objects)
    scenes.activate(*(thing for thing in (obj, rig) if thing is not None and not thing.hide_get()))
    bpy.ops.object.duplicate()
    for copy in bpy.context.selected_objects:
        copy.name = f"{'Body' if copy.type == 'MESH' else 'Rig'} {chance.randint(1000, 99999)}"
        copy.data.name = copy.name
    scenes.activate(obj, *chosen)
    if active is not None:
        bpy.context.view_layer.objects.active = active


def add_a_modifier(_hand: Hand, chance: Random) -> None:
    """A modifier is added after all others."""
    obj = one(chance, bodies())
    if obj is not None:
        kind = chance.choice(("SMOOTH", "SUBSURF", "CAST", "SOLIDIFY", "DISPLACE"))
        obj.modifiers.new(f"Theirs {chance.randint(1, 3)}", kind).show_expanded = False


def change_a_modifier(_hand: Hand, chance: Random) -> None:
    """A modifier is deleted, switched off, made active or moved to the end."""
    obj = one(chance, bodies())
    found = [] if obj is None else [m for m in obj.modifiers if m.name.startswith("Theirs")]
    modifier = one(chance, found)
    if modifier is not None:
        what = chance.choice(("remove", "off", "active", "last"))
        if what == "remove":
            obj.modifiers.remove(modifier)
        elif what == "off":
            modifier.show_viewport = not modifier.show_viewport
        elif what == "active":
            obj.modifiers.active = modifier
        else:
            obj.modifiers.move(obj.modifiers.find(modifier.name), len(obj.modifiers) - 1)


def paint_a_group(_hand: Hand, chance: Random) -> None:
    """A vertex group is made and painted."""
    obj = one(chance, bodies())
    if obj is not None:
        name = f"Theirs {chance.randint(1, 3)}"
        active = obj.vertex_groups.active_index
        group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
        group.add(range(chance.randint(1, 100)), chance.random(), "REPLACE")
        obj.vertex_groups.active_index = active


def edit_the_mesh(_hand: Hand, chance: Random) -> None:
    """A vertex is moved in Edit Mode."""
    obj = one(chance, bodies())
    if obj is None or obj.hide_get() or obj.hide_viewport or bpy.context.mode != "OBJECT":
        return
    active = bpy.context.view_layer.objects.active
    bpy.context.view_layer.objects.active = obj
    obj.active_shape_key_index = 0
    bpy.ops.object.mode_set(mode="EDIT")
    shape = bmesh.from_edit_mesh(obj.data)
    shape.verts.ensure_lookup_table()
    shape.verts[chance.randrange(len(shape.verts))].co.x += 0.02
    bmesh.update_edit_mesh(obj.data)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = active


def hide(_hand: Hand, chance: Random) -> None:
    """An object is hidden or shown."""
    obj = one(chance, bodies() + rigs())
    if obj is not None:
        obj.hide_set(not obj.hide_get())


def select(_hand: Hand, chance: Random) -> None:
    """Selects other objects, and activates one."""
    for obj in bodies() + rigs():
        obj.select_set(chance.random() < 0.5)
    bpy.context.view_layer.objects.active = one(chance, [*bodies(), *rigs(), bpy.data.objects["Lamp"]])


def decorate(_hand: Hand, chance: Random) -> None:
    """An object gets a material and custom properties."""
    obj = one(chance, bodies())
    if obj is not None:
        obj[f"their {chance.randint(1, 3)}"] = chance.random()
        if len(obj.data.materials) < 2:
            obj.data.materials.append(bpy.data.materials["Skin"])


def change_the_shot(_hand: Hand, chance: Random) -> None:
    """The scene gets another frame rate or range."""
    scene = bpy.context.scene
    scene.render.fps = chance.choice((12, 24, 30, 60))
    scene.frame_end = chance.randint(8, 14)


def undo(_hand: Hand, chance: Random) -> None:
    """Some steps are undone."""
    for _ in range(chance.randint(1, 3)):
        if bpy.ops.ed.undo.poll():
            bpy.ops.ed.undo()


def redo(_hand: Hand, _chance: Random) -> None:
    """A step is done again."""
    if bpy.ops.ed.redo.poll():
        bpy.ops.ed.redo()


def save_and_open(hand: Hand, chance: Random) -> None:
    """Saves the file under one of several names, and opens the file again."""
    path = str(hand.folder / f"shot_{chance.randint(1, 2)}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


def save_elsewhere(hand: Hand, chance: Random) -> None:
    """Saves the file, or a copy of it, in another folder."""
    path = hand.folder / "elsewhere" / "shot_1.blend"
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=chance.random() < 0.5)


def purge(_hand: Hand, _chance: Random) -> None:
    """Purges unused data."""
    bpy.ops.outliner.orphans_purge(do_recursive=True)


STEPS: tuple[Scene, ...] = (
    go_to_a_frame,
    key_a_bone,
    pose_a_bone,
    move_a_rig,
    add_a_key,
    change_a_key,
    delete_a_key,
    rename,
    delete,
    duplicate,
    add_a_modifier,
    change_a_modifier,
    paint_a_group,
    edit_the_mesh,
    hide,
    select,
    decorate,
    change_the_shot,
    undo,
    undo,
    redo,
    save_and_open,
    save_elsewhere,
    purge,
)
