//! The members of an object that was read, or is being read.

use crate::{
    json::{
        members::{Member, Members},
        scan::{Ends, Read, Scan},
    },
    work,
};

/// So many members are looked at while an object is read.
const MOST: usize = 64;

impl Scan {
    /// Whether it has more members than are looked at while it is read.
    pub(crate) fn has_many(&self) -> bool {
        self.top().len() > MOST
    }

    /// The JSON text of a member of the outermost object; of one that is being read, what is there.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let member = self.top().iter().rfind(|member| member.has(key, &self.out))?;
        let is_read = member.value.start > 0 && member.value.is_empty();
        let end = if is_read { self.out.len() } else { member.value.end };
        self.out.get(member.value.start..end).filter(|value| !value.is_empty())
    }

    /// The JSON text of a member of the outermost object that was read whole, among the first of them: an object is asked for it
    /// while it is read, and a call has few members of its own.
    pub(crate) fn whole(&self, key: &str) -> Option<&str> {
        let members = self.top();
        let few = members.get(..MOST).unwrap_or(members);
        work::count(few.len());
        let member = few.iter().rfind(|member| member.has(key, &self.out))?;
        self.out.get(member.value.clone()).filter(|value| !value.is_empty())
    }

    /// The values of an object of these two members, in this order, and no others.
    pub(crate) fn pair(&self, first: &str, second: &str) -> Option<(&str, &str)> {
        let [one, two] = self.top() else { return None };
        let both = one.has(first, &self.out) && two.has(second, &self.out);
        let value = |member: &Member| self.out.get(member.value.clone());
        both.then(|| Some((value(one)?, value(two)?)))?
    }

    /// The members of the outermost object, once it is read.
    pub(crate) fn all(&self) -> Members<'_> {
        Members { list: &self.members, at: 0 }
    }

    /// The members of `json`, where that is the last member of the outermost object.
    pub(crate) fn last_object(&self, json: &str) -> Option<Members<'_>> {
        let value = self.top().last()?.value.clone();
        let is_known = value.start == self.inner_at && !self.inner.is_empty();
        let is_last = is_known && self.out.get(value) == Some(json);
        is_last.then_some(Members { list: &self.inner, at: self.inner_at })
    }

    /// Takes what is written, in no more room than it needs.
    pub(crate) fn take_out(&mut self) -> String {
        const KEPT: usize = 16 * 1024;
        if self.out.capacity() > KEPT {
            std::mem::take(&mut self.out)
        } else {
            self.out.as_str().to_owned()
        }
    }

    /// The keys of the outermost object that were read whole, with their values.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (String, &str)> {
        self.top().iter().filter(|member| !member.key.is_empty()).map(|member| {
            (member.name(&self.out), self.out.get(member.value.clone()).unwrap_or_default())
        })
    }

    /// The member of the outermost object whose value, an object, is being read: its key, and where the value begins.
    pub(crate) fn open_member(&self) -> Option<(String, usize)> {
        let member = self.top().last().filter(|member| member.value.is_empty())?;
        let is_object = self.frames.get(1).is_some_and(|frame| frame.object);
        is_object.then(|| (member.name(&self.out), member.value.start))
    }

    pub(crate) fn top(&self) -> &[Member] {
        let end = self.frames.get(1).map_or(self.members.len(), |frame| frame.base);
        self.members.get(..end).unwrap_or_default()
    }
}

/// Reads the object at byte `at` of a text that is whole. The second value is where it ends.
pub(crate) fn object(text: &str, at: usize) -> Option<Scan> {
    let mut scan = Scan::new(at, Ends::default());
    (text.get(at..)?.starts_with('{') && scan.read(text, true) == Read::Done).then_some(scan)
}
