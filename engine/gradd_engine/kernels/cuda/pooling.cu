// Maxima over windows of planes [height, width], and their gradient.

// Windows: kernel, stride, padding and dilation, each down and along.
struct Windows {
    i64 kernel[2], stride[2], padding[2], dilation[2];
};

// The first of ties, and the last nan; if all are the lowest, the first cell inside of the plane.
template <class T> KERNEL max_pool(View<const T> a, View<T> out, View<i64> places, Windows w, i64 count,
                                   i64 height, i64 width, i64 down, i64 along) {
    typedef typename Wide<T>::type A;
    for (i64 k = first(); k < count; k += stride()) {
        i64 plane = k / (down * along), y = k / along % down, x = k % along, found = -1;
        A best = 0;
        for (i64 i = 0; i < w.kernel[0]; i++) {
            i64 r = y * w.stride[0] - w.padding[0] + i * w.dilation[0];
            if (r < 0 || r >= height) continue;
            for (i64 j = 0; j < w.kernel[1]; j++) {
                i64 c = x * w.stride[1] - w.padding[1] + j * w.dilation[1];
                if (c < 0 || c >= width) continue;
                A seen = wide(a[(plane * height + r) * width + c]);
                if (found < 0 || seen > best || seen != seen) {
                    best = seen;
                    found = r * width + c;
                }
            }
        }
        out[k] = narrow<T>(best);
        places[k] = found;
    }
}

// A gradient added into planes of `size` at flat places: a block a plane. Each thread owns cells and goes
// through all windows in their order, so that every run gives the same bits and nothing is written by two.
#define TILE 256
template <class T> KERNEL max_pool_backward(View<const T> g, View<const i64> places, View<T> out,
                                            View<i64> error, i64 planes, i64 windows, i64 size) {
    typedef typename Wide<T>::type A;
    SHARED(A, TILE, slopes);
    SHARED(i64, TILE, at);
    for (i64 plane = blockIdx.x; plane < planes; plane += gridDim.x) {
        for (i64 k = threadIdx.x; k < size; k += blockDim.x) out[plane * size + k] = narrow<T>((A)0);
        for (i64 from = 0; from < windows; from += TILE) {
            int many = (int)(windows - from < TILE ? windows - from : TILE);
            __syncthreads();
            for (int k = threadIdx.x; k < many; k += blockDim.x) {
                i64 place = places[plane * windows + from + k];
                slopes[k] = wide(g[plane * windows + from + k]);
                at[k] = place;
                if (place < 0 || place >= size) {
                    error[0] = 1;
                    error[1] = place;
                }
            }
            __syncthreads();
            for (int k = 0; k < many; k++) {
                i64 place = at[k];
                if (place < 0 || place >= size || place % blockDim.x != threadIdx.x) continue;
                i64 cell = plane * size + place;
                out[cell] = narrow<T>(wide(out[cell]) + slopes[k]);
            }
        }
    }
}
