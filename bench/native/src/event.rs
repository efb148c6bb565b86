//! Events as JSON objects: the present attributes with their values.

use serde_json::Value;

use _native::language::Schema;

/// The attributes that an event has, by number in the schema. `null` is missing.
pub fn read(text: &str, schema: &Schema) -> Result<Vec<(u32, Value)>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .filter_map(|(name, value)| Some((schema.attr(&name)?, value)))
            .collect()),
        Ok(other) => Err(format!("an event is an object, not {other}")),
        Err(e) => Err(e.to_string()),
    }
}
