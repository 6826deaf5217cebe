import bpy

op = bpy.context.active_operator

op.amount = 1.2
op.softness = 1.5
