// What convolutions and the gradients of their weights share: the geometry, and products of matrices by tiles.
//
// Along an axis, tap i of place q meets the input at (q * factor + offset + i * dilation) / divisor, where that
// is whole and inside. A convolution divides by 1, its transpose by the stride. Places with the same rest meet
// the same taps, one of `every`, so each rest is a convolution of its own, without a step that finds nothing.
#define THREADS 256

struct Axis {
    i64 size, places, taps, factor, divisor, offset, dilation, every;
};
// `inner` channels of each group are summed to `each` of the result; `row` and `step` are how far apart their
// weights are.
struct Convolution {
    Axis axes[3];
    i64 images, groups, inner, each, row, step, parts;
};

__device__ inline i64 ceiling(i64 a, i64 b) { return (a + b - 1) / b; }

__device__ inline bool within(const Axis *a, int z, int y, int x) {
    return (u32)z < (u32)a[0].size && (u32)y < (u32)a[1].size && (u32)x < (u32)a[2].size;
}
// How far from a plane's first cell another is, or would be.
__device__ inline i64 apart(const Axis *a, i64 z, i64 y, i64 x) { return (z * a[1].size + y) * a[2].size + x; }
__device__ inline i64 cells_of(const Axis *a) { return a[0].size * a[1].size * a[2].size; }
__device__ inline i64 places_of(const Axis *a) { return a[0].places * a[1].places * a[2].places; }
__device__ inline i64 taps_of(const Axis *a) { return a[0].taps * a[1].taps * a[2].taps; }
// A part of sums of `length`, in whole slices.
__device__ inline i64 part_of(i64 length, i64 parts, i64 slice) {
    return ceiling(ceiling(length, parts), slice) * slice;
}

// A block's tile of a product. Neighbouring threads have neighbouring columns, ALONG of them beside each other.
template <class A, int ROWS, int COLUMNS, int ALONG, int DEPTH> struct Tile {
    static const int DOWN = THREADS / ALONG;
    static const int TALL = ROWS / DOWN, BROAD = COLUMNS / ALONG;
    static const int LEFT = ROWS * DEPTH / THREADS, RIGHT = COLUMNS * DEPTH / THREADS;
    A sums[TALL][BROAD];

    __device__ int row(int r) const { return (int)threadIdx.x / ALONG + r * DOWN; }
    __device__ int column(int c) const { return (int)threadIdx.x % ALONG + c * ALONG; }

    // The sums from `begin` to `end`, in their order. A slice is prepared two slices ahead, by the turn.
    template <class Reader> __device__ void multiply(Reader &reader, i64 begin, i64 end) {
        SHARED(A, DEPTH * (ROWS + 1), left);
        SHARED(A, DEPTH * (COLUMNS + 1), right);
        A lefts[LEFT], rights[RIGHT];
        int turn = 0;
        for (int r = 0; r < TALL; r++)
            for (int c = 0; c < BROAD; c++) sums[r][c] = 0;
        reader.prepare(begin, 0);
        reader.prepare(begin + DEPTH, 1);
        __syncthreads();
        reader.seek(begin, 0);
        for (int i = 0; i < LEFT; i++) lefts[i] = reader.left(i);
        for (int i = 0; i < RIGHT; i++) rights[i] = reader.right(i);
        for (i64 from = begin; from < end; from += DEPTH, turn ^= 1) {
            __syncthreads();  // the slice before has been multiplied
            for (int i = 0; i < LEFT; i++) left[reader.left_depth(i) * (ROWS + 1) + reader.left_row(i)] = lefts[i];
            for (int i = 0; i < RIGHT; i++)
                right[reader.right_depth(i) * (COLUMNS + 1) + reader.right_column(i)] = rights[i];
            __syncthreads();
            reader.prepare(from + 2 * DEPTH, turn);
            if (from + DEPTH < end) {
                reader.seek(from + DEPTH, turn ^ 1);
                for (int i = 0; i < LEFT; i++) lefts[i] = reader.left(i);
                for (int i = 0; i < RIGHT; i++) rights[i] = reader.right(i);
            }
            for (int k = 0; k < DEPTH; k++) {
                A down[TALL], along[BROAD];
                for (int r = 0; r < TALL; r++) down[r] = left[k * (ROWS + 1) + row(r)];
                for (int c = 0; c < BROAD; c++) along[c] = right[k * (COLUMNS + 1) + column(c)];
                for (int r = 0; r < TALL; r++)
                    for (int c = 0; c < BROAD; c++) sums[r][c] += down[r] * along[c];
            }
        }
    }
};
