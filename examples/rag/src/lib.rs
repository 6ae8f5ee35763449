//! A question in Korean, answered out of real documents, through a supervisor and three agents.
