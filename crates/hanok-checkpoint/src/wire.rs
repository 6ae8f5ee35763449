//! How names and numbers stand in an entry.

use hanok_core::{
    Namespace, Reader, Spent, Stored, StoredError, TaskId, Tenant, ThreadKey, Timestamp, Writer,
};

pub(crate) fn malformed<T>(from: &Reader<'_>, expected: &'static str) -> Result<T, StoredError> {
    Err(StoredError::Malformed { at: from.at(), expected })
}

pub(crate) fn write_namespace(to: &mut Writer, namespace: &Namespace) {
    to.array(namespace.depth());
    namespace.segments().for_each(|segment| {
        to.str(segment);
    });
}

pub(crate) fn namespace(from: &mut Reader<'_>) -> Result<Namespace, StoredError> {
    let mut namespace = Namespace::root();
    for _ in 0..from.array()? {
        let segment = from.str()?;
        namespace = match namespace.child(segment) {
            Ok(child) => child,
            Err(_) => return malformed(from, "a segment of a namespace"),
        };
    }
    Ok(namespace)
}

/// Two values, the tenant and the thread.
pub(crate) fn write_thread(to: &mut Writer, thread: &ThreadKey) {
    to.str(thread.tenant().as_str()).str(thread.thread());
}

pub(crate) fn thread(from: &mut Reader<'_>) -> Result<ThreadKey, StoredError> {
    let (tenant, name) = (from.str()?, from.str()?);
    match Tenant::new(tenant).and_then(|tenant| ThreadKey::new(tenant, name)) {
        Ok(thread) => Ok(thread),
        Err(_) => malformed(from, "the name of a thread"),
    }
}

pub(crate) fn task(from: &mut Reader<'_>) -> Result<TaskId, StoredError> {
    match from.bin()?.try_into() {
        Ok(bytes) => Ok(TaskId::from_bytes(bytes)),
        Err(_) => malformed(from, "the 16 bytes of a task"),
    }
}

pub(crate) fn write_option_task(to: &mut Writer, task: Option<TaskId>) {
    match task {
        Some(task) => to.bin(task.as_bytes()),
        None => to.nil(),
    };
}

pub(crate) fn option_task(from: &mut Reader<'_>) -> Result<Option<TaskId>, StoredError> {
    if from.is_nil() {
        from.nil()?;
        return Ok(None);
    }
    task(from).map(Some)
}

pub(crate) fn id(from: &mut Reader<'_>) -> Result<u128, StoredError> {
    match from.bin()?.try_into() {
        Ok(bytes) => Ok(u128::from_be_bytes(bytes)),
        Err(_) => malformed(from, "the 16 bytes of an id"),
    }
}

pub(crate) fn value(from: &mut Reader<'_>) -> Result<Stored, StoredError> {
    Stored::from_bytes(from.value()?.to_vec())
}

pub(crate) fn small(from: &mut Reader<'_>) -> Result<u32, StoredError> {
    match u32::try_from(from.uint()?) {
        Ok(number) => Ok(number),
        Err(_) => malformed(from, "a number of 32 bits"),
    }
}

pub(crate) fn write_spent(to: &mut Writer, spent: Spent) {
    if spent.is_nothing() {
        to.nil();
        return;
    }
    to.array(6)
        .uint(spent.model_calls)
        .uint(spent.tool_calls)
        .uint(spent.input_tokens)
        .uint(spent.output_tokens)
        .uint(spent.cost)
        .uint(spent.millis);
}

pub(crate) fn spent(from: &mut Reader<'_>) -> Result<Spent, StoredError> {
    if from.is_nil() {
        from.nil()?;
        return Ok(Spent::default());
    }
    from.array()?;
    Ok(Spent {
        model_calls: from.uint()?,
        tool_calls: from.uint()?,
        input_tokens: from.uint()?,
        output_tokens: from.uint()?,
        cost: from.uint()?,
        millis: from.uint()?,
    })
}

pub(crate) fn write_option_str(to: &mut Writer, text: Option<&str>) {
    match text {
        Some(text) => to.str(text),
        None => to.nil(),
    };
}

pub(crate) fn option_str(from: &mut Reader<'_>) -> Result<Option<String>, StoredError> {
    if from.is_nil() {
        from.nil()?;
        return Ok(None);
    }
    from.str().map(|text| Some(text.to_owned()))
}

pub(crate) fn write_option_time(to: &mut Writer, time: Option<Timestamp>) {
    match time {
        Some(time) => to.uint(time.0),
        None => to.nil(),
    };
}

pub(crate) fn option_time(from: &mut Reader<'_>) -> Result<Option<Timestamp>, StoredError> {
    if from.is_nil() {
        from.nil()?;
        return Ok(None);
    }
    from.uint().map(|time| Some(Timestamp(time)))
}
