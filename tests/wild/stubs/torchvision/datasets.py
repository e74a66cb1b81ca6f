"""Synthetic pictures under the names of known data sets: each class a pattern of its own, with noise."""

import numpy as np
import torch

TRAIN, TEST = 300, 100


class _Pictures(torch.utils.data.Dataset):
    channels, side, count = 3, 32, 10

    def __init__(
        self, root=None, train=True, transform=None, target_transform=None, download=False, split=None, **_
    ):
        self.train = train if split is None else split == "train"
        self.transform, self.target_transform = transform, target_transform
        stream = np.random.default_rng(1 if self.train else 2)
        amount = TRAIN if self.train else TEST
        labels = stream.integers(0, self.count, amount)
        patterns = np.random.default_rng(3).integers(
            0, 200, (self.count, self.side, self.side, self.channels)
        )
        noise = stream.integers(0, 55, (amount, self.side, self.side, self.channels))
        self.pictures = (patterns[labels] + noise).astype(np.uint8)
        self.labels = [int(label) for label in labels]
        self.classes = [str(i) for i in range(self.count)]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.keep()

    def keep(self):
        self.data = self.pictures
        self.targets = self.labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        picture = self.pictures[index]
        picture = picture[:, :, 0] if self.channels == 1 else picture
        label = self.labels[index]
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return picture, label


class MNIST(_Pictures):
    channels, side = 1, 28

    def keep(self):
        self.data = torch.from_numpy(self.pictures[:, :, :, 0].copy())
        self.targets = torch.tensor(self.labels)

    train_data = test_data = property(lambda self: self.data)
    train_labels = test_labels = property(lambda self: self.targets)


class FashionMNIST(MNIST):
    pass


class CIFAR10(_Pictures):
    pass


class CIFAR100(_Pictures):
    count = 100


class SVHN(_Pictures):
    pass


class STL10(_Pictures):
    side = 96


class ImageFolder(_Pictures):
    side = 64

    def __init__(self, root=None, transform=None, **options):
        super().__init__(root, transform=transform, **options)
        self.samples = self.imgs = [(f"{i}.png", label) for i, label in enumerate(self.labels)]


class CelebA(ImageFolder):
    pass


class LSUN(ImageFolder):
    pass


class FakeData(_Pictures):
    def __init__(self, size=TRAIN, image_size=(3, 64, 64), num_classes=10, transform=None, **_):
        self.channels, self.side, self.count = image_size[0], image_size[1], num_classes
        super().__init__(transform=transform)
