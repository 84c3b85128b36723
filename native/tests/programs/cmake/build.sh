# CMake's CUDA language, with device code in a library and C++ beside it. Exit code 77: it cannot be tried here.
command -v cmake >/dev/null || exit 77
ln -s "${NVCC% nvcc}" nvcc
cmake -B build -S . -DCMAKE_CUDA_COMPILER="$PWD/nvcc" -DCMAKE_CUDA_ARCHITECTURES=80 >cmake.log || { cat cmake.log; exit 1; }
cmake --build build >build.log 2>&1 || { cat build.log; exit 1; }
cp build/prog prog
