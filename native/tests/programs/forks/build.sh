# Processes that fork: before and after the first call, with threads at work, and children that find something.
$NVCC -std=c++17 main.cu -o forks
cat >prog <<'END'
#!/bin/bash
for how in before after threads race exec; do
    echo "== $how"
    DSLC='--quiet --jobs 2 --json out.json' timeout 60 ./forks $how 2>&1 | grep -v -e '^ ' -e '^.*╯'
    echo "ended with ${PIPESTATUS[0]}, $(ls out*.json | wc -l) reports, launches: $(cat out*.json | grep -c '"index": [0-9]')"
    rm -f out*.json
done
END
chmod +x prog
