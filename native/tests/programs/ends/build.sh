# Exits, signals, exceptions, forks, and a library that is not there.
$NVCC main.cu -o ends
cat >prog <<'END'
#!/bin/bash
for how in signal terminate abort exception 'exit in a thread' 'exit beside a launch' _exit quick_exit 'reset at exit' fork; do
    bash -c "exec ./ends '$how' 2>&1" | grep -v what
    echo "$how: ${PIPESTATUS[0]}"
done
END
chmod +x prog
