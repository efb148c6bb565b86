"""The answer to a request for the best campaigns, as the bytes that go to the client.

`answer.rs` writes the same in Rust.
"""

from collections.abc import Iterable

from index.entry import BID_BITS, BID_MAX


def write_answer(best: Iterable[tuple[int, int]], total: int, tail: bytes) -> bytes:
    """The best matches, a score and an id each, and how many match in all; then the tail, with
    what else belongs into the object and its closing brace."""
    matches = ",".join(
        f'{{"campaign_id":{id},"priority":{score >> BID_BITS},"bid_micros":{score & BID_MAX}}}'
        for score, id in best
    )
    return f'{{"matches":[{matches}],"total":{total}'.encode() + tail
