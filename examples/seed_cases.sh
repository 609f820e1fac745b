#!/usr/bin/env bash
# Send every case of the contract to a running service with curl, and count the right answers.
#
#   GRADWIRE_URL=http://127.0.0.1:8000 examples/seed_cases.sh
set -euo pipefail

url=${GRADWIRE_URL:-http://127.0.0.1:8000}
contract=$(cd "$(dirname "${BASH_SOURCE[0]}")/../tests/contract" && pwd)

send() {
  # A request that gets no answer is counted as failed, with the status 000 that curl writes.
  while IFS=$'\t' read -r case method path body; do
    printf '%s\t' "$case"
    printf '%s' "$body" | curl --silent --show-error --max-time 30 --request "$method" \
      --header 'Content-Type: application/json' --data-binary @- \
      --write-out '\t%{http_code}' "${url%/}$path" | tr -d '\n' || true
    printf '\n'
  done
}

python3 "$contract/compare.py" requests "$contract"/cases/*.json | send | python3 "$contract/compare.py" verdicts
