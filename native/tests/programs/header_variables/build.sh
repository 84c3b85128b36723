# Device variables that a header defines: each source has its own, as nvcc has it without -rdc. The kernel of the header is `static`, since the
# host's linker would see two.
$NVCC main.cu other.cu -o host
cat >prog <<'END'
#!/bin/sh
DSLC='--quiet' ./host
END
chmod +x prog
