// Optimizer steps over many parameters in one launch.
//
// Arithmetic and its order follow torch.optim with foreach=False: https://pytorch.org/docs/stable/optim.html
// Where `found_inf` is given and not 0, nothing is written.

__device__ inline bool skipped(View<const float> found_inf) { return found_inf.given() && found_inf[0] != 0; }

// One more step for each parameter: before its values change, in a launch of its own, since all blocks read
// it.
template <class T> KERNEL count_steps(Pack pack, View<const float> found_inf, i64 many) {
    i64 i = first();
    if (i < many && !skipped(found_inf)) of_pack<T>(pack, ROWS - 1, (int)i)[0] += 1;
}

template <class T, class G> KERNEL sgd(Pack pack, View<const float> found_inf, double lr, double momentum,
                                       double dampening, double decay, i64 held, i64 nesterov, i64 maximize,
                                       i64 unset) {
    typedef typename Wide<T>::type A;
    if (skipped(found_inf)) return;
    Piece piece = piece_of(pack, blockIdx.x);
    View<T> p = of_pack<T>(pack, 0, piece.which), buffer = of_pack<T>(pack, 2, piece.which);
    View<const G> g = of_pack<const G>(pack, 1, piece.which);
    for (i64 i = piece.from + threadIdx.x; i < piece.to; i += blockDim.x) {
        A value = wide(p[i]), slope = (A)wide(g[i]);
        if (maximize) slope = -slope;
        if (decay != 0) slope = slope + value * (A)decay;
        if (held) {
            A kept = unset ? slope : wide(buffer[i]) * (A)momentum + slope * (A)(1 - dampening);
            buffer[i] = narrow<T>(kept);
            slope = nesterov ? slope + kept * (A)momentum : kept;
        }
        p[i] = narrow<T>(value + slope * (A)-lr);
    }
}

// Adam of Kingma and Ba (2014); AdamW of Loshchilov and Hutter (2017) if `decoupled`; AMSGrad of Reddi et al.
// (2018).
template <class T, class G> KERNEL adam(Pack pack, View<const float> found_inf, double lr, double beta1,
                                        double beta2, double eps, double decay, i64 amsgrad, i64 maximize,
                                        i64 decoupled) {
    typedef typename Wide<T>::type A;
    if (skipped(found_inf)) return;
    Piece piece = piece_of(pack, blockIdx.x);
    View<T> p = of_pack<T>(pack, 0, piece.which), means = of_pack<T>(pack, 2, piece.which);
    View<T> squares = of_pack<T>(pack, 3, piece.which), most = of_pack<T>(pack, 4, piece.which);
    View<const G> g = of_pack<const G>(pack, 1, piece.which);
    double count = of_pack<float>(pack, ROWS - 1, piece.which)[0];
    A scale = (A)(-lr / (1 - pow(beta1, count))), bias = (A)sqrt(1 - pow(beta2, count));
    A weight = (A)(1 - beta1), keep = (A)(1 - (1 - beta1));
    bool near = fabs(1 - beta1) < 0.5;
    for (i64 i = piece.from + threadIdx.x; i < piece.to; i += blockDim.x) {
        A value = wide(p[i]), slope = (A)wide(g[i]), mean = wide(means[i]), square = wide(squares[i]);
        if (maximize) slope = -slope;
        if (decay != 0 && decoupled) value *= (A)(1 - lr * decay);
        if (decay != 0 && !decoupled) slope = slope + value * (A)decay;
        // lerp has two forms, each exact at its own end
        mean = near ? mean + (slope - mean) * weight : slope - (slope - mean) * keep;
        square = square * (A)beta2 + slope * (A)(1 - beta2) * slope;
        means[i] = narrow<T>(mean);
        squares[i] = narrow<T>(square);
        if (amsgrad) {
            square = Larger::of(wide(most[i]), square);
            most[i] = narrow<T>(square);
        }
        p[i] = narrow<T>(value + mean * scale / (root(square) / bias + (A)eps));
    }
}

// RMSprop of Tieleman and Hinton (2012), also with a momentum or centered.
template <class T, class G> KERNEL rmsprop(Pack pack, View<const float> found_inf, double lr, double alpha,
                                           double eps, double decay, double momentum, i64 held, i64 centered,
                                           i64 maximize) {
    typedef typename Wide<T>::type A;
    if (skipped(found_inf)) return;
    Piece piece = piece_of(pack, blockIdx.x);
    View<T> p = of_pack<T>(pack, 0, piece.which), squares = of_pack<T>(pack, 2, piece.which);
    View<T> buffer = of_pack<T>(pack, 3, piece.which), means = of_pack<T>(pack, 4, piece.which);
    View<const G> g = of_pack<const G>(pack, 1, piece.which);
    for (i64 i = piece.from + threadIdx.x; i < piece.to; i += blockDim.x) {
        A value = wide(p[i]), slope = (A)wide(g[i]);
        if (maximize) slope = -slope;
        if (decay != 0) slope = slope + value * (A)decay;
        A square = wide(squares[i]) * (A)alpha + slope * slope * (A)(1 - alpha), under = square;
        squares[i] = narrow<T>(square);
        if (centered) {
            A mean = wide(means[i]);
            mean =
                1 - alpha < 0.5 ? mean + (slope - mean) * (A)(1 - alpha) : slope - (slope - mean) * (A)alpha;
            means[i] = narrow<T>(mean);
            under = square - mean * mean;
        }
        under = root(under) + (A)eps;
        if (held) {
            A kept = wide(buffer[i]) * (A)momentum + slope / under;
            buffer[i] = narrow<T>(kept);
            p[i] = narrow<T>(value - kept * (A)lr);
        } else {
            p[i] = narrow<T>(value + slope * (A)-lr / under);
        }
    }
}
