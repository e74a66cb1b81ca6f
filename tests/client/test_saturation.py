"""Alpha dropout, and instance norm where the channels do not fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn


@pytest.mark.parametrize("make", [nn.AlphaDropout, nn.FeatureAlphaDropout])
def test_alpha_dropout_saturates_and_keeps_mean_and_variance(make: Callable[..., Any]) -> None:
    p, saturation = 0.3, 1.7580993408473766
    scale = 1 / math.sqrt((saturation**2 * p + 1) * (1 - p))
    kept = saturation * scale * p
    layer = make(p)
    x = gradd.randn(2000, 50, 2)
    out = layer(x)
    assert float(out.mean()) == pytest.approx(0, abs=0.02)
    assert float(out.std()) == pytest.approx(1, abs=0.02)
    found = layer(gradd.zeros(2000, 50, 2)).numpy()
    assert np.unique(found).tolist() == pytest.approx([kept - saturation * scale, kept])
    assert (found == found[:, :, :1]).all() == (make is nn.FeatureAlphaDropout)
    layer.eval()
    assert layer(x).equal(x)


@pytest.mark.parametrize("name", ["feature_dropout", "feature_alpha_dropout"])
def test_a_vector_has_no_channels_to_drop_but_all(name: str) -> None:
    drop = getattr(gradd, name)
    assert drop(gradd.ones(3), 1.0, True).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions in the input"):
        drop(gradd.ones(3), 0.5, True)


def test_instance_norm_says_where_the_channels_do_not_fit() -> None:
    x = gradd.randn(2, 3, 4)
    with pytest.warns(UserWarning, match="input's size at dim=1 does not match num_features"):
        out = nn.InstanceNorm1d(5)(x)
    np.testing.assert_allclose(out.numpy(), nn.InstanceNorm1d(3)(x).numpy())
    with pytest.raises(ValueError, match=r"input's size at dim=1 to match num_features \(5\), but got: 3\."):
        nn.InstanceNorm1d(5, affine=True)(x)
    with pytest.raises(ValueError, match=r"expected 3D or 4D input \(got 2D input\)"):
        nn.InstanceNorm2d(3)(gradd.ones(2, 3))


@pytest.mark.parametrize("tracked", [True, False])
def test_batch_norms_are_made_fit_for_vmap(tracked: bool) -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, track_running_stats=tracked))
    assert gradd.func.replace_all_batch_norm_modules_(net) is net
    assert dict(net.named_buffers()) == {}
    assert net[1].track_running_stats is False
    x = gradd.randn(2, 5, 3)
    np.testing.assert_allclose(
        gradd.vmap(net)(x).detach().numpy(), gradd.stack([net(a) for a in x]).detach().numpy(), atol=1e-5
    )
