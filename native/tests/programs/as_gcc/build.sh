# Host code that g++ takes with a warning or without, and clang refuses by itself.
$NVCC -Xcompiler -w,-fpermissive main.cu -o prog -Xcompiler "-march=native -rdynamic"
