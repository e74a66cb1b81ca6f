// y = sum((x @ w - t)^2) and w.grad by the client that @hey-api/openapi-ts generates.

import { deleteSession, postBatch, putSession, putTensor, runBackward, type TensorJson } from "./gradd";
import { client } from "./gradd/client.gen";

declare const process: { env: Record<string, string | undefined> };

client.setConfig({ baseUrl: process.env.GRADD_URL as string, auth: () => process.env.GRADD_API_KEY });
const session = { name: "hey-api" };

const put = (id: string, body: TensorJson) =>
  putTensor({ path: { ...session, id }, body, throwOnError: true });

async function main() {
  await putSession({ path: session, throwOnError: true });
  await put("x", { data: [[0.1, 0.2], [0.3, -0.4], [1.5, 2.7]], dtype: "float32" });
  await put("w", { data: [[1.1], [-2.3]], dtype: "float32", requires_grad: true });
  await put("t", { data: [[3.3], [0.7], [-1.9]], dtype: "float32" });
  const { data } = await postBatch({
    path: session,
    body: {
      steps: [
        { op: "matmul", inputs: ["x", "w"], outputs: ["%h"] },
        { op: "sub", inputs: ["%h", "t"], outputs: ["%d"] },
        { op: "pow", inputs: ["%d", 2], outputs: ["%q"] },
        { op: "sum", inputs: { input: "%q" }, attrs: { dim: [0, 1] }, outputs: ["y"] },
        { op: "backward", inputs: ["y"] },
      ],
      fetch: ["y", "w.grad"],
    },
    throwOnError: true,
  });
  if (!("results" in data)) throw new Error("a batch in JSON was answered by a frame");
  const { results, position } = data;
  const { error } = await runBackward({ path: { ...session, id: "y" }, body: { retain_graph: true } });
  const because = error?.type;
  await deleteSession({ path: session, throwOnError: true });
  console.log(JSON.stringify({ y: results["y"]?.data, grad: results["w.grad"]?.data, position, because }));
}

main();
