//! Full-space solvers: the truth that reductions are measured against.
