//! A word of memory and its values, in coherence order.

use ir::{FenceScope, LocId};

use super::view::Seen;
use super::{Place, Who};

/// How many values of a word are kept.
const MAX_MESSAGES: usize = 16;
/// The distance between the times of consecutive values, which leaves room for stores that count as earlier.
const STEP: u64 = 1 << 24;

/// What a store after a fence releases to its readers: what its thread had seen at that fence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Released {
    /// For a fence with device scope.
    pub(crate) device: Option<Seen>,
    /// For any fence, by block whose threads may acquire it.
    pub(crate) block: Vec<(u64, Seen)>,
}

impl Released {
    /// Adds what an earlier store released.
    pub(crate) fn add(&mut self, other: &Released) {
        let join = |ours: &Seen, theirs: &Seen| {
            let mut view = super::View::default();
            view.join_seen(ours);
            view.join_seen(theirs);
            view.seen()
        };
        self.device = match (&self.device, &other.device) {
            (Some(ours), Some(theirs)) => Some(join(ours, theirs)),
            (one, None) | (None, one) => one.clone(),
        };
        for (block, theirs) in &other.block {
            match self.block.iter_mut().find(|(known, _)| known == block) {
                Some((_, ours)) => *ours = join(ours, theirs),
                None => self.block.push((*block, theirs.clone())),
            }
        }
    }
}

/// A stored value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// Its place in coherence order; the next field is the time when it was stored.
    pub(crate) time: u64,
    pub(crate) moment: u64,
    pub(crate) value: u32,
    /// The thread that stored it. `None`: it was there at first, or came from elsewhere.
    pub(crate) by: Option<Who>,
    /// How many words its thread had accessed before.
    pub(crate) ordinal: u32,
    pub(crate) at: LocId,
    pub(crate) strong: Option<FenceScope>,
    pub(crate) released: Option<Released>,
    /// When its thread last fenced.
    pub(crate) fenced_at: [u32; 2],
    /// Whether nothing may come between it and the one before: it is an atomic's value, or only a part of the word.
    pub(crate) is_glued: bool,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) place: Place,
    messages: Vec<Message>,
}

impl Word {
    pub(crate) fn new(place: Place, value: u32) -> Word {
        let first = Message {
            value,
            ..Message::default()
        };
        Word {
            place,
            messages: vec![first],
        }
    }

    /// Memory holds this value. If it is not the newest, another agent has stored it.
    pub(crate) fn is(&mut self, now: u32, moment: u64) {
        if self.at(self.newest()).value != now {
            let message = Message {
                value: now,
                moment,
                is_glued: true,
                ..Message::default()
            };
            self.insert(message, 0);
        }
    }

    pub(crate) fn newest(&self) -> usize {
        self.messages.len() - 1
    }

    pub(crate) fn at(&self, index: usize) -> &Message {
        &self.messages[index]
    }

    /// The next value.
    pub(crate) fn after(&self, index: usize) -> Option<&Message> {
        self.messages.get(index + 1)
    }

    /// The oldest value that a reader may get that has seen the value with that time.
    pub(crate) fn oldest_from(&self, time: u64) -> usize {
        self.messages
            .iter()
            .rposition(|message| message.time <= time)
            .unwrap_or(0)
    }

    /// The times when its values were stored.
    pub(crate) fn moments(&self) -> impl Iterator<Item = u64> + '_ {
        self.messages.iter().map(|message| message.moment)
    }

    /// The last value at a time, not before `oldest`.
    pub(crate) fn last_until(&self, moment: u64, oldest: usize) -> usize {
        let was_there = |message: &Message| message.moment <= moment;
        let last = self.messages.iter().rposition(was_there).unwrap_or(0);
        last.max(oldest)
    }

    /// The number of last values before which a store may count, if its thread has seen the value with that time.
    pub(crate) fn room_from(&self, time: u64) -> usize {
        let after = &self.messages[self.oldest_from(time) + 1..];
        let movable = after.iter().rev().take_while(|message| !message.is_glued);
        movable.count()
    }

    /// Adds a value before the last `back` ones, or before fewer if there is no room.
    pub(crate) fn insert(&mut self, mut message: Message, back: usize) -> usize {
        let mut at = self.messages.len() - back;
        if at < self.messages.len() && self.messages[at].time - self.messages[at - 1].time < 2 {
            at = self.messages.len();
        }
        let before = self.messages[at - 1].time;
        message.time = match self.messages.get(at) {
            Some(after) => before + (after.time - before) / 2,
            None => before + STEP,
        };
        self.messages.insert(at, message);
        if self.messages.len() > MAX_MESSAGES {
            self.messages.remove(0);
            at -= 1;
        }
        at
    }
}
