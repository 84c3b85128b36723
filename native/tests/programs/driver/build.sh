$NVCC -O1 main.cu -o prog -lcuda
