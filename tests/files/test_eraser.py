"""The file of an eraser, its dose, and the models whose states pass through it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from biasbridge.files import InputError
from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import open_model, write_erased
from tests.tiny_models import ARCHITECTURES, LINES, save_model

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((50, 6))
UNIT = np.eye(6)[:2]


def oblique(dim: int, **more: Any) -> Eraser:
    """A map that is neither linear nor symmetric."""
    read, written, mean, shift = np.random.default_rng(1).standard_normal((4, dim)) / dim**0.5
    return Eraser(read[:, None], written[None], mean, shift, **more)


@pytest.mark.parametrize("dose", [-1, -0.3, 0.5, 1])
def test_a_dose_goes_a_share_of_the_way(dose: float) -> None:
    eraser = oblique(6, dose=dose)
    full = np.array(
        [x - ((x - eraser.mean) @ eraser.left) @ eraser.right - eraser.shift for x in ROWS]
    )
    np.testing.assert_allclose(eraser.apply(ROWS), ROWS - dose * (ROWS - full), atol=1e-14)


def test_dose_0_changes_no_bit() -> None:
    untouched, single = oblique(6, dose=0), ROWS.astype(np.float32)
    assert untouched.apply(ROWS).tobytes() == ROWS.tobytes()
    assert untouched.apply(single).tobytes() == single.tobytes()


def test_a_projection_has_norm_1_and_the_rank_it_takes() -> None:
    eraser = Eraser.removing(UNIT)
    assert eraser.norm == pytest.approx(1)
    assert eraser.rank == 2
    assert eraser.apply(ROWS)[:, :2] == pytest.approx(0)
    assert eraser.at(-1).apply(ROWS)[:, :2] == pytest.approx(2 * ROWS[:, :2])


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 6])
def test_norm_and_rank_are_those_of_the_whole_matrix(k: int) -> None:
    left, right = RNG.standard_normal((6, k)), RNG.standard_normal((k, 6))
    eraser = Eraser(left, right, np.zeros(6), np.zeros(6))
    assert eraser.norm == pytest.approx(np.linalg.norm(np.eye(6) - left @ right, 2))
    assert eraser.rank == k


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    eraser = Eraser.removing(UNIT).at(-0.25)
    eraser.save(tmp_path / ERASER)
    read = Eraser.load(tmp_path / ERASER)
    assert (read.dose, read.layer) == (-0.25, -1)
    np.testing.assert_array_equal(read.left, UNIT.T)


@pytest.mark.parametrize(
    "damage", ["no safetensors", "other tensors", "no head", "shapes", "dose", "nan"]
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / ERASER
    Eraser.removing(UNIT).save(path)
    tensors = load_file(path)
    about: dict[str, object] = {"layer": -1, "dose": 7 if damage == "dose" else 1, "fitted": {}}
    if damage == "no safetensors":
        path.write_bytes(b"weights")
    else:
        if damage == "other tensors":
            del tensors["mean"]
        elif damage == "shapes":
            tensors["mean"] = np.zeros(5)
        elif damage == "nan":
            tensors["left"] = tensors["left"] * np.nan
        save_file(tensors, path, None if damage == "no head" else {"eraser": json.dumps(about)})
    with pytest.raises(InputError, match=r"not an eraser|stretches"):
        Eraser.load(path)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_states_pass_through_it_in_every_architecture(tmp_path: Path, architecture: str) -> None:
    plain = save_model(tmp_path / "plain", architecture)
    for layer in (-1, 2, 1, 0):
        eraser, out = oblique(16, layer=layer, dose=0.5), tmp_path / f"erased {layer}"
        if architecture == "albert" and layer != -1:  # its layers share their weights
            with pytest.raises(InputError, match="no list of layers"):
                write_erased(plain, out, eraser)
            continue
        write_erased(plain, out, eraser)
        before, after = (Encoder(folder).encode(LINES, layer=layer) for folder in (plain, out))
        np.testing.assert_allclose(after, eraser.apply(before), atol=1e-5)
        last, unlike = (Encoder(folder).encode(LINES) for folder in (plain, out))
        assert not np.allclose(last, unlike), "the layers after it see what it left"


def test_encodings_without_the_eraser_serve_those_with_it(tmp_path: Path) -> None:
    plain = save_model(tmp_path / "plain", "bert")
    write_erased(plain, tmp_path / "erased", oblique(16, layer=2, dose=-1))
    first, expected, recalled = (
        Encoder(tmp_path / name, layer=2) for name in ("plain", "erased", "erased")
    )
    for layer in (1, 2, 3):
        first.encode(LINES, layer=layer, pooling="cls")
    recalled.recall(first.encodings)
    assert {layer for layer, _ in recalled.encodings} == {1, 2}
    for layer in (1, 2, 3):
        found, wanted = (
            each.encode(LINES, layer=layer, pooling="cls") for each in (recalled, expected)
        )
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_an_eraser_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    plain = save_model(tmp_path / "plain", "bert")
    with pytest.raises(InputError, match="has 6 dimensions, the model 16"):
        write_erased(plain, tmp_path / "erased", Eraser.removing(UNIT))
    with pytest.raises(InputError, match="is for layer 9, and the model has 3"):
        write_erased(plain, tmp_path / "erased", oblique(16, layer=9))
    assert not (tmp_path / "erased").exists()


def test_a_model_has_one_eraser(tmp_path: Path) -> None:
    plain = save_model(tmp_path / "plain", "bert")
    write_erased(plain, tmp_path / "erased", oblique(16))
    with pytest.raises(InputError, match="has an eraser already"):
        write_erased(tmp_path / "erased", tmp_path / "twice", oblique(16))
    assert open_model(tmp_path / "erased").eraser
    assert not open_model(tmp_path / "erased", random_seed=0).eraser
    (tmp_path / "erased" / ERASER).write_bytes(b"damaged")
    with pytest.raises(InputError, match="is not an eraser"):
        open_model(tmp_path / "erased")
