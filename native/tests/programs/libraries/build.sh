# Without OpenBLAS the program says so.
find /usr/lib -name libopenblas.so.0 | grep -q . || exit 77
$NVCC -std=c++17 -O1 main.cu -o prog -lcublas -lcurand
