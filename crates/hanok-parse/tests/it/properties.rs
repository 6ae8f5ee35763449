//! The claims of the fuzzers, on what proptest draws, and shrinks when one does not hold.

use hanok_parse::Declared;

use crate::support::reads_all;
use proptest::{collection::vec, prelude::*};

proptest! {
    /// P32, P59: no bytes make the parser panic, and no cut changes what it reads.
    #[test]
    fn any_bytes_are_a_sound_reply_however_they_are_cut(data in vec(any::<u8>(), 0..600)) {
        hanok_fuzz::any_text(&data);
    }

    /// contract 13
    #[test]
    fn any_characters_are_a_sound_reply_however_they_are_cut(text in any::<String>(), choices: [u8; 2]) {
        hanok_fuzz::any_text(&[text.as_bytes(), &choices].concat());
    }

    /// contract 3, 5, 6, 10
    #[test]
    fn calls_come_back_as_they_were_written(data in vec(any::<u8>(), 0..400)) {
        hanok_fuzz::calls(&data);
    }

    /// contract 4
    #[test]
    fn small_faults_of_json_are_mended_and_strings_are_kept(data in vec(any::<u8>(), 0..300)) {
        hanok_fuzz::repair(&data);
    }

    /// contract 13
    #[test]
    fn the_events_of_marks_in_any_order_fold_to_their_reply(data in vec(any::<u8>(), 0..200)) {
        hanok_fuzz::events(&data);
    }

    /// contract 13: where it is known which pieces came as special tokens.
    #[test]
    fn special_tokens_are_a_sound_reply_however_they_are_cut(data in vec(any::<u8>(), 0..200)) {
        hanok_fuzz::special(&data);
    }

    /// contract 13: formats that are read as tables.
    #[test]
    fn any_table_is_sound(data in vec(any::<u8>(), 0..300)) {
        hanok_fuzz::tables(&data);
    }

    /// What others wrote calls nothing once it is neutralised.
    #[test]
    fn any_bytes_are_neutralised_and_restored(data in vec(any::<u8>(), 0..300)) {
        hanok_fuzz::neutralise(&data);
    }

    /// contract 13: bytes that are no text are read as their replacement, in pieces as in one.
    #[test]
    fn bytes_that_are_no_text_are_read_as_replacement_characters(bytes in vec(any::<u8>(), 0..200), size in 1_usize..9) {
        let parser = reads_all(Declared::any());
        let (mut stream, mut events) = (parser.stream(), Vec::new());
        for piece in bytes.chunks(size) {
            stream.feed_bytes(piece, &mut events);
        }
        prop_assert_eq!(stream.finish(&mut events), parser.parse(&String::from_utf8_lossy(&bytes)));
    }
}
