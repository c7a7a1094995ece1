//! Weights and ladder of the account.
