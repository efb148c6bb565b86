"""Points on the globe, and areas: circles, boxes and polygons.

A point is its latitude and longitude in units of 10^-7 degrees (about one centimetre), so boxes and
polygons are decided with integers, exactly. A circle is decided by the straight distance between
two points of the unit sphere. `sine` is written out, so that every engine on every machine rounds
in the same way; `index/native/src/language/geometry.rs` does the same operations.

The edge of a polygon goes the shorter way around the globe, so polygons may cross the meridian of
180 degrees. A polygon that goes around the globe has the pole inside that is nearer.
"""

import math
from collections.abc import Sequence

EARTH = 6_371_008.8
"""The mean radius, in metres."""
FARTHEST = math.pi * EARTH
UNITS = 10_000_000
_QUARTER = 90 * UNITS
_HALF = 180 * UNITS
_WHOLE = 360 * UNITS
_RADIANS = math.pi / _HALF
MOST_CORNERS = 1000


class Point(tuple[int, int]):
    """Latitude and longitude, in units of 10^-7 degrees; the longitude is below 180 degrees."""

    __slots__ = ()

    @property
    def degrees(self) -> list[float]:
        """Latitude and longitude in degrees."""
        return [self[0] / UNITS, self[1] / UNITS]


def point_of(latitude: float, longitude: float) -> Point | None:
    """The point at these degrees, if there is one."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        return None
    lat, lon = math.floor(latitude * UNITS + 0.5), math.floor(longitude * UNITS + 0.5)
    return Point((lat, -_HALF if lon == _HALF else lon))


def in_circle(point: Point, operand: Sequence[float]) -> bool:
    """Whether a point is within (metres, latitude, longitude)."""
    metres, latitude, longitude = operand
    centre = point_of(latitude, longitude)
    assert centre is not None
    a, b = _on_sphere(point), _on_sphere(centre)
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    chord = 2.0 * sine(min(metres, FARTHEST) / (2.0 * EARTH))
    return x * x + y * y + z * z <= chord * chord


def in_box(point: Point, operand: Sequence[float]) -> bool:
    """Whether a point is between (south, west, north, east). With west above east, the box crosses
    the meridian of 180 degrees."""
    south, west, north, east = (math.floor(degrees * UNITS + 0.5) for degrees in operand)
    lat, lon = point
    if not south <= lat <= north:
        return False
    if abs(lat) == _QUARTER:
        return True  # a pole has every longitude
    if west > east:
        return lon >= west or lon <= east
    return west <= lon <= east or lon + _WHOLE == east  # 180 degrees is stored as -180


def in_polygon(point: Point, operand: Sequence[float]) -> bool:
    """Whether a point is inside the polygon of these corners, (latitude, longitude, …): whether a
    line from it to the north pole crosses an odd number of edges."""
    corners = corners_of(operand)
    around, sum_of_latitudes = 0, 0
    inside = False
    for place, (lat, lon) in enumerate(corners):
        next_lat, next_lon = corners[(place + 1) % len(corners)]
        step = _turn(next_lon - lon)
        around += step
        sum_of_latitudes += lat
        along = _turn(point[1] - lon)
        if 0 <= along < step:
            inside ^= (point[0] - lat) * step < (next_lat - lat) * along
        elif step <= along < 0:
            inside ^= (point[0] - lat) * step > (next_lat - lat) * along
    return inside ^ (around != 0 and sum_of_latitudes > 0)


def corners_of(operand: Sequence[float]) -> list[Point]:
    """The corners of a polygon."""
    corners = [
        point_of(latitude, longitude)
        for latitude, longitude in zip(operand[::2], operand[1::2], strict=True)
    ]
    return [corner for corner in corners if corner is not None]


def _turn(longitude: int) -> int:
    """The same direction, from -180 to below 180 degrees."""
    return (longitude + _HALF) % _WHOLE - _HALF


def _on_sphere(point: Point) -> tuple[float, float, float]:
    lat, lon = point[0] * _RADIANS, point[1] * _RADIANS
    across = cosine(lat)
    return across * cosine(lon), across * sine(lon), sine(lat)


_TERMS = [(-1.0) ** n / math.factorial(2 * n + 1) for n in range(11, -1, -1)]


def sine(angle: float) -> float:
    """The sine of an angle from -pi to pi."""
    if angle > math.pi / 2:
        angle = math.pi - angle
    elif angle < -math.pi / 2:
        angle = -math.pi - angle
    square = angle * angle
    result = 0.0
    for term in _TERMS:
        result = result * square + term
    return result * angle


def cosine(angle: float) -> float:
    """The cosine of an angle from -pi to pi."""
    return sine(math.pi / 2 - abs(angle))
