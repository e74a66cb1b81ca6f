"""Models, layers and optimizers of projects, each of its own style, with what is done with each."""

from __future__ import annotations

from tests.wild.libraries import used
from tests.wild.table import Repository, Script


def model(path: str, imported: str, *lines: str, steps: int = 2) -> Script:
    """A file, an import, lines before, and the model with its inputs, trained."""
    return used(path, imported, *lines[:-1], f"train({lines[-1]}, steps={steps})")


PROJECTS = [
    Repository(
        "lucidrains/perceiver-pytorch",
        "96097c6a27cc64fc1f196d3a58d32b8a82f573e1",
        [
            model(
                "perceiver_pytorch/perceiver_pytorch.py",
                "from perceiver_pytorch.perceiver_pytorch import Perceiver",
                "sizes = dict(num_latents=4, latent_dim=16, latent_heads=2, latent_dim_head=8)",
                "net = Perceiver(num_freq_bands=2, depth=2, max_freq=4., num_classes=3, **sizes)",
                "net, torch.randn(2, 6, 6, 3)",
            ),
            model(
                "perceiver_pytorch/perceiver_io.py",
                "from perceiver_pytorch.perceiver_io import PerceiverIO",
                "sizes = dict(num_latents=4, latent_dim=16, latent_heads=2, latent_dim_head=8, logits_dim=5)",
                "net = PerceiverIO(dim=8, queries_dim=8, depth=2, cross_dim_head=8, **sizes)",
                "net, torch.randn(2, 12, 8)",
            ),
        ],
    ),
    Repository(
        "lucidrains/performer-pytorch",
        "fc8b78441b1e27eb5d9b01fc738a8772cee07127",
        [
            model(
                "performer_pytorch/performer_pytorch.py",
                "from performer_pytorch import PerformerLM",
                "sizes = dict(dim=16, depth=2, heads=2, dim_head=8, reversible=True, nb_features=8)",
                "net = PerformerLM(num_tokens=20, max_seq_len=16, **sizes)",
                "net, torch.randint(0, 20, (2, 16))",
            )
        ],
    ),
    Repository(
        "lucidrains/reformer-pytorch",
        "66a19b6caf481a880c97d331306aba55d2ae4b9c",
        [
            model(
                "reformer_pytorch/reformer_pytorch.py",
                "from reformer_pytorch import ReformerLM",
                "sizes = dict(dim=16, depth=2, heads=2, dim_head=8, bucket_size=4, n_hashes=2, causal=True)",
                "net = ReformerLM(20, max_seq_len=16, **sizes)",
                "net, torch.randint(0, 20, (2, 16))",
            )
        ],
    ),
    Repository(
        "lucidrains/g-mlp-pytorch",
        "970966c10c10770b2098b8f88c7d1f86efbf611b",
        [
            model(
                "g_mlp_pytorch/g_mlp_pytorch.py",
                "from g_mlp_pytorch import gMLP",
                "net = gMLP(num_tokens=20, dim=16, depth=2, seq_len=8, causal=True, circulant_matrix=True)",
                "net, torch.randint(0, 20, (2, 8))",
            )
        ],
    ),
    Repository(
        "lucidrains/mlp-mixer-pytorch",
        "b102a9b25cb8bd2360db36cbd252dc4e670fd5e4",
        [
            model(
                "mlp_mixer_pytorch/mlp_mixer_pytorch.py",
                "from mlp_mixer_pytorch import MLPMixer",
                "net = MLPMixer(image_size=16, channels=3, patch_size=4, dim=16, depth=2, num_classes=4)",
                "net, torch.randn(2, 3, 16, 16)",
            )
        ],
    ),
    Repository(
        "lucidrains/linformer",
        "970e1c3f12fbdc494f60a2bed5e807563850f585",
        [
            model(
                "linformer/linformer.py",
                "from linformer import LinformerLM",
                "net = LinformerLM(num_tokens=20, dim=16, seq_len=8, depth=2, heads=2, k=4, reversible=True)",
                "net, torch.randint(0, 20, (2, 8))",
            )
        ],
    ),
    Repository(
        "lucidrains/nystrom-attention",
        "fbe9ebad6bae24143d7930d6c2b82d6a12d68f76",
        [
            model(
                "nystrom_attention/nystrom_attention.py",
                "from nystrom_attention import Nystromformer",
                "net = Nystromformer(dim=16, depth=2, dim_head=8, heads=2, num_landmarks=4)",
                "net, torch.randn(2, 10, 16)",
            )
        ],
    ),
    Repository(
        "lucidrains/mixture-of-experts",
        "0fb459faf558c8e77b0e018685c64d00571d4fd9",
        [
            model(
                "mixture_of_experts/mixture_of_experts.py",
                "from mixture_of_experts import MoE",
                "MoE(dim=8, num_experts=4, hidden_dim=16), torch.randn(2, 12, 8)",
            )
        ],
    ),
    Repository(
        "lucidrains/siren-pytorch",
        "3555d895b213d243e8aa4db1913d01154cdcdd6b",
        [
            model(
                "siren_pytorch/siren_pytorch.py",
                "from siren_pytorch import SirenNet, SirenWrapper",
                "net = SirenNet(dim_in=2, dim_hidden=16, dim_out=3, num_layers=3, w0_initial=30.)",
                "net = SirenWrapper(net, latent_dim=8, image_width=8, image_height=8)",
                "latent, picture = torch.zeros(8).normal_(0, 1e-2), torch.randn(1, 3, 8, 8)",
                "class Fit(torch.nn.Module):",
                "    def __init__(self):",
                "        super().__init__()",
                "        self.net = net",
                "    def forward(self, x):",
                "        return self.net(x, latent=latent)",
                "Fit(), picture",
            )
        ],
    ),
    Repository(
        "lucidrains/rotary-embedding-torch",
        "8bb4643d1c29f944c47d2e807452ac437689af18",
        [
            used(
                "rotary_embedding_torch/rotary_embedding_torch.py",
                "from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb",
                "rotary = RotaryEmbedding(dim=8, use_xpos=True)",
                "q, k = (torch.randn(1, 2, 6, 16, requires_grad=True) for _ in range(2))",
                "for _ in range(2):",
                "    a, b = rotary.rotate_queries_and_keys(q, k)",
                "    (a * b).sum().backward()",
                "axial = RotaryEmbedding(dim=4, freqs_for='pixel', max_freq=8)",
                "freqs = axial.get_axial_freqs(4, 6)",
                "print(float(apply_rotary_emb(freqs, torch.randn(1, 4, 6, 8)).sum()))",
            )
        ],
    ),
    Repository(
        "lucidrains/lambda-networks",
        "8116ff3685c679efaaca4137fc0f5d7cc88b5e4b",
        [
            model(
                "lambda_networks/lambda_networks.py",
                "from lambda_networks import LambdaLayer",
                "LambdaLayer(dim=8, dim_out=8, r=3, dim_k=4, heads=2, dim_u=2), torch.randn(2, 8, 6, 6)",
            )
        ],
    ),
    Repository(
        "lucidrains/h-transformer-1d",
        "66227df1f6923ff6834686fa7d27b6f9e19a8391",
        [
            model(
                "h_transformer_1d/h_transformer_1d.py",
                "from h_transformer_1d import HTransformer1D",
                "sizes = dict(dim=16, depth=2, heads=2, dim_head=8, block_size=4, reversible=True)",
                f"net = HTransformer1D(num_tokens=20, max_seq_len=16, causal={causal}, **sizes)",
                "net, torch.randint(0, 20, (2, 16))",
            )
            for causal in (False, True)
        ],
    ),
    Repository(
        "lucidrains/egnn-pytorch",
        "d3ba97d5b2540085cf8e02c838ebf5e42071697f",
        [
            model(
                "egnn_pytorch/egnn_pytorch.py",
                "from egnn_pytorch import EGNN",
                "net = EGNN(dim=8, num_nearest_neighbors=3, norm_coors=True, fourier_features=2)",
                "net, torch.randn(1, 6, 8), torch.randn(1, 6, 3)",
            )
        ],
    ),
    Repository(
        "lucidrains/slot-attention",
        "e66a1c4c94e5e91e9519213853259e55be3d0132",
        [
            model(
                "slot_attention/slot_attention.py",
                "from slot_attention import SlotAttention",
                "SlotAttention(num_slots=3, dim=8, iters=2, hidden_dim=16), torch.randn(2, 10, 8)",
            )
        ],
    ),
    Repository(
        "lucidrains/CoCa-pytorch",
        "edee92c74e311ccfa4a0024412fd991c98aff5fd",
        [
            used(
                "coca_pytorch/coca_pytorch.py",
                "from coca_pytorch.coca_pytorch import CoCa",
                "class Seen(torch.nn.Module):",
                "    def forward(self, images):",
                "        return images.flatten(2).transpose(1, 2)",
                "sizes = dict(dim=16, num_tokens=20, unimodal_depth=1, multimodal_depth=1, dim_head=8)",
                "net = CoCa(img_encoder=Seen(), image_dim=3, num_img_queries=4, heads=2, **sizes)",
                "x, y = torch.randint(1, 20, (2, 6)), torch.randn(2, 3, 4, 4)",
                "opt = torch.optim.Adam(net.parameters())",
                "for _ in range(2):",
                "    opt.zero_grad()",
                "    net(text=x, images=y, return_loss=True).backward()",
                "    opt.step()",
            )
        ],
    ),
    Repository(
        "lucidrains/conformer",
        "fc70d518d3770788d17a5d9799e08d23ad19c525",
        [
            model(
                "conformer/conformer.py",
                "from conformer import Conformer",
                "net = Conformer(dim=16, depth=2, dim_head=8, heads=2, conv_kernel_size=5)",
                "net, torch.randn(2, 10, 16)",
            )
        ],
    ),
    Repository(
        "lucidrains/local-attention",
        "af58e53f81e5e1d87a7d50cb193d5c26f3c0e03f",
        [
            used(
                "local_attention/transformer.py",
                "from local_attention import LocalTransformer",
                "sizes = dict(dim=16, depth=2, heads=2, dim_head=8, local_attn_window_size=4, use_xpos=True)",
                "net = LocalTransformer(num_tokens=20, max_seq_len=16, xpos_scale_base=8, **sizes)",
                "x, opt = torch.randint(0, 20, (2, 17)), torch.optim.AdamW(net.parameters())",
                "for _ in range(2):",
                "    opt.zero_grad()",
                "    net(x, return_loss=True).backward()",
                "    opt.step()",
            )
        ],
    ),
    Repository(
        "karpathy/llama2.c",
        "350e04fe35433e6d2941dce5a1f53308f87058eb",
        [
            used(
                "model.py",
                "from model import ModelArgs, Transformer",
                "args = ModelArgs(dim=16, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=20, max_seq_len=8)",
                "net, x = Transformer(args), torch.randint(0, 20, (2, 8))",
                "opt = net.configure_optimizers(0.1, 1e-3, (0.9, 0.95), 'cpu')",
                "for _ in range(3):",
                "    opt.zero_grad(set_to_none=True)",
                "    net(x, x)",
                "    net.last_loss.backward()",
                "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
                "    opt.step()",
                "net.eval()",
                "print(net.estimate_mfu(1, 0.1), net.generate(x[:1, :2], 3, temperature=0.0).tolist())",
            )
        ],
    ),
    Repository(
        "Blealtan/efficient-kan",
        "7b6ce1c87f18c8bc90c208f6b494042344216b11",
        [
            used(
                "src/efficient_kan/kan.py",
                "import sys",
                "sys.path.insert(0, 'src')",
                "from efficient_kan import KAN",
                "net, x = KAN([4, 8, 3]), torch.rand(16, 4) * 2 - 1",
                "opt = torch.optim.AdamW(net.parameters(), lr=1e-2)",
                "for step in range(3):",
                "    opt.zero_grad()",
                "    loss = net(x, update_grid=step == 1).pow(2).mean() + 1e-3 * net.regularization_loss()",
                "    loss.backward()",
                "    opt.step()",
            )
        ],
    ),
]
