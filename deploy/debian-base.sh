#!/bin/sh
# Makes an image with Python from Debian's packages, as the base of deploy/Containerfile: debian-base.sh NAME
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$folder/root.tar"
container=$(buildah from scratch)
buildah add --quiet "$container" "$folder/root.tar" / >/dev/null
buildah commit --quiet --rm "$container" "$1" >/dev/null
