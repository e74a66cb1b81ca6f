// The arrays of up to MANY tensors, by value: nothing is copied to the device before a launch, and a graph that
// is captured keeps them. Of an optimizer, rows are parameters, gradients, then what a step holds; the last is the
// count of steps.
#define MANY 48
#define ROWS 6
#define CHUNK 4096
struct Pack {
    u64 at[ROWS][MANY];
    i64 size[MANY];
    // a tensor's first chunk, and after the last how many there are
    i64 chunk[MANY + 1];
};
struct Piece {
    int which;
    i64 from, to;
};
__device__ inline Piece piece_of(const Pack &pack, i64 block) {
    int t = 0;
    while (pack.chunk[t + 1] <= block) t++;
    i64 from = (block - pack.chunk[t]) * CHUNK, end = pack.size[t];
    return Piece{t, from, from + CHUNK < end ? from + CHUNK : end};
}
template <class T> __device__ inline View<T> of_pack(const Pack &pack, int row, int which) {
    return view_of<T>((void *)pack.at[row][which], row == ROWS - 1 ? 1 : pack.size[which]);
}
