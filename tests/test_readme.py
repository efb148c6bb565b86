"""What the README shows is what happens, and then what docs/explain.md shows."""

import json
import re
import subprocess
from pathlib import Path

from tests.app.serving import serving

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXPLAIN = (ROOT / "docs/explain.md").read_text()
STEP = re.compile(r"```sh\n(curl .*?)```\n\n```json\n(.*?)\n```", re.DOTALL)
CHANGING = re.compile(r'\d{4}-\d\d-\d\dT[\d:.]+Z|"epoch":"\w+"')


def test_each_command_of_the_quick_start_gives_the_answer_below_it(tmp_path: Path) -> None:
    steps = STEP.findall(README) + STEP.findall(EXPLAIN)
    assert len(steps) == 5
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    with serving("--development", COPSE_DATABASE_URL=url) as served:
        for command, answer in steps:
            here = command.replace("127.0.0.1:8080", f"127.0.0.1:{served.port}")
            done = subprocess.run(
                ["bash", "-c", here], capture_output=True, text=True, cwd=tmp_path, check=True
            )
            assert CHANGING.sub("", done.stdout) == CHANGING.sub("", answer)
            assert json.loads(done.stdout)
