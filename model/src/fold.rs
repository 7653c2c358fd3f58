//! Contenders whose clocks agree are interchangeable.
//!
//! No rule knows one contender from another of the same policy, so two states that differ only in who is called A
//! and who B have the same future, up to names. Folding them into one makes three contenders affordable.

use crate::state::{Holder, Row, State, Who};

impl<const N: usize> State<N> {
    /// The one state that stands for all that differ from this one in names only: the contenders are
    /// sorted by all that can be said of each. Whoever has seen a row that still counts has seen the same
    /// row, so the names in there do not disturb the order.
    pub fn fold(&self) -> State<N> {
        let rows = [self.row, self.failed, self.durable, self.backup];
        let named = |who, row: Option<Row>| row.is_some_and(|row| row.holder == Holder::Contender(who));
        let named_by = |who| (rows.map(|row| named(who, row)), self.gate.by == Holder::Contender(who));
        let mut order: [Who; N] = std::array::from_fn(|i| Who(i as u8));
        order.sort_by_key(|who| (self.contenders[who.index()], self.late[who.index()], named_by(*who)));
        let mut state = State {
            contenders: order.map(|who| self.contenders[who.index()]),
            late: order.map(|who| self.late[who.index()]),
            ..*self
        };
        state.for_each_holder(|holder| {
            if let Holder::Contender(named) = holder {
                let place = order.iter().position(|who| named == who).unwrap_or_default();
                *named = Who(place as u8);
            }
        });
        state
    }
}
