#!/bin/sh
# Gradients over REST with curl: y = sum((x @ w - t)^2), backward, and w's gradient.
# GRADD_URL says where the daemon is, GRADD_API_KEY is a key for it: `gradd keys local` prints that of its user.
set -eu

session="${GRADD_URL:-http://127.0.0.1:4733}/v1/sessions/curl-$$"

# ask METHOD PATH [JSON]: prints the reply's body; a refusal goes to stderr and ends the script
ask() {
    # The key goes in by a pipe: other users can read arguments.
    reply=$(printf 'Authorization: Bearer %s\n' "${GRADD_API_KEY-}" |
        curl --fail-with-body -sS -X "$1" "$session$2" -H @- -H 'Content-Type: application/json' -d "${3-}") || {
        echo "$reply" >&2
        exit 1
    }
    echo "$reply"
}

ask PUT '' >/dev/null
trap 'ask DELETE "" >/dev/null' EXIT

ask PUT /tensors/x '{"data": [[0.1, 0.2], [0.3, -0.4], [1.5, 2.7]], "dtype": "float32"}' >/dev/null
ask PUT /tensors/w '{"data": [[1.1], [-2.3]], "dtype": "float32", "requires_grad": true}' >/dev/null
ask PUT /tensors/t '{"data": [[3.3], [0.7], [-1.9]], "dtype": "float32"}' >/dev/null

# Names that start with % live for this batch only; y outlives it.
ask POST /batches '{
  "steps": [{"op": "matmul", "inputs": ["x", "w"], "outputs": ["%h"]},
            {"op": "sub", "inputs": ["%h", "t"], "outputs": ["%d"]},
            {"op": "pow", "inputs": ["%d", 2], "outputs": ["%q"]},
            {"op": "sum", "inputs": ["%q"], "outputs": ["y"]}]
}' >/dev/null
ask POST /tensors/y:backward >/dev/null

ask GET /tensors/w.grad
