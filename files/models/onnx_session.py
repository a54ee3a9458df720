"""Process that runs an ONNX model on texts, with bounds on its memory and time.

Standard input: the texts of each batch. Standard output: the values of each batch. Both are JSON.
"""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

MAX_BYTES = 16 << 30  # of addresses; a model may take four times its file besides
LOCALE = "C"  # lower-cases ASCII, and exists on every machine


def main(path: str, seconds: int) -> None:
    """Print what the model gives for the batches of texts; each has ``seconds``, then it ends."""
    content = Path(path).read_bytes()
    with suppress(ImportError):  # Windows has neither bound
        import resource

        bound = MAX_BYTES + 4 * len(content)
        resource.setrlimit(resource.RLIMIT_AS, (bound, resource.getrlimit(resource.RLIMIT_AS)[1]))
    set_alarm = getattr(signal, "alarm", abs)
    set_alarm(seconds)
    import numpy as np

    batches = json.load(sys.stdin)
    session = _open_session(content)
    [entry] = session.get_inputs()
    shape = (-1, 1) if len(entry.shape) == 2 else (-1,)
    outputs = []
    for texts in batches:
        set_alarm(seconds)
        values = session.run(None, {entry.name: np.array(texts, dtype=object).reshape(shape)})[-1]
        outputs.append(values if isinstance(values, list) else np.asarray(values).tolist())
    json.dump(outputs, sys.stdout, default=float)


def _open_session(content: bytes) -> Any:
    """Open a session from memory; with the locale C where a machine lacks the default one."""
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    providers = ["CPUExecutionProvider"]
    try:
        return onnxruntime.InferenceSession(content, options, providers=providers)
    except Exception as error:
        if "locale" not in str(error):
            raise
    import onnx

    model = onnx.load_from_string(content)
    for node in model.graph.node:
        if node.op_type == "StringNormalizer" and all(a.name != "locale" for a in node.attribute):
            node.attribute.append(onnx.helper.make_attribute("locale", LOCALE))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
