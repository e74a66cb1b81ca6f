"""Scripts that run by themselves: where each is, and how it is run small."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Script:
    """A public script. `cwd`: the folder of its repository that it is run in; `passes`: after how many
    backward passes it is stopped; `driver`: what uses a file that is a library; `prelude`: what puts its data
    in place first; `draws`: whether both sides are given the same random numbers.
    """

    path: str
    args: str = ""
    cwd: str = ""
    passes: int | None = None
    driver: str = ""
    prelude: str = ""
    draws: bool = True


@dataclass(frozen=True)
class Repository:
    """A public repository at a commit, and scripts of it."""

    name: str
    commit: str
    scripts: list[Script]


def each(folder: str, names: str, **options: object) -> list[Script]:
    """Scripts of one folder, run alike."""
    return [Script(f"{folder}{name}.py", **options) for name in names.split()]  # type: ignore[arg-type]


_GAN = "--n_epochs 1 --n_cpu 0 --sample_interval 3"
_REGRESSIONS = "301_regression 302_classification 303_build_nn_quickly 305_batch_train"

WHOLE = [
    Repository(
        "jcjohnson/pytorch-examples",
        "0003fcdc606a79951e53bf8f46f8574fa4739f23",
        [
            Script("tensor/two_layer_net_tensor.py"),
            *each("autograd/", "two_layer_net_autograd two_layer_net_custom_function"),
            *each("nn/", "two_layer_net_nn two_layer_net_optim two_layer_net_module dynamic_net"),
        ],
    ),
    Repository(
        "yunjey/pytorch-tutorial",
        "0500d3df5a2a8080ccfccbc00aca0eacc21818db",
        [
            *each("tutorials/01-basics/", "linear_regression/main logistic_regression/main"),
            Script("tutorials/01-basics/feedforward_neural_network/main.py"),
            *each(
                "tutorials/02-intermediate/",
                "convolutional_neural_network/main recurrent_neural_network/main",
            ),
            Script("tutorials/02-intermediate/deep_residual_network/main.py", passes=6),
            Script("tutorials/02-intermediate/bidirectional_recurrent_neural_network/main.py", passes=6),
            Script("tutorials/03-advanced/generative_adversarial_network/main.py", passes=60),
            Script("tutorials/03-advanced/variational_autoencoder/main.py"),
        ],
    ),
    Repository(
        "pytorch/examples",
        "77f55b912142e11fcfdf5b530231fb9c52f181e8",
        [
            Script("mnist/main.py", "--epochs 2 --no-accel"),
            Script("mnist_rnn/main.py", "--epochs 1"),
            Script("mnist_hogwild/main.py", "--epochs 1 --num-processes 1"),
            Script("mnist_forward_forward/main.py", "--epochs 5"),
            Script("vae/main.py", "--epochs 2 --batch-size 100"),
            Script("regression/main.py"),
            Script("dcgan/main.py", "--dataset fake --niter 1 --batchSize 32 --ngf 8 --ndf 8 --workers 0"),
            Script("reinforcement_learning/reinforce.py", passes=5),
            Script("reinforcement_learning/actor_critic.py", passes=5),
        ],
    ),
    Repository(
        "MorvanZhou/PyTorch-Tutorial",
        "dbe154a9e56635e51c6b0c2ccea8ae36cfb585a7",
        [
            *each("tutorial-contents/", "202_variable 203_activation 306_optimizer"),
            *each("tutorial-contents/", f"{_REGRESSIONS} 402_RNN_classifier 403_RNN_regressor 503_dropout"),
            Script("tutorial-contents/404_autoencoder.py", passes=40),
            *each("tutorial-contents/", "406_GAN", passes=80),
            *each("tutorial-contents/", "501_why_torch_dynamic_graph 504_batch_normalization", passes=80),
        ],
    ),
    Repository(
        "hunkim/PyTorchZeroToAll",
        "e5a260fac0b4ff1e2ec434fc6f0d962ac97fc289",
        [
            *each("", "03_auto_gradient 05_linear_regression 06_logistic_regression 07_diabets_logistic"),
            *each("", "08_1_dataset_loader 08_2_dataset_loade_logistic 09_01_softmax_loss", passes=60),
            *each("", "09_2_softmax_mnist 10_1_cnn_mnist", passes=20),
            *each("", "12_1_rnn_basics 12_2_hello_rnn 12_4_hello_rnn_emb 13_4_pack_pad"),
        ],
    ),
    Repository(
        "graykode/nlp-tutorial",
        "d05e31ec81d56d70c1db89b99ab07e948f7ebc11",
        [
            Script("1-1.NNLM/NNLM.py", passes=200),
            Script("1-2.Word2Vec/Word2Vec-Skipgram(Softmax).py", passes=200),
            Script("2-1.TextCNN/TextCNN.py", passes=200),
            Script("3-1.TextRNN/TextRNN.py", passes=200),
            Script("3-2.TextLSTM/TextLSTM.py", passes=200),
            Script("3-3.Bi-LSTM/Bi-LSTM.py", passes=60),
            Script("4-1.Seq2Seq/Seq2Seq.py", passes=60),
            Script("4-2.Seq2Seq(Attention)/Seq2Seq(Attention).py", passes=60),
            Script("4-3.Bi-LSTM(Attention)/Bi-LSTM(Attention).py", passes=60),
            Script("5-1.Transformer/Transformer.py"),
            Script("5-1.Transformer/Transformer(Greedy_decoder).py"),
            Script("5-2.BERT/BERT.py", passes=3),
        ],
    ),
    Repository(
        "eriklindernoren/PyTorch-GAN",
        "36d3c77e5ff20ebe0aeefd322326a134a279b93e",
        [
            *each("implementations/", "gan/gan cgan/cgan lsgan/lsgan", args=_GAN),
            *each("implementations/", "wgan/wgan wgan_gp/wgan_gp wgan_div/wgan_div aae/aae", args=_GAN),
            *each("implementations/", "dcgan/dcgan acgan/acgan infogan/infogan sgan/sgan", args=_GAN),
            *each(
                "implementations/",
                "ebgan/ebgan",
                args=_GAN,
            ),
            Script("implementations/relativistic_gan/relativistic_gan.py", _GAN),
        ],
    ),
    Repository(
        "karpathy/ng-video-lecture",
        "52201428ed7b46804849dea0b3ccf0de9df1a5c3",
        [Script("bigram.py", passes=60)],
    ),
    Repository(
        "karpathy/makemore",
        "988aa59e4d8fefa526d06f3b453ad116258398d4",
        [
            Script(
                "makemore.py",
                f"--max-steps 11 --type {kind} --device cpu --n-embd 16 --n-embd2 16 --num-workers 0",
            )
            for kind in ("transformer", "bigram", "mlp", "rnn", "gru", "bow")
        ],
    ),
    Repository(
        "seungeunrho/minimalRL",
        "c8efed8481e3cd40e9739cfde220a55522555b57",
        [
            *each("", "REINFORCE actor_critic ppo dqn sac acer vtrace", passes=20),
            *each("", "ppo-lstm ppo-continuous", passes=20),
        ],
    ),
    Repository(
        "rtqichen/torchdiffeq",
        "657943acefa826ef04c025ebeb1ff5e9d60dc268",
        [
            Script("examples/ode_demo.py", "--niters 4 --test_freq 2 --data_size 60", cwd="."),
            Script("examples/ode_demo.py", "--niters 3 --test_freq 2 --data_size 60 --adjoint", cwd="."),
            Script("examples/cnf.py", "--niters 1 --num_samples 16", cwd="."),
            Script("examples/latent_ode.py", "--niters 1", cwd="."),
            Script("examples/bouncing_ball.py", "2", cwd="."),
            Script("examples/odenet_mnist.py", "--nepochs 1 --network resnet", cwd=".", passes=3),
        ],
    ),
    Repository(
        "locuslab/TCN",
        "2f8c2b817050206397458dfd1f5a25ce8a32fe65",
        [
            Script(
                "TCN/adding_problem/add_test.py",
                "--cuda --epochs 1 --seq_len 40 --nhid 8 --levels 4",
                cwd=".",
                passes=6,
            ),
            Script(
                "TCN/copy_memory/copymem_test.py",
                "--cuda --epochs 1 --blank_len 40 --levels 4",
                cwd=".",
                passes=6,
            ),
        ],
    ),
    Repository(
        "ikostrikov/pytorch-flows", "bf12ed91b86867b38d74982f5e2d44c248604df9", [Script("flow_test.py")]
    ),
    Repository(
        "karpathy/minGPT",
        "37baab71b9abea1b76ab957409a1cc2fbfba8a26",
        [
            Script(
                "projects/adder/adder.py", "--trainer.max_iters=6 --trainer.num_workers=0", cwd=".", passes=5
            )
        ],
    ),
]
