"""Idioms that turn up everywhere: caches, queues, masks, trees, tables and contractions."""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


class _KvCache(nn.Module):
    """gpt-fast: keys and values go into buffers at the position of the token."""

    def __init__(self, d=4, heads=2, length=6):
        super().__init__()
        self.heads = heads
        self.wqkv, self.wo = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.register_buffer("k_cache", torch.zeros(1, heads, length, d // heads))
        self.register_buffer("v_cache", torch.zeros(1, heads, length, d // heads))
        self.register_buffer("causal_mask", torch.tril(torch.ones(length, length, dtype=torch.bool)))

    def forward(self, x, input_pos):
        b, s, d = x.shape
        q, k, v = (t.view(b, s, self.heads, -1).transpose(1, 2) for t in self.wqkv(x).split(d, dim=-1))
        self.k_cache[:, :, input_pos] = k
        self.v_cache[:, :, input_pos] = v
        mask = self.causal_mask[None, None, input_pos]
        y = F.scaled_dot_product_attention(q, self.k_cache, self.v_cache, attn_mask=mask)
        return self.wo(y.transpose(1, 2).contiguous().view(b, s, d))


def kv_cache():
    return _KvCache().eval(), (torch.randn(1, 2, 4), torch.tensor([0, 1]))


class _MomentumQueue(nn.Module):
    """MoCo: negatives of a queue that takes in the keys of the batch."""

    def __init__(self, d=4, size=6, momentum=0.9):
        super().__init__()
        self.q, self.k = nn.Linear(5, d), nn.Linear(5, d)
        self.register_buffer("queue", F.normalize(torch.randn(d, size), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    def forward(self, im_q, im_k):
        q = F.normalize(self.q(im_q), dim=1)
        with torch.no_grad():
            k = F.normalize(self.k(im_k), dim=1)
        l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1) / 0.2
        self.queue.copy_(torch.cat([k.T, self.queue[:, : -k.size(0)]], dim=1))
        self.queue_ptr += k.size(0)
        return F.cross_entropy(logits, torch.zeros(logits.shape[0], dtype=torch.long))


def momentum_queue():
    return _MomentumQueue().eval(), (torch.randn(2, 5), torch.randn(2, 5))


class _PackedSequences(nn.Module):
    """Several documents in one row: a block-diagonal causal mask, and positions from each boundary on."""

    def __init__(self, d=4):
        super().__init__()
        self.pos = nn.Embedding(8, d)
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x, document):
        n = x.size(0)
        index = torch.arange(n)
        start = torch.cat([torch.ones(1, dtype=torch.bool), document[1:] != document[:-1]])
        first = torch.where(start, index, 0).cummax(0).values
        x = x + self.pos(index - first)
        allowed = (document[:, None] == document[None]) & (index[:, None] >= index[None])
        scores = (self.q(x) @ self.k(x).T) / x.size(-1) ** 0.5
        att = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
        return att @ self.v(x)


def packed_sequences():
    return _PackedSequences().eval(), (torch.randn(7, 4), torch.tensor([0, 0, 0, 1, 1, 2, 2]))


class _TensorTrain(nn.Module):
    """Novikov et al., 2015: a linear layer as a train of three cores."""

    def __init__(self, ins=(2, 3, 2), outs=(2, 2, 3), rank=2):
        super().__init__()
        self.ins = ins
        ranks = (1, rank, rank, 1)
        self.cores = nn.ParameterList(
            nn.Parameter(torch.randn(ranks[i], ins[i], outs[i], ranks[i + 1]) * 0.5) for i in range(3)
        )
        self.bias = nn.Parameter(torch.zeros(2 * 2 * 3))

    def forward(self, x):
        a, b, c = self.cores
        y = torch.einsum("nijk,aipb,bjqc,ckrd->npqr", x.view(-1, *self.ins), a, b, c)
        return y.flatten(1) + self.bias


def tensor_train():
    return _TensorTrain().eval(), (torch.randn(3, 12),)


class _ProductQuantiser(nn.Module):
    """Codes of sub-vectors, a table of distances, and the scores of all entries by look-up."""

    def __init__(self, parts=2, codes=4, sub=3, entries=6):
        super().__init__()
        self.parts = parts
        self.register_buffer("codebook", torch.randn(parts, codes, sub))
        self.register_buffer("codes", torch.randint(0, codes, (entries, parts)))

    def forward(self, query, vectors):
        q = query.view(query.size(0), self.parts, 1, -1)
        table = (q - self.codebook[None]).pow(2).sum(-1)
        index = self.codes.t()[None].expand(query.size(0), -1, -1)
        dist = table.gather(2, index).sum(1)
        assigned = torch.cdist(
            vectors.view(-1, self.parts, q.size(-1)).transpose(0, 1), self.codebook
        ).argmin(-1)
        rebuilt = torch.stack([F.embedding(assigned[p], self.codebook[p]) for p in range(self.parts)], 1)
        return dist, dist.topk(2, largest=False).indices, rebuilt.flatten(1)


def product_quantiser():
    return _ProductQuantiser().eval(), (torch.randn(2, 6), torch.randn(3, 6))


class _SoftTree(nn.Module):
    """Frosst and Hinton, 2017: a tree of depth three whose nodes decide softly."""

    def __init__(self, d=4, depth=3, classes=3):
        super().__init__()
        self.depth = depth
        self.inner = nn.Linear(d, 2**depth - 1)
        self.leaves = nn.Parameter(torch.randn(2**depth, classes))

    def forward(self, x):
        p = torch.sigmoid(self.inner(x))
        p = torch.stack((p, 1 - p), dim=2)
        mu = x.new_ones(x.size(0), 1, 1)
        begin, end, penalty = 0, 1, 0.0
        for layer in range(self.depth):
            part = p[:, begin:end]
            alpha = (part[..., 0] * mu.squeeze(-1)).sum(0) / mu.squeeze(-1).sum(0)
            penalty = penalty - 0.5 * (0.5 ** (layer + 1)) * (alpha.log() + (1 - alpha).log()).sum()
            mu = (mu.repeat(1, 1, 2) * part).view(x.size(0), -1, 1)
            begin, end = end, end + 2 ** (layer + 1)
        return mu.squeeze(-1) @ self.leaves.softmax(-1), penalty


def soft_tree():
    return _SoftTree().eval(), (torch.randn(4, 4),)


class _PairwiseDistances(nn.Module):
    """Losses over the upper triangle: circle loss of embeddings, and a spread-out penalty."""

    def __init__(self, m=0.25, gamma=8.0):
        super().__init__()
        self.m, self.gamma = m, gamma
        self.net = nn.Linear(5, 4)

    def forward(self, x, label):
        z = F.normalize(self.net(x))
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        sim = (z @ z.t())[i, j]
        same = label[i] == label[j]
        ap = torch.clamp_min(-sim.detach() + 1 + self.m, min=0.0)
        an = torch.clamp_min(sim.detach() + self.m, min=0.0)
        logit_p = -ap * (sim - (1 - self.m)) * self.gamma
        logit_n = an * (sim - self.m) * self.gamma
        minus = torch.tensor(-1e4)
        total = torch.logsumexp(torch.where(same, logit_p, minus), 0) + torch.logsumexp(
            torch.where(same, minus, logit_n), 0
        )
        return F.softplus(total), F.pdist(z).pow(2).mul(-2).exp().mean().log()


def pairwise_distances():
    return _PairwiseDistances().eval(), (torch.randn(5, 5), torch.tensor([0, 1, 0, 2, 1]))


class _LengthPooling(nn.Module):
    """Mean, maximum and last of padded sentences, with words dropped by a given mask."""

    def __init__(self, vocab=9, d=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        self.lstm = nn.LSTM(d, 3, batch_first=True)
        self.fc = nn.Linear(9, 2)

    def forward(self, tokens):
        mask = tokens.ne(0)
        lengths = mask.sum(1)
        out, (_h, _c) = self.lstm(self.emb(tokens))
        m = mask.unsqueeze(-1)
        mean = (out * m).sum(1) / lengths.unsqueeze(1).clamp(min=1)
        top = out.masked_fill(~m, float("-inf")).max(1).values
        last = out.gather(1, (lengths - 1).view(-1, 1, 1).expand(-1, 1, out.size(2))).squeeze(1)
        return self.fc(torch.cat([mean, top, last], dim=-1))


def length_pooling():
    return _LengthPooling().eval(), (torch.tensor([[3, 5, 1, 0, 0], [2, 8, 8, 4, 7]]),)


class _EarlyExit(nn.Module):
    """Each exit's answer counts where no earlier one was sure; depth as configured."""

    def __init__(self, layers=3, d=4, threshold=0.5):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(d, d), nn.Hardswish()) for _ in range(layers))
        self.exits = nn.ModuleList(nn.Linear(d, 3) for _ in range(layers))
        self.threshold = threshold

    def forward(self, x):
        done = torch.zeros(x.size(0), dtype=torch.bool)
        answer = x.new_zeros(x.size(0), 3)
        used = torch.zeros(x.size(0), dtype=torch.long)
        for n, (block, exit_) in enumerate(zip(self.blocks, self.exits, strict=True)):
            x = block(x)
            probs = exit_(x).softmax(-1)
            sure = probs.amax(-1) > self.threshold
            if n == len(self.blocks) - 1:
                sure = torch.ones_like(sure)
            take = sure & ~done
            answer = torch.where(take.unsqueeze(-1), probs, answer)
            used = torch.where(take, torch.full_like(used, n + 1), used)
            done = done | sure
        return answer, used


def early_exit():
    return _EarlyExit().eval(), (torch.randn(4, 4),)


class _GroupedRouter(nn.Module):
    """DeepSeek's router: groups by their best two, experts within the chosen groups, a bias for balance."""

    def __init__(self, d=4, experts=8, groups=4, top_groups=2, top_k=3):
        super().__init__()
        self.gate = nn.Parameter(torch.randn(experts, d))
        self.register_buffer("e_score_correction_bias", torch.randn(experts) * 0.1)
        self.groups, self.top_groups, self.top_k = groups, top_groups, top_k

    def forward(self, x):
        n = x.size(0)
        scores = F.linear(x, self.gate).sigmoid()
        choice = scores + self.e_score_correction_bias
        group_scores = choice.view(n, self.groups, -1).topk(2, dim=-1)[0].sum(dim=-1)
        group_idx = torch.topk(group_scores, k=self.top_groups, dim=-1, sorted=False)[1]
        group_mask = torch.zeros_like(group_scores).scatter_(1, group_idx, 1)
        mask = group_mask.unsqueeze(-1).expand(n, self.groups, choice.size(1) // self.groups).reshape(n, -1)
        masked = choice.masked_fill(~mask.bool(), 0.0)
        idx = torch.topk(masked, k=self.top_k, dim=-1)[1]
        weight = scores.gather(1, idx)
        return idx, weight / (weight.sum(dim=-1, keepdim=True) + 1e-20)


def grouped_router():
    return _GroupedRouter().eval(), (torch.randn(3, 4),)


EXAMPLES = [
    *(kv_cache, momentum_queue, packed_sequences, tensor_train, product_quantiser, soft_tree),
    *(pairwise_distances, length_pooling, early_exit, grouped_router),
]
