// Random numbers: the bits of `rng`, made where they are used, four at a time.

// 0 where a uniform number is below p, otherwise `scale`.
template <class T> KERNEL dropout_mask(View<T> out, i64 n, double p, double scale, View<const i64> keys, i64 seed,
                               i64 step) {
    typedef typename Wide<T>::type A;
    Key key = key_of(keys, 0, seed, step);
    for (i64 block = first(); block * 4 < n; block += stride()) {
        Four drawn = philox((u64)block, key);
        for (int k = 0; k < 4 && block * 4 + k < n; k++)
            out[block * 4 + k] = narrow<T>(kept<A>(drawn.of[k], p, scale));
    }
}

__device__ inline void uniforms(const Four &drawn, float *to) {
    for (int k = 0; k < 4; k++) to[k] = (float)(drawn.of[k] >> 8) * (float)(1.0 / 16777216.0);
}
__device__ inline void uniforms(const Four &drawn, double *to) {
    for (int k = 0; k < 2; k++) {
        u64 whole = ((u64)(drawn.of[2 * k] >> 5) << 26) | (drawn.of[2 * k + 1] >> 6);
        to[k] = (double)whole * (1.0 / 9007199254740992.0);
    }
}

// Uniform numbers in [0, 1).
template <class T> KERNEL uniform(View<T> out, i64 n, View<const i64> keys, i64 seed,
                               i64 step) {
    const int many = 16 / sizeof(T);
    Key key = key_of(keys, 0, seed, step);
    for (i64 block = first(); block * many < n; block += stride()) {
        T found[many];
        uniforms(philox((u64)block, key), found);
        for (int k = 0; k < many && block * many + k < n; k++) out[block * many + k] = found[k];
    }
}

// Standard normal numbers by Box and Muller (1958), each from two uniforms of its own.
template <class T> KERNEL normal(View<T> out, i64 n, View<const i64> keys, i64 seed,
                               i64 step) {
    const int many = 8 / sizeof(T);
    Key key = key_of(keys, 0, seed, step);
    for (i64 block = first(); block * many < n; block += stride()) {
        T found[2 * many];
        uniforms(philox((u64)block, key), found);
        for (int k = 0; k < many && block * many + k < n; k++) {
            T radius = root((T)-2 * logn((T)1 - found[2 * k]));
            out[block * many + k] = radius * cosine((T)6.283185307179586 * found[2 * k + 1]);
        }
    }
}

// 1 where a uniform float64 is below p, otherwise 0.
template <class T> KERNEL hits(View<T> out, i64 n, double p, View<const i64> keys, i64 seed,
                               i64 step) {
    Key key = key_of(keys, 0, seed, step);
    for (i64 block = first(); block * 2 < n; block += stride()) {
        double found[2];
        uniforms(philox((u64)block, key), found);
        for (int k = 0; k < 2 && block * 2 + k < n; k++) out[block * 2 + k] = narrow<T>(found[k] < p ? 1 : 0);
    }
}
