# A program and a shared object that each have the runtime in themselves: two simulators, two reports, files of two names.
$NVCC -shared -Xcompiler -fPIC -cudart static-library plugin.cu -o libplugin.so
$NVCC -cudart static-library main.cu -o host -ldl
cat >prog <<'END'
#!/bin/sh
DSLC='--quiet --fail-on never --json out.json' ./host
echo "$(ls out*.json | wc -l) reports"
grep -h -e '"program"' -e '"kernel"' out.json out.2.json
END
chmod +x prog
