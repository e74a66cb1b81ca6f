// Scaled dot product attention over arrays [heads, positions, features], and its gradients: a block has
// sixteen queries or keys and goes through the others by sixteens, so that no more scores are in memory than
// those.
//
// The softmax is made along the way, as by Milakov and Gimelshein, "Online normalizer calculation for
// softmax" (2018), and Dao et al., "FlashAttention" (2022). The gradients take each row's logarithm of the
// sum from a first pass and make the weights anew. Eight threads share a row. Both factors of a score get the
// root of the scale.
#define SIDE 16
#define LANES 8

// How many features there may be: what fits the memory that a block shares.
template <class A> struct Most {
    static const int features = 512 / sizeof(A);
};

template <class A> __device__ inline A masked(A score, u8 open) { return open ? score : -endless<A>(); }
__device__ inline float masked(float score, float more) { return score + more; }
__device__ inline double masked(double score, double more) { return score + more; }

// A mask's layout: its place is (head / inner) * outer + (head % inner) * head_step + row * row_step + column
// * step.
struct Geometry {
    i64 rows, columns, features, outs, inner, outer_step, head_step, row_step, step, causal;
};

// Sixteen rows of `n` features, times `factor`; zeros after the last.
template <class T, class A, int N> __device__ inline void load(Cells<A, N> &to, View<const T> from, i64 head,
                                                               i64 begin, i64 rows, i64 n, A factor) {
    for (i64 k = threadIdx.x; k < SIDE * n; k += blockDim.x) {
        i64 r = begin + k / n;
        to[(int)k] = r < rows ? wide(from[(head * rows + r) * n + k % n]) * factor : (A)0;
    }
}

template <class A, int N, int M>
__device__ inline A product(Cells<A, N> &x, int row, Cells<A, M> &y, int column, int n) {
    A found = 0;
    for (int k = 0; k < n; k++) found += x[row * n + k] * y[column * n + k];
    return found;
}

// A score with its mask; -inf for what is hidden or beyond the end.
template <class A, class M>
__device__ inline A score_of(A score, View<const M> mask, const Geometry &to, i64 head, i64 r, i64 c) {
    if (r >= to.rows || c >= to.columns || (to.causal && c > r)) return -endless<A>();
    if (!mask.given()) return score;
    return masked(score, mask[head / to.inner * to.outer_step + head % to.inner * to.head_step +
                              r * to.row_step + c * to.step]);
}

template <class T, class M> KERNEL attend(View<const T> query, View<const T> key, View<const T> value,
                                          View<const M> mask, View<T> out, View<T> logs, Geometry to,
                                          double scale) {
    typedef typename Wide<T>::type A;
    const int most = Most<A>::features;
    SHARED(A, SIDE * Most<A>::features, q);
    SHARED(A, SIDE * Most<A>::features, k);
    SHARED(A, SIDE * Most<A>::features, v);
    SHARED(A, SIDE * SIDE, weights);
    i64 head = blockIdx.y, begin = (i64)blockIdx.x * SIDE;
    int row = threadIdx.x / LANES, lane = threadIdx.x % LANES, n = (int)to.features, outs = (int)to.outs;
    A factor = (A)sqrt(fabs(scale)), top = -endless<A>(), total = 0, sums[most / LANES];
    for (int c = 0; c < most / LANES; c++) sums[c] = 0;
    load(q, query, head, begin, to.rows, to.features, scale < 0 ? -factor : factor);
    i64 end = to.causal && begin + SIDE < to.columns ? begin + SIDE : to.columns, r = begin + row;
    for (i64 from = 0; from < end; from += SIDE) {
        __syncthreads();  // the tiles before these have been used
        load(k, key, head, from, to.columns, to.features, factor);
        load(v, value, head, from, to.columns, to.outs, (A)1);
        __syncthreads();
        for (int c = lane; c < SIDE; c += LANES)
            weights[row * SIDE + c] = score_of(product(q, row, k, c, n), mask, to, head, r, from + c);
        __syncthreads();
        A best = top;
        for (int c = 0; c < SIDE; c++) best = Larger::of(best, weights[row * SIDE + c]);
        A base = best == -endless<A>() ? (A)0 : best;
        __syncthreads();  // all have read the scores
        for (int c = lane; c < SIDE; c += LANES)
            weights[row * SIDE + c] = expo(weights[row * SIDE + c] - base);
        __syncthreads();
        A less = expo(top - base);
        total *= less;
        for (int c = 0; c < SIDE; c++) total += weights[row * SIDE + c];
        int seen = (int)(end - from < SIDE ? end - from : SIDE);
        if (to.causal && r - from + 1 < seen) seen = r < from ? 0 : (int)(r - from + 1);
        for (int j = lane, c = 0; j < outs; j += LANES, c++) {
            A sum = sums[c] * less;
            for (int i = 0; i < seen; i++) sum += weights[row * SIDE + i] * v[i * outs + j];
            sums[c] = sum;
        }
        top = best;
    }
    if (r >= to.rows) return;
    for (int j = lane, c = 0; j < outs; j += LANES, c++)
        out[(head * to.rows + r) * outs + j] = narrow<T>(total == 0 ? (A)0 : sums[c] / total);
    // a row without weights: exp(score - inf) is 0
    if (logs.given() && lane == 0)
        logs[head * to.rows + r] = narrow<T>(total == 0 ? endless<A>() : top + logn(total));
}

// Each row's sum of a gradient times a result.
template <class T> KERNEL row_products(View<const T> g, View<const T> y, View<T> out, i64 rows, i64 n) {
    typedef typename Wide<T>::type A;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        A total = 0;
        for (i64 j = threadIdx.x; j < n; j += blockDim.x) total += wide(g[r * n + j]) * wide(y[r * n + j]);
        total = block_sum(total);
        if (threadIdx.x == 0) out[r] = narrow<T>(total);
    }
}

// The weights of sixteen queries and keys, and the slopes of their scores.
template <class T, class M, class A, int N, int P>
__device__ inline void slopes_of(Cells<A, N> &q, Cells<A, N> &k, Cells<A, N> &v, Cells<A, N> &g,
                                 Cells<A, P> &weights, Cells<A, P> &slopes, View<const M> mask,
                                 View<const T> logs, View<const T> alongs, const Geometry &to, i64 head,
                                 i64 top, i64 from) {
    int row = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    i64 r = top + row;
    A log = r < to.rows ? wide(logs[head * to.rows + r]) : endless<A>();
    A along = r < to.rows ? wide(alongs[head * to.rows + r]) : (A)0;
    for (int c = lane; c < SIDE; c += LANES) {
        A score = score_of(product(q, row, k, c, (int)to.features), mask, to, head, r, from + c);
        A weight = score == -endless<A>() ? (A)0 : expo(score - log);
        weights[row * SIDE + c] = weight;
        slopes[row * SIDE + c] = weight == 0 ? (A)0 : weight * (product(g, row, v, c, (int)to.outs) - along);
    }
}

// The gradient for the queries: a block has sixteen of them.
template <class T, class M> KERNEL attend_query(View<const T> grad, View<const T> query, View<const T> key,
                                                View<const T> value, View<const M> mask, View<const T> logs,
                                                View<const T> alongs, View<T> out, Geometry to,
                                                double scale) {
    typedef typename Wide<T>::type A;
    const int most = Most<A>::features;
    SHARED(A, SIDE * Most<A>::features, q);
    SHARED(A, SIDE * Most<A>::features, k);
    SHARED(A, SIDE * Most<A>::features, v);
    SHARED(A, SIDE * Most<A>::features, g);
    SHARED(A, SIDE * SIDE, weights);
    SHARED(A, SIDE * SIDE, slopes);
    i64 head = blockIdx.y, begin = (i64)blockIdx.x * SIDE;
    int row = threadIdx.x / LANES, lane = threadIdx.x % LANES, n = (int)to.features;
    A factor = (A)sqrt(fabs(scale)), sums[most / LANES];
    for (int c = 0; c < most / LANES; c++) sums[c] = 0;
    A signed_ = scale < 0 ? -factor : factor;
    load(q, query, head, begin, to.rows, to.features, signed_);
    load(g, grad, head, begin, to.rows, to.outs, (A)1);
    i64 end = to.causal && begin + SIDE < to.columns ? begin + SIDE : to.columns;
    for (i64 from = 0; from < end; from += SIDE) {
        __syncthreads();
        load(k, key, head, from, to.columns, to.features, factor);
        load(v, value, head, from, to.columns, to.outs, (A)1);
        __syncthreads();
        slopes_of<T, M>(q, k, v, g, weights, slopes, mask, logs, alongs, to, head, begin, from);
        __syncthreads();
        for (int j = lane, c = 0; j < n; j += LANES, c++)
            for (int i = 0; i < SIDE; i++) sums[c] += slopes[row * SIDE + i] * k[i * n + j];
    }
    if (begin + row < to.rows)
        for (int j = lane, c = 0; j < n; j += LANES, c++)
            out[(head * to.rows + begin + row) * n + j] = narrow<T>(sums[c] * signed_);
}

// The gradients for keys and values: a block has sixteen of them.
template <class T, class M> KERNEL attend_key(View<const T> grad, View<const T> query, View<const T> key,
                                              View<const T> value, View<const M> mask, View<const T> logs,
                                              View<const T> alongs, View<T> for_key, View<T> for_value,
                                              Geometry to, double scale) {
    typedef typename Wide<T>::type A;
    const int most = Most<A>::features;
    SHARED(A, SIDE * Most<A>::features, q);
    SHARED(A, SIDE * Most<A>::features, k);
    SHARED(A, SIDE * Most<A>::features, v);
    SHARED(A, SIDE * Most<A>::features, g);
    SHARED(A, SIDE * SIDE, weights);
    SHARED(A, SIDE * SIDE, slopes);
    i64 head = blockIdx.y, begin = (i64)blockIdx.x * SIDE;
    int row = threadIdx.x / LANES, lane = threadIdx.x % LANES, n = (int)to.features, outs = (int)to.outs;
    A factor = (A)sqrt(fabs(scale)), keys[most / LANES], values[most / LANES];
    for (int c = 0; c < most / LANES; c++) keys[c] = values[c] = 0;
    load(k, key, head, begin, to.columns, to.features, factor);
    load(v, value, head, begin, to.columns, to.outs, (A)1);
    for (i64 from = to.causal ? begin : 0; from < to.rows; from += SIDE) {
        __syncthreads();
        load(q, query, head, from, to.rows, to.features, scale < 0 ? -factor : factor);
        load(g, grad, head, from, to.rows, to.outs, (A)1);
        __syncthreads();
        slopes_of<T, M>(q, k, v, g, weights, slopes, mask, logs, alongs, to, head, from, begin);
        __syncthreads();
        for (int i = 0; i < SIDE; i++) {
            A weight = weights[i * SIDE + row], slope = slopes[i * SIDE + row];
            for (int j = lane, c = 0; j < n; j += LANES, c++) keys[c] += slope * q[i * n + j];
            for (int j = lane, c = 0; j < outs; j += LANES, c++) values[c] += weight * g[i * outs + j];
        }
    }
    if (begin + row >= to.columns) return;
    i64 at = head * to.columns + begin + row;
    for (int j = lane, c = 0; j < n; j += LANES, c++) for_key[at * n + j] = narrow<T>(keys[c] * factor);
    for (int j = lane, c = 0; j < outs; j += LANES, c++) for_value[at * outs + j] = narrow<T>(values[c]);
}
