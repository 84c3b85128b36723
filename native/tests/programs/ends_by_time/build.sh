# DSLC="--timeout": a kernel that does not end, a host that does not, and a program that is faster; DSLC="--rules".
$NVCC main.cu -o ends
cat >four_banks.toml <<'END'
[shared]
banks = 4
lanes_4 = 4
END
cat >prog <<'END'
#!/bin/bash
for how in kernel host none; do
    DSLC="$DSLC --timeout 0.5" timeout 20 ./ends $how 2>&1
    echo "$how: $?"
done
DSLC="--rules four_banks.toml --metrics shared_load_transactions" ./ends none 2>&1 | grep -e shared_load -e strided | tr -s ' '
DSLC="--timeout soon" ./ends none
DSLC="--rules nowhere.toml" ./ends none
END
chmod +x prog
