#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies into DIRECTORY what a package is built from: what git knows, with its changes, but for tests, benchmarks and CI.
#
# usage: packaging/export-tree.sh DIRECTORY
set -euo pipefail
to=$(realpath -m "${1:?usage: export-tree.sh DIRECTORY}")
cd "$(dirname "$(readlink -f "$0")")/.."
mkdir -p "$to"
git ls-files -z --cached --others --exclude-standard -- ':!tests' ':!bench' ':!.ci' |
  while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  tar -c --null -T - | tar -x -C "$to"
