// What a gradient scaler does in an iteration: https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling

// Gradients divided by `scale`, in place. All that write `found` write the same.
template <class T> KERNEL unscale(Pack pack, View<const float> scale, View<float> found) {
    typedef typename Wide<T>::type A;
    Piece piece = piece_of(pack, blockIdx.x);
    View<T> g = of_pack<T>(pack, 0, piece.which);
    A inverse = (A)(float)(1 / (double)scale[0]);
    bool lost = false;
    for (i64 i = piece.from + threadIdx.x; i < piece.to; i += blockDim.x) {
        A slope = wide(g[i]);
        lost |= slope != slope || unbounded(slope);
        g[i] = narrow<T>(slope * inverse);
    }
    if (lost) found[0] = 1;
}

// The scale and how many iterations in a row had no step skipped, after an iteration.
template <class T> KERNEL adjust_scale(View<T> scale, View<int> streak, View<const T> found, double growth,
                                       double backoff, i64 interval) {
    if (first()) return;
    double before = scale[0];
    int longer = streak[0] + 1;
    bool skipped = found[0] != 0, due = longer == interval;
    T grown = (T)(before * growth);
    if (skipped)
        scale[0] = (T)(before * backoff);
    else if (due && grown == grown && !unbounded(grown))
        scale[0] = grown;
    streak[0] = skipped || due ? 0 : longer;
}
