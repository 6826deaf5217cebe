#!/bin/sh
# make_chroot.sh FOLDER: Debian unstable with its own Blender and what a window without a screen asks for,
# about 1.4 GB. Needs root, a network and debootstrap. Nothing stays mounted: the folder may be deleted.
set -eu
folder=$1
debootstrap --variant=minbase sid "$folder"
cp /etc/resolv.conf "$folder/etc/resolv.conf"
# A mirror may be some weeks behind, after which apt would take its lists for expired.
echo 'Acquire::Check-Valid-Until "false";' >"$folder/etc/apt/apt.conf.d/99old-lists"
export folder
exec unshare --mount --propagation private sh -euc '
mount -t proc proc "$folder/proc"
mount --bind /dev "$folder/dev"
export DEBIAN_FRONTEND=noninteractive
chroot "$folder" apt-get update --quiet
chroot "$folder" apt-get install --yes --quiet --no-install-recommends blender python3-numpy python3-requests \
    python3-cattr xvfb x11-apps imagemagick libgl1-mesa-dri libegl1 libegl-mesa0 libglx-mesa0 fonts-dejavu-core
chroot "$folder" apt-get clean
'
