# A host with AddressSanitizer: its own errors are found, and nothing of ours is taken for one.
$NVCC -g -Xcompiler -fsanitize=address main.cu -o checked 2>build.log || { grep -q "cannot find\|no such file" build.log && exit 77; cat build.log; exit 1; }
cat >prog <<'END'
#!/bin/sh
./checked && ./checked past 2>&1 | grep -o "heap-buffer-overflow\|main.cu:11" | sort -u
END
chmod +x prog
