"""Small networks under the names of known ones."""

import torch.nn as nn


class _Small(nn.Module):
    def __init__(self, weights=None, pretrained=False, num_classes=1000, **_):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 7, 4, 3)
        self.bn1, self.relu, self.avgpool = nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        return self.fc(self.avgpool(self.relu(self.bn1(self.conv1(x)))).flatten(1))


class _Features(nn.Module):
    def __init__(self, weights=None, pretrained=False, **_):
        super().__init__()
        layers, width = [], 3
        for wide in (8, 8, 0, 16, 16, 0, 16, 16, 16, 16, 0, 16, 16, 16, 16, 0, 16, 16, 16, 16, 0):
            layers += (
                [nn.Conv2d(width, wide, 3, padding=1), nn.ReLU(inplace=True)] if wide else [nn.MaxPool2d(2)]
            )
            width = wide or width
        self.features = nn.Sequential(*layers)

    def forward(self, x):
        return self.features(x)


resnet18 = resnet34 = resnet50 = resnet101 = resnet152 = _Small
vgg11 = vgg16 = vgg19 = vgg11_bn = vgg16_bn = vgg19_bn = _Features
