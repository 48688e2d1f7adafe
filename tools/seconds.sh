#!/bin/bash
# seconds.sh NAME COMMAND...: runs the command and notes in build/seconds.txt how long it took; tests/conftest.py prints it.
set -u
name=$1
shift
begin=${EPOCHREALTIME/,/.}
"$@"
status=$?
mkdir -p build
awk -v name="$name" -v begin="$begin" -v end="${EPOCHREALTIME/,/.}" 'BEGIN { printf "%s\t%.1f\n", name, end - begin }' >>build/seconds.txt
exit $status
