//! Words that tell what a question, or the description of an agent or tool, is about.

crate::offline::tables::lists! {
    FOR_ARITHMETIC FOR_CLOCK FOR_PEOPLE FOR_DOCUMENTS FOR_TALK ROOMS WRITTEN CALCULATE NOW TIME HOUR WEEKDAY PLANS CONTACT BELONGS
    MEMBERS FACTS LEAVE LEFT MINE OF_DAY
}
