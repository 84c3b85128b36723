$NVCC -O1 main.cu lt.cu legacy.c -o prog -lcusparse -lcusolver -lcublasLt -lcublas
