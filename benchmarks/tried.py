"""What was tried where a bar is not met, for the page, with the gain where it was measured."""

from __future__ import annotations

#: the questions, and what was tried
TRIED = (
    (
        ("round_trip", "mlp_sgd", "mlp_adam", "clients"),
        "Client, front and engine process sleep and wake in turn. Looking for a while before sleeping, "
        "niceness and a shorter slice were measured and gained nothing (docs/design.md, section 8).",
    ),
    (
        ("mlp_sgd", "mlp_adam", "transformer"),
        "MKL or oneDNN in place of OpenBLAS: 0.94 to 0.98 of the time but for one product, and 200 MB "
        "more, so left out. The turned form of a product, `(W @ A.T).T`, gains on some machines and did "
        "not here.",
    ),
    (
        ("chain", "tiny_ops"),
        "Runs of small element-wise kernels in a plan are one compiled loop: CPU of the session 0.38 "
        "under a function, 0.33 repeated, 0.49 for tiny ops. Compiling the hot modules with mypyc or "
        "Cython gained nothing: their time is generated text, allocation and NumPy's own. The first time "
        "an op is recorded, admitted and run, each time by the whole engine.",
    ),
    (
        ("tiny_ops", "char_gpt", "pinn", "recording", "mlp_sgd"),
        'An op that a script repeats is answered from what is remembered of it (docs/design.md, "The '
        'trail"): a step of char-GPT costs the script 0.29 of before, of a ViT 0.44, of a PINN 0.42, of '
        "the MLP 0.75.",
    ),
    (
        ("char_gpt",),
        "What the client draws needs no round trip: 10 steps of indexed batches had 11 before, and have one.",
    ),
    (
        ("eager_engine",),
        "A function is written for each op and geometry, in place of calls that all ops share: forward 0.76 "
        "of before, backward 0.94, in all 0.86.",
    ),
    (
        ("convnet", "dcgan", "resnet"),
        "Gradients by the input of 3x3 windows as turned convolutions (0.74 to 0.99 of before), strided "
        "ones in parts (from 2.4 to 0.9 of torch's time), depthwise ones by compiled loops (from 14.6 to "
        "between 0.4 and 1.6). Compiled columns gained nothing. Kernels that need no columns, their "
        "products held in registers: from between 1.3 and 3.4 of torch's time to 0.7 to 1.0.",
    ),
    (
        ("lstm",),
        "A layer in one direction is one op, its gradients another: 12.1 to 16.2 ms a step before, 7.0 to "
        "8.3 since.",
    ),
    (
        ("ppo",),
        "What a policy computes decides what a cart does, so each of the 32 steps of a round waits. "
        "Nothing was found against that.",
    ),
    (
        ("loader",),
        "Batches are uploaded two ahead, while the session computes. What is left is that the same cores "
        "decode, send and receive them.",
    ),
    (
        ("distance",),
        "A window of 256 batches, uploads that follow one another, attaching within the handshake.",
    ),
    (
        ("growth",),
        "Nodes of one op and geometry share what is the same, and full collections of garbage wait while "
        "much lives and nothing is found: 1.6 before.",
    ),
    (
        ("ops",),
        "Compiled kernels for indices, sorting, norms of channels, attention and copies: with one thread "
        "23 of the large ones were above 1.5 before, 26 of the middle ones, 14 of the small.",
    ),
)
