from functools import partial

import pytest

from tradecounter.edge.named_arguments import taking_by_name


def test_a_function_gets_only_the_arguments_that_it_names() -> None:
    def method(group: str, *, now: int) -> tuple[str, int]:
        return group, now

    assert taking_by_name(method, ["tx", "now"])("orders", tx="unused", now=3) == ("orders", 3)


def test_a_parameter_that_nobody_offers_is_an_error_of_the_declaration() -> None:
    def method(group: str, moment: int) -> tuple[str, int]:
        return group, moment

    with pytest.raises(TypeError, match=r"method\(\) takes 'moment', but gets only now, tx"):
        taking_by_name(method, ["tx", "now"])


def test_a_parameter_that_has_a_value_already_need_not_be_offered() -> None:
    def check(*, tx: str, new: bool) -> tuple[str, bool]:
        return tx, new

    assert taking_by_name(partial(check, new=True), ["tx", "now"], positional=0)(tx="tx", now=3) == ("tx", True)
