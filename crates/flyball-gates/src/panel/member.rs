//! One recogniser of a panel. Most never get a line: then all streams share one, and a copy of a panel
//! shares what it has until one of the two goes on.

use std::sync::Arc;

use crate::recogniser::Recogniser;

/// One recogniser, which is its own only while it is at work.
#[derive(Clone)]
pub(super) struct Member {
    /// One to which nothing was said yet.
    fresh: Arc<dyn Recogniser>,
    /// What copies have as well.
    shared: Option<Arc<dyn Recogniser>>,
    own: Option<Box<dyn Recogniser>>,
}

impl Member {
    /// One that begins.
    pub(super) fn new(recogniser: Box<dyn Recogniser>) -> Self {
        Self { fresh: Arc::from(recogniser), shared: None, own: None }
    }

    /// Another that begins.
    pub(super) fn again(&self) -> Self {
        Self { fresh: Arc::clone(&self.fresh), shared: None, own: None }
    }

    /// To ask it something.
    pub(super) fn get(&self) -> &dyn Recogniser {
        match &self.own {
            Some(own) => &**own,
            None => self.shared.as_deref().unwrap_or(&*self.fresh),
        }
    }

    /// To tell it something.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut dyn Recogniser {
        if self.own.is_none() {
            self.begin();
        }
        let Self { fresh, own, .. } = self;
        &mut **own.get_or_insert_with(|| fresh.copied())
    }

    /// Makes what copies have its own.
    #[cold]
    fn begin(&mut self) {
        self.own = self.shared.take().map(|shared| shared.copied());
    }

    /// From now on copies have what it has, until it is told something.
    pub(super) fn share(&mut self) {
        if let Some(own) = self.own.take() {
            self.shared = Some(Arc::from(own));
        }
    }

    /// Forgets everything.
    pub(super) fn forget(&mut self) {
        (self.own, self.shared) = (None, None);
    }
}
