//! `libdslcrt`: the functions of CUDA's runtime in C, for programs whose host code a host compiler compiled.
//!
//! It answers the calls of such a program. The program's objects register the images of their kernels ([`dsl::image`]) before `main`. At
//! the end of the process it makes a report. Kernels run on the simulator at once: the work of a call is done when it returns. One lock
//! guards all state, so that any thread may call.

mod array;
mod copy;
mod counted;
mod device;
mod exit;
mod fork;
mod graph;
mod launch;
mod memory;
mod module;
mod names;
mod options;
mod order;
mod place;
mod pool;
mod register;
mod reserve;
mod state;
mod stream;
mod virtual_memory;
