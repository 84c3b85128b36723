# The driver's virtual memory.
$NVCC main.cu -o prog -lcuda
