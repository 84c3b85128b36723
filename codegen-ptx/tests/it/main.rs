//! Tests of the PTX back end through its public interface: facts about the PTX of small kernels, and random modules.

mod facts;
mod random;
