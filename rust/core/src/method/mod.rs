//! Simulation methods, side by side; each file holds its parameters, its part of the model and its step.
