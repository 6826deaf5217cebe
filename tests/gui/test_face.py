"""Everyday things of a window: the search finds Jounce, and the view turns while something long runs."""

import bpy
import numpy as np
import scenes


def test_the_search_finds_the_button_and_no_group_of_nodes(window):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    window.invoke("jounce.preview")
    yield lambda: obj.jounce.preview
    properties = next(area for area in window.handle.screen.areas if area.type == "PROPERTIES")
    properties.spaces[0].context = "MODIFIER"
    obj.modifiers[-1].show_expanded = True
    yield 0.3
    window.screenshot("modifier")
    yield 0.5
    scenes.activate(scenes.column("Other"))
    bpy.context.view_layer.update()
    window.look_at(bpy.data.objects["Other"])
    at = window.centre()
    window.move(*at)
    yield 0.2
    window.press("F3", at)
    yield 0.5
    for letter in "jounce":
        window.handle.event_simulate(type=letter.upper(), value="PRESS", unicode=letter, x=at[0], y=at[1])
        window.handle.event_simulate(type=letter.upper(), value="RELEASE", x=at[0], y=at[1])
        yield 0.1
    yield 0.5
    window.screenshot("search")
    # The first result.
    window.press("RET", at)
    yield lambda: bpy.data.objects["Other"].jounce.built_digest != ""
    # Marked groups are in the menu of modifiers, and in the search.
    assert bpy.data.node_groups and not any(tree.is_modifier for tree in bpy.data.node_groups)
    assert np.ptp(scenes.evaluated_frames(obj, range(1, 9)), axis=0).max() > 0.1


def test_the_view_is_turned_while_a_build_runs_and_nothing_else_is_done(window):
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.jounce.resolution, obj.jounce.modes, obj.jounce.clusters = 40, 24, 64
    window.look_at(obj)
    scenes.activate(obj)
    view = window.viewport.spaces[0].region_3d
    distance = view.view_distance
    at = window.centre()
    window.move(*at)
    yield 0.1
    window.invoke("jounce.build")
    yield 0.1
    assert window.is_running("JOUNCE_OT_build")
    window.press("WHEELUPMOUSE", at)
    yield 0.1
    window.press("X", at)
    window.press("G", at)
    yield lambda: view.view_distance < distance
    assert window.is_running("JOUNCE_OT_build"), "it was over before the view was moved"
    turned = np.array(view.view_rotation)
    window.hold("MIDDLEMOUSE", "PRESS", at)
    yield from window.drag(at, (80, 40))
    window.hold("MIDDLEMOUSE", "RELEASE", (at[0] + 80, at[1] + 40))
    yield 0.2
    assert not np.allclose(turned, np.array(view.view_rotation))
    window.screenshot("navigated-while-building")
    yield lambda: not window.is_running("JOUNCE_OT_build")
    assert obj.jounce.built_digest and np.allclose(obj.location, 0.0) and obj.name in bpy.data.objects
