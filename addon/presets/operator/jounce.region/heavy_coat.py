import bpy

op = bpy.context.active_operator

op.stiffness = 0.275
op.elsewhere = 0.5
op.strength = 0.8
op.leak = 1.0
