// Against the daemon at GRADD_URL, with the key GRADD_API_KEY.

import { GraddError, Session, type Tensor } from "../src/index.js";
// @ts-ignore: node's types are no dependency
import assert from "node:assert/strict";
// @ts-ignore
import { test } from "node:test";

declare const process: { env: Record<string, string> };

const open = (name?: string) =>
  Session.open({
    url: process.env["GRADD_URL"]!, key: process.env["GRADD_API_KEY"]!, ...(name ? { name } : {}),
  });

test("a gradient", async () => {
  const session = await open();
  const w = await session.tensor([[1], [2]], { requiresGrad: true });
  const x = await session.tensor([[1, 2]]);
  const loss = x.matmul(w).sub(3).pow(2).sum();
  assert.equal(await w.grad(), null);
  loss.backward();
  assert.deepEqual(await w.grad(), { dtype: "float32", shape: [2, 1], data: [[4], [8]] });
  assert.equal(await loss.item(), 4);
  await session.close();
});

test("a linear model learns", async () => {
  const session = await open();
  const x = await session.tensor([[0, 1], [1, 0], [1, 1], [2, 1]]);
  const y = await session.tensor([[-1], [2], [1], [3]]);
  const w = await session.tensor([[0], [0]], { requiresGrad: true });
  let loss: Tensor | undefined;
  for (let step = 0; step < 100; step++) {
    w.zeroGrad();
    loss = x.matmul(w).sub(y).pow(2).mean();
    loss.backward();
    session.noGrad(() => w.sub_(w.gradient, 0.2));
  }
  assert.ok((await loss!.item()) < 1e-6);
  const [[a], [b]] = (await w.data()) as [[number], [number]];
  assert.ok(Math.abs(a - 2) < 1e-2 && Math.abs(b + 1) < 1e-2);
  await session.close();
});

test("values that are awaited together are one batch", async () => {
  let batches = 0;
  const counted: typeof fetch = (url, init) => {
    batches += Number(String(url).endsWith("/batches"));
    return fetch(url, init);
  };
  const session = await Session.open({
    url: process.env["GRADD_URL"]!, key: process.env["GRADD_API_KEY"]!, fetch: counted,
  });
  const x = await session.tensor([1, 2, 3]);
  const found = await Promise.all([x.sum().item(), x.mean().item(), x.mul(x).data(), x.reshape(3, 1).data()]);
  assert.deepEqual(found, [6, 2, [1, 4, 9], [[1], [2], [3]]]);
  assert.equal(batches, 1);
  await session.close();
});

test("a named session stays", async () => {
  const first = await open("typescript-stays");
  await first.tensor([1, 2], { name: "w", requiresGrad: true });
  await first.close();
  const second = await open("typescript-stays");
  assert.deepEqual(await second.named("w").mul(2).data(), [2, 4]);
  await second.delete();
});

test("errors are PyTorch's, and the session goes on", async () => {
  const session = await open();
  const x = await session.tensor([1, 2, 3]);
  const bad = x.matmul(await session.tensor([1, 2]));
  await assert.rejects(bad.data(), (error: unknown) =>
    error instanceof GraddError && error.name === "RuntimeError");
  const sum = x.sum();
  assert.equal(await sum.item(), 6);
  await assert.rejects(sum.op("frobnicate").data(), (error: unknown) =>
    error instanceof GraddError && error.problem.type === "/problems/op-not-found");
  await session.close();
  await assert.rejects(session.flush().then(() => x.data()), GraddError);
});
