# Sources that are not linked as device code, and a library with a kernel of its own: one report has all of them.
$NVCC -shared -Xcompiler -fPIC plugin.cu -o libplugin.so
$NVCC main.cu smooth.cu -o host -L. -lplugin
cat >prog <<'END'
#!/bin/sh
export LD_LIBRARY_PATH=.
DSLC='--jobs 2 --fail-on never --html page.html --json report.json --sarif log.sarif' ./host
echo "files: $(echo report* page* log*)"
echo '== JSON'
grep -e '"program"' -e '"kernel"' -e '"index": [0-9]' -e '"launch":' -e '"file"' report.json | uniq
echo '== SARIF'
grep -e '"uri"' log.sarif
echo '== page'
grep -o 'file">[^<]*' page.html
END
chmod +x prog
