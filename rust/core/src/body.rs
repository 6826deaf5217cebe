//! The whole way from a rigged surface to a model, in one call.
