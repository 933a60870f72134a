#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails if something in one of the packages names the folder that it was built in: built elsewhere it would have other bytes.
#
# usage: packaging/no-path.sh FOLDER PACKAGE...
set -euo pipefail
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package; do
  into=$work/$(basename "$package")
  mkdir "$into"
  case $package in
    *.deb) dpkg-deb -x "$package" "$into" ;;
    *.rpm) rpm2cpio "$package" | (cd "$into" && cpio -idm --quiet) ;;
  esac
done
found=$(cd "$work" && grep -rlF -- "$folder" . || true)
[ -z "$found" ] || {
  printf 'names the folder it was built in, %s: %s\n' "$folder" "$found" >&2
  exit 1
}
