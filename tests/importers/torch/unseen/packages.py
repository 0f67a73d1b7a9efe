"""Modules of small packages from PyPI, by package; what is not installed is skipped.

A row gives a module and its arguments. Where a package's class takes or gives what is no tensor, or is called
by another name than `forward`, the few lines of a script that would use it stand around it.
"""

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn, rand, randint, randn

__all__ = ["ROWS"]

load = pytest.importorskip


class _Called(nn.Module):
    """A module of the package, and what a script does with it."""

    def __init__(self, module: nn.Module, call: Callable) -> None:
        super().__init__()
        self.module = module
        self.call = call

    def forward(self, *arguments):
        return self.call(self.module, *arguments)


class _Spiking(nn.Module):
    """snnTorch's tutorials: layers and neurons over steps, and the spikes of all."""

    def __init__(self, neuron: nn.Module, states: int, steps: int = 4) -> None:
        super().__init__()
        self.fc1, self.neuron, self.fc2 = nn.Linear(4, 5), neuron, nn.Linear(5, 2)
        self.states, self.steps = states, steps

    def forward(self, x):
        state = tuple(torch.zeros(x.size(0), 5) for _ in range(self.states))
        outs = []
        for _ in range(self.steps):
            spk, *state = self.neuron(self.fc1(x), *state)
            outs.append(self.fc2(spk))
        return torch.stack(outs), state[-1]


def _complex(module: nn.Module) -> nn.Module:
    """Real pairs in and out, as `torch.view_as_real` has them."""
    return _Called(module, lambda m, x: torch.view_as_real(m(torch.view_as_complex(x)).resolve_conj()))


def _egnn_points() -> tuple[torch.Tensor, ...]:
    return randn(1, 4, 3), randn(1, 4, 3)


def _log_prob(flow: nn.Module) -> nn.Module:
    return _Called(flow, lambda m, x: m().log_prob(x))


def _mambapy(path: str, **given) -> nn.Module:
    mamba = load("mambapy.mamba")
    config = mamba.MambaConfig(d_model=3, n_layers=1, d_state=2, expand_factor=1, d_conv=2, **given)
    return getattr(mamba, path)(config)


ROWS: dict[str, Callable] = {
    "auraloss.esr": lambda: (load("auraloss.time").ESRLoss(), randn(2, 1, 12), randn(2, 1, 12)),
    "auraloss.si_sdr": lambda: (load("auraloss.time").SISDRLoss(), randn(2, 1, 12), randn(2, 1, 12)),
    "auraloss.log_cosh": lambda: (load("auraloss.time").LogCoshLoss(), randn(2, 1, 12), randn(2, 1, 12)),
    "auraloss.stft": lambda: (load("auraloss.freq").STFTLoss(16, 8, 16), randn(1, 1, 32), randn(1, 1, 32)),
    "ncps.cfc": lambda: (load("ncps.torch").CfC(3, 4, backbone_units=6), randn(1, 4, 3)),
    "ncps.ltc": lambda: (
        load("ncps.torch").LTC(2, load("ncps.wirings").AutoNCP(6, 2), ode_unfolds=2),
        randn(1, 3, 2),
    ),
    "ncps.wired_cfc": lambda: (load("ncps.torch").CfC(2, load("ncps.wirings").AutoNCP(8, 2)), randn(1, 3, 2)),
    "zuko.mlp": lambda: (load("zuko.nn").MLP(4, 2, hidden_features=(6, 6), normalize=True), randn(3, 4)),
    "zuko.monotonic": lambda: (load("zuko.nn").MonotonicMLP(3, 2, hidden_features=(6,)), randn(3, 3)),
    "zuko.maf": lambda: (
        _log_prob(load("zuko.flows").MAF(3, transforms=2, hidden_features=(6,))),
        randn(2, 3),
    ),
    "zuko.nsf": lambda: (
        _log_prob(load("zuko.flows").NSF(2, bins=4, transforms=1, hidden_features=(6,))),
        randn(2, 2),
    ),
    "zuko.gmm": lambda: (_log_prob(load("zuko").mixtures.GMM(2, components=3)), randn(3, 2)),
    "normflows.coupling": lambda: (
        load("normflows").flows.AffineCouplingBlock(load("normflows").nets.MLP([2, 5, 4])),
        randn(3, 4),
    ),
    "normflows.planar": lambda: (load("normflows").flows.Planar((3,)), randn(4, 3)),
    "normflows.radial": lambda: (load("normflows").flows.Radial((3,)), randn(4, 3)),
    "normflows.spline": lambda: (
        load("normflows").flows.CoupledRationalQuadraticSpline(3, 1, 5, num_bins=4),
        randn(2, 3),
    ),
    "normflows.glow": lambda: (load("normflows").flows.Invertible1x1Conv(3, use_lu=True), randn(1, 3, 2, 2)),
    "rtdl.mlp": lambda: (
        load("rtdl_revisiting_models").MLP(d_in=4, d_out=2, n_blocks=2, d_block=6, dropout=0.1),
        randn(3, 4),
    ),
    "rtdl.res_net": lambda: (
        load("rtdl_revisiting_models").ResNet(
            d_in=4, d_out=2, n_blocks=2, d_block=5, d_hidden_multiplier=2.0, dropout1=0.1, dropout2=0.0
        ),
        randn(3, 4),
    ),
    "rtdl.ft_transformer": lambda: (
        load("rtdl_revisiting_models").FTTransformer(
            n_cont_features=2,
            cat_cardinalities=[3, 4],
            d_out=2,
            n_blocks=1,
            d_block=8,
            attention_n_heads=2,
            attention_dropout=0.1,
            ffn_d_hidden_multiplier=1.5,
            ffn_dropout=0.1,
            residual_dropout=0.0,
        ),
        randn(2, 2),
        torch.tensor([[0, 3], [2, 1]]),
    ),
    "rtdl.periodic": lambda: (
        load("rtdl_num_embeddings").PeriodicEmbeddings(3, 4, n_frequencies=5, lite=False),
        randn(3, 3),
    ),
    "rtdl.piecewise": lambda: (
        load("rtdl_num_embeddings").PiecewiseLinearEmbeddings(
            [torch.tensor([-1.0, 0.0, 1.0]), torch.tensor([-2.0, 0.5, 1.0, 2.0])],
            4,
            activation=True,
            version="B",
        ),
        randn(3, 2),
    ),
    "entmax.sparsemax": lambda: (load("entmax").Sparsemax(dim=-1), randn(3, 5)),
    "entmax.entmax15": lambda: (load("entmax").Entmax15(dim=-1), randn(3, 5)),
    "entmax.bisect": lambda: (load("entmax").EntmaxBisect(alpha=1.3, n_iter=8), randn(2, 5)),
    "sparsemax": lambda: (load("sparsemax").Sparsemax(dim=-1), randn(3, 5)),
    "torch_dct.linear": lambda: (load("torch_dct").LinearDCT(8, "dct", norm="ortho"), randn(2, 8)),
    "torch_dct.two": lambda: (
        _Called(nn.Identity(), lambda m, x: load("torch_dct").dct_2d(m(x))),
        randn(1, 4, 4),
    ),
    "pytorch_tcn.causal": lambda: (
        load("pytorch_tcn").TCN(2, [3, 3], kernel_size=2, use_skip_connections=True),
        randn(1, 2, 8),
    ),
    "pytorch_tcn.gated": lambda: (
        load("pytorch_tcn").TCN(2, [4], kernel_size=3, causal=False, use_gate=True, use_norm="layer_norm"),
        randn(1, 2, 8),
    ),
    "torchcrf": lambda: (
        load("torchcrf").CRF(3, batch_first=True),
        *(
            randn(2, 4, 3),
            randint(0, 3, (2, 4)),
            torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]], dtype=torch.bool),
        ),
    ),
    "snntorch.leaky": lambda: (_Spiking(load("snntorch").Leaky(beta=0.9), 1), randn(2, 4)),
    "snntorch.synaptic": lambda: (
        _Spiking(load("snntorch").Synaptic(alpha=0.9, beta=0.8, learn_beta=True), 2),
        randn(2, 4),
    ),
    "snntorch.lapicque": lambda: (
        _Spiking(load("snntorch").Lapicque(beta=0.8, reset_mechanism="zero"), 1),
        randn(2, 4),
    ),
    "snntorch.hidden": lambda: (
        nn.Sequential(nn.Linear(4, 3), load("snntorch").Leaky(beta=0.9, init_hidden=True)),
        randn(1, 4),
    ),
    "pytorch_msssim.ssim": lambda: (
        load("pytorch_msssim").SSIM(data_range=1.0, win_size=3, channel=1),
        *(rand(1, 1, 6, 6), rand(1, 1, 6, 6)),
    ),
    "axial_attention": lambda: (
        load("axial_attention").AxialAttention(dim=4, dim_index=1, heads=2, num_dimensions=2),
        randn(1, 4, 3, 4),
    ),
    "axial_attention.positions": lambda: (
        load("axial_attention").AxialPositionalEmbedding(3, (4, 5)),
        randn(1, 3, 4, 5),
    ),
    "lambda_networks.global": lambda: (
        load("lambda_networks").LambdaLayer(dim=4, dim_out=4, n=3, dim_k=3, heads=2, dim_u=1),
        randn(1, 4, 3, 3),
    ),
    "lambda_networks.local": lambda: (
        load("lambda_networks").LambdaLayer(dim=4, dim_out=4, r=3, dim_k=3, heads=2, dim_u=2),
        randn(1, 4, 4, 4),
    ),
    "g_mlp_pytorch": lambda: (
        load("g_mlp_pytorch").gMLP(
            num_tokens=8, dim=4, depth=1, seq_len=5, causal=True, circulant_matrix=True
        ),
        randint(0, 8, (1, 5)),
    ),
    "g_mlp_pytorch.vision": lambda: (
        load("g_mlp_pytorch").gMLPVision(
            image_size=4, patch_size=2, num_classes=3, dim=4, depth=1, channels=1
        ),
        randn(1, 1, 4, 4),
    ),
    "nystrom_attention": lambda: (
        load("nystrom_attention").NystromAttention(
            dim=4, dim_head=2, heads=2, num_landmarks=2, pinv_iterations=2, residual_conv_kernel=3
        ),
        randn(1, 6, 4),
    ),
    "bottleneck_transformer_pytorch": lambda: (
        load("bottleneck_transformer_pytorch").BottleStack(
            dim=4,
            fmap_size=4,
            dim_out=6,
            proj_factor=2,
            num_layers=1,
            heads=2,
            dim_head=2,
            rel_pos_emb=True,
            downsample=True,
        ),
        randn(1, 4, 4, 4),
    ),
    "halonet_pytorch": lambda: (
        load("halonet_pytorch").HaloAttention(dim=4, block_size=2, halo_size=1, dim_head=2, heads=2),
        randn(1, 4, 4, 4),
    ),
    "invariant_point_attention": lambda: (
        _Called(
            load("invariant_point_attention").InvariantPointAttention(
                dim=4, heads=2, scalar_key_dim=2, scalar_value_dim=2, point_key_dim=2, point_value_dim=2
            ),
            lambda m, x, pair, r, t: m(x, pair, rotations=r, translations=t),
        ),
        *(randn(1, 3, 4), randn(1, 3, 3, 4), torch.eye(3).expand(1, 3, 3, 3).contiguous(), randn(1, 3, 3)),
    ),
    "product_key_memory": lambda: (
        load("product_key_memory").PKM(dim=4, heads=1, dim_head=4, num_keys=4, topk=2),
        randn(1, 3, 4),
    ),
    "isab_pytorch": lambda: (
        _Called(load("isab_pytorch").ISAB(dim=4, heads=2, num_latents=2), lambda m, x, mask: m(x, mask=mask)),
        *(randn(1, 5, 4), torch.tensor([[True, True, True, True, False]])),
    ),
    "gateloop_transformer.simple": lambda: (
        load("gateloop_transformer").SimpleGateLoopLayer(dim=3, use_heinsen=True),
        randn(1, 6, 3),
    ),
    "gateloop_transformer.scan": lambda: (
        load("gateloop_transformer").SimpleGateLoopLayer(dim=3),
        randn(1, 4, 3),
    ),
    "mingru_pytorch.gru": lambda: (load("minGRU_pytorch.minGRU").minGRU(dim=3), randn(1, 5, 3)),
    "mingru_pytorch.lstm": lambda: (load("minGRU_pytorch.minLSTM").minLSTM(dim=3), randn(1, 5, 3)),
    "soft_moe_pytorch": lambda: (
        load("soft_moe_pytorch").SoftMoE(dim=4, seq_len=4, num_experts=2, expert_mult=1),
        randn(1, 4, 4),
    ),
    "soft_moe_pytorch.dynamic": lambda: (
        load("soft_moe_pytorch").DynamicSlotsSoftMoE(dim=4, num_experts=2, expert_mult=1, geglu=True),
        randn(1, 4, 4),
    ),
    "hyper_connections": lambda: (
        load("hyper_connections").HyperConnections(2, dim=4, layer_index=0, branch=nn.Linear(4, 4)),
        randn(2, 3, 4),
    ),
    "hyper_connections.mhc": lambda: (
        load("hyper_connections.manifold_constrained_hyper_connections").ManifoldConstrainedHyperConnections(
            2, dim=4, layer_index=0, branch=nn.Linear(4, 4), sinkhorn_iters=3
        ),
        randn(2, 3, 4),
    ),
    "tab_transformer_pytorch": lambda: (
        load("tab_transformer_pytorch").TabTransformer(
            categories=(3, 4),
            num_continuous=2,
            dim=8,
            dim_out=1,
            depth=1,
            heads=2,
            dim_head=4,
            mlp_act=nn.ReLU(),
        ),
        *(torch.tensor([[0, 3], [2, 1]]), randn(2, 2)),
    ),
    "agent_attention_pytorch": lambda: (
        load("agent_attention_pytorch").AgentSelfAttention(4, num_agent_tokens=2, dim_head=2, heads=2),
        randn(1, 5, 4),
    ),
    "aft_pytorch.full": lambda: (
        load("aft_pytorch").AFTFull(max_seqlen=5, dim=4, hidden_dim=3),
        randn(1, 5, 4),
    ),
    "aft_pytorch.local": lambda: (
        load("aft_pytorch").AFTLocal(max_seqlen=6, dim=4, hidden_dim=3, s=2),
        randn(1, 5, 4),
    ),
    "charformer_pytorch": lambda: (
        load("charformer_pytorch").GBST(num_tokens=9, dim=4, max_block_size=3, downsample_factor=2),
        *(randint(0, 9, (1, 7)), torch.ones(1, 7, dtype=torch.bool)),
    ),
    "aoa_pytorch": lambda: (
        load("aoa_pytorch").AttentionOnAttention(dim=4, dim_head=2, heads=2),
        randn(1, 5, 4),
    ),
    "area_attention": lambda: (
        load("area_attention").AreaAttention(
            key_query_size=4,
            area_key_mode="max",
            max_area_height=1,
            max_area_width=2,
            memory_height=1,
            memory_width=4,
        ),
        *(randn(1, 3, 4), randn(1, 4, 4), randn(1, 4, 4)),
    ),
    "complextorch.linear": lambda: (_complex(load("complextorch").nn.Linear(3, 4)), randn(2, 3, 2)),
    "complextorch.conv": lambda: (
        _complex(load("complextorch").nn.Conv1d(2, 3, 3, padding=1)),
        randn(1, 2, 6, 2),
    ),
    "complextorch.mod_relu": lambda: (_complex(load("complextorch").nn.modReLU(bias=-0.4)), randn(3, 4, 2)),
    "complextorch.softmax": lambda: (_complex(load("complextorch").nn.PhaseSoftMax(dim=-1)), randn(2, 4, 2)),
    "complextorch.s4d": lambda: (_complex(load("complextorch").nn.S4D(2, state_size=2)), randn(1, 6, 2, 2)),
    "mambapy": lambda: (_mambapy("MambaBlock", pscan=False), randn(1, 4, 3)),
    "mambapy.pscan": lambda: (_mambapy("ResidualBlock", pscan=True), randn(1, 4, 3)),
    "conv_lstm": lambda: (
        load("conv_lstm").ConvLSTM(1, 2, 3),
        randn(1, 3, 1, 4, 4),
    ),
    "compositional_attention_pytorch": lambda: (
        load("compositional_attention_pytorch").CompositionalAttention(
            dim=4, dim_head=2, num_searches=2, num_retrievals=2, causal=True
        ),
        randn(1, 4, 4),
    ),
    "unet.one": lambda: (
        load("unet").UNet1D(
            in_channels=1,
            out_classes=2,
            num_encoding_blocks=2,
            out_channels_first_layer=2,
            padding=1,
            normalization="batch",
            upsampling_type="linear",
        ),
        randn(1, 1, 8),
    ),
    "unet.two": lambda: (
        load("unet").UNet2D(
            in_channels=1,
            out_classes=2,
            num_encoding_blocks=2,
            out_channels_first_layer=2,
            padding=1,
            residual=True,
            preactivation=True,
        ),
        randn(1, 1, 6, 6),
    ),
    "coral_pytorch": lambda: (load("coral_pytorch.layers").CoralLayer(4, 5), randn(3, 4)),
    "coral_pytorch.loss": lambda: (
        load("coral_pytorch.losses").CoralLoss(),
        *(randn(3, 4), torch.tensor([[1.0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]])),
    ),
    "focal_loss": lambda: (
        load("focal_loss.focal_loss").FocalLoss(gamma=0.7),
        *(torch.softmax(randn(4, 3), -1), torch.tensor([0, 2, 1, 1])),
    ),
    "bitlinear_pytorch": lambda: (load("bitlinear_pytorch").BitLinear(4, 3), randn(3, 4)),
    "cliffordlayers.linear": lambda: (
        load("cliffordlayers.nn.modules.cliffordlinear").CliffordLinear([1, 1], 2, 3),
        randn(2, 2, 4),
    ),
    "cliffordlayers.conv": lambda: (
        load("cliffordlayers.nn.modules.cliffordconv").CliffordConv2d([1, -1], 1, 2, 3, padding=1),
        randn(1, 1, 4, 4, 4),
    ),
    "cliffordlayers.group_norm": lambda: (
        load("cliffordlayers.nn.modules.groupnorm").CliffordGroupNorm2d([1, 1], 1, 2),
        randn(1, 2, 3, 3, 4),
    ),
    "monotonenorm": lambda: (
        load("monotonenorm").SigmaNet(
            nn.Sequential(
                load("monotonenorm").direct_norm(nn.Linear(3, 4), kind="one-inf"),
                load("monotonenorm").GroupSort(2),
                load("monotonenorm").direct_norm(nn.Linear(4, 1), kind="inf"),
            ),
            sigma=1.0,
            monotone_constraints=[0, 1, 0],
        ),
        randn(3, 3),
    ),
    "julius.low_pass": lambda: (load("julius").LowPassFilter(0.2, zeros=2), randn(1, 1, 20)),
    "julius.resample": lambda: (load("julius").ResampleFrac(4, 3, zeros=2), randn(1, 20)),
    "julius.bands": lambda: (
        load("julius").SplitBands(8, cutoffs=[1.0, 2.5], zeros=1, fft=False),
        randn(1, 16),
    ),
    "revtorch": lambda: (
        load("revtorch").ReversibleSequence(
            nn.ModuleList(
                [load("revtorch").ReversibleBlock(nn.Linear(3, 3), nn.Linear(3, 3), split_along_dim=1)]
            )
        ),
        randn(2, 6),
    ),
    "asteroid_filterbanks.free": lambda: (
        load("asteroid_filterbanks").Encoder(load("asteroid_filterbanks").FreeFB(4, 6, stride=3)),
        randn(1, 1, 18),
    ),
    "asteroid_filterbanks.stft": lambda: (
        _Called(
            nn.ModuleList(
                load("asteroid_filterbanks").make_enc_dec("stft", n_filters=8, kernel_size=8, stride=4)
            ),
            lambda m, x: m[1](m[0](x)),
        ),
        randn(1, 1, 24),
    ),
    "asteroid_filterbanks.pcen": lambda: (
        load("asteroid_filterbanks.pcen").PCEN(n_channels=1),
        rand(1, 1, 3, 5),
    ),
    "egnn_pytorch": lambda: (load("egnn_pytorch").EGNN(dim=3, m_dim=4, fourier_features=1), *_egnn_points()),
    "egnn_pytorch.network": lambda: (
        load("egnn_pytorch").EGNN_Network(
            num_tokens=6, dim=3, depth=1, num_nearest_neighbors=2, norm_coors=True
        ),
        *(randint(0, 6, (1, 4)), randn(1, 4, 3)),
    ),
    "torchdiffeq.rk4": lambda: (
        _Called(
            nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)),
            lambda m, x: load("torchdiffeq").odeint(
                lambda t, y: m(y), x, torch.tensor([0.0, 0.5, 1.0]), method="rk4"
            ),
        ),
        randn(2, 3),
    ),
    "torchdiffeq.midpoint": lambda: (
        _Called(
            nn.Linear(2, 2),
            lambda m, x: load("torchdiffeq").odeint(
                *(lambda t, y: torch.cos(t * math.pi) * m(y), x, torch.tensor([0.0, 1.0])),
                method="midpoint",
                options={"step_size": 0.5},
            ),
        ),
        randn(2, 2),
    ),
    "einops.patches": lambda: (
        nn.Sequential(
            load("einops.layers.torch").Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2),
            nn.Linear(8, 4),
            load("einops.layers.torch").Reduce("b n d -> b d", "max"),
        ),
        randn(1, 2, 4, 6),
    ),
    "einops.mix": lambda: (
        load("einops.layers.torch").EinMix("b t (h c) -> b h t d", "h c d", bias_shape="h d", h=2, c=3, d=4),
        randn(1, 3, 6),
    ),
}
