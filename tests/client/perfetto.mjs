// Perfetto's trace processor, of a folder of its web page: requests (TraceProcessorRpcStream) from standard input,
// replies to standard output. The bundle is of a web worker and asks where it runs.
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];

class XMLHttpRequest {
  open(method, url) {
    this.url = url;
  }
  send() {
    this.response = readFileSync(join(folder, this.url));
  }
}

const self = { location: { href: "" } };
const worker = { self, XMLHttpRequest, WorkerGlobalScope: Object, process: undefined };
const bundle = readFileSync(join(folder, "engine_bundle.js"), "utf8");
new Function(...Object.keys(worker), bundle)(...Object.values(worker));

function postMessage(reply) {
  for (let sent = 0; sent < reply.length; ) sent += writeSync(1, reply, sent);
}
const port = { postMessage };
self.onmessage({ data: port });
await new Promise(setImmediate); // its module is ready then
port.onmessage({ data: new Uint8Array(readFileSync(0)) });
