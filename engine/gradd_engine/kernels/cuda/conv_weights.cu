// The gradients of convolutions for their weights: products of the gradient of the result and of the windows
// of all places, summed over those in a fixed order.
#define NINE 9

// The place that is so many after a part's first, over all images. Only what is the same for all threads
// takes a division of 64 bits.
struct Counter {
    i64 image;
    u32 place, whole;
    __device__ Counter(i64 begin, i64 size)
        : image(begin / size), place((u32)(begin % size)), whole((u32)size) {}
    __device__ Spot after(int k) const {
        u32 at = place + (u32)k;
        return Spot{image + at / whole, at % whole};
    }
};

// Reads a gradient, and the cells that its places meet: a row is one of its channels, a column a weight of
// each of them, and the sums are over places.
template <class T, int ROWS, int COLUMNS, int DEPTH> struct PlaceReader {
    typedef typename Wide<T>::type A;
    View<const T> g, a;
    const Convolution &to;
    Cells<i64, COLUMNS> &moves;       // how far on a column's cell is
    Cells<int, 3 * COLUMNS> &shifts;  // the same along each axis
    Counter counter;
    i64 group, begin_row;
    int length, rows, columns;
    i64 slopes, cell;
    int z, y, x;
    bool inside;

    __device__ void prepare(int, int) {}
    __device__ void seek(int from, int) {
        const Axis *axes = to.axes;
        int k = from + (int)threadIdx.x % DEPTH;
        Spot s = counter.after(k);
        u32 broad = (u32)axes[2].places, high = (u32)axes[1].places, line = s.place / broad;
        inside = k < length;
        z = (int)(line / high * axes[0].factor + axes[0].offset);
        y = (int)(line % high * axes[1].factor + axes[1].offset);
        x = (int)(s.place % broad * axes[2].factor + axes[2].offset);
        slopes = ((s.plane * to.groups + group) * to.each + begin_row) * counter.whole + s.place;
        cell = (s.plane * to.groups + group) * to.inner * cells_of(axes) + apart(axes, z, y, x);
    }

    __device__ int left_depth(int) const { return (int)threadIdx.x % DEPTH; }
    __device__ int left_row(int i) const { return (int)threadIdx.x / DEPTH + i * (THREADS / DEPTH); }
    __device__ int right_depth(int) const { return (int)threadIdx.x % DEPTH; }
    __device__ int right_column(int i) const { return (int)threadIdx.x / DEPTH + i * (THREADS / DEPTH); }

    __device__ A left(int i) const {
        int row = left_row(i);
        return inside && row < rows ? wide(g[slopes + (i64)row * counter.whole]) : (A)0;
    }
    __device__ A right(int i) const {
        int c = right_column(i);
        if (!inside || c >= columns) return 0;
        if (!within(to.axes, z + shifts[3 * c], y + shifts[3 * c + 1], x + shifts[3 * c + 2])) return 0;
        return wide(a[cell + moves[c]]);
    }
};

// A weight's tap along each axis: how far on its cell is.
__device__ inline void shift_of(const Axis *a, i64 tap, int &z, int &y, int &x) {
    i64 line = tap / a[2].taps;
    x = (int)((tap - line * a[2].taps) * a[2].dilation);
    y = (int)(line % a[1].taps * a[1].dilation);
    z = (int)(line / a[1].taps * a[0].dilation);
}

// A tile of a weight's gradient, for channels of one group and a part of the places.
template <class T, int ROWS, int COLUMNS, int ALONG, int DEPTH>
__device__ inline void weight_tile(View<const T> g, View<const T> a, View<T> out,
                                   View<typename Wide<T>::type> sums, const Convolution &to) {
    SHARED(i64, COLUMNS, moves);
    SHARED(int, 3 * COLUMNS, shifts);
    i64 left = blockIdx.x, taps = taps_of(to.axes), depth = to.inner * taps, high = ceiling(to.each, ROWS),
        broad = ceiling(depth, COLUMNS), whole = places_of(to.axes);
    i64 begin_row = left % high * ROWS;
    left /= high;
    i64 begin_column = left % broad * COLUMNS;
    left /= broad;
    i64 group = left % to.groups, part = left / to.groups;
    Part some = part_of(to.images * whole, to.parts, part);
    PlaceReader<T, ROWS, COLUMNS, DEPTH> reader = {
        g, a, to, moves, shifts, Counter(some.begin, whole), group, begin_row, some.length,
        (int)(to.each - begin_row < ROWS ? to.each - begin_row : ROWS),
        (int)(depth - begin_column < COLUMNS ? depth - begin_column : COLUMNS)};
    if ((int)threadIdx.x < reader.columns) {
        i64 column = begin_column + threadIdx.x, channel = column / taps;
        int z, y, x;
        shift_of(to.axes, column - channel * taps, z, y, x);
        moves[threadIdx.x] = channel * cells_of(to.axes) + apart(to.axes, z, y, x);
        shifts[3 * threadIdx.x] = z;
        shifts[3 * threadIdx.x + 1] = y;
        shifts[3 * threadIdx.x + 2] = x;
    }
    Tile<typename Wide<T>::type, ROWS, COLUMNS, ALONG, DEPTH> tile;
    tile.multiply(reader, some.length);
#pragma unroll
    for (int r = 0; r < tile.TALL; r++)
#pragma unroll
        for (int c = 0; c < tile.BROAD; c++) {
            int row = tile.row(r), column = tile.column(c);
            if (row >= reader.rows || column >= reader.columns) continue;
            i64 at = (group * to.each + begin_row + row) * depth + begin_column + column;
            if (sums.given())
                sums[part * to.groups * to.each * depth + at] = tile.sums[r][c];
            else
                out[at] = narrow<T>(tile.sums[r][c]);
        }
}

template <class T> KERNEL convolve_weight(View<const T> g, View<const T> a, View<T> out,
                                          View<typename Wide<T>::type> sums, Convolution to) {
    weight_tile<T, 64, 64, 16, 32>(g, a, out, sums, to);
}
template <class T> KERNEL convolve_weight_few(View<const T> g, View<const T> a, View<T> out,
                                              View<typename Wide<T>::type> sums, Convolution to) {
    weight_tile<T, 16, 64, 32, 32>(g, a, out, sums, to);
}
template <class T> KERNEL convolve_weight_large(View<const T> g, View<const T> a, View<T> out,
                                                View<typename Wide<T>::type> sums, Convolution to) {
    weight_tile<T, 128, 128, 16, 16>(g, a, out, sums, to);
}

// For groups of few channels: a block has nine taps of a channel of the result and one of the input.
template <class T> KERNEL convolve_weight_each(View<const T> g, View<const T> a, View<T> out,
                                               View<typename Wide<T>::type> sums, Convolution to) {
    typedef typename Wide<T>::type A;
    const Axis *axes = to.axes;
    i64 taps = taps_of(axes), pieces = ceiling(taps, NINE), left = blockIdx.x, whole = places_of(axes);
    i64 piece = left % pieces;
    left /= pieces;
    i64 inner = left % to.inner;
    left /= to.inner;
    i64 channels = to.groups * to.each, channel = left % channels, part = left / channels,
        group = channel / to.each;
    i64 first_tap = piece * NINE;
    Part some = part_of(to.images * whole, to.parts, part);
    int many = (int)(taps - first_tap < NINE ? taps - first_tap : NINE);
    int dz[NINE], dy[NINE], dx[NINE], moves[NINE];
    A totals[NINE];
#pragma unroll
    for (int i = 0; i < NINE; i++) {
        shift_of(axes, first_tap + i, dz[i], dy[i], dx[i]);
        moves[i] = apart(axes, dz[i], dy[i], dx[i]);
        totals[i] = 0;
    }
    u32 high = (u32)axes[1].places, broad = (u32)axes[2].places;
    Counter counter(some.begin, whole);
    for (int k = (int)threadIdx.x; k < some.length; k += (int)blockDim.x) {
        Spot s = counter.after(k);
        u32 line = s.place / broad;
        int z = (int)(line / high * axes[0].factor + axes[0].offset),
            y = (int)(line % high * axes[1].factor + axes[1].offset),
            x = (int)(s.place % broad * axes[2].factor + axes[2].offset);
        A slope = wide(g[(s.plane * channels + channel) * whole + s.place]);
        i64 cell = ((s.plane * to.groups + group) * to.inner + inner) * cells_of(axes) + apart(axes, z, y, x);
#pragma unroll
        for (int i = 0; i < NINE; i++)
            if (i < many && within(axes, z + dz[i], y + dy[i], x + dx[i]))
                totals[i] += slope * wide(a[cell + moves[i]]);
    }
    i64 at = (channel * to.inner + inner) * taps + first_tap;
#pragma unroll
    for (int i = 0; i < NINE; i++) {
        A total = block_sum(totals[i]);
        if (threadIdx.x || i >= many) continue;
        if (sums.given())
            sums[part * channels * to.inner * taps + at + i] = total;
        else
            out[at + i] = narrow<T>(total);
    }
}
