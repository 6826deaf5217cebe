#!/bin/sh
# in_chroot.sh CHROOT FOLDER... -- COMMAND...: runs a command in a chroot that sees the folders at their own
# paths. It has no network and no processes but its own; all of them end with it, and nothing stays mounted.
set -eu
export CHROOT="$1"
shift
exec unshare --mount --propagation private --net --pid --fork --kill-child sh -euc '
mount -t proc proc "$CHROOT/proc"
mount -t sysfs sys "$CHROOT/sys"
mount --bind /dev "$CHROOT/dev"
mount -t tmpfs tmpfs "$CHROOT/dev/shm"
mount -t tmpfs tmpfs "$CHROOT/tmp"
while [ "$1" != -- ]; do
    mkdir -p "$CHROOT$1"
    mount --bind "$1" "$CHROOT$1"
    shift
done
shift
exec chroot "$CHROOT" "$@"
' in_chroot "$@"
