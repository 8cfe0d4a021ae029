#!/bin/sh
# What `make systems` runs gpucheck in, from the distribution and the package index: sh tests/systems/install.sh   (as root, on Debian
# or Ubuntu). Nothing of it is started or enabled by the tests but on the loopback interface, and all of it is stopped afterwards.
set -e
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
  slurm-wlm munge prometheus prometheus-node-exporter prometheus-alertmanager openmpi-bin podman crun shellcheck gcc libc6-dev
