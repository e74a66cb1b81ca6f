// Where the nodes of a graph stand: a layer for each distance from the root along the longest way, in the
// order of the nodes above, and centred. Nearly linear in nodes and edges.

export const WIDE = 190, HIGH = 62;
const GAP_X = 26, GAP_Y = 46;

export function layout(graph) {
  const count = graph.nodes.length;
  const below = Array.from({ length: count }, () => []);
  const above = Array.from({ length: count }, () => []);
  for (const edge of graph.edges) {
    below[edge.from].push(edge.to);
    above[edge.to].push(edge.from);
  }
  const waiting = above.map((list) => list.length);
  const layer = new Int32Array(count);
  const order = [];
  for (let n = 0; n < count; n += 1) if (!waiting[n]) order.push(n);
  for (let at = 0; at < order.length; at += 1) {
    for (const to of below[order[at]]) {
      layer[to] = Math.max(layer[to], layer[order[at]] + 1);
      waiting[to] -= 1;
      if (!waiting[to]) order.push(to);
    }
  }
  const layers = [];
  for (const n of order) (layers[layer[n]] ??= []).push(n);
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const widest = layers.reduce((most, nodes) => Math.max(most, nodes.length), 0);
  const width = widest * (WIDE + GAP_X) - GAP_X;
  layers.forEach((nodes, depth) => {
    const wish = (n) => (above[n].length
      ? above[n].reduce((sum, from) => sum + x[from], 0) / above[n].length : 0);
    const wishes = new Map(nodes.map((n) => [n, wish(n)]));
    nodes.sort((a, b) => wishes.get(a) - wishes.get(b) || a - b);
    const begin = (width - nodes.length * (WIDE + GAP_X) + GAP_X) / 2;
    nodes.forEach((n, at) => {
      x[n] = begin + at * (WIDE + GAP_X);
      y[n] = depth * (HIGH + GAP_Y);
    });
  });
  return { x, y, layers, above, below, width, height: layers.length * (HIGH + GAP_Y) - GAP_Y };
}
