//! What the store in a file does, and what it survives.

mod closing;
mod conforms;
mod damage;
mod descriptors;
mod encrypted;
mod files;
mod full;
mod golden;
mod items;
mod kills;
mod large;
mod older;
mod processes;
mod read_only;
mod reconnect;
mod recovers;
mod replaced;
mod support;
