import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytensor
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_logistic_regression_finds_scikit_learns_coefficients(run):
    learned = run("logistic_regression")
    for fit in learned["fits"].values():
        assert fit.success
        assert np.allclose(fit.x, learned["expected"], atol=1e-5)
    assert learned["accuracy"] > 0.98


def test_fits_beside_each_other_find_scikit_learns_coefficients(run):
    learned = run("regularisation_path")
    assert learned["error"] < 1e-10
    assert learned["sent"] / len(learned["fits"]) < learned["x"].nbytes / 20


def test_the_network_reads_digits_however_its_loop_is_run(run):
    learned = run("digits", EPOCHS=4)
    accuracy = learned["accuracy"]
    assert accuracy(learned["state"]["params"]) >= 0.96
    assert accuracy(learned["state_at_once"]["params"]) >= 0.96
    assert np.allclose(learned["losses"], learned["losses_at_once"], rtol=1e-6)
    assert learned["ink"].shape == (len(learned["wrong"]), 64)


def test_each_greek_has_its_closed_form(run):
    learned = run("black_scholes")
    assert learned["found"].keys() == learned["closed"].keys()
    assert max(learned["errors"].values()) < 1e-10
    assert all(values.shape == (100_000,) for values in learned["found"].values())


def test_hares_and_lynxes_have_the_published_rates(run):
    learned = run("hare_and_lynx")
    off = np.abs(learned["values"] - learned["published"]) / learned["deviations"]
    assert off.max() < 0.5
    assert learned["curves"].shape == (200, 301, 2)


def test_the_process_learns_the_period_and_the_noise_that_were_put_in(run):
    learned = run("gaussian_process")
    assert max(learned["errors"]) < 1e-10
    hyperparameters = np.exp(learned["fit"].x)
    assert hyperparameters[4] == pytest.approx(1.0, abs=0.01)
    assert np.sqrt(hyperparameters[6]) == pytest.approx(0.25, abs=0.03)
    assert learned["periods"][np.argmax(learned["profile"])] == pytest.approx(1.0, abs=0.02)


def test_the_network_that_is_taught_physics_is_near_the_exact_solution(run):
    learned = run("burgers", STEPS=150)
    assert learned["error"] < 0.01


def test_tensorflows_code_tells_the_spirals_apart(run):
    learned = run("spirals", STEPS=180)
    assert learned["accuracy"] > 0.98
    assert learned["slope"].shape == (120 * 120,)


@pytest.mark.filterwarnings("ignore")  # PyMC's, of a BLAS that PyTensor misses and of ArviZ
def test_pymc_samples_the_published_rates(run):
    with pytensor.config.change_flags(linker="py", cxx=""):  # compiling takes seconds
        learned = run("influenza")
    found = [values.mean() for values in learned["summary"].values()]
    assert found == pytest.approx(learned["published"], rel=0.05)
    assert learned["curves"].shape == (300, 112)


def test_without_an_address_an_example_runs_a_service_of_its_own(tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, EXAMPLES / "black_scholes.py", picture]
    environment = {name: value for name, value in os.environ.items() if name != "GRADWIRE_URL"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"picture: {picture}" in done.stdout
    assert picture.exists()


def test_all_examples_are_shown_with_their_pictures():
    page = (EXAMPLES / "README.md").read_text()
    shown = set(re.findall(r"\]\((\w+)\.py\)", page))
    assert shown == {path.stem for path in EXAMPLES.glob("*.py")}
    pictures = {EXAMPLES / path for path in re.findall(r"\((pictures/\w+\.png)\)", page)}
    assert pictures == set((EXAMPLES / "pictures").iterdir())
    assert {path.stem for path in pictures} == shown
    assert all(path.stat().st_size < 100_000 for path in pictures)
