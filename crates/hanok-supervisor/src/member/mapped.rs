//! A member with other services than its team.

use std::fmt;

use hanok_agent::{Language, Protocol};
use hanok_core::BoxFuture;
use hanok_graph::{Context, Drawing};

use super::{
    Member, MemberInput,
    run::{AgentFailure, AnyMember, MemberRun},
};

/// A member, and how its services are made of those of its team.
pub(super) struct Mapped<C: Send + Sync + 'static, F> {
    pub(super) member: Member<C>,
    pub(super) services: F,
}

impl<C: Send + Sync + 'static, F> fmt::Debug for Mapped<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.member.member.fmt(f)
    }
}

impl<C, D, F> AnyMember<D> for Mapped<C, F>
where
    C: Send + Sync + 'static,
    D: Send + Sync + 'static,
    F: Fn(&D) -> C + Send + Sync,
{
    fn name(&self) -> &str {
        self.member.name()
    }

    fn description(&self) -> &str {
        self.member.description()
    }

    fn language(&self) -> Option<Language> {
        self.member.language()
    }

    fn protocol(&self) -> Option<Protocol> {
        self.member.protocol()
    }

    fn drawing(&self) -> Drawing {
        self.member.drawing()
    }

    fn run<'a>(
        &'a self,
        input: MemberInput,
        name: Option<&'a str>,
        context: &'a Context<D>,
    ) -> BoxFuture<'a, Result<MemberRun, AgentFailure>> {
        let context = context.with_services((self.services)(context.services()));
        Box::pin(async move { self.member.member.run(input, name, &context).await })
    }
}
