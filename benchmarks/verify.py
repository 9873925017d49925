"""How long a verdict over 64 ranks takes. Usage: python benchmarks/verify.py [ranks]"""

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

from mindspeed_mm_train_profiler.profile_data import Expectation, verify


def main() -> None:
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    writer = Path(__file__).parent.parent / "tests" / "profile_data" / "sessions.py"
    spec = importlib.util.spec_from_file_location("profile_sessions", writer)
    assert spec and spec.loader
    sessions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sessions)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for rank in range(ranks):
            out = sessions.write_session(root, rank) / "ASCEND_PROFILER_OUTPUT"
            for name in ("communication.json", "communication_matrix.json"):
                sessions.put(out / name, '{"step4": {"p2p": {}}}')
        start = time.perf_counter()
        verdict = verify(root, Expectation(ranks=list(range(ranks)), steps=[4, 5]))
        print(f"{ranks} ranks: {verdict.word}, {time.perf_counter() - start:.3f} s (synthetic sessions)")


if __name__ == "__main__":
    main()
