# `--count-only` in programs whose host code is compiled: the counts of a full run, and no number that was not computed.
cat >prog <<'END'
#!/bin/sh
dslc=DSLC
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
unset DSLC
counts() { grep -v -e '"blocks_run"' -e '"blocks":' -e '"counted"' -e '"reason"' -e '"checks"' "$1" | sed 's/,$//' | grep -v '^ *}$'; }
compare() {
    $dslc run "$@" --no-checks --format json -- 256 m >full.json
    $dslc run "$@" --count-only --format json -- 256 m >counted.json
    grep -c -e '"blocks_run"' counted.json
    counts full.json >full; counts counted.json >counted
    cmp full counted && echo 'the counts of a full run'
}
echo '== results that are quickly computed: two modules'
$dslc run main.cu more.cu --count-only -- 256 m 2>&1 | grep -v -e ' | ' -e '^$'
compare main.cu more.cu
echo '== results that take long: the program ends where it asks for them'
$dslc run main.cu more.cu --count-only -- 16384 2>&1 | grep -v -e ' | ' -e '^$'
echo '== managed memory that takes long'
sed 's/n \/ 128, 128>>>(m, n)/1 << 20, 1024>>>(m, n)/' main.cu >managed.cu
$dslc run managed.cu more.cu -q --count-only -- 256 m
echo '== the variable'
$dslc nvcc main.cu more.cu -o direct && DSLC='--count-only --quiet' ./direct 64; DSLC='--count-only --device gpu' ./direct 64
END
sed -i "s|=DSLC|=${NVCC% nvcc}|" prog
chmod +x prog
