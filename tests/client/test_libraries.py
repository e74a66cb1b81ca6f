"""Libraries that take any array: einops, SciPy, scikit-learn, pandas, Pillow, matplotlib; each where it is
installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def test_einops() -> None:
    einops = pytest.importorskip("einops", reason="einops is not installed")
    gradd.connect("local:").close()  # a session that begins makes tensors known to it
    a = np.arange(24.0).reshape(2, 3, 4)
    x = torch.from_numpy(a).requires_grad_()
    for source in (
        "e.rearrange(x, 'b (h w) c -> h (b c) w', h=3)",
        "e.reduce(x, 'b h c -> b c', 'max')",
        "e.reduce(x, 'b h c -> b', 'mean')",
        "e.reduce(x, 'b h c -> b c', 'prod')",
        "e.repeat(x, 'b h c -> b h (c k) n', k=2, n=3)",
        "e.einsum(x, x, 'b i c, b j c -> b i j')",
        "e.rearrange([x, x], 'n b h c -> b (n h) c')",
        "e.pack([x, x[:, 0]], 'b * c')[0]",
    ):
        found, wanted = (eval(source, {"e": einops, "x": each}) for each in (x, a))
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.detach().numpy(), wanted, err_msg=source)
    assert einops.parse_shape(x, "b h c") == {"b": 2, "h": 3, "c": 4}
    assert isinstance(einops.asnumpy(x), np.ndarray)
    einops.reduce(einops.rearrange(x, "b h c -> (b h) c") ** 2, "n c -> ", "sum").backward()
    assert x.grad.tolist() == (2 * a).tolist()
    with pytest.raises(einops.EinopsError):
        einops.rearrange(x, "b h -> h b")


SCIPY = """
import numpy as np, gradd as torch, scipy.cluster.vq, scipy.integrate, scipy.special as sp, scipy.stats as st
x = torch.tensor([0.1, 0.5, 0.9, 1.7], dtype=torch.float64)
y = torch.tensor([0.3, 0.2, 1.1, 2.0], dtype=torch.float64)
for source in ('sp.logsumexp(x)', 'sp.softmax(x)', 'sp.expit(x)', 'sp.xlogy(x, y)', 'st.zscore(x)',
               'st.kurtosis(x)', 'st.pearsonr(x, y).statistic', 'st.ttest_ind(x, y).pvalue',
               'st.entropy(x, y)', 'scipy.integrate.trapezoid(y, x)', 'scipy.cluster.vq.whiten(y[:, None])'):
    found = eval(source)
    assert isinstance(found, torch.Tensor), source
    np.testing.assert_allclose(found, eval(source, {**globals(), 'x': np.asarray(x), 'y': np.asarray(y)}))
print('all')
"""

LEARN = """
import numpy as np, gradd as torch, sklearn
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler
X = np.random.default_rng(0).standard_normal((40, 4))
x, y = torch.from_numpy(X), torch.from_numpy(X @ np.arange(4.0))
with sklearn.config_context(array_api_dispatch=True):
    for made in (StandardScaler(), MinMaxScaler(), PCA(2, svd_solver='full')):
        found = made.fit_transform(x)
        assert isinstance(found, torch.Tensor), made
        wanted = type(made)(**made.get_params()).fit_transform(X)
        np.testing.assert_allclose(abs(found), abs(wanted), atol=1e-9)
    model = Ridge(solver='svd').fit(x, y)
    assert isinstance(model.coef_, torch.Tensor)
    assert float(r2_score(y, model.predict(x))) > 0.99
    assert accuracy_score(y > 0, y > 0) == 1.0
print('all')
"""


@pytest.mark.parametrize(("package", "program"), [("scipy", SCIPY), ("sklearn", LEARN)])
def test_functions_of_the_array_api(package: str, program: str) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("all\n", 0), done.stderr


def test_pandas() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    series, frame = pd.Series([1.5, 2.5, 3.5]), pd.DataFrame({"a": [1, 2], "b": [3.5, 4.5]})
    assert (torch.tensor(series).dtype, torch.tensor(series).tolist()) == (torch.float64, [1.5, 2.5, 3.5])
    assert torch.as_tensor(pd.Series([1, 2], index=[7, 8])).tolist() == [1, 2]
    assert torch.tensor(frame).tolist() == [[1.0, 3.5], [2.0, 4.5]]
    assert torch.tensor([series, series]).dtype is torch.float64
    assert torch.from_numpy(frame.values).shape == (2, 2)
    assert torch.LongTensor(frame["a"].values).tolist() == [1, 2]
    assert torch.FloatTensor(series).dtype is torch.float32
    assert pd.Series(torch.ones(2).numpy()).tolist() == [1.0, 1.0]
    assert series.iloc[torch.tensor([0, 2])].tolist() == [1.5, 3.5]
    with pytest.raises(TypeError, match=r"numpy\.object_"):
        torch.tensor(pd.DataFrame({"a": ["x"]}))


def test_pillow() -> None:
    images = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    image = images.new("RGB", (3, 2), (1, 2, 255))
    x = torch.tensor(image)
    assert (x.dtype, tuple(x.shape), x[0, 0].tolist()) == (torch.uint8, (2, 3, 3), [1, 2, 255])
    assert torch.equal(torch.as_tensor(np.array(image)), x)
    assert images.fromarray(x.numpy()).tobytes() == image.tobytes()
    assert torch.utils.data.default_collate([np.array(image)] * 2).shape == (2, 2, 3, 3)


def test_matplotlib() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2)
    x = torch.linspace(0, 1, 5)
    (line,) = left.plot(x, x**2)
    assert line.get_ydata().tolist() == (x**2).tolist()
    assert left.hist(x, bins=5)[0].sum() == 5
    assert left.scatter(x, x).get_offsets().shape == (5, 2)
    assert right.imshow(torch.rand(4, 4)).get_array().shape == (4, 4)
    assert len(right.bar(torch.arange(3), x[:3])) == 3
    right.axhline(x.max())
    plt.close(figure)


def test_arrays_in_batches() -> None:
    collate = torch.utils.data.default_collate
    assert collate([np.ones(2, np.float32)] * 3).dtype is torch.float32
    assert collate([{"a": np.float64(1)}, {"a": np.float64(2)}])["a"].tolist() == [1.0, 2.0]
    assert collate([np.array(1), np.array(2)]).tolist() == [1, 2]
