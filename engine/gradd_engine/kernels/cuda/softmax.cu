// softmax and log_softmax along a dimension of an array [outer, n, inner], and their gradients: a block a
// row.

__device__ inline i64 row_start(i64 r, i64 n, i64 inner) { return r / inner * n * inner + r % inner; }

// The largest number of a row, which is 0 if `safe` and that is unbounded, and the sum of what exp gives of
// each less that.
template <class T, class A>
__device__ inline void top_and_total(View<const T> a, i64 at, i64 n, i64 inner, bool safe, A &top, A &total) {
    top = -endless<A>(), total = 0;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) top = Larger::of(top, wide(a[at + j * inner]));
    top = block_largest(top);
    if (safe && unbounded(top)) top = 0;
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) total += expo(wide(a[at + j * inner]) - top);
    total = block_sum(total);
}

// Rows of only -inf give nan or, if `safe`, zeros.
template <class T> KERNEL softmax(View<const T> a, View<T> out, i64 rows, i64 n, i64 inner, i64 safe) {
    typedef typename Wide<T>::type A;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 at = row_start(r, n, inner);
        A top, total;
        top_and_total(a, at, n, inner, safe != 0, top, total);
        if (safe && total == 0) total = 1;
        for (i64 j = threadIdx.x; j < n; j += blockDim.x)
            out[at + j * inner] = narrow<T>(expo(wide(a[at + j * inner]) - top) / total);
    }
}

template <class T> KERNEL log_softmax(View<const T> a, View<T> out, i64 rows, i64 n, i64 inner) {
    typedef typename Wide<T>::type A;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 at = row_start(r, n, inner);
        A top, total;
        top_and_total(a, at, n, inner, false, top, total);
        A log = logn(total);
        for (i64 j = threadIdx.x; j < n; j += blockDim.x)
            out[at + j * inner] = narrow<T>(wide(a[at + j * inner]) - top - log);
    }
}

template <class T>
KERNEL softmax_backward(View<const T> g, View<const T> result, View<T> out, i64 rows, i64 n, i64 inner) {
    typedef typename Wide<T>::type A;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 at = row_start(r, n, inner);
        A along = 0;
        for (i64 j = threadIdx.x; j < n; j += blockDim.x)
            along += wide(g[at + j * inner]) * wide(result[at + j * inner]);
        along = block_sum(along);
        for (i64 j = threadIdx.x; j < n; j += blockDim.x)
            out[at + j * inner] = narrow<T>(wide(result[at + j * inner]) * (wide(g[at + j * inner]) - along));
    }
}

template <class T>
KERNEL log_softmax_backward(View<const T> g, View<const T> result, View<T> out, i64 rows, i64 n, i64 inner) {
    typedef typename Wide<T>::type A;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 at = row_start(r, n, inner);
        A total = 0;
        for (i64 j = threadIdx.x; j < n; j += blockDim.x) total += wide(g[at + j * inner]);
        total = block_sum(total);
        for (i64 j = threadIdx.x; j < n; j += blockDim.x)
            out[at + j * inner] =
                narrow<T>(wide(g[at + j * inner]) - expo(wide(result[at + j * inner])) * total);
    }
}
