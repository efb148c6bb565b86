"""Readers of fields that become lists. Each wrong element is ignored and counted."""

from collections.abc import Iterable
from typing import Any

from app.openrtb.codes import MEDIA
from app.openrtb.readers import LONGEST_LIST, WRONG, Context, Object, Wrong, as_integer, is_text
from campaigns.campaign.categories import CONTENT_1, category, with_ancestors


def categories(value: Any, parent: Object, context: Context) -> list[str] | Wrong:
    """Category codes of the object's taxonomy, with their parents."""
    if not isinstance(value, list):
        return WRONG
    taxonomy = as_integer(parent.get("cattax")) or CONTENT_1
    codes = [code for code in value[:LONGEST_LIST] if is_text(code)]
    if len(codes) < len(value):
        context.ignore("cat")
    return with_ancestors(category(code, taxonomy) for code in codes)


def segments(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """`provider|taxonomy:segment` for each segment of each provider."""
    if not isinstance(value, list):
        return WRONG
    found: dict[str, None] = {}
    for data in value:
        listed = data.get("segment") if isinstance(data, dict) else None
        if not isinstance(listed, list):
            if not isinstance(data, dict) or listed is not None:
                context.ignore("user.data")
            continue
        start = _provider(data)
        for segment in listed:
            id = segment.get("id") if type(segment) is dict else None
            if not is_text(id):
                id = _first_text(segment, "name")
            if id is None or len(found) >= LONGEST_LIST:
                context.ignore("user.data.segment")
            else:
                found[start + id] = None
    return list(found)


def _provider(data: Object) -> str:
    ext = data.get("ext")
    taxonomy = as_integer(ext.get("segtax")) if isinstance(ext, dict) else None
    return f"{_first_text(data, 'name', 'id') or ''}|{'' if taxonomy is None else taxonomy}:"


def _first_text(document: object, *names: str) -> str | None:
    if isinstance(document, dict):
        for name in names:
            value = document.get(name)
            if is_text(value):
                return str(value)
    return None


def media(value: Any, _: Object, __: Context) -> list[str]:
    """The media types that an imp has an object for."""
    return [name for name in MEDIA if isinstance(value.get(name), dict)]


def sizes(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """`WxH` of a banner or a video, and of each format."""
    if not isinstance(value, dict):
        return WRONG
    formats = value.get("format")
    each: Iterable[Any] = [value, *(formats[:LONGEST_LIST] if isinstance(formats, list) else ())]
    found = []
    for one in each:
        width, height = (one.get("w"), one.get("h")) if isinstance(one, dict) else (0, 0)
        if width is None and height is None:
            continue
        w, h = as_integer(width), as_integer(height)
        if w is None or h is None or not (0 < w < 2**16 and 0 < h < 2**16):
            context.ignore("imp.size")
        else:
            found.append(f"{w}x{h}")
    return list(dict.fromkeys(found))


def deals(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """The ids of deals."""
    if not isinstance(value, list):
        return WRONG
    found = [id for deal in value[:LONGEST_LIST] if (id := _first_text(deal, "id")) is not None]
    if len(found) < len(value):
        context.ignore("imp.pmp.deals.id")
    return list(dict.fromkeys(found))
