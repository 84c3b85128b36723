# A project with its own Makefile, unchanged but for NVCC.
make -s NVCC="$NVCC"
