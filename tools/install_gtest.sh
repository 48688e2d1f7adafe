#!/bin/sh
# Makes GoogleTest available to CMake: from the distribution, or unpacked into the folder $1 when we are not root.
set -eu
folder=$1
installed() { dpkg -s libgtest-dev >/dev/null 2>&1; }
if installed || [ -d "$folder/usr" ]; then
  exit 0
fi
if [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq libgtest-dev >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq libgtest-dev >/dev/null; }
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && apt-get download -qq libgtest-dev) || {
    echo "GoogleTest is missing and cannot be downloaded. As root: apt-get install libgtest-dev" >&2
    exit 1
  }
  mkdir -p "$folder"
  dpkg-deb -x "$work"/*.deb "$folder"
fi
