"""Names the bodies without a bake in the menu Render."""

import bpy

from ..bridge.bake import renders


def draw(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Adds the sentence and the button for the fix; nothing if all are baked."""
    hosts = renders.unbaked(context.scene)
    if hosts:
        menu.layout.separator()
        menu.layout.label(text=renders.sentence(hosts), icon="ERROR")
        menu.layout.operator("jounce.bake", text="Bake Jounce", icon="RENDER_ANIMATION").missing = True


def register() -> None:
    """Hangs the sentence into the menu."""
    bpy.types.TOPBAR_MT_render.append(draw)


def unregister() -> None:
    """Undoes `register`."""
    bpy.types.TOPBAR_MT_render.remove(draw)
