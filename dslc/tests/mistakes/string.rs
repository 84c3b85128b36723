// The message names the line of this file; the place is the string's.
dslc::kernel!(mod k = r##"//~ 23 string.rs:3:49
__global__ void k(float *out) { out[0] = '\a' + wrong; }
"##);
mod other {
    dslc::kernel!(mod m = "__global__ void k(char *out) { out[0] = '\n'; }"); //~ 27 write it as r
}
