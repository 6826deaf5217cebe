"""Bakes, which play without Jounce: kinds, files, and the replacement of an earlier bake."""
