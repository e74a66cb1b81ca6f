// y = sum((x @ w - t)^2) and w.grad by openapi-fetch, over the types of openapi-typescript.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

declare const process: { env: Record<string, string | undefined> };

type Schemas = components["schemas"];

const headers = { Authorization: `Bearer ${process.env.GRADD_API_KEY}` };
const client = createClient<paths, `application/${string}json`>({ baseUrl: process.env.GRADD_URL, headers });
const session = { name: "openapi-fetch" };

function done<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return data as T;
}

const put = async (id: string, body: Schemas["TensorJson"]) =>
  done(await client.PUT("/v1/sessions/{name}/tensors/{id}", { params: { path: { ...session, id } }, body }));

const batch: Schemas["Batch"] = {
  steps: [
    { op: "matmul", inputs: ["x", "w"], outputs: ["%h"] },
    { op: "sub", inputs: ["%h", "t"], outputs: ["%d"] },
    { op: "pow", inputs: ["%d", 2], outputs: ["%q"] },
    { op: "sum", inputs: { input: "%q" }, attrs: { dim: [0, 1] }, outputs: ["y"] },
    { op: "backward", inputs: ["y"] },
  ],
  fetch: ["y", "w.grad"],
};
const again: Schemas["Backward"] = { retain_graph: true };

async function main() {
  done(await client.PUT("/v1/sessions/{name}", { params: { path: session } }));
  await put("x", { data: [[0.1, 0.2], [0.3, -0.4], [1.5, 2.7]], dtype: "float32" });
  await put("w", { data: [[1.1], [-2.3]], dtype: "float32", requires_grad: true });
  await put("t", { data: [[3.3], [0.7], [-1.9]], dtype: "float32" });
  const { results, position } = done(
    await client.POST("/v1/sessions/{name}/batches", { params: { path: session }, body: batch }),
  );
  const refused = await client.POST("/v1/sessions/{name}/tensors/{id}:backward", {
    params: { path: { ...session, id: "y" } },
    body: again,
  });
  const because = refused.error?.type;
  done(await client.DELETE("/v1/sessions/{name}", { params: { path: session } }));
  console.log(JSON.stringify({ y: results["y"]?.data, grad: results["w.grad"]?.data, position, because }));
}

main();
