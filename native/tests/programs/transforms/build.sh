# Without FFTW the program says so.
find /usr/lib -name libfftw3f.so.3 | grep -q . || exit 77
$NVCC -std=c++17 -O1 main.cu -o prog -lcufft
