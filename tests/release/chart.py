"""The chart of deploy/helm, by Helm itself, and what it renders, by the schemas of Kubernetes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import helm_python as helm
import kubernetes_validate
import pytest
import yaml

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "tradecounter"
KUBERNETES = ("1.29", "1.32", "1.35")
_SITE = {"enabled": True, "className": "nginx", "tlsSecret": "certificate"}
INGRESS = {"ingress": _SITE, "backoffice": {"ingress": _SITE}}


def rendered(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects that an installation with these values makes."""
    with helm.Chart.load(str(CHART)) as chart:
        texts = chart.render(dict(values), name="shop", namespace="sales")
    return [each for name, text in texts.items() if name.endswith(".yaml") for each in yaml.safe_load_all(text) if each]


def pods(values: Mapping[str, Any] = {}) -> dict[str, dict[str, Any]]:
    """The pods of an installation, by the component that they run."""
    found = [each["spec"]["template"] for each in rendered(values) if "template" in each["spec"]]
    return {pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod["spec"] for pod in found}


def test_helm_finds_nothing_wrong() -> None:
    found = helm.lint(str(CHART))
    assert found["errors"] == []
    assert [message["error"] for message in found["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_accepts_every_object(version: str) -> None:
    objects = rendered(INGRESS)
    for each in objects:
        kubernetes_validate.validate(each, version, strict=True)
    kinds = sorted(each["kind"] for each in objects)
    assert kinds == sorted([*["Deployment"] * 3, *["Service"] * 2, "Job", "PodDisruptionBudget", "Ingress", "Ingress"])


def test_each_site_has_an_ingress_of_its_own_with_a_certificate() -> None:
    found = [each["spec"] for each in rendered(INGRESS) if each["kind"] == "Ingress"]
    assert [each["tls"][0]["hosts"] for each in found] == [["backoffice.example"], ["api.example"]]
    services = [each["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] for each in found]
    assert services == ["shop-backoffice", "shop-public"]


@pytest.mark.parametrize("values", [{"ingress": {"enabled": True}}, {"backoffice": {"ingress": {"enabled": True}}}])
def test_an_ingress_without_a_certificate_is_rejected(values: dict[str, Any]) -> None:
    with helm.Chart.load(str(CHART)) as chart, pytest.raises(helm.HelmError, match="tlsSecret"):
        chart.render(values, name="shop", namespace="sales")


def test_every_process_runs_without_privileges_on_a_file_system_that_it_cannot_write() -> None:
    assert set(pods()) == {"public", "backoffice", "worker", "migration"}
    for pod in pods().values():
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]


@pytest.mark.parametrize("component", ["public", "backoffice"])
def test_readiness_is_apart_from_liveness_and_a_pod_has_time_to_stop(component: str) -> None:
    pod = pods()[component]
    [container] = pod["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"
    assert container["livenessProbe"]["httpGet"]["path"] == "/check-health"
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= pause + 20


def test_an_unknown_value_is_rejected() -> None:
    with helm.Chart.load(str(CHART)) as chart, pytest.raises(helm.HelmError, match="replica"):
        chart.render({"public": {"replica": 3}}, name="shop", namespace="sales")
