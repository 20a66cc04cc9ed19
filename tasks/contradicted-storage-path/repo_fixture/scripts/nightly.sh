#!/bin/sh
# Nightly job on the archive host: scripts/nightly.sh ARCHIVE
set -eu
archive=$1
generated=$archive/var/generated
mkdir -p "$generated"
python3 -m paperbark --root "$archive" report --output "$generated/report.html"
