# What is missing is said: a GPU's driver, a report's folder, the runtime itself.
if PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q libcuda.so.1; then exit 77; fi
$NVCC main.cu -o host
cat >prog <<'END'
#!/bin/bash
DSLC_DEVICE=gpu ./host
echo "ended with $?"
DSLC_DEVICE=tpu ./host
echo "ended with $?"
DSLC='--quiet --json nowhere/out.json' ./host
echo "ended with $?"
DSLC='--quiet --baseline nowhere.json' ./host
echo "ended with $?"
sed -e 's/libdslcrt/libnoscrt/' host >other && chmod +x other && ./other 2>&1 | sed -e 's/.*error while/error while/'
echo "ended with ${PIPESTATUS[0]}"
END
chmod +x prog
