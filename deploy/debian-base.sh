#!/bin/sh
# Makes an image with Python from Debian's packages, as the base of deploy/Containerfile: debian-base.sh NAME
# It trusts the certificates that this machine trusts, as the package index may be behind a proxy.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$folder/root.tar"
container=$(buildah from scratch)
buildah add --quiet "$container" "$folder/root.tar" / >/dev/null
certificates=/etc/ssl/certs/ca-certificates.crt
buildah copy --quiet "$container" "$certificates" "$certificates" >/dev/null
buildah config --env "PIP_CERT=$certificates" "$container"
buildah commit --quiet --rm "$container" "$1" >/dev/null
