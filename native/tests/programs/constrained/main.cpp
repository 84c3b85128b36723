// A constrained template that a CUDA source defines: both sources give it one name.
#include "view.hpp"
#include <cstdio>

int main()
{
    Vec<float> f(100);
    for (float &x : f.host()) x = 2;
    axpb(f, 2.f, 0.5f, Config{.blocks = 2, .threads = square(8)});
    std::printf("%g %g\n", f.host().front(), f.host().back());
}
