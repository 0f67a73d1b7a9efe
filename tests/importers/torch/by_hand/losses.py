"""Losses, searches and quantisers."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class _SupCon(nn.Module):
    """Supervised contrast over a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        z = F.normalize(self.head(x), dim=1)
        labels = labels.contiguous().view(-1, 1)
        mask = torch.eq(labels, labels.T).float()
        logits = torch.div(torch.matmul(z, z.T), 0.1)
        logits = logits - torch.max(logits, dim=1, keepdim=True)[0].detach()
        not_self = torch.scatter(torch.ones_like(mask), 1, torch.arange(x.shape[0]).view(-1, 1), 0)
        mask = mask * not_self
        log_prob = logits - torch.log((torch.exp(logits) * not_self).sum(1, keepdim=True))
        count = mask.sum(1)
        count = torch.where(count < 1e-6, 1, count)
        return -((mask * log_prob).sum(1) / count).mean()


def sup_con():
    return _SupCon(), (torch.randn(6, 6), torch.tensor([0, 1, 0, 2, 1, 2]))


class _HardTriplets(nn.Module):
    """The hardest positive and negative of each anchor in the batch."""

    def forward(self, e: Tensor, labels: Tensor) -> Tensor:
        dot = torch.matmul(e, e.t())
        square = torch.diag(dot)
        d = square.unsqueeze(0) - 2.0 * dot + square.unsqueeze(1)
        d = torch.relu(d)
        zero = torch.eq(d, 0.0).float()
        d = (1.0 - zero) * torch.sqrt(d + zero * 1e-16)
        same = labels.unsqueeze(0) == labels.unsqueeze(1)
        positive = same & ~torch.eye(labels.size(0)).bool()
        hardest, _ = (positive.float() * d).max(1, keepdim=True)
        far, _ = d.max(1, keepdim=True)
        nearest, _ = (d + far * (1.0 - (~same).float())).min(1, keepdim=True)
        return F.relu(hardest - nearest + 0.2).mean()


def hard_triplets():
    return _HardTriplets(), (torch.randn(6, 4), torch.tensor([0, 1, 0, 2, 1, 2]))


class _VicReg(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        n, d = x.shape
        repr_loss = F.mse_loss(x, y)
        x, y = x - x.mean(dim=0), y - y.mean(dim=0)
        std_x, std_y = torch.sqrt(x.var(dim=0) + 0.0001), torch.sqrt(y.var(dim=0) + 0.0001)
        std_loss = torch.mean(F.relu(1 - std_x)) / 2 + torch.mean(F.relu(1 - std_y)) / 2
        cov_x, cov_y = (x.T @ x) / (n - 1), (y.T @ y) / (n - 1)
        off = [c.flatten()[:-1].view(d - 1, d + 1)[:, 1:].flatten() for c in (cov_x, cov_y)]
        cov_loss = sum(o.pow_(2).sum().div(d) for o in off)
        return 25 * repr_loss + 25 * std_loss + cov_loss


def vic_reg():
    return _VicReg(), (torch.randn(6, 4), torch.randn(6, 4))


class _FocalDice(nn.Module):
    """Of a segmentation: focal by classes, dice over places, ignoring one label."""

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        valid = target != 255
        t = target.masked_fill(~valid, 0)
        log_p = F.log_softmax(logits, dim=1)
        ce = F.nll_loss(log_p, t, reduction="none")
        pt = log_p.gather(1, t.unsqueeze(1)).squeeze(1).exp()
        focal = ((1 - pt) ** 2 * ce * valid).sum() / valid.sum().clamp(min=1)
        p = log_p.exp() * valid.unsqueeze(1)
        hot = F.one_hot(t, logits.size(1)).permute(0, 3, 1, 2).float() * valid.unsqueeze(1)
        dims = (0, 2, 3)
        dice = (2 * (p * hot).sum(dims) + 1) / (p.sum(dims) + hot.sum(dims) + 1)
        return focal + 1 - dice.mean()


def focal_dice():
    target = torch.randint(0, 3, (1, 4, 4))
    target[0, 0, :2] = 255
    return _FocalDice(), (torch.randn(1, 3, 4, 4), target)


class _Sinkhorn(nn.Module):
    """Optimal transport in logarithms."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        C = torch.sum((torch.abs(x.unsqueeze(1) - y.unsqueeze(0))) ** 2, -1)
        n, m, eps = x.shape[0], y.shape[0], 0.5
        mu, nu = torch.full((n,), 1.0 / n), torch.full((m,), 1.0 / m)
        u, v = torch.zeros_like(mu), torch.zeros_like(nu)
        for _ in range(3):
            M = (-C + u.unsqueeze(-1) + v.unsqueeze(-2)) / eps
            u = eps * (torch.log(mu + 1e-8) - torch.logsumexp(M, dim=-1)) + u
            M = (-C + u.unsqueeze(-1) + v.unsqueeze(-2)) / eps
            v = eps * (torch.log(nu + 1e-8) - torch.logsumexp(M.transpose(-2, -1), dim=-1)) + v
        pi = torch.exp((-C + u.unsqueeze(-1) + v.unsqueeze(-2)) / eps)
        return torch.sum(pi * C), pi


def sinkhorn():
    return _Sinkhorn(), (torch.randn(4, 2), torch.randn(5, 2))


class _ArcFace(nn.Module):
    def __init__(self, dim: int = 5, classes: int = 4) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim))
        self.cos_m, self.sin_m = math.cos(0.5), math.sin(0.5)
        self.th, self.mm = math.cos(math.pi - 0.5), math.sin(math.pi - 0.5) * 0.5

    def forward(self, x: Tensor, label: Tensor) -> Tensor:
        cosine = F.linear(F.normalize(x), F.normalize(self.weight))
        sine = torch.sqrt((1.0 - torch.pow(cosine, 2)).clamp(0, 1))
        phi = cosine * self.cos_m - sine * self.sin_m
        phi = torch.where(cosine > self.th, phi, cosine - self.mm)
        one_hot = torch.zeros(cosine.size())
        one_hot.scatter_(1, label.view(-1, 1).long(), 1)
        return F.cross_entropy((one_hot * phi + (1.0 - one_hot) * cosine) * 8.0, label, label_smoothing=0.1)


def arc_face():
    return _ArcFace(), (torch.randn(3, 5), torch.tensor([2, 0, 3]))


class _VectorQuantiser(nn.Module):
    """The nearest code, straight through, with its losses and its perplexity."""

    def __init__(self, codes: int = 6, dim: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(codes, dim)

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        z = z.permute(0, 2, 3, 1).contiguous()
        flat = z.view(-1, z.shape[-1])
        w = self.embedding.weight
        d = torch.sum(flat**2, dim=1, keepdim=True) + torch.sum(w**2, dim=1) - 2 * torch.matmul(flat, w.t())
        idx = torch.argmin(d, dim=1).unsqueeze(1)
        hot = torch.zeros(idx.shape[0], w.shape[0])
        hot.scatter_(1, idx, 1)
        quantised = torch.matmul(hot, w).view(z.shape)
        loss = F.mse_loss(quantised, z.detach()) + 0.25 * F.mse_loss(quantised.detach(), z)
        quantised = z + (quantised - z).detach()
        mean = torch.mean(hot, dim=0)
        perplexity = torch.exp(-torch.sum(mean * torch.log(mean + 1e-10)))
        return quantised.permute(0, 3, 1, 2).contiguous(), loss, perplexity


def vector_quantiser():
    return _VectorQuantiser(), (torch.randn(1, 4, 2, 3),)


class _FiniteScalar(nn.Module):
    """FSQ: bounded, rounded, and a code from mixed radices."""

    def __init__(self) -> None:
        super().__init__()
        levels = torch.tensor([5, 4, 3])
        self.register_buffer("levels", levels)
        self.register_buffer("basis", torch.cumprod(torch.tensor([1, 5, 4]), 0))

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        half = (self.levels - 1) * (1 + 1e-3) / 2
        offset = torch.where(self.levels % 2 == 0, 0.5, 0.0)
        shift = (offset / half).atanh()
        bounded = (z + shift).tanh() * half - offset
        rounded = bounded + (bounded.round() - bounded).detach()
        width = self.levels // 2
        code = ((rounded + width) * self.basis).sum(dim=-1)
        return rounded / width, code.to(torch.int32)


def finite_scalar():
    return _FiniteScalar(), (torch.randn(2, 4, 3),)


class _BitLinear(nn.Module):
    """Ternary weights, and activations of eight bits a token."""

    def __init__(self, i: int = 6, o: int = 4) -> None:
        super().__init__()
        self.weight, self.norm = nn.Parameter(torch.randn(o, i)), nn.RMSNorm(i)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(x)
        scale = 127.0 / x.abs().max(dim=-1, keepdim=True).values.clamp_(min=1e-5)
        xq = x + ((x * scale).round().clamp_(-128, 127) / scale - x).detach()
        w_scale = 1.0 / self.weight.abs().mean().clamp_(min=1e-5)
        wq = self.weight + ((self.weight * w_scale).round().clamp_(-1, 1) / w_scale - self.weight).detach()
        return F.linear(xq, wq)


def bit_linear():
    return _BitLinear(), (torch.randn(2, 3, 6),)


class _DynamicInt8(nn.Module):
    """Weights stored in eight bits with a scale for each row; a product of whole numbers."""

    def __init__(self, i: int = 6, o: int = 4) -> None:
        super().__init__()
        w = torch.randn(o, i)
        scale = w.abs().amax(1, keepdim=True) / 127
        self.register_buffer("scale", scale.squeeze(1))
        self.register_buffer("weight", torch.round(w / scale).to(torch.int8))

    def forward(self, x: Tensor) -> Tensor:
        sx = x.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127
        xq = torch.clamp(torch.round(x / sx), -128, 127).to(torch.int8)
        acc = torch.matmul(xq.to(torch.int32), self.weight.t().to(torch.int32))
        return acc.to(x.dtype) * sx * self.scale


def dynamic_int8():
    return _DynamicInt8(), (torch.randn(3, 6),)


class _BeamStep(nn.Module):
    """A step of a beam: scores, the best of all, their parents and tokens."""

    def __init__(self, hidden: int = 6, vocabulary: int = 5) -> None:
        super().__init__()
        self.out = nn.Linear(hidden, vocabulary)

    def forward(self, state: Tensor, scores: Tensor, finished: Tensor):
        b, k, _ = state.shape
        log_p = F.log_softmax(self.out(state), dim=-1)
        v = log_p.size(-1)
        only_eos = torch.full((v,), -1e4)
        only_eos[0] = 0.0
        log_p = torch.where(finished.unsqueeze(-1), only_eos, log_p)
        total, idx = (scores.unsqueeze(-1) + log_p).view(b, -1).topk(k, dim=-1)
        parent, token = torch.div(idx, v, rounding_mode="floor"), idx % v
        state = state.gather(1, parent.unsqueeze(-1).expand_as(state))
        return total, parent, token, state


def beam_step():
    return _BeamStep(), (torch.randn(2, 3, 6), torch.randn(2, 3), torch.tensor([[False, True, False]] * 2))


class _NeuralSort(nn.Module):
    """A relaxed permutation, and the loss of a ranking (ListMLE)."""

    def forward(self, s: Tensor, relevance: Tensor) -> tuple[Tensor, Tensor]:
        n = s.shape[1]
        one = torch.ones(n, 1)
        A = torch.abs(s.unsqueeze(-1) - s.unsqueeze(-2))
        B = torch.matmul(A, one @ one.T)
        scaling = (n + 1 - 2 * (torch.arange(n) + 1)).float()
        C = torch.matmul(s.unsqueeze(-1), scaling.unsqueeze(0))
        P = torch.softmax((C - B).permute(0, 2, 1) / 1.0, -1)
        _, order = relevance.sort(descending=True, dim=-1)
        ranked = torch.gather(s, 1, order)
        tail = torch.logcumsumexp(ranked.flip(1), dim=1).flip(1)
        return P, (tail - ranked).sum(1).mean()


def neural_sort():
    return _NeuralSort(), (torch.randn(2, 5), torch.tensor([[3.0, 1, 0, 2, 4], [0.0, 1, 2, 3, 4]]))


class _PpoLoss(nn.Module):
    """Advantages backwards through time, normalised, and the clipped loss."""

    def __init__(self) -> None:
        super().__init__()
        self.actor, self.critic = nn.Linear(4, 3), nn.Linear(4, 1)

    def forward(self, obs: Tensor, actions: Tensor, old: Tensor, rewards: Tensor, dones: Tensor) -> Tensor:
        values = self.critic(obs).squeeze(-1)
        with torch.no_grad():
            gae = torch.zeros(())
            advantages: list[Tensor] = []
            for t in reversed(range(rewards.size(0))):
                nxt = values[t + 1] if t + 1 < rewards.size(0) else torch.zeros(())
                delta = rewards[t] + 0.99 * nxt * (1 - dones[t]) - values[t]
                gae = delta + 0.99 * 0.95 * (1 - dones[t]) * gae
                advantages.insert(0, gae)
            adv = torch.stack(advantages)
            returns = adv + values
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        logits = self.actor(obs)
        log_p = logits - logits.logsumexp(-1, keepdim=True)
        new = log_p.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        ratio = (new - old).exp()
        clipped = torch.clamp(ratio, 0.8, 1.2) * adv
        entropy = -(log_p.exp() * log_p).sum(-1).mean()
        policy = -torch.min(ratio * adv, clipped).mean()
        return policy + 0.5 * F.smooth_l1_loss(values, returns) - 0.01 * entropy


def ppo_loss():
    return _PpoLoss(), (
        torch.randn(5, 4),
        torch.tensor([0, 2, 1, 1, 0]),
        -torch.rand(5) - 0.5,
        torch.randn(5),
        torch.tensor([0.0, 0, 1, 0, 0]),
    )


__all__ = ["EXAMPLES"]

EXAMPLES = (
    *(sup_con, hard_triplets, vic_reg, focal_dice, sinkhorn, arc_face, vector_quantiser),
    *(finite_scalar, bit_linear, dynamic_int8, beam_step, neural_sort, ppo_loss),
)
