"""Gradients and small training steps, filters, flows, fields and rotations."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, grad_and_value, hessian, jvp, vmap


class _SgdStep(nn.Module):
    """A step of training: the loss, and the weights after it."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        params = dict(self.net.named_parameters())

        def loss(p):
            return F.mse_loss(functional_call(self.net, p, (x,)), y)

        gradients, value = grad_and_value(loss)(params)
        return value, {name: params[name] - 0.1 * gradients[name] for name in params}


def sgd_step():
    return _SgdStep(), (torch.randn(5, 4), torch.randn(5, 1))


class _Maml(nn.Module):
    """Two inner steps on a support set, the loss on a query set."""

    def __init__(self) -> None:
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.zeros(2))

    def forward(self, xs: Tensor, ys: Tensor, xq: Tensor, yq: Tensor) -> Tensor:
        def loss(weights, x, y):
            return F.cross_entropy(x @ weights[0] + weights[1], y)

        weights = (self.w, self.b)
        for _ in range(2):
            g = grad(loss)(weights, xs, ys)
            weights = tuple(w - 0.4 * d for w, d in zip(weights, g, strict=True))
        return loss(weights, xq, yq)


def maml():
    return _Maml(), (
        torch.randn(4, 3),
        torch.tensor([0, 1, 1, 0]),
        torch.randn(4, 3),
        torch.tensor([1, 0, 1, 0]),
    )


class _Pinn(nn.Module):
    """The residual of Burgers' equation at collocation points."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))

    def u(self, t: Tensor, x: Tensor) -> Tensor:
        return self.net(torch.stack([t, x])).squeeze()

    def forward(self, t: Tensor, x: Tensor) -> Tensor:
        u = vmap(self.u)(t, x)
        u_t = vmap(grad(self.u, argnums=0))(t, x)
        u_x = vmap(grad(self.u, argnums=1))(t, x)
        u_xx = vmap(grad(grad(self.u, argnums=1), argnums=1))(t, x)
        return torch.mean((u_t + u * u_x - 0.01 / math.pi * u_xx) ** 2)


def pinn():
    return _Pinn(), (torch.rand(4), torch.rand(4))


class _NewtonStep(nn.Module):
    """A step by the Hessian of a logistic regression, and a product with it."""

    def forward(self, w: Tensor, x: Tensor, y: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        def loss(p):
            return F.binary_cross_entropy_with_logits(x @ p, y) + 0.1 * p.square().sum()

        g, H = grad(loss)(w), hessian(loss)(w)
        hvp: Tensor = jvp(grad(loss), (w,), (v,))[1]
        return w - torch.linalg.solve(H, g), hvp


def newton_step():
    return _NewtonStep(), (
        torch.randn(3),
        torch.randn(6, 3),
        torch.randint(0, 2, (6,)).float(),
        torch.randn(3),
    )


class _PerSampleGradients(nn.Module):
    """Clipped gradients of each sample, as private training has them."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 2)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        def loss(w, b, xi, yi):
            return F.cross_entropy(F.linear(xi, w, b).unsqueeze(0), yi.unsqueeze(0))

        gw, gb = vmap(grad(loss, argnums=(0, 1)), in_dims=(None, None, 0, 0))(
            self.lin.weight, self.lin.bias, x, y
        )
        norm = (gw.flatten(1).pow(2).sum(1) + gb.pow(2).sum(1)).sqrt()
        factor = (1.0 / (norm + 1e-6)).clamp(max=1.0)
        return torch.einsum("n,nij->ij", factor, gw) / x.size(0)


def per_sample_gradients():
    return _PerSampleGradients(), (torch.randn(4, 3), torch.tensor([0, 1, 1, 0]))


class _Kalman(nn.Module):
    """Predict and update, over a few measurements."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("Fm", torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        self.register_buffer("H", torch.tensor([[1.0, 0.0]]))
        self.log_q, self.log_r = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        x, P = torch.zeros(2), torch.eye(2)
        Q, R = torch.diag(self.log_q.exp()), torch.diag(self.log_r.exp())
        states = []
        for m in z:
            x, P = self.Fm @ x, self.Fm @ P @ self.Fm.T + Q
            S = self.H @ P @ self.H.T + R
            K = P @ self.H.T @ torch.linalg.inv(S)
            x = x + K @ (m - self.H @ x)
            P = (torch.eye(2) - K @ self.H) @ P
            states.append(x)
        return torch.stack(states), P


def kalman():
    return _Kalman(), (torch.randn(3, 1),)


class _GaussianProcess(nn.Module):
    """A posterior mean and variance through a Cholesky factor."""

    def __init__(self) -> None:
        super().__init__()
        self.log_scale, self.log_noise = nn.Parameter(torch.zeros(())), nn.Parameter(torch.tensor(-1.0))

    def kernel(self, a: Tensor, b: Tensor) -> Tensor:
        d = (a.unsqueeze(1) - b.unsqueeze(0)).div(self.log_scale.exp()).pow(2).sum(-1)
        return torch.exp(-0.5 * d)

    def forward(self, x: Tensor, y: Tensor, xs: Tensor) -> tuple[Tensor, Tensor]:
        K = self.kernel(x, x) + self.log_noise.exp() * torch.eye(x.size(0))
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(y.unsqueeze(1), L)
        Ks = self.kernel(x, xs)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        return (Ks.T @ alpha).squeeze(1), 1.0 - v.pow(2).sum(0)


def gaussian_process():
    return _GaussianProcess(), (torch.randn(4, 2), torch.randn(4), torch.randn(3, 2))


class _RationalSpline(nn.Module):
    """A monotone spline of rational quadratics, with its log determinant."""

    def __init__(self, dim: int = 2, bins: int = 4) -> None:
        super().__init__()
        self.bins = bins
        self.net = nn.Linear(dim, dim * (3 * bins - 1))

    def forward(self, x: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        bound, least = 3.0, 1e-3
        p = self.net(context).view(*x.shape, 3 * self.bins - 1)
        w, h, d = p.split([self.bins, self.bins, self.bins - 1], dim=-1)
        inside = (x >= -bound) & (x <= bound)
        xc = x.clamp(-bound, bound)

        def knots(v):
            v = least + (1 - least * self.bins) * F.softmax(v, dim=-1)
            c = F.pad(torch.cumsum(v, dim=-1), (1, 0), value=0.0)
            c = 2 * bound * c - bound
            return c, c[..., 1:] - c[..., :-1]

        (cw, w), (ch, h) = knots(w), knots(h)
        d = F.pad(least + F.softplus(d), (1, 1), value=1.0)
        idx = torch.sum(xc[..., None] >= cw[..., 1:-1], dim=-1)[..., None]

        def pick(v):
            return v.gather(-1, idx)[..., 0]

        xk, wk, yk, hk = pick(cw[..., :-1]), pick(w), pick(ch[..., :-1]), pick(h)
        delta, d0, d1 = pick(h / w), pick(d), pick(d[..., 1:])
        t = (xc - xk) / wk
        bottom = delta + (d0 + d1 - 2 * delta) * t * (1 - t)
        y = yk + hk * (delta * t**2 + d0 * t * (1 - t)) / bottom
        up = delta**2 * (d1 * t**2 + 2 * delta * t * (1 - t) + d0 * (1 - t) ** 2)
        log_det = torch.log(up) - 2 * torch.log(bottom)
        return torch.where(inside, y, x), torch.where(inside, log_det, 0.0).sum(-1)


def rational_spline():
    return _RationalSpline(), (torch.randn(3, 2) * 2, torch.randn(3, 2))


class _Nerf(nn.Module):
    """Encoded points along rays, and what they add up to."""

    def __init__(self, levels: int = 3) -> None:
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(levels) * math.pi)
        self.net = nn.Sequential(nn.Linear(3 + 6 * levels, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, origin: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
        t = torch.linspace(1.0, 3.0, 5)
        points = origin[:, None] + direction[:, None] * t[:, None]
        x = points[..., None] * self.freqs
        code = torch.cat([points, x.sin().flatten(-2), x.cos().flatten(-2)], dim=-1)
        raw = self.net(code)
        rgb, sigma = torch.sigmoid(raw[..., :3]), F.relu(raw[..., 3])
        step = torch.cat([t[1:] - t[:-1], torch.tensor([1e3])])
        alpha = 1.0 - torch.exp(-sigma * step)
        through = torch.cumprod(torch.cat([torch.ones(alpha.shape[0], 1), 1.0 - alpha + 1e-10], -1), -1)[
            :, :-1
        ]
        weights = alpha * through
        return (weights[..., None] * rgb).sum(-2), (weights * t).sum(-1)


def nerf():
    return _Nerf(), (torch.randn(2, 3), F.normalize(torch.randn(2, 3), dim=-1))


class _HashGrid(nn.Module):
    """Instant NGP's encoding: corners of cells are hashed into a table."""

    def __init__(self, size: int = 16, width: int = 2) -> None:
        super().__init__()
        self.size, self.table = size, nn.Embedding(size, width)
        self.register_buffer("corners", torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]]))
        self.register_buffer("primes", torch.tensor([1, 2654435761]))

    def forward(self, x: Tensor) -> Tensor:
        scaled = x * 5
        low = torch.floor(scaled)
        frac = scaled - low
        at = low.long().unsqueeze(1) + self.corners
        hashed = at * self.primes
        code = torch.bitwise_xor(hashed[..., 0], hashed[..., 1]) % self.size
        features = self.table(code)
        weight = torch.where(self.corners.bool(), frac.unsqueeze(1), 1 - frac.unsqueeze(1)).prod(-1)
        return (features * weight.unsqueeze(-1)).sum(1)


def hash_grid():
    return _HashGrid(), (torch.rand(3, 2),)


class _Rotations(nn.Module):
    """Six numbers become a rotation, then a quaternion that turns points."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(4, 6)

    def forward(self, z: Tensor, q: Tensor, points: Tensor) -> tuple[Tensor, Tensor]:
        a1, a2 = self.net(z).split(3, dim=-1)
        b1 = F.normalize(a1, dim=-1)
        b2 = F.normalize(a2 - (b1 * a2).sum(-1, keepdim=True) * b1, dim=-1)
        R = torch.stack((b1, b2, torch.cross(b1, b2, dim=-1)), dim=-2)
        w, u = q[:, :1], q[:, 1:]
        u = u.unsqueeze(1).expand_as(points)
        t = 2.0 * torch.linalg.cross(u, points)
        turned = points + w.unsqueeze(1) * t + torch.linalg.cross(u, t)
        trace = R.diagonal(dim1=-2, dim2=-1).sum(-1)
        angle = torch.acos(((trace - 1) / 2).clamp(-0.999, 0.999))
        return torch.einsum("bij,bnj->bni", R, turned), angle


def rotations():
    return _Rotations(), (torch.randn(2, 4), F.normalize(torch.randn(2, 4), dim=-1), torch.randn(2, 3, 3))


class _Angles(nn.Module):
    """Triplets of atoms: angles, harmonics, a smooth envelope."""

    def __init__(self, radial: int = 3) -> None:
        super().__init__()
        self.freq, self.out = (
            nn.Parameter(torch.arange(1, radial + 1).float() * math.pi),
            nn.Linear(3 * radial, 2),
        )

    def forward(self, pos: Tensor, i: Tensor, j: Tensor, k: Tensor) -> Tensor:
        ij, kj = pos[i] - pos[j], pos[k] - pos[j]
        dist = ij.norm(dim=-1) / 5.0
        dot, cross = (ij * kj).sum(-1), torch.cross(ij, kj, dim=-1).norm(dim=-1)
        angle = torch.atan2(cross, dot)
        p = 6
        envelope = 1 / dist - 28 * dist ** (p - 1) + 48 * dist**p - 21 * dist ** (p + 1)
        envelope = envelope * (dist < 1.0).to(dist.dtype)
        rbf = envelope.unsqueeze(-1) * (self.freq * dist.unsqueeze(-1)).sin()
        sbf = torch.stack([torch.ones_like(angle), angle.cos(), 0.5 * (3 * angle.cos() ** 2 - 1)], dim=-1)
        e = self.out((rbf.unsqueeze(-1) * sbf.unsqueeze(-2)).flatten(1))
        return torch.zeros(pos.size(0), 2).index_add(0, j, e)


def angles():
    return _Angles(), (
        torch.randn(5, 3),
        torch.tensor([0, 1, 2, 3]),
        torch.tensor([1, 2, 3, 4]),
        torch.tensor([2, 3, 4, 0]),
    )


class _TopKAutoencoder(nn.Module):
    """A sparse dictionary: the largest activations stay; a jump as the other."""

    def __init__(self, dim: int = 6, features: int = 12, k: int = 3) -> None:
        super().__init__()
        self.k, self.enc, self.dec = k, nn.Linear(dim, features), nn.Linear(features, dim, bias=False)
        self.pre_bias, self.log_threshold = (
            nn.Parameter(torch.randn(dim)),
            nn.Parameter(torch.full((features,), -1.0)),
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        pre = self.enc(x - self.pre_bias)
        top, idx = torch.topk(F.relu(pre), self.k, dim=-1)
        sparse = torch.zeros_like(pre).scatter_(-1, idx, top)
        recon = self.dec(sparse) + self.pre_bias
        jump = pre * (pre > self.log_threshold.exp())
        fvu = (x - recon).pow(2).sum() / (x - x.mean(0)).pow(2).sum()
        return recon, fvu, (jump != 0).float().sum(-1).mean()


def top_k_autoencoder():
    return _TopKAutoencoder(), (torch.randn(4, 6),)


class _Metropolis(nn.Module):
    """A step of HMC with leapfrogs, whose numbers come as arguments."""

    def forward(self, q: Tensor, p: Tensor, u: Tensor) -> Tensor:
        def energy(x):
            return (0.5 * x**2 + torch.cos(x)).sum(-1)

        force = vmap(grad(energy))
        q0, p0 = q, p
        for _ in range(2):
            p = p - 0.05 * force(q)
            q = q + 0.1 * p
            p = p - 0.05 * force(q)
        change = energy(q) + 0.5 * p.square().sum(-1) - energy(q0) - 0.5 * p0.square().sum(-1)
        accept = u < torch.exp(-change).clamp(max=1.0)
        return torch.where(accept[:, None], q, q0)


def metropolis():
    return _Metropolis(), (torch.randn(4, 2), torch.randn(4, 2), torch.rand(4))


__all__ = ["EXAMPLES"]

EXAMPLES = (
    *(sgd_step, maml, pinn, newton_step, per_sample_gradients, kalman, gaussian_process),
    *(rational_spline, nerf, hash_grid, rotations, angles, top_k_autoencoder, metropolis),
)
