#!/bin/sh
# Starts systemd on a copy of this machine's files that ends with it: boot.sh CHECKOUT. To be run by unshare, in namespaces of its own.
set -e
checkout=$1
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root
mkdir -p old "./$checkout" etc/gatewright
mount --bind "$checkout" "./$checkout"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs sys/fs/cgroup
mkdir sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
ip link set lo up
ln -sf "$checkout/bin/gatewright" usr/local/bin/gatewright
cp "$checkout/install/systemd/gatewright.service" etc/systemd/system/
pivot_root . old
umount -l /old
exec env -i container=unshare PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin /lib/systemd/systemd --unit=basic.target
