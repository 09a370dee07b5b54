"""Remembered answers: within their bound, the ones asked for last."""

from tradecounter.rest.answer_memory import AnswerMemory, GivenAnswer


def answer(size: int) -> GivenAnswer:
    return GivenAnswer(200, b"tag", ((b"a", b"1"), (b"b", b"2")), (b"x" * size,))


def test_what_was_kept_is_there_and_nothing_else() -> None:
    memory, kept = AnswerMemory(100_000), answer(10)
    memory.keep(("a",), kept)
    assert memory.get(("a",)) is kept
    assert memory.get(("b",)) is None


def test_those_asked_for_longest_ago_make_room() -> None:
    memory = AnswerMemory(50_000)
    for name in "abcd":
        memory.keep((name,), answer(11_000))
    memory.get(("a",))
    memory.keep(("e",), answer(11_000))
    assert [name for name in "abcde" if memory.get((name,))] == ["a", "c", "d", "e"]


def test_an_answer_kept_again_counts_once() -> None:
    memory = AnswerMemory(50_000)
    for _ in range(20):
        memory.keep(("a",), answer(11_000))
    memory.keep(("b",), answer(11_000))
    assert memory.get(("a",))
    assert memory.get(("b",))


def test_an_answer_that_would_take_more_than_its_share_is_not_kept() -> None:
    memory = AnswerMemory(50_000)
    memory.keep(("small",), answer(1))
    memory.keep(("large",), answer(12_000))
    assert memory.get(("large",)) is None
    assert memory.get(("small",))


def test_long_questions_and_headers_count() -> None:
    memory, links = AnswerMemory(50_000), GivenAnswer(200, b"tag", ((b"link", b"x" * 4_000),), (b"",))
    for number in range(10):
        memory.keep(("path", b"%d" % number, None, b"x" * 9_000), answer(1))
    assert sum(memory.get(("path", b"%d" % number, None, b"x" * 9_000)) is not None for number in range(10)) == 4
    for number in range(10):
        memory.keep((b"%d" % number,), links)
    assert sum(memory.get((b"%d" % number,)) is not None for number in range(10)) == 5


def test_answers_under_way_have_little_room_between_them() -> None:
    memory, one, other = AnswerMemory(40_000), ("one",), ("other",)
    assert memory.begin(one)
    assert not memory.begin(one), "one for each question"
    assert memory.begin(other)
    assert memory.has_room(one, 6_000)
    assert memory.has_room(other, 4_000)
    assert not memory.has_room(one, 1)
    memory.end(other)
    assert memory.has_room(one, 4_000)
    memory.end(one)
    assert memory.begin(one)
    assert memory.has_room(one, 10_000)


def test_a_memory_of_nothing_keeps_nothing() -> None:
    memory = AnswerMemory(0)
    memory.keep(("a",), answer(0))
    assert memory.get(("a",)) is None


def test_the_head_is_the_headers_line_by_line() -> None:
    assert answer(1).head == b"a: 1\r\nb: 2\r\n"
