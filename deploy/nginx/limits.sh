#!/bin/sh
# Copies the configuration beside this script to a folder, with the limits that the service's settings have, and runs a
# command: sh limits.sh /tmp nginx -p /tmp/ -c /tmp/gradwire.conf
# An empty or missing setting has the service's default. Sizes and times are written as for the service.
set -eu
from=$(dirname "$0") to=$1
shift

# Bytes: 64MiB and 64Mi are 64·2²⁰, 64MB and 64M 64·10⁶.
body=$(echo "${GRADWIRE_MAX_BODY_BYTES:-64MiB}" | awk '{
    text = toupper($0)
    gsub(/[ \t]|B/, "", text)
    base = sub(/I$/, "", text) ? 1024 : 1000
    power = index("KMGT", substr(text, length(text)))
    printf "%.0f", text * base ^ power
}')
if [ "$body" -le 0 ]; then # nginx would accept bodies of any size
    echo "GRADWIRE_MAX_BODY_BYTES must be a number of bytes, or one with a unit: 64MB, 1GiB" >&2
    exit 2
fi
written="$body bytes"
[ $((body % 1048576)) -ne 0 ] || written="$((body / 1048576)) MiB"
default=$(((${GRADWIRE_DEFAULT_TIMEOUT_MS:-10000} + 999) / 1000))
longest=$(((${GRADWIRE_MAX_TIMEOUT_MS:-60000} + 999) / 1000))
answer=$(((${GRADWIRE_JOB_WAIT_MS:-5000} + 999) / 1000))
[ "$longest" -ge "$answer" ] || longest=$answer

for file in "$from"/*.conf; do
    sed -e "s/client_max_body_size 64m;/client_max_body_size $body;/" \
        -e "s/bodies of up to 64 MiB/bodies of up to $written/" \
        -e "s/proxy_read_timeout 75s;/proxy_read_timeout $((longest + 15))s;/" \
        -e "s/proxy_read_timeout 11s;/proxy_read_timeout $((default + 1))s;/" \
        -e "s/proxy_next_upstream_timeout 12s;/proxy_next_upstream_timeout $((default + 2))s;/" \
        "$file" >"$to/${file##*/}"
done
exec "$@"
