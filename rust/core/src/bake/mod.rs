//! What follows from a simulation: baked shapes in the forms that other tools read.
