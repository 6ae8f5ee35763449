//! Who and where: names of people and teams, addresses, and special terms that a question has.

use crate::offline::{
    tables,
    words::{is_asking, is_hangul, words},
};

/// The name of a person in a question: three syllables that begin with a surname, or two words with a capital that do not begin it.
pub(crate) fn person(question: &str) -> Option<String> {
    let is_cue = |word: &str| {
        let lists = [&tables::CONTACT, &tables::MEMBERS, &tables::NO_NAMES, &tables::TITLES];
        lists.iter().any(|list| list.iter().any(|it| word.contains(it) || it.contains(word)))
    };
    let korean = words(question).into_iter().filter(|word| !is_asking(word)).map(|word| word.stem);
    let korean = korean.map(|word| word.trim_end_matches(['님', '씨']).to_owned()).find(|word| {
        let is_long = tables::LONG_FAMILIES.iter().any(|family| word.starts_with(family));
        let is_name =
            is_surname(word) && word.chars().count() == 3 || is_long && word.chars().count() == 4;
        is_name && word.chars().all(is_hangul) && !is_cue(word)
    });
    let bare = |word: &str| {
        word.trim_end_matches("'s").trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    };
    let is_capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|c| c.is_ascii_uppercase())
            && word.len() > 1
            && letters.all(|c| c.is_ascii_lowercase())
    };
    let latin: Vec<_> = question.split_whitespace().skip(1).map(bare).collect();
    let pair = latin.windows(2).find(|pair| pair.iter().all(|word| is_capital(word)));
    korean.or_else(|| pair.map(|pair| pair.join(" ")))
}

fn is_surname(word: &str) -> bool {
    word.chars().next().is_some_and(|c| tables::FAMILIES.iter().any(|all| all.contains(c)))
}

/// The name that a text begins with, behind a word for whose it is.
pub(crate) fn named_first(text: &str) -> Option<String> {
    let rests = [" 이름은 ", "은 ", "는 ", ": ", ":", " "];
    let rest = rests.iter().find_map(|it| text.strip_prefix(it))?;
    let word: String = rest.chars().take_while(|c| is_hangul(*c)).take(8).collect();
    let ends = ["입니다", "이고", "이며", "이에요", "예요", "이야", "씨", "님", "야", "고"];
    let bare =
        ends.iter().find_map(|end| word.strip_suffix(end)).filter(|it| it.chars().count() > 1);
    let name = bare.unwrap_or(&word);
    (is_surname(name) && (2..=4).contains(&name.chars().count())).then(|| name.to_owned())
}

/// The first word that names a team: 디자인팀.
pub(crate) fn team(question: &str) -> Option<String> {
    let mut stems = words(question).into_iter().map(|word| word.stem);
    stems.find(|stem| stem.chars().count() >= 3 && (stem.ends_with('팀') || stem.ends_with("본부")))
}

/// The address in a text: words from a province to a number.
pub(crate) fn address(text: &str) -> Option<String> {
    let is_province = |word: &&str| tables::PROVINCES.iter().any(|it| word.starts_with(it));
    let words = text.split_whitespace().skip_while(|word| !is_province(word)).take(8);
    let is_piece = |word: &str| {
        word.ends_with([
            '시', '도', '군', '구', '읍', '면', '동', '리', '로', '길', '호', '층', '지',
        ]) || word.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    let mut pieces: Vec<&str> = Vec::new();
    for word in words {
        let bare = word.trim_end_matches([',', '.']);
        let ends = ["입니다", "에서", "을", "를", "에", "의"];
        let cut = ends.iter().find_map(|it| bare.strip_suffix(it)).filter(|cut| is_piece(cut));
        let piece = cut.or(Some(bare).filter(|bare| pieces.is_empty() || is_piece(bare)));
        pieces.extend(piece);
        if cut.is_some() || piece.is_none() || bare.len() < word.len() {
            break;
        }
    }
    let has_number = pieces.iter().any(|piece| piece.contains(|c: char| c.is_ascii_digit()));
    (pieces.len() > 2 && has_number).then(|| pieces.join(" "))
}

/// What stands behind `특약:` in its line.
pub(crate) fn special(text: &str) -> Option<String> {
    let rest = text.split_once("특약")?.1.trim_start_matches("사항").trim_start();
    let line = rest.strip_prefix([':', '：'])?.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_words_that_begin_like_them() {
        for (question, want) in [
            ("김하늘 연차 며칠 남았어?", Some("김하늘")),
            ("이도윤의 내선번호", Some("이도윤")),
            ("남궁민서가 어느 팀이야", Some("남궁민서")),
            ("박서연한테 전화하려면?", Some("박서연")),
            ("how many days does Haneul Kim have left?", Some("Haneul Kim")),
            ("배우자 출산하면 며칠 쉬나요", None),
            ("노트북을 잃어버렸어요", None),
            ("연차는 며칠 전에 신청해야 돼?", None),
            ("123 * 456은?", None),
            ("회의실 빈 곳", None),
            ("복지포인트 안 쓰면 어떻게 돼?", None),
            ("내 차로 가면 유류비 주나요", None),
        ] {
            assert_eq!(person(question).as_deref(), want, "{question}");
        }
    }
}
