//! What humans ask of a run while it goes on, left in the journal by `flyball stop`, `tell` and
//! `limits`: taken at the next beat, and answered there.

use flyball_core::event::StopCause;
use flyball_core::human::{HumanReply, HumanWish, LimitChange};
use flyball_core::{Event, Moment};

use super::Driver;
use super::choice::check_limits;
use crate::error::CliError;
use crate::journal::{Request, RequestKind};

impl Driver {
    /// Takes what other processes ask of this run.
    pub(super) fn take_requests(&mut self) -> Result<(), CliError> {
        for (number, request) in self.journal.requests(&self.run)? {
            match request.kind {
                RequestKind::Stop => {
                    self.journal.drop_request(number)?;
                    self.mail.queue.push_back(Event::StopRequested { cause: StopCause::Command });
                }
                RequestKind::Wish => self.take_wish(number, &request)?,
                // Left by a later version: whoever asked looks whether it was done.
                RequestKind::Unknown(_) => self.journal.drop_request(number)?,
            }
        }
        Ok(())
    }

    fn take_wish(&mut self, number: u64, request: &Request) -> Result<(), CliError> {
        let wish = match serde_json::from_str::<HumanWish>(&request.body) {
            Ok(wish) => wish,
            Err(error) => return self.refuse_wish(number, error.to_string()),
        };
        if let Some(why) = self.unmetered(&wish) {
            return self.refuse_wish(number, why);
        }
        let (now, event) = (self.clock.now(), Event::HumanAsked { request: number, wish });
        self.journal.append_request(&self.run, number, (now, &event))?;
        self.pace.journalled = now;
        self.act(now, &event)?;
        self.show_state(now)
    }

    fn refuse_wish(&mut self, number: u64, why: String) -> Result<(), CliError> {
        self.journal.drop_request(number)?;
        self.journal.reply(number, self.clock.now(), &HumanReply::Refused { why })?;
        Ok(())
    }

    /// B4, in the middle of a run too: why a limit could never fire with this agent.
    fn unmetered(&self, wish: &HumanWish) -> Option<String> {
        let HumanWish::ChangeLimits { limits } = wish else { return None };
        let mut config = self.terms.config.clone();
        config.policy = LimitChange::applied(limits, &config.policy).ok()?;
        check_limits(&config, &*self.adapter).err().map(|error| error.to_string())
    }

    /// Answers who asked; limits that were changed hold for all that is measured here, too.
    pub(super) fn answer_human(
        &mut self,
        now: Moment,
        (request, reply): (u64, &HumanReply),
    ) -> Result<(), CliError> {
        if let (HumanReply::Changed, Some(policy)) = (reply, self.governor.policy()) {
            self.terms.config.policy = policy.clone();
            self.journal.limit_iterations(&self.run, self.terms.config.policy.limits.iterations)?;
        }
        self.journal.reply(request, now, reply)?;
        Ok(())
    }
}
