//! What the store on PostgreSQL does, and what it survives.

mod conforms;
mod followers;
mod guards;
mod items;
mod kills;
mod leases;
mod outages;
mod reconnects;
mod refusals;
mod support;
mod tls;
