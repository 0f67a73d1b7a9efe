"""Reinforcement learning: policies, targets and losses."""

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]

LOG_STD_MIN, LOG_STD_MAX = -5, 2


class _SacActor(nn.Module):
    """A squashed Gaussian; the noise is given."""

    def __init__(self, obs=5, act=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
        self.fc_mean, self.fc_logstd = nn.Linear(8, act), nn.Linear(8, act)
        self.register_buffer("action_scale", torch.tensor([2.0, 0.5]))
        self.register_buffer("action_bias", torch.tensor([0.0, 0.25]))

    def forward(self, obs, noise):
        x = self.net(obs)
        mean, log_std = self.fc_mean(x), torch.tanh(self.fc_logstd(x))
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (log_std + 1)
        std = log_std.exp()
        x_t = mean + std * noise
        y_t = torch.tanh(x_t)
        action = y_t * self.action_scale + self.action_bias
        log_prob = torch.distributions.Normal(mean, std).log_prob(x_t)
        log_prob -= torch.log(self.action_scale * (1 - y_t.pow(2)) + 1e-6)
        return action, log_prob.sum(1, keepdim=True), torch.tanh(mean) * self.action_scale + self.action_bias


def sac_actor():
    return _SacActor().eval(), (torch.randn(3, 5), torch.randn(3, 2))


class _Gae(nn.Module):
    """Generalised advantages, from the end of the roll-out to its beginning, normalised."""

    def __init__(self, gamma=0.99, lam=0.95):
        super().__init__()
        self.gamma, self.lam = gamma, lam
        self.critic = nn.Linear(3, 1)

    def forward(self, obs, rewards, dones, last_obs):
        values = self.critic(obs).squeeze(-1)
        next_value = self.critic(last_obs).squeeze(-1)
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        T = rewards.shape[0]
        for t in reversed(range(T)):
            nextnonterminal = 1.0 - dones[t]
            nextvalues = next_value if t == T - 1 else values[t + 1]
            delta = rewards[t] + self.gamma * nextvalues * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + self.gamma * self.lam * nextnonterminal * lastgaelam
        returns = advantages + values
        return (advantages - advantages.mean()) / (advantages.std() + 1e-8), returns


def gae():
    dones = (torch.rand(5, 2) < 0.3).float()
    return _Gae().eval(), (torch.randn(5, 2, 3), torch.randn(5, 2), dones, torch.randn(2, 3))


class _DoubleDuelling(nn.Module):
    def __init__(self, obs=4, actions=3):
        super().__init__()

        def net():
            return nn.ModuleDict(
                {"feature": nn.Linear(obs, 6), "value": nn.Linear(6, 1), "advantage": nn.Linear(6, actions)}
            )

        self.online, self.target = net(), net()

    @staticmethod
    def q(net, x):
        h = F.relu(net["feature"](x))
        a = net["advantage"](h)
        return net["value"](h) + a - a.mean(dim=-1, keepdim=True)

    def forward(self, s, a, r, s2, done, weights):
        q = self.q(self.online, s).gather(1, a.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.q(self.online, s2).argmax(1, keepdim=True)
            target = r + 0.99 * (1 - done.float()) * self.q(self.target, s2).gather(1, best).squeeze(1)
        td = target - q
        return (weights * F.huber_loss(q, target, reduction="none")).mean(), td.abs() + 1e-5


def double_duelling():
    return _DoubleDuelling().eval(), (
        *(torch.randn(4, 4), torch.tensor([0, 2, 1, 1]), torch.randn(4), torch.randn(4, 4)),
        *(torch.tensor([False, True, False, False]), torch.rand(4)),
    )


class _Categorical51(nn.Module):
    """The projection of a shifted distribution on fixed atoms (C51)."""

    def __init__(self, actions=2, atoms=5, v_min=-2.0, v_max=2.0):
        super().__init__()
        self.actions, self.n, self.v_min, self.v_max = actions, atoms, v_min, v_max
        self.register_buffer("atoms", torch.linspace(v_min, v_max, steps=atoms))
        self.net = nn.Linear(3, actions * atoms)

    def forward(self, next_obs, rewards, dones):
        pmfs = torch.softmax(self.net(next_obs).view(len(next_obs), self.actions, self.n), dim=2)
        q = (pmfs * self.atoms).sum(2)
        pmf = pmfs[torch.arange(len(next_obs)), torch.argmax(q, 1)]
        tz = (rewards[:, None] + 0.9 * self.atoms * (1 - dones[:, None])).clamp(self.v_min, self.v_max)
        b = (tz - self.v_min) / ((self.v_max - self.v_min) / (self.n - 1))
        lower, upper = b.floor().clamp(0, self.n - 1), b.ceil().clamp(0, self.n - 1)
        d_l = (upper + (lower == upper).float() - b) * pmf
        d_u = (b - lower) * pmf
        target = torch.zeros_like(pmf)
        target.scatter_add_(1, lower.long(), d_l)
        target.scatter_add_(1, upper.long(), d_u)
        return target, q.max(1).values


def categorical_51():
    return _Categorical51().eval(), (torch.randn(3, 3), torch.randn(3), torch.tensor([0.0, 1.0, 0.0]))


class _QMix(nn.Module):
    """Rashid et al., 2018: a hyper-network gives the monotone mixer its weights."""

    def __init__(self, agents=3, state=4, d=5):
        super().__init__()
        self.agents, self.d = agents, d
        self.hyper_w1, self.hyper_b1 = nn.Linear(state, d * agents), nn.Linear(state, d)
        self.hyper_w2 = nn.Linear(state, d)
        self.v = nn.Sequential(nn.Linear(state, d), nn.ReLU(), nn.Linear(d, 1))

    def forward(self, agent_qs, avail, states):
        bs, T = agent_qs.size(0), agent_qs.size(1)
        chosen = agent_qs.masked_fill(avail == 0, -9999999).max(dim=-1)[0]
        states = states.reshape(-1, states.size(-1))
        w1 = torch.abs(self.hyper_w1(states)).view(-1, self.agents, self.d)
        hidden = F.elu(
            torch.bmm(chosen.view(-1, 1, self.agents), w1) + self.hyper_b1(states).view(-1, 1, self.d)
        )
        y = torch.bmm(hidden, torch.abs(self.hyper_w2(states)).view(-1, self.d, 1)) + self.v(states).view(
            -1, 1, 1
        )
        return y.view(bs, T, 1)


def q_mix():
    avail = torch.ones(2, 2, 3, 4)
    avail[0, 1, 2, 3] = avail[1, 0, 0, 1] = 0
    return _QMix().eval(), (torch.randn(2, 2, 3, 4), avail, torch.randn(2, 2, 4))


class _ObsNormaliser(nn.Module):
    """Running moments of Chan et al., updated by each batch."""

    def __init__(self, d=3):
        super().__init__()
        self.register_buffer("mean", torch.zeros(d))
        self.register_buffer("var", torch.ones(d))
        self.register_buffer("count", torch.tensor(1e-4))
        self.policy = nn.Linear(d, 2)

    def forward(self, obs):
        batch_mean, batch_var, n = obs.mean(0), obs.var(0, unbiased=False), obs.shape[0]
        delta, total = batch_mean - self.mean, self.count + n
        m2 = self.var * self.count + batch_var * n + delta.square() * self.count * n / total
        self.mean = self.mean + delta * n / total
        self.var = m2 / total
        self.count = total
        return self.policy(((obs - self.mean) / torch.sqrt(self.var + 1e-8)).clamp(-10, 10))


def obs_normaliser():
    return _ObsNormaliser().eval(), (torch.randn(5, 3),)


class _VTrace(nn.Module):
    """IMPALA's corrections, with entropies and a masked action space."""

    def __init__(self):
        super().__init__()
        self.pi, self.v = nn.Linear(4, 3), nn.Linear(4, 1)

    def forward(self, obs, actions, behaviour, rewards, discounts, legal):
        logits = self.pi(obs).masked_fill(~legal, -1e9)
        values = self.v(obs).squeeze(-1)
        logp = logits.log_softmax(-1).gather(-1, actions[..., None]).squeeze(-1)
        rho = torch.exp(logp - behaviour).clamp(max=1.0)
        next_values = torch.cat([values[1:], torch.zeros_like(values[:1])])
        deltas = rho * (rewards + discounts * next_values - values)
        acc = torch.zeros_like(values[0])
        out = []
        for t in range(values.size(0) - 1, -1, -1):
            acc = deltas[t] + discounts[t] * rho[t] * acc
            out.append(acc)
        vs = torch.stack(out[::-1]) + values
        p = logits.softmax(-1)
        entropy = -(p * logits.log_softmax(-1).clamp(min=-1e3)).sum(-1)
        pg = -(rho * logp * (rewards + discounts * torch.cat([vs[1:], vs.new_zeros(1, vs.size(1))]) - values))
        return (pg - 0.01 * entropy).mean() + 0.5 * F.mse_loss(values, vs.detach()), math.sqrt(2) * vs


def v_trace():
    legal = torch.ones(4, 2, 3, dtype=torch.bool)
    legal[1, 0, 2] = legal[3, 1, 0] = False
    actions = torch.ones(4, 2, dtype=torch.long)
    discounts = 0.9 * (torch.rand(4, 2) < 0.8).float()
    return _VTrace().eval(), (
        torch.randn(4, 2, 4),
        actions,
        -torch.rand(4, 2),
        torch.randn(4, 2),
        discounts,
        legal,
    )


EXAMPLES = [sac_actor, gae, double_duelling, categorical_51, q_mix, obs_normaliser, v_trace]
