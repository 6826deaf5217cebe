import bpy

op = bpy.context.active_operator

op.stiffness = 1.0
op.elsewhere = 0.5
op.strength = 0.0
op.leak = 0.0
