import pytest

from tradecounter.edge.named_arguments import taking_by_name


def test_a_function_gets_only_the_arguments_that_it_names() -> None:
    def method(group: str, *, now: int) -> tuple[str, int]:
        return group, now

    assert taking_by_name(method)("orders", tx="unused", now=3) == ("orders", 3)


def test_an_argument_that_nobody_offers_is_an_error() -> None:
    def method(body: str) -> str:
        return body

    with pytest.raises(TypeError, match="body"):
        taking_by_name(method)(now=3)
