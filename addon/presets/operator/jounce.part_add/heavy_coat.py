import bpy

op = bpy.context.active_operator

op.amount = 0.7
op.softness = 1.5
