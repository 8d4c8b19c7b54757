use base64::{Engine as _, engine::general_purpose::STANDARD};
use proptest::prelude::*;

use super::*;

const HOME: Place<'static> = Place {
    table: "goods_providers",
    column: "credentials",
    row: "fragment",
};

fn key(seed: u8) -> DataKey {
    DataKey::new([seed; 32])
}

#[test]
fn a_data_key_is_exactly_32_bytes_of_padded_standard_base64() {
    assert!(DataKey::parse(&STANDARD.encode([7_u8; 32])).is_ok());
    let short = STANDARD.encode([7_u8; 31]);
    let long = STANDARD.encode([7_u8; 33]);
    let unpadded = STANDARD.encode([7_u8; 32]).replace('=', "");
    let url_safe = "-_".repeat(21) + "-=";
    let spaced = format!(" {}", STANDARD.encode([7_u8; 32]));
    for refused in ["", "not base64", &short, &long, &unpadded, &url_safe, &spaced] {
        assert!(DataKey::parse(refused).is_err(), "{refused:?}");
    }
}

#[test]
fn a_generated_key_is_its_text() {
    let (made, text) = DataKey::generate().expect("randomness");
    let read = DataKey::parse(text.expose()).expect("its own text");
    let sealed = KeyRing::new(made).seal(&HOME, b"value").expect("seals");
    assert_eq!(
        KeyRing::new(read).open(&HOME, &sealed).expect("opens").expose(),
        b"value"
    );
}

#[test]
fn an_old_key_still_opens_and_sealing_again_changes_the_key_id_only() {
    let old = KeyRing::new(key(1));
    let sealed = old.seal(&HOME, b"token").expect("seals");
    let ring = KeyRing::new(key(2)).with_old(key(1));
    assert_eq!(ring.open(&HOME, &sealed).expect("old key opens").expose(), b"token");
    assert!(ring.is_stale(&sealed));

    let again = ring
        .seal(&HOME, ring.open(&HOME, &sealed).expect("opens").expose())
        .expect("seals");
    assert!(!ring.is_stale(&again));
    assert_eq!(again[0], sealed[0]);
    assert_eq!(again[1], ring.active_id());
    assert_eq!(ring.open(&HOME, &again).expect("opens").expose(), b"token");
    assert_eq!(
        old.open(&HOME, &again).err(),
        Some(SealError::UnknownKey {
            key_id: ring.active_id()
        })
    );
}

#[test]
fn keys_that_share_an_id_are_each_tried() {
    let wanted = key(0).id();
    let twin = (1_u16..=4096)
        .map(|seed| {
            let mut bytes = [0_u8; 32];
            bytes[..2].copy_from_slice(&seed.to_be_bytes());
            DataKey::new(bytes)
        })
        .find(|candidate| candidate.id() == wanted)
        .expect("one of 4096 keys shares a one-byte id");
    let sealed = KeyRing::new(key(0)).seal(&HOME, b"value").expect("seals");
    assert_eq!(
        KeyRing::new(twin.clone()).open(&HOME, &sealed).err(),
        Some(SealError::DoesNotOpen)
    );
    assert!(KeyRing::new(twin).with_old(key(0)).open(&HOME, &sealed).is_ok());
}

#[test]
fn two_seals_of_one_value_differ() {
    let ring = KeyRing::new(key(1));
    assert_ne!(
        ring.seal(&HOME, b"x").expect("seals"),
        ring.seal(&HOME, b"x").expect("seals")
    );
}

proptest! {
    #[test]
    fn opens_where_it_was_sealed_and_nowhere_else(
        value in any::<Vec<u8>>(),
        here in (".{0,8}", ".{0,8}", ".{0,8}"),
        there in (".{0,8}", ".{0,8}", ".{0,8}"),
    ) {
        let ring = KeyRing::new(key(9));
        let home = Place { table: &here.0, column: &here.1, row: &here.2 };
        let sealed = ring.seal(&home, &value).expect("seals");
        prop_assert_eq!(ring.open(&home, &sealed).map(|it| it.expose().clone()).ok(), Some(value));
        for place in [
            Place { table: &there.0, ..home },
            Place { column: &there.1, ..home },
            Place { row: &there.2, ..home },
            // the same letters, cut elsewhere
            Place { table: &format!("{}{}", here.0, here.1), column: "", row: &here.2 },
            Place { column: &format!("{}{}", here.1, here.2), row: "", ..home },
        ] {
            if place != home {
                prop_assert_eq!(ring.open(&place, &sealed).err(), Some(SealError::DoesNotOpen));
            }
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_noticed(value in proptest::collection::vec(any::<u8>(), 0..64), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let ring = KeyRing::new(key(3));
        let mut sealed = ring.seal(&HOME, &value).expect("seals");
        let at = at.index(sealed.len());
        sealed[at] ^= 1 << bit;
        prop_assert!(ring.open(&HOME, &sealed).is_err());
    }

    #[test]
    fn no_bytes_make_opening_panic(bytes in any::<Vec<u8>>()) {
        prop_assert!(KeyRing::new(key(3)).open(&HOME, &bytes).is_err());
    }

    #[test]
    fn a_cut_value_does_not_open(value in any::<Vec<u8>>(), cut in any::<prop::sample::Index>()) {
        let ring = KeyRing::new(key(4));
        let sealed = ring.seal(&HOME, &value).expect("seals");
        prop_assert!(ring.open(&HOME, &sealed[..cut.index(sealed.len())]).is_err());
    }
}
