// The negative log likelihood of class indices in an array [outer, classes, inner], and its gradient.

// One block: losses of the targets, if wanted, their sum or mean, and the sum of the weights. A target that
// is no class sets `error` to 1 and itself.
template <class T, class I> KERNEL nll(View<const T> rows, View<const I> target, View<const T> weight,
                                       View<T> losses, View<T> loss, View<T> total, View<i64> error,
                                       i64 count, i64 classes, i64 inner, i64 ignored, i64 mean) {
    typedef typename Wide<T>::type A;
    A sum = 0, weights = 0;
    for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
        i64 at = (i64)target[i];
        A each = 0;
        if (at != ignored) {
            if (at < 0 || at >= classes) {
                error[0] = 1;
                error[1] = at;
            } else {
                A share = weight.given() ? wide(weight[at]) : (A)1;
                each = -wide(rows[(i / inner * classes + at) * inner + i % inner]) * share;
                weights += share;
            }
        }
        if (losses.given()) losses[i] = narrow<T>(each);
        sum += each;
    }
    sum = block_sum(sum);
    weights = block_sum(weights);
    if (threadIdx.x == 0) {
        if (loss.given()) loss[0] = narrow<T>(mean ? sum / weights : sum);
        total[0] = narrow<T>(weights);
    }
}

// The gradient: `g` is each target's or, if `shared`, one for all, divided by `total` if `mean`.
template <class T, class I> KERNEL nll_backward(View<const T> g, View<const I> target, View<const T> weight,
                                                View<const T> total, View<T> out, View<i64> error, i64 count,
                                                i64 classes, i64 inner, i64 ignored, i64 shared, i64 mean) {
    typedef typename Wide<T>::type A;
    for (i64 k = first(); k < count; k += stride()) {
        i64 c = k / inner % classes, i = k / inner / classes * inner + k % inner, at = (i64)target[i];
        A found = 0;
        if (at != ignored) {
            if (at < 0 || at >= classes) {
                error[0] = 1;
                error[1] = at;
            } else if (at == c) {
                A slope = wide(g[shared ? 0 : i]);
                if (mean) slope /= wide(total[0]);
                found = -(weight.given() ? wide(weight[at]) : (A)1) * slope;
            }
        }
        out[k] = narrow<T>(found);
    }
}
