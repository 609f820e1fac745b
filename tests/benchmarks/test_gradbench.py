"""GradBench's programs, through its protocol, agree with closed forms, SciPy and differences."""

import json

import gradwire
import numpy as np
import pytest
from gradbench.inputs import sample
from gradbench.tools.gradwire.run import NAMES, program, respond, variables
from scipy.sparse import csr_array
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation
from scipy.special import expit, logsumexp, softmax
from scipy.stats import multivariate_normal, wishart


@pytest.fixture(scope="module")
def client(service_url):
    with gradwire.Client(service_url) as client:
        yield client


@pytest.fixture
def ask(client):
    def ask(module, function, given):
        message = {"kind": "evaluate", "module": module, "function": function, "input": given}
        answer = respond(client, json.loads(json.dumps({"id": 1, **message})))
        assert answer["success"], answer
        return answer["output"]

    return ask


def differences(f, given, *names):
    """The Jacobian by central differences, with one column per number of the named members."""
    arrays = [np.asarray(given[name], float) for name in names]
    point = np.concatenate([array.ravel() for array in arrays])

    def at(flat):
        parts = np.split(flat, np.cumsum([array.size for array in arrays])[:-1])
        pairs = zip(names, parts, arrays, strict=True)
        return f({**given, **{name: part.reshape(array.shape) for name, part, array in pairs}})

    steps = 1e-5 * np.eye(point.size)
    return np.stack([(at(point + e) - at(point - e)) / 2e-5 for e in steps], axis=-1)


def test_hello(ask):
    assert ask("hello", "square", 3.0) == 9
    assert ask("hello", "double", 3.0) == 6


def mixture(given):
    """The posterior from SciPy's densities, with precisions L' L."""
    d, weights = given["d"], softmax(given["alpha"])
    scale = np.eye(d) / given["gamma"] ** 2
    density, prior = 0.0, 0.0
    rows = (given[name] for name in ("mu", "q", "l"))
    for mean, diagonal, below, weight in zip(*rows, weights, strict=True):
        lower = np.diag(np.exp(diagonal))
        lower.T[np.triu_indices(d, 1)] = below  # row by row of the transpose
        precision = lower.T @ lower
        density += weight * multivariate_normal.pdf(given["x"], mean, np.linalg.inv(precision))
        prior += wishart.logpdf(precision, d + given["m"] + 1, scale)
    return np.sum(np.log(density)) + prior


def test_gmm(ask):
    given = sample("gmm")
    assert ask("gmm", "objective", given) == pytest.approx(mixture(given), rel=1e-12)
    found = ask("gmm", "jacobian", given)
    assert found.keys() == {"mu", "q", "l", "alpha"}
    for name, slopes in found.items():
        expected = differences(mixture, given, name).reshape(np.shape(given[name]))
        assert slopes == pytest.approx(expected, rel=1e-6, abs=1e-6)


def reprojections(given):
    """All residuals: two per observation, then those of the weights."""
    p, cameras, points = given["p"], given["cameras"], given["points"]
    residuals = []
    for i, weight in enumerate(given["weights"]):
        camera, point = cameras[i % len(cameras)], points[i % len(points)]
        turned = Rotation.from_rotvec(camera[:3]).apply(point - camera[3:6])
        flat = turned[:2] / turned[2]
        radial = 1 + camera[9] * (flat @ flat) + camera[10] * (flat @ flat) ** 2
        projected = camera[6] * radial * flat + camera[7:9]
        residuals.append(weight * (projected - given["feat"]))
    assert len(residuals) == p
    return np.concatenate([*residuals, 1 - np.asarray(given["weights"]) ** 2])


@pytest.mark.parametrize("turn", [0, 1])
def test_ba(ask, turn):
    given = sample("ba")
    given["cam"][:3] = turn * np.asarray(given["cam"][:3])
    n, m, p = given["n"], given["m"], given["p"]
    apart = {"cameras": np.tile(given["cam"], (n, 1)), "points": np.tile(given["x"], (m, 1))}
    apart |= {**given, "weights": np.full(p, given["w"])}
    residuals = reprojections(apart)
    assert ask("ba", "objective", given) == {
        "reproj_error": {"elements": pytest.approx(residuals[:2]), "repeated": p},
        "w_err": {"element": pytest.approx(residuals[-1]), "repeated": p},
    }
    found = ask("ba", "jacobian", given)
    jacobian = differences(reprojections, apart, "cameras", "points", "weights")
    read = np.zeros_like(jacobian)  # where an observation's numbers are, whether zero or not
    for i in range(p):
        camera, point = 11 * (i % n) + np.arange(11), 11 * n + 3 * (i % m) + np.arange(3)
        read[2 * i : 2 * i + 2, np.concatenate([camera, point])] = 1
        read[[2 * i, 2 * i + 1, 2 * p + i], 11 * n + 3 * m + i] = 1
    pattern = csr_array(read)
    rows, columns = read.nonzero()
    cut = [*range(30), -1]
    assert found["rows"] == pytest.approx(pattern.indptr[cut])
    assert found["cols"] == pytest.approx(pattern.indices[cut])
    assert found["vals"] == pytest.approx(jacobian[rows, columns][cut], rel=1e-6, abs=1e-5)


def predictions(given):
    """The log loss, character by character; rows of the state are hidden, then cell."""
    hidden, cell = list(given["state"][0::2]), list(given["state"][1::2])
    losses = []
    for character, following in zip(given["sequence"], given["sequence"][1:], strict=False):
        x = character * given["extra_params"][0]
        for layer in range(len(cell)):
            weights, biases = given["main_params"][2 * layer : 2 * layer + 2].reshape(2, 4, -1)
            sent = np.stack([x, hidden[layer], x, hidden[layer]]) * weights + biases
            cell[layer] = cell[layer] * expit(sent[0]) + expit(sent[1]) * np.tanh(sent[3])
            x = hidden[layer] = expit(sent[2]) * np.tanh(cell[layer])
        scores = x * given["extra_params"][1] + given["extra_params"][2]
        losses.append(following * (logsumexp([*scores, np.log(2)]) - scores))
    return np.mean(losses)


def test_lstm(ask):
    given = sample("lstm")
    arrays = {name: np.asarray(value) for name, value in given.items()}
    assert ask("lstm", "objective", given) == pytest.approx(predictions(arrays))
    expected = differences(predictions, arrays, "main_params", "extra_params")
    assert ask("lstm", "jacobian", given) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def hand(given):
    """The residuals, computed separately for every bone and vertex."""
    theta, data, model = given["theta"], given["data"], given["data"]["model"]
    transforms: list[np.ndarray] = []
    for bone, parent in enumerate(model["parents"]):
        turned = np.eye(4)
        finger, joint = divmod(bone - 2, 4)
        if bone >= 2 and joint < 3:
            angles = theta[6 + 4 * finger :]
            bend, spread = (angles[0], angles[1]) if joint == 0 else (angles[joint + 1], 0.0)
            turned[:3, :3] = Rotation.from_euler("xz", [bend, spread]).as_matrix()
        relative = model["base_relatives"][bone] @ turned
        transforms.append(relative if parent == -1 else transforms[parent] @ relative)
    mirror = [-1, 1, 1] if model["is_mirrored"] else [1, 1, 1]
    skins = np.asarray(transforms) @ model["inverse_base_absolutes"]
    pairs = zip(model["weights"], model["base_positions"], strict=True)
    vertices = [np.tensordot(weights, skins @ position, 1)[:3] for weights, position in pairs]
    placed = Rotation.from_rotvec(theta[:3]).apply(vertices * np.asarray(mirror)) + theta[3:6]
    if len(given["us"]) == 0:
        return (data["points"] - placed[data["correspondences"]]).ravel()
    corners = placed[np.asarray(model["triangles"])[data["correspondences"]]]
    u, v = given["us"].reshape(-1, 2).T
    hit = np.einsum("np,npi->ni", np.stack([u, v, 1 - u - v], axis=1), corners)
    return (data["points"] - hit).ravel()


@pytest.mark.parametrize(
    ("on_triangles", "mirrored", "turn"), [(False, False, 1), (True, False, 0), (True, True, 1)]
)
def test_ht(ask, on_triangles, mirrored, turn):
    given = sample("ht", on_triangles=on_triangles)
    given["data"]["model"]["is_mirrored"] = mirrored
    given["theta"][:3] = turn * np.asarray(given["theta"][:3])
    arrays = {**given, "theta": np.asarray(given["theta"]), "us": np.asarray(given["us"])}
    assert ask("ht", "objective", given) == pytest.approx(hand(arrays))
    expected = differences(hand, arrays, "theta")
    if on_triangles:
        every = differences(hand, arrays, "us").reshape(5, 3, 5, 2)
        own = np.stack([every[point, :, point] for point in range(5)])
        expected = np.concatenate([own.reshape(15, 2), expected], axis=1)
    assert ask("ht", "jacobian", given) == pytest.approx(expected, rel=1e-6, abs=1e-7)


def clusters(given):
    """The squared distances of the nearest centroids, and the centroids' distances from means."""
    points, centroids = np.asarray(given["points"]), np.asarray(given["centroids"])
    squares = np.sum((points[:, None] - centroids) ** 2, axis=2)
    nearest = squares.argmin(axis=1)
    means = np.stack([points[nearest == j].mean(axis=0) for j in range(len(centroids))])
    return squares.min(axis=1).sum(), centroids - means


def test_kmeans(ask):
    given = sample("kmeans")
    cost, steps = clusters(given)
    assert ask("kmeans", "cost", given) == pytest.approx(cost)
    assert ask("kmeans", "dir", given) == pytest.approx(steps)


@pytest.mark.parametrize("distance", [1e-3, 1e-7, 1e-11])
def test_kmeans_of_centroids_that_are_closer_than_rounding_errors(ask, distance):
    """Each point is near two centroids; |x|^2 - 2 x . c + |c|^2 loses which of them is nearer."""
    near = sample("kmeans", points=8, clusters=4)["points"]
    pairs = np.concatenate([near, np.add(near, distance)])
    centroids = pairs + distance * np.random.default_rng(2).uniform(-0.3, 0.3, size=pairs.shape)
    given = {"points": pairs.tolist(), "centroids": centroids.tolist()}
    cost, steps = clusters(given)
    assert ask("kmeans", "cost", given) == pytest.approx(cost, rel=1e-12)
    assert ask("kmeans", "dir", given) == pytest.approx(steps, rel=1e-12)


def test_kmeans_of_many_points_makes_no_array_of_all_offsets(ask):
    """Limits of a service are a gibibyte for an array; the offsets would take 1.28 GB."""
    points = np.random.default_rng(3).uniform(size=(10_000, 16))
    given = {"points": points.tolist(), "centroids": points[-1000:].tolist()}
    tree = KDTree(given["centroids"])
    expected, nearest = tree.query(points)
    assert ask("kmeans", "cost", given) == pytest.approx(np.sum(expected**2))
    counts = np.bincount(nearest)[:, None]
    sums = np.zeros((1000, 16))
    np.add.at(sums, nearest, points)
    assert ask("kmeans", "dir", given) == pytest.approx(points[-1000:] - sums / counts)


def test_ode(ask):
    """For four equations the method is exact: y[i] = x[0] … x[i] t^(i+1) / (i+1)!."""
    given = sample("ode", n=4)
    expected = np.cumprod(given["x"]) * [2, 2, 4 / 3, 2 / 3]
    assert ask("ode", "primal", given) == pytest.approx(expected)
    assert ask("ode", "gradient", given) == pytest.approx(expected[-1] / given["x"])


def test_llsq(ask):
    given = sample("llsq")
    t = np.linspace(-1, 1, given["n"])
    powers = np.vander(t, len(given["x"]), increasing=True)
    errors = powers @ given["x"] - np.sign(t)
    assert ask("llsq", "primal", given) == pytest.approx(errors @ errors / 2)
    assert ask("llsq", "gradient", given) == pytest.approx(powers.T @ errors)


def test_lse(ask):
    given = sample("lse")
    assert ask("lse", "primal", given) == pytest.approx(logsumexp(given["x"]))
    assert ask("lse", "gradient", given) == pytest.approx(softmax(given["x"]), abs=1e-300)


@pytest.mark.parametrize("ell", [1, 2, 5])
def test_det(ask, ell):
    given = sample("det", ell=ell)
    matrix = np.reshape(given["A"], (ell, ell))
    value = np.linalg.det(matrix)
    assert ask("det", "primal", given) == pytest.approx(value)
    adjugate = value * np.linalg.inv(matrix)
    assert ask("det", "gradient", given) == pytest.approx(adjugate.T.ravel())


def descend(derive, x, rate):
    """The same descent, with value and gradient in closed form."""
    helped, (value, slope) = 0, derive(x)
    while min(1.0, rate) * np.linalg.norm(slope) > 1e-5:
        moved = x - rate * slope
        found, following = derive(moved)
        if found < value:
            x, value, slope, helped = moved, found, following, helped + 1
            rate, helped = (2 * rate, 0) if helped == 10 else (rate, helped)
        else:
            rate, helped = rate / 2, 0
    return x


def shot(height, dt):
    """The place where a charge crosses the axis; ``height`` may be complex."""
    x, velocity = np.array([0.0, 8.0]), np.array([0.75, 0.0])
    while True:
        moved = x + dt * velocity
        if moved[1].real <= 0:
            return x[0] - x[1] / velocity[1] * velocity[0]
        offsets = x - np.array([[10.0, 10.0 - height], [10.0, 0.0]])
        force = np.sum(offsets / np.sum(offsets**2, axis=1, keepdims=True) ** 1.5, axis=0)
        x, velocity = moved, velocity + dt * force


def square_of_shot(dt):
    def derive(x):
        crossed = shot(x[0] + 1e-30j, dt) ** 2
        return crossed.real, np.array([crossed.imag / 1e-30])

    return derive


MODES = ("ff", "fr", "rf", "rr")


@pytest.mark.parametrize("mode", MODES)
def test_saddle(client, mode):
    text = program("saddle", mode, "first_rate = 0.2")
    expected = descend(lambda x: (x @ x, 2 * x), np.ones(2), 0.2)
    found = client.evaluate(text, variables(sample("saddle"))).outputs
    assert found == pytest.approx([*expected, *expected], rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_particle(client, mode):
    text = program("particle", mode, "first_rate, dt = 2e-3, 2.0")
    expected = descend(square_of_shot(2.0), np.array([0.0]), 2e-3)
    found = client.evaluate(text, variables(sample("particle"))).outputs
    assert found == pytest.approx(expected[0], rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_saddle_agrees_with_the_published_answer(client, mode):
    found = client.evaluate(program("saddle", mode), variables(sample("saddle"))).outputs
    assert found == pytest.approx([8.246324826e-06] * 4, rel=1e-9)


def test_particle_agrees_with_the_published_answer(client):
    found = client.evaluate(program("particle", "rr"), variables(sample("particle"))).outputs
    assert found == pytest.approx(0.2071918746, rel=1e-9)


def test_the_reference_descents_agree_with_the_published_answers():
    saddle = descend(lambda x: (x @ x, 2 * x), np.ones(2), 1e-5)
    assert saddle == pytest.approx([8.246324826e-06] * 2, rel=1e-9)
    particle = descend(square_of_shot(0.1), np.array([0.0]), 1e-5)
    assert particle == pytest.approx([0.2071918746], rel=1e-9)


def test_every_evaluation_has_a_test():
    assert {f"test_{name}" for name in NAMES} <= globals().keys()
