//! IR
