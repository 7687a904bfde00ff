"""CITATION.cff is valid, and has the version and the date of the last release."""

import re
import tomllib
from pathlib import Path

from cffconvert.citation import Citation

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_is_valid_and_has_the_version_and_date_of_the_release():
    citation = Citation((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    citation.validate()
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    released = re.search(r"^## ([0-9.]+) - ([0-9-]+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert released and citation.cffobj["version"] == workspace["package"]["version"] == released[1]
    assert str(citation.cffobj["date-released"]) == released[2]
