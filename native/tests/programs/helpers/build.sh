# The stand-ins work in sources of any kind; what has none says where it comes from.
$NVCC -std=c++14 -c tool.cpp
$NVCC main.cu tool.o -o prog
echo '#include <helper_math.h>' >math.cu
$NVCC -c math.cu 2>&1 | sed -n 's/.*fatal error: "\(.*\)".*/\1/p' >&2
