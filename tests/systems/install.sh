#!/bin/sh
# What `make systems` runs gpucheck in, from the distribution and the package index: sh tests/systems/install.sh   (as root, on Debian
# or Ubuntu). Nothing of it is started or enabled by the tests but on the loopback interface, and all of it is stopped afterwards.
set -e
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
  slurm-wlm munge prometheus prometheus-node-exporter prometheus-alertmanager openmpi-bin podman crun shellcheck gcc libc6-dev \
  systemd-container debootstrap
# What systemd starts from: never this machine's own files, since a start of systemd empties /tmp. The Python of the tests runs in it,
# so it is the same release.
root=/var/cache/gpucheck-systems/root
if [ ! -d "$root" ]; then
  . /etc/os-release
  rm -rf "$root.new"
  mkdir -p "$root.new"
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,python3 "$VERSION_CODENAME" "$root.new"
  mv "$root.new" "$root"
fi
