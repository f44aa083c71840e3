"""The door of `learn`: the names that it shows, and an example for each that runs."""

import doctest
import subprocess
import sys

import pytest

from sottovoce import learn

MOST = 16


def test_what_is_shown_is_what_is_public() -> None:
    assert "train" in dir(learn)
    assert len(dir(learn)) <= MOST, "public names are few; for one more that users need, raise MOST"
    assert all(getattr(learn, name).__name__ == name for name in dir(learn))


def test_the_door_loads_nothing_before_it_is_asked() -> None:
    code = "import sys, sottovoce.learn as learn; dir(learn); print('numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_a_missing_package_names_the_extra_to_install() -> None:
    code = """
import sys
sys.modules["scipy"] = None
from sottovoce.errors import MissingExtraError
try:
    from sottovoce.learn import train
except MissingExtraError as error:
    print(error)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'sottovoce[learn]'" in shown.stdout


def test_training_under_masks_needs_no_extra_of_numbers() -> None:
    code = """
import sys
sys.modules["gmpy2"] = sys.modules["sklearn"] = None
from sottovoce.learn import train
holder = ([[0.0, 1.0], [1.0, 0.0]] * 12, [0, 1] * 12)
print(train([holder] * 3, penalty=0.1).predict([[1.0, 0.0]]))
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[1]"


@pytest.mark.opened_share
@pytest.mark.parametrize("name", dir(learn))
def test_every_public_name_has_an_example_that_runs(name: str) -> None:
    (whole, *_) = doctest.DocTestFinder(recurse=False).find(getattr(learn, name), name)
    assert whole.examples
    ran = doctest.DocTestRunner(verbose=False).run(whole)
    assert ran.failed == 0
