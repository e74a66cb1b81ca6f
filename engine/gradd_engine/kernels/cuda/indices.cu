// Reads by index. An index out of its bounds sets `error` to 1 and itself, and 0 is read for it: what was in
// a result's memory before is nobody's to see.

// Slices of an array [outer, n, inner] along its middle dimension; negative indices count from its end if
// `wraps`.
template <class T, class I>
KERNEL take_slices(View<const T> a, View<const I> index, View<T> out, View<i64> error, i64 count, i64 n,
                   i64 inner, i64 many, i64 wraps) {
    for (i64 k = first(); k < count; k += stride()) {
        i64 at = (i64)index[k / inner % many];
        if (wraps && at < 0 && at >= -n) at += n;
        if (at < 0 || at >= n) {
            error[0] = 1;
            error[1] = at;
            out[k] = T();
        } else {
            out[k] = a[(k / inner / many * n + at) * inner + k % inner];
        }
    }
}

// Elements of an array [outer, n, inner] by an index [outer, many, inner].
template <class T, class I> KERNEL gather(View<const T> a, View<const I> index, View<T> out, View<i64> error,
                                          i64 count, i64 n, i64 inner, i64 many) {
    for (i64 k = first(); k < count; k += stride()) {
        i64 at = (i64)index[k];
        if (at < 0 || at >= n) {
            error[0] = 1;
            error[1] = at;
            out[k] = T();
        } else {
            out[k] = a[(k / inner / many * n + at) * inner + k % inner];
        }
    }
}
