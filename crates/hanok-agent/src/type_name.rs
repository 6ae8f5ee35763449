//! The name of a type, as logs hold it.

/// The name of `T` without its module and its parameters, so that a type that moves to another module keeps its name.
pub(crate) fn type_name<T: ?Sized>() -> &'static str {
    let whole = std::any::type_name::<T>();
    let path = whole.split('<').next().unwrap_or(whole);
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::type_name;

    struct Of<T>(T);

    #[test]
    fn a_type_is_named_without_its_module_and_its_parameters() {
        assert_eq!(type_name::<Of<Option<u8>>>(), "Of");
        assert_eq!(type_name::<str>(), "str");
    }
}
