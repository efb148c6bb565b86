"""From a blocked domain to advertisers."""

from hypothesis import given
from hypothesis import strategies as st

from campaigns.feed.advertiser_domains import AdvertiserDomains

domains = st.lists(st.sampled_from(["a", "b", "co", "example"]), min_size=2, max_size=4).map(
    ".".join
)


@given(st.lists(st.tuples(st.integers(1, 4), st.none() | domains)), st.lists(domains))
def test_it_finds_those_of_the_domain_and_below(
    moves: list[tuple[int, str | None]], blocked: list[str]
) -> None:
    found = AdvertiserDomains()
    now: dict[int, str | None] = {}
    for id, domain in moves:
        found.move(id, now.get(id), domain)
        now[id] = domain
    expected = {
        id
        for id, domain in now.items()
        for each in blocked
        if domain is not None and (domain == each or domain.endswith(f".{each}"))
    }
    assert set(found.blocked_by(blocked)) == expected
    for id, domain in now.items():
        found.move(id, domain, None)
    assert len(found) == 0
