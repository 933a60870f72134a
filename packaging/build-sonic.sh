#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The package for SONiC: docker-lldp-level.gz, for `sonic-package-manager install --from-tarball`. Run it in the tree, with
# lldp-level_*.deb there; it wants Docker.
#
#   packaging/build-sonic.sh [FILE]
set -eu
out=${1:-docker-lldp-level.gz}
sonic=packaging/sonic
docker build --tag docker-lldp-level:latest --file "$sonic/Dockerfile" \
  --label "com.azure.sonic.manifest=$(cat "$sonic/manifest.json")" \
  --label "com.azure.sonic.yang-module=$(cat "$sonic/sonic-lldp-level.yang")" .
docker save docker-lldp-level:latest >"$out.tar"
gzip -n <"$out.tar" >"$out"
rm "$out.tar"
