#!/bin/sh
# run.sh QEMU MACHINE IMAGE: runs an image under QEMU. The exit status is the image's own: 0 passed, 1 failed, 101
# panicked, 102 fault. Or 124: it took longer than $QEMU_TIMEOUT seconds (60); 134: lockup, as after a stack overflow.
#
# With -icount emulated time is a count of instructions, 2^6 = 64 ns each: a run is the same on any host under any load.
set -u
qemu=$1 machine=$2 image=$3

bios=
if [ "$machine" = virt ]; then
    bios="-bios none"
fi
out=$(mktemp) || exit 125
trap 'rm -f "$out"' EXIT

# QEMU itself rarely crashes while it exits (139), when the image has already said all it had to say: only that is retried.
for attempt in 1 2 3; do
    # shellcheck disable=SC2086 # two words, or none
    timeout "${QEMU_TIMEOUT:-60}" "$qemu" -machine "$machine" $bios -kernel "$image" \
        -display none -monitor none -serial none \
        -semihosting-config enable=on,target=native \
        -icount shift=6,align=off,sleep=off >"$out" </dev/null
    status=$?
    [ "$status" -eq 139 ] || break
    echo "run.sh: QEMU crashed on exit (attempt $attempt)" >&2
done
cat "$out"
exit "$status"
