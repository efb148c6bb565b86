//! Events from Python: dictionaries of attributes.

use crate::engine::core::Core;
use crate::engine::index::Index as Shared;
use crate::engine::matching::event_json::Unfit;
use crate::engine::matching::search::Scratch;
use crate::language::address::Network;
use crate::language::geometry::Point;
use crate::language::{Type, version};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyString, PyTuple};

/// The Python exception for an event that has built-in attributes.
pub fn builtin_error(py: Python, names: Vec<String>) -> PyErr {
    let make = || -> PyResult<Bound<PyAny>> {
        let module = py.import("index.event")?;
        let class = module.getattr("EventProblem")?;
        let message = "it is built in and cannot be sent";
        let problems = PyList::empty(py);
        for name in names {
            problems.append(class.call1((name, "event.builtin", message))?)?;
        }
        module.getattr("EventError")?.call1((problems,))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

fn set_value(
    core: &Core,
    scratch: &mut Scratch,
    attribute: u32,
    value: &Bound<PyAny>,
    checked: bool,
) -> Result<(), Unfit> {
    let event = &mut scratch.event;
    let strings = core.long.strings();
    let fold = core.schema.used_fold(attribute);
    match core.types[attribute as usize] {
        Type::Bool => {
            let value = value.cast::<PyBool>().map_err(|_| Unfit)?;
            event.set_bool(attribute, value.is_true());
        }
        Type::Int => event.set_int(attribute, int(value)?),
        Type::Float => event.set_float(attribute, float(value)?),
        Type::Str => event.set_text(attribute, fold, text(value)?, strings),
        // `check_event` has turned versions into integers and addresses into what sorts like them.
        Type::Version => {
            let order = if checked && value.is_instance_of::<PyInt>() {
                value.extract().ok()
            } else {
                version::parse(text(value)?)
            };
            event.set_version(attribute, order.ok_or(Unfit)?);
        }
        Type::Ip => {
            let text = text(value)?;
            let stored = if checked {
                Network::of_stored(text)
            } else {
                None
            };
            let address = stored.or_else(|| Network::of_client(text));
            event.set_address(attribute, address.ok_or(Unfit)?);
        }
        Type::Point => event.set_point(attribute, point(value, checked)?),
        kind => {
            let start = event.begin_list();
            let elements: Vec<Bound<PyAny>> = if let Ok(list) = value.cast::<PyList>() {
                list.iter().collect()
            } else if let Ok(tuple) = value.cast::<PyTuple>() {
                tuple.iter().collect()
            } else if checked && let Ok(set) = value.cast::<PyFrozenSet>() {
                set.iter().collect() // `check_event` turns lists into frozen sets
            } else {
                return Err(Unfit);
            };
            for element in &elements {
                if kind == Type::IntList {
                    event.push_int(int(element)?);
                } else {
                    event.push_text(text(element)?, fold.is_some(), strings);
                }
            }
            event.end_list(attribute, fold, start, elements.len());
        }
    }
    Ok(())
}

/// A point: degrees, or, in a checked event, a tuple of units of 10^-7 degrees.
fn point(value: &Bound<PyAny>, checked: bool) -> Result<Point, Unfit> {
    let pair: Vec<Bound<PyAny>> = if let Ok(list) = value.cast::<PyList>() {
        list.iter().collect()
    } else {
        value.cast::<PyTuple>().map_err(|_| Unfit)?.iter().collect()
    };
    let [lat, lon] = &pair[..] else {
        return Err(Unfit);
    };
    if checked {
        return Ok(Point {
            lat: int(lat)?,
            lon: int(lon)?,
        });
    }
    Point::new(float(lat)?, float(lon)?).ok_or(Unfit)
}

/// An integer of 64 bits.
pub fn int(value: &Bound<PyAny>) -> Result<i64, Unfit> {
    if !value.is_instance_of::<PyInt>() || value.is_instance_of::<PyBool>() {
        return Err(Unfit);
    }
    value.extract().map_err(|_| Unfit)
}

/// A finite double.
pub fn float(value: &Bound<PyAny>) -> Result<f64, Unfit> {
    if let Ok(float) = value.cast::<PyFloat>() {
        let float = float.value();
        return if float.is_finite() {
            Ok(float)
        } else {
            Err(Unfit)
        };
    }
    let int = int(value)?;
    let double = int as f64;
    // The largest doubles below 2^63 are exact integers; 2^63 itself would saturate.
    if double as i64 == int && double < 9.2e18 && double > -9.3e18 {
        Ok(double)
    } else {
        Err(Unfit)
    }
}

/// A string without NUL.
pub fn text<'a>(value: &'a Bound<PyAny>) -> Result<&'a str, Unfit> {
    let text = value.cast::<PyString>().map_err(|_| Unfit)?;
    let text = text.to_str().map_err(|_| Unfit)?;
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err(Unfit);
    }
    Ok(text)
}

/// Put the attributes of a dictionary into an event. In a checked one, lists may be frozen sets.
pub fn fill_dict(
    shared: &Shared,
    core: &Core,
    scratch: &mut Scratch,
    event: &Bound<PyAny>,
    checked: bool,
) -> Result<(), Unfit> {
    let event = event.cast::<PyDict>().map_err(|_| Unfit)?;
    let mut unknown = Vec::new();
    for (name, value) in event {
        let name = name.cast::<PyString>().map_err(|_| Unfit)?;
        match name.to_str().ok().and_then(|name| core.schema.attr(name)) {
            Some(attribute) if value.is_none() => {
                let fold = core.schema.used_fold(attribute);
                scratch.event.unset(attribute, fold);
            }
            Some(attribute) => set_value(core, scratch, attribute, &value, checked)?,
            None => unknown.push(name.to_string_lossy().into_owned()),
        }
    }
    if !unknown.is_empty() {
        shared.count_unknown(unknown);
    }
    Ok(())
}
