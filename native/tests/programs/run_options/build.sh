# `dslc run` of several files: compiled once, built again when a file has changed, with the options of `dslc run`.
cat >prog <<'END'
#!/bin/sh
dslc=DSLC
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
unset DSLC
echo '== the first time, and again'
$dslc run main.cu more.cu -I include -q -- 3
built=$(ls -i cache/dslc/programs/*/program)
$dslc run main.cu more.cu -I include -q -- 4
[ "$built" = "$(ls -i cache/dslc/programs/*/program)" ] && echo 'not built again'
echo '== a header has changed'
echo '#define FIRST 100' >'include/my first.h'
$dslc run main.cu more.cu -I include -q -- 3
echo '== as JSON'
$dslc run main.cu more.cu -I include --format json -- 3 | grep -e '"program"' -e '"stdout"' -e '"exit_code"' -e '"kernel"'
echo '== a kernel alone'
$dslc run main.cu more.cu -I include --kernel scale --checks race --order descending --memory 1M -- 3 2>&1 | grep -e 'launch 0' -e 's\['
echo '== less memory than it needs'
$dslc run main.cu more.cu -I include -q --memory 64 -- 3
echo "ended with $?"
echo '== a page with a blank in its name'
$dslc run main.cu more.cu -I include -q --html 'the page.html' -- 3 >/dev/null && ls *.html
echo '== what is not there'
$dslc run main.cu more.cu -I include --trace 0
echo "ended with $?"
DSLC='--htm x' $dslc nvcc -I include main.cu more.cu -o direct && DSLC='--htm x' ./direct
END
sed -i "s|=DSLC|=${NVCC% nvcc}|" prog
chmod +x prog
