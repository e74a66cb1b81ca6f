// Gradients over REST with fetch alone: y = sum((x @ w - t)^2), backward, and w's gradient.
// GRADD_URL says where the daemon is, GRADD_API_KEY is a key for it: `gradd keys local` prints that of its user.

const session = `${process.env.GRADD_URL ?? "http://127.0.0.1:4733"}/v1/sessions/node-${process.pid}`;

/** The reply's JSON; an Error that says what the daemon found wrong. */
async function ask(method, path, body) {
  const reply = await fetch(session + path, {
    method,
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env.GRADD_API_KEY}` },
    body: body && JSON.stringify(body),
  });
  const text = await reply.text();
  const json = text ? JSON.parse(text) : null;
  if (!reply.ok) throw new Error(`${method} ${path}: ${json.title}: ${json.detail}`);
  return json;
}

const tensor = (name, data, requires_grad = false) =>
  ask("PUT", `/tensors/${name}`, { data, dtype: "float32", requires_grad });

await ask("PUT", "");
try {
  await tensor("x", [[0.1, 0.2], [0.3, -0.4], [1.5, 2.7]]);
  await tensor("w", [[1.1], [-2.3]], true);
  await tensor("t", [[3.3], [0.7], [-1.9]]);

  // Names that start with % live for this batch only; y outlives it.
  await ask("POST", "/batches", {
    steps: [
      { op: "matmul", inputs: ["x", "w"], outputs: ["%h"] },
      { op: "sub", inputs: ["%h", "t"], outputs: ["%d"] },
      { op: "pow", inputs: ["%d", 2], outputs: ["%q"] },
      { op: "sum", inputs: ["%q"], outputs: ["y"] },
    ],
  });
  await ask("POST", "/tensors/y:backward");

  const { shape, data } = await ask("GET", "/tensors/w.grad");
  console.log(JSON.stringify({ shape, data }));
} finally {
  await ask("DELETE", "");
}
