//! Two builds of one program on one thread. The first asks a person and is replaced; the second has other fields, counts in
//! cents, and calls the node that asked by another name. The answer finds its question, and the money its new unit.

use std::path::Path;

use hanok::{
    BoxError, Context, END, Graph, START, Snapshot, State, ThreadKey,
    core::{Change, Fields, Stored},
    sqlite::Sqlite,
};

mod first_build {
    use super::*;

    #[derive(State, Clone, Debug, Default)]
    struct Account {
        owner: String,
        euros: u64,
    }

    async fn deposit(account: Snapshot<Account>, cx: Context) -> Result<AccountUpdate, BoxError> {
        let yes: bool = cx.ask("pay in 5 euros?", None).await?;
        Ok(Account::update().euros(account.euros + if yes { 5 } else { 0 }))
    }

    pub(crate) async fn run(file: &Path) -> Result<(), BoxError> {
        let graph = Graph::<Account>::builder("account")
            .node("deposit", deposit)
            .edge(START, "deposit")
            .edge("deposit", END)
            .build()?;
        let app = graph.checkpointer(Sqlite::open(file).await?);
        let thread = app.thread(ThreadKey::named("account-1")?);
        let outcome = thread.invoke(Account::update().owner("Ada").euros(10), ()).await;
        match outcome {
            Ok(_) => println!("first build: {:?}", thread.state(None).await?),
            Err(error) => println!("first build: {error}"),
        }
        Ok(())
    }
}

mod second_build {
    use super::*;

    /// A state without `version` is version 1, so this is version 2.
    #[derive(State, Clone, Debug, Default)]
    #[state(version = 2, upgrade = in_cents)]
    struct Account {
        #[state(alias = "owner")]
        holder: String,
        cents: u64,
    }

    fn in_cents(_from: u32, fields: &mut Fields) -> Result<(), BoxError> {
        if let Some(euros) = fields.take("euros") {
            let euros: u64 = euros.to_stored().decode()?;
            fields.apply("cents", &Change::Set(Stored::encode(&(euros * 100))?))?;
        }
        Ok(())
    }

    async fn pay_in(account: Snapshot<Account>, cx: Context) -> Result<AccountUpdate, BoxError> {
        let yes: bool = cx.ask("pay in 5 euros?", None).await?;
        Ok(Account::update().cents(account.cents + if yes { 500 } else { 0 }))
    }

    pub(crate) async fn run(file: &Path) -> Result<(), BoxError> {
        let graph = Graph::<Account>::builder("account")
            .node("pay_in", pay_in)
            .renamed("deposit", "pay_in")
            .edge(START, "pay_in")
            .edge("pay_in", END)
            .build()?;
        let app = graph.checkpointer(Sqlite::open(file).await?);
        let thread = app.thread(ThreadKey::named("account-1")?);
        println!("second build: {:?}", thread.reply(&true, ()).await?.done()?);
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("accounts.db");
    first_build::run(&file).await?;
    second_build::run(&file).await?;
    // The first build is older than what is stored now, and may not write it.
    first_build::run(&file).await
}
