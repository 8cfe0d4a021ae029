# Makes a machine around a program: a root of its own in a mount namespace, with the parts that `machines.py` has prepared.
# $1: where the root will be; $2: the parts; the rest: the program.
# The new root has the old one's folders, without the files by which a container is known.
set -e
trap 'echo "the machine could not be made" >&2' EXIT
root=$1 parts=$2 here=$PWD path=$PATH
shift 2
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t tmpfs lab "$root"
cd /
for name in *; do
  [ "$name" = dev ] && continue
  if [ -L "$name" ]; then ln -s "$(readlink "$name")" "$root/$name"
  elif [ -d "$name" ]; then mkdir "$root/$name"; mount --rbind "/$name" "$root/$name"; fi
done
mkdir "$root/dev" "$root/dev/shm"
for name in null zero full random urandom tty; do
  : > "$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
mount --rbind /dev/shm "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
mount --bind "$parts/pci" "$root/sys/bus/pci/devices"
mount --bind "$parts/driver" "$root/proc/driver"
mount --bind "$parts/module" "$root/sys/module"
[ -e "$root/proc/modules" ] && mount --bind "$parts/modules" "$root/proc/modules"
cd "$root"
for name in usr/local/cuda* opt/cuda; do
  [ -d "$name" ] && [ ! -L "$name" ] && mount -t tmpfs lab "$name"
done
grep -q libcud etc/ld.so.cache 2>/dev/null && mount --bind /dev/null etc/ld.so.cache
. "$parts/more.sh"
exec chroot "$root" /bin/sh -c 'cd "$0" && PATH=$1 && shift && exec "$@"' "$here" "$path" "$@"
