# Shared objects with kernels and variables of their own, one with a runtime of its own. The second may lie where the first was unloaded.
$NVCC -shared -Xcompiler -fPIC -cudart static scale.cu -o libscale.so
$NVCC -shared -Xcompiler -fPIC -cudart shared shift.cu -o libshift.so
$NVCC main.cu -o host -ldl
printf '#!/bin/sh\n./host ./libscale.so ./libshift.so\n' >prog
chmod +x prog
