"""Readers of fields that become lists. Each wrong element is ignored and counted."""

from typing import Any

from app.openrtb.readers import LONGEST_LIST, LONGEST_TEXT, WRONG, Context, Object, Wrong
from campaigns.campaign.categories import CONTENT_1, category, with_ancestors

LONGEST_KEYWORDS = 64 * 1024


def categories(value: Any, parent: Object, context: Context) -> list[str] | Wrong:
    """Category codes of the object's taxonomy, with their parents."""
    if value is context.categories[0]:  # `site.cat` is read for two attributes
        return context.categories[1]
    codes = listed_texts(value, context)
    if codes is None:
        return WRONG
    taxonomy = parent.get("cattax")
    number = CONTENT_1 if taxonomy is None else context.integer(taxonomy) or CONTENT_1
    found = with_ancestors([category(code, number) for code in codes])
    context.categories = value, found
    return found


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
        start = _provider(data, context)
        for segment in listed:
            id = segment.get("id") if type(segment) is dict else None
            if type(id) is not str or not 0 < len(id) <= LONGEST_TEXT or "\0" in id:
                id = _first_text(segment, context, "id", "name")
            if id is None or len(found) >= LONGEST_LIST:
                context.ignore("user.data.segment")
            else:
                found[start + id] = None
    return list(found)


def _provider(data: Object, context: Context) -> str:
    ext = data.get("ext")
    taxonomy = context.integer(ext.get("segtax")) if isinstance(ext, dict) else None
    name = _first_text(data, context, "name", "id") or ""
    return f"{name}|{'' if taxonomy is None else taxonomy}:"


def _first_text(document: object, context: Context, *names: str) -> str | None:
    if isinstance(document, dict):
        for name in names:
            found = context.text(document.get(name))
            if found is not None:
                return found
    return None


def listed(value: Any, context: Context) -> list[Any] | None:
    """A list; a single text or number counts as a list of one."""
    if type(value) is list:
        return value
    if type(value) in (str, int, float):
        context.loose = True
        return [value]
    return None


def listed_texts(value: Any, context: Context) -> list[str] | None:
    """The texts of a list, also from numbers."""
    values = listed(value, context)
    if values is None:
        return None
    found = [text for each in values[:LONGEST_LIST] if (text := context.text(each)) is not None]
    if len(found) < len(values):
        context.lost = True
    return found


def texts(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """Strings, each once."""
    found = listed_texts(value, context)
    if found is None:
        return WRONG
    return list(dict.fromkeys(filter(None, map(str.strip, found))))


def keywords(value: Any, parent: Object, context: Context) -> list[str] | Wrong:
    """Keywords, in a list or divided by commas, in lower case."""
    if type(value) is str:
        context.lost = len(value) > LONGEST_KEYWORDS
        value = list(filter(None, value[:LONGEST_KEYWORDS].split(",")))
    found = texts(value, parent, context)
    return found if isinstance(found, Wrong) else list(dict.fromkeys(map(str.lower, found)))


def codes(value: Any, _: Object, context: Context) -> list[int] | Wrong:
    """Numbers of one of OpenRTB's lists, each once."""
    values = listed(value, context)
    if values is None:
        return WRONG
    read = (context.integer(each) for each in values[:LONGEST_LIST])
    found = [each for each in read if each is not None and abs(each) < 2**53]
    if len(found) < len(values):
        context.lost = True
    return list(dict.fromkeys(found))


def length(value: Any, _: Object, __: Context) -> int | Wrong:
    """How many elements a list has."""
    return len(value) if isinstance(value, list) else WRONG


def systems(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """The `asi` of each node of a supply chain, in lower case."""
    if not isinstance(value, list):
        return WRONG
    found = [text for each in value[:LONGEST_LIST] if (text := _first_text(each, context, "asi"))]
    if len(found) < len(value):
        context.lost = True
    return list(dict.fromkeys(text.strip().lower() for text in found))


def sizes(value: Any, parent: Object, context: Context) -> list[str]:
    """`WxH` of a banner or a video, or of each `format` of a banner."""
    if type(value) is not list:
        size = _size(value, parent.get("h"), context)
        return [] if size is None else [size]
    found = []
    for each in value[:LONGEST_LIST]:
        width, height = (each.get("w"), each.get("h")) if type(each) is dict else (0, 0)
        if width is None and height is None:  # a ratio
            continue
        if (size := _size(width, height, context)) is not None:
            found.append(size)
    return list(dict.fromkeys(found))


def _size(width: Any, height: Any, context: Context) -> str | None:
    w, h = context.integer(width), context.integer(height)
    if w is None or h is None or not (0 < w < 2**16 and 0 < h < 2**16):
        context.ignore("imp.size")
        return None
    return f"{w}x{h}"
