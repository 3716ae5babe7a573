"""Each formula of the core restated the slow way: loops, explicit inverses, exact fractions."""

from fractions import Fraction

import numpy as np


def kernel(name, x, z, w, sigma, degree=3, coef0=1.0, alpha=0.5):
    """One entry of the kernel of the scaled samples ``w ⊙ x``."""
    if name == "gaussian":
        return np.exp(-sum((w * (x - z)) ** 2) / (2 * sigma**2))
    if name == "rational-quadratic":
        return (1 + sum((w * (x - z)) ** 2) / (2 * alpha * sigma**2)) ** -alpha
    if name == "laplacian":
        return np.exp(-sum(w * abs(x - z)) / sigma)
    if name == "linear":
        return sum((w * x) * (w * z))
    if name == "polynomial":
        return (coef0 + sum((w * x) * (w * z)) / sigma**2) ** degree
    raise NotImplementedError(f"a kernel {name!r} is to be restated here")


def kernel_matrix(name, A, B, w, sigma, **params):
    return np.array([[kernel(name, a, b, w, sigma, **params) for b in B] for a in A])


def fourier_components(X, w, frequencies, sigma):
    """All ``√(1/F) cos(θᵢ꜀)``, then all ``√(1/F) sin(θᵢ꜀)``, ``θᵢ꜀ = Σⱼ wⱼ xᵢⱼ Ωⱼ꜀/σ``, c ≤ F."""
    n, F = X.shape[0], frequencies.shape[1]
    U = np.empty((n, 2 * F))
    for i in range(n):
        for c in range(F):
            angle = sum(w * X[i] * frequencies[:, c]) / sigma
            U[i, c], U[i, F + c] = np.cos(angle) / np.sqrt(F), np.sin(angle) / np.sqrt(F)
    return U


# Frequencies of the waves of one feature, with their weights, by the number of cosines and sines.
WAVES = {
    8: {0.5: 0.75, 1.5: 0.15, 2.8: 0.06, 4.5: 0.04},
    4: {0.7: 0.9, 3.0: 0.1},
    2: {1.0: 1.0},
}


def waves(X, scale, n_waves):
    """For each feature in turn cosines, then sines, at the frequencies of the rule."""
    columns = []
    for j in range(X.shape[1]):
        columns += [np.cos(omega / scale * X[:, j]) for omega in WAVES[n_waves]]
        columns += [np.sin(omega / scale * X[:, j]) for omega in WAVES[n_waves]]
    return np.stack(columns, axis=1)


def additive_by_waves(A, B, w, scale, budget, n_waves):
    """``(1/m) Σⱼ wⱼ Σ_q a_q cos(ω_q (xⱼ − x̃ⱼ)/s)``."""
    K = np.zeros((len(A), len(B)))
    for j, weight in enumerate(w):
        for omega, a in WAVES[n_waves].items():
            K += weight * a * np.cos(omega * (A[:, [j]] - B[:, j]) / scale)
    return K / budget


def centred(K, p):
    """``H K Hᵀ`` with ``H = I − 1pᵀ``."""
    n = p.size
    H = np.eye(n) - np.outer(np.ones(n), p)
    return H @ K @ H.T


def criterion(K, Y, epsilon):
    """``tr(Yᵀ (HKH + nεI)⁻¹ Y)``."""
    n = K.shape[0]
    H = np.eye(n) - np.ones((n, n)) / n
    return np.trace(Y.T @ np.linalg.inv(H @ K @ H + n * epsilon * np.eye(n)) @ Y)


def inverse_free_minimum(K, Y, epsilon, lambda2):
    """``min_α tr(αᵀY) + λ₂‖Mα − Y‖² = Σ yᵀM⁻¹y − ‖M⁻¹y‖²/(4λ₂)``, with M = HKH + nεI."""
    n = K.shape[0]
    H = np.eye(n) - np.ones((n, n)) / n
    A = np.linalg.inv(H @ K @ H + n * epsilon * np.eye(n)) @ Y
    return np.sum(Y * A) - np.sum(A**2) / (4 * lambda2)


def ridge_fit(K, Y, p, epsilon):
    """(α, b) that minimise ``Σᵢ pᵢ‖yᵢ − (Kα)ᵢ − b‖² + ε tr(αᵀKα)``.

    The stationary point of the dual has ``(K + ε/p) α + 1b = Y`` and ``1ᵀα = 0``.
    """
    n = p.size
    bordered = np.zeros((n + 1, n + 1))
    bordered[:n, :n] = K + np.diag(epsilon / p)
    bordered[:n, n] = bordered[n, :n] = 1.0
    solution = np.linalg.inv(bordered) @ np.vstack([Y, np.zeros((1, Y.shape[1]))])
    return solution[:n], solution[n]


def ridge_predict(K, K_new, Y, p, epsilon):
    alpha, b = ridge_fit(K, Y, p, epsilon)
    return K_new @ alpha + b


def leave_one_out(K, Y, p, epsilon):
    """``Σᵢ pᵢ‖yᵢ − f₋ᵢ(xᵢ)‖²``, each f₋ᵢ fitted without sample i."""
    error = 0.0
    for i in range(p.size):
        rest = np.delete(np.arange(p.size), i)
        left_out = ridge_predict(K[np.ix_(rest, rest)], K[[i]][:, rest], Y[rest], p[rest], epsilon)
        error += p[i] * np.sum((Y[i] - left_out) ** 2)
    return error


def project(v, budget):
    """Projection on ``{0 ≤ w ≤ 1, Σw ≤ budget}`` and its θ, in exact fractions."""
    v, budget = [Fraction(float(x)) for x in v], Fraction(budget)

    def spent(theta):
        return sum(min(max(x - theta, Fraction(0)), Fraction(1)) for x in v)

    theta = Fraction(0)
    if spent(theta) > budget:
        knots = sorted({theta, *v, *(x - 1 for x in v)})
        low = max(t for t in knots if spent(t) >= budget)
        high = min(t for t in knots if spent(t) <= budget)
        theta = low
        if spent(low) > spent(high):
            theta += (high - low) * (spent(low) - budget) / (spent(low) - spent(high))
    return np.array([float(min(max(x - theta, Fraction(0)), Fraction(1))) for x in v]), theta


def differences(function, w, h=1e-5):
    """Gradient of a scalar function by central differences of fourth order."""
    gradient = np.empty(w.size)
    for j in range(w.size):
        e = np.zeros(w.size)
        e[j] = h
        near = function(w + e) - function(w - e)
        far = function(w + 2 * e) - function(w - 2 * e)
        gradient[j] = (8 * near - far) / (12 * h)
    return gradient


def martingale(event, time, weight):
    """``δ − Λ(t)``, with the hazard of one time after the other."""
    residuals = []
    for e, t in zip(event, time, strict=True):
        hazard = 0.0
        for s in sorted(set(time[time <= t])):
            hazard += (weight * event)[time == s].sum() / weight[time >= s].sum()
        residuals.append(e - hazard)
    return np.array(residuals)


def concordance(event, time, risk, weight):
    """Harrell's index, pair by pair."""
    right = total = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            sooner = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if i != j and event[i] and sooner:
                total += weight[i] * weight[j]
                right += weight[i] * weight[j] * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    return right / total if total else 0.5


def features(components, X, w):
    """``[U_w Φ]`` of a finite feature map."""
    moving = [] if components.moving is None else [components.moving.transform(X, w)]
    fixed = [] if components.fixed is None else [components.fixed.transform(X)]
    return np.hstack(moving + fixed)
