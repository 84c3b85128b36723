# Each option that makefiles give nvcc, in its forms; the program says what it has done.
mkdir -p lib
$NVCC -shared -Xcompiler -fPIC library.cu -o lib/libof.so
long="--define-macro VALUE=7 --include-path inc --std c++17 --optimize 2 --gpu-architecture=sm_86 --compiler-options -DOF_THE_HOST,-Wall --ptxas-options=-v --expt-relaxed-constexpr --extended-lambda --relocatable-device-code=true"
short="-DVALUE=9 -I inc -std=c++20 -O0 -g -gencode arch=compute_75,code=sm_75 -DWITHOUT -UWITHOUT -Xptxas -O3,-v -lineinfo -maxrregcount 32 -expt-relaxed-constexpr --expt-extended-lambda -rdc=true"
$NVCC $long -DWITHOUT -x cu -c main.txt -o main.o
$NVCC -dc other.cu third.cu
$NVCC -rdc=true -arch=sm_86 main.o other.o third.o -Llib -lof -Xlinker -rpath,lib -o first
$NVCC $short -x cu main.txt other.cu third.cu -L lib -l of -Xlinker -rpath,lib -o second
$NVCC -c $short -x cu main.txt -o debug.o
objdump -h debug.o | grep -c ' \.debug_info ' >debug.txt
printf '#!/bin/sh\n./first && ./second && echo "-g $(cat debug.txt)"\n' >prog
chmod +x prog
