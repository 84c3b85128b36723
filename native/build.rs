//! Makes programs ask for the library by its own name, whatever name they were linked with.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdslcrt.so");
}
