"""As training scripts have them: a network, its loss, and what keeps both going."""

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


class _BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, self.expansion * planes, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(self.expansion * planes),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class _CifarResNet(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.in_planes = 3
        self.conv1 = nn.Conv2d(1, 3, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(3)
        self.layer1 = self._make_layer(3, 1, stride=1)
        self.layer2 = self._make_layer(4, 1, stride=2)
        self.linear = nn.Linear(4, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def _make_layer(self, planes, num_blocks, stride):
        layers = []
        for s in [stride] + [1] * (num_blocks - 1):
            layers.append(_BasicBlock(self.in_planes, planes, s))
            self.in_planes = planes
        return nn.Sequential(*layers)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer2(self.layer1(out))
        out = F.avg_pool2d(out, out.size(2))
        return self.linear(out.view(out.size(0), -1))


def cifar_res_net():
    return _CifarResNet().eval(), (torch.randn(1, 1, 6, 6),)


class _Distilled(nn.Module):
    """Hinton et al., 2015: soft targets of a teacher, hard ones of the data."""

    def __init__(self, temperature=4.0, alpha=0.7):
        super().__init__()
        self.teacher = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 5))
        self.student = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 5))
        self.T, self.alpha = temperature, alpha

    def forward(self, x, y):
        with torch.no_grad():
            t = self.teacher(x)
        s = self.student(x)
        soft = F.kl_div(F.log_softmax(s / self.T, 1), F.softmax(t / self.T, 1), reduction="batchmean")
        return self.alpha * self.T**2 * soft + (1 - self.alpha) * F.cross_entropy(s, y)


def distilled():
    return _Distilled().eval(), (torch.randn(4, 6), torch.tensor([0, 3, 1, 4]))


class _MixUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(9, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def forward(self, x, y, lam, index):
        mixed_x = lam * x + (1 - lam) * x[index, :]
        y_a, y_b = y, y[index]
        pred = self.net(mixed_x)
        loss = lam * self.criterion(pred, y_a) + (1 - lam) * self.criterion(pred, y_b)
        return loss, pred.argmax(dim=1)


def mix_up():
    return _MixUp().eval(), (
        torch.randn(4, 3, 3),
        torch.tensor([2, 0, 1, 1]),
        torch.tensor(0.3),
        torch.tensor([2, 3, 0, 1]),
    )


class _EmaTeacher(nn.Module):
    """A mean teacher whose weight is a buffer that each step moves."""

    def __init__(self, momentum=0.9):
        super().__init__()
        self.student = nn.Linear(5, 3)
        self.momentum = momentum
        self.register_buffer("teacher", self.student.weight.detach().clone() * 0.5)

    def forward(self, x):
        self.teacher.mul_(self.momentum).add_(self.student.weight.detach(), alpha=1 - self.momentum)
        return F.mse_loss(self.student(x), F.linear(x, self.teacher))


def ema_teacher():
    return _EmaTeacher().eval(), (torch.randn(4, 5),)


class _TiedCharModel(nn.Module):
    """Logits of the last character by the embedding itself, cut to the nucleus."""

    def __init__(self, vocab=11, d=6):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.randn(1, 8, d) * 0.02)
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.ln = nn.LayerNorm(d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.emb.weight

    def forward(self, idx, top_k: int = 4, temperature: float = 0.8):
        _B, T = idx.shape
        x = self.emb(idx) * math.sqrt(self.emb.embedding_dim) + self.pos[:, :T]
        q, k, v = self.qkv(self.ln(x)).chunk(3, dim=-1)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        att = att.masked_fill(torch.tril(torch.ones(T, T)) == 0, float("-inf"))
        x = x + self.proj(F.softmax(att, dim=-1) @ v)
        logits = self.lm_head(x)[:, -1, :] / temperature
        v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
        logits[logits < v[:, [-1]]] = -float("Inf")
        return F.softmax(logits, dim=-1)


def tied_char_model():
    return _TiedCharModel().eval(), (torch.randint(0, 11, (2, 6)),)


class _MultiTask(nn.Module):
    """Kendall et al., 2018: losses weighted by learned uncertainties, kept in dicts."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 8), nn.Mish())
        self.heads = nn.ModuleDict(
            {"depth": nn.Linear(8, 1), "seg": nn.Linear(8, 3), "normal": nn.Linear(8, 2)}
        )
        self.log_vars = nn.ParameterDict({k: nn.Parameter(torch.randn(())) for k in self.heads})

    def forward(self, x, targets: dict[str, torch.Tensor]):
        feats = self.trunk(x)
        preds = {k: head(feats) for k, head in self.heads.items()}
        losses = {
            "depth": F.smooth_l1_loss(preds["depth"].squeeze(-1), targets["depth"], beta=0.5),
            "seg": F.cross_entropy(preds["seg"], targets["seg"]),
            "normal": (1 - F.cosine_similarity(preds["normal"], targets["normal"], dim=-1)).mean(),
        }
        total = sum(torch.exp(-self.log_vars[k]) * v + self.log_vars[k] for k, v in losses.items())
        return {"loss": total, **{f"loss/{k}": v.detach() for k, v in losses.items()}}


def multi_task():
    targets = {"depth": torch.randn(4), "seg": torch.tensor([0, 2, 1, 1]), "normal": torch.randn(4, 2)}
    return _MultiTask().eval(), (torch.randn(4, 6), targets)


class _Ensemble(nn.Module):
    """Members as one batch of weights; the mean, the variance and the mutual information of their votes."""

    def __init__(self, members=3):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(members, 5, 6) * 0.5)
        self.b1 = nn.Parameter(torch.zeros(members, 1, 6))
        self.w2 = nn.Parameter(torch.randn(members, 6, 4) * 0.5)

    def forward(self, x):
        h = torch.baddbmm(self.b1, x.expand(self.w1.size(0), -1, -1), self.w1).relu()
        p = torch.bmm(h, self.w2).softmax(-1)
        mean = p.mean(0)
        entropy = -(mean * mean.clamp_min(1e-8).log()).sum(-1)
        expected = -(p * p.clamp_min(1e-8).log()).sum(-1).mean(0)
        return mean, p.var(0, unbiased=False).sum(-1), entropy - expected


def ensemble():
    return _Ensemble().eval(), (torch.randn(4, 5),)


EXAMPLES = [cifar_res_net, distilled, mix_up, ema_teacher, tied_char_model, multi_task, ensemble]
