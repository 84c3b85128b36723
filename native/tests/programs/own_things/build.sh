# Sources of one program, linked as device code, that use the same names for things of their own.
$NVCC -rdc=true -O1 main.cu smooth.cu -o prog
