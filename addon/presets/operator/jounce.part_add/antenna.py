import bpy

op = bpy.context.active_operator

op.amount = 1.5
op.softness = 0.7
