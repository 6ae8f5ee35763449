//! The endings of Korean words: they say how a word stands in its sentence, and little of what it is about.

/// The longest come first.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "하였습니다", "했습니다", "됐습니다", "되었습니다", "해야하나요", "이었습니다", "할수있나요",
    "에서는", "에게는", "으로는", "으로도", "에서도", "까지는", "까지도", "부터는", "이라는", "에게서", "하려면", "되려면", "하는데", "되는데",
    "합니다", "됩니다", "입니다", "습니다", "하나요", "되나요", "인가요", "할까요", "될까요", "이에요", "해야", "하여야", "하였다", "되었다",
    "이라고", "하면서", "하거나", "되거나", "하도록", "되도록", "으려면", "는가요", "은가요",
    "에서", "에게", "한테", "으로", "까지", "부터", "처럼", "보다", "마다", "이나", "이란", "이라", "이며", "이고", "이면", "이야", "예요", "에요",
    "한다", "된다", "하는", "되는", "하여", "되어", "하고", "되고", "하며", "되며", "하면", "되면", "하지", "되지", "하기", "되기", "해도", "돼도",
    "했다", "됐다", "해요", "돼요", "하게", "되게", "한지", "된지", "이다", "나요", "까요", "는데", "은데", "려면", "려고", "어도", "아도",
    "어서", "아서", "어야", "아야", "는지", "은지", "었다", "았다", "니다", "거나", "지만", "들은", "들이", "들을", "들의", "와의", "과의",
    "은", "는", "이", "가", "을", "를", "에", "의", "와", "과", "로", "도", "만", "나", "들", "님", "께", "해", "한", "할", "함", "됨", "돼", "된",
    "요", "야", "며", "고", "서", "면", "임", "냐",
];

/// A word as what it is about and its ending, which may be empty. At least two characters are left of it.
pub(super) fn split(word: &str) -> (&str, &str) {
    let rest =
        |ending: &&str| word.strip_suffix(*ending).filter(|rest| rest.chars().nth(1).is_some());
    let stem = ENDINGS.iter().filter_map(rest).min_by_key(|stem| stem.len()).unwrap_or(word);
    (stem, word.get(stem.len()..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_ending_goes_and_two_characters_stay() {
        for (word, want) in [
            ("연차휴가는", ("연차휴가", "는")),
            ("회사에서는", ("회사", "에서는")),
            ("휴가", ("휴가", "")),
            ("휴가가", ("휴가", "가")),
            ("정산한다", ("정산", "한다")),
            ("는", ("는", "")),
            ("", ("", "")),
        ] {
            assert_eq!(split(word), want, "{word}");
        }
    }
}
