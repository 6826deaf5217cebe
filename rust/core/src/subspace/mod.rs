//! Reduced bases: skinning eigenmodes and clusters.
