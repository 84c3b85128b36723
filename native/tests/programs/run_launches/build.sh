# `dslc run` of one file whose kernels launch kernels: it chooses relocatable device code by itself.
cat >prog <<'END'
#!/bin/sh
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
unset DSLC
DSLC run --host native -q main.cu
echo "ended with $?"
DSLC run --host native --format json main.cu | grep -e '"kernel"' -e '"line"' | head -6
END
sed -i "s|^DSLC |${NVCC% nvcc} |" prog
chmod +x prog
