# A launch from a kernel needs relocatable device code, as with nvcc.
$NVCC -std=c++17 -O1 -rdc=true main.cu -o prog
