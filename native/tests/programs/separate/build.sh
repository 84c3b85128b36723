# Separate compilation: device functions and variables across files, an archive, a device link, and g++ as linker.
$NVCC -dc main.cu -o main.o
$NVCC -dc dev.cu -o dev.o
$NVCC -c util.cpp -o util.o
ar rcs libdev.a dev.o
$NVCC -dlink main.o libdev.a -o dlink.o
$NVCC main.o dlink.o libdev.a util.o -o prog
