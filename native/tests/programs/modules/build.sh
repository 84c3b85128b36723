# Without the back end a module has no PTX to count in.
[ -x "$(dirname "${NVCC% nvcc}")/dslc-ptx" ] || exit 77
$NVCC -ptx kernels.cu -o kernels.ptx
$NVCC -cubin -arch=sm_80 kernels.cu
$NVCC -fatbin kernels.cu
printf '.version 8.0\n.target sm_80\n.address_size 64\n' >other.ptx
$NVCC -O1 main.cpp -o prog -lcuda
grep -c '\.entry _Z4plusPi4Pairi(\|\.entry twice(' kernels.ptx >&2 || true
