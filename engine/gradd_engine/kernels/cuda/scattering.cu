// Writes and sums by index along the middle dimension of an array [outer, n, inner], in the order of their
// places, so that every run gives the same bits: a block has some of an array's places to itself.
//
// Results are `base`, all of its number if `single`, or zeros without it. An index out of its bounds sets
// `error` to 1 and itself.
#define PLACES 2048
#define PIECE 128
#define AHEAD 8

// A block's part of results: `height` places along the middle dimension, `width` beside it.
struct Part {
    i64 outer, place, column;
    i64 height;
    __device__ Part(i64 block, i64 n, i64 inner, int width) {
        i64 most = PLACES / width, slices = (n + most - 1) / most, slabs = (inner + width - 1) / width;
        place = block % slices * most;
        column = block / slices % slabs * width;
        outer = block / slices / slabs;
        height = place + most < n ? most : n - place;
    }
};
__device__ inline void note(View<i64> error, i64 at) {
    error[0] = 1;
    error[1] = at;
}
// How many threads before this one say yes, and how many of all.
__device__ inline int before(bool yes, int &all) {
    SHARED(int, 32, counts);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5, x = yes;
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(0xFFFFFFFFu, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) counts[warp] = x;
    __syncthreads();
    int found = x - yes;
    all = 0;
    for (int w = 0; w < warps; w++) {
        if (w < warp) found += counts[w];
        all += counts[w];
    }
    return found;
}
// The first place in sorted indices whose index is `least` or more.
template <class I>
__device__ inline i64 reached(View<const I> index, View<const i64> order, i64 many, i64 least) {
    i64 low = 0, high = many;
    while (low < high) {
        i64 middle = (low + high) / 2;
        if ((i64)index[order[middle]] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Slices of `source` [outer, many, inner] times alpha added, or the last of them written if `sets`, at a
// vector of indices, which `order` sorts if it is given. Negative ones count from the end if `wraps`. Place
// `padding` gets nothing; `scaled` divides by how many a place gets.
template <class T, class I>
KERNEL add_slices(View<const T> base, View<const T> source, View<const I> index, View<const i64> order,
                  View<T> out, View<i64> error, i64 blocks, i64 n, i64 inner, i64 many, i64 width, i64 single,
                  i64 wraps, i64 sets, i64 padding, i64 scaled, double alpha) {
    typedef typename Wide<T>::type A;
    SHARED(A, PLACES, sums);
    SHARED(int, PLACES, counts);
    SHARED(i64, PIECE, from);
    SHARED(int, PIECE, to);
    int t = threadIdx.x, across = (int)width, x = t % across, y = t / across, side = blockDim.x / across;
    for (i64 b = blockIdx.x; b < blocks; b += gridDim.x) {
        Part part(b, n, inner, across);
        i64 j = part.column + x;
        for (int r = y; r < part.height; r += side) {
            sums[r * across + x] = 0;
            if (x == 0) counts[r] = 0;
        }
        i64 p = 0, end = many;
        if (order.given()) {
            p = reached(index, order, many, part.place);
            end = reached(index, order, many, part.place + part.height);
            i64 least = (i64)index[order[0]], last = (i64)index[order[many - 1]];
            if (b == 0 && t == 0 && least < 0) note(error, least);
            if (b == 0 && t == 0 && last >= n) note(error, last);
        }
        for (; p < end; p += PIECE) {
            i64 q = p + t, at = -1;
            if (q < end) {
                if (order.given()) q = order[q];
                at = (i64)index[q];
                if (wraps && at < 0 && at >= -n) at += n;
                if (b == 0 && !order.given() && (at < 0 || at >= n)) note(error, at);
            }
            i64 there = at - part.place;
            bool yes = there >= 0 && there < part.height && at != padding;
            int found, slot = before(yes, found);
            if (yes) {
                from[slot] = q;
                to[slot] = (int)there;
            }
            __syncthreads();
            for (int m = 0; m < found; m += AHEAD) {
                A value[AHEAD];  // read before any is added, so that reads need not wait for sums
                for (int k = 0; k < AHEAD; k++)
                    if (m + k < found && to[m + k] % side == y && j < inner)
                        value[k] = wide(source[(part.outer * many + from[m + k]) * inner + j]) * (A)alpha;
                for (int k = 0; k < AHEAD; k++)
                    if (m + k < found && to[m + k] % side == y && j < inner) {
                        if (sets) sums[to[m + k] * across + x] = 0;
                        sums[to[m + k] * across + x] += value[k];
                        if (x == 0) counts[to[m + k]] += 1;
                    }
            }
            __syncthreads();  // the next piece is written where this one was
        }
        __syncthreads();  // counts are those of other threads
        for (int r = y; r < part.height; r += side) {
            if (j >= inner) break;
            i64 at = (part.outer * n + part.place + r) * inner + j;
            A total = sums[r * across + x];
            if (scaled && counts[r]) total /= (A)counts[r];
            if (base.given() && !(sets && counts[r])) total += wide(base[single ? 0 : at]);
            out[at] = narrow<T>(total);
        }
        __syncthreads();
    }
}

// Elements of `source`, or `number` without it, written or, if `adds`, added by an index
// [outer, many, inner].
template <class T, class I>
KERNEL scatter(View<const T> base, View<const T> source, View<const I> index, View<T> out, View<i64> error,
               i64 blocks, i64 n, i64 inner, i64 many, i64 width, i64 single, i64 adds, double number) {
    typedef typename Wide<T>::type A;
    SHARED(A, PLACES, cells);
    SHARED(A, PIECE, values);
    SHARED(int, PIECE, to);
    int t = threadIdx.x, across = (int)width, x = t % across, y = t / across, side = blockDim.x / across;
    for (i64 b = blockIdx.x; b < blocks; b += gridDim.x) {
        Part part(b, n, inner, across);
        i64 j = part.column + x;
        for (int r = y; r < part.height; r += side)
            if (j < inner) {
                i64 at = (part.outer * n + part.place + r) * inner + j;
                cells[r * across + x] = base.given() ? wide(base[single ? 0 : at]) : (A)0;
            }
        for (i64 p = 0; p < many; p += side) {
            to[t] = -1;
            if (p + y < many && j < inner) {
                i64 k = (part.outer * many + p + y) * inner + j, at = (i64)index[k], there = at - part.place;
                if (part.place == 0 && (at < 0 || at >= n)) note(error, at);
                if (there >= 0 && there < part.height) to[t] = (int)there;
                values[t] = source.given() ? wide(source[k]) : (A)number;
            }
            __syncthreads();
            for (int m = 0; m < side; m++) {
                int there = to[m * across + x];
                if (there < 0 || there % side != y) continue;
                A value = values[m * across + x];
                if (adds) value += cells[there * across + x];
                cells[there * across + x] = value;
            }
            __syncthreads();  // the next piece is written where this one was
        }
        // each thread has what it wrote itself
        for (int r = y; r < part.height; r += side)
            if (j < inner)
                out[(part.outer * n + part.place + r) * inner + j] = narrow<T>(cells[r * across + x]);
        __syncthreads();
    }
}
