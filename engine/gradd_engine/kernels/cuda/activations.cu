// Activations and their gradients, element by element: `g` is the gradient, `x` the input, or the result.

#define OF_ONE(name, parameters, value)                                                      \
    template <class T> KERNEL name(View<const T> a, View<T> out, i64 n parameters) {         \
        typedef typename Wide<T>::type A;                                                    \
        for (i64 i = first(); i < n; i += stride()) {                                        \
            A x = wide(a[i]);                                                                \
            out[i] = narrow<T>(value);                                                       \
        }                                                                                    \
    }
#define OF_TWO(name, parameters, value)                                                                   \
    template <class T> KERNEL name(View<const T> s, View<const T> a, View<T> out, i64 n parameters) {     \
        typedef typename Wide<T>::type A;                                                                 \
        for (i64 i = first(); i < n; i += stride()) {                                                     \
            A g = wide(s[i]), x = wide(a[i]);                                                             \
            out[i] = narrow<T>(value);                                                                    \
        }                                                                                                 \
    }
#define AND(...) , __VA_ARGS__

OF_ONE(relu, , relu_of(x))
OF_ONE(sigmoid, , logistic(x))
OF_ONE(silu, , silu_of(x))
OF_ONE(gelu_none, , gelu_of(x))
OF_ONE(gelu_tanh, , bent_gelu(x))
OF_ONE(leaky_relu, AND(double slope), leaky_of(x, (A)slope))
OF_ONE(elu, AND(double alpha, double scale, double inner), elu_of(x, (A)alpha, (A)scale, (A)inner))

OF_TWO(threshold_backward, AND(double threshold), above(g, x, (A)threshold))
OF_TWO(sigmoid_backward, , g * (((A)1 - x) * x))
OF_TWO(tanh_backward, , g * ((A)1 - x * x))
OF_TWO(silu_backward, , g * silu_slope(x))
OF_TWO(gelu_backward_none, , g * gelu_slope(x))
OF_TWO(gelu_backward_tanh, , g * bent_slope(x))
