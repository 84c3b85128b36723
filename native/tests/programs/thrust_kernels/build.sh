# What C++17 has for the host alone, C++20 makes constexpr: only then may kernels call it.
$NVCC -std=c++20 -O1 main.cu -o prog
