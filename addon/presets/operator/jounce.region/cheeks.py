import bpy

op = bpy.context.active_operator

op.stiffness = 0.325
op.elsewhere = 0.5
op.strength = 1.0
op.leak = 1.0
