#!/bin/sh
# window.sh SECONDS SIZE COMMAND...: runs a command on a virtual screen of its own, drawn by software, and ends
# it after some seconds. SIZE is such as 1280x800.
set -eu
exec 2>&1
seconds=$1 size=$2
shift 2
folder=$(mktemp -d)
mkfifo "$folder/number"
Xvfb -displayfd 3 -screen 0 "${size}x24" +extension GLX -nolisten tcp 3>"$folder/number" 2>"$folder/log" &
screen=$!
trap 'kill "$screen" 2>/dev/null || true; rm -rf "$folder"' EXIT
read -r number <"$folder/number" || { cat "$folder/log" >&2; exit 1; }
export DISPLAY=":$number" LIBGL_ALWAYS_SOFTWARE=1 LANG=C.UTF-8
timeout --kill-after=10 "$seconds" "$@"
