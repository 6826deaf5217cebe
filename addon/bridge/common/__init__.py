"""Foundations of the bridge: units, frames, versions of Blender, modifiers, F-curves, marks."""
