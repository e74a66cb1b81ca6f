// Layer norm and its gradients: a block a row, then sums of columns. Without `means` it is RMS norm: nothing
// is subtracted, and `rstds` are reciprocal root mean squares.

// Means, reciprocal standard deviations and (a - mean) * rstd * weight + bias of each row of n.
template <class T> KERNEL layer_norm(View<const T> a, View<const T> weight, View<const T> bias, View<T> out,
                                     View<T> means, View<T> rstds, i64 rows, i64 n, double eps) {
    typedef typename Wide<T>::type A;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 row = r * n;
        A mean = 0, rstd, squares = 0;
        if (means.given()) {
            moments(a, row, n, eps, mean, rstd);
        } else {
            for (i64 j = threadIdx.x; j < n; j += blockDim.x) squares += wide(a[row + j]) * wide(a[row + j]);
            rstd = (A)1 / root(block_sum(squares) / (A)n + (A)eps);
        }
        if (threadIdx.x == 0) {
            if (means.given()) means[r] = narrow<T>(mean);
            rstds[r] = narrow<T>(rstd);
        }
        for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
            A x = (wide(a[row + j]) - mean) * rstd;
            if (weight.given()) x *= wide(weight[j]);
            if (bias.given()) x += wide(bias[j]);
            out[row + j] = narrow<T>(x);
        }
    }
}

// The gradient for the input.
template <class T> KERNEL layer_norm_input(View<const T> g, View<const T> a, View<const T> means,
                                           View<const T> rstds, View<const T> weight, View<T> out, i64 rows,
                                           i64 n) {
    typedef typename Wide<T>::type A;
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 row = r * n;
        A mean = means.given() ? wide(means[r]) : (A)0, rstd = wide(rstds[r]), total = 0, along = 0;
        for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
            A slope = wide(g[row + j]);
            if (weight.given()) slope *= wide(weight[j]);
            total += slope;
            along += slope * ((wide(a[row + j]) - mean) * rstd);
        }
        total = means.given() ? block_sum(total) / (A)n : (A)0;
        along = block_sum(along) / (A)n;
        for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
            A slope = wide(g[row + j]);
            if (weight.given()) slope *= wide(weight[j]);
            out[row + j] = narrow<T>((slope - total - (wide(a[row + j]) - mean) * rstd * along) * rstd);
        }
    }
}

// Sums over the rows of a block's share, of the gradients for weight and bias: thirty-two columns a block,
// and blockIdx.y counts shares of `most` rows. `for_weight` and `for_bias` have a row for each share.
template <class T> KERNEL layer_norm_columns(View<const T> g, View<const T> a, View<const T> means,
                                             View<const T> rstds, View<T> for_weight, View<T> for_bias,
                                             i64 rows, i64 n, i64 most) {
    typedef typename Wide<T>::type A;
    SHARED(A, 1024, along);
    SHARED(A, 1024, plain);
    int x = threadIdx.x & 31, y = threadIdx.x >> 5, height = blockDim.x >> 5;
    i64 j = (i64)blockIdx.x * 32 + x, share = blockIdx.y;
    i64 end = (share + 1) * most < rows ? (share + 1) * most : rows;
    A first = 0, second = 0;
    if (j < n)
        for (i64 r = share * most + y; r < end; r += height) {
            A slope = wide(g[r * n + j]), mean = means.given() ? wide(means[r]) : (A)0;
            first += slope * ((wide(a[r * n + j]) - mean) * wide(rstds[r]));
            second += slope;
        }
    along[threadIdx.x] = first;
    plain[threadIdx.x] = second;
    __syncthreads();
    if (y || j >= n) return;
    for (int k = 1; k < height; k++) {
        first += along[k * 32 + x];
        second += plain[k * 32 + x];
    }
    if (for_weight.given()) for_weight[share * n + j] = narrow<T>(first);
    if (for_bias.given()) for_bias[share * n + j] = narrow<T>(second);
}

// Sums of the columns of a matrix of few rows, one after another.
template <class T> KERNEL column_sums(View<const T> a, View<T> out, i64 rows, i64 n) {
    typedef typename Wide<T>::type A;
    for (i64 j = first(); j < n; j += stride()) {
        A total = 0;
        for (i64 r = 0; r < rows; r++) total += wide(a[r * n + j]);
        out[j] = narrow<T>(total);
    }
}

// The square root of the sum of squares, by one block; by several, each one's sum.
template <class T> KERNEL square_sums(View<const T> a, View<T> out, i64 n) {
    typedef typename Wide<T>::type A;
    A total = 0;
    for (i64 i = first(); i < n; i += stride()) {
        A x = wide(a[i]);
        total += x * x;
    }
    total = block_sum(total);
    if (threadIdx.x == 0) out[blockIdx.x] = narrow<T>(gridDim.x == 1 ? root(total) : total);
}

// The square root of the sum of what blocks found.
template <class T> KERNEL root_of_sums(View<const T> a, View<T> out, i64 n) {
    typedef typename Wide<T>::type A;
    A total = 0;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) total += wide(a[i]);
    total = block_sum(total);
    if (threadIdx.x == 0) out[0] = narrow<T>(root(total));
}

// Sums of squares of each chunk of many tensors.
template <class T> KERNEL chunk_squares(Pack pack, View<T> out) {
    typedef typename Wide<T>::type A;
    Piece piece = piece_of(pack, blockIdx.x);
    View<const T> a = of_pack<const T>(pack, 0, piece.which);
    A total = 0;
    for (i64 i = piece.from + threadIdx.x; i < piece.to; i += blockDim.x) {
        A x = wide(a[i]);
        total += x * x;
    }
    total = block_sum(total);
    if (threadIdx.x == 0) out[blockIdx.x] = narrow<T>(total);
}

// A tensor's norm from those of its chunks: a block each.
template <class T> KERNEL roots_of_chunks(Pack pack, View<const T> a, View<T> out, i64 first_out) {
    typedef typename Wide<T>::type A;
    A total = 0;
    i64 end = pack.chunk[blockIdx.x + 1];
    for (i64 i = pack.chunk[blockIdx.x] + threadIdx.x; i < end; i += blockDim.x) total += wide(a[i]);
    total = block_sum(total);
    if (threadIdx.x == 0) out[first_out + blockIdx.x] = narrow<T>(root(total));
}
