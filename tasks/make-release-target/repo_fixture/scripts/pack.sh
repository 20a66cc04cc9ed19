#!/bin/sh
# usage: pack.sh VERSION
# Pack what a user needs into build/tidewatch-VERSION.tar.gz and print that path.
set -eu

version=${1:?usage: pack.sh VERSION}
cd "$(dirname "$0")/.."

case $version in
  *[!0-9.]* | .* | *. | '')
    echo "pack.sh: $version is not a version such as 2.4.1" >&2
    exit 1
    ;;
esac

name=tidewatch-$version
rm -rf "build/$name"
mkdir -p "build/$name"
cp -R bin lib README.md VERSION "build/$name/"
(cd build && tar -czf "$name.tar.gz" "$name")
rm -rf "build/$name"
echo "build/$name.tar.gz"
