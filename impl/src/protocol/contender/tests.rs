//! Every state × input.
