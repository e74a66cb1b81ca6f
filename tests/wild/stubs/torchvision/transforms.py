"""Transforms of arrays of height, width and channels, and of tensors."""

import types

import numpy as np
import torch


class InterpolationMode:
    NEAREST, BILINEAR, BICUBIC = "nearest", "bilinear", "bicubic"


def _same(*_, **__):
    return lambda x: x


def to_tensor(picture):
    array = np.asarray(picture)
    array = array[:, :, None] if array.ndim == 2 else array
    made = torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))
    return made.float() / 255 if array.dtype == np.uint8 else made


def normalize(x, mean, std, inplace=False):
    mean, std = torch.as_tensor(mean, dtype=x.dtype), torch.as_tensor(std, dtype=x.dtype)
    return (x - mean.view(-1, 1, 1)) / std.view(-1, 1, 1)


def resize(x, size, *_, **__):
    tensor = isinstance(x, torch.Tensor)
    high, wide = x.shape[-2:] if tensor else x.shape[:2]
    if isinstance(size, int):
        size = (size, size) if high == wide else (size, round(size * wide / high))
    rows, columns = (np.arange(n) * m // n for n, m in zip(size, (high, wide), strict=True))
    if tensor:
        return x[..., torch.from_numpy(rows), :][..., torch.from_numpy(columns)]
    return np.asarray(x)[rows][:, columns]


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x


class ToTensor:
    __call__ = staticmethod(to_tensor)


class Lambda:
    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, x):
        return self.lambd(x)


class Normalize:
    def __init__(self, mean, std, inplace=False):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return normalize(x, self.mean, self.std)


class Resize:
    def __init__(self, size, *_, **__):
        self.size = size

    def __call__(self, x):
        return resize(x, self.size)


class CenterCrop:
    def __init__(self, size):
        self.size = (size, size) if isinstance(size, int) else size

    def __call__(self, x):
        top, left = ((n - m) // 2 for n, m in zip(x.shape[:2], self.size, strict=True))
        return x[top : top + self.size[0], left : left + self.size[1]]


class RandomCrop(CenterCrop):
    def __init__(self, size, padding=None, *_, **__):
        super().__init__(size)


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        if np.random.rand() >= self.p:
            return x
        return torch.flip(x, [-1]) if isinstance(x, torch.Tensor) else np.ascontiguousarray(x[:, ::-1])


class Grayscale:
    def __init__(self, num_output_channels=1):
        self.channels = num_output_channels

    def __call__(self, x):
        gray = x.mean(-1, keepdims=True).astype(np.uint8) if x.ndim == 3 else x[:, :, None]
        return np.repeat(gray, self.channels, -1)


class RandomResizedCrop(Resize):
    pass


class Pad:
    def __init__(self, padding, *_, **__):
        self.padding = padding

    def __call__(self, x):
        around = [(self.padding, self.padding)] * 2 + [(0, 0)] * (x.ndim - 2)
        return np.pad(x, around)


class ToPILImage:
    def __call__(self, x):
        return (x.detach().cpu().numpy().transpose(1, 2, 0) * 255).astype(np.uint8)


ColorJitter = RandomRotation = RandomAffine = RandomGrayscale = RandomVerticalFlip = _same
functional = types.SimpleNamespace(to_tensor=to_tensor, normalize=normalize, resize=resize)
