"""Scripts of tutorials and courses, and models that tutorials explain, with what is done with each."""

from __future__ import annotations

from tests.wild.libraries import used
from tests.wild.table import Repository, Script, each

_BASICS = "autogradqs_tutorial buildmodel_tutorial tensorqs_tutorial"
_INTRO = "tensors_deeper_tutorial introyt1_tutorial autogradyt_tutorial modelsyt_tutorial trainingyt"
_POLYNOMIALS = (
    "examples_tensor/polynomial_tensor examples_autograd/polynomial_autograd "
    "examples_autograd/polynomial_custom_function examples_nn/polynomial_nn examples_nn/polynomial_optim "
    "examples_nn/polynomial_module examples_nn/dynamic_net"
)
_NLP = "pytorch_tutorial deep_learning_tutorial word_embeddings_tutorial sequence_models_tutorial"
_PLAIN = (
    "02_tensor_basics 03_autograd 04_backpropagation 05_1_gradientdescent_manually 05_2_gradientdescent_auto "
    "06_1_loss_and_optimizer 11_softmax_and_crossentropy 12_activation_functions"
)

TUTORIALS = [
    Repository(
        "PyTorchKorea/tutorials-kr",
        "84b7db6e020c098cf38a0dfaf036007c24057bb1",
        [
            *each("beginner_source/basics/", _BASICS),
            *each("beginner_source/basics/", "optimization_tutorial quickstart_tutorial", passes=8),
            *each(
                "beginner_source/blitz/", "tensor_tutorial neural_networks_tutorial data_parallel_tutorial"
            ),
            Script("beginner_source/blitz/cifar10_tutorial.py", passes=8),
            *each("beginner_source/", _POLYNOMIALS, passes=40),
            *each("beginner_source/introyt/", _INTRO, passes=8),
            *each("beginner_source/nlp/", _NLP, passes=30),
            Script("beginner_source/nlp/advanced_tutorial.py", passes=6),
            *each(
                "beginner_source/former_torchies/", "autograd_tutorial_old nnft_tutorial tensor_tutorial_old"
            ),
            *each(
                "", "beginner_source/saving_loading_models recipes_source/recipes/defining_a_neural_network"
            ),
            *each("beginner_source/", "understanding_leaf_vs_nonleaf_tutorial"),
            *each("intermediate_source/", "autograd_saved_tensors_hooks_tutorial forward_ad_usage"),
            *each("intermediate_source/", "parametrizations pruning_tutorial"),
            *each(
                "intermediate_source/", "reinforcement_q_learning visualizing_gradients_tutorial", passes=10
            ),
            Script("unstable_source/vmap_recipe.py"),
        ],
    ),
    Repository(
        "patrickloeber/pytorchTutorial",
        "69637721ed9fa2ccf81a1093a928a52bbb591439",
        [
            *each("", _PLAIN),
            *each("", "13_feedforward 14_cnn", passes=12),
        ],
    ),
    Repository(
        "vinhkhuc/PyTorch-Mini-Tutorials",
        "bb967869a6ad2c3919b67b0623ce33e36349d413",
        [Script("0_multiply.py")],
    ),
    Repository(
        "davidmrau/mixture-of-experts",
        "f662999727109357c42074997e9a6cd72806f668",
        [Script("example.py")],
    ),
    Repository(
        "fmeirinhos/pytorch-hessianfree",
        "7136c79381b1aca8d37ae8866fe185dc938f0c1e",
        [
            *each("test/", "fisher_test hf_test", cwd=".", passes=40),
        ],
    ),
    Repository(
        "hjmshi/PyTorch-LBFGS",
        "4cd150ff0e4c4dd2183c421170eb0d3b56eb5885",
        [
            used(
                "functions/LBFGS.py",
                "from functions.LBFGS import FullBatchLBFGS",
                "model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))",
                "x, y = torch.randn(20, 4), torch.randn(20, 2)",
                "opt = FullBatchLBFGS(model.parameters(), history_size=4)",
                "def closure():",
                "    opt.zero_grad()",
                "    return (model(x) - y).pow(2).mean()",
                "for _ in range(4):",
                "    loss = closure()",
                "    loss.backward()",
                "    opt.step({'closure': closure, 'current_loss': closure()})",
            )
        ],
    ),
    Repository(
        "kmkurn/pytorch-crf",
        "623e3402d00a2728e99d6e8486010d67c754267b",
        [
            used(
                "torchcrf/__init__.py",
                "from torchcrf import CRF",
                "tags = torch.randint(0, 5, (6, 3))",
                "mask = torch.tensor([[1, 1, 1]] * 4 + [[1, 1, 0]] * 2, dtype=torch.bool)",
                "crf = CRF(5)",
                "train(crf, torch.randn(6, 3, 5), tags, mask)",
                "print(crf.decode(torch.randn(6, 3, 5), mask))",
            )
        ],
    ),
    Repository(
        "ixaxaar/pytorch-dnc",
        "cf6f6825a814921dc313619c38ad6c8fa8b538b9",
        [
            used(
                "dnc/dnc.py",
                "from dnc import DNC",
                "net = DNC(4, 8, num_layers=1, nr_cells=6, cell_size=5, read_heads=2)",
                "train(net, torch.randn(2, 5, 4), None, loss=lambda found: found[0].pow(2).mean())",
            )
        ],
    ),
    Repository(
        "loudinthecloud/pytorch-ntm",
        "3c64937cb075e737528ff7ecf02b2c1c6d8347a1",
        [
            used(
                "ntm/aio.py",
                "from ntm.aio import EncapsulatedNTM",
                "net = EncapsulatedNTM(4, 3, 10, 1, 1, 8, 5)",
                "opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)",
                "x = torch.randn(6, 2, 4)",
                "for _ in range(3):",
                "    opt.zero_grad()",
                "    net.init_sequence(2)",
                "    out = [net(x[i])[0] for i in range(6)] + [net()[0] for _ in range(2)]",
                "    loss = torch.nn.functional.binary_cross_entropy(torch.stack(out), torch.ones(8, 2, 3))",
                "    loss.backward()",
                "    torch.nn.utils.clip_grad_value_(net.parameters(), 10)",
                "    opt.step()",
            )
        ],
    ),
    Repository(
        "stefanonardo/pytorch-esn",
        "5f75bb3836e9d12e62a416d40f24c4cd69096693",
        [
            used(
                "torchesn/nn/echo_state_network.py",
                "from torchesn.nn import ESN",
                "x = torch.sin(torch.arange(120.) / 5).reshape(-1, 1, 1)",
                "for training in ('svd', 'cholesky', 'inv'):",
                "    torch.manual_seed(3)",
                "    net = ESN(1, 20, 1, readout_training=training, lambda_reg=1e-4)",
                "    net(x[:-1], [10], None, x[11:].reshape(-1, 1))",
                "    if training != 'svd': net.fit()",
                "    print(f'{float((net(x[:-1], [10])[0] - x[11:]).pow(2).mean()):.4f}')",
            )
        ],
    ),
    Repository(
        "chrischute/glow",
        "faffa5ba02f878902a211db76c0bd4ea074b39f7",
        [
            used(
                "models/glow/glow.py",
                "from models import Glow",
                "net = Glow(num_channels=8, num_levels=2, num_steps=2)",
                "likelihood = lambda found: -found[1].mean() + found[0].pow(2).mean()",
                "train(net, torch.rand(2, 3, 8, 8), loss=likelihood)",
            )
        ],
    ),
    Repository(
        "greydanus/hamiltonian-nn",
        "bcc362235dc623ffe48f22ccc22417e02e9803b4",
        [
            used(
                "hnn.py",
                "from hnn import HNN",
                "from nn_models import MLP",
                "net = HNN(2, MLP(2, 16, 2, 'tanh'), field_type='solenoidal')",
                "x, dx = torch.randn(20, 2, requires_grad=True), torch.randn(20, 2)",
                "opt = torch.optim.Adam(net.parameters(), 1e-3)",
                "for _ in range(4):",
                "    loss = (net.time_derivative(x) - dx).pow(2).mean()",
                "    loss.backward()",
                "    opt.step()",
                "    opt.zero_grad()",
            )
        ],
    ),
    Repository(
        "adambielski/siamese-triplet",
        "0c719f9e8f59fa386e8c59d10b2ddde9fac46276",
        [
            used(
                "losses.py",
                "from losses import ContrastiveLoss, OnlineTripletLoss, TripletLoss",
                "from networks import EmbeddingNet, SiameseNet, TripletNet",
                "from utils import HardestNegativeTripletSelector",
                "x = torch.randn(12, 1, 28, 28)",
                "y = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])",
                "two, three = SiameseNet(EmbeddingNet()), TripletNet(EmbeddingNet())",
                "train(two, x[:6], x[6:], loss=lambda f: ContrastiveLoss(1.)(*f, y[:6] % 2))",
                "train(three, x[:4], x[4:8], x[8:], loss=lambda f: TripletLoss(1.)(*f))",
                "online = OnlineTripletLoss(1., HardestNegativeTripletSelector(1., cpu=True))",
                "train(EmbeddingNet(), x, loss=lambda f: online(f, y)[0])",
            )
        ],
    ),
    Repository(
        "theeluwin/pytorch-sgns",
        "2d007c700545ae2a3e44b1f4bf37fa1b034a7d27",
        [
            used(
                "model.py",
                "import numpy as np",
                "from model import SGNS, Word2Vec",
                "net = SGNS(Word2Vec(30, 8), 30, 4, weights=np.ones(30))",
                "train(net, torch.randint(1, 30, (6,)), torch.randint(1, 30, (6, 4)))",
            )
        ],
    ),
    Repository(
        "shirgur/PointerNet",
        "c7ed05066fb40d4f1832dd24de28da259293983c",
        [
            used(
                "PointerNet.py",
                "from PointerNet import PointerNet",
                "net = PointerNet(embedding_dim=6, hidden_dim=8, lstm_layers=1, dropout=0.)",
                "train(net, torch.rand(3, 5, 2), loss=lambda found: found[0].pow(2).mean())",
            )
        ],
    ),
    Repository(
        "dfdazac/wassdistance",
        "c145dd9e92d29a05e6747beb8914210ad8570b3d",
        [
            used(
                "layers.py",
                "from layers import SinkhornDistance",
                "x, y = torch.randn(2, 6, 2, requires_grad=True), torch.randn(2, 6, 2)",
                "distance, plan, costs = SinkhornDistance(eps=0.1, max_iter=20, reduction='mean')(x, y)",
                "distance.backward()",
                "print(f'{float(plan.sum()):.4f} {float(x.grad.norm()):.4f}')",
            )
        ],
    ),
    Repository(
        "wgrathwohl/JEM",
        "3d01161547109b464eee87304f07b2dac8519d03",
        [
            used(
                "wideresnet.py",
                "from wideresnet import Wide_ResNet",
                "net = Wide_ResNet(10, 1)",
                "x = torch.rand(2, 3, 32, 32, requires_grad=True)",
                "for _ in range(2):",
                "    grad = torch.autograd.grad(net(x).logsumexp(1).sum(), [x], retain_graph=True)[0]",
                "    x.data += grad + 0.01 * torch.randn_like(x)",
                "train(net, x.detach(), steps=1, loss=lambda found: -found.logsumexp(1).mean())",
            )
        ],
    ),
    Repository(
        "hyunwoongko/transformer",
        "63286547b9cd174a6cfc204832271814d685181f",
        [
            used(
                "models/model/transformer.py",
                "from models.model.transformer import Transformer",
                "net = Transformer(1, 1, 2, 20, 20, 16, 2, 12, 24, 2, 0.1, 'cpu')",
                "train(net, torch.randint(2, 20, (2, 7)), torch.randint(2, 20, (2, 6)))",
            )
        ],
    ),
    Repository(
        "gordicaleksa/pytorch-original-transformer",
        "d5b29a41c5c3f68e1bcd0c528a58281632fa9d6d",
        [
            used(
                "models/definitions/transformer_model.py",
                "from models.definitions.transformer_model import Transformer",
                "net = Transformer(16, 20, 20, 2, 2, 0.1)",
                "a, b = torch.randint(0, 20, (2, 7)), torch.randint(0, 20, (2, 6))",
                "masks = torch.ones(2, 1, 1, 7) > 0, torch.ones(2, 1, 6, 6).tril() > 0",
                "train(net, a, b, *masks)",
            )
        ],
    ),
    Repository(
        "pbloem/former",
        "ad9cc703b0b82a24a12e777f5946296f352c9d11",
        [
            used(
                "former/transformers.py",
                "from former.transformers import CTransformer, GTransformer",
                "x = torch.randint(0, 20, (2, 8))",
                "train(CTransformer(16, 2, 2, 8, 20, 3), x)",
                "train(GTransformer(16, 2, 2, 8, 20), x)",
            )
        ],
    ),
    Repository(
        "khanrc/pt.darts",
        "48e71375c88772daac376829fb4bfebc4fb78144",
        [
            used(
                "models/search_cnn.py",
                "from models.search_cnn import SearchCNNController",
                "loss = torch.nn.CrossEntropyLoss()",
                "net = SearchCNNController(3, 4, 5, 2, loss, n_nodes=2, device_ids=[0])",
                "net.device_ids = [0]",
                "x, y = torch.randn(2, 3, 8, 8), torch.randint(0, 5, (2,))",
                "opt = torch.optim.SGD(net.weights(), 0.025, momentum=0.9)",
                "steps = torch.optim.Adam(net.alphas(), 3e-4)",
                "for _ in range(2):",
                "    loss = net.loss(x, y)",
                "    loss.backward()",
                "    opt.step()",
                "    steps.step()",
                "print(net.genotype())",
            )
        ],
    ),
    Repository(
        "tonyduan/normalizing-flows",
        "3ee9127e3753be3878a0a4fd3ea435ff2d31d143",
        [
            used(
                "src/flows.py",
                "from src.flows import MAF, NSF_CL, ActNorm, OneByOneConv, Planar, RealNVP",
                "x = torch.randn(16, 4)",
                "for flow in (Planar(4), RealNVP(4), MAF(4), ActNorm(4), OneByOneConv(4), NSF_CL(4)):",
                "    train(flow, x, loss=lambda found: found[0].pow(2).mean() - found[1].mean(), steps=2)",
            )
        ],
    ),
    Repository(
        "kamenbliznashki/normalizing_flows",
        "97a73a01bcee3ac8015dfeeb3cffb035ec39a1f2",
        [
            used(
                "maf.py",
                "from maf import MADE, MAF, RealNVP",
                "x = torch.randn(16, 4)",
                "for net in (MADE(4, 8, 1), MAF(2, 4, 8, 1, batch_norm=True), RealNVP(2, 4, 8, 1)):",
                "    train(net, x, loss=lambda found: found[0].pow(2).mean() - found[1].mean(), steps=2)",
            )
        ],
    ),
    Repository(
        "davidtvs/pytorch-lr-finder",
        "76df3050c5554d698cb618e792957873bc878b30",
        [
            used(
                "torch_lr_finder/lr_finder.py",
                "from torch_lr_finder import LRFinder",
                "from torch.utils.data import DataLoader, TensorDataset",
                "model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))",
                "data = TensorDataset(torch.randn(32, 6), torch.randint(0, 3, (32,)))",
                "opt = torch.optim.SGD(model.parameters(), lr=1e-5)",
                "finder = LRFinder(model, opt, torch.nn.CrossEntropyLoss(), device='cpu')",
                "finder.range_test(DataLoader(data, 8), end_lr=1, num_iter=10)",
                "finder.reset()",
            )
        ],
    ),
]
