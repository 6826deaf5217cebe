import bpy

op = bpy.context.active_operator

op.amount = 1.3
op.softness = 2.0
