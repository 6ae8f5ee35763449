//! What the compiler says about a state or a graph that is written wrong: a sentence, where the mistake stands.

#[test]
fn mistakes_are_named_where_they_stand() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("cases/*.rs");
}
