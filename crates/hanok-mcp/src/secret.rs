//! Names of what is secret: of fields of forms, and of variables. A server that needs a secret sends to an address of its own, where
//! no agent reads it.

use serde_json::Value;

/// Words that name a secret, alone or within a longer name.
const PARTS: [&str; 22] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "cardnumber",
    "creditcard",
    "debitcard",
    "securitycode",
    "socialsecurity",
    "seedphrase",
    "mnemonic",
    "비밀번호",
    "암호",
    "카드번호",
    "주민등록번호",
    "주민번호",
    "인증번호",
];

/// Words that name a secret where they stand alone: others contain them.
const WORDS: [&str; 10] =
    ["token", "bearer", "pin", "otp", "cvv", "cvc", "cvc2", "ssn", "pwd", "pan"];

/// The name of the first field of `form` that looks like a secret. Yes or no, and a choice of given values, are none.
pub(crate) fn secret_field(form: &Value) -> Option<&str> {
    let fields = form.get("properties")?.as_object()?;
    fields.iter().find(|(name, field)| is_secret(name, field)).map(|(name, _)| name.as_str())
}

fn is_secret(name: &str, field: &Value) -> bool {
    let is_choice = ["enum", "oneOf", "anyOf", "items"].iter().any(|key| field.get(key).is_some());
    if is_choice || field.get("type").and_then(Value::as_str) == Some("boolean") {
        return false;
    }
    let text = |key: &str| field.get(key).and_then(Value::as_str).unwrap_or_default();
    text("format") == "password"
        || [name, text("title"), text("description")].into_iter().any(names_secret)
}

/// True for a text with a word that names a secret.
pub(crate) fn names_secret(text: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    let whole = words.concat();
    PARTS.iter().any(|part| whole.contains(part))
        || words.iter().any(|word| WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_looks_like_a_secret_is_one_whatever_its_form() {
        for (name, field, want) in [
            ("password", json!({"type": "string"}), true),
            ("api_key", json!({"type": "string"}), true),
            ("accessToken", json!({"type": "string"}), true),
            ("CARD-NUMBER", json!({"type": "integer"}), true),
            ("a", json!({"type": "string", "title": "Client secret"}), true),
            ("a", json!({"type": "string", "description": "The PIN of your card"}), true),
            ("a", json!({"type": "string", "format": "password"}), true),
            ("a", json!({"type": "string", "title": "카드 번호"}), true),
            ("max_tokens", json!({"type": "integer"}), false),
            ("shipping", json!({"type": "string"}), false),
            ("reset_password", json!({"type": "boolean"}), false),
            ("token", json!({"type": "string", "enum": ["ETH", "BTC"]}), false),
            ("name", json!({"type": "string", "description": "The name on the order"}), false),
        ] {
            let form = json!({"type": "object", "properties": {name: field}});
            assert_eq!(secret_field(&form).is_some(), want, "{form}");
        }
    }
}
