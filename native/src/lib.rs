//! `libdslcrt`: the functions of CUDA's runtime in C, for programs whose host code a host compiler compiled.
//!
//! In: the calls of such a program, and the images of its kernels ([`dsl::image`]) that its objects register before `main`. Out: what the
//! calls give, and a report at the end of the process. Kernels run on the simulator, at once: a call has done its work when it
//! returns. One lock guards all that is here, so that any thread may call.

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
