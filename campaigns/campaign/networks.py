"""Networks that are narrower than what requests keep of an address.

For privacy, an attribute can have the first bits of an address alone: `device.ip` of bid requests
has 24 of IPv4. Then no request shows whether it is 203.0.113.7, and a targeting that asks for that
would match either nobody or, negated, everybody. So it is refused, with the network to write.
"""

from collections.abc import Sequence

from campaigns.catalogue.knowledge import Knowledge
from index.language import ExpressionError, Op, Type, WrittenPredicate
from index.language.address import network_of
from index.language.predicate import print_value

_RANGES = frozenset({Op.BETWEEN, Op.NOT_BETWEEN})
_NETWORKS = {Op.EQ: Op.IN_NETWORK, Op.IN: Op.IN_NETWORK}
_NETWORKS |= {Op.NE: Op.NOT_IN_NETWORK, Op.NOT_IN: Op.NOT_IN_NETWORK}


def check_networks(text: str, written: Sequence[WrittenPredicate], knowledge: Knowledge) -> None:
    """Raise `ExpressionError` for the first network, address or bound that requests cannot show."""
    for each in written:
        kept = knowledge.kept_bits(each.predicate.attribute)
        if kept is not None and each.predicate.type is Type.IP:
            _check(text, each, kept)


def _check(text: str, written: WrittenPredicate, kept: tuple[int, int]) -> None:
    predicate = written.predicate
    for place, (value, (start, end)) in enumerate(written.values()):
        network = network_of(str(value))
        assert network is not None, "the parser has checked it"
        kind, bits = ("IPv4", kept[0]) if network.bits == 32 else ("IPv6", kept[1])
        around = network.cut(bits)
        if predicate.op in _RANGES:
            meant = around.high if place else around.low
            if network == meant:
                continue
        elif network.prefix <= bits:
            continue
        else:
            meant = around
        hint = print_value(meant)
        if predicate.op in _NETWORKS:
            hint = f"{predicate.subject} {_NETWORKS[predicate.op]} ({hint})"
        raise ExpressionError(
            "value.narrow",
            f"for privacy, requests have only the first {bits} bits of an {kind} address in "
            f"{predicate.attribute}, and {text[start:end]} needs more",
            text,
            start,
            end,
            f"write {hint}",
        )
