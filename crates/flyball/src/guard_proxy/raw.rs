//! JSON objects whose values are left as they were written: what is not changed stays byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// An object: names and values as they stand in the text, in their order.
#[derive(Debug, Default)]
pub(super) struct RawObject<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawObject<'a> {
    /// The value of a name.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// The object again, with some values replaced; what is not there is not added.
    pub(super) fn with(&self, replaced: &[(&str, String)]) -> String {
        let fields = self.0.iter().map(|(name, value)| {
            let new = replaced.iter().find(|(own, _)| own == name).map(|(_, new)| new.as_str());
            let name = serde_json::Value::from(name.as_ref());
            format!("{name}:{}", new.unwrap_or_else(|| value.get()))
        });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    }
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RawObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    fields.push((Cow::Owned(name), map.next_value()?));
                }
                Ok(RawObject(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_replaced_changes() {
        let text = r#"{"a":1.0e400,"b\n":"é" ,"c": [1, 2]}"#;
        let object: RawObject<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(
            object.with(&[("c", "[3]".to_owned()), ("d", "4".to_owned())]),
            r#"{"a":1.0e400,"b\n":"é","c":[3]}"#
        );
        assert_eq!(object.get("a").map(RawValue::get), Some("1.0e400"));
    }
}
