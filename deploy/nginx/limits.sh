#!/bin/sh
# Copies the configuration beside this script to a folder, with the limits that the service's settings have, and runs a
# command: sh limits.sh /tmp nginx -p /tmp/ -c /tmp/gradwire.conf
# A blank or missing setting has the service's default. Sizes and times are read as by the service.
set -eu
from=$(dirname "$0") to=$1
shift

# Prints the number that a setting is: number NAME DEFAULT LEAST. Bytes may have a unit: 64MiB and 64Mi are 64·2²⁰, 64MB
# and 64M 64·10⁶. Computed with whole numbers: the product of 1.1 and 10⁶ is not quite one.
number() {
    awk -v name="$1" -v unset="$2" -v least="$3" 'BEGIN {
        text = toupper(ENVIRON[name])
        gsub(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/, "", text)
        if (text == "") text = toupper(unset)
        if (name ~ /_BYTES$/) {
            if (text !~ /^[0-9]+(\.[0-9]+)? ?([KMGT]I?)?B?$/) exit 1
            sub(/ ?B?$/, "", text)
            base = sub(/I$/, "", text) ? 1024 : 1000
            unit = base ^ index("KMGT", substr(text, length(text)))
            sub(/ ?[KMGT]$/, "", text)
        } else {
            if (text !~ /^\+?[0-9]+(_[0-9]+)*(\.0+)?$/) exit 1
            gsub(/[+_]|\.0+$/, "", text)
            unit = 1
        }
        parts = 1
        if (split(text, digits, ".") > 1) parts = 10 ^ length(digits[2])
        found = (digits[1] digits[2]) * unit / parts
        if (found != int(found) || found < least) exit 1
        printf "%.0f", found
    }' && return
    echo "$1 must be a number from $3 on, without a fraction; bytes may have a unit: 64MB, 1GiB" >&2
    exit 2
}

body=$(number GRADWIRE_MAX_BODY_BYTES 64MiB 1)
written="$body bytes"
[ $((body % 1048576)) -ne 0 ] || written="$((body / 1048576)) MiB"
default_ms=$(number GRADWIRE_DEFAULT_TIMEOUT_MS 10000 1)
longest_ms=$(number GRADWIRE_MAX_TIMEOUT_MS 60000 1)
answer_ms=$(number GRADWIRE_JOB_WAIT_MS 5000 0)
default=$(((default_ms + 999) / 1000)) longest=$(((longest_ms + 999) / 1000)) answer=$(((answer_ms + 999) / 1000))
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
