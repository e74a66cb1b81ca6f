"""torch.fft, torch.stft and windows as scripts use them, on both sides, against NumPy's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

SIGNAL = np.sin(np.arange(400) * 0.3) + 0.5 * np.sin(np.arange(400) * 1.1)


def test_a_spectrogram_is_that_of_its_frames(T: Any) -> None:
    window = T.hann_window(64, dtype=T.float64)
    found = T.stft(T.from_numpy(SIGNAL), 64, 16, window=window, return_complex=True).abs()
    padded = np.pad(SIGNAL, 32, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, 64)[::16] * window.numpy()
    np.testing.assert_allclose(found.numpy(), np.abs(np.fft.rfft(frames)).T, atol=1e-9)


def test_a_signal_comes_back_from_its_spectra_with_its_gradient(T: Any) -> None:
    signal = T.tensor(SIGNAL, requires_grad=True)
    window = T.hamming_window(50, dtype=T.float64)
    spectra = signal.stft(50, 10, window=window, return_complex=True)
    back = T.istft(spectra, 50, 10, window=window, length=400)
    np.testing.assert_allclose(back.detach().numpy(), SIGNAL, atol=1e-9)
    (back**2).sum().backward()
    np.testing.assert_allclose(signal.grad.numpy(), 2 * SIGNAL, atol=1e-9)


def test_a_convolution_is_a_product_of_spectra(T: Any) -> None:
    kernel = np.array([0.25, 0.5, 0.25])
    size = len(SIGNAL) + len(kernel) - 1
    product = T.fft.rfft(T.from_numpy(SIGNAL), n=size) * T.fft.rfft(T.from_numpy(kernel), n=size)
    found = T.fft.irfft(product, n=size).numpy()
    np.testing.assert_allclose(found, np.convolve(SIGNAL, kernel), atol=1e-9)


def test_the_strongest_frequency_is_found(T: Any) -> None:
    spectrum = T.fft.rfft(T.from_numpy(SIGNAL) * T.signal.windows.gaussian(400, std=60.0, dtype=T.float64))
    strongest = T.fft.rfftfreq(400)[spectrum.abs().argmax()].item()
    assert strongest == pytest.approx(0.3 / (2 * np.pi), abs=1 / 400)
    centred = T.fft.fftshift(T.fft.fftfreq(8))
    assert centred.tolist() == [i / 8 for i in range(-4, 4)]
