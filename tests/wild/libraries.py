"""Files that define a model or an optimizer, with what is done with each."""

from __future__ import annotations

from tests.wild.table import Repository, Script

_USE = "import torch\nfrom tests.wild.drive import optimize, train\n"


def used(path: str, *lines: str) -> Script:
    """A file, and lines that use what it defines."""
    return Script(path, cwd=".", driver=_USE + "\n".join(lines))


def vit(name: str, cls: str, arguments: str, size: str = "2, 3, 32, 32", inner: str = "") -> Script:
    """A vision transformer at toy size."""
    return used(
        f"vit_pytorch/{name}.py",
        f"from vit_pytorch.{name} import {cls}",
        inner,
        f"train({cls}({arguments}), torch.randn({size}))",
    )


def network(name: str, call: str) -> Script:
    """One of the networks for CIFAR."""
    return used(
        f"models/{name}.py", "from models import *", f"train({call}, torch.randn(2, 3, 32, 32), steps=1)"
    )


def optimizer(name: str, cls: str, arguments: str = "lr=1e-2", **options: bool) -> Script:
    """An optimizer on a small network."""
    more = "".join(f", {key}={value}" for key, value in options.items())
    return used(
        f"torch_optimizer/{name}.py",
        f"from torch_optimizer.{name} import {cls}",
        f"optimize(lambda p: {cls}(p, {arguments}){more})",
    )


_VIT = "image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=32"
_OPTIMIZERS = (
    "accsgd.AccSGD adabelief.AdaBelief adabound.AdaBound adamod.AdaMod adamp.AdamP aggmo.AggMo "
    "apollo.Apollo diffgrad.DiffGrad lamb.Lamb lars.LARS madgrad.MADGRAD novograd.NovoGrad pid.PID "
    "qhadam.QHAdam radam.RAdam sgdp.SGDP sgdw.SGDW shampoo.Shampoo swats.SWATS yogi.Yogi lion.Lion "
)

LIBRARIES = [
    Repository(
        "lucidrains/vit-pytorch",
        "69d24fe9e3024c0d4b02761123b8583a24ebed1e",
        [
            vit("vit", "ViT", _VIT),
            vit("simple_vit", "SimpleViT", _VIT),
            vit("simple_vit_with_fft", "SimpleViT", _VIT + ", freq_patch_size=8"),
            vit("deepvit", "DeepViT", _VIT),
            vit("cait", "CaiT", _VIT + ", cls_depth=1"),
            vit("cct", "CCT", "img_size=32, embedding_dim=32, num_layers=2, num_heads=2, num_classes=5"),
            vit(
                "max_vit",
                "MaxViT",
                "num_classes=5, dim_conv_stem=8, dim=16, dim_head=8, depth=(1,), window_size=4",
            ),
            vit(
                "mobile_vit",
                "MobileViT",
                "(64, 64), [16, 16, 16], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 16], 5",
                "2, 3, 64, 64",
            ),
            vit(
                "vit_1d",
                "ViT",
                "seq_len=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=32",
                "2, 3, 32",
            ),
            vit(
                "levit",
                "LeViT",
                "image_size=64, num_classes=5, stages=2, dim=(16, 32), depth=1, heads=(2, 2), mlp_mult=2",
                "2, 3, 64, 64",
            ),
            vit("xcit", "XCiT", _VIT + ", cls_depth=1, local_patch_kernel_size=3"),
            used(
                "vit_pytorch/na_vit.py",
                "from vit_pytorch.na_vit import NaViT",
                "pictures = [[torch.randn(3, 16, 24), torch.randn(3, 8, 8)], [torch.randn(3, 32, 16)]]",
                f"train(NaViT({_VIT}), pictures)",
            ),
        ],
    ),
    Repository(
        "kuangliu/pytorch-cifar",
        "49b7aa97b0c12fe0d4054e670403a16b6b834ddd",
        [
            network("resnet", "ResNet18()"),
            network("vgg", "VGG('VGG11')"),
            network("googlenet", "GoogLeNet()"),
            network("mobilenetv2", "MobileNetV2()"),
            network("shufflenetv2", "ShuffleNetV2(0.5)"),
            network("efficientnet", "EfficientNetB0()"),
            network("senet", "SENet18()"),
        ],
    ),
    Repository(
        "jettify/pytorch-optimizer",
        "19c3e41952b94f2d60db06e559ee9a1433b25e53",
        [
            *(optimizer(*one.split(".")) for one in _OPTIMIZERS.split()),
            optimizer("adahessian", "Adahessian", "lr=0.1", second=True),
            optimizer("adafactor", "Adafactor", "lr=None"),
        ],
    ),
    Repository(
        "KellerJordan/Muon",
        "857d1adc159e098212f828d927460782d3da59e9",
        [
            used(
                "muon.py",
                "from muon import SingleDeviceMuon",
                "optimize(lambda p: SingleDeviceMuon([q for q in p if q.ndim == 2], lr=0.02))",
            )
        ],
    ),
    Repository(
        "lucidrains/lion-pytorch",
        "6a74fdc0ba572ab5683dc0270c66c20ecbc02d09",
        [
            used(
                "lion_pytorch/lion_pytorch.py",
                "from lion_pytorch import Lion",
                "optimize(lambda p: Lion(p, lr=1e-2))",
            )
        ],
    ),
    Repository(
        "johnma2006/mamba-minimal",
        "03de542a36d873f6e6c4057ad687278cc6ae944d",
        [
            used(
                "model.py",
                "from model import Mamba, ModelArgs",
                "train(Mamba(ModelArgs(d_model=16, n_layer=2, vocab_size=20)), torch.randint(0, 20, (2, 7)))",
            )
        ],
    ),
    Repository(
        "karpathy/minGPT",
        "37baab71b9abea1b76ab957409a1cc2fbfba8a26",
        [
            used(
                "mingpt/model.py",
                "from mingpt.model import GPT",
                "config = GPT.get_default_config()",
                "config.model_type, config.vocab_size, config.block_size = 'gpt-nano', 10, 8",
                "model, x = GPT(config), torch.randint(0, 10, (2, 8))",
                "opt = torch.optim.AdamW(model.parameters(), lr=1e-3)",
                "for _ in range(3):",
                "    loss = model(x, x)[1]",
                "    model.zero_grad()",
                "    loss.backward()",
                "    opt.step()",
                "model.eval()",
                "print(model.generate(x[:, :2], 3).tolist())",
            )
        ],
    ),
    Repository(
        "karpathy/nanoGPT",
        "3adf61e154c3fe3fca428ad6bc3818b27a3b8291",
        [
            used(
                "model.py",
                "from model import GPT, GPTConfig",
                "sizes = dict(block_size=8, vocab_size=16, n_layer=2, n_head=2, n_embd=16, dropout=0.0)",
                "config = GPTConfig(**sizes)",
                "model, x = GPT(config), torch.randint(0, 16, (2, 8))",
                "opt = model.configure_optimizers(0.1, 1e-3, (0.9, 0.95), 'cpu')",
                "for _ in range(3):",
                "    loss = model(x, x)[1]",
                "    opt.zero_grad(set_to_none=True)",
                "    loss.backward()",
                "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
                "    opt.step()",
                "print(tuple(model.generate(x[:, :2], 3, top_k=5).shape))",
            )
        ],
    ),
    Repository(
        "milesial/Pytorch-UNet",
        "21d7850f2af30a9695bbeea75f3136aa538cfc4a",
        [
            used(
                "unet/unet_model.py",
                "from unet import UNet",
                "train(UNet(3, 2, bilinear=True), torch.randn(1, 3, 32, 32), steps=1)",
            )
        ],
    ),
    Repository(
        "lucidrains/denoising-diffusion-pytorch",
        "faed4db28e724735323fa91c70aa9b28a6e1cbac",
        [
            used(
                "denoising_diffusion_pytorch/denoising_diffusion_pytorch_1d.py",
                "from denoising_diffusion_pytorch import denoising_diffusion_pytorch_1d as ddpm",
                "net = ddpm.Unet1D(dim=8, dim_mults=(1, 2), channels=3)",
                "model = ddpm.GaussianDiffusion1D(net, seq_length=16, timesteps=4)",
                "train(model, torch.rand(2, 3, 16))",
                "print(float(model.sample(batch_size=1).mean()))",
            )
        ],
    ),
    Repository(
        "jadore801120/attention-is-all-you-need-pytorch",
        "132907dd272e2cc92e3c10e6c4e783a87ff8893d",
        [
            used(
                "transformer/Models.py",
                "from transformer.Models import Transformer",
                "sizes = dict(d_word_vec=16, d_model=16, d_inner=16, n_layers=2, n_head=2, d_k=8, d_v=8)",
                "model = Transformer(20, 20, 0, 0, **sizes)",
                "train(model, torch.randint(1, 20, (2, 7)), torch.randint(1, 20, (2, 7)))",
            )
        ],
    ),
    Repository(
        "AntixK/PyTorch-VAE",
        "a6896b944c918dd7030e7d795a8c13e5c6345ec7",
        [
            used(
                f"models/{file}.py",
                f"from models import {cls}",
                f"model = {cls}(in_channels=3, latent_dim=8{more})",
                "x = torch.rand(2, 3, 64, 64)",
                "model.train()",
                "for _ in range(2):",
                "    model.zero_grad()",
                "    loss = model.loss_function(*model(x), M_N=0.01, optimizer_idx=0, batch_idx=0)['loss']",
                "    loss.backward()",
            )
            for file, cls, more in (
                ("vanilla_vae", "VanillaVAE", ""),
                ("beta_vae", "BetaVAE", ""),
                ("wae_mmd", "WAE_MMD", ""),
                ("swae", "SWAE", ""),
                ("cat_vae", "CategoricalVAE", ", categorical_dim=4"),
                ("mssim_vae", "MSSIMVAE", ""),
            )
        ],
    ),
    Repository(
        "lucidrains/vector-quantize-pytorch",
        "0d7d1aa83334b6f2f8a40306bece75cdaa13d065",
        [
            used(
                f"vector_quantize_pytorch/{file}.py",
                f"from vector_quantize_pytorch import {cls}",
                f"model = {cls}({arguments})",
                "x = torch.randn(2, 6, 8, requires_grad=True)",
                "for _ in range(2):",
                "    found = model(x)",
                "    (found[0].pow(2).sum() + x.sum()).backward()",
                "print(float(x.grad.sum()))",
            )
            for file, cls, arguments in (
                ("vector_quantize_pytorch", "VectorQuantize", "dim=8, codebook_size=16, decay=0.8"),
                ("finite_scalar_quantization", "FSQ", "levels=[4, 4, 4], dim=8"),
                ("lookup_free_quantization", "LFQ", "codebook_size=16, dim=8"),
            )
        ],
    ),
    Repository(
        "karpathy/pytorch-normalizing-flows",
        "b60e119b37be10ce2930ef9fa17e58686aaf2b3d",
        [
            used(
                "nflib/flows.py",
                "from nflib.flows import MAF, AffineHalfFlow, NormalizingFlow, ActNorm, Invertible1x1Conv",
                "flows = [ActNorm(2), Invertible1x1Conv(2), AffineHalfFlow(2, parity=0), MAF(2, parity=1)]",
                "def loss(found):",
                "    return found[0][-1].pow(2).mean() - found[1].mean()",
                "train(NormalizingFlow(flows), torch.randn(16, 2), loss=loss)",
            )
        ],
    ),
]
