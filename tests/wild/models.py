"""Models and optimizers of more projects, as they are used in a few lines each."""

from __future__ import annotations

from tests.wild.libraries import used
from tests.wild.table import Repository

MODELS = [
    Repository(
        "alxndrTL/mamba.py",
        "2cc168c78b2494557f45072c4b8daa9d6f5608c7",
        [
            used(
                "mambapy/mamba.py",
                "from mambapy.mamba import MambaConfig",
                "from mambapy.lm import LM",
                "net=LM(MambaConfig(d_model=16,n_layers=2),vocab_size=20)",
                "train(net, torch.randint(1,20,(2,8)), steps=2)",
            ),
            used(
                "mambapy/jamba.py",
                "from mambapy.jamba import JambaLM, JambaLMConfig",
                (
                    "cfg=JambaLMConfig(d_model=16,n_layers=4,mlp_size=32,num_attention_heads=2,"
                    "num_key_value_heads=1,num_experts=4,vocab_size=20,attn_layer_offset=1,"
                    "attn_layer_period=2)"
                ),
                "net=JambaLM(cfg)",
                "train(net, torch.randint(1,20,(2,8)), steps=2)",
            ),
        ],
    ),
    Repository(
        "yandex-research/rtdl",
        "4ca77be57aae445648df63e9ef3a5566b1f0a835",
        [
            used(
                "rtdl/modules.py",
                "import rtdl",
                (
                    "net=rtdl.FTTransformer.make_baseline(n_num_features=3,cat_cardinalities=[2,3],"
                    "d_token=8,n_blocks=2,attention_dropout=0.,ffn_d_hidden=16,ffn_dropout=0.,"
                    "residual_dropout=0.,d_out=1)"
                ),
                "train(net, torch.randn(4,3), torch.tensor([[0,1],[1,2],[0,0],[1,1]]))",
            ),
        ],
    ),
    Repository(
        "facebookresearch/dino",
        "7c446df5b9f45747937fb0d72314eb9f7b66930a",
        [
            used(
                "vision_transformer.py",
                "from vision_transformer import VisionTransformer, DINOHead",
                (
                    "net=torch.nn.Sequential(VisionTransformer(img_size=[32],patch_size=8,"
                    "embed_dim=16,depth=2,num_heads=2),DINOHead(16,20,hidden_dim=16,"
                    "bottleneck_dim=8))"
                ),
                "train(net, torch.randn(2,3,32,32))",
            ),
        ],
    ),
    Repository(
        "jik876/hifi-gan",
        "4769534d45265d52a904b850da5a622601885777",
        [
            used(
                "models.py",
                (
                    "from models import Generator, MultiPeriodDiscriminator, "
                    "MultiScaleDiscriminator, discriminator_loss"
                ),
                "from env import AttrDict",
                (
                    "h=AttrDict(resblock='1',upsample_rates=[4,4],upsample_kernel_sizes=[8,8],"
                    "upsample_initial_channel=16,resblock_kernel_sizes=[3],"
                    "resblock_dilation_sizes=[[1,3,5]])"
                ),
                "g=Generator(h)",
                "train(g, torch.randn(1,80,8), steps=2)",
            ),
        ],
    ),
    Repository(
        "zhouhaoyi/Informer2020",
        "29f2a739226a509202a092b464163da81fa74960",
        [
            used(
                "models/model.py",
                "from models.model import Informer",
                (
                    "net=Informer(3,3,3,16,8,8,d_model=16,n_heads=2,e_layers=2,d_layers=1,d_ff=16,"
                    "device=torch.device('cpu'))"
                ),
                (
                    "train(net, torch.randn(2,16,3), torch.rand(2,16,4), torch.randn(2,16,3), "
                    "torch.rand(2,16,4))"
                ),
            ),
        ],
    ),
    Repository(
        "thuml/Autoformer",
        "51c7d416ae120b805fd5beef2f4ccf7de496a6ff",
        [
            used(
                "models/Autoformer.py",
                "from types import SimpleNamespace as N",
                "from models.Autoformer import Model",
                (
                    "c=N(seq_len=16,label_len=8,pred_len=8,output_attention=False,moving_avg=5,"
                    "enc_in=3,dec_in=3,c_out=3,d_model=16,embed='timeF',freq='h',dropout=0.,factor=1,"
                    "n_heads=2,d_ff=16,activation='gelu',e_layers=1,d_layers=1)"
                ),
                (
                    "train(Model(c), torch.randn(2,16,3), torch.rand(2,16,4), torch.randn(2,16,3), "
                    "torch.rand(2,16,4))"
                ),
            ),
        ],
    ),
    Repository(
        "cure-lab/LTSF-Linear",
        "0c113668a3b88c4c4ee586b8c5ec3e539c4de5a6",
        [
            used(
                "models/DLinear.py",
                "from types import SimpleNamespace as N",
                "from models.DLinear import Model",
                ("train(Model(N(seq_len=16,pred_len=4,individual=True,enc_in=3)), torch.randn(2,16,3))"),
            ),
        ],
    ),
    Repository(
        "yunjey/stargan",
        "94dd002e93a2863d9b987a937b85925b80f7a19f",
        [
            used(
                "model.py",
                "from model import Generator",
                (
                    "train(Generator(conv_dim=4,c_dim=2,repeat_num=1), torch.randn(2,3,16,16), "
                    "torch.rand(2,2))"
                ),
            ),
        ],
    ),
    Repository(
        "philipperemy/n-beats",
        "06a4e209ada80bf1f403ced5228261784dfb26ed",
        [
            used(
                "nbeats_pytorch/model.py",
                "from nbeats_pytorch.model import NBeatsNet",
                "train(NBeatsNet(hidden_layer_units=16,nb_blocks_per_stack=1), torch.randn(4,10))",
            ),
        ],
    ),
    Repository(
        "codertimo/BERT-pytorch",
        "d10dc4f9d5a6f2ca74380f62039526eb7277c671",
        [
            used(
                "bert_pytorch/model/bert.py",
                "from bert_pytorch.model import BERT, BERTLM",
                (
                    "train(BERTLM(BERT(20,hidden=16,n_layers=2,attn_heads=2),20), "
                    "torch.randint(1,20,(2,6)), torch.randint(0,3,(2,6)))"
                ),
            ),
        ],
    ),
    Repository(
        "mlech26l/ncps",
        "695ec22d7d1831f2ced67346ef7d2f08c525bd47",
        [
            used(
                "ncps/torch/ltc.py",
                "from ncps.torch import LTC, CfC",
                "from ncps.wirings import AutoNCP",
                "train(LTC(3,AutoNCP(10,2)), torch.randn(2,5,3))",
            ),
            used(
                "ncps/torch/cfc.py",
                "from ncps.torch import CfC",
                "train(CfC(3,8), torch.randn(2,5,3))",
            ),
        ],
    ),
    Repository(
        "rosinality/vq-vae-2-pytorch",
        "ef5f67c46f93624163776caec9e0d95063910eca",
        [
            used(
                "vqvae.py",
                "from vqvae import VQVAE",
                ("train(VQVAE(channel=8,n_res_channel=4,embed_dim=4,n_embed=8), torch.randn(2,3,16,16))"),
            ),
        ],
    ),
    Repository(
        "fxia22/pointnet.pytorch",
        "bafbf401e0af19be3262e448c59313fd2be0e421",
        [
            used(
                "pointnet/model.py",
                "from pointnet.model import PointNetCls",
                "train(PointNetCls(k=4,feature_transform=True).eval(), torch.randn(4,3,12))",
            ),
        ],
    ),
    Repository(
        "xinntao/ESRGAN",
        "73e9b634cf987f5996ac2dd33f4050922398a921",
        [
            used(
                "RRDBNet_arch.py",
                "from RRDBNet_arch import RRDBNet",
                "train(RRDBNet(3,3,4,1,gc=4), torch.randn(1,3,6,6))",
            ),
        ],
    ),
    Repository(
        "meijieru/crnn.pytorch",
        "3cc7904c5ba20b18fcdc2d02ac2b24a9be9eafaf",
        [
            used(
                "models/crnn.py",
                "from models.crnn import CRNN",
                "train(CRNN(32,1,10,8), torch.randn(2,1,32,40), steps=1)",
            ),
        ],
    ),
    Repository(
        "NVIDIA/waveglow",
        "8afb643df59265016af6bd255c7516309d675168",
        [
            used(
                "glow.py",
                "from glow import WaveGlow, WaveGlowLoss",
                "net=WaveGlow(8,4,4,2,2,dict(n_layers=2,n_channels=16,kernel_size=3))",
                ("train(net, (torch.randn(1,8,6), torch.randn(1,1024)), loss=WaveGlowLoss(), steps=1)"),
            ),
        ],
    ),
    Repository(
        "dreamquark-ai/tabnet",
        "2c0c4ebd2bb1cb639ea94ab4b11823bc49265588",
        [
            used(
                "pytorch_tabnet/tab_network.py",
                "from pytorch_tabnet.tab_network import TabNet",
                ("net=TabNet(5,2,n_d=4,n_a=4,virtual_batch_size=8,group_attention_matrix=torch.eye(5))"),
                "train(net, torch.randn(16,5))",
            ),
        ],
    ),
    Repository(
        "microsoft/LoRA",
        "c4593f060e6a368d7bb5af5273b8e42810cdef90",
        [
            used(
                "loralib/layers.py",
                "import loralib as lora",
                (
                    "net=torch.nn.Sequential(lora.Embedding(10,8,r=2),lora.Linear(8,8,r=2),"
                    "lora.MergedLinear(8,12,r=2,enable_lora=[True,False,True]))"
                ),
                "lora.mark_only_lora_as_trainable(net)",
                "train(net, torch.randint(0,10,(3,4)))",
            ),
        ],
    ),
    Repository(
        "facebookresearch/schedule_free",
        "70785b53e778d0e872c0bbb75ff4ee54ee10c291",
        [
            used(
                "schedulefree/adamw_schedulefree.py",
                "import schedulefree as sf",
                "optimize(lambda p: sf.AdamWScheduleFreeClosure(p,lr=0.01),closure=True)",
                "o=None",
                "import torch.nn as nn",
                ("m=nn.Linear(3,2); o=sf.AdamWScheduleFree(m.parameters(),lr=0.1,foreach=True); o.train()"),
                ("for _ in range(3): o.zero_grad(); m(torch.ones(2,3)).pow(2).sum().backward(); o.step()"),
                "o.eval()",
            ),
        ],
    ),
    Repository(
        "konstmish/prodigy",
        "3efb213ee8af5a6bf76f28726398433a847b38e9",
        [
            used(
                "prodigyopt/prodigy.py",
                "from prodigyopt import Prodigy",
                "optimize(lambda p: Prodigy(p,lr=1.,weight_decay=0.01))",
            ),
        ],
    ),
    Repository(
        "davda54/sam",
        "3c3afdbd71cff2462ec91c734b3d1170bd0f3707",
        [
            used(
                "sam.py",
                "from sam import SAM",
                ("m=torch.nn.Linear(4,2); o=SAM(m.parameters(),torch.optim.SGD,lr=0.1); x=torch.randn(5,4)"),
                (
                    "for _ in range(3): m(x).pow(2).mean().backward(); o.first_step(zero_grad=True); "
                    "m(x).pow(2).mean().backward(); o.second_step(zero_grad=True)"
                ),
            ),
        ],
    ),
    Repository(
        "Liuhong99/Sophia",
        "a7e157229b71d58cf995d32854f1be15c265b350",
        [
            used(
                "sophia.py",
                "from sophia import SophiaG",
                "optimize(lambda p: SophiaG(p,lr=1e-2))",
            ),
        ],
    ),
    Repository(
        "sail-sg/Adan",
        "2c65beaf400775753b155da4082c3819fea689b9",
        [
            used(
                "adan.py",
                "from adan import Adan",
                "optimize(lambda p: Adan(p,lr=1e-2,foreach=True,fused=False))",
            ),
        ],
    ),
    Repository(
        "kozistr/pytorch_optimizer",
        "7a076d2f8f09735e82f9ec1d2d389ec2526bbdbb",
        [
            used(
                "pytorch_optimizer/__init__.py",
                "from pytorch_optimizer import load_optimizer",
                (
                    "for n in 'adopt ranger ranger21 soap prodigy lamb adan sophiah came tiger "
                    "grokfastadamw'.split():"
                ),
                (
                    "    optimize(lambda p: load_optimizer(n)(p,**({'lr':1e-2,'num_iterations':12} "
                    "if n=='ranger21' else {'lr':1e-2})), second=n=='sophiah')"
                ),
            ),
        ],
    ),
    Repository(
        "rixwew/pytorch-fm",
        "f74ad19771eda104e99874d19dc892e988ec53fa",
        [
            used(
                "torchfm/model/xdfm.py",
                "from torchfm.model.dfm import DeepFactorizationMachineModel as A",
                "from torchfm.model.xdfm import ExtremeDeepFactorizationMachineModel as X",
                "train(A([3,4,5],4,(8,),0.), torch.tensor([[0,1,2],[2,3,4]]))",
                "train(X([3,4,5],4,(8,),0.,(4,4)), torch.tensor([[0,1,2],[2,3,4]]))",
            ),
        ],
    ),
    Repository(
        "HobbitLong/SupContrast",
        "66a8fe53880d6a1084b2e4e0db0a019024d6d41a",
        [
            used(
                "losses.py",
                "from losses import SupConLoss",
                "x=torch.nn.functional.normalize(torch.randn(4,2,8,requires_grad=True),dim=2)",
                "SupConLoss()(x,torch.tensor([0,1,0,1])).backward()",
            ),
        ],
    ),
    Repository(
        "KevinMusgrave/pytorch-metric-learning",
        "216a792c22b0154d3d3bf008a7317edc7d677e71",
        [
            used(
                "src/pytorch_metric_learning/losses/__init__.py",
                "import sys",
                "sys.path.insert(0,'src')",
                "from pytorch_metric_learning import losses, miners",
                "x=torch.randn(8,4,requires_grad=True); y=torch.tensor([0,0,1,1,2,2,3,3])",
                (
                    "for c in "
                    "(losses.TripletMarginLoss(),losses.ContrastiveLoss(),losses.NTXentLoss(),"
                    "losses.ArcFaceLoss(4,4),losses.MultiSimilarityLoss(),losses.CircleLoss()): "
                    "c(x,y).backward()"
                ),
            ),
        ],
    ),
    Repository(
        "patrick-kidger/torchcde",
        "9ff6aba4738989dc5fe3aee86d45812c318f6231",
        [
            used(
                "torchcde/solver.py",
                "import torchcde",
                "class F(torch.nn.Module):",
                "    def __init__(s):",
                "        super().__init__(); s.l=torch.nn.Linear(4,12)",
                "    def forward(s,t,z): return s.l(z).tanh().view(-1,4,3)",
                "f=F(); x=torch.randn(2,6,3)",
                ("X=torchcde.CubicSpline(torchcde.hermite_cubic_coefficients_with_backward_differences(x))"),
                (
                    "torchcde.cdeint(X=X,func=f,z0=torch.zeros(2,4),t=X.interval,method='rk4',"
                    "adjoint=False)[:,1].pow(2).sum().backward()"
                ),
            ),
        ],
    ),
    Repository(
        "r9y9/wavenet_vocoder",
        "a35fff76ea3687b05e1a10023cad3f7f64fa25a3",
        [
            used(
                "wavenet_vocoder/wavenet.py",
                "from wavenet_vocoder import WaveNet",
                (
                    "train(WaveNet(out_channels=8,layers=4,stacks=2,residual_channels=8,"
                    "gate_channels=8,skip_out_channels=8,dropout=0.), torch.randn(2,8,20))"
                ),
            ),
        ],
    ),
]
