# Marks for tools, and libraries that are not here.
$NVCC main.cu -lcurand -lcublasLt -lnvToolsExt -o prog
