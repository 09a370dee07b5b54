"""Cached responses: within their bound, the most recently used."""

from tradecounter.sites.http.fast_path.response_cache import CachedResponse, CacheKey, ResponseCache


def response(key: CacheKey, size: int) -> CachedResponse:
    return CachedResponse(key, 200, b"tag", ((b"a", b"1"), (b"b", b"2")), (b"x" * size,))


def test_an_added_response_is_found_by_its_key_only() -> None:
    cache, kept = ResponseCache(100_000), response(("a",), 10)
    cache.add(kept)
    assert cache.get(("a",)) is kept
    assert cache.get(("b",)) is None


def test_the_least_recently_used_are_evicted() -> None:
    cache = ResponseCache(50_000)
    for name in "abcd":
        cache.add(response((name,), 11_000))
    cache.get(("a",))
    cache.add(response(("e",), 11_000))
    assert [name for name in "abcde" if cache.get((name,))] == ["a", "c", "d", "e"]


def test_a_response_added_again_counts_once() -> None:
    cache = ResponseCache(50_000)
    for _ in range(20):
        cache.add(response(("a",), 11_000))
    cache.add(response(("b",), 11_000))
    assert cache.get(("a",))
    assert cache.get(("b",))


def test_a_response_that_would_take_more_than_its_share_is_not_cached() -> None:
    cache = ResponseCache(50_000)
    cache.add(response(("small",), 1))
    cache.add(response(("large",), 12_000))
    assert cache.get(("large",)) is None
    assert cache.get(("small",))


def test_long_keys_and_headers_count() -> None:
    cache = ResponseCache(50_000)
    for number in range(10):
        cache.add(response(("path", b"%d" % number, None, b"x" * 9_000), 1))
    assert sum(cache.get(("path", b"%d" % number, None, b"x" * 9_000)) is not None for number in range(10)) == 4
    for number in range(10):
        cache.add(CachedResponse((b"%d" % number,), 200, b"tag", ((b"link", b"x" * 4_000),), (b"",)))
    assert sum(cache.get((b"%d" % number,)) is not None for number in range(10)) == 5


def test_responses_that_are_recorded_share_the_room_of_one() -> None:
    cache, one, other = ResponseCache(40_000), ("one",), ("other",)
    assert cache.begin_recording(one)
    assert not cache.begin_recording(one), "one for each key"
    assert cache.begin_recording(other)
    assert cache.reserve(one, 6_000)
    assert cache.reserve(other, 4_000)
    assert not cache.reserve(one, 1)
    cache.end_recording(other)
    assert cache.reserve(one, 4_000)
    cache.end_recording(one)
    assert cache.begin_recording(one)
    assert cache.reserve(one, 10_000)


def test_a_cache_of_no_bytes_caches_nothing() -> None:
    cache = ResponseCache(0)
    cache.add(response(("a",), 0))
    assert cache.get(("a",)) is None


def test_the_head_is_the_headers_line_by_line() -> None:
    assert response((), 1).head == b"a: 1\r\nb: 2\r\n"
