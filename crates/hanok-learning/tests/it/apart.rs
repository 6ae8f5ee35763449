//! Nobody's request finds another's.

use hanok_core::{Tenant, ThreadKey};
use hanok_learning::{Episode, Forget, Preference};

use crate::support::*;

/// Users whose names begin alike, have signs that labels have not, or are the same in another tenant.
const USERS: &[&str] =
    &["kim", "kim.lee", "kim/lee", "", "~2e;", "\0", "preference", "한국\u{2028}", "=kim", "+kim"];

#[tokio::test]
async fn no_request_of_another_user_or_tenant_finds_anything() {
    let [acme, other] = ["acme", "other"].map(|name| Tenant::new(name).unwrap());
    for (_, store) in backends().await {
        let memories = memories(&store);
        let thread = |tenant: &Tenant| ThreadKey::new(tenant.clone(), "t").unwrap();
        let long = "가".repeat(300);
        let users: Vec<&str> = USERS.iter().copied().chain([long.as_str()]).collect();
        for (at, user) in users.iter().enumerate() {
            let secret = format!("secret={at}");
            let said = states(user, "same id", 1, "t", &secret);
            memories.learn(&thread(&acme), &said.lesson(), NOW).await.unwrap();
            let told = answered(user, "same id", 1, "t", &format!("the secret is {at}"));
            memories.learn(&thread(&acme), &told.lesson(), NOW).await.unwrap();
        }
        for (at, user) in users.iter().enumerate() {
            let mine = memories.of(acme.clone(), user);
            let secret = mine.get::<Preference>("secret", NOW).await.unwrap().unwrap();
            assert_eq!(secret.current().unwrap().value, at.to_string());
            let hits = mine.search::<Episode>("secret", 99, NOW).await.unwrap();
            assert_eq!(hits.len(), 1, "{user:?}");
            assert_eq!(hits[0].record.answer, format!("the secret is {at}"));
            assert_eq!(mine.all::<Preference>(NOW).await.unwrap().len(), 1);
            assert_eq!(mine.evidence::<Preference>("secret", NOW).await.unwrap().len(), 1);
            for line in mine.export(NOW).await.unwrap().lines() {
                let line: Line = serde_json::from_str(line).unwrap();
                assert_eq!(
                    (line.evidence.user.as_str(), line.evidence.id.as_str()),
                    (*user, "same id")
                );
            }
            let theirs = memories.of(other.clone(), user);
            assert_eq!(theirs.get::<Preference>("secret", NOW).await.unwrap(), None);
            assert_eq!(theirs.search::<Episode>("secret", 99, NOW).await.unwrap(), []);
            assert_eq!(theirs.export(NOW).await.unwrap(), "");
            assert_eq!(theirs.forget(&Forget::Everything, NOW).await.unwrap().evidence, 0);
        }
        assert_eq!(memories.forget_thread(&thread(&other), NOW).await.unwrap().evidence, 0);
        // Whoever is forgotten takes nobody along.
        for (at, user) in users.iter().enumerate() {
            let forgotten = memories.of(acme.clone(), user).forget(&Forget::Everything, NOW).await;
            assert_eq!(forgotten.unwrap().evidence, 2, "{user:?}");
            for rest in &users[at + 1..] {
                let rest = memories.of(acme.clone(), rest);
                assert_eq!(rest.all::<Preference>(NOW).await.unwrap().len(), 1);
            }
        }
    }
}

/// Lines that name another user are learned as evidence of whoever imports them.
#[tokio::test]
async fn an_import_never_writes_to_another_user() {
    let store = memory();
    learn_all(&store, &dozen()).await;
    let before = contents(&store).await;
    let of = |user: &str| memories(&store).of(Tenant::default(), user);
    let lines = of("kim").export(NOW).await.unwrap();
    assert_eq!(of("lee").import(&lines, NOW).await.unwrap(), 12);
    assert!(of("lee").export(NOW).await.unwrap().lines().all(|line| line.contains("\"lee\"")));
    assert_eq!(of("lee").forget(&Forget::Everything, NOW).await.unwrap().evidence, 12);
    assert_eq!(contents(&store).await, before);
}
