//! The contracts of this example are read whole, hold together, and have what the questions ask for.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::collections::BTreeSet;

use hanok_documents::LoadOptions;
use hanok_documents::{AppendixKind, Article, ArticleNumber, Contract, contract_passages};
use hanok_retrieval::{Document, MemoryIndex, Query, Terms};

use crate::contract::questions::{Kind, Question};

const SERVICE: &str = "contracts/용역계약서.md";
const LEASE: &str = "contracts/임대차계약서.docx";
const SERVICE_STANDARD: &str = "standards/표준용역계약서.md";
const LEASE_STANDARD: &str = "standards/표준임대차계약서.md";
const ALL: [&str; 4] = [SERVICE, LEASE, SERVICE_STANDARD, LEASE_STANDARD];

fn document(path: &str) -> Document {
    let path = format!("{}/../contract/{path}", env!("CARGO_MANIFEST_DIR"));
    hanok_documents::open(path, &hanok_documents::readers(LoadOptions::new())).unwrap()
}

fn contract(path: &str) -> Contract {
    Contract::parse(document(path).text)
}

fn labels(contract: &Contract) -> Vec<String> {
    contract.articles.iter().map(|article| article.label()).collect()
}

/// The words of an article, by its short number.
fn words(contract: &Contract, number: &str) -> String {
    let number: ArticleNumber = number.parse().unwrap();
    let article = contract.article(number.number, number.sub).unwrap();
    contract.text(&article.body).to_owned()
}

#[test]
fn every_article_of_the_service_agreement_is_found() {
    let contract = contract(SERVICE);
    assert_eq!(
        labels(&contract),
        [
            "제1조(목적)",
            "제2조(용어의 정의)",
            "제3조(계약문서와 우선순위)",
            "제4조(용역의 범위)",
            "제5조(계약기간)",
            "제6조(수행 인력)",
            "제7조(갑의 협조)",
            "제7조의2(개발 환경과 계정)",
            "제8조(진행 보고)",
            "제9조(재위탁의 제한)",
            "제10조(과업의 변경)",
            "제11조(용역대금)",
            "제12조(대금의 지급)",
            "제13조(선급금의 사용)",
            "제14조(납품)",
            "제15조(검수)",
            "제16조(하자보수)",
            "제17조(지체상금)",
            "제18조(지식재산권의 귀속)",
            "제19조(비밀유지)",
            "제20조(개인정보의 처리)",
            "제21조(계약의 해제와 해지)",
            "제22조(종료 뒤의 처리)",
            "제23조(손해배상)",
            "제24조(불가항력)",
            "제25조(권리와 의무의 양도)",
            "제26조(통지)",
            "제27조(분쟁의 해결)",
        ]
    );
    let chapters: BTreeSet<_> =
        contract.articles.iter().map(|article| article.chapter.as_deref().unwrap()).collect();
    assert_eq!(chapters.len(), 6);
    let clauses = |number| contract.article(number, None).unwrap().clauses.as_slice();
    let shape = |number| clauses(number).iter().map(|it| it.items.len()).collect::<Vec<_>>();
    assert_eq!(shape(2), [0, 3, 0, 0, 0]);
    assert_eq!(shape(4), [5, 0]);
    assert_eq!(shape(21), [0, 4, 0]);
    assert!(words(&contract, "12").contains("| 잔금 | 최종 검수의 합격 | 40% | 72,000,000원 |"));
    let appendices: Vec<_> =
        contract.appendices.iter().map(|it| (it.kind, it.label.as_str())).collect();
    assert_eq!(
        appendices,
        [(AppendixKind::Closing, ""), (AppendixKind::Table, "[별표 1] 하자의 등급과 처리 시간")]
    );
}

/// The lease is a Word file; it says what the text says that it is made from.
#[test]
fn the_lease_is_read_out_of_its_word_file() {
    let contract = contract(LEASE);
    let text = include_str!("../../../contract/scripts/임대차계약서.txt");
    let source = Contract::parse(text);
    assert_eq!(contract.articles.len(), 25);
    assert_eq!(labels(&contract), labels(&source));
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    for (read, written) in contract.articles.iter().zip(&source.articles) {
        assert_eq!(plain(contract.text(&read.body)), plain(source.text(&written.body)));
        let marks = |it: &Article| {
            it.clauses.iter().map(|it| (it.to_string(), it.items.len())).collect::<Vec<_>>()
        };
        assert_eq!(marks(read), marks(written), "{}", read.label());
    }
    assert_eq!(labels(&contract)[7], "제7조의2(반려동물)");
    let kinds: Vec<_> = contract.appendices.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [AppendixKind::Special, AppendixKind::Closing, AppendixKind::Form]);
}

#[test]
fn the_documents_hold_together() {
    for path in ALL {
        let contract = contract(path);
        assert!(contract.articles.len() >= 20, "{path}: {}", contract.articles.len());
        assert_eq!(contract.notes, [], "{path}");
        let titles: BTreeSet<_> = contract.articles.iter().map(|it| it.title.clone()).collect();
        assert_eq!(titles.len(), contract.articles.len(), "{path}: a title stands twice");
        for article in &contract.articles {
            let words = contract.text(&article.body);
            assert!(words.chars().count() > 20, "{path}: {}", article.label());
            for number in named(words) {
                contract.article(number.number, number.sub).unwrap_or_else(|error| {
                    panic!("{path}, {}: {error}", article.label());
                });
            }
        }
    }
}

/// The articles that `text` names: `제5조`, `7조의2`.
fn named(text: &str) -> Vec<ArticleNumber> {
    let is_part = |c: char| c.is_numeric() || c == '의' || c == ' ';
    let mut found = Vec::new();
    for (at, _) in text.match_indices('조') {
        let before = text[..at].trim_end();
        let digits = before.len() - before.trim_end_matches(char::is_numeric).len();
        let after = text[at..].chars().skip(1).take_while(|c| is_part(*c)).collect::<String>();
        if digits > 0 {
            let sub = after.strip_prefix('의').map(|sub| sub.trim()).filter(|sub| !sub.is_empty());
            let sub = sub.map(|sub| format!("의{sub}")).unwrap_or_default();
            let number = format!("{}{sub}", &before[before.len() - digits..]);
            found.extend(number.parse::<ArticleNumber>());
        }
    }
    found
}

/// Standards are told from contracts by name and title, and differ where a comparison has to see it.
#[test]
fn a_standard_differs_from_its_contract_in_numbers() {
    for path in [SERVICE_STANDARD, LEASE_STANDARD] {
        assert!(document(path).title.starts_with("비교용 표준"), "{path}");
        assert!(document(path).source.starts_with("표준"), "{path}");
    }
    let (service, lease) = (contract(SERVICE), contract(LEASE));
    let (service_standard, lease_standard) = (contract(SERVICE_STANDARD), contract(LEASE_STANDARD));
    for (own, number, says, standard, other, instead) in [
        (&service, "5", "5영업일", &service_standard, "4", "14일"),
        (&service, "9", "30퍼센트", &service_standard, "7", "50퍼센트"),
        (&service, "10", "10인일", &service_standard, "8", "한도는 두지"),
        (&service, "12", "20일 안에", &service_standard, "9", "15일 안에"),
        (&service, "12", "연 9퍼센트", &service_standard, "9", "연 12퍼센트"),
        (&service, "15", "14일 안에 검수", &service_standard, "10", "10일 안에 검수"),
        (&service, "16", "5퍼센트", &service_standard, "11", "3퍼센트"),
        (&service, "17", "1,000분의 1.5", &service_standard, "12", "1,000분의 0.75"),
        (&service, "17", "15퍼센트", &service_standard, "12", "10퍼센트"),
        (&service, "18", "갑에게 이전", &service_standard, "13", "공동으로"),
        (&service, "19", "5년", &service_standard, "14", "3년"),
        (&service, "20", "24시간", &service_standard, "15", "72시간"),
        (&service, "21", "20일의 기간", &service_standard, "16", "14일의 기간"),
        (&service, "24", "60일", &service_standard, "18", "90일"),
        (&lease, "3", "연 6퍼센트", &lease_standard, "3", "연 5퍼센트"),
        (&lease, "8", "50,000원", &lease_standard, "8", "100,000원"),
        (&lease, "8", "7일 안에", &lease_standard, "8", "10일 안에"),
        (&lease, "14", "14일의 기간", &lease_standard, "14", "30일의 기간"),
        (&lease, "15", "60일 전", &lease_standard, "15", "90일 전"),
        (&lease, "18", "15분의 1", &lease_standard, "18", "30분의 1"),
        (&lease, "19", "연 5퍼센트", &lease_standard, "19", "연 12퍼센트"),
    ] {
        let (here, there) = (words(own, number), words(standard, other));
        assert!(here.contains(says) && !there.contains(says), "{number}: {says}");
        assert!(there.contains(instead) && !here.contains(instead), "{other}: {instead}");
    }
}

/// `text` as pages have it: lines broken anywhere, no empty ones, and the pages' heads and numbers between.
fn printed(text: &str, width: usize, between_words: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines().map(|line| line.trim_start_matches(['#', ' '])) {
        let mut line = String::new();
        for piece in
            paragraph.split_inclusive(|_| !between_words).flat_map(|it| it.split_inclusive(' '))
        {
            if !line.is_empty() && line.chars().count() + piece.trim_end().chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(piece);
        }
        lines.extend((!line.trim().is_empty()).then_some(line));
    }
    let pages = lines.chunks(24).enumerate().map(|(at, page)| {
        format!("도담 제2026호 계약 사본\n{}\n- {} -\n", page.join("\n"), at + 1)
    });
    pages.collect()
}

/// The articles with their clauses, the appendices and the notes. A break inside a word of a title reads as a space, so no
/// spaces.
fn shape(contract: &Contract) -> Vec<String> {
    let article = |it: &Article| {
        let clauses = it.clauses.iter().map(|it| format!(" {it}{}", it.items.len()));
        it.label().replace(' ', "") + &clauses.collect::<String>()
    };
    let mut lines: Vec<_> = contract.articles.iter().map(article).collect();
    lines.extend(contract.appendices.iter().map(|it| format!("{:?}", it.kind)));
    lines.extend(contract.notes.iter().map(ToString::to_string));
    lines
}

/// However a page breaks the lines, the articles and their clauses are the same.
#[test]
fn a_printed_contract_has_the_same_articles() {
    for path in ALL {
        let document = document(path);
        let want = shape(&Contract::parse(document.text.as_str()));
        for width in 16..=80 {
            for between_words in [true, false] {
                let text = printed(&document.text, width, between_words);
                let got = shape(&Contract::parse(text));
                assert_eq!(got, want, "{path}, {width}, {between_words}");
            }
        }
    }
}

/// `text` with its headings in another form.
fn written(document: &Document, form: fn(&str, &str) -> String) -> String {
    let text = document.text.as_str();
    let (mut out, mut at) = (String::new(), 0);
    for article in Contract::parse(text).articles {
        let line = text[..article.heading.start].rfind('\n').map_or(0, |at| at + 1);
        out.push_str(&text[at..line]);
        out.push_str(&form(&article.number.to_string(), article.title.as_deref().unwrap()));
        at = article.body.start;
    }
    out + &text[at..]
}

/// However its headings are written, too.
#[test]
fn a_contract_with_other_headings_has_the_same_articles() {
    let forms: [fn(&str, &str) -> String; 6] = [
        |number, title| format!("{number}({title}) "),
        |number, title| format!("{number} {title}\n"),
        |number, title| format!("{number}: {title}\n"),
        |number, title| format!("{number}\n{title}\n"),
        |number, title| format!("{number}\n({title})\n"),
        |number, title| {
            format!("{} 【{title}】\n", number.replace('제', "제 ").replace('조', " 조 "))
        },
    ];
    for path in ALL {
        let document = document(path);
        let want = shape(&Contract::parse(document.text.as_str()));
        for (at, form) in forms.into_iter().enumerate() {
            let text = written(&document, form);
            assert_eq!(shape(&Contract::parse(text.as_str())), want, "{path}, {at}");
            for width in (20..=80).step_by(5) {
                for between_words in [true, false] {
                    let text = printed(&text, width, between_words);
                    let got = shape(&Contract::parse(text));
                    assert_eq!(got, want, "{path}, {at}, {width}, {between_words}");
                }
            }
        }
    }
}

#[test]
fn questions_have_their_articles_in_the_contract() {
    let questions: Vec<Question> = Question::all().collect();
    let contracts = [(SERVICE, contract(SERVICE)), (LEASE, contract(LEASE))];
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let mut texts = BTreeSet::new();
    for (at, question) in questions.iter().enumerate() {
        let text = question.text;
        let (_, contract) = contracts.iter().find(|(path, _)| *path == question.contract).unwrap();
        assert!(texts.insert(text), "asked twice: {text}");
        let wanted: Vec<ArticleNumber> = question.wanted().map(|it| it.parse().unwrap()).collect();
        let articles: Vec<_> = wanted
            .iter()
            .map(|number| contract.article(number.number, number.sub).unwrap())
            .collect();
        let numbers = named(text);
        let is_titled = articles
            .iter()
            .any(|article| plain(text).contains(&plain(article.title.as_deref().unwrap())));
        match question.kind {
            Kind::Names => assert!(
                !articles.is_empty() && (is_titled || numbers.iter().any(|it| wanted.contains(it))),
                "{text}"
            ),
            Kind::Plain => assert!(!articles.is_empty() && numbers.is_empty(), "{text}"),
            Kind::Missing => {
                assert!(articles.is_empty() && numbers.len() == 1, "{text}");
                assert!(contract.article(numbers[0].number, numbers[0].sub).is_err(), "{text}");
            }
            Kind::Scope => assert!(articles.is_empty() && numbers.is_empty(), "{text}"),
        }
        if text.starts_with("그럼") {
            let before = &questions[at - 1];
            assert_eq!(
                (before.contract, before.kind),
                (question.contract, question.kind),
                "{text}"
            );
        }
    }
    let count = |kind: Kind| questions.iter().filter(|question| question.kind == kind).count();
    assert!(count(Kind::Names) >= 40 && count(Kind::Plain) >= 20, "{}", questions.len());
    assert!(count(Kind::Missing) >= 5 && count(Kind::Scope) >= 5);
}

/// Keywords alone find the article for half of the questions that do not name it: what is left needs vectors or another round.
#[test]
fn half_of_the_plain_questions_find_their_article_among_three_passages() {
    let index = |path| {
        let document = document(path);
        let passages = contract_passages(&document, &Contract::parse(document.text.as_str()));
        MemoryIndex::new(passages, Terms::default())
    };
    let indexes = [(SERVICE, index(SERVICE)), (LEASE, index(LEASE))];
    let asked: Vec<_> = Question::all().filter(|it| it.kind == Kind::Plain).collect();
    let mut found = 0;
    for question in &asked {
        let (_, index) = indexes.iter().find(|(path, _)| *path == question.contract).unwrap();
        let hits = index.find(&Query::new(question.text).limit(3));
        let numbers: Vec<_> =
            hits.iter().filter_map(|hit| hit.passage.metadata.get("article")).collect();
        let wanted = question.wanted().next().unwrap();
        let is_found = numbers.iter().any(|it| *it == wanted);
        found += usize::from(is_found);
        println!("{}\t{numbers:?}\t{}", if is_found { "found" } else { "not" }, question.text);
    }
    println!("{found} of {}", asked.len());
    assert!(found * 2 >= asked.len(), "{found} of {}", asked.len());
}
