//! PTX from outside: facts about that of small kernels, and random modules.

mod facts;
mod random;
