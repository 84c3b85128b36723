$NVCC -std=c++20 main.cpp view.cu -o prog
