from tradecounter.kit.text import counted, plural

"""Numbers for people."""


def test_a_number_that_was_counted_up_to_a_limit_says_that_there_may_be_more() -> None:
    assert [counted(number, 1000) for number in (0, 999, 1000)] == ["0", "999", "1,000+"]
    assert counted(1000) == "1,000"
    assert [plural(number, "order", most=1000) for number in (1, 2, 1000)] == ["1 order", "2 orders", "1,000+ orders"]
