"""promtool accepts the files for Prometheus, and every alert fires when it must."""

from pathlib import Path

import pytest
import yaml

from support.observability import ALERTS, CONFIGURATIONS, FOLDER, alerts, expressions, run_promtool


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_prometheus_accepts_the_configuration_with_its_alerts(name: str) -> None:
    assert "is valid prometheus config file" in run_promtool("check", "config", FOLDER / name)


@pytest.mark.sweep
def test_every_alert_fires_when_it_must_and_only_then() -> None:
    files = [FOLDER / f"{Path(name).stem}-test.yaml" for name in ALERTS]
    for file in files:
        assert "SUCCESS" in run_promtool("test", "rules", file)
    tests = [test for file in files for test in yaml.safe_load(file.read_text())["tests"]]
    expected = [(case["alertname"], bool(case["exp_alerts"])) for test in tests for case in test["alert_rule_test"]]
    assert set(expected) == {(name, fires) for name in alerts() for fires in (True, False)}


def test_prometheus_accepts_every_expression_of_the_dashboard_and_the_alerts(tmp_path: Path) -> None:
    rules = [{"record": f"expression_{n}", "expr": text} for n, text in enumerate(expressions().values())]
    assert len(rules) > 40
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))
    assert f"{len(rules)} rules found" in run_promtool("check", "rules", file)


def test_a_wrong_expression_would_be_found(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        yaml.safe_dump({"groups": [{"name": "all", "rules": [{"record": "x", "expr": "sum(rate(a[5m])"}]}]})
    )
    with pytest.raises(AssertionError, match="unclosed left parenthesis"):
        run_promtool("check", "rules", file)
