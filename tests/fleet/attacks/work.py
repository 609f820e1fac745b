"""Programs that are short to send and parse, but expensive to compute."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.fleet.attacks.attack import Attack, asked, family
from tests.fleet.attacks.texts import one_of


def _vector(choose: Random, least: int, most: int) -> list[float]:
    return [round(choose.uniform(0.1, 2), 3) for _ in range(choose.randint(least, most))]


@family()
def loops_on_values(number: int, choose: Random) -> Attack:
    """Loops that run in the replay, not while recording."""
    n = choose.randint(10**3, 10**4)
    return one_of(
        [
            "while x > 0: x = x + 1\nx",
            f"y = ones({n}) * x\nwhile sum(y) > 0: y = sin(y) ** 2 + 1\ny",
            "fori_loop(0, 10**15, lambda i, c: c * 1.0000001, x)",
            "while_loop(lambda c: c > 0, lambda c: c + 1, x)",
            f"lax.scan(lambda c, a: (c + a, c * ones(({n},))), x, ones({n * 100}))",
            f"lax.map(lambda a: sum(sin(a * arange({n}))), ones({n * 10}) * x)",
            "y = x\nwhile y > 0:\n  while y > 0: y = y + 1\ny",
            "custom_root(lambda a: a * a + 1 + x, 0.5)",
            f"lax.associative_scan(lambda a, b: a @ b, ones(({n}, 99, 99)) * x)",
        ],
        number,
    )


@family()
def equations(number: int, choose: Random) -> Attack:
    """Iterations until convergence."""
    n = choose.randint(10**3, 10**5)
    return one_of(
        [
            "odeint(lambda y, t: -1e9 * y * x, 1.0, linspace(0, 1e9, 9), rtol=1e-15)",
            f"odeint(lambda y, t: y * x, ones({n}), linspace(0, 1, {n}))",
            f"odeint(lambda y, t: y * x, ones(3), linspace(0, 1, 3), steps={10**9})",
            f"cg(lambda v: v * arange({n}) + 1e-9 * x, ones({n}), maxiter={10**12})",
            f"gmres(lambda v: roll(v, 1) * x, arange({n}) * 1.0, restart={n})",
            "jax.experimental.ode.odeint(lambda y, t: sin(1 / t) * x, 1.0, "
            "linspace(1e-300, 1, 5), rtol=1e-16, atol=1e-300)",
            f"custom_root(lambda a: a - cos(a) * x, ones({n}))",
            "torchdiffeq.odeint(lambda t, y: 1e6 * sin(1e6 * t) * x, x, "
            "linspace(0, 1e6, 4), rtol=1e-14, atol=1e-14)",
        ],
        number,
    )


@family()
def derivatives_of_derivatives(number: int, choose: Random) -> Attack:
    """Higher-order derivatives and nested tapes."""
    k, n = choose.randint(8, 40), choose.randint(200, 2000)
    return one_of(
        [
            "y = exp(sin(x) * tanh(x) / (1 + x * x))\n" + "y = grad(y, x)\n" * k + "y",
            f"v = ones({n}) * x\ny = tanh(v) @ sin(v)\nh = hessian(y, v)\njacobian(h, v)",
            f"def f(a): return sum(sin(a) ** 3)\ng = f\n{'g = grad(g)' + chr(10)}" * 3 + "g(x)",
            "y = x\n" + "y = sin(y) * y\n" * 60 + "grad(grad(grad(grad(y, x), x), x), x)",
            f"y = x\nfor i in range({n}):\n  z = sin(x * y)\n  y = grad(z, x)\ny",
            f"v = ones({n}) * x\njacobian(outer(v, v), v)",
            f"v = ones({n}) * x\njacobian(jacobian(sin(v) * sum(v), v), v)",
            "y = prod(ones(25) * x)\n" + "y = grad(sin(y), x)\n" * (k // 3) + "y",
        ],
        number,
    )


@family()
def jacobians(number: int, choose: Random) -> Attack:
    """Whole Jacobians and Hessians."""
    x = _vector(choose, 3000, 6000)
    programs = [
        "sin(x)",
        "cumsum(x)",
        "outer(x, x)",
        "sort(x)",
        "fft.fft(x)",
        "sum(x) ** 3",
        "softmax(x)",
        "sum(tanh(outer(x, x)))",
    ]
    program = programs[number % len(programs)]
    path = ("/v1/jacobian", "/v1/hessian")[number // 2 % 2]
    return asked(f"{path} {program}", path, {"program": program, "variables": {"x": x}})


@family()
def directions(number: int, choose: Random) -> Attack:
    """Jacobian and Hessian products and finite differences of many numbers."""
    x = _vector(choose, 2000, 5000)
    programs = ["sum(outer(x, x) ** 2)", "sum(sort(outer(x, x)))", "prod(x)", "sum(cumsum(x) ** 9)"]
    program, n = programs[number % 4], len(x)
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("check", {}),
        ("jvp", {"tangents": {"x": [1.0] * n}}),
        ("hvp", {"vectors": {"x": [1.0] * n}}),
        ("gradient", {"sources": ["x"] * 2000}),
    ]
    kind, more = kinds[number // 2 % 4]
    document = {"program": program, "variables": {"x": x}, **more}
    return asked(f"{kind} {program}", f"/v1/{kind}", document)


@family()
def sparse_matrices(number: int, choose: Random) -> Attack:
    """Matrices that are small only while they stay implicit."""
    n = choose.randint(10**5, 10**9)
    matrix = {"indices": [[0, 0], [n - 1, n - 1]], "values": [1.0, 2.0], "shape": [n, n]}
    programs = [
        "to_dense(a)",
        f"sum(tf.sparse.sparse_dense_matmul(a, ones(({n}, 9))))",
        "sparse.hessian(sum(v) ** 3, v)",
        "sparse.jacobian(outer(v, v), v)",
        "sparse.hessian(sum(outer(v, v)) ** 2, v)",
        f"sparse.coo_todense(v, arange({5500}), arange({5500}), ({n}, {n}))",
        f"sum(sparse.sddmm(arange({n}), arange({n}), v, v))",
        "cg(a, ones(shape(a)[0]))",
    ]
    program = programs[number % len(programs)]
    variables = {"a": matrix, "v": [0.5] * 5500}
    return asked(program, "/v1/evaluate", {"program": program, "variables": variables})


@family()
def random_numbers(number: int, choose: Random) -> Attack:
    """Random draws with extreme parameters."""
    n = choose.randint(10**6, 5 * 10**7)
    return one_of(
        [
            f"sum(random.poisson(random.key(1), 1e30, ({n},))) + x",
            f"sum(random.binomial(random.key(1), {10**18}, 0.5, ({n},))) + x",
            f"sum(random.gamma(random.key(1), 1e-300 * x, ({n},)))",
            f"sum(random.permutation(random.key(1), arange({n})) * x)",
            f"sum(random.choice(random.key(1), {n}, ({n},), replace=False)) * x",
            "sum(random.multivariate_normal(random.key(1), zeros(3000), eye(3000) * x, (3000,)))",
            f"sum(random.geometric(random.key(1), 1e-300, ({n},))) + x",
            f"sum(random.truncated_normal(random.key(1), 300.0, 301.0, ({n},))) * x",
            f"sum(random.poisson(1, 1e30, ({n},))) + x",
            f"sum(random.dirichlet(random.key(1), ones(3000) * x, ({n // 1000},)))",
            f"sum(random.categorical(random.key(1), ones({n}) * x, shape=(99,)))",
        ],
        number,
    )


@family(14)
def linear_algebra(number: int, choose: Random) -> Attack:
    """LAPACK calls, which check no deadline."""
    n = choose.randint(2000, 3500)
    matrix = f"reshape(sin(arange({n * n}.0)), ({n}, {n})) * x"
    return one_of(
        [
            f"roots(ones({n}) * x)",
            "sum(abs(eigvals(ones((300000, 3, 3)) * x)))",
            f"sum(svd({matrix}, compute_uv=False))",
            f"sum(inv({matrix}))",
            f"sum(expm({matrix}))",
            f"sum(abs(eigvals({matrix})))",
            f"m = {matrix}\nsum(eigh(m @ m.T)[1])",
            f"q, r = qr({matrix})\nsum(q)",
            f"m = {matrix}\nsum(lstsq(m, m)[0])",
            f"sum(matrix_power({matrix}, {10**15}))",
            f"sum(pinv({matrix}))",
            f"sum(sqrtm({matrix}))",
            f"sum(solve_sylvester({matrix}, {matrix}, {matrix}))",
            f"slogdet(reshape(ones({n * 900}) * x, ({n}, 30, 30)))",
        ],
        number,
    )


@family()
def transforms(number: int, choose: Random) -> Attack:
    """Transforms of awkward lengths, and direct convolutions."""
    prime = choose.choice([10000019, 7368787, 5915587, 2750159, 15485863])
    n = choose.randint(3 * 10**5, 10**6)
    side = round(prime**0.5)
    return one_of(
        [
            f"sum(abs(fft.fft(ones({prime}) * x)))",
            f"sum(abs(fft.fftn(ones(({side}, {side})) * x)))",
            f"sum(fft.dct(ones({prime}) * x))",
            f"sum(convolve(ones({n}) * x, ones({n})))",
            f"sum(fft.irfft(ones({prime}) * x, {prime}))",
            f"sum(correlate(ones({n}) * x, ones({n}), mode='full'))",
            f"sum(fftconvolve(ones({prime}) * x, ones({prime})))",
            "sum(conv(ones((8, 64, 512, 512)) * x, ones((64, 64, 31, 31))))",
            f"sum(fft.fft(ones(9) * x, n={10**12}))",
        ],
        number,
    )


@family()
def orders(number: int, choose: Random) -> Attack:
    """Sorting, ranking and searching."""
    n = choose.randint(10**7, 3 * 10**7)
    return one_of(
        [
            f"sort(x * ones((3 * {n},)))",
            f"sum(argsort(sin(arange({n}.0) * x)))",
            f"median(sin(arange({n}.0) * x))",
            f"size(unique(sin(arange({n}.0) * x)))",
            f"a = sin(arange({n}.0) * x)\nsum(searchsorted(sort(a), a))",
            f"a = sin(arange({n}.0))\nfor i in range(99): a = sort(a * x)\nsum(a)",
            f"sum(histogram(sin(arange({n}.0) * x), bins={n})[0])",
            f"sum(bincount(array([{10**11}], dtype='int64'))) * x",
            f"sum(percentile(sin(arange({n}.0) * x), arange(100)))",
            "a, b = jax.lax.top_k(sin(arange(10000000.0) * x), 9000000)\nsum(a)",
        ],
        number,
    )


@family()
def special_functions(number: int, choose: Random) -> Attack:
    """Series and recurrences far from where they converge."""
    n = choose.randint(10**6, 10**7)
    return one_of(
        [
            f"sum(hyp2f1(1e3, -2.5, 7.0, 0.999999 * ones({n}) * x))",
            f"sum(betaincinv(1e-9, 1e9, ones({n}) * 0.5 * x))",
            f"eval_legendre({10**15}, x)",
            f"sum(owens_t(arange({n}) * x, 1e-9))",
            f"sum(jv(1e9, arange({n}) * x))",
            f"polygamma({10**9}, x)",
            f"sum(elliprj(1e-300, arange({n}) * x, 1e300, 1e-300))",
            f"sum(gcd(arange({n}), {2**62})) * x",
            f"sum(zeta(1.0000001, arange({n}) * x))",
            f"factorial({10**17}) * x",
            f"multigammaln(x + {10**9}, {10**9})",
        ],
        number,
    )


@family()
def products(number: int, choose: Random) -> Attack:
    """Tensor contractions with too many elements."""
    n = choose.randint(4000, 9000)
    return one_of(
        [
            f"a = ones(({n}, {n})) * x\nsum(a @ a @ a)",
            "a = ones((3000, 3000)) * x\neinsum('ab,bc,cd,de,ef,fg->ag', a, a, a, a, a, a)",
            f"sum(tensordot(ones(({n}, 9)) * x, ones(({n}, 9)), axes=0))",
            "a = ones((9, 9, 9, 9, 9, 9)) * x\neinsum('abcdef,ghijkl->abcdefghijkl', a, a)",
            f"a = ones(({n}, {n})) * x\nfor i in range(10**6): a = a @ a / {n}\nsum(a)",
            f"sum(kron(ones(({n // 9}, 9)) * x, ones((9, {n}))))",
            "a = arange(2000) * x\neinsum('a,b,c,d,e->abcde', a, a, a, a, a)",
            f"sum(khatri_rao(ones(({n}, {n // 99})) * x, ones(({n}, {n // 99}))))",
        ],
        number,
    )


@family()
def ragged_and_state(number: int, choose: Random) -> Attack:
    """Ragged tensors, assigned variables and branches."""
    n = choose.randint(10**5, 10**6)
    rows = list(range(0, 3000, 3))
    ragged = {"values": [0.5] * rows[-1], "row_splits": rows}
    wide = {"values": [0.5] * 9000, "row_splits": [*([0] * 8990), 9000]}
    programs = [
        ("to_dense(r)", {"r": wide}),
        (f"for i in range({n}): sum(r) * i\nsum(r)", {"r": ragged}),
        (f"for i in range({n}): x.assign_add(1.0)\nx", {"x": 1.0}),
        ("while x > 0: x.assign_add(1.0)\nx", {"x": 1.0}),
        (f"for i in range({n}): v[i % 9] = v[(i + 1) % 9] * 2\nv", {"v": [1.0] * 9}),
        (f"y = v\nfor i in range({n}):\n  if sum(y) > i: y = y + 1\n  else: y = sin(y)\ny",
         {"v": [1.0] * 9}),
        ("y = [to_dense(r)] * 900\nsum(y)", {"r": wide}),
        (f"y = cond(v[0] > 0, lambda: ones({n * 900}), lambda: zeros({n * 900}))\nsum(y)",
         {"v": [1.0]}),
    ]  # fmt: skip
    program, variables = programs[number % len(programs)]
    return asked(program, "/v1/gradient", {"program": program, "variables": variables})


@family()
def batches(number: int, choose: Random) -> Attack:
    """Batches of many elements that each take their own branch."""
    x = _vector(choose, 5000, 20_000)
    programs = [
        "y = x\nwhile y < 1e6: y = y * (1 + y)\ny",
        "y = x\nfor i in range(20):\n  if floor(x * 2**i) % 2 == 0: y = sin(y)\n  else: y = cos(y)",
        "sum(ones((3000, 300)) * x)",
        "jacobian(sin(arange(300) * x), x)",
        "n = int(x * 1000)\nsum(sin(arange(300000) * x))",
        "roots(ones(90) * x)",
        "sum(sort(sin(arange(100000) * x)))",
        "odeint(lambda y, t: y * x, 1.0, linspace(0, 1, 999))",
    ]
    program = programs[number % len(programs)]
    document = {"program": program, "variables": {"x": x}, "batch": ["x"]}
    return asked(f"batch {program}", "/v1/gradient", document)
