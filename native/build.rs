//! Sets the library's soname, so that programs load it by that name, whatever name they were linked with.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdslcrt.so");
}
